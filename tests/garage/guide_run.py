# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The blocks of guides that a test is marked with, done as they are written."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from tests.guides import Block

from tests.garage.ansible_run import clean_environment

LIMIT_SECONDS = 900
MARK = "::: "


class Guide:
    """Blocks in a folder of their own. ``places`` says what stands there in the place of addresses, names and files of the guide."""

    def __init__(self, blocks: Sequence[Block], folder: Path) -> None:
        self.folder, self.places, self.env = folder, dict[str, str](), dict[str, str]()
        self._blocks = blocks
        # What has been run of each block: so many commands of a console block, one of any other.
        self._run = dict.fromkeys(blocks, 0)
        self._groups: list[int] = []
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        (folder / "ansible.cfg").touch()

    def write(self, file: str, content: Any) -> None:
        """A file that the guide leaves to its reader: text, or what becomes YAML."""
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content), encoding="utf-8")

    def program(self, name: str, content: str) -> None:
        """A program that stands in for one that is not here."""
        self.write(f"bin/{name}", content)
        (self.bin / name).chmod(0o755)

    def here(self, text: str) -> str:
        for written, there in self.places.items():
            text = text.replace(written, there)
        return text

    def yaml(self, section: str) -> list[Any]:
        """What the YAML blocks of a section hold, for a test that does something with it."""
        found = [block for block in self._of(section) if block.language == "yaml"]
        self._write_files()
        self._run |= dict.fromkeys(found, 1)
        return [yaml.safe_load(self.here(block.text)) for block in found]

    def run(self, section: str | None = None, count: int | None = None) -> list[str]:
        """What each command printed: of all blocks, of one section, or only the next ``count``. The first that fails ends it all."""
        self._write_files()
        lines = []
        for block in self._of(section):
            for line in block.to_run[self._run[block]:] if block.language == "console" else []:
                if count is None or len(lines) < count:
                    lines.append(line)
                    self._run[block] += 1
        script = "set -e -o pipefail\n" + "".join(f"echo {shlex.quote(MARK + line)}\n{self.here(line)}\n" for line in lines)
        path = os.pathsep.join((str(self.bin), str(Path(sys.executable).parent), os.environ["PATH"]))
        env = clean_environment(str(self.folder), {"PATH": path, **self.env})
        # A group of its own, so that what a guide leaves running ends with the test.
        process = subprocess.Popen(["bash", "-c", script], cwd=self.folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, start_new_session=True)  # fmt: skip
        self._groups.append(process.pid)
        printed, _nothing = process.communicate(timeout=LIMIT_SECONDS)
        assert process.returncode == 0, printed
        return printed.split(MARK)[1:]

    def end(self) -> None:
        for group in self._groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGTERM)

    def left(self) -> list[str]:
        """Blocks that the test is marked with and has not run to their end."""
        return [f"{block.guide}:{block.line}" for block, run in self._run.items() if run < block.steps]

    def _of(self, section: str | None) -> list[Block]:
        found = [block for block in self._blocks if section in (None, block.section)]
        assert found, section
        return found

    def _write_files(self) -> None:
        for block in self._blocks:
            if block.file and not self._run[block]:
                self.write(block.file, self.here(block.text))
                self._run[block] = 1


def play(tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tasks of a guide as a playbook."""
    return [{"name": "Tasks of a guide", "hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": tasks}]


def changed(printed: str) -> list[int]:
    """How many tasks changed something, on each host of a playbook's recap."""
    return [int(count) for count in re.findall(r"ok=\d+ +changed=(\d+)", printed)]


def says(printed: list[str], start: str) -> list[str]:
    return [text for text in printed if text.startswith(start)]
