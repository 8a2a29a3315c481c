# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table and the page of two real sites: a node that is down, a bucket that is nearly full, a site file that differs, a site that is lost."""

from __future__ import annotations

import contextlib
import copy
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from tests.garage.conftest import MakeCluster
from tests.garage.federation_driver import Federation, federation_of, posts, succeeded
from tests.garage.playbook_run import Run, run_playbook
from tests.unit.status_html import Page
from tools.testbed.config import REGION
from tools.testbed.node import Node
from tools.testbed.nodes import Cluster, Site
from tools.testbed.waiting import wait_until

NAME = "<b>app</b>"
TEMPLATE = "{{ 6 * 7 }}"


@pytest.fixture(scope="module")
def federation(make_cluster: MakeCluster) -> Iterator[Federation]:
    """Two nodes in paris and two in lyon, brought to their site files; a bucket is filled to 95 %."""
    cluster = make_cluster(Site("paris", "paris", 2), Site("lyon", "lyon", 2), replication_factor=2)
    with federation_of(cluster, paris=2, lyon=2) as found:
        found.files["paris"]["tenancy"] = {
            "keys": [{"name": NAME, "expiration": "2039-01-01T00:00:00Z"}],
            "buckets": [{"name": "media", "quotas": {"max_size": "1MB"}, "grants": [{"key": NAME, "read": True, "write": True}]}, {"name": "photos"}],
        }
        assert succeeded(found.run())
        _fill(found, "media", 950_000)
        cluster.nodes[0].admin.post("CreateKey", {"name": TEMPLATE, "expiration": "2001-01-01T00:00:00Z"})
        yield found


def _fill(federation: Federation, bucket: str, size: int) -> None:
    admin = federation.cluster.nodes[0].admin
    key = next(key["id"] for key in admin.get("ListKeys") if key["name"] == NAME)
    secret = admin.get(f"GetKeyInfo?id={key}&showSecretKey=true")["secretAccessKey"]
    config = Config(s3={"addressing_style": "path"}, proxies={})
    client = boto3.client("s3", endpoint_url=federation.cluster.s3_url, region_name=REGION, config=config, aws_access_key_id=key,
                          aws_secret_access_key=secret)
    with contextlib.closing(client):
        client.put_object(Bucket=bucket, Key="film", Body=b"g" * size)


def look(federation: Federation, page: Path, *options: str, files: dict[str, Any] | None = None) -> Run:
    run = federation.run("-e", f"garage_status_page={page}", *options, files=files, playbook="s3ops.garage.status")
    assert succeeded(run)
    return run


def await_down(federation: Federation, gone: Node) -> None:
    """Until every other node has noticed."""

    def unaware() -> str | None:
        views = [node.admin.get("GetClusterStatus")["nodes"] for node in federation.cluster.nodes if node is not gone]
        return "is taken to be up" if any(one["id"] == gone.node_id and one["isUp"] for view in views for one in view) else None

    wait_until("others miss the node", unaware)


def table(run: Run) -> list[str]:
    (shown,) = [row["result"]["msg"] for row in run.rows if row["action"] == "ansible.builtin.debug" and row["state"] == "ok"]
    return shown


@pytest.mark.requirement("FC-119", "MH-19", "LW-10")
def test_the_state_of_two_sites(federation: Federation, tmp_path: Path) -> None:
    path = tmp_path / "garage.html"
    tokens = federation.write_tokens_into_the_files()
    first = look(federation, path, "-vvvv", "--diff", "-e", "garage_status_artifact=true", "-e", "garage_status_expiry_days=9999")
    assert first.changed == 1
    assert set(posts(federation.take("paris"))) <= {"ListBlockErrors"}
    assert [line.split()[:6] for line in table(first)[1:3]] == [
        ["paris", "writer", "2.5.0", "1", "4", "of"], ["lyon", "follower", "2.5.0", "1", "4", "of"]]
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    page = Page(path.read_text(encoding="utf-8"))
    assert page.cell("Sites", "paris", "State") == "healthy" and page.cell("Sites", "paris", "Site file") == "as declared"
    assert page.cell("Buckets against their quotas", "media", "Used") == "95 %"
    # Neither markup nor a template in a name is anything but text.
    assert [row["Name"] for row in page.rows("Keys and tokens that expire")] == [TEMPLATE, NAME]
    assert page.cell("Nodes as each site sees them", federation.cluster.nodes[3].node_id[:16], "Seen by paris") == "up"
    assert not [token for token in tokens if token in first.output or token in path.read_text(encoding="utf-8")]
    (kept,) = [row["result"]["ansible_stats"]["data"]["garage_status"] for row in first.rows if row["action"] == "ansible.builtin.set_stats"]
    assert kept["lyon"]["reachable"] and kept["lyon"]["drift"] == {"layout": "same", "tenancy": "undeclared"}

    def new() -> str | None:
        return "another page" if look(federation, path, "-e", "garage_status_expiry_days=9999").changed else None

    # What is free on the disk of this machine stands in it, and others write there.
    wait_until("a page that stays as it is", new, limit=300)

    # A node is down, and the writer's file has changed.
    gone = federation.cluster.site("lyon").nodes[1]
    gone.kill()
    files = copy.deepcopy(federation.files)
    files["paris"]["tenancy"]["buckets"].append({"name": "music"})
    files["paris"]["layout"]["nodes"][0]["capacity"] = "2GB"
    await_down(federation, gone)
    run = look(federation, path, files=files)
    page = Page(path.read_text(encoding="utf-8"))
    assert page.cell("Nodes as each site sees them", gone.node_id[:16], "Seen by lyon").startswith("down")
    drift = page.cell("Site files against what is there", "tenancy", "What a run would do")
    assert "create bucket music" in drift
    assert "layout differs" in table(run)[1] and "tenancy differs" in table(run)[1]
    assert federation.layout_version() == 1
    assert set(posts(federation.take("paris"))) <= {"ListBlockErrors"}

    for node in federation.cluster.site("lyon").nodes[:1]:
        node.kill()
    run = look(federation, path)
    assert "unreachable" in table(run)[2]
    assert run.stats["lyon"]["failures"] == run.stats["lyon"]["unreachable"] == 0
    assert Page(path.read_text(encoding="utf-8")).cell("Sites", "lyon", "State").startswith("unreachable")


@pytest.mark.requirement("MH-18", "MH-19", "GS-01")
def test_handles_that_declare_nothing(single_node: Cluster) -> None:
    """One that may read everything, one whose token may not, one that is not there."""
    narrow = single_node.nodes[0].admin.post("CreateAdminToken", {"name": "status-narrow", "scope": ["GetClusterStatus", "GetClusterHealth"]})
    ways = {
        "wide": {"api_url": single_node.api_url, "api_token_file": str(single_node.token_file)},
        "narrow": {"api_url": single_node.api_url, "api_token": narrow["secretToken"]},
        "gone": {"api_url": "http://127.0.0.1:9", "api_token": "x", "retries": 0},
    }
    hosts = {name: {"garage_site": {"name": name, "zone": "paris", "connect_to": way}, "ansible_connection": "local",
                    "ansible_python_interpreter": sys.executable} for name, way in ways.items()}
    run = run_playbook("s3ops.garage.status", {"all": {"hosts": hosts}})
    assert succeeded(run) and run.changed == 0
    shown = table(run)
    assert [line.split()[:2] for line in shown[1:4]] == [["wide", "-"], ["narrow", "-"], ["gone", "-"]]
    assert shown[1].endswith("-") and "healthy" in shown[1] and shown[3].endswith("unreachable")
    assert [line for line in shown if line.startswith("NOTE: narrow: buckets could not be read: ")]
    assert not [line for line in shown if "wide" in line and "could not" in line]
    assert narrow["secretToken"] not in run.output

    hosts["narrow"]["garage_site"]["conect_to"] = {}
    broken = run_playbook("s3ops.garage.status", {"all": {"hosts": hosts}})
    assert broken.rc != 0 and "garage_site.conect_to: unknown option, did you mean connect_to?" in broken.output
