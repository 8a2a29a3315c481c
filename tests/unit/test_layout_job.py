# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole layout run: what is sent, in which order, and what is left behind when something goes wrong."""

from __future__ import annotations

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils import _waiter
from ansible_collections.s3ops.garage.plugins.module_utils._argspec import layout_spec, wait_spec
from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._errors import (
    Constraint,
    GarageError,
    PlanError,
    StaleVersion,
    TransportError,
    VerifyMismatch,
    WaitTimeout,
)
from ansible_collections.s3ops.garage.plugins.module_utils._layout_job import run_layout
from tests.fakes.garage import GIB, Fault
from tests.fakes.garage.partitions import Role
from tests.unit.layout_runs import APPLY, READS, REVERT, UPDATE, Site, before_each, drain


@pytest.mark.requirement("FC-001", "FC-002", "OP-104", "OP-108")
def test_a_first_layout_costs_one_apply_and_a_second_run_sends_no_write():
    site = Site(["paris", "paris", "lyon"], factor=3)
    roles = [site.role(number) for number in range(3)]
    predicted, dummy = site.run(*roles, check=True, replication_factor=3)
    assert site.sent == READS
    outcome, beside = site.run(*roles, replication_factor=3)
    assert site.sent == [*READS, *READS, UPDATE, APPLY, *READS]
    assert outcome.plan.changed
    assert outcome.result["version"] == 1
    assert predicted.plan.would == outcome.plan.would
    assert predicted.result.keys() == outcome.result.keys()
    assert beside["preview"]["moved_partitions"] is None
    site.transport.sent.clear()
    again, beside = site.run(*roles, replication_factor=3)
    assert site.sent == READS
    assert not again.plan.changed
    assert again.result == outcome.result
    assert beside["preview"] is None


@pytest.mark.requirement("LW-14", "LW-03", "LW-08", "LW-09")
def test_unset_sends_what_a_writer_sends():
    sent = []
    for site_role in (None, "writer"):
        site = Site(["paris"])
        site.client = Client(site.transport, site_role=site_role, retry_delay=0)
        suboptions = {name: option.get("default") for name, option in layout_spec()["roles"]["options"].items()}
        params = {name: option.get("default") for name, option in {**layout_spec(), **wait_spec()}.items()}
        dummy, beside = run_layout(site.client, params | {"roles": [suboptions | site.role(0)]}, check=False)
        sent.append(site.transport.sent)
        assert (beside["site_role"], beside["layout_writer"], beside["reason"]) == (site_role, True, "WriterSite")
        assert (beside["pending"], beside["awaiting"]) == (False, None)
    assert sent[0] == sent[1]
    assert sent[0]


@pytest.mark.requirement("OP-118", "FC-007")
def test_stage_only_then_apply():
    site = Site(["paris", "paris"], layout=1)
    outcome, dummy = site.run(site.role(1), apply=False)
    assert site.writes == [UPDATE]
    assert (outcome.result["version"], [role["id"] for role in outcome.result["staged"]["roles"]]) == (1, [site.ids[1]])
    again, dummy = site.run(site.role(1), apply=False)
    assert not again.plan.changed
    assert site.writes == [UPDATE]
    applied, dummy = site.run(site.role(1))
    assert site.writes == [UPDATE, APPLY]
    assert applied.result["version"] == 2


@pytest.mark.requirement("GS-16")
def test_a_redundancy_survives_its_apply_and_is_not_staged_again():
    site = Site(["paris", "lyon"], factor=2, layout=2)
    site.run(zone_redundancy="1")
    assert site.bodies(UPDATE) == [{"roles": [], "parameters": {"zoneRedundancy": {"atLeast": 1}}}]
    again, dummy = site.run(zone_redundancy="1")
    assert not again.plan.changed
    assert site.writes == [UPDATE, APPLY]


# another writer

@pytest.mark.requirement("FC-008", "OP-109")
def test_a_faster_writer_who_did_the_same_is_success():
    site = Site(["paris", "paris"], layout=1)
    before_each(APPLY, lambda: site.write({}))(site)
    outcome, dummy = site.run(site.role(1))
    assert site.writes == [UPDATE, APPLY]
    assert outcome.plan.changed
    assert outcome.result["version"] == 2
    assert any("reading the state again" in warning for warning in site.client.warnings)


@pytest.mark.requirement("FC-008", "OP-109")
def test_a_faster_writer_is_answered_by_one_fresh_attempt():
    site = Site(["paris", "paris", "paris"], layout=1)

    def other() -> None:
        site.state.revert()
        site.write({site.ids[2]: Role("paris", GIB, ())})

    before_each(APPLY, other)(site)
    outcome, dummy = site.run(site.role(1))
    assert site.writes == [UPDATE, APPLY, UPDATE, APPLY]
    assert site.bodies(APPLY) == [{"version": 2}, {"version": 3}]
    assert outcome.result["version"] == 3
    assert len(outcome.result["roles"]) == 3


@pytest.mark.requirement("FC-008", "OP-109")
@pytest.mark.parametrize("leaves_ours", [True, False])
def test_a_writer_who_is_faster_twice_ends_the_run_with_both_versions_named(leaves_ours):
    site = Site(["paris", "paris", "paris"], layout=1)

    def other() -> None:
        ours = dict(site.state.staged)
        site.state.revert()
        site.write({site.ids[2]: Role("paris", GIB, (f"t{site.state.current.version}",))})
        site.state.staged.update(ours if leaves_ours else {})

    before_each(APPLY, other, times=2)(site)
    with pytest.raises(StaleVersion) as caught:
        site.run(site.role(1))
    assert site.bodies(APPLY) == [{"version": 2}, {"version": 3}]
    assert "it was to become version 3, and is at 3 now" in caught.value.message
    assert "another writer" in caught.value.hint
    # Neither attempt leaves anything behind, also when the second found staged what the first had staged.
    assert site.writes[-1] == REVERT
    assert site.staged == {}
    assert caught.value.done == ()


@pytest.mark.requirement("OP-106", "OP-107")
def test_what_somebody_stages_in_the_same_moment_is_not_applied():
    site = Site(["paris", "paris", "paris"], layout=1)
    foreign = {site.ids[2]: Role("lyon", GIB, ())}
    before_each(UPDATE, lambda: site.state.staged.update(foreign))(site)
    with pytest.raises(VerifyMismatch) as caught:
        site.run(site.role(1))
    assert f"node {site.ids[2][:16]}" in caught.value.message
    assert site.writes == [UPDATE]
    assert site.state.current.version == 1
    assert site.staged.keys() == {site.ids[1], site.ids[2]}
    assert caught.value.done


@pytest.mark.requirement("OP-106", "FC-005")
@pytest.mark.parametrize(("mode", "writes"), [("fail", []), ("discard", [REVERT, UPDATE, APPLY]), ("include", [UPDATE, APPLY])])
def test_a_foreign_change(mode, writes):
    site = Site(["paris", "paris", "paris"], layout=2)
    site.state.staged[site.ids[1]] = None
    if mode == "fail":
        with pytest.raises(PlanError, match=f"remove the role of {site.ids[1][:16]}"):
            site.run(site.role(2), foreign_staged=mode)
        assert site.staged == {site.ids[1]: None}
    else:
        outcome, dummy = site.run(site.role(2), foreign_staged=mode)
        left = [site.ids[0], site.ids[2]] if mode == "include" else site.ids
        assert [role["id"] for role in outcome.result["roles"]] == sorted(left)
    assert site.writes == writes
    site.transport.sent.clear()
    if mode != "fail":
        assert not site.run(site.role(2), foreign_staged=mode)[0].plan.changed


@pytest.mark.requirement("FC-131")
def test_a_server_that_shows_removals_of_nothing():
    site = Site(["paris"], layout=1, garage={"version": "2.3.0"})
    site.state.staged["f" * 64] = None
    assert site.garage.handle("GET", "/v2/GetClusterLayout")[1]["stagedRoleChanges"] == [{"id": "f" * 64, "remove": True}]
    outcome, dummy = site.run(site.role(0))
    assert not outcome.plan.changed
    assert site.writes == []
    changed, dummy = site.run(site.role(0, capacity="2GiB"))
    assert changed.result["version"] == 2


# refusals and faults

@pytest.mark.requirement("OP-112", "FC-014")
def test_a_refused_apply_puts_the_staging_area_back():
    site = Site(["paris", "paris", "lyon"], factor=3)
    with pytest.raises(Constraint, match="smaller than the replication factor") as caught:
        site.run(site.role(0), site.role(1))
    assert site.writes == [UPDATE, APPLY, REVERT]
    assert site.staged == {}
    assert "what was staged was dropped again" in caught.value.message
    assert caught.value.done == ()


@pytest.mark.requirement("OP-112")
def test_a_refused_apply_leaves_what_was_staged_before():
    site = Site(["paris", "paris", "lyon"], factor=3)
    site.state.staged[site.ids[0]] = Role("paris", GIB, ())
    with pytest.raises(Constraint):
        site.run(site.role(0), site.role(1))
    assert site.writes == [UPDATE, APPLY]
    assert site.staged.keys() == set(site.ids[:2])


@pytest.mark.requirement("OP-112", "GS-17")
def test_a_refused_update_stages_nothing():
    site = Site(["paris"], layout=1)
    with pytest.raises(GarageError, match="replication factor"):
        site.run(site.role(0, tags=["x"]), zone_redundancy="3")
    assert site.writes == [UPDATE]
    assert site.staged == {}


@pytest.mark.requirement("FC-001")
@pytest.mark.parametrize("fault", [Fault.REFUSED, Fault.CUT_BEFORE, Fault.CUT_AFTER, Fault.UNAVAILABLE_BEFORE, Fault.UNAVAILABLE_AFTER])
@pytest.mark.parametrize("number", [3, 4])
def test_a_write_of_unknown_fate_is_looked_at_and_never_doubled(fault, number):
    site = Site(["paris"], faults={number: fault})
    outcome, dummy = site.run(site.role(0))
    assert outcome.result["version"] == 1
    assert site.state.current.version == 1
    assert site.staged == {}
    assert site.bodies(APPLY).count({"version": 1}) <= 2


@pytest.mark.requirement("FC-008")
def test_after_a_fault_the_next_run_finishes():
    site = Site(["paris"], faults={number: Fault.CUT_BEFORE for number in range(4, 30)})
    with pytest.raises(TransportError) as caught:
        site.run(site.role(0))
    assert caught.value.done == (f"stage: set the role of {site.ids[0][:16]}",)
    site.transport.faults.clear()
    outcome, dummy = site.run(site.role(0))
    assert outcome.plan.would == ("apply layout version 1",)
    assert outcome.result["version"] == 1


# draining

@pytest.mark.requirement("OP-110")
def test_nothing_is_applied_while_a_version_drains():
    site = Site(["paris", "paris"], layout=2)
    drain(site)
    with pytest.raises(PlanError, match=f"version 1 is still draining, waiting for node {site.ids[1][:16]}"):
        site.run(site.role(0, capacity="2GiB"))
    assert site.writes == []
    assert site.run(site.role(0, capacity="2GiB"), require_settled=False)[0].result["version"] == 3


@pytest.mark.requirement("FC-020", "OP-110")
def test_a_wait_that_ends_names_node_and_counter():
    site = Site(["paris", "paris"], layout=2)
    drain(site)
    with pytest.raises(WaitTimeout) as caught:
        site.run(site.role(0, capacity="2GiB"), wait=True, wait_timeout=0)
    assert f"version 1 is still draining, current is 2: node {site.ids[1][:16]} is behind with ack 1, sync 1" in caught.value.message
    assert caught.value.done == ()
    assert site.writes == []


@pytest.mark.requirement("FC-020")
def test_a_wait_after_a_change_that_ends_says_what_was_done_and_the_next_run_goes_on():
    site = Site(["paris", "paris", "paris"], layout=2)
    before_each(APPLY, lambda: setattr(site.garage.state.nodes[1], "up", False))(site)
    with pytest.raises(WaitTimeout, match=site.ids[1][:16]) as caught:
        site.run(site.role(2), wait=True, wait_timeout=0)
    assert caught.value.done[-1] == "apply layout version 2"
    assert site.state.current.version == 2
    assert caught.value.result["record"]["version"] == 2
    site.garage.state.nodes[1].up = True
    site.garage.state.settle()
    site.transport.sent.clear()
    outcome, dummy = site.run(site.role(2), wait=True, wait_timeout=0)
    assert not outcome.plan.changed
    assert site.writes == []


@pytest.mark.requirement("FC-020", "OP-110")
def test_waiting_ends_when_the_nodes_have_caught_up(monkeypatch):
    site = Site(["paris", "paris"], layout=2)
    drain(site)

    def come_back(seconds: float) -> None:
        site.garage.state.nodes[1].up = True
        site.garage.state.settle()

    monkeypatch.setattr(_waiter.time, "sleep", come_back)
    outcome, dummy = site.run(site.role(0, capacity="2GiB"), wait=True, wait_timeout=60)
    assert outcome.result["version"] == 3


@pytest.mark.requirement("OP-110")
def test_check_mode_foretells_what_a_run_that_waits_would_do():
    site = Site(["paris", "paris"], layout=2)
    drain(site)
    outcome, dummy = site.run(site.role(0, capacity="2GiB"), wait=True, wait_timeout=0, check=True)
    assert outcome.plan.changed
    assert site.writes == []
    with pytest.raises(PlanError, match="still draining"):
        site.run(site.role(0, capacity="2GiB"), check=True)
