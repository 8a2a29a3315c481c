# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The layout, on a node that was just started and has replication factor 2. Other nodes are ids that nobody has met."""

from __future__ import annotations

import pytest

from tests.contract.server import Server
from tools.testbed.waiting import wait_until

GIB = 2**30
GHOSTS = [f"{number:x}" * 64 for number in range(1, 5)]
EMPTY = {"version": 0, "roles": [], "parameters": {"zoneRedundancy": "maximum"}, "partitionSize": 0, "stagedRoleChanges": [],
         "stagedParameters": None}
NOT_READY = (500, "InternalError", "Internal error: Layout not ready")
JSON = (400, "InvalidRequest", "Bad request: Invalid JSON")
STALE = (500, "InternalError", "Internal error: Invalid new layout version")
TOO_FEW = "The number of nodes with positive capacity (1) is smaller than the replication factor (2)."


def role(node: str, zone: str = "dc1", capacity: int | None = GIB, tags: tuple[str, ...] = ()) -> dict:
    return {"id": node, "zone": zone, "tags": list(tags), "capacity": capacity}


def stage(server: Server, *roles: dict, redundancy: object = None) -> dict:
    return server.ok("UpdateClusterLayout", body={"roles": list(roles), **({"parameters": {"zoneRedundancy": redundancy}} if redundancy else {})})


def apply(server: Server, *roles: dict, redundancy: object = None) -> dict:
    version = stage(server, *roles, redundancy=redundancy)["version"]
    return server.ok("ApplyClusterLayout", body={"version": version + 1})


def partitions(layout: dict) -> dict:
    return {each["id"]: each["storedPartitions"] for each in layout["roles"]}


def test_before_any_layout(bare_server: Server) -> None:
    server = bare_server
    assert server.ok("GetClusterLayout") == EMPTY
    assert server.ok("GetClusterLayoutHistory") == {
        "currentVersion": 0, "minAck": 0, "updateTrackers": None,
        "versions": [{"version": 0, "status": "Current", "storageNodes": 0, "gatewayNodes": 0}]}
    health = server.ok("GetClusterHealth")
    up = "storageNodesUp" if server.since(2, 1) else "storageNodesOk"
    # 2.0.0 calls a cluster without a layout healthy.
    known = {"status": "unavailable", "partitions": 0, "partitionsAllOk": 0} if server.since(2, 1) else {
        "status": "healthy", "partitions": 256, "partitionsAllOk": 256}
    assert health == {"knownNodes": 1, "connectedNodes": 1, "storageNodes": 0, up: 0, "partitionsQuorum": 0, **known}
    assert server.send("GET", "/health").status == (503 if server.since(2, 1) else 200)
    status = server.ok("GetClusterStatus")
    assert (status["layoutVersion"], [(node["id"], node["role"]) for node in status["nodes"]]) == (0, [(server.node_id, None)])
    for endpoint, query, body in (("ListKeys", None, None), ("ListBuckets", None, None), ("ListAdminTokens", None, None),
                                  *([("GetClusterStatistics", None, None)] if server.since(2, 3) else []), ("CreateKey", None, {}), ("CreateBucket", None, {}),
                                  ("CreateAdminToken", None, {}), ("GetBucketInfo", {"globalAlias": "x"}, None),
                                  ("GetBucketInfo", {"id": "0" * 64}, None), ("GetKeyInfo", {"id": "x"}, None), ("GetKeyInfo", {"search": "x"}, None),
                                  ("ImportKey", None, {"accessKeyId": "x", "secretAccessKey": "y"}), ("UpdateKey", {"id": "x"}, {}),
                                  ("DeleteKey", {"id": "x"}, None), ("DeleteBucket", {"id": "0" * 64}, None),
                                  ("AddBucketAlias", None, {"bucketId": "0" * 64, "globalAlias": "abc"}),
                                  ("AllowBucketKey", None, {"bucketId": "0" * 64, "accessKeyId": "x", "permissions": {}}),
                                  ("GetAdminTokenInfo", {"id": "x"}, None), ("DeleteAdminToken", {"id": "x"}, None)):
        if server.since(2, 1):
            assert server.refusal(endpoint, query, body) == NOT_READY, endpoint
        else:
            # 2.0.0 has no word of its own for it: some calls wait for a quorum of nobody.
            assert server.call(endpoint, query, body).status >= 400, endpoint


@pytest.mark.requirement("GS-04")
def test_the_configured_token_works_before_any_layout(bare_server: Server) -> None:
    assert bare_server.call("GetClusterHealth").status == 200
    assert bare_server.refusal("GetClusterHealth", token="some.token") == (403, "AccessDenied", "Forbidden: Invalid bearer token")


def test_what_is_staged_is_shown_and_reverted(bare_server: Server) -> None:
    server = bare_server
    mine = role(server.node_id, tags=("b", "a"))
    staged = stage(server, mine, role(GHOSTS[0], "dc2", None), redundancy={"atLeast": 2})
    assert staged == {**EMPTY, "stagedRoleChanges": sorted([mine, role(GHOSTS[0], "dc2", None)], key=lambda each: each["id"]),
                      "stagedParameters": {"zoneRedundancy": {"atLeast": 2}}}
    assert server.ok("GetClusterLayout") == staged
    phantom = [] if server.since(2, 4) else [{"id": server.node_id, "remove": True}]
    assert stage(server, {"id": server.node_id, "zone": "dc9", "tags": [], "remove": True})["stagedRoleChanges"] == sorted(
        [*phantom, role(GHOSTS[0], "dc2", None)], key=lambda each: each["id"])
    assert stage(server, mine, {**mine, "zone": "last"}, {"id": GHOSTS[0], "remove": True}, redundancy="maximum")["stagedRoleChanges"][-1:] == (
        [{**mine, "zone": "last"}] if server.since(2, 4) or server.node_id > GHOSTS[0] else [{"id": GHOSTS[0], "remove": True}])
    assert server.ok("RevertClusterLayout") == EMPTY
    assert server.ok("GetClusterLayout") == EMPTY


@pytest.mark.requirement("GS-17")
@pytest.mark.parametrize(("body", "refusal"), [
    ({"roles": [{**role("ab")}]}, (400, "InvalidRequest", "Bad request: Invalid node identifier")),
    ({"roles": [{**role("abc")}]}, (400, "InvalidRequest", "Bad request: Invalid node identifier: Odd number of digits")),
    ({"roles": [{**role("z" * 64)}]}, (400, "InvalidRequest", "Bad request: Invalid node identifier: Invalid character 'z' at position 0")),
    ({"roles": [role(GHOSTS[0], capacity=1023)]}, (400, "InvalidRequest", "Bad request: Capacity should be at least 1K (1024)")),
    ({"roles": [{**role(GHOSTS[0]), "remove": False}]}, (400, "InvalidRequest", "Bad request: Invalid layout change")),
    ({"parameters": {"zoneRedundancy": {"atLeast": 3}}},
     (400, "InvalidRequest", "Bad request: The zone redundancy must be smaller or equal to the replication factor (2).")),
    ({"parameters": {"zoneRedundancy": {"atLeast": 0}}}, (400, "InvalidRequest", "Bad request: The zone redundancy must be at least 1.")),
    ({"parameters": {"zoneRedundancy": 2}}, JSON),
    ({"parameters": {"zoneRedundancy": "most"}}, JSON),
    ({"parameters": {}}, JSON),
    ({"roles": None}, JSON),
    ({"roles": [{"id": GHOSTS[0]}]}, JSON),
    ({"roles": [{"id": GHOSTS[0], "zone": "a", "capacity": GIB}]}, JSON),
    ({"roles": [{"id": GHOSTS[0], "tags": [], "capacity": GIB}]}, JSON),
    ({"roles": [{**role(GHOSTS[0]), "capacity": "1G"}]}, JSON),
    ({"roles": [{**role(GHOSTS[0]), "capacity": 1e9}]}, JSON),
    ({"roles": [{**role(GHOSTS[0]), "capacity": -1}]}, JSON),
    ({"roles": [{**role(GHOSTS[0]), "tags": None}]}, JSON),
    ({"roles": [{"id": GHOSTS[0], "remove": "yes"}]}, JSON),
    ([role(GHOSTS[0])], JSON),
])
def test_a_bad_change_stages_nothing(bare_server: Server, body: object, refusal: tuple) -> None:
    good = role(GHOSTS[1])
    if isinstance(body, dict) and isinstance(body.get("roles", []), list):
        body = {**body, "roles": [good, *body.get("roles", [])]}
    assert bare_server.refusal("UpdateClusterLayout", body=body) == refusal
    assert bare_server.ok("GetClusterLayout") == EMPTY


def test_an_id_is_lower_cased_and_an_empty_zone_taken(bare_server: Server) -> None:
    assert stage(bare_server, role(("aB" * 32), ""))["stagedRoleChanges"] == [role("ab" * 32, "")]


def test_too_few_nodes(bare_server: Server) -> None:
    server = bare_server
    stage(server, role(server.node_id), role(GHOSTS[0], capacity=None))
    assert server.ok("PreviewClusterLayoutChanges") == {"error": TOO_FEW}
    assert server.refusal("ApplyClusterLayout", body={"version": 1}) == (500, "InternalError", f"Internal error: {TOO_FEW}")
    assert server.ok("GetClusterLayout")["version"] == 0


def test_a_gateway_counts_as_a_zone_but_holds_nothing(bare_server: Server) -> None:
    server = bare_server
    stage(server, role(server.node_id), role(GHOSTS[0]), role(GHOSTS[1]), role(GHOSTS[2], "dc9", None))
    zones = "The number of zones with non-gateway nodes (1) is smaller than the redundancy parameter (2)"
    assert server.ok("PreviewClusterLayoutChanges") == {"error": zones}
    assert server.refusal("ApplyClusterLayout", body={"version": 1}) == (500, "InternalError", f"Internal error: {zones}")
    assert "error" not in (stage(server, redundancy={"atLeast": 1}) and server.ok("PreviewClusterLayoutChanges"))


def test_only_the_next_version_is_applied(fresh_server: Server) -> None:
    server = fresh_server
    stage(server, role(server.node_id), role(GHOSTS[0]))
    for wrong in (0, 2, 7):
        assert server.refusal("ApplyClusterLayout", body={"version": wrong}) == STALE
    for malformed in ({}, {"version": None}, {"version": "1"}, {"version": -1}):
        assert server.refusal("ApplyClusterLayout", body=malformed) == JSON
    server.ok("ApplyClusterLayout", body={"version": 1})
    assert server.refusal("ApplyClusterLayout", body={"version": 1}) == STALE


def test_a_preview_is_what_applying_makes(fresh_server: Server) -> None:
    server = fresh_server
    staged = stage(server, role(server.node_id, tags=("t",)), role(GHOSTS[0], "dc2"), role(GHOSTS[1], "dc2", None))
    preview = server.ok("PreviewClusterLayoutChanges")
    assert server.ok("GetClusterLayout") == staged
    applied = server.ok("ApplyClusterLayout", body={"version": 1})
    assert preview.pop("newLayout") == applied.pop("layout") == server.ok("GetClusterLayout")
    assert preview == applied
    layout = server.ok("GetClusterLayout")
    assert (layout["version"], layout["partitionSize"], layout["stagedRoleChanges"]) == (1, GIB // 256, [])
    assert partitions(layout) == {server.node_id: 256, GHOSTS[0]: 256, GHOSTS[1]: 0}
    assert {each["id"]: each["usableCapacity"] for each in layout["roles"]} == {server.node_id: GIB, GHOSTS[0]: GIB, GHOSTS[1]: 0}
    assert applied["message"][0] == "==== COMPUTATION OF A NEW PARTITION ASSIGNATION ===="
    if server.since(2, 4):
        statistics = applied["statistics"]
        statistics["zones"].sort(key=lambda zone: zone["name"])
        assert statistics == {
            "replicationFactor": 2, "effectiveZoneRedundancy": 2, "partitionSize": GIB // 256, "previousPartitionSize": None,
            "lowPartitionSize": False, "usableCapacity": 2 * GIB, "totalCapacity": 2 * GIB, "effectiveCapacity": GIB,
            "lowUsableCapacity": False, "totalMovedPartitions": None, "zones": [
                {"name": zone, "totalReplicatedPartitions": 256, "uniquePartitions": 256, "totalCapacity": GIB, "usableCapacity": GIB,
                 "nodes": [{"id": node, "tags": tags, "storedPartitions": 256, "newPartitions": 256, "totalCapacity": GIB, "usableCapacity": GIB}]}
                for zone, node, tags in (("dc1", server.node_id, ["t"]), ("dc2", GHOSTS[0], []))]}


def test_partition_sizes_follow_from_the_capacities(bare_server: Server) -> None:
    server = bare_server
    sizes = []
    for capacities in ((1, 2, 4), (7, 3, 2)):
        stage(server, role(server.node_id, "a", capacities[0] * 10**9), role(GHOSTS[0], "b", capacities[1] * 10**9),
              role(GHOSTS[1], "b", capacities[2] * 10**9))
        sizes.append(server.ok("PreviewClusterLayoutChanges")["newLayout"]["partitionSize"])
    # Each zone holds everything once, so the smaller one sets the size; whole partitions on two nodes fill it not quite.
    assert sizes == [3906250, 19480519]


def test_maximum_redundancy_with_one_zone_uses_all_nodes(fresh_server: Server) -> None:
    server = fresh_server
    layout = apply(server, role(server.node_id, capacity=3 * 10**9), role(GHOSTS[0], capacity=10**9), role(GHOSTS[1], capacity=2 * 10**9))["layout"]
    assert partitions(layout) == {server.node_id: 256, GHOSTS[0]: 85, GHOSTS[1]: 171}
    assert layout["partitionSize"] == 11695906


def test_the_smallest_capacity_gives_partitions_of_four_bytes(bare_server: Server) -> None:
    server = bare_server
    stage(server, role(server.node_id, capacity=1024), role(GHOSTS[0], capacity=1024))
    assert server.ok("PreviewClusterLayoutChanges")["newLayout"]["partitionSize"] == 4


def test_applying_nothing_makes_a_version_all_the_same(fresh_server: Server) -> None:
    server = fresh_server
    apply(server, role(server.node_id), role(GHOSTS[0]))
    again = server.ok("ApplyClusterLayout", body={"version": 2})
    assert again["layout"]["version"] == 2
    if server.since(2, 4):
        assert (again["statistics"]["totalMovedPartitions"], again["statistics"]["previousPartitionSize"]) == (0, GIB // 256)


def test_staging_what_is_in_force_is_not_a_change(fresh_server: Server) -> None:
    server = fresh_server
    mine, other = role(server.node_id, tags=("a", "b")), role(GHOSTS[0])
    apply(server, mine, other)
    assert stage(server, mine, other, redundancy="maximum")["stagedRoleChanges"] == []
    assert stage(server, {**mine, "tags": ["b", "a"]})["stagedRoleChanges"] == [{**mine, "tags": ["b", "a"]}]
    assert stage(server, mine)["stagedRoleChanges"] == []
    assert stage(server, redundancy={"atLeast": 1})["stagedParameters"] == {"zoneRedundancy": {"atLeast": 1}}
    assert stage(server, redundancy="maximum")["stagedParameters"] is None


@pytest.mark.requirement("FC-131")
def test_removing_a_node_that_has_no_role_is_a_phantom(fresh_server: Server) -> None:
    server = fresh_server
    apply(server, role(server.node_id), role(GHOSTS[0]))
    phantom = {"id": GHOSTS[3], "remove": True}
    assert stage(server, phantom)["stagedRoleChanges"] == ([] if server.since(2, 4) else [phantom])
    gone = {"id": GHOSTS[0], "remove": True}
    assert stage(server, gone)["stagedRoleChanges"] == [gone, *([] if server.since(2, 4) else [phantom])]


def test_a_role_for_a_node_never_seen_takes_the_cluster_down(fresh_server: Server) -> None:
    server = fresh_server
    apply(server, role(server.node_id), role(GHOSTS[0]))
    health = server.ok("GetClusterHealth")
    assert (health["status"], health["storageNodes"], health["partitionsQuorum"], health["partitionsAllOk"]) == ("unavailable", 2, 0, 0)
    ghost = next(node for node in server.ok("GetClusterStatus")["nodes"] if node["id"] == GHOSTS[0])
    assert ghost == {"id": GHOSTS[0], "garageVersion": None, "addr": None, "hostname": None, "isUp": False, "lastSeenSecsAgo": None,
                     "role": {"zone": "dc1", "tags": [], "capacity": GIB}, "draining": False}


def test_with_one_live_version_there_are_no_dead_nodes_to_skip(bare_server: Server) -> None:
    server = bare_server
    one = (400, "InvalidRequest", "Bad request: This command cannot be called when there is only one live cluster layout version")
    assert server.refusal("ClusterLayoutSkipDeadNodes", body={"version": 1, "allowMissingData": False}) == one
    for malformed in ({"version": 1}, {"allowMissingData": True}, {"version": "1", "allowMissingData": True}):
        assert server.refusal("ClusterLayoutSkipDeadNodes", body=malformed) == JSON


@pytest.mark.requirement("GS-18")
def test_dead_nodes_are_skipped_in_two_steps(fresh_server: Server) -> None:
    server = fresh_server
    apply(server, role(server.node_id), role(GHOSTS[0], "dc1"), role(GHOSTS[1], "dc1", None))
    apply(server, role(GHOSTS[2]), {"id": GHOSTS[0], "remove": True})
    history = server.ok("GetClusterLayoutHistory")
    assert [(each["version"], each["status"], each["storageNodes"], each["gatewayNodes"]) for each in history["versions"]] == [
        (2, "Current", 2, 1), (1, "Draining", 2, 1)]
    assert (history["currentVersion"], history["minAck"]) == (2, 1)
    assert {node: tracker["ack"] for node, tracker in history["updateTrackers"].items()} == {
        server.node_id: 2, GHOSTS[0]: 1, GHOSTS[1]: 1, GHOSTS[2]: 1}
    draining = {node["id"] for node in server.ok("GetClusterStatus")["nodes"] if node["draining"]}
    assert draining == {GHOSTS[0]}
    for version in (1, 3):
        assert server.refusal("ClusterLayoutSkipDeadNodes", body={"version": version, "allowMissingData": False}) == (
            400, "InvalidRequest", "Bad request: Invalid version, you may use the following version numbers: 2")
    skipped = server.ok("ClusterLayoutSkipDeadNodes", body={"version": 2, "allowMissingData": False})
    assert (sorted(skipped["ackUpdated"]), skipped["syncUpdated"]) == ([GHOSTS[0], GHOSTS[1], GHOSTS[2]], [])
    again = server.ok("ClusterLayoutSkipDeadNodes", body={"version": 2, "allowMissingData": False})
    assert again == {"ackUpdated": [], "syncUpdated": []}
    missing = server.ok("ClusterLayoutSkipDeadNodes", body={"version": 2, "allowMissingData": True})
    assert (missing["ackUpdated"], set(missing["syncUpdated"]) - {server.node_id}) == ([], set(GHOSTS[:3]))


def test_alone_a_node_lets_go_of_the_version_before_only_at_the_next_layout_write(server: Server) -> None:
    first = server.ok("GetClusterLayout")["version"]
    server.ok("ApplyClusterLayout", body={"version": first + 1})
    history = server.ok("GetClusterLayoutHistory")
    assert [(each["version"], each["status"]) for each in history["versions"]][:2] == [(first + 1, "Current"), (first, "Draining")]
    server.ok("ApplyClusterLayout", body={"version": first + 2})
    history = server.ok("GetClusterLayoutHistory")
    assert [(each["version"], each["status"]) for each in history["versions"]][:3] == [
        (first + 2, "Current"), (first + 1, "Draining"), (first, "Historical")]
    assert history["minAck"] == first + 2
    tracker = history["updateTrackers"][server.node_id]
    assert (tracker["ack"], tracker["syncAck"]) == (first + 2, first + 1)

    def unsynced() -> str | None:
        sync = server.ok("GetClusterLayoutHistory")["updateTrackers"][server.node_id]["sync"]
        return None if sync == first + 2 else f"sync is {sync}"

    # A write before that finds the version before still needed.
    wait_until("the tables to be in sync", unsynced, limit=60)
    server.ok("RevertClusterLayout")
    history = server.ok("GetClusterLayoutHistory")
    assert (history["versions"][1]["status"], history["updateTrackers"]) == ("Historical", None)
