# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""garage.toml of a node."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.manifest_sites import one, workload

from ansible_collections.s3ops.garage.plugins.module_utils._manifests.config import to_toml
from ansible_collections.s3ops.garage.plugins.module_utils._manifests.objects import objects

KEYS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
NUMBERS = st.one_of(st.integers(-2**63, 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False))
SCALARS = st.one_of(st.booleans(), NUMBERS, st.text(st.characters(exclude_categories=["Cs"])))
VALUES = st.recursive(SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)), max_leaves=6)


def toml(site, node="paris-storage-0", file="garage.toml", **options):
    return tomllib.loads(one(objects(site, "garage", "hash", **options), "ConfigMap", node)["data"][file])


def checksum(site, node="paris-storage-0", secret_hash="hash", peers=()):
    stateful_set = one(objects(site, "garage", secret_hash, peers), "StatefulSet", node)
    return stateful_set["spec"]["template"]["metadata"]["annotations"]["s3ops.garage/config-checksum"]


@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_toml_is_read_back_as_it_was(document):
    assert tomllib.loads(to_toml(document)) == document


def test_a_small_configuration_in_full():
    assert one(objects(workload(), "garage", "hash"), "ConfigMap", "paris-storage-0")["data"]["garage.toml"] == """\
db_engine = "lmdb"
metadata_dir = "/var/lib/garage/meta"
data_dir = "/var/lib/garage/data"
rpc_bind_addr = "[::]:3901"
replication_factor = 3
consistency_mode = "consistent"

[s3_api]
s3_region = "garage"
api_bind_addr = "[::]:3900"

[admin]
api_bind_addr = "[::]:3903"
"""


@pytest.mark.requirement("FC-104")
def test_several_disks_have_their_capacity_in_the_configuration():
    paths = [{"size": "1Ti", "name": "ssd"}, {"size": "500G"}, {"size": "1Gi", "read_only": True}, {"empty_dir": {}}]
    assert toml(workload(storage={"data": {"paths": paths}}))["data_dir"] == [
        {"path": "/var/lib/garage/data/ssd", "capacity": str(2**40)},
        {"path": "/var/lib/garage/data/1", "capacity": "500000000000"},
        {"path": "/var/lib/garage/data/2", "read_only": True},
        {"path": "/var/lib/garage/data/3", "capacity": str(10 * 2**30)},
    ]


@pytest.mark.requirement("FC-115")
def test_what_garage_calls_it_stays_what_it_is_called():
    config = {"db_engine": "sqlite", "block_size": "10MiB", "metadata_fsync": True, "compression_level": "none", "s3_api": {"s3_region": "eu"},
              "s3_web": {"root_domain": ".web"}, "k2v_api": {}, "admin": {"trace_sink": "http://trace"},
              "consul_discovery": {"consul_http_addr": "http://consul:8500", "service_name": "garage", "meta": {"a b": "c"}}}
    read = toml(workload(config=config))
    assert {name: read[name] for name in ("db_engine", "block_size", "metadata_fsync", "compression_level", "consul_discovery")} == {
        name: config[name] for name in ("db_engine", "block_size", "metadata_fsync", "compression_level", "consul_discovery")}
    assert read["s3_api"] == {"s3_region": "eu", "api_bind_addr": "[::]:3900"}
    assert read["s3_web"] == {"root_domain": ".web", "bind_addr": "[::]:3902"}
    assert read["k2v_api"] == {"api_bind_addr": "[::]:3904"}
    assert read["admin"] == {"trace_sink": "http://trace", "api_bind_addr": "[::]:3903"}
    assert "replication_mode" not in read


def test_each_node_has_its_own_address():
    site = workload("storage_with_gateways", storage={"rpc_public_addr": "s{ordinal}.x:3901"}, gateway={"rpc_public_addr": "g{ordinal}.x:3901"})
    found = [toml(site, f"paris-{name}")["rpc_public_addr"] for name in ("storage-0", "storage-2", "gateway-1")]
    assert found == ["s0.x:3901", "s2.x:3901", "g1.x:3901"]


def test_edge_gateways_mount_a_file_of_their_own_when_they_differ():
    site = workload("edge_gateways", gateway={"rpc_public_addr": "g{ordinal}.x:3901"})
    assert [toml(site, "paris-gateway", f"paris-gateway-{index}.toml")["rpc_public_addr"] for index in (0, 1)] == ["g0.x:3901", "g1.x:3901"]
    pod = one(objects(site, "garage", "hash"), "StatefulSet", "paris-gateway")["spec"]["template"]["spec"]
    assert pod["containers"][0]["volumeMounts"][0] == {
        "name": "config", "mountPath": "/etc/garage/garage.toml", "subPathExpr": "$(POD_NAME).toml", "readOnly": True}
    assert toml(workload("edge_gateways", gateway={"rpc_public_addr": "all.x:3901"}), "paris-gateway")["rpc_public_addr"] == "all.x:3901"


def test_discovery_through_kubernetes_knows_where():
    def discovery(options):
        return toml(workload(config={"s3_api": {"s3_region": "garage"}, "kubernetes_discovery": options}))["kubernetes_discovery"]

    assert discovery({}) == {"namespace": "garage", "service_name": "paris", "skip_crd": True}
    other = {"namespace": "shared", "service_name": "all", "skip_crd": False}
    assert discovery(other) == other


def test_peers_reach_the_configuration_and_start_no_node_again():
    assert toml(workload(), peers=["b@two:3901", "a@one:3901"])["bootstrap_peers"] == ["a@one:3901", "b@two:3901"]
    assert checksum(workload(), peers=["a@one:3901"]) == checksum(workload())


@pytest.mark.requirement("TD-47")
@pytest.mark.parametrize(("changed", "starts"), [
    ({}, False),
    ({"config": {"db_engine": "lmdb", "s3_api": {"s3_region": "eu"}}}, True),
    ({"replication": {"factor": 2, "consistency_mode": "consistent"}}, True),
    ({"storage": {"replicas": 5}}, False),
    ({"storage": {"tags": ["ssd"]}}, False),
    ({"monitoring": {"rules": {}}}, False),
])
def test_what_is_in_the_configuration_starts_nodes_again(changed, starts):
    assert (checksum(workload(**changed)) != checksum(workload())) == starts
    assert checksum(workload(), secret_hash="other") != checksum(workload())


def test_more_edge_gateways_start_none_again():
    sites = [workload("edge_gateways", gateway={"replicas": replicas, "rpc_public_addr": "g{ordinal}.x:3901"}) for replicas in (2, 3)]
    assert checksum(sites[0], "paris-gateway") == checksum(sites[1], "paris-gateway")
