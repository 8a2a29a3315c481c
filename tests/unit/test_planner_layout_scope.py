# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose nodes the layout planner touches, how they are named, and what a follower waits for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._models.cluster import Node
from ansible_collections.s3ops.garage.plugins.module_utils._models.layout import Layout, RoleSpec
from ansible_collections.s3ops.garage.plugins.module_utils._planners.layout import LayoutSnapshot, plan_layout, preview_calls
from tests.unit.layout_plans import (
    A,
    B,
    C,
    D,
    DRAINING,
    GHOST,
    REVERT,
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


# what belongs to a task

OWNED = (storage(A, "paris", 10_000, "site-a"), storage(B, "paris", 10_000, "site-a"), storage(C, "paris"), storage(D, "lyon", 10_000, "site-a"))


@pytest.mark.requirement("OP-111", "OP-101", "FC-016", "OP-112")
@pytest.mark.parametrize(("owner", "purged"), [
    ({"owner_zones": ("paris",)}, {B, C}),
    ({"owner_tag": "site-a"}, {B, D}),
    ({"owner_zones": ("paris",), "owner_tag": "site-a"}, {B}),
    ({"owner_zones": ("rome",)}, set()),
    ({"owner_tag": "site-b"}, set()),
])
def test_purging_ends_at_the_owners_bounds(owner, purged):
    keep = () if owner.get("owner_zones") == ("rome",) else (RoleSpec(A),)
    plan = plan_layout(declared(*keep, purge=True, **owner), live(*OWNED))
    removed = {role["id"] for role in body(plan, UPDATE)["roles"] if role.get("remove")} if plan.calls else set()
    assert removed == purged
    # A tag is added to what is declared, so A changes where it lacks it; nobody else's role is so much as shown.
    shown = set(plan.diff["after"].get("roles", ()))
    assert shown == purged | ({A} if owner.get("owner_tag") == "site-b" else set())


@pytest.mark.requirement("OP-101")
def test_the_owners_tag_is_added_to_each_role_once():
    plan = plan_layout(declared(RoleSpec(A), RoleSpec(B, tags=()), storage(D, "lyon", 10_000, "x"), owner_tag="mine"),
                       live(storage(A, "paris", 10_000, "x", "mine"), storage(B)))
    assert [(role["id"], role["tags"]) for role in body(plan, UPDATE)["roles"]] == [(B, ["mine"]), (D, ["x", "mine"])]


@pytest.mark.requirement("FC-016", "OP-111")
@pytest.mark.parametrize("role", [RoleSpec(C, capacity=20_000), absent(C), RoleSpec(C, zone="paris")])
def test_nodes_in_a_foreign_zone_are_refused(role):
    text = refusal(declared(role, owner_zones=("paris",)), live(*THREE))
    assert "has a role in zone 'lyon', outside of owner.zones (paris)" in text


@pytest.mark.requirement("OP-019")
def test_purging_everything_is_refused_by_the_last_storage_node():
    assert "no node with a capacity would be left" in refusal(declared(purge=True, owner_zones=("paris", "lyon")), live(*THREE))


@pytest.mark.requirement("OP-106", "OP-111")
def test_what_is_purged_tomorrow_is_not_taken_in_today():
    plan = plan_layout(declared(*THREE, purge=True, owner_zones=("paris", "lyon"), foreign_staged="include"), live(*THREE, staged={D: storage(D)}))
    assert endpoints(plan) == [UPDATE]
    assert body(plan, UPDATE) == {"roles": [{"id": D, "remove": True}]}
    moved = plan_layout(declared(RoleSpec(A), RoleSpec(B), purge=True, owner_zones=("paris",), foreign_staged="include"),
                        live(*THREE, staged={C: storage(C, "paris")}))
    assert endpoints(moved) == [UPDATE]
    assert body(moved, UPDATE) == {"roles": [THREE[2].to_api()]}


# how nodes are named

@pytest.mark.requirement("FC-013")
@pytest.mark.parametrize("selector", [D, D.upper(), f"{D}@10.0.0.4:3901", f"{D}@[2001:db8::4]:3901", D[:8], D[:4], D[:8].upper(), "host-d"])
def test_ways_to_name_a_node(selector):
    plan = plan_layout(declared(RoleSpec(selector, "paris", 10_000)), live(*THREE))
    assert [role["id"] for role in body(plan, UPDATE)["roles"]] == [D]


TWINS = ("abcd" + "1" * 60, "abcd" + "2" * 60)


@pytest.mark.requirement("FC-013")
@pytest.mark.parametrize(("selector", "nodes", "word"), [
    ("abcd", (Node(TWINS[0], up=True), Node(TWINS[1], up=True)), f"fits several nodes: {TWINS[0]}, {TWINS[1]}; name one by its id"),
    ("web", (Node(A, "web", up=True), Node(B, "web", up=True)), f"fits several nodes: {A}, {B}"),
    ("aaaa", (Node(A, up=True), Node(B, "aaaa", up=True)), f"fits several nodes: {A}, {B}"),
    ("aaa", (Node(A, up=True),), "fits no node this cluster knows"),
    ("eeee", (Node(A, up=True),), "fits no node this cluster knows"),
    ("nobody", (Node(A, "web", up=True),), "fits no node this cluster knows"),
])
def test_names_that_fit_no_node_or_several(selector, nodes, word):
    text = refusal(declared(RoleSpec(selector, "paris", 10_000)), live(nodes=nodes))
    assert text.startswith(f"roles[0].node: {selector!r} ")
    assert word in text


@pytest.mark.requirement("FC-013")
def test_a_prefix_finds_a_role_whose_node_is_not_in_sight():
    plan = plan_layout(declared(absent(TWINS[0][:6])), live(*THREE, storage(TWINS[0]), nodes=(Node(A, "host-a", up=True),)))
    assert body(plan, UPDATE) == {"roles": [{"id": TWINS[0], "remove": True}]}


def test_one_node_named_twice_is_refused():
    text = refusal(declared(RoleSpec(A), storage(D), absent("aaaa"), RoleSpec("host-d", "paris", 10_000)), live(*THREE))
    assert f"roles[2].node: 'aaaa' is the same node as roles[0] ({A[:16]})" in text
    assert f"roles[3].node: 'host-d' is the same node as roles[1] ({D[:16]})" in text


@pytest.mark.parametrize("selector", ["eeee", GHOST, f"eeee{'0' * 60}@10.0.0.9:3901", "nobody"])
def test_absent_is_no_fault_of_a_node_nobody_knows(selector):
    assert not plan_layout(declared(absent(selector)), live(*THREE)).calls


def test_a_host_name_is_not_taken_for_absent_while_names_are_unknown():
    restarted = live(*THREE, nodes=(Node(A, "host-a", up=True), Node(B, "host-b", up=True), Node(C, None, has_role=True, zone="lyon")))
    text = refusal(declared(absent("host-c")), restarted)
    assert f"the names of {C} are not known; name it by its id" in text
    assert plan_layout(declared(absent(C[:8])), restarted).calls


# followers

def _matrix() -> list:
    first = LayoutSnapshot(Layout(0, {}, "maximum"), live().nodes)
    grown = live(*THREE, gateway(D))
    return [
        pytest.param(declared(storage(A), storage(B)), first, "nodes_without_role", {A, B}, id="bootstrap", marks=pytest.mark.requirement("LW-22")),
        pytest.param(declared(*THREE, storage(D)), live(*THREE), "nodes_without_role", {D}, id="new node", marks=pytest.mark.requirement("LW-23")),
        pytest.param(declared(*THREE, gateway(D)), live(*THREE), "nodes_without_role", {D}, id="new gateway", marks=pytest.mark.requirement("LW-23")),
        pytest.param(declared(absent(C)), live(*THREE), "pending_role_removal", {C}, id="scale-down", marks=pytest.mark.requirement("LW-25")),
        pytest.param(declared(storage(B, "paris", 20_000)), live(*THREE), "pending_role_change", {B}, id="changed role"),
        pytest.param(declared(absent(D)), grown, "pending_tombstones", {D}, id="gateway tombstone", marks=pytest.mark.requirement("LW-26")),
        pytest.param(declared(redundancy=1), live(*THREE), "replication_change", set(), id="redundancy", marks=pytest.mark.requirement("LW-34")),
        pytest.param(declared(*THREE), live(*THREE), "nothing_pending", set(), id="nothing"),
        pytest.param(declared(storage(D), absent(C), redundancy=1), live(*THREE), "pending_role_removal", {C, D}, id="removal before no role"),
        pytest.param(declared(gateway(B), absent(D)), live(storage(A), storage(C), gateway(D)), "nodes_without_role", {B, D},
                     id="no role before tombstones"),
        pytest.param(declared(absent(D), redundancy=1), grown, "pending_tombstones", {D}, id="tombstones before redundancy"),
        pytest.param(declared(storage(A, "paris", 20_000), absent(D)), grown, "pending_role_change", {A, D}, id="changed role before tombstones"),
    ]


@pytest.mark.requirement("LW-49", "LW-10", "LW-12", "LW-16", "LW-29")
@pytest.mark.parametrize("apply", [True, False])
@pytest.mark.parametrize(("spec", "snapshot", "reason", "nodes"), _matrix())
def test_each_kind_of_work_as_writer_and_as_follower(spec, snapshot, reason, nodes, apply):
    # What a step of its own has to do waits for the same reason as what is done together.
    writer = plan_layout(replace(spec, apply=apply, require_settled=False), snapshot)
    follower = plan_layout(replace(spec, apply=apply, follower=True), snapshot)
    assert follower.calls == ()
    assert not follower.changed
    assert follower.diff == {"before": {}, "after": {}}
    assert follower.prediction == snapshot.layout.to_result()
    assert (follower.awaiting.reason, set(follower.awaiting.nodes)) == (reason, nodes)
    assert writer.awaiting is None
    # What was held back is exactly what a writer would have sent.
    assert list(follower.awaiting.operations) == endpoints(writer)
    if writer.calls:
        assert {line["node"] for line in follower.awaiting.lines if "node" in line} == {role["id"] for role in body(writer, UPDATE)["roles"]}


@pytest.mark.requirement("LW-30", "LW-10")
def test_the_lines_for_the_writer_can_be_declared_there():
    spec = declared(storage(A, "paris", 20_000), storage(D, "lyon", 10_000, "x"), absent(C), redundancy=1, follower=True)
    lines = plan_layout(spec, live(*THREE)).awaiting.lines
    assert lines == ({"node": A, "zone": "paris", "capacity": 20_000, "tags": []}, {"node": C, "zone": "lyon", "state": "absent"},
                     {"node": D, "zone": "lyon", "capacity": 10_000, "tags": ["x"]}, {"zone_redundancy": 1})
    (line,) = plan_layout(declared(gateway(D), follower=True), live(*THREE)).awaiting.lines
    assert line == {"node": D, "zone": "paris", "gateway": True, "tags": []}


@pytest.mark.requirement("LW-16", "LW-49")
@pytest.mark.parametrize("mode", ["fail", "discard", "include"])
def test_a_follower_touches_nothing_that_is_staged(mode):
    plan = plan_layout(declared(RoleSpec(A), foreign_staged=mode, follower=True), live(*THREE, staged={B: None}, history=DRAINING))
    assert plan.calls == ()
    assert plan.awaiting.reason == "nothing_pending"


@pytest.mark.requirement("OP-111", "LW-25")
def test_a_follower_that_purges_waits_for_the_removal():
    plan = plan_layout(declared(RoleSpec(A), purge=True, owner_zones=("paris",), follower=True), live(*THREE))
    assert (plan.awaiting.reason, plan.awaiting.nodes) == ("pending_role_removal", (B,))


# preview

@pytest.mark.requirement("FC-004")
@pytest.mark.parametrize(("spec", "staged", "expected"), [
    (declared(storage(D)), {}, [UPDATE, "PreviewClusterLayoutChanges", REVERT]),
    (declared(storage(D)), {D: storage(D)}, ["PreviewClusterLayoutChanges"]),
    (declared(storage(D), foreign_staged="discard"), {B: None}, []),
    (declared(*THREE), {}, []),
])
def test_how_the_server_is_asked_for_a_preview(spec, staged, expected):
    assert [call.endpoint for call in preview_calls(plan_layout(spec, live(*THREE, staged=staged)))] == expected
