# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""cluster_connect and cluster_info on real nodes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, Protocol

import pytest

from tests.garage.ansible_run import run_module
from tools.testbed.node import Node
from tools.testbed.nodes import Cluster, Site
from tools.testbed.ports import pick_ports
from tools.testbed.waiting import wait_until

PARIS, LYON = Site("paris", "paris", 2), Site("lyon", "lyon", 1)


class MakeCluster(Protocol):
    def __call__(self, *sites: Site, replication_factor: int) -> Cluster: ...


@pytest.fixture
def strangers(make_cluster: MakeCluster) -> Iterator[Cluster]:
    """Two nodes in paris and one in lyon that know nothing of each other."""
    cluster = make_cluster(PARIS, LYON, replication_factor=3)
    yield cluster
    cluster.stop()
    cluster.remove()


@pytest.fixture(scope="module")
def ready(make_cluster: MakeCluster) -> Iterator[Cluster]:
    """The same three, healthy and with a layout. No test stops a node of it."""
    cluster = make_cluster(PARIS, LYON, replication_factor=3)
    cluster.make_ready()
    yield cluster
    cluster.stop()
    cluster.remove()


def at(node: Node) -> dict[str, Any]:
    return {"api_url": node.api_url, "api_token_file": str(node.spec.token_file)}


def closed() -> str:
    """An Admin API nobody serves."""
    return f"http://127.0.0.1:{pick_ports().admin}"


def remote(node: Node, **changes: Any) -> dict[str, Any]:
    return {"name": node.spec.site, **at(node), **changes}


def named(node: Node) -> set[str]:
    """The ids of the nodes whose hostname it knows."""
    return {each["id"] for each in node.admin.get("GetClusterStatus")["nodes"] if each.get("hostname")}


def up(node: Node) -> set[str]:
    return {entry["id"] for entry in node.admin.get("GetClusterStatus")["nodes"] if entry["isUp"]}


@pytest.mark.requirement("FC-118", "LW-20")
def test_nodes_are_connected_once(strangers: Cluster) -> None:
    first, second, third = strangers.nodes
    # The second over IPv6 and without brackets: an address that every Linux can reach.
    by_ipv6 = f"{second.node_id}@::ffff:127.0.0.1:{second.ports.rpc}"
    args = {"nodes": [by_ipv6, third.rpc_address], "site_role": "follower"}

    predicted = run_module("cluster_connect", args, at(first), check=True, diff=True)
    assert up(first) == {first.node_id}
    done = run_module("cluster_connect", args, at(first), diff=True)
    assert up(first) == {first.node_id, second.node_id, third.node_id}
    again = run_module("cluster_connect", args, at(first), diff=True)

    assert (predicted["changed"], done["changed"], again["changed"]) == (True, True, False)
    for name in ("connections", "diff", "actions"):
        assert predicted[name] == done[name]
    assert done["connections"] == {"connected": sorted([second.node_id, third.node_id]), "failed": [], "unreachable": []}
    assert again["connections"] == done["connections"]
    assert f"[::ffff:127.0.0.1]:{second.ports.rpc}" in done["actions"][0]


@pytest.mark.requirement("FC-023", "GS-14")
def test_each_failed_node_is_named(strangers: Cluster) -> None:
    first, second, third = strangers.nodes
    wrong_id = f"{'0' * 64}@127.0.0.1:{third.ports.rpc}"
    closed_port = f"{third.node_id}@127.0.0.1:{pick_ports().rpc}"
    args = {"nodes": [second.rpc_address, wrong_id, closed_port]}

    strict = run_module("cluster_connect", args, at(first))
    assert (strict["rc"], strict["changed"], strict["error"]["kind"]) == (2, True, "not_connected")
    assert all(text in strict["msg"] for text in (wrong_id, closed_port, f"Done before that: connected {second.rpc_address}"))
    assert [entry["node"] for entry in strict["connections"]["failed"]] == [wrong_id, closed_port]
    assert strict["connections"]["connected"] == [second.node_id]

    lenient = run_module("cluster_connect", {**args, "fail_on_unreachable": False}, at(first))
    assert (lenient["rc"], lenient["changed"]) == (0, False)
    assert lenient["connections"]["failed"] == strict["connections"]["failed"]
    assert len(lenient["warnings"]) == 2


@pytest.mark.requirement("OP-116", "FC-119", "MH-15")
def test_sites_are_connected_in_both_directions(strangers: Cluster) -> None:
    first, second, third = strangers.nodes
    run_module("cluster_connect", {"nodes": [second.rpc_address]}, at(first))
    token = third.spec.token_file.read_text(encoding="ascii").strip()
    dead = {"name": "rome", "api_url": closed(), "api_token": "a-token-of-rome"}
    lyon = {"name": "lyon", "api_url": third.api_url, "api_token": token}
    args = {"remotes": [dead, lyon], "fail_on_unreachable": False}

    predicted = run_module("cluster_connect", args, at(first), check=True)
    assert up(third) == {third.node_id}
    done = run_module("cluster_connect", args, at(first), verbosity=4)
    assert {*up(first)} == {*up(third)} == set(strangers.node_ids)
    again = run_module("cluster_connect", args, at(first))
    strict = run_module("cluster_connect", {**args, "fail_on_unreachable": True}, at(first))

    assert (predicted["changed"], done["changed"], again["changed"]) == (True, True, False)
    assert predicted["connections"] == done["connections"]
    assert done["connections"]["connected"] == [third.node_id]
    assert [entry["name"] for entry in done["connections"]["unreachable"]] == ["rome"]
    assert len(done["actions"]) == 2
    assert (strict["rc"], strict["changed"]) == (2, False)
    assert "remote rome is unreachable" in strict["msg"]
    for secret in (token, "a-token-of-rome"):
        assert secret not in done["output"]


@pytest.mark.requirement("FC-119")
def test_a_remote_that_hangs_does_not_block(strangers: Cluster) -> None:
    first, second, third = strangers.nodes
    second.pause()
    try:
        args = {"remotes": [remote(second, name="hung", timeout=1), remote(third)], "fail_on_unreachable": False}
        done = run_module("cluster_connect", args, at(first))
    finally:
        second.resume()
    assert [entry["name"] for entry in done["connections"]["unreachable"]] == ["hung"]
    assert up(first) == {first.node_id, third.node_id}


def test_bad_input_is_refused_as_a_whole(strangers: Cluster) -> None:
    first, second, third = strangers.nodes
    args = {"nodes": [second.rpc_address, "nonsense"], "remotes": [{"name": "lyon", "api_url": third.api_url}]}
    refused = run_module("cluster_connect", args, at(first), env={"GARAGE_ADMIN_TOKEN_FILE": str(third.spec.token_file)})
    assert (refused["rc"], refused["error"]["kind"]) == (2, "invalid_input")
    assert "nodes[1]: 'nonsense'" in refused["msg"] and "remotes[0].api_token" in refused["msg"]
    assert up(first) == {first.node_id}


@pytest.mark.requirement("FC-028", "MH-17", "MH-18", "OP-113")
def test_all_of_a_healthy_cluster(ready: Cluster) -> None:
    node = ready.nodes[0]
    environment = {"GARAGE_ADMIN_URL": node.api_url, "GARAGE_ADMIN_TOKEN_FILE": str(node.spec.token_file)}
    seen = run_module("cluster_info", {}, env=environment)
    cluster = seen["cluster"]
    assert (seen["changed"], seen.get("warnings", [])) == (False, [])
    assert (cluster["reachable"], cluster["phase"], cluster["message"], cluster["layout_version"]) == (True, "running", None, 1)
    assert cluster["garage_version"].count(".") == 2 and cluster["capabilities"]["cors_rules"] is True
    assert (cluster["health"]["status"], cluster["health"]["storage_nodes_up"], cluster["quorum_at_risk"]) == ("healthy", 3, False)
    assert [entry["id"] for entry in cluster["nodes"]] == sorted(ready.node_ids)
    assert [entry["id"] for entry in cluster["nodes"] if entry["self"]] == [node.node_id]
    assert {entry["zone"] for entry in cluster["nodes"]} == {"paris", "lyon"}
    own = next(entry for entry in cluster["nodes"] if entry["self"])
    assert own["up"] and own["has_role"] and own["data_partition"]["total"] > own["data_partition"]["available"] > 0
    assert cluster["statistics"]["bucket_count"] == 0
    assert cluster["unreachable_peers"] == []


@pytest.mark.requirement("FC-028")
def test_a_narrow_token_is_enough(ready: Cluster) -> None:
    node = ready.nodes[0]
    made = node.admin.post("CreateAdminToken", {"name": "viewer", "scope": ["GetClusterStatus", "GetClusterHealth"], "neverExpires": True})
    seen = run_module("cluster_info", {}, {"api_url": node.api_url, "api_token": made["secretToken"]}, verbosity=3)
    cluster = seen["cluster"]
    assert (cluster["reachable"], cluster["health"]["status"], cluster["statistics"]) == (True, "healthy", None)
    assert [entry["id"] for entry in cluster["nodes"] if entry["self"]] == [node.node_id]
    assert cluster["capabilities"]["cors_rules"] is True
    assert len(seen["warnings"]) == 2
    assert made["secretToken"] not in seen["output"]


def test_before_the_first_layout(strangers: Cluster) -> None:
    first = strangers.nodes[0]
    seen = run_module("cluster_info", {}, at(first))
    assert (seen["cluster"]["layout_version"], seen["cluster"]["statistics"], seen["cluster"]["health"]["partitions"]) == (0, None, 0)
    assert "warnings" not in seen or seen["warnings"] == []
    assert run_module("cluster_info", {"wait": True, "wait_for": "reachable"}, at(first))["rc"] == 0
    late = run_module("cluster_info", {"wait": True, "wait_timeout": 0, "min_nodes": 2}, at(first))
    assert (late["rc"], late["error"]["kind"]) == (2, "timeout")
    assert "1 of 2 nodes are up" in late["msg"] and "no layout" in late["msg"]


@pytest.mark.requirement("MH-19")
def test_nobody_answers() -> None:
    connection = {"api_url": closed(), "api_token": "some-token", "retries": 0}
    pending = run_module("cluster_info", {"fail_on_unreachable": False}, connection)
    assert (pending["rc"], pending["cluster"]["reachable"], pending["cluster"]["phase"]) == (0, False, "pending")
    assert "refused" in pending["cluster"]["message"] and pending["cluster"]["error"]["kind"] == "unreachable"
    failed = run_module("cluster_info", {}, connection)
    assert (failed["rc"], failed["error"]["kind"]) == (2, "unreachable")


@pytest.mark.requirement("MH-19")
def test_a_wrong_token_is_not_waited_for(ready: Cluster) -> None:
    connection = {"api_url": ready.api_url, "api_token": "not-the-token"}
    refused = run_module("cluster_info", {"wait": True, "wait_timeout": 600}, connection)
    assert (refused["rc"], refused["error"]["kind"], refused["error"]["status"]) == (2, "denied", 403)
    pending = run_module("cluster_info", {"fail_on_unreachable": False}, connection)
    assert (pending["cluster"]["phase"], pending["cluster"]["error"]["kind"]) == ("pending", "denied")


@pytest.mark.requirement("FC-089", "OP-120")
def test_waiting_bridges_a_node_that_starts(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(Site("paris", "paris", 1), replication_factor=1)
    cluster.make_ready()
    node = cluster.nodes[0]
    node.stop()
    # A node keeps its ports when it can, so the module waits where the node will be.
    starting = threading.Timer(4.0, node.start)
    starting.start()
    try:
        seen = run_module("cluster_info", {"wait": True, "wait_timeout": 300, "wait_sleep": 0.2}, at(node))
    finally:
        starting.join()
    assert seen["rc"] == 0, seen["msg"]
    assert seen["cluster"]["health"]["status"] == "healthy"
    cluster.stop()
    cluster.remove()


@pytest.mark.requirement("FC-089")
def test_a_node_that_is_down_is_named(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(PARIS, LYON, replication_factor=3)
    cluster.make_ready()
    first, _second, third = cluster.nodes
    # A peer that has not told its name yet leaves no trace of when it was seen (2.5.0, some seconds after connecting).
    wait_until("lyon to be known by name", lambda: None if third.node_id in named(first) else "its hostname is unknown")
    third.stop()
    # Garage notices after some seconds.
    wait_until("lyon to be missed", lambda: "it is still seen" if third.node_id in up(first) else None)
    late = run_module("cluster_info", {"wait": True, "wait_timeout": 1}, at(first))
    assert (late["rc"], late["error"]["kind"]) == (2, "timeout")
    assert f"down: {third.node_id[:16]}" in late["msg"] and "2 of 3 storage nodes are up" in late["msg"]
    seen = run_module("cluster_info", {"wait": True, "wait_for": "quorum", "wait_timeout": 1}, at(first))
    assert (seen["rc"], seen["cluster"]["health"]["status"], seen["cluster"]["quorum_at_risk"]) == (0, "degraded", False)
    # Down for seconds only.
    assert seen["cluster"]["unreachable_peers"] == []
    cluster.stop()
    cluster.remove()
