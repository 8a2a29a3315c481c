# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a playbook the way a user does, and look at what each task returned."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.garage.ansible_run import ANSIBLE_PLAYBOOK, clean_environment

# Reached only by a hang; a play that changes node by node on a busy machine takes many minutes.
LIMIT_SECONDS = 1800
CALLBACKS = Path(__file__).with_name("callback_plugins")


@dataclass(frozen=True)
class Run:
    """What became of a run: the exit status, all that was printed, the recap by host, and the rows of the callback `record_results`."""

    rc: int
    output: str
    stats: dict[str, dict[str, int]]
    rows: list[dict[str, Any]]

    @property
    def changed(self) -> int:
        """How many tasks changed something, on all hosts together."""
        return sum(row["changed"] for row in self.stats.values())

    def results(self, host: str, action: str, state: str = "ok") -> list[dict[str, Any]]:
        """What the tasks of this action returned on this host; `layout` stands for `s3ops.garage.layout`."""
        name = action if "." in action else f"s3ops.garage.{action}"
        return [row["result"] for row in self.rows if (row["host"], row["action"], row["state"]) == (host, name, state)]


def run_playbook(
    playbook: str | Path,
    inventory: Mapping[str, Any] | Path,
    *options: str,
    env: Mapping[str, str] | None = None,
    within: Sequence[str] = (),
) -> Run:
    """Run a playbook (a path, or a full name such as `s3ops.garage.site`) on an inventory (a path, or its content). `within` is a command that runs
    another one."""
    with tempfile.TemporaryDirectory(prefix="s3ops-garage-") as folder:
        record = Path(folder, "results")
        if not isinstance(inventory, Path):
            hosts, inventory = inventory, Path(folder, "inventory.json")
            inventory.write_text(json.dumps(hosts), encoding="utf-8")
        Path(folder, "ansible.cfg").touch()
        variables = clean_environment(folder, env) | {
            "ANSIBLE_CALLBACK_PLUGINS": str(CALLBACKS),
            "ANSIBLE_CALLBACKS_ENABLED": "record_results",
            "RECORD_RESULTS_FILE": str(record),
        }
        command = [*within, str(ANSIBLE_PLAYBOOK), "-i", str(inventory), str(playbook), *options]
        ended = subprocess.run(
            command, cwd=folder, env=variables, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
        )
        output = ended.stdout + ended.stderr
        rows = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()] if record.exists() else []
    stats = rows.pop()["stats"] if rows and "stats" in rows[-1] else {}
    return Run(ended.returncode, output, stats, rows)
