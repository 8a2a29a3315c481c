# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The blocks of the guides: the files that they show, and the commands; which of them no test runs, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Commands, by how they begin.
NOT_RUN = {
    "python3 -m venv": "an environment with all of it is there already",
    "pip install": "an environment with all of it is there already",
    "ansible-galaxy": "Galaxy is not asked by tests; `make importer` builds the collection and installs what it built",
    "make quickstart": "tests/garage/test_quickstart.py calls what it calls, in a folder of its own",
    "make test": "it is what runs the tests",
    "make kubernetes": "it is what runs the tests",
}


@dataclass(frozen=True)
class Block:
    """A fenced block under the heading ``section``; ``file`` is the name in its first line, when that is a comment with nothing else."""

    guide: str
    section: str
    line: int
    language: str
    text: str

    @property
    def file(self) -> str | None:
        found = re.match(r"# ([\w/-]+\.\w+)\n", self.text)
        return found[1] if found else None

    @property
    def commands(self) -> list[str]:
        """Commands of a console block, each without its prompt and without a comment at its end."""
        return [re.sub(r"\s+# .*", "", line[2:]) for line in self.text.splitlines() if line.startswith("$ ")]

    @property
    def to_run(self) -> list[str]:
        return [line for line in self.commands if not line.startswith(tuple(NOT_RUN))]

    @property
    def steps(self) -> int:
        """How much of it there is for a test to do."""
        return {"console": len(self.to_run), "yaml": 1}.get(self.language, 0)


def blocks(path: Path) -> list[Block]:
    lines, found, start, section = path.read_text(encoding="utf-8").splitlines(), [], None, ""
    for number, line in enumerate(lines):
        if start is None and line.startswith("#"):
            section = line.lstrip("# ")
        if line.lstrip().startswith("```"):
            if start is None:
                start = number
            else:
                indent = len(lines[start]) - len(lines[start].lstrip())
                text = "".join(f"{inner[indent:]}\n" for inner in lines[start + 1:number])
                found.append(Block(path.relative_to(ROOT).as_posix(), section, start + 1, lines[start].strip(" `"), text))
                start = None
    return found


def marked(guide: str, *sections: str) -> list[Block]:
    """The blocks that ``pytest.mark.guide`` names: of a whole guide, or of some sections."""
    return [block for block in blocks(ROOT / guide) if not sections or block.section in sections]
