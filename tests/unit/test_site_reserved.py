# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a site file must keep clear of is what the objects really hold, and garage.toml has every key that Garage knows."""

from __future__ import annotations

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._manifests.objects import objects
from ansible_collections.s3ops.garage.plugins.module_utils._site.document import normal_site
from ansible_collections.s3ops.garage.plugins.module_utils._site.rules_pod import CONTAINER, ENVIRONMENT, FOLDERS, MARKS, PORTS, VOLUME
from ansible_collections.s3ops.garage.plugins.module_utils._site.rules_workload import LONGEST_NAME
from ansible_collections.s3ops.garage.plugins.module_utils._site.schema import site_schema
from tests.unit.site_files import EDGE, FULL, STORAGE, changed, faults

mark = pytest.mark
BARE = changed(FULL, "storage.pod", {})
# Keys of Garage 2.5.0, by the table they stand in.
GARAGE_TOML = {
    "": {"metadata_dir", "data_dir", "replication_factor", "consistency_mode", "db_engine", "metadata_fsync", "data_fsync", "metadata_snapshots_dir",
         "metadata_auto_snapshot_interval", "disable_scrub", "use_local_tz", "block_size", "block_ram_buffer_max", "block_max_concurrent_reads",
         "block_max_concurrent_writes_per_request", "lmdb_map_size", "fjall_block_cache_size", "compression_level", "rpc_secret", "rpc_secret_file",
         "rpc_bind_addr", "rpc_bind_outgoing", "rpc_public_addr", "rpc_public_addr_subnet", "rpc_ping_timeout_msec", "rpc_timeout_msec",
         "bootstrap_peers", "allow_world_readable_secrets", "allow_punycode", "s3_api", "s3_web", "k2v_api", "admin", "consul_discovery",
         "kubernetes_discovery", "replication_mode"},
    "s3_api": {"api_bind_addr", "s3_region", "root_domain"},
    "s3_web": {"bind_addr", "root_domain", "add_host_to_metrics", "index"},
    "k2v_api": {"api_bind_addr"},
    "admin": {"api_bind_addr", "admin_token", "admin_token_file", "metrics_token", "metrics_token_file", "metrics_require_token", "trace_sink"},
    "consul_discovery": {"api", "consul_http_addr", "service_name", "ca_cert", "client_cert", "client_key", "token", "tls_skip_verify", "tags",
                         "meta",
                         "datacenters"},
    "kubernetes_discovery": {"namespace", "service_name", "skip_crd"},
}


def pods(site: dict) -> list[dict]:
    found = objects(normal_site(site, {})["workload"], "garage", "hash")["nodes"]
    return [item["spec"]["template"] for node in found for item in node["objects"] if item["kind"] == "StatefulSet"]


@mark.requirement("OP-034", "OP-043")
@mark.parametrize("site", [BARE, EDGE, changed(EDGE, "gateway.rpc_public_addr", "g-{ordinal}:3901")])
def test_what_the_pods_hold_is_reserved(site: dict) -> None:
    for template in pods(site):
        (container,) = template["spec"]["containers"]
        assert container["name"] == CONTAINER
        assert {variable["name"] for variable in container["env"]} <= set(ENVIRONMENT)
        assert {port["containerPort"] for port in container["ports"]} <= set(PORTS)
        volumes = {volume["name"] for volume in template["spec"]["volumes"]} | {mount["name"] for mount in container["volumeMounts"]}
        assert all(VOLUME.fullmatch(name) for name in volumes)
        assert all(mount["mountPath"] == "/tmp" or mount["mountPath"].startswith(FOLDERS) for mount in container["volumeMounts"])
        marks = {**template["metadata"]["labels"], **template["metadata"]["annotations"]}
        assert all(MARKS.fullmatch(name) for name in marks if name not in ("team", "a"))


@mark.requirement("OP-032")
def test_the_longest_name_gives_valid_names_and_labels() -> None:
    site = changed(changed({**STORAGE, "name": "p" * LONGEST_NAME}, "storage.replicas", 256), "gateway", {"replicas": 256,
                                                                                                          "metadata": {"size": "1Gi"}})
    assert faults(site) == []
    found = objects(normal_site(site, {})["workload"], "garage", "hash")
    names = [(item["kind"], item["metadata"]["name"]) for item in [*found["shared"], *(item for node in found["nodes"] for item in node["objects"])]]
    # A pod carries <StatefulSet>-<hash of ten characters> as the value of a label.
    assert max(len(name) for kind, name in names if kind == "StatefulSet") + 11 == 63
    assert max(len(name) for dummy, name in names) <= 63


def test_each_key_of_garage_toml_is_taken_or_answered() -> None:
    config = site_schema()["definitions"]["config"]
    for table, keys in GARAGE_TOML.items():
        schema = config["properties"][table] if table else config
        taken, answered = set(schema["properties"]), set(schema.get("hints", {})) - {"rpc_tls", "tls"}
        assert taken | answered == keys and not taken & answered, table
