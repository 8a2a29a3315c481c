# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Credentials in files beside a Garage that is not on Kubernetes: the same on all hosts, made once, given to a new host, never in the place of lost ones."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from tests.garage.playbook_run import Run, run_playbook

FILES = ("rpc_secret", "admin_token", "metrics_token")


class Hosts:
    """Hosts that are folders of this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.play = folder / "play.yml"
        role = {"name": "s3ops.garage.credentials", "tasks_from": "files"}
        self.play.write_text(json.dumps([{"name": "Credentials", "hosts": "all", "gather_facts": False,
                                          "tasks": [{"name": "Files", "ansible.builtin.include_role": role}]}]), encoding="utf-8")

    def run(self, *names: str, **given: str) -> Run:
        hosts = {}
        for name in names:
            (self.folder / name / "meta").mkdir(parents=True, exist_ok=True)
            hosts[name] = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable,
                           "credentials_files": {"folder": str(self.folder / name), "metadata_dir": str(self.folder / name / "meta"), **given}}
        return run_playbook(self.play, {"all": {"hosts": hosts}}, "-vvv", "--diff")

    def held(self, name: str) -> dict[str, str]:
        return {file: (self.folder / name / file).read_text(encoding="utf-8") for file in FILES}

    def modes(self, name: str) -> set[int]:
        return {stat.S_IMODE((self.folder / name / file).stat().st_mode) for file in FILES}


@pytest.mark.requirement("GS-03", "TD-09", "TD-38", "TD-40", "FC-100")
def test_files_of_all_hosts_from_nothing_to_a_lost_one(tmp_path: Path) -> None:
    hosts = Hosts(tmp_path)
    first = hosts.run("one", "two", admin_token="given-by-the-user")
    assert first.rc == 0, first.output
    made = hosts.held("one")
    assert hosts.held("two") == made
    assert made["admin_token"] == "given-by-the-user"
    assert len(made["rpc_secret"]) == 64
    assert hosts.modes("one") == hosts.modes("two") == {0o600}

    for name in ("one", "two"):
        (tmp_path / name / "meta" / "node_key").touch()
    (tmp_path / "one" / "rpc_secret").chmod(0o644)
    grown = hosts.run("one", "two", "new")
    assert (grown.rc, grown.stats["two"]["changed"]) == (0, 0), grown.output
    assert hosts.held("new") == made
    assert hosts.modes("one") == {0o600}
    again = hosts.run("one", "two", "new")
    assert (again.rc, again.changed) == (0, 0), again.output

    for name in ("one", "two", "new"):
        (tmp_path / name / "rpc_secret").unlink()
    lost = hosts.run("one", "two", "new", admin_token="with.dot")
    assert lost.rc != 0
    assert "None is made up in its place" in lost.output
    assert "must not contain a dot" in lost.output
    assert not (tmp_path / "one" / "rpc_secret").exists()
    assert not any(value in run.output for run in (first, grown, again, lost) for value in (made["rpc_secret"], made["metrics_token"]))
