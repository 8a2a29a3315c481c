# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nodes: status, connecting, and what each says of itself."""

from __future__ import annotations

import pytest

from tests.contract.server import Server

NOBODY = "0" * 64


def test_status_shows_the_node_with_its_role(server: Server) -> None:
    status = server.ok("GetClusterStatus")
    assert status["layoutVersion"] >= 1
    [node] = status["nodes"]
    measured = {name: node.pop(name) for name in ("garageVersion", "addr", "hostname", "dataPartition", "metadataPartition")}
    assert ".".join(map(str, server.version)) in measured["garageVersion"]
    assert set(measured["dataPartition"]) == set(measured["metadataPartition"]) == {"available", "total"}
    assert node.pop("role")["zone"] == "dc1"
    assert node == {"id": server.node_id, "isUp": True, "lastSeenSecsAgo": None, "draining": False,
                    **({"resyncQueueLen": 0} if server.since(2, 5) else {})}


def test_health(server: Server) -> None:
    up = "storageNodesUp" if server.since(2, 1) else "storageNodesOk"
    assert server.ok("GetClusterHealth") == {"status": "healthy", "knownNodes": 1, "connectedNodes": 1, "storageNodes": 1, up: 1, "partitions": 256,
                                             "partitionsQuorum": 256, "partitionsAllOk": 256}


def test_statistics(server: Server) -> None:
    before = server.ok("GetClusterStatistics")
    server.make_bucket()
    after = server.ok("GetClusterStatistics")
    numbers = {"dataAvail", "metadataAvail", "incompleteAvailInfo", "bucketCount", "totalObjectCount", "totalObjectBytes"}
    assert set(after) == {"freeform"} | (numbers if server.since(2, 3) else set())
    if server.since(2, 3):
        assert after["bucketCount"] - before["bucketCount"] == 1


@pytest.mark.requirement("GS-14")
def test_connecting_is_judged_node_by_node(server: Server) -> None:
    unreachable = f"{NOBODY}@127.0.0.1:1"
    unclear = ["garbage", "", "@127.0.0.1:1", f"{NOBODY[1:]}@127.0.0.1:1", f"{'z' * 64}@127.0.0.1:1", f"{NOBODY}@127.0.0.1",
               f"{NOBODY}@127.0.0.1:99999"]
    answers = server.ok("ConnectClusterNodes", body=[f"{server.node_id}@127.0.0.1:1", unreachable, *unclear])
    assert answers[0] == {"success": True, "error": None}
    assert answers[1] == {"success": False, "error": (
        f"Error establishing RPC connection to remote node: {unreachable}.\n"
        "This can happen if the remote node is not reachable on the network, but also if the two nodes are not configured with the same rpc_secret.\n"
        "IO error: Connection refused (os error 111)")}
    assert answers[2:] == [{"success": False, "error": f"Unable to parse or resolve node specification: {peer}"} for peer in unclear]
    assert server.ok("ConnectClusterNodes", body=[]) == []
    for wrong in ({}, [1], "x"):
        assert server.refusal("ConnectClusterNodes", body=wrong) == (400, "InvalidRequest", "Bad request: Invalid JSON")


@pytest.mark.requirement("FC-098")
def test_a_node_is_asked_by_self_star_id_or_beginning(server: Server) -> None:
    for node in ("self", "*", server.node_id, server.node_id[:6]):
        answer = server.ok("GetNodeInfo", {"node": node})
        assert (list(answer["success"]), answer["error"]) == ([server.node_id], {}), node
    assert server.refusal("GetNodeInfo", {"node": "nobody"}) == (400, "InvalidRequest", "Bad request: No nodes matching nobody")
    assert server.refusal("GetNodeInfo") == (400, "InvalidRequest", "Bad request: Missing argument `node` for endpoint")


def test_what_a_node_says_of_itself(server: Server) -> None:
    info = server.ok("GetNodeInfo", {"node": "self"})["success"][server.node_id]
    fields = {"nodeId", "garageVersion", "garageFeatures", "rustVersion", "dbEngine"}
    fields |= {"hostname"} if server.since(2, 3) else set()
    fields |= {"addr", "isUp", "role", "draining", "dataPartition", "metadataPartition"} if server.since(2, 4) else set()
    fields |= {"connectionParameters"} if server.since(2, 5) else set()
    assert set(info) == fields
    assert info["nodeId"] == server.node_id
    if server.since(2, 5):
        assert info["connectionParameters"] == {"region": "garage"}
    if server.since(2, 4):
        assert (info["isUp"], info["draining"], info["role"]["zone"]) == (True, False, "dc1")


def test_before_a_layout_a_node_has_no_role(bare_server: Server) -> None:
    assert "role" not in bare_server.ok("GetNodeInfo", {"node": "self"})["success"][bare_server.node_id]


def test_dead_nodes_of_the_layout_are_asked_and_fail_inside_a_200(fresh_server: Server) -> None:
    server = fresh_server
    roles = [{"id": node, "zone": "dc1", "tags": [], "capacity": 2**30} for node in (server.node_id, "a" * 64)]
    server.ok("UpdateClusterLayout", body={"roles": roles})
    server.ok("ApplyClusterLayout", body={"version": 1})
    answer = server.ok("GetNodeInfo", {"node": "*"})
    assert (list(answer["success"]), list(answer["error"])) == ([server.node_id], ["a" * 64])
    assert "Not connected" in answer["error"]["a" * 64]


def test_statistics_of_a_node(server: Server) -> None:
    shown = server.ok("GetNodeStatistics", {"node": "self"})["success"][server.node_id]
    assert set(shown) == ({"freeform", "tableStats", "blockManagerStats"} if server.since(2, 3) else {"freeform"})
