# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What cluster_info tells and waits for, on nodes in memory."""

from __future__ import annotations

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils._errors import Denied, GarageError, InputError, NotAdminApi, TransportError, WaitTimeout
from ansible_collections.s3ops.garage.plugins.module_utils._readers.cluster import look_at_cluster
from tests.fakes.mesh import DENIED, Mesh, node_id

REFUSED = TransportError("GetClusterStatus at http://a:3903: Connection refused", endpoint="GetClusterStatus")
BUSY = (503, {"code": "ServiceUnavailable", "message": "not yet"})
NOT_READY = (500, {"code": "InternalError", "message": "Internal error: Layout not ready"})


@pytest.fixture
def mesh():
    """Three nodes of a site with a layout, seen from a."""
    mesh = Mesh("a", "b", "c")
    mesh.link("a", "b", "c")
    mesh.layout_version = 1
    for node in mesh.nodes.values():
        node.role = {"zone": "paris", "tags": [], "capacity": 1000}
    return mesh


def look(mesh, client=None, **params):
    client = client or mesh.client("a")
    defaults = {"wait": False, "wait_for": "healthy", "wait_timeout": 0, "wait_sleep": 0.0, "min_nodes": None, "fail_on_unreachable": True}
    return look_at_cluster(client, {**defaults, **params}), client


@pytest.mark.requirement("MH-17", "MH-18")
def test_a_cluster_that_answers(mesh):
    cluster, client = look(mesh)
    assert (cluster["reachable"], cluster["phase"], cluster["garage_version"], cluster["layout_version"]) == (True, "running", "2.5.0", 1)
    assert cluster["health"]["status"] == "healthy"
    assert cluster["statistics"]["bucket_count"] == 2
    assert client.warnings == []


@pytest.mark.requirement("OP-113")
def test_the_asked_node_is_recognised_by_asking_it(mesh):
    real = mesh._entry
    # A peer that was never seen is up for a moment after connecting.
    mesh._entry = lambda node, other: {**real(node, other), "lastSeenSecsAgo": None}
    cluster, _client = look(mesh)
    assert [node["id"] for node in cluster["nodes"] if node["self"]] == [node_id("a")]


@pytest.mark.requirement("FC-028")
@pytest.mark.parametrize(("endpoint", "lost"), [("GetClusterStatistics", "statistics"), ("GetClusterHealth", "health")])
def test_what_a_narrow_token_may_not_read_is_null(mesh, endpoint, lost):
    mesh["a"].faults[endpoint] = [DENIED]
    cluster, client = look(mesh)
    assert (cluster["reachable"], cluster[lost]) == (True, None)
    assert len(client.warnings) == 1 and endpoint in client.warnings[0]


@pytest.mark.requirement("FC-028", "OP-113")
def test_without_node_info_the_status_tells_who_was_asked(mesh):
    mesh["a"].faults["GetNodeInfo"] = [DENIED]
    cluster, client = look(mesh)
    assert [node["id"] for node in cluster["nodes"] if node["self"]] == [node_id("a")]
    assert (cluster["garage_version"], set(cluster["capabilities"].values())) == (None, {None})
    assert len(client.warnings) == 1


def test_before_the_first_layout_no_statistics_are_asked_for():
    mesh = Mesh("a")
    cluster, client = look(mesh)
    assert (cluster["statistics"], cluster["layout_version"], client.warnings) == (None, 0, [])
    assert "GetClusterStatistics" not in [endpoint for _letter, endpoint, _body in mesh.asked]


def test_statistics_that_fail_are_tried_once(mesh):
    mesh["a"].faults["GetClusterStatistics"] = [BUSY] * 9
    cluster, client = look(mesh, mesh.client("a", retries=3))
    assert cluster["statistics"] is None
    assert (len(mesh["a"].faults["GetClusterStatistics"]), len(client.warnings)) == (8, 1)


@pytest.mark.requirement("MH-19")
@pytest.mark.parametrize(("fault", "kind", "said"), [(REFUSED, "unreachable", "refused"), (DENIED, "denied", "403"), (BUSY, "unavailable", "503")])
def test_a_cluster_that_does_not_answer(mesh, fault, kind, said):
    mesh["a"].faults["GetClusterStatus"] = [fault, fault]
    cluster, _client = look(mesh, fail_on_unreachable=False)
    assert (cluster["reachable"], cluster["phase"], cluster["error"]["kind"], cluster["nodes"]) == (False, "pending", kind, [])
    assert said in cluster["message"]
    with pytest.raises(GarageError, match=said):
        look(mesh)


@pytest.mark.requirement("FC-089", "OP-120")
def test_waiting_bridges_a_server_that_starts(mesh):
    mesh["a"].faults["GetClusterStatus"] = [REFUSED, BUSY, NOT_READY]
    cluster, client = look(mesh, wait=True, wait_timeout=600)
    assert cluster["health"]["status"] == "healthy"
    assert client.warnings == []


def test_waiting_for_nodes_to_come(mesh):
    mesh["a"].sees.clear()

    def late():
        mesh.link("a", "b", "c")
        return BUSY

    mesh["a"].faults["GetClusterHealth"] = [BUSY, late]
    cluster, _client = look(mesh, wait=True, min_nodes=3, wait_timeout=600)
    assert sum(node["up"] for node in cluster["nodes"]) == 3


@pytest.mark.parametrize(("params", "said"), [
    ({"wait_for": "healthy"}, ["waiting for healthy", "degraded", "2 of 3 storage nodes", "down: cccccccccccccccc"]),
    ({"wait_for": "quorum", "min_nodes": 3}, ["2 of 3 nodes are up", "cccccccccccccccc"]),
])
@pytest.mark.requirement("FC-089")
def test_waiting_in_vain_says_what_was_missing(mesh, params, said):
    mesh["a"].sees = {"b"}
    with pytest.raises(WaitTimeout) as late:
        look(mesh, wait=True, **params)
    assert all(part in late.value.message for part in said)


@pytest.mark.requirement("OP-006", "OP-015")
def test_a_layout_that_drains_is_waited_for_where_that_is_asked(mesh):
    behind = {"currentVersion": 2, "minAck": 1, "versions": [
        {"version": 2, "status": "Current", "storageNodes": 3, "gatewayNodes": 0}, {"version": 1, "status": "Draining", "storageNodes": 3, "gatewayNodes": 0},
    ], "updateTrackers": {"c" * 64: {"ack": 2, "sync": 1, "syncAck": 1}}}
    mesh["a"].faults["GetClusterLayoutHistory"] = [(200, behind)] * 9
    with pytest.raises(WaitTimeout, match="version 1 is still draining, current is 2: node cccccccccccccccc is behind with sync 1"):
        look(mesh, wait=True, wait_for="settled")
    assert look(mesh, wait=True, wait_for="healthy")[0]["reachable"]


def test_lost_quorum_is_counted(mesh):
    mesh["a"].sees = set()
    with pytest.raises(WaitTimeout, match="0 of 256 partitions have a quorum"):
        look(mesh, wait=True, wait_for="quorum")
    cluster, _client = look(mesh, wait=True, wait_for="layout")
    assert cluster["quorum_at_risk"] is True


def test_waiting_for_a_layout_or_an_answer():
    mesh = Mesh("a")
    with pytest.raises(WaitTimeout, match="no layout"):
        look(mesh, wait=True, wait_for="layout")
    assert look(mesh, wait=True, wait_for="reachable")[0]["reachable"]


@pytest.mark.requirement("MH-19")
def test_waiting_for_a_silent_server_is_a_matter_of_reach(mesh):
    mesh["a"].faults["GetClusterStatus"] = [REFUSED, REFUSED]
    with pytest.raises(TransportError, match="refused"):
        look(mesh, wait=True)
    cluster, _client = look(mesh, wait=True, fail_on_unreachable=False)
    assert (cluster["phase"], cluster["error"]["kind"]) == ("pending", "unreachable")


def test_an_unhealthy_cluster_fails_the_wait_even_when_unreachable_would_not(mesh):
    mesh["a"].sees = {"b"}
    with pytest.raises(WaitTimeout):
        look(mesh, wait=True, fail_on_unreachable=False)


@pytest.mark.parametrize(("fault", "error"), [
    (DENIED, Denied),
    (NotAdminApi("html"), NotAdminApi),
    ((400, {"code": "InvalidRequest", "message": "Unknown API endpoint: GET /v2/GetClusterStatus"}), NotAdminApi),
])
def test_what_time_does_not_heal_is_not_waited_for(mesh, fault, error):
    mesh["a"].faults["GetClusterStatus"] = [fault]
    with pytest.raises(error):
        look(mesh, wait=True, wait_timeout=600)
    assert len(mesh.asked) == 1


def test_min_nodes_without_waiting_is_refused(mesh):
    with pytest.raises(InputError, match="wait: true"):
        look(mesh, min_nodes=3)
    assert mesh.asked == []
