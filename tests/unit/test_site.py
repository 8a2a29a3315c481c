# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The site file: its shapes, its faults, and what the roles make of it."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._argspec import connection_spec, layout_spec, tenancy_spec, wait_spec
from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError
from ansible_collections.s3ops.garage.plugins.module_utils._site import document as site_document
from ansible_collections.s3ops.garage.plugins.module_utils._site.document import normal_site, site_faults
from ansible_collections.s3ops.garage.plugins.module_utils._site.schema import _WORDS, site_schema
from ansible_collections.s3ops.garage.plugins.module_utils._site.shape import shape
from tests.unit.site_files import EDGE, HANDLE, ID_1, ID_2, ID_3, REMOTE, SECRET, STORAGE, changed, faults, inventory

mark = pytest.mark


@mark.requirement("MH-03", "MH-07", "OP-001", "OP-002", "OP-003")
@mark.parametrize(
    ("site", "expected"),
    [
        ({"connect_to": {}}, "handle"),
        ({"connect_to": {}, "storage": None, "gateway": None}, "handle"),
        ({"storage": {}}, "storage"),
        ({"storage": {}, "connect_to": None}, "storage"),
        ({"storage": {}, "gateway": {}}, "storage_with_gateways"),
        ({"gateway": {}, "connect_to": {}}, "edge_gateways"),
        ({"gateway": {}}, None),
        ({"storage": {}, "connect_to": {}}, None),
        ({"storage": {}, "gateway": {}, "connect_to": {}}, None),
        ({"storage": None, "connect_to": None}, None),
        ({}, None),
        (None, None),
    ],
)
def test_shape(site: dict | None, expected: str | None) -> None:
    assert shape(site) == expected


@mark.requirement("MH-08", "LW-07", "OP-038")
@mark.parametrize(
    "site",
    [
        HANDLE,
        {**HANDLE, "storage": None, "layout": None, "remotes": None, "tenancy": None},
        changed(HANDLE, "layout.site_role", "writer"),
        changed(HANDLE, "layout.nodes", [{"node": ID_1, "capacity": "100GB"}, {"node": "garage-2", "gateway": True}]),
        changed(HANDLE, "layout.nodes", [{"node": ID_1, "capacity": 1024}, {"node": ID_2, "state": "absent"}]),
        changed(HANDLE, "replication", {"factor": 3, "zone_redundancy": "maximum"}),
        changed(HANDLE, "replication", {"factor": 3, "zone_redundancy": 3}),
        changed(HANDLE, "remotes", [REMOTE]),
        changed(HANDLE, "remotes", [{"name": "lyon", "zone": "lyon", "peers": [f"{ID_2}@[fd00::2]:3901"]}]),
        changed(HANDLE, "connect_to.peers", [f"{ID_1}@garage-1.example.org:3901"]),
        changed(HANDLE, "layout.nodes", [{"node": ID_1, "capacity": "1TB", "tags": ["rpc-address:10.0.0.1:3901"]}]),
    ],
)
def test_accepted(site: dict) -> None:
    assert faults(site) == []


@mark.requirement("MH-12")
@mark.parametrize("site", [STORAGE, {**STORAGE, "gateway": {"replicas": 1, "metadata": {"size": "1Gi"}}}, {**STORAGE, "image": {"tag": "v2.4.1"}},
                           EDGE])
def test_shapes_with_a_workload_are_accepted(site: dict) -> None:
    assert faults(site) == []


# One faulty value a row: the site, the beginning of the fault, and a word of what to do.
FAULTS = [
    pytest.param("text", "garage_site: must be a mapping", "", marks=mark.requirement("MH-07")),
    pytest.param(None, "garage_site: must be a mapping", "", marks=mark.requirement("MH-07")),
    pytest.param({"name": "a", "zone": "a"}, "garage_site: set at least one of storage, gateway and connect_to", "",
                 marks=mark.requirement("OP-001")),
    pytest.param({"name": "a", "zone": "a", "gateway": {}}, "garage_site.gateway: gateways without storage need connect_to", "",
                 marks=mark.requirement("OP-002", "MH-09")),
    pytest.param({**STORAGE, **HANDLE}, "garage_site: storage and connect_to exclude one another", "remotes", marks=mark.requirement("OP-003")),
    pytest.param(changed(HANDLE, "connect_to", {}), "garage_site.connect_to: names no Admin API", "api_url and one of api_token and api_token_file",
                 marks=mark.requirement("MH-10", "OP-037")),
    pytest.param(changed(HANDLE, "connect_to", {"api_url": "http://a:1"}), "garage_site.connect_to: api_url without a token", "api_token_file",
                 marks=mark.requirement("MH-10")),
    pytest.param(changed(HANDLE, "connect_to", {"api_token": SECRET}), "garage_site.connect_to: api_token without api_url", "set api_url",
                 marks=mark.requirement("MH-10")),
    pytest.param(changed(HANDLE, "connect_to", {"peers": [f"{ID_1}@a:1"]}), "garage_site.connect_to: peers alone give no way to the Admin API",
                 "api_url", marks=mark.requirement("MH-11")),
    pytest.param(changed(HANDLE, "connect_to", {"rpc_secret_file": "/x"}), "garage_site.connect_to: rpc_secret_file alone give no way", "api_url",
                 marks=mark.requirement("MH-11")),
    pytest.param(changed(HANDLE, "connect_to.rpc_secret_file", "/x"), "garage_site.connect_to.rpc_secret_file: a site with connect_to alone", "leave",
                 marks=mark.requirement("MH-21")),
    pytest.param(changed(HANDLE, "connect_to.api_token", SECRET), "garage_site.connect_to: api_token and api_token_file exclude", "",
                 marks=mark.requirement("MH-10")),
    pytest.param(changed(HANDLE, "connect_to.client_key", "/k"), "garage_site.connect_to.client_key: needs client_cert", "",
                 marks=mark.requirement("OP-037")),
    pytest.param(changed(HANDLE, "connect_to.api_url", "127.0.0.1:3903"), "garage_site.connect_to.api_url: '127.0.0.1:3903'", "http://host:port",
                 marks=mark.requirement("OP-037")),
    pytest.param(changed(HANDLE, "connect_to.api_url", "http://a:1/v2/"), "garage_site.connect_to.api_url: 'http://a:1/v2/'", "version of the API",
                 marks=mark.requirement("OP-037")),
    pytest.param(changed(HANDLE, "connect_to.peers", ["x@y:1"]), "garage_site.connect_to.peers[0]: 'x@y:1'", "64 hexadecimal",
                 marks=mark.requirement("OP-037")),
    pytest.param(changed(HANDLE, "image", {"tag": "v2.5.0"}), "garage_site.image: a site with connect_to alone has no workload", "leave image out",
                 marks=mark.requirement("MH-20")),
    pytest.param(changed(HANDLE, "layout.site_role", "Leader"), "garage_site.layout.site_role: 'Leader'", "writer, follower",
                 marks=mark.requirement("LW-02")),
    pytest.param(changed(HANDLE, "layout.site_role", "follower"), "garage_site.remotes: a follower needs at least one remote", "name that site",
                 marks=mark.requirement("LW-05")),
    pytest.param(changed(HANDLE, "replication.zone_redundancy", "most"), "garage_site.replication.zone_redundancy: 'most'", "maximum",
                 marks=mark.requirement("OP-038")),
    pytest.param(changed(HANDLE, "replication.zone_redundancy", 0), "garage_site.replication.zone_redundancy: 0", "at least 1",
                 marks=mark.requirement("OP-038")),
    pytest.param(changed(HANDLE, "replication", {"factor": 2, "zone_redundancy": 3}), "garage_site.replication.zone_redundancy: 3 zones", "factor 2",
                 marks=mark.requirement("OP-038")),
    pytest.param(changed(HANDLE, "layout.nodes", [{"node": ID_1}]), "garage_site.layout.nodes[0]: set capacity", "gateway: true",
                 marks=mark.requirement("LW-30")),
    pytest.param(changed(HANDLE, "layout.nodes", [{"node": ID_1, "capacity": "10X"}]), "garage_site.layout.nodes[0].capacity: '10X'", "unit",
                 marks=mark.requirement("LW-30")),
    pytest.param(changed(HANDLE, "layout.nodes", [{"node": ID_1, "capacity": "1GB", "gateway": True}]), "garage_site.layout.nodes[0]: a gateway",
                 "either", marks=mark.requirement("LW-30")),
    pytest.param(changed(HANDLE, "layout.nodes", [{"node": ID_1, "capacity": "1GB", "zone": "lyon"}]), "garage_site.layout.nodes[0].zone: 'lyon'",
                 "external_nodes", marks=mark.requirement("FC-016")),
    pytest.param(changed(HANDLE, "layout.external_nodes", [{"node": ID_1, "capacity": "1GB"}]),
                 "garage_site.layout.external_nodes[0].zone: is missing", "", marks=mark.requirement("LW-30")),
    pytest.param(changed(HANDLE, "layout", {"owner": {"zones": ["paris"]}, "external_nodes": [{"node": ID_1, "zone": "lyon", "capacity": "1GB"}]}),
                 "garage_site.layout.external_nodes[0].zone: 'lyon' is outside of owner.zones", "", marks=mark.requirement("FC-016")),
    pytest.param(changed(HANDLE, "layout", {"nodes": [{"node": ID_1, "capacity": "1GB"}],
                                            "external_nodes": [{"node": f"{ID_1}@a:1", "zone": "lyon", "capacity": "1GB"}]}),
                 "garage_site.layout.external_nodes[0].node: '1111111111111111' is declared already", "nodes[0]", marks=mark.requirement("LW-30")),
    pytest.param(changed(HANDLE, "layout.nodes", [{"node": ID_1, "capacity": "1GB", "tags": ["tier:storage"]}]), "garage_site.layout.nodes[0].tags",
                 "choose another", marks=mark.requirement("OP-036")),
    pytest.param(changed(HANDLE, "remotes", [{"name": "", "zone": "lyon", "peers": [f"{ID_1}@a:1"]}]),
                 "garage_site.remotes[0].name: must not be empty", "", marks=mark.requirement("OP-035")),
    pytest.param(changed(HANDLE, "remotes", [REMOTE, {**REMOTE, "zone": "nice"}]), "garage_site.remotes: the name 'lyon' is used 2 times", "",
                 marks=mark.requirement("OP-035")),
    pytest.param(changed(HANDLE, "remotes", [REMOTE, {**REMOTE, "name": "nice"}]), "garage_site.remotes: the zone 'lyon' is used 2 times", "",
                 marks=mark.requirement("OP-035")),
    pytest.param(changed(HANDLE, "remotes", [{**REMOTE, "zone": "paris"}]), "garage_site.remotes[0].zone: 'paris' is this site itself", "",
                 marks=mark.requirement("OP-035")),
    pytest.param(changed(HANDLE, "remotes", [{"name": "lyon", "zone": "lyon"}]), "garage_site.remotes[0]: no way to reach that site", "peers",
                 marks=mark.requirement("OP-035")),
    pytest.param(changed(HANDLE, "remotes", [{"name": "lyon", "zone": "lyon", "api_url": "http://a:1"}]),
                 "garage_site.remotes[0]: api_url without a token", "api_token_file", marks=mark.requirement("OP-035")),
    pytest.param(changed(HANDLE, "remotes", [{**REMOTE, "api_url": "lyon"}]), "garage_site.remotes[0].api_url: 'lyon'", "http",
                 marks=mark.requirement("OP-035")),
    pytest.param(changed(HANDLE, "remotes", [{**REMOTE, "capacity": "1TB"}]), "garage_site.remotes[0].capacity: unknown option", "",
                 marks=mark.requirement("OP-035")),
]


@mark.parametrize(("site", "beginning", "remedy"), FAULTS)
def test_fault_with_its_path_and_the_fix(site: Any, beginning: str, remedy: str) -> None:
    (fault,) = faults(site)
    assert fault.startswith(beginning) and remedy in fault


@mark.requirement("OP-039")
@mark.parametrize(
    ("storage", "named"),
    [
        ({"replicas": 1}, ["metadata", "data"]),
        ({"replicas": 1, "metadata": {"size": "1Gi"}}, ["data"]),
        ({"replicas": 1, "metadata": {}, "data": {"paths": [{"size": "1Gi"}]}}, ["metadata"]),
        ({"replicas": 0}, []),
        ({"replicas": 1, "metadata": {"size": "1Gi"}, "data": {"size": "1Gi"}}, []),
    ],
)
def test_storage_with_replicas_needs_both_volumes(storage: dict, named: list[str]) -> None:
    found = [fault.partition(":")[0] for fault in faults({"name": "a", "zone": "a", "storage": storage}) if "replicas" in fault]
    assert found == [f"garage_site.storage.{name}" for name in named]


@mark.requirement("LW-06", "LW-43")
def test_edge_gateways_cannot_follow() -> None:
    found = faults(changed({**EDGE, "remotes": [REMOTE]}, "layout.site_role", "follower"))
    assert any(fault.startswith("garage_site.layout.site_role: gateways that join another cluster") for fault in found)


@mark.requirement("OP-037")
def test_edge_gateways_need_the_rpc_secret() -> None:
    found = faults({**HANDLE, "gateway": {}})
    assert any("gateways need rpc_secret_file" in fault for fault in found)


@mark.requirement("LW-05", "LW-06")
def test_a_handle_may_follow() -> None:
    assert faults(changed({**HANDLE, "remotes": [REMOTE]}, "layout.site_role", "follower")) == []


def test_all_faults_at_once_and_each_once() -> None:
    site = {
        "name": "Paris",
        "zone": "paris",
        "conect_to": {},
        "connect_to": {"api_url": "x", "api_token": SECRET, "peers": ["x"]},
        "layout": {"site_role": "leader", "nodes": [{"node": ID_1, "capacity": "10X"}, {"node": ID_2, "capacity": True, "colour": "red"}]},
        "remotes": [{"name": "lyon", "zone": "lyon"}],
    }
    found = faults(site)
    assert sorted(fault.partition(": ")[0] for fault in found) == sorted([
        "garage_site.conect_to",
        "garage_site.name",
        "garage_site.connect_to.api_url",
        "garage_site.layout.site_role",
        "garage_site.layout.nodes[1].colour",
        "garage_site.layout.nodes[1].capacity",
        "garage_site.connect_to.peers[0]",
        "garage_site.remotes[0]",
        "garage_site.layout.nodes[0].capacity",
    ])
    assert "did you mean connect_to?" in "\n".join(found)


def test_a_value_of_any_type_anywhere_is_a_fault_and_no_crash() -> None:
    full = {**changed({**HANDLE, "remotes": [REMOTE]}, "replication", {"factor": 3, "zone_redundancy": 2}),
            "layout": {"nodes": [{"node": ID_1, "capacity": "1GB", "tags": ["a"]}], "owner": {"zones": ["paris"], "tag": "a"}},
            "tenancy": {"keys": [{"name": "app"}],
                        "buckets": [{"name": "media", "quotas": {"max_size": "1GB"}, "grants": [{"key": "app", "read": True}]}]}}
    paths = ["name", "zone", "connect_to", "connect_to.peers", "replication", "replication.factor", "layout", "layout.nodes", "layout.nodes.0",
             "layout.nodes.0.node", "layout.nodes.0.tags", "layout.owner", "layout.owner.zones", "layout.owner.tag", "remotes", "remotes.0",
             "remotes.0.name", "remotes.0.peers", "tenancy", "tenancy.keys", "tenancy.keys.0", "tenancy.buckets", "tenancy.buckets.0",
             "tenancy.buckets.0.name", "tenancy.buckets.0.quotas", "tenancy.buckets.0.quotas.max_size", "tenancy.buckets.0.grants",
             "tenancy.buckets.0.grants.0"]
    for path in paths:
        for odd in (1.5, True, [1], [[]], {"x": 1}, {"x": {}}):
            assert faults(changed(full, path, odd)), f"{path} = {odd!r} was accepted"
    assert faults(full) == []


def test_no_secret_in_any_fault() -> None:
    site = {**HANDLE, "connect_to": {"api_token": SECRET, "api_url": 5}, "remotes": [{**REMOTE, "zone": 7}],
            "tenancy": {"keys": [{"name": "app", "secret_access_key": SECRET}], "buckets": [{"secret_access_key": SECRET}]}}
    found = faults(site)
    assert len(found) >= 3 and SECRET not in "\n".join(found)


@mark.requirement("LW-45")
@mark.parametrize(
    ("lyon_role", "clear"), [("writer", False), (None, False), ("follower", True)]
)
@mark.parametrize("named_by", ["paris", "lyon", "both"])
def test_one_writer_in_a_federation(lyon_role: str | None, clear: bool, named_by: str) -> None:
    paris = changed(HANDLE, "layout.site_role", "writer")
    lyon = {**changed(HANDLE, "layout.site_role", lyon_role), "name": "lyon", "zone": "lyon"}
    if named_by != "lyon":
        paris["remotes"] = [REMOTE]
    if named_by != "paris":
        lyon["remotes"] = [{**REMOTE, "name": "paris", "zone": "paris"}]
    found = [fault for fault in faults(paris, inventory(paris, lyon)) if "would all write" in fault]
    assert (found == []) == clear
    assert clear or "lyon (host host-lyon)" in found[0]


@mark.requirement("LW-45")
def test_writers_that_have_nothing_to_do_with_one_another() -> None:
    paris, lyon = (changed({**HANDLE, "name": name}, "layout.site_role", "writer") for name in ("paris", "lyon"))
    assert faults(paris, inventory(paris, lyon)) == []


@mark.requirement("LW-45")
def test_a_site_joined_by_way_of_a_third() -> None:
    paris = changed({**HANDLE, "remotes": [REMOTE]}, "layout.site_role", "writer")
    nice = changed({**HANDLE, "name": "nice", "zone": "nice", "remotes": [REMOTE]}, "layout.site_role", "writer")
    assert "nice (host host-nice)" in faults(paris, inventory(paris, nice))[0]


@mark.requirement("LW-47")
@mark.parametrize(("writer", "role"), [("paris", "writer"), ("lyon", "follower")])
def test_the_writer_named_once_for_all(writer: str, role: str) -> None:
    paris = {**HANDLE, "remotes": [REMOTE]}
    lyon = {**HANDLE, "name": "lyon", "zone": "lyon", "remotes": [{**REMOTE, "name": "paris", "zone": "paris"}]}
    hosts = inventory(paris, lyon, garage_layout_writer_site=writer)
    site = normal_site(paris, hosts, writer)
    assert (site["site_role"], site["writer_host"]) == (role, f"host-{writer}")
    assert site["connection"]["site_role"] == role


@mark.requirement("LW-47")
def test_a_typo_in_the_writers_name_is_refused() -> None:
    paris = {**HANDLE, "remotes": [REMOTE]}
    (fault,) = faults(paris, inventory(paris), "pariss")
    assert fault == "garage_layout_writer_site: 'pariss' must be the name of exactly one site; known are paris"


@mark.requirement("LW-47")
def test_a_site_role_that_contradicts_the_writers_name_is_refused() -> None:
    paris = changed({**HANDLE, "remotes": [REMOTE]}, "layout.site_role", "follower")
    (fault,) = faults(paris, inventory(paris), "paris")
    assert fault.startswith("garage_site.layout.site_role: 'follower' contradicts garage_layout_writer_site")


@mark.requirement("MH-14")
def test_the_connection_of_another_site_by_its_name() -> None:
    tenants = {"name": "tenants", "zone": "paris", "connect_to": {"site": "paris"}, "tenancy": {"buckets": [{"name": "media"}]}}
    site = normal_site(tenants, inventory(HANDLE, tenants))
    assert site["connection"] == HANDLE["connect_to"]
    assert site["tenancy"] == {"keys": [], "buckets": [{"name": "media"}], "admin_tokens": []}


@mark.requirement("MH-14")
@mark.parametrize(
    ("others", "words"),
    [
        ([], "must be the name of exactly one other site of the inventory, not of 0"),
        ([{**HANDLE, "connect_to": {"site": "tenants"}}], "leads back to itself"),
        ([{**HANDLE, "connect_to": {"peers": []}}], "has no connect_to with api_url and a token"),
    ],
)
def test_a_reference_that_leads_nowhere(others: list[dict], words: str) -> None:
    tenants = {"name": "tenants", "zone": "paris", "connect_to": {"site": "paris"}}
    (fault,) = faults(tenants, inventory(tenants, *others))
    assert fault.startswith("garage_site.connect_to.site: ") and words in fault


@mark.requirement("LW-15")
def test_a_reference_to_a_follower_does_not_write() -> None:
    lyon = {**changed(HANDLE, "layout.site_role", "follower"), "name": "lyon", "zone": "lyon",
            "remotes": [{**REMOTE, "name": "paris", "zone": "paris"}]}
    nodes = {"name": "tenants", "zone": "lyon", "connect_to": {"site": "lyon"}, "layout": {"site_role": "writer"}}
    site = normal_site(nodes, inventory(lyon, nodes))
    assert site["site_role"] == site["connection"]["site_role"] == "follower"


@mark.requirement("LW-03", "LW-50")
def test_an_unset_site_role_stays_unset() -> None:
    site = normal_site(HANDLE, {})
    assert site["site_role"] is None and "site_role" not in site["connection"]


@mark.requirement("LW-30", "FC-016")
def test_the_layout_of_a_writer_with_the_nodes_of_another_site() -> None:
    paris = {**HANDLE, "replication": {"factor": 3, "zone_redundancy": 2}, "layout": {
        "site_role": "writer", "purge": True, "wait": True,
        "nodes": [{"node": ID_1, "capacity": "1GB"}],
        "external_nodes": [{"node": ID_3, "zone": "lyon", "capacity": "1GB", "tags": ["lyon"]}]}}
    assert normal_site(paris, {})["layout"] == {
        "roles": [{"node": ID_1, "zone": "paris", "capacity": "1GB"}, {"node": ID_3, "zone": "lyon", "capacity": "1GB", "tags": ["lyon"]}],
        "owner": {"zones": ["paris", "lyon"]},
        "purge_roles": True,
        "replication_factor": 3,
        "zone_redundancy": "2",
        "wait": True,
    }


@mark.requirement("LW-24", "LW-44")
def test_a_follower_says_nothing_of_the_nodes_of_others() -> None:
    lyon = {**HANDLE, "remotes": [{"name": "other", "zone": "other", "api_url": "http://other:3903", "api_token": "x"}], "layout": {
        "site_role": "follower", "nodes": [{"node": ID_1, "capacity": "1GB"}], "external_nodes": [{"node": ID_3, "zone": "other", "capacity": "1GB"}]}}
    assert normal_site(lyon, {})["layout"]["roles"] == [{"node": ID_1, "zone": "paris", "capacity": "1GB"}]
    assert normal_site(lyon, {})["layout"]["owner"] == {"zones": ["paris"]}


@mark.requirement("FC-016")
def test_without_external_nodes_only_the_own_zone_is_touched() -> None:
    site = normal_site(changed(HANDLE, "layout", {"purge": True, "owner": {"tag": "mine"}}), {})
    assert site["layout"] == {"roles": [], "owner": {"zones": ["paris"], "tag": "mine"}, "purge_roles": True}


def test_what_is_not_declared_is_none() -> None:
    site = normal_site(HANDLE, {})
    assert site["layout"] is site["tenancy"] is None
    assert site["peers"] == site["remotes"] == []


def test_remotes_by_api_and_by_peers() -> None:
    own, other = f"{ID_1}@10.0.0.1:3901", f"{ID_2}@[fd00::2]:3901"
    site = normal_site({**changed(HANDLE, "connect_to.peers", [own]),
                        "remotes": [REMOTE, {"name": "nice", "zone": "nice", "peers": [other]}]}, {})
    assert site["peers"] == [own, other]
    assert site["remotes"] == [{name: REMOTE[name] for name in ("name", "api_url", "api_token")}]


def test_a_faulty_site_is_not_taken_apart() -> None:
    with pytest.raises(InputError, match="zone: is missing"):
        normal_site({"name": "paris", "connect_to": HANDLE["connect_to"]}, {})


def test_only_what_is_needed_of_other_sites_is_looked_at() -> None:
    class Untouchable(dict):
        def __getitem__(self, name: str) -> Any:
            assert name in ("name", "layout", "replication", "remotes"), f"{name} of another site was read"
            return super().__getitem__(name)

        def get(self, name: str, default: Any = None) -> Any:
            return self[name] if name in self else default

    lyon = Untouchable({**HANDLE, "name": "lyon", "zone": "lyon"})
    assert faults(HANDLE, {"a": {"garage_site": HANDLE}, "b": {"garage_site": lyon}, "c": {"other": 1}}) == []


@mark.requirement("MH-05")
def test_the_tenancy_of_a_site_file_has_the_options_of_the_module() -> None:
    _same_options(site_schema()["definitions"]["tenancy"], tenancy_spec(), "tenancy")


def _same_options(schema: dict, spec: dict, path: str) -> None:
    """Names, choices, defaults and nesting agree; a size is a number as well, which the module takes as text."""
    properties = schema["properties"]
    assert set(properties) == set(spec), path
    for name, option in spec.items():
        place = f"{path}.{name}"
        told = {**properties[name], **_resolved(properties[name])}
        inner = _resolved(told["items"]) if "items" in told else told
        kinds = {"array": "list", "object": "dict", "boolean": "bool", "integer": "int", "string": "str"}
        found = told.get("type", "string")
        assert option["type"].replace("path", "str") == ("str" if isinstance(found, list) else kinds[found]), place
        assert told.get("default") == option.get("default"), place
        assert inner.get("enum") == option.get("choices"), place
        assert bool(told.get("writeOnly")) == (option.get("no_log") is True), place
        if "options" in option:
            assert inner["additionalProperties"] is False, place
            assert inner.get("required", []) == [key for key, sub in option["options"].items() if sub.get("required")], place
            _same_options(inner, option["options"], place)


def _resolved(schema: dict) -> dict:
    return site_schema()["definitions"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def test_connection_and_layout_options_exist_in_the_modules() -> None:
    assert set(site_document.CONNECTION) == set(connection_spec()) - {"site_role"}
    assert set(site_document.CONNECTION) < set(site_schema()["definitions"]["connect_to"]["properties"])
    assert set(site_document.LAYOUT) < {*layout_spec(), *wait_spec()}
    assert set(site_document.LAYOUT) < set(site_schema()["definitions"]["layout"]["properties"])
    assert set(site_schema()["definitions"]["node"]["properties"]) == set(layout_spec()["roles"]["options"])


def test_the_schema_is_one_and_each_of_its_refusals_has_words() -> None:
    jsonschema.Draft7Validator.check_schema(site_schema())
    silent = {"$schema", "$id", "$comment", "$ref", "title", "description", "default", "definitions", "properties", "items", "allOf", "const",
              "writeOnly", "patternErrorMessage", "errorMessage", "hints", "hintsFrom"}
    assert _keywords(site_schema()) - silent == {*_WORDS, "required", "additionalProperties"}


def _keywords(schema: Any) -> set[str]:
    found = set(schema)
    for name, value in schema.items():
        if name in ("properties", "definitions"):
            found |= {word for part in value.values() for word in _keywords(part)}
        elif name == "items":
            found |= _keywords(value)
        elif name in ("allOf", "anyOf"):
            found |= {word for part in value for word in _keywords(part)}
    return found


def test_purging_a_tenancy_needs_an_owner_and_is_told_with_its_path():
    site = {"name": "paris", "zone": "paris", "connect_to": {"api_url": "http://127.0.0.1:3903", "api_token": "t"}, "tenancy": {"purge_keys": True}}
    assert [fault for fault in site_faults(site, {}, None) if fault.startswith("garage_site.tenancy.purge_keys: needs owner.prefix")]
    site["tenancy"]["owner"] = {"prefix": "paris-"}
    assert site_faults(site, {}, None) == []
    assert normal_site(site, {}, None)["tenancy"] == {"keys": [], "buckets": [], "admin_tokens": [], "purge_keys": True,
                                                      "owner": {"prefix": "paris-"}}
