# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Guides done as they are written, file by file and command by command, on a real Garage."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.garage.conftest import MakeCluster
from tests.garage.guide_run import Guide, changed, says
from tools.testbed.nodes import Cluster, Site
from tools.testbed.ports import HOST, pick_ports

# Stands in for the AWS CLI, with its library and the same variables of the environment.
AWS = f"""#!{sys.executable}
import sys, boto3
source, target = sys.argv[3:]
bucket = target.removeprefix("s3://").strip("/")
boto3.client("s3").upload_file(source, bucket, source)
print([row["Key"] for row in boto3.client("s3").list_objects_v2(Bucket=bucket)["Contents"]])
"""


@pytest.fixture
def single(make_cluster: MakeCluster, tmp_path: Path) -> Cluster:
    cluster = make_cluster(Site("paris", "paris", 1), replication_factor=1)
    cluster.make_ready()
    return cluster


def places(cluster: Cluster) -> dict[str, str]:
    return {"http://127.0.0.1:3903": cluster.api_url, "/etc/garage/admin-token": str(cluster.token_file)}


@pytest.mark.guide("docs/first-bucket.md")
@pytest.mark.requirement("FC-125")
def test_first_bucket(guide: Guide, garage_binary: Path) -> None:
    ports = pick_ports()
    guide.places |= {f"127.0.0.1:{old}": f"{HOST}:{new}" for old, new in ((3900, ports.s3), (3901, ports.rpc), (3903, ports.admin))}
    (guide.bin / "garage").symlink_to(garage_binary)
    guide.program("aws", AWS)
    printed = guide.run()
    first, second = says(printed, "ansible-playbook")
    assert changed(first)[0] > 0 and changed(second) == [0], first + second
    [sent] = says(printed, "aws")
    assert "['garage.toml']" in sent
    secret = re.search(r"AWS_SECRET_ACCESS_KEY=(.+)", (guide.folder / "app.env").read_text(encoding="utf-8"))[1].strip("'\"")
    assert secret not in "".join(printed)


@pytest.mark.guide("docs/existing-garage.md")
@pytest.mark.requirement("MH-01", "MH-02", "MH-29")
def test_existing_garage(guide: Guide, single: Cluster) -> None:
    admin = single.nodes[0].admin
    old = admin.post("CreateBucket", {"globalAlias": "from-before"})["id"]
    guide.places |= places(single)
    printed = guide.run()
    foretold, made = says(printed, "ansible localhost -m s3ops.garage.bucket -a")
    assert "CHANGED" in foretold and "CHANGED" in made
    assert (guide.folder / "app.env").exists()
    check, run = says(printed, "ansible-playbook -i inventory.yml")
    assert changed(check) == changed(run) == [0], check + run
    assert {row["globalAliases"][0] for row in admin.get("ListBuckets")} == {"from-before", "media"}
    assert admin.get("GetBucketInfo", id=old)["globalAliases"] == ["from-before"]
    [token] = [row for row in admin.get("ListAdminTokens") if row["name"] == "tenants"]
    assert "DeleteBucket" not in token["scope"]


@pytest.mark.guide("docs/tenancy.md")
def test_bulk_tenancy(guide: Guide, single: Cluster) -> None:
    admin = single.nodes[0].admin
    guide.places |= places(single)
    printed = guide.run()
    runs = [changed(text) for text in says(printed, "ansible-playbook teams.yml")]
    assert runs == [[1], [1], [0], [1], [1]]
    assert [row["globalAliases"] for row in admin.get("ListBuckets")] == [["team-blue"]]
    assert [row["name"] for row in admin.get("ListKeys")] == ["team-blue"]
    assert "team-blue" in (guide.folder / "team.yml").read_text(encoding="utf-8")
