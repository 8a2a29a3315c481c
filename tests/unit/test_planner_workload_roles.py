# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles of a workload's nodes."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from tests.unit.manifest_sites import workload

from ansible_collections.s3ops.garage.plugins.filter.workload_roles import FilterModule
from ansible_collections.s3ops.garage.plugins.module_utils._manifests.names import units
from ansible_collections.s3ops.garage.plugins.module_utils._models.layout import LayoutSpec
from ansible_collections.s3ops.garage.plugins.module_utils._planners.workload_roles import capacity, layout_roles

GI = 2**30


def identity(pod, digit):
    return {"pod": pod, "uid": "u", "id": digit * 64 if digit else None, "ready": True}


@pytest.mark.requirement("OP-102")
@pytest.mark.parametrize(("storage", "size"), [
    ({}, 10 * GI),
    ({"data": {"size": 4096}}, 4096),
    ({"data": {"size": "1M"}, "capacity_reserve_percent": 25}, 750_000),
    ({"data": {"size": "3"}, "capacity_reserve_percent": 50}, 1024),
    ({"data": {"paths": [{"size": "1Gi"}, {"size": "2Gi"}, {"size": "4Gi", "read_only": True}]}}, 3 * GI),
    ({"data": {"empty_dir": {}}}, 10 * GI),
    ({"data": {"existing_claims": {"0": "mine"}}}, 10 * GI),
    ({"capacity": "90GB", "capacity_reserve_percent": 25}, 90 * 10**9),
    ({"capacity": 1}, 1024),
])
def test_capacity_follows_the_volumes(storage, size):
    assert {capacity(unit) for unit in units(workload(storage=storage))} == {size}


@pytest.mark.requirement("OP-102", "OP-103", "OP-116")
def test_each_pod_gets_a_role_that_the_layout_takes():
    site = workload("storage_with_gateways", storage={"replicas": 2, "tags": ["ssd"], "rpc_public_addr": "s{ordinal}.example.org:3901"},
                    gateway={"replicas": 1})
    found = [identity("paris-storage-1-0", "b"), identity("paris-gateway-0-0", "c"), identity("paris-storage-0-0", "a")]
    roles = layout_roles(site, found)
    assert roles == [
        {"node": "a" * 64, "zone": "paris", "capacity": 10 * GI, "tags": ["ssd", "rpc-address:s0.example.org:3901", "paris-storage-0-0"]},
        {"node": "b" * 64, "zone": "paris", "capacity": 10 * GI, "tags": ["ssd", "rpc-address:s1.example.org:3901", "paris-storage-1-0"]},
        {"node": "c" * 64, "zone": "paris", "gateway": True, "tags": ["paris-gateway-0-0"]},
    ]
    assert len(LayoutSpec.from_params({"roles": roles, "owner": {"zones": ["paris"]}}).roles) == 3


def test_edge_gateways_count_by_their_pods():
    site = workload("edge_gateways", gateway={"rpc_public_addr": "edge-{ordinal}.example.org:3901"})
    roles = layout_roles(site, [identity("paris-gateway-0", "a"), identity("paris-gateway-1", "b")])
    assert [role["tags"] for role in roles] == [["rpc-address:edge-0.example.org:3901", "paris-gateway-0"],
                                                ["rpc-address:edge-1.example.org:3901", "paris-gateway-1"]]


def test_a_pod_without_an_id_gets_no_role_and_one_too_many_is_absent():
    found = [identity("paris-storage-0-0", None), identity("paris-storage-1-0", "b"), identity("paris-storage-3-0", "d"), identity("else-0", "e")]
    assert layout_roles(workload(), found)[1:] == [{"node": "d" * 64, "state": "absent"}]
    assert layout_roles(workload(), found)[0]["node"] == "b" * 64


@pytest.mark.requirement("VG-02")
def test_two_pods_with_one_identity_are_refused():
    with pytest.raises(AnsibleFilterError) as error:
        FilterModule().filters()["workload_roles"](workload(), [identity("paris-storage-0-0", "a"), identity("paris-storage-2-0", "a")])
    assert "pods paris-storage-0-0, paris-storage-2-0 have one node id, aaaaaaaaaaaaaaaa" in str(error.value)
