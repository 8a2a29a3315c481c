# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Guides done as they are written, file by file and command by command, on a real Garage."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.guides import ROOT, blocks

from tests.garage.ansible_run import clean_environment
from tests.garage.conftest import MakeCluster
from tools.testbed.nodes import Cluster, Site
from tools.testbed.ports import HOST, pick_ports

LIMIT_SECONDS = 900
MARK = "::: "
# Not run: an environment with all of it is there already. `make importer` builds the collection, and ansible-galaxy installs what it built.
INSTALLING = ("python3 -m venv", "pip install", "ansible-galaxy")
# Stands in for the AWS CLI, with its library and the same variables of the environment.
AWS = f"""#!{sys.executable}
import sys, boto3
source, target = sys.argv[3:]
bucket = target.removeprefix("s3://").strip("/")
boto3.client("s3").upload_file(source, bucket, source)
print([row["Key"] for row in boto3.client("s3").list_objects_v2(Bucket=bucket)["Contents"]])
"""


class Guide:
    """One guide in a folder of its own. ``places`` says what stands there in the place of addresses and files of the guide."""

    def __init__(self, name: str, folder: Path, places: Mapping[str, str], programs: Mapping[str, Path] | None = None) -> None:
        self.folder, self.places = folder, places
        found = blocks(ROOT / "docs" / f"{name}.md")
        self.bin = folder / "bin"
        self.bin.mkdir()
        (folder / "ansible.cfg").touch()
        for program, path in (programs or {}).items():
            (self.bin / program).symlink_to(path)
        (self.bin / "aws").write_text(AWS, encoding="utf-8")
        (self.bin / "aws").chmod(0o755)
        for block in found:
            if block.file:
                path = folder / block.file
                path.parent.mkdir(exist_ok=True)
                path.write_text(self._here(block.text), encoding="utf-8")
        self.commands = [line for block in found if block.language == "console" for line in block.commands if not line.startswith(INSTALLING)]

    def _here(self, text: str) -> str:
        for written, there in self.places.items():
            text = text.replace(written, there)
        return text

    def run(self) -> list[str]:
        """What each command printed. The first that fails ends it all, with everything that was said."""
        script = "set -e -o pipefail\n" + "".join(f"echo {shlex.quote(MARK + line)}\n{self._here(line)}\n" for line in self.commands)
        path = os.pathsep.join((str(self.bin), str(Path(sys.executable).parent), os.environ["PATH"]))
        env = clean_environment(str(self.folder), {"PATH": path})
        # A group of its own, so that what a guide leaves running ends with the test.
        process = subprocess.Popen(["bash", "-c", script], cwd=self.folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, start_new_session=True)  # fmt: skip
        self.group = process.pid
        printed, _nothing = process.communicate(timeout=LIMIT_SECONDS)
        assert process.returncode == 0, printed
        return printed.split(MARK)[1:]

    def end(self) -> None:
        os.killpg(self.group, signal.SIGTERM)


def changed(printed: str) -> list[int]:
    """How many tasks changed something, on each host of a playbook's recap."""
    return [int(count) for count in re.findall(r"ok=\d+ +changed=(\d+)", printed)]


def says(printed: list[str], start: str) -> list[str]:
    return [text for text in printed if text.startswith(start)]


@pytest.fixture
def single(make_cluster: MakeCluster, tmp_path: Path) -> Cluster:
    cluster = make_cluster(Site("paris", "paris", 1), replication_factor=1)
    cluster.make_ready()
    return cluster


def places(cluster: Cluster) -> dict[str, str]:
    return {"http://127.0.0.1:3903": cluster.api_url, "/etc/garage/admin-token": str(cluster.token_file)}


@pytest.mark.requirement("FC-125")
def test_first_bucket(garage_binary: Path, tmp_path: Path) -> None:
    ports = pick_ports()
    guide = Guide("first-bucket", tmp_path, {f"127.0.0.1:{old}": f"{HOST}:{new}" for old, new in
                                             ((3900, ports.s3), (3901, ports.rpc), (3903, ports.admin))}, {"garage": garage_binary})
    try:
        printed = guide.run()
    finally:
        guide.end()
    first, second = says(printed, "ansible-playbook")
    assert changed(first)[0] > 0 and changed(second) == [0], first + second
    [sent] = says(printed, "aws")
    assert "['garage.toml']" in sent
    secret = re.search(r"AWS_SECRET_ACCESS_KEY=(.+)", (tmp_path / "app.env").read_text(encoding="utf-8"))[1].strip("'\"")
    assert secret not in "".join(printed)


@pytest.mark.requirement("MH-01", "MH-02", "MH-29")
def test_existing_garage(single: Cluster, tmp_path: Path) -> None:
    admin = single.nodes[0].admin
    old = admin.post("CreateBucket", {"globalAlias": "from-before"})["id"]
    printed = Guide("existing-garage", tmp_path, places(single)).run()
    foretold, made = says(printed, "ansible localhost -m s3ops.garage.bucket -a")
    assert "CHANGED" in foretold and "CHANGED" in made
    assert "app.env" in "".join(os.listdir(tmp_path))
    check, run = says(printed, "ansible-playbook -i inventory.yml")
    assert changed(check) == changed(run) == [0], check + run
    assert {row["globalAliases"][0] for row in admin.get("ListBuckets")} == {"from-before", "media"}
    assert admin.get("GetBucketInfo", id=old)["globalAliases"] == ["from-before"]
    [token] = [row for row in admin.get("ListAdminTokens") if row["name"] == "tenants"]
    assert "DeleteBucket" not in token["scope"]


def test_bulk_tenancy(single: Cluster, tmp_path: Path) -> None:
    admin = single.nodes[0].admin
    printed = Guide("tenancy", tmp_path, places(single)).run()
    runs = [changed(text) for text in says(printed, "ansible-playbook teams.yml")]
    assert runs == [[1], [1], [0], [1], [1]]
    assert [row["globalAliases"] for row in admin.get("ListBuckets")] == [["team-blue"]]
    assert [row["name"] for row in admin.get("ListKeys")] == ["team-blue"]
    assert "team-blue" in (tmp_path / "team.yml").read_text(encoding="utf-8")
