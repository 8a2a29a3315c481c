# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pointing out a layout that no known run of the writer has made."""

from __future__ import annotations

import json

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError
from ansible_collections.s3ops.garage.plugins.module_utils._models.layout_record import moved, read_record, record_of
from ansible_collections.s3ops.garage.plugins.module_utils._readers.layout import read_layout_info
from tests.fakes.garage import GIB, Fault
from tests.fakes.garage.partitions import Role
from tests.unit.layout_plans import A, B, C, gateway, live, storage
from tests.unit.layout_runs import APPLY, REVERT, UPDATE, Site, before_each

pytestmark = pytest.mark.requirement("LW-36")


def record(*roles, version=1, **options):
    return {**record_of(live(*roles, **options).layout), "version": version}


def kept(value):
    """As it comes back from a file."""
    return read_record(json.loads(json.dumps(value)))


@pytest.mark.parametrize("value", [None, {}])
def test_without_a_record_nothing_is_compared(value):
    assert read_record(value) is None
    assert moved(None, record(storage(A))) is None


@pytest.mark.parametrize("value", [{"version": 1}, {"version": "1", "roles": {}, "zone_redundancy": 1}, {"version": 1, "roles": [], "zone_redundancy": 1},
                                   {"version": 1, "roles": {"a": 1}, "zone_redundancy": 1}, {"a": 1}])
def test_what_is_no_record_is_refused(value):
    with pytest.raises(InputError, match="^record: "):
        read_record(value)


@pytest.mark.parametrize(("before", "after", "changes"), [
    pytest.param(record(storage(A), gateway(C)), record(storage(A), gateway(C)), None, id="the same"),
    pytest.param(record(storage(A, "paris", 1, "x", "y")), record(storage(A, "paris", 1, "y", "x")), None, id="another order of tags"),
    pytest.param(record(storage(A)), record(storage(A), version=2), [], id="a version that changed nothing"),
    pytest.param(record(storage(A)), record(storage(A, "lyon", 20_000, "t"), version=2),
                 [f"node {A[:16]}: zone paris, capacity 10000, tags none became zone lyon, capacity 20000, tags t"], id="a changed role"),
    pytest.param(record(storage(A), storage(B)), record(storage(A), gateway(C), redundancy=2, version=5),
                 [f"node {B[:16]}: zone paris, capacity 10000, tags none became no role", f"node {C[:16]}: no role became zone paris, gateway, tags none",
                  "zone redundancy: maximum became 2"], id="removed, added, redundancy"),
    pytest.param(record(storage(A), version=2), record(storage(A, "paris", 20_000), version=2),
                 [f"node {A[:16]}: zone paris, capacity 10000, tags none became zone paris, capacity 20000, tags none"], id="two layouts of one version"),
    pytest.param(record(storage(A), version=9), record(storage(A), version=2), [], id="an older version"),
])
def test_what_changed(before, after, changes):
    found = moved(kept(before), after)
    assert found == (None if changes is None else {"recorded_version": before["version"], "live_version": after["version"], "during_run": False,
                                                   "changes": changes})


def test_the_writers_own_runs_are_known():
    site = Site(["paris", "paris", "paris"], layout=1)
    left = None
    for roles in ([site.role(1)], [site.role(1)], [site.role(2)]):
        dummy, beside = site.run(*roles, record=left)
        assert beside["foreign_writer"] is None
        left = beside["record"]
    assert left["version"] == site.state.current.version == 3
    assert read_layout_info(site.client, left)["foreign_writer"] is None
    assert site.client.warnings == []


@pytest.mark.parametrize("follower", [True, False])
def test_every_site_points_out_what_nobody_known_has_made(follower):
    site = Site(["paris", "paris"], layout=1)
    left = site.run(site.role(0))[1]["record"]
    site.write({site.ids[1]: Role("paris", GIB, ())})
    dummy, beside = site.run(site.role(0), follower=follower, record=left)
    assert (beside["foreign_writer"]["recorded_version"], beside["foreign_writer"]["live_version"]) == (1, 2)
    assert [line.split(":")[0] for line in beside["foreign_writer"]["changes"]] == [f"node {site.ids[1][:16]}"]
    assert any("somebody else has written it" in warning for warning in site.client.warnings)
    # The writer has seen it now, and goes on from there; a follower keeps what the writer has left.
    assert beside["record"]["version"] == (1 if follower else 2)
    assert read_layout_info(site.client, left)["foreign_writer"] == beside["foreign_writer"]


def test_check_mode_records_nothing():
    site = Site(["paris", "paris"], layout=1)
    left = site.run(site.role(0))[1]["record"]
    dummy, beside = site.run(site.role(1), check=True, record=left)
    assert (beside["record"], beside["foreign_writer"]) == (left, None)
    assert site.run(site.role(1), check=True)[1]["record"] is None


@pytest.mark.requirement("LW-45")
@pytest.mark.parametrize("recorded", [True, False])
def test_another_writer_during_a_run_is_pointed_out_without_a_record_too(recorded):
    site = Site(["paris", "paris", "paris"], layout=1)
    left = site.run(site.role(0))[1]["record"] if recorded else None

    def other():
        site.state.revert()
        site.write({site.ids[2]: Role("paris", GIB, ())})

    before_each(APPLY, other)(site)
    dummy, beside = site.run(site.role(1), record=left)
    assert site.writes == [UPDATE, APPLY, UPDATE, APPLY]
    assert (beside["foreign_writer"]["during_run"], beside["foreign_writer"]["live_version"]) == (True, 3)
    assert any("while this run was at work" in warning for warning in site.client.warnings)
    assert beside["record"]["version"] == 3


@pytest.mark.requirement("LW-45")
def test_what_another_staged_in_the_same_moment_is_pointed_out():
    site = Site(["paris", "paris", "paris"], layout=1)
    before_each(APPLY, lambda: site.state.staged.update({site.ids[2]: Role("paris", GIB, ())}))(site)
    dummy, beside = site.run(site.role(1))
    assert site.state.current.version == 2
    assert beside["foreign_writer"] == {"recorded_version": 2, "live_version": 2, "during_run": True,
                                        "changes": [f"node {site.ids[2][:16]}: no role became zone paris, capacity {GIB}, tags none"]}
    assert beside["record"]["roles"].keys() == set(site.ids)


@pytest.mark.requirement("LW-45", "FC-017")
def test_two_layouts_of_one_version_become_one_with_the_roles_of_both():
    """Made at two nodes in the same moment; the other's is in the record that both keep."""
    site = Site(["paris", "paris", "paris"], layout=1)
    mine = site.run(site.role(1))[1]["record"]
    theirs = {**mine, "roles": {site.ids[0]: mine["roles"][site.ids[0]], site.ids[2]: {"zone": "paris", "capacity": GIB, "tags": ["theirs"]}}}
    dummy, waits = site.run(site.role(1), follower=True, record=theirs)
    assert (waits["foreign_writer"]["recorded_version"], waits["foreign_writer"]["live_version"], waits["pending"]) == (2, 2, False)
    outcome, beside = site.run(site.role(1), record=theirs)
    assert outcome.result["version"] == 3
    assert {role["id"]: role["tags"] for role in outcome.result["roles"]} == {site.ids[0]: [], site.ids[1]: [], site.ids[2]: ["theirs"]}
    assert len(beside["foreign_writer"]["changes"]) == 2
    assert any("two writers have made layout version 2 at the same moment" in warning for warning in site.client.warnings)
    again, beside = site.run(site.role(1), record=beside["record"])
    assert (again.plan.changed, beside["foreign_writer"]) == (False, None)


@pytest.mark.parametrize("fault", [Fault.CUT_AFTER, Fault.UNAVAILABLE_AFTER])
def test_our_own_apply_of_unknown_fate_is_nobody_elses(fault):
    site = Site(["paris", "paris"], layout=1, faults={4: fault})
    dummy, beside = site.run(site.role(1))
    assert site.state.current.version == 2
    assert beside["foreign_writer"] is None
    assert REVERT not in site.writes
