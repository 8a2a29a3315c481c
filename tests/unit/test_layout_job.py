# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole layout run against a Garage in memory: what is sent, in which order, and what is left behind when something goes wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils import _waiter
from ansible_collections.s3ops.garage.plugins.module_utils._argspec import layout_spec, wait_spec
from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._endpoints import LAYOUT_WRITES
from ansible_collections.s3ops.garage.plugins.module_utils._errors import (
    Constraint,
    GarageError,
    GateClosed,
    PlanError,
    StaleVersion,
    TransportError,
    VerifyMismatch,
    WaitTimeout,
)
from ansible_collections.s3ops.garage.plugins.module_utils._layout_job import awaiting_note, run_layout
from ansible_collections.s3ops.garage.plugins.module_utils._readers.layout import read_layout_info
from hypothesis import given
from hypothesis import strategies as some
from tests.fakes.garage import GIB, FakeGarage, FakeTransport, Fault
from tests.fakes.garage.partitions import Role

UPDATE, PREVIEW, APPLY, REVERT = "UpdateClusterLayout", "PreviewClusterLayoutChanges", "ApplyClusterLayout", "RevertClusterLayout"
READS = ["GetClusterLayout", "GetClusterStatus", "GetClusterLayoutHistory"]
CAPACITY = "1GiB"


class Site:
    """A Garage in memory with nodes in zones, and a client on its first node."""

    def __init__(self, zones: list[str], factor: int = 1, layout: int = 0, **options: Any) -> None:
        self.garage = FakeGarage(layout=False, replication_factor=factor, **options.pop("garage", {}))
        for dummy in zones[1:]:
            self.garage.add_node()
        self.ids = [node.id for node in self.garage.state.nodes]
        self.zones = dict(zip(self.ids, zones, strict=True))
        if layout:
            self.write({id: Role(self.zones[id], GIB, ()) for id in self.ids[:layout]})
        self.transport = FakeTransport(self.garage, **options)
        self.client = Client(self.transport, retry_delay=0)

    @property
    def state(self) -> Any:
        return self.garage.state.layout

    @property
    def staged(self) -> dict:
        """What a user would see staged."""
        return {id: role for id, role in self.state.staged.items() if role != self.state.current.roles.get(id)}

    @property
    def sent(self) -> list[str]:
        return [sent.endpoint for sent in self.transport.sent]

    @property
    def writes(self) -> list[str]:
        return [sent.endpoint for sent in self.transport.writes]

    def bodies(self, endpoint: str) -> list:
        return [sent.body for sent in self.transport.sent if sent.endpoint == endpoint]

    def write(self, roles: dict[str, Role | None]) -> None:
        """Another writer: stages and applies at this node."""
        self.state.staged.update(roles)
        self.state.apply()
        self.garage.state.settle()

    def role(self, number: int, **options: Any) -> dict:
        return {"node": self.ids[number], "zone": self.zones[self.ids[number]], "capacity": CAPACITY, **options}

    def run(self, *roles: dict, check: bool = False, follower: bool = False, **options: Any) -> tuple[Any, dict]:
        self.client.site_role = "follower" if follower else None
        suboptions = layout_spec()["roles"]["options"]
        params = {name: option.get("default") for name, option in {**layout_spec(), **wait_spec()}.items()} | {"wait_sleep": 0} | options
        params["roles"] = [{name: option.get("default") for name, option in suboptions.items()} | role for role in roles]
        return run_layout(self.client, params, check)


def before_each(endpoint: str, act: Callable[[], None], times: int = 1) -> Callable[[Site], None]:
    """Have ``act`` done right before the first requests to ``endpoint``, as somebody else would."""

    def attach(site: Site) -> None:
        left = [times]
        send = site.transport.send

        def watched(method: str, path: str, query: Any, body: Any, label: str) -> Any:
            if label == endpoint and left[0]:
                left[0] -= 1
                act()
            return send(method, path, query, body, label)

        site.transport.send = watched

    return attach


# what is sent

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

def drain(site: Site) -> None:
    """Make the second node lag behind."""
    site.garage.state.nodes[1].up = False
    site.write({site.ids[0]: Role("paris", GIB, ("moved",))})


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


# preview

@pytest.mark.requirement("FC-004")
def test_a_preview_leaves_the_staging_area_empty():
    site = Site(["paris", "paris"], layout=1)
    outcome, beside = site.run(site.role(1), check=True, preview=True)
    assert site.sent == [*READS, *READS, UPDATE, PREVIEW, REVERT]
    assert site.staged == {}
    assert site.state.current.version == 1
    assert outcome.plan.changed
    assert beside["preview"]["moved_partitions"] is not None
    assert beside["preview"]["usable_capacity"] > 0
    real, applied = site.run(site.role(1), preview=True)
    assert applied["preview"].keys() == beside["preview"].keys()
    assert real.result.keys() == outcome.result.keys()


@pytest.mark.requirement("FC-004")
def test_check_mode_without_preview_sends_no_post():
    site = Site(["paris", "paris"], layout=1)
    site.run(site.role(1), check=True)
    assert {sent.method for sent in site.transport.sent} == {"GET"}


@pytest.mark.requirement("FC-004")
@pytest.mark.parametrize(("options", "asked"), [({"foreign_staged": "include"}, False), ({"foreign_staged": "discard"}, False), ({}, True)])
def test_no_preview_where_something_is_staged_already(options, asked):
    site = Site(["paris", "paris", "paris"], layout=2)
    staged = {site.ids[2]: Role("paris", GIB, ())} if asked else {site.ids[1]: None}
    site.state.staged.update(staged)
    dummy, beside = site.run(site.role(2), check=True, preview=True, **options)
    assert site.writes == []
    assert site.staged == staged
    assert (beside["preview"] is not None) is asked
    assert asked or "no preview" in site.client.warnings[-1]


@pytest.mark.requirement("FC-014")
def test_a_preview_that_the_server_cannot_compute_fails_with_its_words():
    site = Site(["paris", "paris"], factor=2)
    with pytest.raises(PlanError, match="smaller than the replication factor"):
        site.run(site.role(0), check=True, preview=True)
    assert site.staged == {}


@pytest.mark.requirement("FC-004")
@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize("endpoint", [UPDATE, PREVIEW])
def test_a_preview_that_fails_puts_the_staging_area_back(fault, endpoint):
    site = Site(["paris", "paris"], layout=1, faults={[*READS, *READS, UPDATE, PREVIEW].index(endpoint): fault})
    site.client.retries = 0
    with pytest.raises(GarageError):
        site.run(site.role(1), check=True, preview=True)
    assert site.sent[-2:] == [endpoint, REVERT]
    assert site.staged == {}


@pytest.mark.requirement("FC-004", "OP-107")
def test_a_preview_does_not_drop_what_somebody_stages_in_the_same_moment():
    site = Site(["paris", "paris", "paris"], layout=1)
    before_each(UPDATE, lambda: site.state.staged.update({site.ids[2]: Role("lyon", GIB, ())}))(site)
    with pytest.raises(VerifyMismatch) as caught:
        site.run(site.role(1), check=True, preview=True)
    assert REVERT not in site.sent
    assert caught.value.done == (f"stage: set the role of {site.ids[1][:16]}",)


@pytest.mark.requirement("FC-022")
def test_nodes_that_would_hold_nothing_are_named():
    site = Site(["paris", "lyon", "rome", "paris"], factor=3, layout=3)
    dummy, beside = site.run(site.role(3), check=True, preview=True)
    assert beside["preview"]["nodes_without_partitions"] == [site.ids[3]]
    assert beside["preview"]["moved_partitions"] == 0


# followers

@pytest.mark.requirement("LW-13", "LW-16", "LW-19", "LW-22", "LW-29", "LW-11")
@pytest.mark.parametrize("layout", [0, 2])
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("options", [{}, {"apply": False}, {"foreign_staged": "discard"}, {"foreign_staged": "include"}, {"preview": True},
                                     {"wait": True}])
def test_a_follower_sends_only_reads(layout, check, options):
    site = Site(["paris", "paris", "paris"], layout=layout)
    site.state.staged[site.ids[2]] = Role("lyon", GIB, ())
    outcome, beside = site.run(site.role(1, tags=["x"]), check=check, follower=True, **options)
    assert {sent.method for sent in site.transport.sent} == {"GET"}
    assert not outcome.plan.changed
    assert (beside["site_role"], beside["layout_writer"], beside["reason"], beside["pending"]) == ("follower", False, "FollowerSite", True)
    assert beside["awaiting"]["nodes"] == [site.ids[1]]
    assert beside["awaiting"]["operations"] == [UPDATE, *([APPLY] if options.get("apply", True) else [])]
    assert json.loads(json.dumps(beside)) == beside
    assert site.ids[1][:16] in awaiting_note(outcome.plan)
    assert site.staged.keys() == {site.ids[2]}


@pytest.mark.requirement("LW-13")
@pytest.mark.parametrize("endpoint", sorted(LAYOUT_WRITES))
def test_no_layout_write_leaves_the_client_of_a_follower(endpoint):
    site = Site(["paris"], layout=1)
    client = Client(site.transport, site_role="follower", retry_delay=0)
    with pytest.raises(GateClosed):
        client.call(endpoint, None, {"version": 2})
    assert site.transport.sent == []
    assert len(LAYOUT_WRITES) == 4


@pytest.mark.requirement("LW-11", "LW-19")
def test_a_follower_may_be_told_to_fail():
    site = Site(["paris", "paris"], layout=1)
    with pytest.raises(GateClosed, match="waits for the layout writer") as caught:
        site.run(site.role(1), follower=True, fail_when_awaiting=True)
    assert json.dumps([{"node": site.ids[1], "zone": "paris", "capacity": GIB, "tags": []}]) in caught.value.hint
    assert site.writes == []
    outcome, beside = site.run(site.role(0), follower=True, fail_when_awaiting=True)
    assert (beside["pending"], beside["awaiting"]["reason"]) == (False, "nothing_pending")
    assert awaiting_note(outcome.plan) is None


@pytest.mark.requirement("LW-25")
def test_a_follower_goes_on_when_the_writer_has_removed_the_role():
    site = Site(["paris", "lyon"], layout=2)
    gone = site.role(1, state="absent", zone=None, capacity=None)
    dummy, beside = site.run(gone, follower=True)
    assert (beside["pending"], beside["awaiting"]["reason"]) == (True, "pending_role_removal")
    site.write({site.ids[1]: None})
    dummy, beside = site.run(gone, follower=True)
    assert (beside["pending"], beside["awaiting"]["reason"]) == (False, "nothing_pending")


# layout_info

@pytest.mark.requirement("FC-028", "LW-20", "LW-10")
def test_facts_for_a_follower_name_the_nodes_without_a_role():
    site = Site(["paris", "lyon"], layout=1)
    site.client.site_role = "follower"
    facts = read_layout_info(site.client)
    assert facts["nodes_without_role"] == [site.ids[1]]
    assert facts["awaiting"] == {"reason": "nodes_without_role", "nodes": [site.ids[1]], "operations": [UPDATE, APPLY],
                                 "lines": [{"node": site.ids[1]}]}
    site.client.site_role = None
    assert read_layout_info(site.client)["awaiting"] is None
    assert {sent.method for sent in site.transport.sent} == {"GET"}


@pytest.mark.requirement("FC-028")
def test_facts_need_no_right_to_preview():
    site = Site(["paris", "paris"], layout=1)
    site.state.staged[site.ids[1]] = Role("paris", GIB, ())
    assert read_layout_info(site.client)["preview"]["moved_partitions"] is not None
    scope = ["GetClusterLayout", "GetClusterStatus", "GetClusterLayoutHistory"]
    dummy, token = site.garage.handle("POST", "/v2/CreateAdminToken", body={"name": "reader", "scope": scope})
    reader = Client(FakeTransport(site.garage, token=token["secretToken"]), retry_delay=0)
    facts = read_layout_info(reader)
    assert facts["preview"] is None
    assert "the preview is left out" in reader.warnings[-1]
    assert [role["id"] for role in facts["staged"]["roles"]] == [site.ids[1]]


# every mixture

ROLES = some.fixed_dictionaries({
    "state": some.sampled_from(["present", "present", "absent"]), "zone": some.sampled_from(["paris", "lyon"]),
    "capacity": some.sampled_from([None, "1GiB", "2GiB"]), "tags": some.sampled_from([None, [], ["x"], ["x", "y"], ["y", "x"]]),
})
STAGED = some.one_of(some.none(), some.builds(Role, some.sampled_from(["paris", "lyon"]), some.sampled_from([None, GIB, 2 * GIB]),
                                              some.sampled_from([(), ("x",), ("y", "x")])))


@pytest.mark.requirement("OP-106", "OP-108", "OP-105", "FC-005")
@given(layout=some.integers(0, 4), declared=some.dictionaries(some.integers(0, 3), ROLES, max_size=4),
       staged=some.dictionaries(some.integers(0, 3), STAGED, max_size=3), redundancy=some.sampled_from([None, "maximum", "1"]),
       staged_redundancy=some.sampled_from(["maximum", 1]),
       options=some.fixed_dictionaries({
           "foreign_staged": some.sampled_from(["fail", "discard", "include"]), "apply": some.booleans(), "purge_roles": some.booleans(),
           "owner": some.sampled_from([{"zones": ["paris", "lyon"], "tag": None}, {"zones": None, "tag": "x"}])}))
def test_check_mode_foretells_and_a_second_run_finds_nothing_to_do(layout, declared, staged, redundancy, staged_redundancy, options):
    site = Site(["paris", "lyon", "paris", "lyon"], layout=layout)
    site.state.staged.update({site.ids[number]: role for number, role in staged.items()})
    site.state.staged_redundancy = staged_redundancy
    roles = [{"node": site.ids[number], "gateway": role["capacity"] is None and role["state"] == "present", **role}
             for number, role in declared.items()]
    options |= {"zone_redundancy": redundancy, "require_settled": False}
    before = dict(site.staged)
    try:
        foretold, dummy = site.run(*roles, check=True, **options)
        assert site.writes == []
        outcome, dummy = site.run(*roles, **options)
    except PlanError:
        assert site.writes == []
        assert site.staged == before
        return
    assert foretold.plan.would == outcome.plan.would == outcome.done
    assert _known(foretold.result) == _known(outcome.result)
    site.transport.sent.clear()
    again, dummy = site.run(*roles, **options)
    assert not again.plan.changed
    assert site.writes == []
    if options["apply"] and options["foreign_staged"] != "fail":
        assert site.staged == {}


def _known(result: dict) -> dict:
    """A layout without what only the server computes."""
    computed = {"stored_partitions", "usable_capacity"}
    return {**result, "partition_size": None, "roles": [{name: value for name, value in role.items() if name not in computed}
                                                        for role in result["roles"]]}
