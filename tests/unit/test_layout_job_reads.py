# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a layout run sends that must change nothing: previews, followers, facts; and that check mode foretells the run."""

from __future__ import annotations

import json

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._endpoints import LAYOUT_WRITES
from ansible_collections.s3ops.garage.plugins.module_utils._errors import GarageError, GateClosed, PlanError, VerifyMismatch
from ansible_collections.s3ops.garage.plugins.module_utils._planners._gate import awaiting_note
from ansible_collections.s3ops.garage.plugins.module_utils._readers.layout import read_layout_info
from hypothesis import given, strategies as some
from tests.fakes.garage import GIB, FakeTransport, Fault
from tests.fakes.garage.partitions import Role
from tests.unit.layout_runs import APPLY, PREVIEW, READS, REVERT, UPDATE, Site, before_each


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
