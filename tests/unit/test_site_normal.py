# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the roles get of a site with nodes of its own: defaults, the way to its Admin API, what is restored, warnings."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._argspec import connection_spec
from ansible_collections.s3ops.garage.plugins.module_utils._site.document import normal_site
from ansible_collections.s3ops.garage.plugins.module_utils._site.schema import site_schema
from tests.unit.site_files import EDGE, FULL, HANDLE, REMOTE, SECRET, SOURCE, STORAGE, changed, inventory

mark = pytest.mark
BOTH = {**STORAGE, "gateway": {"metadata": {"size": "1Gi"}}}
SELECTOR = "app.kubernetes.io/name=garage,app.kubernetes.io/instance=paris"


def workload(site: dict, *others: dict) -> dict:
    return normal_site(site, inventory(site, *others))["workload"]


@mark.requirement("MH-20")
def test_a_handle_has_no_workload() -> None:
    site = normal_site(HANDLE, {})
    assert site["workload"] is site["kubernetes"] is site["admin"] is None


@mark.requirement("TD-14")
def test_what_is_not_set_has_its_default() -> None:
    site = normal_site(STORAGE, {})
    assert site["kubernetes"] == {"namespace": "garage", "kubeconfig": None, "context": None, "create_namespace": True,
                                  "cluster_domain": "cluster.local"}
    assert site["admin"] == {"transport": "auto", "validate_certs": True, "timeout": 60, "retries": 3, "retry_delay": 1}
    assert site["workload"] == {
        "name": "paris", "zone": "paris", "shape": "storage",
        "image": {"repository": "docker.io/dxflrs/garage", "tag": "v2.5.0", "pull_policy": "IfNotPresent", "pull_secrets": []},
        "replication": {"factor": 3, "consistency_mode": "consistent"},
        "config": {"db_engine": "lmdb", "s3_api": {"s3_region": "garage"}},
        "credentials": {"secret": "paris-garage"},
        "storage": {"replicas": 3, "metadata": {"size": "10Gi"}, "data": {"size": "100Gi"}, "capacity_reserve_percent": 0, "tags": [], "pod": {},
                    "service": {"type": "ClusterIP"}},
        "gateway": None,
        "monitoring": {},
        "warnings": [], "restore_kind": {"storage": "none", "gateway": "none"}, "restore_meaning": [],
    }


def test_what_is_set_stays_as_it_is_written() -> None:
    found = workload(FULL)
    for name in ("image", "config", "storage", "gateway", "monitoring"):
        assert contains(found[name], FULL[name]), name
    assert json.loads(json.dumps(found)) == found


def contains(found: Any, given: Any) -> bool:
    if isinstance(given, dict):
        return all(name in found and contains(found[name], value) for name, value in given.items())
    if isinstance(given, list):
        return len(found) == len(given) and all(map(contains, found, given))
    return found == given


@mark.parametrize("site", [BOTH, changed(EDGE, "gateway", {"metadata": {"size": "1Gi"}})])
def test_gateways_are_two(site: dict) -> None:
    assert workload(site)["gateway"]["replicas"] == 2


@mark.requirement("OP-029")
@mark.parametrize(("group", "replicas", "budget", "expected"), [
    ("storage", 3, {}, {"max_unavailable": 1}),
    ("storage", 3, {"max_unavailable": 0}, {"max_unavailable": 0}),
    ("storage", 3, {"min_available": 2}, {"min_available": 2}),
    ("storage", 3, None, None),
    ("storage", 0, {}, None),
    ("gateway", 3, {}, {"min_available": 2}),
    ("gateway", 1, {}, {"max_unavailable": 1}),
    ("gateway", 0, {"max_unavailable": 1}, None),
])
def test_disruption_budget(group: str, replicas: int, budget: dict | None, expected: dict | None) -> None:
    site = changed(changed(BOTH, f"{group}.replicas", replicas), f"{group}.disruption_budget", budget)
    assert workload(site)[group].get("disruption_budget") == expected


@mark.requirement("MH-15")
@mark.parametrize(("site", "expected"), [
    (STORAGE, {"transport": "exec", "kubernetes": {"namespace": "garage", "label_selector": SELECTOR}}),
    (changed(STORAGE, "kubernetes", {"namespace": "a", "kubeconfig": "/k", "context": "c"}),
     {"transport": "exec", "kubernetes": {"namespace": "a", "kubeconfig": "/k", "context": "c", "label_selector": SELECTOR}}),
    (changed(changed(STORAGE, "admin", {"api_url": "http://a:1"}), "credentials.admin_token", SECRET),
     {"transport": "auto", "api_url": "http://a:1", "api_token": SECRET, "kubernetes": {"namespace": "garage", "label_selector": SELECTOR}}),
    (changed(changed(STORAGE, "admin", {"api_url": "http://a:1", "transport": "http", "timeout": 5}), "credentials.admin_token_file", "/t"),
     {"transport": "http", "api_url": "http://a:1", "api_token_file": "/t", "timeout": 5}),
    (EDGE, HANDLE["connect_to"]),
    (changed(HANDLE, "connect_to", {"transport": "exec", "kubernetes": {"namespace": "a", "pod": "b"}}),
     {"transport": "exec", "kubernetes": {"namespace": "a", "pod": "b"}}),
])
def test_the_way_to_the_admin_api(site: dict, expected: dict) -> None:
    assert normal_site(site, {})["connection"] == expected


@mark.requirement("MH-14", "OP-037")
def test_gateways_take_what_a_cluster_shares_from_the_site_they_serve() -> None:
    paris = changed(changed(STORAGE, "replication.consistency_mode", "degraded"), "credentials.rpc_secret_file", "/rpc")
    edge = {"name": "edge", "zone": "edge", "kubernetes": {"namespace": "edge"}, "gateway": {"metadata": {"size": "1Gi"}},
            "connect_to": {"site": "paris"}}
    site = normal_site(edge, inventory(edge, paris))
    assert site["connection"] == {"transport": "exec", "kubernetes": {"namespace": "garage", "label_selector": SELECTOR}}
    assert site["workload"]["replication"] == {"factor": 3, "consistency_mode": "degraded"}
    assert site["workload"]["credentials"] == {
        "secret": "edge-garage",
        "rpc_secret_from": {"site": "paris", "secret": "paris-garage", "rpc_secret_file": "/rpc", "kubernetes": normal_site(paris, {})["kubernetes"]},
    }


@mark.requirement("OP-037")
def test_gateways_with_the_rpc_secret_of_their_cluster() -> None:
    assert workload(EDGE)["credentials"] == {"secret": "paris-garage", "rpc_secret_file": "/etc/garage/rpc"}
    tenants = {"name": "tenants", "zone": "paris", "connect_to": {"site": "paris"}, "tenancy": {"buckets": []}}
    assert normal_site(tenants, inventory(tenants, STORAGE))["connection"]["transport"] == "exec"


def test_a_site_with_nodes_always_has_a_layout() -> None:
    assert normal_site(STORAGE, {})["layout"] == {"roles": [], "owner": {"zones": ["paris"]}, "purge_roles": False, "replication_factor": 3}


@mark.requirement("OP-010", "OP-011")
def test_a_federated_site_says_what_it_knows_of_the_consistency_of_others() -> None:
    way = {"api_url": "http://garage.example:3903", "api_token": "t"}
    joined = {**STORAGE, "remotes": [{"name": "lyon", "zone": "lyon", **way}], "replication": {"factor": 3, "consistency_mode": "degraded"}}
    found = normal_site(joined, {})["layout"]
    assert (found["assume_peers_consistent"], found["consistency_mode"]) == (False, "degraded")
    found = normal_site({**joined, "layout": {"assume_peers_consistent": True}}, {})["layout"]
    assert found["assume_peers_consistent"] is True
    # Also where the other one alone names this one.
    lyon = {**STORAGE, "name": "lyon", "zone": "lyon", "layout": {"site_role": "follower"}}
    follower = {**lyon, "remotes": [{"name": "paris", "zone": "paris", **way}]}
    assert normal_site(STORAGE, inventory(STORAGE, follower))["layout"]["assume_peers_consistent"] is False


@mark.requirement("VG-13", "VG-14", "VG-15", "VG-35")
@mark.parametrize(("sources", "kind", "words", "warned"), [
    ({}, ("none", "none"), "", False),
    ({"storage.data.data_source_ref": SOURCE}, ("data_only", "none"), "new identities", False),
    ({"storage.metadata.data_source_ref": SOURCE, "storage.data.data_source_ref": SOURCE}, ("identity", "none"), "storage is restored", False),
    ({"storage.metadata.data_source_ref": SOURCE}, ("metadata_only", "none"), "empty disks", True),
    ({"storage.data": {"paths": [{"size": "1Gi", "data_source_ref": SOURCE}, {"size": "1Gi"}]}}, ("data_only", "none"), "new identities", True),
    ({"storage.metadata.data_source_ref": SOURCE, "storage.data": {"paths": [{"size": "1Gi", "data_source_ref": SOURCE}]}}, ("identity", "none"),
     "storage is restored", False),
    ({"gateway.metadata.data_source_ref": SOURCE}, ("none", "identity"), "gateways come back", False),
])
def test_what_sources_bring_back(sources: dict, kind: tuple[str, str], words: str, warned: bool) -> None:
    site = BOTH
    for path, value in sources.items():
        site = changed(site, path, value)
    found = workload(site)
    assert (found["restore_kind"]["storage"], found["restore_kind"]["gateway"]) == kind
    assert words in "\n".join(found["restore_meaning"]) and bool(found["restore_meaning"]) == bool(words)
    assert bool(found["warnings"]) == warned


@mark.parametrize(("changes", "path", "words"), [
    pytest.param({"storage.metadata": {"empty_dir": {}}}, "storage.metadata.empty_dir", "new identities", marks=mark.requirement("OP-025")),
    pytest.param({"storage.data": {"empty_dir": {}}, "storage.capacity": "1G"}, "storage.data.empty_dir", "objects are lost",
                 marks=mark.requirement("OP-025")),
    pytest.param({"gateway.metadata": {"empty_dir": {}}}, "gateway.metadata.empty_dir", "layout", marks=mark.requirement("OP-025")),
    pytest.param({"replication.consistency_mode": "dangerous"}, "replication.consistency_mode", "may be lost", marks=mark.requirement("OP-026")),
    pytest.param({"remotes": [REMOTE], "gateway.rpc_public_addr": "g-{ordinal}:1"}, "storage.rpc_public_addr", "pod addresses",
                 marks=mark.requirement("OP-027")),
    pytest.param({"remotes": [REMOTE], "storage.rpc_public_addr": "s-{ordinal}:1"}, "gateway.rpc_public_addr", "pod addresses",
                 marks=mark.requirement("OP-027")),
    pytest.param({"config.consul_discovery": {"consul_http_addr": "https://a:1", "service_name": "b", "tls_skip_verify": True, "ca_cert": "/c"}},
                 "config.consul_discovery.ca_cert", "tls_skip_verify", marks=mark.requirement("OP-033")),
    pytest.param({"config": {"db_engine": "fjall", "lmdb_map_size": "1T"}}, "config.lmdb_map_size", "no effect"),
    pytest.param({"config.fjall_block_cache_size": "1G"}, "config.fjall_block_cache_size", "no effect"),
    pytest.param({"config": {"db_engine": "fjall", "metadata_fsync": True}}, "config.metadata_fsync", "fjall"),
    pytest.param({"image.tag": "latest"}, "image.tag", "nothing is checked"),
])
def test_warning(changes: dict, path: str, words: str) -> None:
    site = BOTH
    for place, value in changes.items():
        site = changed(site, place, value)
    (warning,) = workload(site)["warnings"]
    assert warning.startswith(f"garage_site.{path}: ") and words in warning


@mark.requirement("VG-24")
def test_all_volumes_have_one_definition() -> None:
    known = site_schema()["definitions"]
    names = set(known["volume"]["properties"])
    data = known["storage"]["properties"]["data"]
    paths = data["properties"]["paths"]["items"]
    for schema, extra in ((data, {"paths"}), (paths, {"name", "read_only"})):
        assert set(schema["properties"]) == names | extra
        assert all(schema["properties"][name] == {"$ref": f"#/definitions/volume/properties/{name}"} for name in names)
        assert schema["hintsFrom"] == "volume"
    for group in ("storage", "gateway"):
        assert known[group]["properties"]["metadata"] == {"$ref": "#/definitions/volume"}


@mark.requirement("MH-05")
def test_pods_of_somebody_else_are_named_by_the_options_of_the_modules() -> None:
    told = site_schema()["definitions"]["connect_to"]["properties"]["kubernetes"]
    options = connection_spec()["kubernetes"]["options"]
    assert set(told["properties"]) == set(options)
    assert told["required"] == [name for name, option in options.items() if option.get("required")]
    assert {name: rule.get("default") for name, rule in told["properties"].items()} == {name: option.get("default") for name,
                                                                                        option in options.items()}


def test_every_hint_is_for_something_that_is_refused() -> None:
    def walk(schema: Any) -> None:
        if isinstance(schema, dict):
            assert not set(schema.get("hints", {})) & set(schema.get("properties", {})), schema.get("description")
            assert "hints" not in schema or schema.get("additionalProperties") is False
            for part in schema.values():
                walk(part)
        elif isinstance(schema, list):
            for part in schema:
                walk(part)

    walk(site_schema()["definitions"])
