# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""layout and layout_info on real nodes. What was sent is told by the server's own counters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.garage.ansible_run import run_module
from tests.garage.conftest import MakeCluster
from tests.garage.layout_driver import GB, RESULT_KEYS, WRITES, Layout, settle
from tools.testbed.nodes import Site
from tools.testbed.waiting import wait_until


@pytest.fixture(scope="module")
def first(make_cluster: MakeCluster) -> Iterator[tuple[Layout, dict[str, Any], dict[str, Any]]]:
    """Four nodes in three zones, factor 3: the cluster, and what became of the first layout of three of them, each named in another way."""
    cluster = make_cluster(Site("paris", "paris", 2), Site("lyon", "lyon", 1), Site("rome", "rome", 1), replication_factor=3)
    cluster.connect_all()
    cluster.wait_mesh()
    layout = Layout(cluster)
    short = layout.refused(layout.role(0), layout.role(2), replication_factor=3)
    assert layout.writes == dict.fromkeys(WRITES, 0)
    assert "2 storage nodes are fewer than the replication factor 3" in short["msg"]
    roles = [layout.role(0), layout.role(2, node=cluster.nodes[2].node_id[:8]), layout.role(3, node=cluster.nodes[3].rpc_address)]
    predicted, done = layout.converge(*roles, replication_factor=3, zone_redundancy=2)
    yield layout, predicted, done
    cluster.stop()
    cluster.remove()


@pytest.fixture
def layout(first: tuple[Layout, dict[str, Any], dict[str, Any]]) -> Layout:
    """The layout of nodes 0 and 1 in paris, 2 in lyon and 3 in rome."""
    return first[0]


def ids(layout: Layout, *numbers: int) -> list[str]:
    return sorted(layout.cluster.nodes[number].node_id for number in numbers)


def info(layout: Layout, **connection: Any) -> dict[str, Any]:
    return run_module("layout_info", {}, {"api_url": layout.node.api_url, "api_token_file": str(layout.node.spec.token_file), **connection})["layout"]


@pytest.mark.requirement("FC-002", "FC-013", "OP-104", "MH-01")
def test_three_fresh_nodes_go_in_with_one_apply(first: tuple[Layout, dict[str, Any], dict[str, Any]]) -> None:
    layout, predicted, done = first
    assert done["layout"]["version"] == 1
    assert [role["id"] for role in done["layout"]["roles"]] == ids(layout, 0, 2, 3)
    assert {role["stored_partitions"] for role in done["layout"]["roles"]} == {256}
    assert {role["stored_partitions"] for role in predicted["layout"]["roles"]} == {None}
    assert (done["preview"]["error"], done["preview"]["nodes_without_partitions"]) == (None, [])
    assert done["actions"][-1] == "apply layout version 1"


@pytest.mark.requirement("FC-014", "GS-17", "GS-16")
def test_zone_redundancy(layout: Layout) -> None:
    layout.reset(0, 2, 3, redundancy={"atLeast": 2})
    sent = layout.writes
    assert "more than the replication factor 3" in layout.refused(zone_redundancy=4, replication_factor=3)["msg"]
    assert "'0' must be 'maximum' or a number" in layout.refused(zone_redundancy=0)["msg"]
    assert layout.writes == sent
    told = layout.refused(zone_redundancy=4)
    assert told["error"]["kind"] == "layout_constraint"
    assert "replication factor (3)" in told["msg"]
    dummy, done = layout.converge(zone_redundancy="maximum")
    assert done["layout"]["zone_redundancy"] == "maximum"


@pytest.mark.requirement("FC-004")
def test_a_capacity_change_is_previewed_and_leaves_nothing_behind(layout: Layout) -> None:
    layout.reset(0, 2, 3, redundancy="maximum")
    before = layout.live
    result = layout.run(layout.role(2, capacity="2GB"), check=True, diff=True, preview=True)
    assert result["changed"]
    lyon = layout.cluster.nodes[2].node_id
    assert result["diff"]["after"]["roles"] == {lyon: {"capacity": 2 * GB}}
    assert result["diff"]["before"]["roles"] == {lyon: {"capacity": GB}}
    assert result["preview"]["moved_partitions"] == 0
    assert result["preview"]["total_capacity"] == 4 * GB
    assert result["preview"]["message"]
    assert layout.live == before


@pytest.mark.requirement("FC-022")
def test_a_node_that_gets_no_partition_is_warned_about(layout: Layout) -> None:
    layout.reset(0, 2, 3, redundancy="maximum")
    spare = layout.cluster.nodes[1].node_id
    result = layout.run(layout.role(1), check=True, preview=True)
    assert result["preview"]["nodes_without_partitions"] == [spare]
    assert any("hold no partition" in warning and spare in warning for warning in result["warnings"])
    assert layout.staged == []


@pytest.mark.requirement("OP-112")
def test_going_below_the_factor_is_refused(layout: Layout) -> None:
    layout.reset(0, 2, 3)
    rome = {"node": layout.cluster.nodes[3].node_id, "state": "absent"}
    sent = layout.writes
    assert "add a node before this one is removed" in layout.refused(rome, replication_factor=3)["msg"]
    assert layout.writes == sent
    # Without the factor only the server can tell; what was staged for it is gone again.
    told = layout.refused(rome)
    assert told["error"]["kind"] == "layout_constraint"
    assert "smaller than the replication factor (3)" in told["msg"]
    assert layout.staged == []


@pytest.mark.requirement("FC-013")
def test_a_host_name_of_several_nodes_is_ambiguous(layout: Layout) -> None:
    hostname = layout.node.admin.get("GetClusterStatus")["nodes"][0]["hostname"]
    result = layout.refused(layout.role(0, node=hostname))
    assert result["error"]["kind"] == "invalid_input"
    assert all(node_id in result["msg"] for node_id in layout.cluster.node_ids)


@pytest.mark.requirement("LW-13", "LW-16", "LW-22", "LW-23", "LW-29", "LW-10", "LW-11")
def test_a_follower_sends_nothing(layout: Layout) -> None:
    layout.reset(0, 2, 3)
    before, sent = layout.live, layout.writes
    result = layout.run(layout.role(1), layout.role(2, capacity="2GB"), site_role="follower", zone_redundancy=2, preview=True)
    assert (result["rc"], result["changed"], result["pending"], result["layout_writer"]) == (0, False, True, False)
    assert result.keys() >= RESULT_KEYS
    assert result["awaiting"]["reason"] == "nodes_without_role"
    assert sorted(result["awaiting"]["nodes"]) == ids(layout, 1, 2)
    assert result["awaiting"]["operations"] == ["UpdateClusterLayout", "ApplyClusterLayout"]
    assert any("waits for the layout writer" in warning for warning in result["warnings"])
    failed = layout.refused(layout.role(1), site_role="follower", fail_when_awaiting=True)
    assert (failed["error"]["kind"], failed["pending"]) == ("layout_writer_only", True)
    assert layout.cluster.nodes[1].node_id in failed["msg"]
    assert (layout.live, layout.writes) == (before, sent)


@pytest.mark.requirement("FC-028", "LW-20")
def test_facts_with_a_token_that_may_only_read(layout: Layout) -> None:
    layout.reset(0, 2, 3)
    spare = layout.cluster.nodes[1]
    layout.stage({"id": spare.node_id, "zone": "paris", "capacity": None, "tags": ["edge"]})
    scope = ["GetClusterLayout", "GetClusterStatus", "GetClusterLayoutHistory"]
    made = layout.node.admin.post("CreateAdminToken", {"name": "reader", "scope": scope})
    sent = layout.writes
    result = run_module("layout_info", {}, {"api_url": layout.node.api_url, "api_token": made["secretToken"]})
    facts = result["layout"]
    assert not result["changed"]
    assert made["secretToken"] not in result["output"]
    assert facts["preview"] is None
    assert any("the preview is left out" in warning for warning in result["warnings"])
    assert facts["history"]["current_version"] == facts["version"] == layout.live["version"]
    assert facts["nodes_without_role"] == [spare.node_id]
    assert [(role["id"], role["gateway"], role["tags"]) for role in facts["staged"]["roles"]] == [(spare.node_id, True, ["edge"])]
    assert [node["id"] for node in facts["nodes"]] == ids(layout, 0, 1, 2, 3)
    roles = {role["id"]: role for role in facts["roles"]}
    assert sorted(roles) == ids(layout, 0, 2, 3)
    for node in facts["nodes"]:
        assert node["up"]
        assert node["hostname"]
        assert node["addr"].startswith("127.0.0.1:")
        assert node["data_partition"]["available"] > 0
        assert node["last_seen_seconds"] is None or node["last_seen_seconds"] >= 0
        role = roles.get(node["id"], {})
        assert (node["zone"], node["capacity"], node["tags"]) == (role.get("zone"), role.get("capacity"), role.get("tags", []))
    whole = info(layout, site_role="follower")
    assert whole["preview"]["moved_partitions"] == 0
    assert whole["awaiting"]["nodes"] == [spare.node_id]
    assert layout.writes == sent


@pytest.mark.requirement("FC-007", "OP-118", "FC-022")
def test_stage_only_and_apply_later(layout: Layout) -> None:
    layout.reset(0, 2, 3, redundancy="maximum")
    version = layout.live["version"]
    dummy, staged = layout.converge(layout.role(1, tags=["spare"]), apply=False)
    assert staged["layout"]["version"] == version
    assert [(role["id"], role["remove"]) for role in staged["layout"]["staged"]["roles"]] == [(layout.cluster.nodes[1].node_id, False)]
    assert staged["preview"] is None
    applied = layout.run(layout.role(1, tags=["spare"]))
    assert applied["actions"] == [f"apply layout version {version + 1}"]
    assert applied["layout"]["version"] == version + 1
    assert applied["layout"]["staged"] == {"roles": [], "zone_redundancy": None}
    # Paris is full enough with its first node.
    assert applied["preview"]["nodes_without_partitions"] == [layout.cluster.nodes[1].node_id]
    assert any("hold no partition" in warning for warning in applied["warnings"])


@pytest.mark.requirement("FC-016", "OP-111", "OP-101")
def test_purge_stays_inside_of_its_zone(layout: Layout) -> None:
    layout.reset(0, 1, 2, 3)
    paris = {"owner": {"zones": ["paris"]}, "purge_roles": True}
    predicted, done = layout.converge(layout.role(0), **paris)
    assert [role["id"] for role in done["layout"]["roles"]] == ids(layout, 0, 2, 3)
    assert list(predicted["diff"]["before"]["roles"]) == [layout.cluster.nodes[1].node_id]
    assert "outside of owner.zones (paris)" in layout.refused(layout.role(0), layout.role(2), **paris)["msg"]
    assert "has a role in zone 'lyon'" in layout.refused({"node": layout.cluster.nodes[2].node_id, "state": "absent"}, **paris)["msg"]


@pytest.mark.requirement("FC-005", "OP-106")
def test_what_somebody_else_has_staged(layout: Layout) -> None:
    layout.reset(0, 2, 3)
    rome = layout.cluster.nodes[3].node_id
    foreign = {"id": rome, "remove": True}
    layout.stage(foreign)
    sent = layout.writes
    result = layout.refused(layout.role(1))
    assert f"remove the role of {rome[:16]}" in result["msg"]
    assert "foreign_staged: discard" in result["msg"]
    assert (layout.writes, layout.staged) == (sent, [foreign])
    quiet = layout.run(layout.role(0))
    assert not quiet["changed"]
    assert any("somebody else has staged" in warning for warning in quiet["warnings"])

    dummy, done = layout.converge(layout.role(1), foreign_staged="discard")
    assert [role["id"] for role in done["layout"]["roles"]] == ids(layout, 0, 1, 2, 3)
    assert done["actions"][0] == "discard the changes somebody else has staged"

    layout.stage(foreign, {"id": layout.cluster.nodes[2].node_id, "remove": True})
    # Lyon is declared, so that its removal is no part of what is taken in.
    dummy, done = layout.converge(layout.role(1, tags=["taken"]), layout.role(2), foreign_staged="include")
    assert [role["id"] for role in done["layout"]["roles"]] == ids(layout, 0, 1, 2)
    assert layout.staged == []


@pytest.mark.requirement("FC-017", "OP-109", "LW-45")
def test_two_plays_at_once_lose_no_role(layout: Layout) -> None:
    layout.reset(0, 1, 2)
    version, applied = layout.live["version"], layout.writes["ApplyClusterLayout"]

    def play(role: dict[str, Any]) -> dict[str, Any]:
        # A race that was noticed is a failure that says so; running the play again is all that it takes.
        for dummy in range(5):
            result = layout.run(role, foreign_staged="include")
            if result["rc"] == 0:
                return result
            assert result["error"]["kind"] in {"not_reflected", "stale_layout_version", "refused"}, result
        raise AssertionError(result["msg"])

    with ThreadPoolExecutor(2) as plays:
        results = list(plays.map(play, [layout.role(2, tags=["of-a"]), layout.role(3, tags=["of-b"])]))
    settle(layout.node)
    live = layout.live
    assert [role["id"] for role in live["roles"]] == ids(layout, 0, 1, 2, 3)
    tags = {role["id"]: role["tags"] for role in live["roles"]}
    assert [tags[layout.cluster.nodes[number].node_id] for number in (2, 3)] == [["of-a"], ["of-b"]]
    assert live["stagedRoleChanges"] == []
    assert version < live["version"] <= version + layout.writes["ApplyClusterLayout"] - applied
    assert any(result["changed"] for result in results)
    for node in layout.cluster.nodes:
        assert node.admin.get("GetClusterLayout")["roles"] == live["roles"]
        assert "Inconsistent layout histories" not in node.log_file.read_text(encoding="utf-8", errors="replace")


@pytest.mark.requirement("FC-020", "OP-110")
def test_removing_a_node_waits_until_it_has_drained(layout: Layout) -> None:
    layout.reset(0, 1, 2, 3)
    spare = {"node": layout.cluster.nodes[1].node_id, "state": "absent"}
    rome = layout.cluster.nodes[3]
    rome.pause()
    try:
        result = layout.run(spare, wait_timeout=2)
    finally:
        rome.resume()
    assert (result["rc"], result["changed"], result["error"]["kind"]) == (2, True, "timeout")
    assert re.search(rf"node {rome.node_id[:16]} is behind with (ack|sync) \d", result["msg"])
    assert "Done before that: stage: remove the role of" in result["msg"]
    assert [role["id"] for role in layout.live["roles"]] == ids(layout, 0, 2, 3)
    later = layout.run(spare)
    assert (later["rc"], later["changed"]) == (0, False)
    facts = info(layout)
    assert facts["history"]["settled"]
    assert [row["status"] for row in facts["history"]["versions"]].count("draining") == 0


@pytest.mark.requirement("FC-001", "FC-010", "FC-011", "FC-013", "OP-103")
def test_a_first_node_then_a_gateway(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(Site("dc1", "dc1", 2), replication_factor=1)
    cluster.connect_all()
    cluster.wait_mesh()
    layout = Layout(cluster)
    assert info(layout)["version"] == 0
    dummy, done = layout.converge(layout.role(0, capacity="10G"))
    assert done["layout"]["version"] == 1
    assert [(role["capacity"], role["tags"]) for role in done["layout"]["roles"]] == [(10 * GB, [])]
    wait_until("a healthy cluster", lambda: None if cluster.nodes[0].admin.get("GetClusterHealth")["status"] == "healthy" else "not yet", limit=300)

    gateway = {"node": cluster.nodes[1].node_id, "zone": "dc1", "gateway": True}
    dummy, done = layout.converge(layout.role(0, capacity="10G"), gateway)
    role = next(role for role in done["layout"]["roles"] if role["id"] == gateway["node"])
    assert (role["gateway"], role["capacity"], role["tags"], role["stored_partitions"] or 0) == (True, None, [], 0)

    # A node nobody has seen, whose id begins as the gateway's does.
    prefix, twin = gateway["node"][:8], gateway["node"][:8] + "0" * 56
    assert "has never been seen by this cluster" in layout.refused({**gateway, "node": twin})["msg"]
    layout.stage({"id": twin, "zone": "dc1", "capacity": None, "tags": []})
    cluster.nodes[0].admin.post("ApplyClusterLayout", {"version": done["layout"]["version"] + 1})
    told = layout.refused({"node": prefix, "tags": ["x"]}, wait=False)
    assert all(node_id in told["msg"] for node_id in (gateway["node"], twin))
    assert "name one by its id" in told["msg"]
    cluster.stop()
    cluster.remove()
