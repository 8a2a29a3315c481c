# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the layout planner makes of changes that are staged already, by an earlier run or by somebody else."""

from __future__ import annotations

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._models.layout import Layout, RoleSpec
from ansible_collections.s3ops.garage.plugins.module_utils._planners.layout import LayoutSnapshot, plan_layout
from tests.unit.layout_plans import A, APPLY, B, C, D, GHOST, REVERT, THREE, UPDATE, absent, body, declared, endpoints, live, refusal, storage

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
    plan = plan_layout(declared(storage(D), foreign_staged="include", require_settled=False), live(*THREE, staged={B: None}, staged_redundancy=1))
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
