# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs leave behind, searched for secrets: what they print and log, the processes they start, the files they leave."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.garage.playbook_run import Run
from tools.testbed.node import Node

LOUD = ("-vvvv", "--diff")


class Traces:
    """Runs with `env` leave their traces here; `stores` is a folder for what shall hold secrets."""

    def __init__(self, folder: Path) -> None:
        self.stores, *self._left = (folder / name for name in ("stores", "temporary", "home"))
        for path in (self.stores, *self._left):
            path.mkdir()
        self._log = folder / "log"
        # What Ansible keeps for a time is in the home of the user by default, wherever HOME leads.
        self.env = {"ANSIBLE_LOG_PATH": str(self._log), "TMPDIR": str(self._left[0]), "HOME": str(self._left[1]),
                    "ANSIBLE_REMOTE_TMP": str(self._left[0] / "modules"), "ANSIBLE_LOCAL_TEMP": str(self._left[0] / "plays")}
        self.printed: list[str] = []
        self.started: set[str] = set()

    def add(self, run: Run) -> Run:
        """Search what this run has printed, and what other plugins were given of its results."""
        self.printed += [run.output, json.dumps(run.rows)]
        return run

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Note the arguments of every process that is seen meanwhile."""
        stop = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(stop,))
        watcher.start()
        try:
            yield
        finally:
            stop.set()
            watcher.join()

    def found(self, secrets: Mapping[str, str], nodes: list[Node], kept: set[Path]) -> set[tuple[str, str]]:
        """Which secret was seen where it must not be; `kept` are the files that shall hold one."""
        places = {
            "what is printed": self.printed,
            "the log": [self._log.read_text(encoding="utf-8")],
            "the arguments of processes": self.started,
            "what is left behind": [text for folder in self._left for text in _texts_in(folder, set())],
            "the logs of Garage": [node.log_file.read_text(encoding="utf-8") for node in nodes],
            "what is beside the stores": _texts_in(self.stores, kept),
        }
        assert any("ansible-playbook" in line for line in self.started)
        assert all(secrets.values())
        return {(name, place) for place, texts in places.items() for text in texts for name, secret in secrets.items() if secret in text}

    def _watch(self, stop: threading.Event) -> None:
        while not stop.wait(0.1):
            for folder in Path("/proc").iterdir():
                if folder.name.isdecimal():
                    with contextlib.suppress(OSError):
                        self.started.add((folder / "cmdline").read_bytes().decode("utf-8", "replace").replace("\0", " "))


def secrets_of(node: Node) -> dict[str, str]:
    """What a node was configured with, and the secrets of all keys of its cluster."""
    config = node.config_file.read_text(encoding="utf-8")
    rpc_secret = next(line.split('"')[1] for line in config.splitlines() if line.startswith("rpc_secret"))
    keys = {row["id"]: node.admin.get("GetKeyInfo", id=row["id"], showSecretKey="true")["secretAccessKey"] for row in node.admin.get("ListKeys")}
    token = node.spec.token_file.read_text(encoding="ascii").strip()
    return {"the RPC secret": rpc_secret, f"the admin token of {node.spec.site}": token, **{f"the secret of {key}": secret for key, secret in keys.items()}}


def _texts_in(folder: Path, besides: set[Path]) -> list[str]:
    return [path.read_bytes().decode("utf-8", "replace") for path in folder.rglob("*") if path.is_file() and path not in besides]
