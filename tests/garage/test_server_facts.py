# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a real Garage does that this collection counts on and cannot change."""

from __future__ import annotations

import shutil
import sys
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.garage.conftest import MakeCluster
from tests.garage.playbook_run import run_playbook
from tools.testbed.errors import SetupError
from tools.testbed.nodes import Cluster, Site


@pytest.mark.requirement("GS-12", "FC-025")
def test_another_replication_factor_takes_a_stop_and_a_layout_anew(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(Site("paris", "paris", 1), replication_factor=1)
    cluster.make_ready()
    (node,) = cluster.nodes
    node.stop()
    node.spec = replace(node.spec, replication_factor=2)
    with pytest.raises(SetupError, match="cluster_layout"):
        node.start()
    (node.spec.folder / "metadata" / "cluster_layout").unlink()
    node.start()
    layout = node.admin.get("GetClusterLayout")
    assert (layout["version"], layout["roles"]) == (0, [])
    cluster.stop()
    cluster.remove()


@pytest.mark.requirement("VG-15")
def test_metadata_on_an_empty_disk_wants_its_file_data_layout_taken_out(make_cluster: MakeCluster) -> None:
    """What docs/restore.md says of metadata alone, and why gateways keep their data folder beside their metadata."""
    cluster = make_cluster(Site("paris", "paris", 1), replication_factor=1)
    cluster.make_ready()
    (node,) = cluster.nodes
    before = node.node_id
    node.stop()
    shutil.rmtree(node.spec.folder / "data")
    with pytest.raises(SetupError, match="Could not find expected marker file"):
        node.start()
    (node.spec.folder / "metadata" / "data_layout").unlink()
    node.start()
    assert (node.node_id, node.admin.get("GetClusterLayout")["version"]) == (before, 1)
    cluster.stop()
    cluster.remove()


@pytest.mark.requirement("GS-15")
def test_metrics_are_open_where_no_token_is_set(single_node: Cluster) -> None:
    with urllib.request.urlopen(f"{single_node.api_url}/metrics", timeout=60) as answer:
        assert answer.status == 200 and b"cluster_healthy" in answer.read()


@pytest.mark.requirement("FC-026")
def test_zones_come_from_variables_of_the_inventory(make_cluster: MakeCluster, tmp_path: Path) -> None:
    cluster = make_cluster(Site("paris", "paris", 1), Site("lyon", "lyon", 1), replication_factor=2)
    cluster.connect_all()
    cluster.wait_mesh()
    roles = [{"node": f"{{{{ hostvars['{node.name}'].node_id }}}}", "zone": f"{{{{ hostvars['{node.name}'].datacenter }}}}", "capacity": "1GB"}
             for node in cluster.nodes]
    play = [{"name": "Roles", "hosts": "storage", "gather_facts": False, "run_once": True, "tasks": [{"s3ops.garage.layout": {
        "api_url": cluster.api_url, "api_token_file": str(cluster.token_file), "roles": roles}}]}]
    (tmp_path / "play.yml").write_text(yaml.safe_dump(play), encoding="utf-8")
    hosts = {node.name: {"node_id": node.node_id, "datacenter": f"dc-{node.zone}", "ansible_connection": "local",
                         "ansible_python_interpreter": sys.executable} for node in cluster.nodes}
    run = run_playbook(tmp_path / "play.yml", {"storage": {"hosts": hosts}})
    assert run.rc == 0, run.output
    found = {role["id"]: role["zone"] for role in cluster.nodes[0].admin.get("GetClusterLayout")["roles"]}
    assert found == {node.node_id: f"dc-{node.zone}" for node in cluster.nodes}
    cluster.stop()
    cluster.remove()
