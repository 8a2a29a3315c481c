# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hash by which a layout plan is approved: what goes in, where it is the same, and what stops a plan that nobody approved."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError, PlanError, VerifyMismatch
from ansible_collections.s3ops.garage.plugins.module_utils._models.layout import LayoutSpec
from ansible_collections.s3ops.garage.plugins.module_utils._models.plan_hash import PlanHash
from ansible_collections.s3ops.garage.plugins.module_utils._planners.layout import plan_layout
from ansible_collections.s3ops.garage.plugins.module_utils._readers.layout import read_layout_info
from tests.fakes.garage import GIB
from tests.fakes.garage.partitions import Role
from tests.unit.layout_plans import A, B, C, D, absent, declared, gateway, live, storage
from tests.unit.layout_runs import APPLY, PREVIEW, REVERT, UPDATE, Site, before_each

THREE = (storage(A), storage(B), storage(C, "lyon"))
pytestmark = pytest.mark.requirement("OP-107")


def approval(spec, snapshot):
    return str(plan_layout(spec, snapshot).approval)


def test_a_hash_is_read_back():
    for text in ("v0-0123456789abcdef-fedcba9876543210", "v12-0123456789abcdef-fedcba9876543210-00000000ffffffff"):
        assert str(PlanHash.parse(f" {text}\n")) == text


@pytest.mark.parametrize("text", ["", "v1", "1-0123456789abcdef-fedcba9876543210", "v01-0123456789abcdef-fedcba9876543210", "v1-0123456789abcdef", "v1-x-y"])
def test_what_is_no_hash_is_refused_with_all_other_faults(text):
    with pytest.raises(InputError) as caught:
        LayoutSpec.from_params({"expected_plan": text, "zone_redundancy": "0"})
    assert len(caught.value.faults) == 2
    assert any(fault.startswith("expected_plan: ") for fault in caught.value.faults)


def test_the_same_change_has_the_same_hash():
    wished = approval(declared(*THREE, storage(D)), live(*THREE))
    same = [
        approval(declared(storage(D)), live(*THREE)),
        approval(declared(storage(D), apply=False), live(*THREE)),
        approval(declared(storage(D)), live(*THREE, staged={D: storage(D)})),
        approval(declared(foreign_staged="include"), live(*THREE, staged={D: storage(D)})),
        approval(declared(storage(D), foreign_staged="discard"), live(*THREE, staged={A: None})),
    ]
    assert set(same) == {wished}
    tags = [approval(declared(storage(D, "paris", 10_000, *order)), live(*THREE)) for order in (("x", "y"), ("y", "x"))]
    assert tags[0] == tags[1] != wished


def test_another_change_has_another_hash():
    plans = [
        (declared(storage(D)), live(*THREE)),
        (declared(storage(D, "rome")), live(*THREE)),
        (declared(storage(D, "paris", 20_000)), live(*THREE)),
        (declared(storage(D, "paris", 10_000, "x")), live(*THREE)),
        (declared(gateway(D)), live(*THREE)),
        (declared(storage(D), redundancy=1), live(*THREE)),
        (declared(storage(D)), live(*THREE, redundancy=1)),
        (declared(storage(D)), live(storage(A), storage(B), storage(C, "paris"))),
        (declared(storage(D), absent(C)), live(*THREE)),
        (declared(*THREE), live(*THREE)),
    ]
    assert len({approval(*plan) for plan in plans}) == len(plans)
    assert plan_layout(declared(storage(D), follower=True), live(*THREE)).approval is None


def plan_hash(site, *roles, **options):
    return site.run(*roles, check=True, **options)[1]["plan_hash"]


@pytest.mark.parametrize("preview", [False, True])
def test_check_mode_staging_info_and_apply_agree(preview):
    site = Site(["paris", "paris", "lyon"], factor=2, layout=2)
    checked = plan_hash(site, site.role(2), preview=preview)
    staged = site.run(site.role(2), apply=False, preview=preview)[1]["plan_hash"]
    shown = read_layout_info(site.client)["plan_hash"]
    applied = site.run(site.role(2), preview=preview, expected_plan=checked)[1]["plan_hash"]
    assert checked == staged == applied
    assert shown.startswith(checked)
    assert shown.count("-") == 3 and checked.count("-") == 2 + preview
    assert site.state.current.version == 2


def test_what_was_approved_from_layout_info_is_applied():
    site = Site(["paris", "paris", "lyon"], factor=2, layout=2)
    site.state.staged[site.ids[2]] = Role("lyon", GIB, ())
    shown = read_layout_info(site.client)["plan_hash"]
    site.run(foreign_staged="include", expected_plan=shown)
    assert site.writes == [APPLY]
    assert site.sent[-len(site.sent):].count(PREVIEW) == 2
    assert site.state.current.version == 2


def test_an_approval_without_a_preview_asks_the_server_nothing_more():
    site = Site(["paris", "paris", "lyon"], factor=2, layout=2)
    site.run(site.role(2), expected_plan=plan_hash(site, site.role(2)))
    assert PREVIEW not in site.sent
    assert site.writes == [UPDATE, APPLY]


def test_when_it_is_done_already_there_is_nothing_to_approve():
    site = Site(["paris", "paris", "lyon"], factor=2, layout=2)
    approved = plan_hash(site, site.role(2))
    site.run(site.role(2), expected_plan=approved)
    again, dummy = site.run(site.role(2), expected_plan=approved)
    assert not again.plan.changed


def test_approving_nothing_allows_nothing():
    site = Site(["paris", "paris", "lyon"], factor=2, layout=2)
    nothing = plan_hash(site, site.role(0), site.role(1))
    assert nothing == read_layout_info(site.client)["plan_hash"]
    with pytest.raises(PlanError, match="other roles or another zone redundancy would come into force"):
        site.run(site.role(2), expected_plan=nothing)
    assert site.writes == []


@pytest.mark.parametrize("check", [True, False])
def test_a_world_that_changed_stops_it_and_is_told(check):
    site = Site(["paris", "paris", "lyon"], factor=2, layout=2)
    approved = plan_hash(site, site.role(2))
    site.write({site.ids[1]: Role("paris", 2 * GIB, ())})
    with pytest.raises(PlanError) as caught:
        site.run(site.role(2), expected_plan=approved, check=check)
    assert f"not the plan that was approved ({approved})" in caught.value.message
    assert "the layout in force is version 2, it was version 1" in caught.value.message
    assert plan_hash(site, site.role(2)) in caught.value.hint
    assert site.writes == []


def test_a_declaration_that_changed_stops_it():
    site = Site(["paris", "paris", "lyon"], factor=2, layout=2)
    approved = plan_hash(site, site.role(2))
    with pytest.raises(PlanError, match="other roles or another zone redundancy would come into force$"):
        site.run(site.role(2, capacity="2GiB"), expected_plan=approved)
    assert site.writes == []


def test_a_writer_who_is_faster_stops_it():
    site = Site(["paris", "paris", "lyon"], factor=2, layout=2)
    approved = plan_hash(site, site.role(2))

    def other():
        site.state.revert()
        site.write({site.ids[1]: Role("paris", 2 * GIB, ())})

    before_each(APPLY, other)(site)
    with pytest.raises(PlanError, match="version 2, it was version 1"):
        site.run(site.role(2), expected_plan=approved)
    assert site.writes == [UPDATE, APPLY]
    assert site.state.current.version == 2
    assert site.staged == {}


def other_moves(text):
    """An approval of the same change with other moves."""
    return f"{text[:-4]}{'0000' if text[-4:] != '0000' else '1111'}"


def test_other_moves_stop_it_and_leave_nothing_staged():
    site = Site(["paris", "paris", "lyon"], factor=2, layout=2)
    approved = plan_hash(site, site.role(2), preview=True)
    site.transport.sent.clear()
    with pytest.raises(PlanError, match="the server would move other partitions") as caught:
        site.run(site.role(2), expected_plan=other_moves(approved))
    assert site.writes == [UPDATE, REVERT]
    assert site.staged == {}
    assert caught.value.done == ()
    site.run(site.role(2), expected_plan=approved)
    assert site.state.current.version == 2


def test_other_moves_leave_what_was_staged_before():
    site = Site(["paris", "paris", "lyon"], factor=2, layout=2)
    approved = plan_hash(site, site.role(2), preview=True)
    site.run(site.role(2), apply=False)
    site.transport.sent.clear()
    with pytest.raises(PlanError):
        site.run(site.role(2), expected_plan=other_moves(approved))
    assert site.writes == []
    assert list(site.staged) == [site.ids[2]]


def test_what_somebody_stages_before_the_last_preview_is_neither_applied_nor_dropped():
    site = Site(["paris", "paris", "lyon"], factor=2, layout=2)
    approved = plan_hash(site, site.role(2), preview=True)
    site.transport.sent.clear()
    before_each(PREVIEW, lambda: site.state.staged.update({site.ids[1]: Role("paris", 2 * GIB, ())}))(site)
    with pytest.raises(VerifyMismatch, match="not what this run has staged") as caught:
        site.run(site.role(2), expected_plan=approved)
    assert site.writes == [UPDATE]
    assert set(site.staged) == set(site.ids[1:])
    assert caught.value.done


def test_a_server_that_does_not_count_moves_still_tells_the_partitions():
    site = Site(["paris", "paris", "lyon"], factor=2, layout=2, garage={"version": "2.3.0"})
    approved = plan_hash(site, site.role(2), preview=True)
    assert approved.count("-") == 3
    site.run(site.role(2), expected_plan=copy.copy(approved))
    assert site.state.current.version == 2
