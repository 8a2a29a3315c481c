# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the layout planner decides: calls, refusals, and what a follower waits for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError, PlanError
from ansible_collections.s3ops.garage.plugins.module_utils._models.cluster import Node
from ansible_collections.s3ops.garage.plugins.module_utils._models.layout import History, Layout, LayoutSpec, Role, RoleSpec
from ansible_collections.s3ops.garage.plugins.module_utils._plan import Plan
from ansible_collections.s3ops.garage.plugins.module_utils._planners.layout import LayoutSnapshot, plan_layout, preview_calls

A, B, C, D, GHOST = (digit * 64 for digit in "abcdf")
DRAINING = History(2, (1,), {A: {"ack": 2, "sync": 2, "syncAck": 1}, B: {"ack": 2, "sync": 1, "syncAck": 1}})
UPDATE, APPLY, REVERT = "UpdateClusterLayout", "ApplyClusterLayout", "RevertClusterLayout"


def storage(id: str, zone: str = "paris", capacity: int = 10_000, *tags: str) -> Role:
    return Role(id, zone, capacity, tags)


def gateway(id: str, zone: str = "paris", *tags: str) -> Role:
    return Role(id, zone, None, tags)


def live(*roles: Role, staged: dict[str, Role | None] | None = None, staged_redundancy: Any = None, redundancy: Any = "maximum",
         nodes: tuple[Node, ...] | None = None, history: History | None = None) -> LayoutSnapshot:
    """A snapshot at version 1; all of A to D are up unless ``nodes`` says otherwise."""
    known = nodes if nodes is not None else tuple(Node(id, f"host-{id[0]}", up=True) for id in (A, B, C, D))
    return LayoutSnapshot(Layout(1, {role.id: role for role in roles}, redundancy, staged or {}, staged_redundancy, 100), known, history)


def declared(*roles: Role | RoleSpec, **options: Any) -> LayoutSpec:
    return LayoutSpec(tuple(role if isinstance(role, RoleSpec) else RoleSpec(role.id, role.zone, role.capacity, role.capacity is None, role.tags)
                            for role in roles), **options)


def absent(node: str) -> RoleSpec:
    return RoleSpec(node, absent=True)


def endpoints(plan: Plan) -> list[str]:
    return [call.endpoint for call in plan.calls]


def body(plan: Plan, endpoint: str) -> Any:
    return next(call.body for call in plan.calls if call.endpoint == endpoint)


def refusal(spec: LayoutSpec, snapshot: LayoutSnapshot) -> str:
    with pytest.raises((PlanError, InputError)) as caught:
        plan_layout(spec, snapshot)
    return caught.value.message


THREE = (storage(A), storage(B), storage(C, "lyon"))


# what is sent

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


# what somebody else has staged

FOREIGN = {
    "another node": {"staged": {D: storage(D)}},
    "a removal": {"staged": {B: None}},
    "another capacity for the same node": {"staged": {A: storage(A, "paris", 30_000)}},
    "another zone for the same node": {"staged": {A: storage(A, "lyon", 20_000)}},
    "other tags for the same node": {"staged": {A: storage(A, "paris", 20_000, "x")}},
    "the zone redundancy": {"staged_redundancy": 1},
}


@pytest.mark.requirement("OP-106", "FC-005", "LW-45")
@pytest.mark.parametrize("foreign", FOREIGN.values(), ids=FOREIGN)
def test_foreign_changes_are_in_the_way_of_ours(foreign):
    text = refusal(declared(RoleSpec(A, capacity=20_000)), live(*THREE, **foreign))
    assert "somebody else has staged changes" in text
    assert "zone redundancy 1" in text if "staged_redundancy" in foreign else next(iter(foreign["staged"]))[:16] in text


@pytest.mark.requirement("OP-106", "FC-005")
@pytest.mark.parametrize("foreign", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("apply", [True, False])
def test_foreign_changes_are_told_of_when_there_is_nothing_to_do(foreign, apply):
    plan = plan_layout(declared(RoleSpec(A), apply=apply), live(*THREE, **foreign))
    assert not plan.calls
    assert "somebody else has staged changes" in plan.notes[0]
    assert plan.prediction == live(*THREE, **foreign).layout.to_result()


@pytest.mark.requirement("OP-106", "FC-007")
def test_ours_staged_and_theirs_too_is_nothing_to_do_when_only_staging():
    both = live(*THREE, staged={D: storage(D), B: None})
    assert not plan_layout(declared(storage(D), apply=False), both).calls
    assert "somebody else" in refusal(declared(storage(D)), both)


@pytest.mark.requirement("OP-106", "FC-005")
def test_foreign_changes_are_dropped():
    both = live(*THREE, staged={B: None, D: storage(D)}, staged_redundancy=1)
    plan = plan_layout(declared(storage(D), foreign_staged="discard"), both)
    assert endpoints(plan) == [REVERT, UPDATE, APPLY]
    assert [role["id"] for role in body(plan, UPDATE)["roles"]] == [D]
    assert "parameters" not in body(plan, UPDATE)
    assert {role["id"] for role in plan.prediction["roles"]} == {A, B, C, D}
    alone = plan_layout(declared(foreign_staged="discard"), both)
    assert endpoints(alone) == [REVERT]
    assert alone.prediction["staged"] == {"roles": [], "zone_redundancy": None}
    assert alone.prediction["version"] == 1


@pytest.mark.requirement("OP-106", "FC-005")
def test_foreign_changes_are_taken_in():
    plan = plan_layout(declared(storage(D), foreign_staged="include"), live(*THREE, staged={B: None}, staged_redundancy=1))
    assert endpoints(plan) == [UPDATE, APPLY]
    assert [role["id"] for role in body(plan, UPDATE)["roles"]] == [D]
    assert {role["id"] for role in plan.prediction["roles"]} == {A, C, D}
    assert plan.prediction["zone_redundancy"] == 1
    assert endpoints(plan_layout(declared(foreign_staged="include"), live(*THREE, staged={B: None}))) == [APPLY]
    assert not plan_layout(declared(foreign_staged="include", apply=False), live(*THREE, staged={B: None})).calls


@pytest.mark.requirement("OP-106")
@pytest.mark.parametrize(("roles", "staged", "restored"), [
    pytest.param([RoleSpec(B)], {B: None}, {"id": B, "zone": "paris", "capacity": 10_000, "tags": []}, id="removal of a declared node"),
    pytest.param([absent(D)], {D: storage(D)}, {"id": D, "remove": True}, id="a role for a node that shall have none"),
    pytest.param([RoleSpec(B, capacity=10_000)], {B: storage(B, "paris", 99_000)}, {"id": B, "zone": "paris", "capacity": 10_000, "tags": []},
                 id="another capacity"),
])
def test_the_declaration_holds_against_what_is_taken_in(roles, staged, restored):
    before = live(*THREE, staged=staged)
    plan = plan_layout(declared(*roles, foreign_staged="include"), before)
    assert endpoints(plan) == [UPDATE]
    assert body(plan, UPDATE) == {"roles": [restored]}
    assert plan.prediction["staged"]["roles"] == []
    assert plan.prediction["version"] == 1
    assert plan.would == (f"stage: drop what is staged for {restored['id'][:16]}",)
    with_more = plan_layout(declared(*roles, foreign_staged="include"), live(*THREE, staged={**staged, A: storage(A, "paris", 20_000)}))
    assert endpoints(with_more) == [UPDATE, APPLY]
    assert body(with_more, UPDATE) == {"roles": [restored]}
    assert plan_layout(declared(RoleSpec(B, capacity=50_000), foreign_staged="include"), live(*THREE, staged={B: None})).calls[0].body == {
        "roles": [{"id": B, "zone": "paris", "capacity": 50_000, "tags": []}]}


@pytest.mark.requirement("OP-106", "LW-35")
def test_the_declared_redundancy_holds_against_what_is_taken_in():
    before = live(*THREE, redundancy=2, staged_redundancy=1)
    plan = plan_layout(declared(redundancy=2, foreign_staged="include"), before)
    assert endpoints(plan) == [UPDATE]
    assert body(plan, UPDATE) == {"roles": [], "parameters": {"zoneRedundancy": {"atLeast": 2}}}
    other = plan_layout(declared(redundancy="maximum", foreign_staged="include"), before)
    assert body(other, UPDATE)["parameters"] == {"zoneRedundancy": "maximum"}
    assert other.prediction["zone_redundancy"] == "maximum"


@pytest.mark.requirement("OP-106", "OP-109")
@pytest.mark.parametrize("role", [storage(D, "paris", 10_000, "x", "y"), storage(D, "paris", 10_000, "y", "x")])
def test_residue_that_is_exactly_ours_is_resumed(role):
    plan = plan_layout(declared(storage(D, "paris", 10_000, "x", "y")), live(*THREE, staged={D: role}))
    assert endpoints(plan) == [APPLY]
    part = plan_layout(declared(storage(D, "paris", 10_000, "x", "y"), absent(B)), live(*THREE, staged={D: role}))
    assert endpoints(part) == [UPDATE, APPLY]
    assert body(part, UPDATE) == {"roles": [{"id": B, "remove": True}]}


@pytest.mark.requirement("OP-109")
@pytest.mark.parametrize(("mode", "staged", "undone"), [("fail", {}, True), ("fail", {D: storage(D)}, False), ("discard", {B: None}, True),
                                                        ("include", {B: None}, False)])
def test_what_was_staged_is_put_back_only_where_nothing_was_staged_before(mode, staged, undone):
    plan = plan_layout(declared(storage(D), foreign_staged=mode), live(*THREE, staged=staged))
    assert (plan.undo.endpoint if plan.undo else None) == (REVERT if undone else None)


@pytest.mark.requirement("OP-107")
@pytest.mark.parametrize(("change", "word"), [
    pytest.param({}, None, id="as asked"),
    pytest.param({"stagedRoleChanges": []}, f"node {D[:16]}", id="ours is missing"),
    pytest.param({"stagedRoleChanges": [{"id": D, "zone": "lyon", "tags": [], "capacity": 10_000}]}, f"node {D[:16]}", id="ours is another"),
    pytest.param({"more": {"id": B, "remove": True}}, f"node {B[:16]}", id="theirs is there too"),
    pytest.param({"more": {"id": GHOST, "remove": True}}, None, id="a removal of nothing"),
    pytest.param({"stagedParameters": {"zoneRedundancy": {"atLeast": 1}}}, "the zone redundancy", id="their redundancy"),
])
def test_the_staging_area_is_compared_before_it_is_applied(change, word):
    change = {"more": None, **change}
    plan = plan_layout(declared(storage(D)), live(*THREE))
    answer = {"version": 1, "roles": [role.to_api() for role in THREE], "parameters": {"zoneRedundancy": "maximum"}, "partitionSize": 100,
              "stagedRoleChanges": [{"id": D, "zone": "paris", "tags": [], "capacity": 10_000}], "stagedParameters": None}
    more = change.pop("more")
    answer |= change
    answer["stagedRoleChanges"] = answer["stagedRoleChanges"] + ([more] if more else [])
    fault = plan.calls[0].check(answer)
    assert word in fault if word else fault is None


@pytest.mark.requirement("OP-105")
@pytest.mark.parametrize(("roles", "staged", "count"), [
    pytest.param([A, B, C], {f"{number:064x}": None for number in range(3)}, 3, id="three removals of nothing"),
    pytest.param([A, B, C], {**{f"{number:064x}": None for number in range(3)}, B: None}, 2, id="three removals of nothing and one of a node"),
    pytest.param([], {A: True, B: True, C: True}, 3, id="three additions"),
    pytest.param([A, B, C], {A: True}, 3, id="an addition of a node that is there"),
    pytest.param([A, B], {A: None, GHOST: None, C: True}, 2, id="one of each"),
    pytest.param([], {}, 0, id="nothing"),
])
def test_how_many_roles_there_are_afterwards(roles, staged, count):
    layout = Layout.from_api({
        "version": 1, "roles": [storage(id).to_api() for id in roles], "parameters": {"zoneRedundancy": "maximum"}, "stagedParameters": None,
        "stagedRoleChanges": [storage(id, "paris", 20_000).to_api() if role else {"id": id, "remove": True} for id, role in staged.items()]})
    plan = plan_layout(declared(foreign_staged="include"), LayoutSnapshot(layout, live().nodes))
    assert len(plan.prediction["roles"]) == count
    # The count that the replication factor is held against is the same.
    strict = declared(foreign_staged="include", replication_factor=4)
    assert not plan.calls or f"{count} storage nodes are fewer" in refusal(strict, LayoutSnapshot(layout, live().nodes))


@pytest.mark.requirement("FC-131")
def test_removals_of_nothing_are_not_foreign():
    layout = Layout.from_api({"version": 1, "roles": [role.to_api() for role in THREE], "parameters": {"zoneRedundancy": "maximum"},
                              "stagedRoleChanges": [{"id": GHOST, "remove": True}], "stagedParameters": None})
    plan = plan_layout(declared(*THREE), LayoutSnapshot(layout, live().nodes))
    assert (plan.calls, plan.notes) == ((), ())


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
    writer = plan_layout(replace(spec, apply=apply), snapshot)
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
    assert lines == ({"node": A, "zone": "paris", "capacity": 20_000, "tags": []}, {"node": C, "state": "absent"},
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
