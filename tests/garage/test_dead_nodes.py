# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Operations on a cluster of which one node is dead."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

from tests.garage.ansible_run import run_module
from tools.testbed.nodes import GIB, Cluster, Site
from tools.testbed.waiting import wait_until


class MakeCluster(Protocol):
    def __call__(self, *sites: Site, replication_factor: int) -> Cluster: ...


@pytest.mark.requirement("FC-019", "FC-095", "FC-098", "GS-18", "LW-27", "OP-016")
def test_each_operation_names_the_dead_node_and_the_layout_goes_on_without_it(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(Site("paris", "paris", 3), replication_factor=2)
    cluster.make_ready()
    first, second, dead = cluster.nodes
    living = sorted([first.node_id, second.node_id])

    def run(module: str, args: dict[str, Any], **options: Any) -> dict[str, Any]:
        return run_module(module, args, {"api_url": first.api_url, "api_token_file": str(first.spec.token_file)}, **options)

    def missed() -> str | None:
        nodes = first.admin.get("GetClusterStatus")["nodes"]
        return "it is still seen" if any(node["id"] == dead.node_id and node["isUp"] for node in nodes) else None

    def draining() -> str | None:
        return "it drains" if any(row["status"] == "Draining" for row in first.admin.get("GetClusterLayoutHistory")["versions"]) else None

    dead.kill()
    wait_until("the dead node to be missed", missed, limit=300)

    strict = run("metadata_snapshot", {})
    assert (strict["rc"], strict["error"]["kind"], strict["changed"]) == (2, "node_errors", True)
    assert [entry["id"] for entry in strict["errors"]] == [dead.node_id]
    assert dead.node_id[:16] in strict["msg"] and all(f"metadata snapshot on node {node_id[:16]}" in strict["msg"] for node_id in living)
    lenient = run("metadata_snapshot", {"tolerate_node_errors": True})
    assert (lenient["rc"], [entry["id"] for entry in lenient["nodes"]]) == (0, living)
    assert [entry["id"] for entry in lenient["errors"]] == [dead.node_id] and dead.node_id[:16] in lenient["warnings"][0]
    alone = run("metadata_snapshot", {"node": dead.node_id, "tolerate_node_errors": True})
    assert (alone["rc"], alone["error"]["kind"], alone["changed"]) == (2, "node_errors", False)
    setting = run("worker_setting", {"resync_worker_count": 2, "tolerate_node_errors": True})
    assert (setting["rc"], setting["changed"], [entry["id"] for entry in setting["nodes"]]) == (0, True, living)

    drain = run("layout", {"roles": [{"node": second.node_id, "state": "absent"}]})
    assert (drain["rc"], drain["changed"]) == (2, False)
    assert f"node {second.node_id[:16]} would give up what it stores while {dead.node_id[:16]} is down" in drain["msg"]

    # A version that the dead node never acknowledges.
    first.admin.post("UpdateClusterLayout", {"roles": [{"id": dead.node_id, "remove": True},
                                                       {"id": first.node_id, "zone": "paris", "capacity": 2 * GIB, "tags": []}]})
    first.admin.post("ApplyClusterLayout", {"version": 2})

    skip = {"action": "skip_dead_nodes", "confirm": True}
    unsure = run("layout_recovery", {**skip, "confirm": False})
    assert (unsure["rc"], unsure["error"]["kind"]) == (2, "invalid_input") and "confirm:" in unsure["msg"]
    follower = run("layout_recovery", {**skip, "site_role": "follower"})
    assert (follower["changed"], follower["pending"], follower["blocked_operations"]) == (False, True, ["ClusterLayoutSkipDeadNodes"])
    predicted = run("layout_recovery", skip, check=True)
    assert (predicted["changed"], predicted["actions"]) == (True, ["let layout version 2 go on without its dead nodes"])
    refused = run("layout_recovery", {**skip, "version": 7})
    assert (refused["rc"], refused["error"]["kind"]) == (2, "refused") and "version: 7" in refused["msg"]
    assert first.admin.get("GetClusterLayoutHistory")["updateTrackers"][dead.node_id] == {"ack": 1, "sync": 1, "syncAck": 1}

    done = run("layout_recovery", skip)
    assert (done["changed"], done["recovery"]) == (True, {"ack_updated": [dead.node_id], "sync_updated": []})
    assert done["actions"] == predicted["actions"]
    assert draining()
    again = run("layout_recovery", skip)
    assert (again["changed"], again["recovery"]) == (False, {"ack_updated": [], "sync_updated": []})
    lossy = run("layout_recovery", {**skip, "allow_missing_data": True})
    assert (lossy["changed"], lossy["recovery"]["sync_updated"]) == (True, [dead.node_id])
    wait_until("the old version to go", draining, limit=300)
    lone = run("layout_recovery", skip)
    assert (lone["rc"], lone["error"]["kind"]) == (2, "refused") and "layout version 2 is the only one that is live" in lone["msg"]
    assert run("layout_recovery", {**skip, "version": 2})["changed"] is False
    cluster.stop()
    cluster.remove()
