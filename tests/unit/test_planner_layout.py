# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the layout planner sends, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._models.cluster import Node
from ansible_collections.s3ops.garage.plugins.module_utils._models.layout import History, Layout, Role, RoleSpec
from ansible_collections.s3ops.garage.plugins.module_utils._planners.layout import LayoutSnapshot, plan_layout
from tests.unit.layout_plans import (
    A,
    APPLY,
    B,
    C,
    D,
    DRAINING,
    GHOST,
    THREE,
    UPDATE,
    absent,
    body,
    declared,
    endpoints,
    gateway,
    live,
    refusal,
    storage,
)


@pytest.mark.requirement("FC-001", "FC-002", "FC-011", "OP-103")
def test_a_first_layout_is_staged_and_applied_once():
    snapshot = LayoutSnapshot(Layout(0, {}, "maximum"), live().nodes)
    plan = plan_layout(declared(storage(A), storage(B, "lyon", 20_000, "x"), gateway(C), replication_factor=2), snapshot)
    assert endpoints(plan) == [UPDATE, APPLY]
    assert body(plan, UPDATE) == {"roles": [{"id": A, "zone": "paris", "capacity": 10_000, "tags": []},
                                            {"id": B, "zone": "lyon", "capacity": 20_000, "tags": ["x"]},
                                            {"id": C, "zone": "paris", "capacity": None, "tags": []}]}
    assert body(plan, APPLY) == {"version": 1}
    assert plan.prediction["version"] == 1
    assert plan.would[1] == "apply layout version 1"


@pytest.mark.requirement("OP-108", "LW-14")
@pytest.mark.parametrize("spec", [declared(*THREE), declared(), declared(*THREE, redundancy="maximum", replication_factor=3), declared(absent(D)),
                                  declared(RoleSpec(A)), declared(*THREE, owner_zones=("paris", "lyon"), purge=True)])
@pytest.mark.parametrize("mode", ["fail", "discard", "include"])
def test_equal_means_nothing_is_sent(spec, mode):
    plan = plan_layout(replace(spec, foreign_staged=mode), live(*THREE))
    assert not plan.calls
    assert not plan.changed
    assert plan.diff == {"before": {}, "after": {}}
    assert plan.prediction == live(*THREE).layout.to_result()
    assert plan.awaiting is None


def test_only_what_differs_is_staged():
    plan = plan_layout(declared(storage(A), storage(B, "paris", 20_000), storage(C, "lyon")), live(*THREE))
    assert body(plan, UPDATE) == {"roles": [{"id": B, "zone": "paris", "capacity": 20_000, "tags": []}]}
    assert "parameters" not in body(plan, UPDATE)
    assert plan.diff["after"]["roles"] == {B: {"capacity": 20_000}}
    assert plan.diff["before"]["roles"] == {B: {"capacity": 10_000}}


@pytest.mark.parametrize(("role", "expected"), [
    (RoleSpec(A, capacity=20_000), {"zone": "paris", "capacity": 20_000, "tags": ["x", "y"]}),
    (RoleSpec(A, zone="lyon"), {"zone": "lyon", "capacity": 10_000, "tags": ["x", "y"]}),
    (RoleSpec(A, tags=()), {"zone": "paris", "capacity": 10_000, "tags": []}),
    (RoleSpec(A, gateway=True), {"zone": "paris", "capacity": None, "tags": ["x", "y"]}),
    (RoleSpec(A, gateway=False, tags=("z",)), {"zone": "paris", "capacity": 10_000, "tags": ["z"]}),
])
def test_what_is_left_out_of_a_role_stays(role, expected):
    plan = plan_layout(declared(role), live(storage(A, "paris", 10_000, "x", "y"), storage(B)))
    assert body(plan, UPDATE)["roles"] == [{"id": A, **expected}]


def test_another_order_of_tags_is_no_change():
    assert not plan_layout(declared(storage(A, "paris", 10_000, "y", "x")), live(storage(A, "paris", 10_000, "x", "y"))).calls


@pytest.mark.parametrize(("role", "word"), [
    (RoleSpec(D, capacity=10_000), "zone must be set"),
    (RoleSpec(D, zone="paris"), "set capacity"),
    (RoleSpec(C, gateway=False), "set capacity"),
])
def test_a_role_that_lacks_something_is_refused(role, word):
    assert word in refusal(declared(role), live(storage(A), gateway(C)))


def test_a_gateway_stays_a_gateway():
    assert not plan_layout(declared(RoleSpec(C)), live(storage(A), gateway(C))).calls
    turned = plan_layout(declared(RoleSpec(C, capacity=5_000)), live(storage(A), gateway(C)))
    assert body(turned, UPDATE)["roles"][0]["capacity"] == 5_000


@pytest.mark.requirement("OP-118", "FC-007")
def test_stage_only():
    plan = plan_layout(declared(storage(D), apply=False), live(*THREE))
    assert endpoints(plan) == [UPDATE]
    assert plan.prediction["version"] == 1
    assert [role["id"] for role in plan.prediction["staged"]["roles"]] == [D]
    staged = live(*THREE, staged={D: storage(D)})
    assert not plan_layout(declared(storage(D), apply=False), staged).calls
    assert endpoints(plan_layout(declared(storage(D)), staged)) == [APPLY]


def test_a_prediction_claims_nothing_that_only_the_server_computes():
    old = Role(A, "paris", 10_000, (), stored_partitions=256, usable_capacity=9_000)
    applied = plan_layout(declared(storage(D)), live(old)).prediction
    assert [role["stored_partitions"] for role in applied["roles"]] == [None, None]
    assert applied["partition_size"] is None
    staged = plan_layout(declared(storage(D), apply=False), live(old)).prediction
    assert staged["roles"][0]["stored_partitions"] == 256
    assert staged["partition_size"] == 100
    assert applied.keys() == staged.keys() == live(old).layout.to_result().keys()


# zone redundancy

@pytest.mark.requirement("LW-35", "FC-014")
@pytest.mark.parametrize(("desired", "current", "sent"), [
    (None, "maximum", None), (None, 2, None), ("maximum", "maximum", None), (2, 2, None), (2, "maximum", {"atLeast": 2}), (1, 2, {"atLeast": 1}),
    ("maximum", 2, "maximum"),
])
def test_only_a_real_difference_in_redundancy_counts(desired, current, sent):
    plan = plan_layout(declared(*THREE, redundancy=desired), live(*THREE, redundancy=current))
    assert endpoints(plan) == ([UPDATE, APPLY] if sent else [])
    if sent:
        assert body(plan, UPDATE) == {"roles": [], "parameters": {"zoneRedundancy": sent}}
        assert plan.prediction["zone_redundancy"] == desired


def test_a_redundancy_that_is_staged_already_is_applied():
    staged = live(*THREE, staged_redundancy=2)
    assert endpoints(plan_layout(declared(redundancy=2), staged)) == [APPLY]
    assert not plan_layout(declared(redundancy=2, apply=False), staged).calls


# what the server would refuse

@pytest.mark.requirement("OP-104", "OP-112", "FC-002")
@pytest.mark.parametrize(("spec", "before", "word"), [
    pytest.param(declared(storage(A), storage(B), replication_factor=3), live(),
                 "2 storage nodes are fewer than the replication factor 3; declare all", id="first layout with too few"),
    pytest.param(declared(absent(C), replication_factor=3), live(*THREE),
                 "2 storage nodes are fewer than the replication factor 3; add a node before", id="removal below the factor"),
    pytest.param(declared(RoleSpec(C, gateway=True), replication_factor=3), live(*THREE), "fewer than the replication factor",
                 id="turned into a gateway"),
    pytest.param(declared(absent(A)), live(storage(A), gateway(B)), "no node with a capacity would be left", id="the last storage node"),
    pytest.param(declared(gateway(A)), live(), "no node with a capacity is declared", id="gateways alone"),
])
def test_too_few_storage_nodes_are_refused(spec, before, word):
    assert word in refusal(spec, before)


@pytest.mark.requirement("FC-014", "GS-13")
@pytest.mark.parametrize(("redundancy", "roles", "factor", "word"), [
    pytest.param(3, THREE, 3, "zone redundancy 3 needs storage nodes in 3 zones, there are 2 (lyon, paris)", id="more zones than there are"),
    pytest.param("maximum", (storage(A), storage(B), gateway(C, "rome")), 2, "gateways alone are in rome: put them into a storage zone",
                 id="a zone of gateways alone counts for maximum"),
    pytest.param("maximum", (storage(A), storage(B), gateway(C, "rome")), 1, None, id="one copy needs one zone"),
    pytest.param(1, (storage(A), storage(B), gateway(C, "rome")), 2, None, id="a number does not count gateways"),
    pytest.param("maximum", (storage(A), storage(B), gateway(C, "rome")), None, None, id="the factor is not known"),
    pytest.param("maximum", (storage(A), storage(B, "lyon"), storage(C, "rome"), gateway(D, "oslo")), 3, None,
                 id="enough zones without the gateway's"),
])
def test_zones_that_cannot_hold_the_copies_are_refused(redundancy, roles, factor, word):
    spec = declared(*roles, redundancy=redundancy, replication_factor=factor)
    if word:
        assert word in refusal(spec, live())
    else:
        assert plan_layout(spec, live()).calls


@pytest.mark.requirement("OP-117")
@pytest.mark.parametrize("count", [256, 257])
def test_256_storage_roles_are_the_limit(count):
    ids = [f"{number:064x}" for number in range(count)]
    snapshot = live(nodes=tuple(Node(id, up=True) for id in [*ids, D]))
    spec = declared(*(storage(id) for id in ids), gateway(D))
    if count == 256:
        assert len(body(plan_layout(spec, snapshot), UPDATE)["roles"]) == 257
    else:
        assert "257 storage nodes are more than the 256 a layout can hold" in refusal(spec, snapshot)


def test_a_layout_that_is_broken_already_is_not_mentioned_while_nothing_changes():
    assert not plan_layout(declared(storage(A), replication_factor=3), live(storage(A))).calls


def test_nodes_never_seen_are_refused():
    down = Node(D, "host-d", up=False, last_seen_seconds=90)
    snapshot = live(*THREE, nodes=(*(Node(id, up=True) for id in (A, B, C)), down))
    assert plan_layout(declared(storage(D)), snapshot).calls
    assert f"node {GHOST[:16]} has never been seen" in refusal(declared(storage(GHOST)), snapshot)
    assert plan_layout(declared(storage(GHOST), allow_unseen=True), snapshot).calls
    # Staged by somebody else it is no safer.
    ghost = live(*THREE, staged={GHOST: storage(GHOST)})
    assert "never been seen" in refusal(declared(storage(D), foreign_staged="include"), ghost)
    # One that has a role may be changed and removed, seen or not.
    gone = live(*THREE, storage(GHOST, "rome"))
    assert plan_layout(declared(storage(GHOST, "rome", 20_000)), gone).calls
    assert plan_layout(declared(absent(GHOST)), gone).calls


ONE_DOWN = tuple(Node(id, f"host-{id[0]}", up=id != C) for id in (A, B, C, D))


@pytest.mark.requirement("OP-016")
@pytest.mark.parametrize("leaving", [absent(B), gateway(B)], ids=["removed", "made a gateway"])
def test_no_node_gives_up_what_it_stores_while_another_is_down(leaving):
    snapshot = live(*THREE, nodes=ONE_DOWN)
    assert f"node {B[:16]} would give up what it stores while {C[:16]} is down" in refusal(declared(leaving), snapshot)
    assert f"while {C[:16]} is down" in refusal(declared(leaving, storage(C, "lyon", 20_000)), snapshot)
    for allowed in (declared(leaving, require_settled=False), declared(leaving, apply=False)):
        assert plan_layout(allowed, snapshot).calls


@pytest.mark.requirement("OP-016")
@pytest.mark.parametrize("spec", [declared(absent(C)), declared(absent(B), absent(C)), declared(storage(D, "nice")), declared(storage(B, "paris", 20_000))],
                         ids=["the one that is down", "both", "another joins", "another capacity"])
def test_what_gives_up_nothing_in_reach_goes_on_while_a_node_is_down(spec):
    assert plan_layout(spec, live(*THREE, nodes=ONE_DOWN)).calls


@pytest.mark.requirement("OP-009")
@pytest.mark.parametrize(("others", "named"), [
    pytest.param({"roles": [storage(C, "lyon", 20_000)]}, f"the role of {C[:16]}", id="another capacity"),
    pytest.param({"roles": [storage(C, "nice")]}, f"the role of {C[:16]}", id="another zone"),
    pytest.param({"redundancy": 1}, "the zone redundancy", id="zone redundancy"),
])
def test_a_node_gives_up_what_it_stores_apart_from_what_moves_other_blocks(others, named):
    roles = [absent(B), *others.pop("roles", ())]
    text = refusal(declared(*roles, **others), live(*THREE))
    assert f"node {B[:16]} would give up what it stores together with other changes ({named})" in text
    assert plan_layout(declared(*roles, **others, require_settled=False), live(*THREE)).calls
    assert endpoints(plan_layout(declared(*roles, **others, apply=False), live(*THREE))) == [UPDATE]
    assert "together with" in refusal(declared(*roles, **others, waits=True), live(*THREE, history=DRAINING))


@pytest.mark.requirement("OP-009")
@pytest.mark.parametrize("roles", [
    pytest.param([storage(D, "paris")], id="a node in its place"),
    pytest.param([storage(C, "lyon", 10_000, "tagged")], id="tags"),
    pytest.param([absent(A)], id="another one that leaves"),
    pytest.param([gateway(D)], id="a gateway"),
])
def test_what_moves_no_other_block_goes_with_it(roles):
    assert plan_layout(declared(absent(B), *roles), live(*THREE)).calls


@pytest.mark.requirement("OP-010")
@pytest.mark.parametrize("mode", ["degraded", "dangerous"])
def test_a_node_gives_up_what_it_stores_only_where_writes_are_consistent(mode):
    assert f"with consistency_mode {mode}, by which it may hold the only copy" in refusal(declared(absent(B), consistency_mode=mode), live(*THREE))
    for allowed in (declared(absent(B), consistency_mode="consistent"), declared(absent(B), consistency_mode=mode, require_settled=False),
                    declared(storage(D), consistency_mode=mode)):
        assert plan_layout(allowed, live(*THREE)).calls
    dead = live(*THREE, nodes=tuple(Node(id, up=id != B) for id in (A, B, C)))
    assert plan_layout(declared(absent(B), consistency_mode=mode, assume_peers_consistent=False), dead).calls


@pytest.mark.requirement("OP-011")
def test_in_a_federation_it_takes_the_word_that_the_others_are_consistent():
    assert "nobody has said that the other sites run with consistency_mode consistent" in refusal(
        declared(absent(B), assume_peers_consistent=False), live(*THREE))
    for allowed in (declared(absent(B), assume_peers_consistent=True), declared(absent(B)), declared(storage(D), assume_peers_consistent=False)):
        assert plan_layout(allowed, live(*THREE)).calls


@pytest.mark.requirement("OP-009", "OP-010", "OP-011", "OP-016")
def test_all_that_speaks_against_it_is_said_at_once():
    text = refusal(declared(absent(B), storage(A, "paris", 20_000), consistency_mode="degraded", assume_peers_consistent=False),
                   live(*THREE, nodes=ONE_DOWN))
    assert [word for word in ("is down", "together with", "degraded", "nobody has said") if word not in text] == []


@pytest.mark.requirement("OP-110")
def test_no_change_is_applied_while_nodes_drain():
    text = refusal(declared(storage(D)), live(*THREE, history=DRAINING))
    assert f"version 1 is still draining, waiting for node {B[:16]} (sync 1)" in text
    assert A[:16] not in text
    assert plan_layout(declared(storage(D), require_settled=False), live(*THREE, history=DRAINING)).calls
    assert endpoints(plan_layout(declared(storage(D), apply=False), live(*THREE, history=DRAINING))) == [UPDATE]
    assert not plan_layout(declared(*THREE), live(*THREE, history=DRAINING)).calls
    bookkeeping = History(2, (1,), {A: {"ack": 2, "sync": 2, "syncAck": 1}})
    assert plan_layout(declared(storage(D)), live(*THREE, history=bookkeeping)).calls


def test_warnings_come_with_a_change_only():
    (note,) = plan_layout(declared(storage(A), storage(B)), live()).notes
    assert "all storage nodes are in zone 'paris'" in note
    assert not plan_layout(declared(storage(A), storage(B), replication_factor=1), live()).notes
    assert "replication factor 2" in plan_layout(declared(storage(A), storage(B, "lyon"), replication_factor=2), live()).notes[0]
    assert not plan_layout(declared(storage(A), storage(B)), live(storage(A), storage(B))).notes
