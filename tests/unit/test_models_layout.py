# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layout as the server gives it and as a user writes it: what is read, what is refused before anything is sent."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._argspec import layout_spec
from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError
from ansible_collections.s3ops.garage.plugins.module_utils._models.layout import (
    History,
    Layout,
    LayoutSpec,
    Role,
    redundancy_from_api,
    redundancy_to_api,
)

A, B, C = "a" * 64, "b" * 64, "c" * 64
STORAGE = {"node": A, "zone": "paris", "capacity": "1GB"}


def params(**options: Any) -> dict:
    """Options as AnsibleModule hands them over: every one that is left out has its default, also inside of roles."""
    roles = options.pop("roles", None)
    filled = {name: option.get("default") for name, option in layout_spec().items()} | options
    suboptions = layout_spec()["roles"]["options"]
    return filled | {"roles": None if roles is None else [{name: option.get("default") for name, option in suboptions.items()} | role
                                                          for role in roles]}


def spec(**options: Any) -> LayoutSpec:
    return LayoutSpec.from_params(params(**options))


def faults(**options: Any) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        spec(**options)
    return caught.value.faults


def role(**options: Any) -> Any:
    return spec(roles=[STORAGE | options]).roles[0]


def api_layout(roles: list[dict] | None = None, staged: list[dict] | None = None, redundancy: Any = "maximum", wanted: Any = None) -> dict:
    """A GetClusterLayout answer."""
    return {"version": 1, "roles": roles or [], "parameters": {"zoneRedundancy": redundancy}, "partitionSize": 100, "stagedRoleChanges": staged or [],
            "stagedParameters": wanted and {"zoneRedundancy": wanted}}


def api_history(current: int, trackers: dict | None, **statuses: str) -> History:
    """A GetClusterLayoutHistory answer; ``v1="Draining"`` is one of its versions, a tracker is a triple of ack, sync and syncAck."""
    rows = [{"version": int(name[1:]), "status": status, "storageNodes": 1, "gatewayNodes": 0} for name, status in statuses.items()]
    named = trackers and {id: dict(zip(("ack", "sync", "syncAck"), counters, strict=True)) for id, counters in trackers.items()}
    return History.from_api({"currentVersion": current, "minAck": 1, "versions": rows, "updateTrackers": named})


@pytest.mark.requirement("OP-110")
@pytest.mark.parametrize(("history", "settled", "lagging"), [
    pytest.param(api_history(1, None, v1="Current"), True, {}, id="one version, no trackers"),
    pytest.param(api_history(2, {A: (2, 2, 1)}, v2="Current", v1="Draining"), True, {}, id="bookkeeping only: a single node never lets go"),
    pytest.param(api_history(3, {A: (3, 3, 2), B: (3, 1, 1)}, v3="Current", v2="Draining"), False, {B: {"sync": 1}}, id="one node lags"),
    pytest.param(api_history(4, {A: (4, 4, 1), B: (1, 1, 1)}, v4="Current", v1="Draining"), False, {B: {"ack": 1, "sync": 1}}, id="a dead peer"),
    pytest.param(api_history(2, None, v2="Current", v1="Draining"), False, {}, id="draining, trackers missing"),
    pytest.param(api_history(2, None, v2="Current", v1="Historical"), True, {}, id="an old version is only history"),
])
def test_history_is_settled_when_no_older_version_is_needed(history, settled, lagging):
    assert (history.settled, history.lagging) == (settled, lagging)
    assert history.to_result()["settled"] is settled
    assert history.to_result()["lagging"] == lagging


@pytest.mark.requirement("FC-028")
def test_history_as_a_user_sees_it():
    result = api_history(2, {A: (2, 1, 1)}, v2="Current", v1="Draining").to_result()
    assert result["current_version"] == 2
    assert result["versions"] == [{"version": 2, "status": "current", "storage_nodes": 1, "gateway_nodes": 0},
                                  {"version": 1, "status": "draining", "storage_nodes": 1, "gateway_nodes": 0}]


@pytest.mark.requirement("FC-131", "OP-105")
def test_staged_removals_of_nodes_without_a_role_are_nothing():
    layout = Layout.from_api(api_layout([{"id": A, "zone": "paris", "tags": [], "capacity": 1024}],
                                        [{"id": A, "remove": True}, {"id": B, "remove": True}]))
    assert layout.staged == {A: None}
    assert not Layout.from_api(api_layout([], [{"id": B, "remove": True}])).has_staged


def test_a_staged_redundancy_that_is_in_force_is_nothing():
    assert not Layout.from_api(api_layout(redundancy={"atLeast": 2}, wanted={"atLeast": 2})).has_staged
    assert Layout.from_api(api_layout(redundancy={"atLeast": 2}, wanted="maximum")).staged_redundancy == "maximum"


@pytest.mark.requirement("LW-35")
@pytest.mark.parametrize(("given", "value", "wire"), [("maximum", "maximum", "maximum"), ("2", 2, {"atLeast": 2}), (1, 1, {"atLeast": 1})])
def test_zone_redundancy_in_both_directions(given, value, wire):
    assert spec(zone_redundancy=given).redundancy == value
    assert redundancy_to_api(value) == wire
    assert redundancy_from_api(wire) == value


@pytest.mark.requirement("FC-014", "GS-17")
@pytest.mark.parametrize("given", ["Maximum", "MAXIMUM", "0", "-1", "", "2.5", "['2']", "True", "atLeast 2"])
def test_zone_redundancy_that_is_refused(given):
    assert faults(zone_redundancy=given) == (f"zone_redundancy: {given!r} must be 'maximum' or a number of zones, 1 or more",)


@pytest.mark.requirement("FC-014", "GS-17")
def test_more_zones_than_copies_are_refused():
    (fault,) = faults(zone_redundancy="4", replication_factor=3)
    assert "4 zones is more than the replication factor 3" in fault
    assert spec(zone_redundancy="3", replication_factor=3).redundancy == 3


@pytest.mark.requirement("GS-17")
@pytest.mark.parametrize(("given", "size"), [("1Gi", 2**30), ("1.5GB", 1_500_000_000), ("1e12", 10**12), ("1000000000000.0", 10**12), ("2048", 2048),
                                             ("1024", 1024), ("1Ki", 1024), ("100 GB", 10**11)])
def test_capacity(given, size):
    assert role(capacity=given).capacity == size


@pytest.mark.requirement("GS-17")
@pytest.mark.parametrize(("given", "word"), [("1023", "1024"), ("0", "1024"), ("1e3", "1024"), ("500m", "lower-case m"), ("-5", "not a size"),
                                             ("10 XB", "unknown unit"), ("much", "not a size"), ("", "not a size")])
def test_capacity_that_is_refused(given, word):
    (fault,) = faults(roles=[STORAGE | {"capacity": given}])
    assert fault.startswith("roles[0].capacity: ")
    assert word in fault


@pytest.mark.parametrize(("options", "fault"), [
    ({"roles": [STORAGE | {"gateway": True}]}, "roles[0]: a gateway stores nothing; set either gateway: true or capacity"),
    ({"roles": [STORAGE | {"node": " "}]}, "roles[0].node: must not be empty"),
    ({"roles": [STORAGE | {"zone": ""}]}, "roles[0].zone: must not be empty"),
    ({"roles": [STORAGE | {"tags": ["a,b"]}]}, "roles[0].tags: 'a,b' must be a word without commas; give several tags as a list"),
    ({"roles": [STORAGE | {"tags": [""]}]}, "roles[0].tags: '' must be a word without commas; give several tags as a list"),
    ({"replication_factor": 0}, "replication_factor: 0 must be 1 or more"),
    ({"roles": [STORAGE], "owner": {"zones": ["lyon"], "tag": None}}, "roles[0].zone: 'paris' is outside of owner.zones (lyon)"),
    ({"owner": {"zones": None, "tag": "a,b"}}, "owner.tag: 'a,b' must be a word without commas"),
])
def test_what_is_refused_before_anything_is_sent(options, fault):
    assert faults(**options) == (fault,)


@pytest.mark.requirement("OP-111", "FC-016")
@pytest.mark.parametrize("owner", [None, {"zones": None, "tag": None}, {"zones": [], "tag": None}])
def test_purging_needs_a_bound(owner):
    (fault,) = faults(purge_roles=True, roles=[STORAGE], owner=owner)
    assert fault.startswith("purge_roles: needs owner.zones or owner.tag")


@pytest.mark.requirement("OP-111")
def test_purging_needs_roles_that_are_meant():
    (fault,) = faults(purge_roles=True, owner={"zones": ["paris"], "tag": None})
    assert fault == "purge_roles: needs roles; an empty list removes every role inside of owner"
    assert spec(purge_roles=True, owner={"zones": ["paris"], "tag": None}, roles=[]).purge


def test_all_faults_come_at_once():
    found = faults(roles=[STORAGE | {"capacity": "1"}, {"node": "", "tags": ["x,y"]}], zone_redundancy="none", replication_factor=0, purge_roles=True)
    assert [fault.partition(":")[0] for fault in found] == ["roles[0].capacity", "roles[1].node", "roles[1].tags", "zone_redundancy",
                                                            "replication_factor", "purge_roles"]


def test_what_is_left_out_is_left_alone():
    unset = spec(roles=[{"node": A}])
    assert (unset.roles[0].zone, unset.roles[0].capacity, unset.roles[0].gateway, unset.roles[0].tags) == (None, None, None, None)
    assert (unset.redundancy, unset.replication_factor, unset.purge, unset.apply, unset.foreign_staged) == (None, None, False, True, "fail")
    assert role(tags=[]).tags == ()
    assert role(tags=["x", "y", "x"]).tags == ("x", "y")


@pytest.mark.requirement("FC-011", "FC-010", "OP-103")
def test_a_role_on_the_wire_always_has_tags_and_capacity():
    assert Role(A, "paris", None).to_api() == {"id": A, "zone": "paris", "capacity": None, "tags": []}
    assert Role(A, "paris", 1024, ("x",)).to_api() == {"id": A, "zone": "paris", "capacity": 1024, "tags": ["x"]}


def test_the_order_of_tags_means_nothing():
    assert Role(A, "paris", 1024, ("x", "y")).same_as(Role(A, "paris", 1024, ("y", "x")))
    assert not Role(A, "paris", 1024, ("x",)).same_as(Role(A, "paris", 1024, ("x", "y")))
    assert not Role(A, "paris", 1024).same_as(None)


@pytest.mark.requirement("FC-028", "FC-007")
def test_a_layout_as_a_user_sees_it():
    layout = Layout.from_api(api_layout(
        [{"id": B, "zone": "lyon", "tags": ["x"], "capacity": 1024, "storedPartitions": 256, "usableCapacity": 1000},
         {"id": A, "zone": "paris", "tags": []}],
        [{"id": C, "zone": "lyon", "tags": [], "capacity": 2048}, {"id": B, "remove": True}], {"atLeast": 2}, "maximum"))
    gateway = {"id": A, "zone": "paris", "capacity": None, "gateway": True, "tags": [], "stored_partitions": None, "usable_capacity": None}
    storage = {"id": B, "zone": "lyon", "capacity": 1024, "gateway": False, "tags": ["x"], "stored_partitions": 256, "usable_capacity": 1000}
    addition = {"id": C, "zone": "lyon", "capacity": 2048, "gateway": False, "tags": [], "stored_partitions": None, "usable_capacity": None,
                "remove": False}
    removal = {"id": B, "zone": None, "capacity": None, "gateway": None, "tags": [], "stored_partitions": None, "usable_capacity": None,
               "remove": True}
    assert layout.to_result() == {"version": 1, "roles": [gateway, storage], "zone_redundancy": 2, "partition_size": 100,
                                  "staged": {"roles": [removal, addition], "zone_redundancy": "maximum"}}
    assert layout.to_diff()["roles"] == {A: {"zone": "paris", "capacity": "gateway", "tags": []},
                                         B: {"zone": "lyon", "capacity": 1024, "tags": ["x"]}}
    assert layout.to_diff()["staged"] == {B: "remove", C: {"zone": "lyon", "capacity": 2048, "tags": []}}
