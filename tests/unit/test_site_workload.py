# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sites with nodes of their own: what is refused, one faulty value a row, and what is accepted."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.site_files import EDGE, FULL, HANDLE, ID_1, REMOTE, SECRET, SOURCE, STORAGE, changed, faults, inventory

mark = pytest.mark
BOTH = {**STORAGE, "gateway": {"replicas": 2, "metadata": {"size": "1Gi"}}}
EMPTY = changed(changed(STORAGE, "storage.capacity", "1G"), "storage.data", {"empty_dir": {}})


def row(*marks: Any, site: Any, path: str, fix: str):
    """A site with one fault, where the fault is, and a word of what to do."""
    return pytest.param(site, path, fix, marks=marks, id=f"{path}-{fix[:20]}")


def source(**values: Any) -> dict:
    return changed(STORAGE, "storage.data.data_source_ref", {**SOURCE, **values})


def pod(**values: Any) -> dict:
    return changed(STORAGE, "storage.pod", values)


def config(site: dict = STORAGE, **values: Any) -> dict:
    return changed(site, "config", values)


def consul(**values: Any) -> dict:
    return config(consul_discovery={"consul_http_addr": "http://consul:8500", "service_name": "garage", **values})


def tagged(tag: str, site: dict) -> dict:
    return changed(site, "image.tag", tag)


FAULTS = [
    # where, names, secrets
    row(mark.requirement("OP-032"), site={**STORAGE, "name": "p" * 41}, path="name", fix="at most 40"),
    row(mark.requirement("OP-032"), site=changed(STORAGE, "kubernetes.namespace", "Garage"), path="kubernetes.namespace", fix="DNS label"),
    row(mark.requirement("OP-032"), site=changed(STORAGE, "credentials.secret", "a_b"), path="credentials.secret", fix="DNS name"),
    row(mark.requirement("OP-039"), site={**STORAGE, "kubernetes": None}, path="kubernetes", fix="set its namespace"),
    row(mark.requirement("OP-039"), site={**STORAGE, "kubernetes": {}}, path="kubernetes.namespace", fix="is missing"),
    row(mark.requirement("TD-39"), site=changed(STORAGE, "credentials", {"rpc_secret": "a" * 64, "rpc_secret_file": "/x"}), path="credentials",
        fix="exclude one another"),
    row(mark.requirement("TD-39"), site=changed(STORAGE, "credentials.rpc_secret", "a" * 63), path="credentials.rpc_secret",
        fix="openssl rand -hex 32"),
    row(mark.requirement("GS-03"), site=changed(STORAGE, "credentials.admin_token", "a.b"), path="credentials.admin_token", fix="without a dot"),
    row(mark.requirement("GS-03"), site=changed(STORAGE, "credentials.metrics_token", "a.b"), path="credentials.metrics_token", fix="without a dot"),
    row(mark.requirement("GS-03"), site=changed(STORAGE, "credentials.admin_token", "ab\n"), path="credentials.admin_token", fix="printable"),
    row(mark.requirement("OP-037"), site=changed(EDGE, "credentials.rpc_secret", "a" * 64), path="credentials.rpc_secret",
        fix="connect_to.rpc_secret_file"),
    row(mark.requirement("OP-037"), site=changed(EDGE, "connect_to", {"rpc_secret_file": "/x"}), path="connect_to", fix="peers"),
    row(mark.requirement("OP-037"), site=changed(EDGE, "connect_to", {"rpc_secret_file": "/x", "api_url": "http://a:1"}), path="connect_to",
        fix="without a token"),
    row(mark.requirement("OP-037"), site=changed(HANDLE, "connect_to", {"transport": "exec"}), path="connect_to.kubernetes",
        fix="namespace and the pods"),
    row(mark.requirement("MH-20"), site=changed(HANDLE, "config.db_engine", "lmdb"), path="config", fix="leave config out"),
    row(mark.requirement("TD-39"), site=changed(STORAGE, "admin.transport", "http"), path="admin.api_url", fix="is missing"),
    row(mark.requirement("TD-39"), site=changed(STORAGE, "admin", {"transport": "exec", "api_url": "http://a:1"}), path="admin.api_url", fix="auto"),
    row(mark.requirement("TD-39"), site=changed(STORAGE, "admin.client_key", "/k"), path="admin.client_key", fix="client_cert"),
    row(mark.requirement("TD-39"), site=changed(STORAGE, "admin.api_token", SECRET), path="admin.api_token", fix="credentials.admin_token"),
    # replication
    row(site={**STORAGE, "replication": None}, path="replication.factor", fix="is missing"),
    row(site=changed(STORAGE, "replication.factor", 4), path="replication.factor", fix="set storage.replicas to 4"),
    row(mark.requirement("OP-038"), site=changed(STORAGE, "replication.zone_redundancy", 2), path="replication.zone_redundancy", fix="set maximum"),
    row(site=changed(STORAGE, "replication.consistency_mode", "strong"), path="replication.consistency_mode", fix="degraded"),
    row(site=changed(STORAGE, "storage.replicas", 257), path="storage.replicas", fix="256 or less"),
    row(mark.requirement("OP-036"), site=changed(STORAGE, "storage.tags", ["tier:storage"]), path="storage.tags", fix="choose another"),
    # volumes
    row(mark.requirement("OP-039"), site=changed(STORAGE, "storage.metadata", None), path="storage.metadata", fix="size"),
    row(mark.requirement("OP-039"), site=changed(STORAGE, "storage.data", {"storage_class": "a"}), path="storage.data", fix="size"),
    row(mark.requirement("OP-039"), site=changed(STORAGE, "storage.data", {"paths": [{"storage_class": "a"}]}), path="storage.data.paths[0]",
        fix="size"),
    row(mark.requirement("OP-039"), site={**BOTH, "gateway": {}}, path="gateway.metadata", fix="size"),
    row(mark.requirement("OP-039"), site=changed(STORAGE, "storage.data.size", "100GB"), path="storage.data.size", fix="100Gi"),
    row(mark.requirement("OP-039"), site=changed(STORAGE, "storage.data.size", "0Gi"), path="storage.data.size", fix="more than zero"),
    row(mark.requirement("OP-039"), site=changed(STORAGE, "storage.data.paths", [{"size": "1Gi"}]), path="storage.data",
        fix="paths and size exclude"),
    row(mark.requirement("OP-039"), site=changed(STORAGE, "storage.data", {"paths": [{"size": "1Gi", "read_only": True}]}),
        path="storage.data.paths", fix="read_only"),
    row(site=changed(STORAGE, "storage.data", {"paths": [{"size": "1Gi", "name": "1"}, {"size": "1Gi"}]}), path="storage.data.paths",
        fix="used 2 times"),
    row(mark.requirement("OP-024"), site=changed(BOTH, "gateway.metadata.paths", []), path="gateway.metadata.paths", fix="metadata is one"),
    row(mark.requirement("OP-024"), site=changed(STORAGE, "storage.metadata.paths", []), path="storage.metadata.paths", fix="metadata is one"),
    row(mark.requirement("OP-024"), site=changed(BOTH, "gateway.data", {"size": "1Gi"}), path="gateway.data", fix="leave it out"),
    row(mark.requirement("OP-041", "VG-22"), site=changed(STORAGE, "storage.data.volumeClaimTemplateSpec", {}),
        path="storage.data.volumeClaimTemplateSpec",
        fix="data_source_ref"),
    row(mark.requirement("OP-041"), site=changed(BOTH, "gateway.volume_claim_templates", []), path="gateway.volume_claim_templates",
        fix="set metadata"),
    row(mark.requirement("VG-18"), site=changed(STORAGE, "storage.data.host_path", "/d"), path="storage.data.host_path", fix="storage class"),
    *[row(mark.requirement("OP-040"), site=changed(EMPTY, f"storage.data.{name}", value), path="storage.data", fix=f"empty_dir excludes {name}")
      for name, value in (("size", "1Gi"), ("storage_class", "a"), ("access_modes", ["ReadWriteOnce"]), ("selector", {}), ("labels", {}),
                          ("annotations", {}))],
    row(site=changed(EMPTY, "storage.data.volume_attributes_class", "a"), path="storage.data", fix="empty_dir excludes volume_attributes_class"),
    row(mark.requirement("VG-30"), site=changed(EMPTY, "storage.data.data_source_ref", SOURCE), path="storage.data",
        fix="empty_dir excludes data_source_ref"),
    row(mark.requirement("OP-102"), site=changed(EMPTY, "storage.capacity", None), path="storage.capacity", fix="never guessed"),
    row(mark.requirement("OP-102"), site=changed(STORAGE, "storage.capacity", "200Gi"), path="storage.capacity", fix="leave capacity out"),
    row(mark.requirement("OP-102"), site=changed(STORAGE, "storage.capacity", "10X"), path="storage.capacity", fix="powers of 1000"),
    row(mark.requirement("OP-102"), site=changed(STORAGE, "storage.data.size", "1023"), path="storage.capacity", fix="1024"),
    row(mark.requirement("OP-102"), site=changed(changed(STORAGE, "storage.capacity", "1G"), "storage.capacity_reserve_percent", 10),
        path="storage.capacity_reserve_percent", fix="leave one of them out"),
    # group sources
    row(mark.requirement("VG-03", "VG-25"), site={**STORAGE, "data_source_ref": SOURCE}, path="data_source_ref",
        fix="storage.metadata, storage.data"),
    row(mark.requirement("VG-03"), site=changed(STORAGE, "storage.data_source_ref", SOURCE), path="storage.data_source_ref", fix="storage.metadata"),
    row(mark.requirement("VG-05"), site=changed(BOTH, "gateway.data_source_ref", SOURCE), path="gateway.data_source_ref", fix="gateway.metadata"),
    row(mark.requirement("VG-04", "VG-20"), site=changed(STORAGE, "storage.data.data_source_refs", {}), path="storage.data.data_source_refs",
        fix="one group source"),
    row(mark.requirement("VG-04", "VG-20"), site=source(**{"0": "a"}), path="storage.data.data_source_ref.0", fix="one group source"),
    row(mark.requirement("VG-06"), site=changed(STORAGE, "storage.data.data_source_ref", {"api_group": "a.b", "kind": "Restore"}),
        path="storage.data.data_source_ref.name",
        fix="is missing"),
    row(mark.requirement("VG-06"), site=source(apiVersion="a.b/v1"), path="storage.data.data_source_ref.apiVersion", fix="api_group"),
    row(mark.requirement("VG-06"), site=source(api_group="a.b/v1"), path="storage.data.data_source_ref.api_group", fix="leave out"),
    row(mark.requirement("VG-27"), site=source(api_group=""), path="storage.data.data_source_ref.api_group", fix="volume populator"),
    row(mark.requirement("VG-12"), site=source(kind="PersistentVolumeClaim"), path="storage.data.data_source_ref.kind", fix="name a group source"),
    row(mark.requirement("VG-12"), site=source(api_group="snapshot.storage.k8s.io", kind="VolumeSnapshot"), path="storage.data.data_source_ref.kind",
        fix="group source"),
    row(mark.requirement("VG-28"), site=source(namespace="other"), path="storage.data.data_source_ref.namespace", fix="leave namespace out"),
    row(mark.requirement("VG-29"), site=source(name="a b"), path="storage.data.data_source_ref.name", fix="DNS name"),
    row(mark.requirement("VG-19", "VG-31", "VG-33"),
        site=changed(STORAGE, "storage.data", {"size": "1Gi", "existing_claims": {"0": "a"}, "data_source_ref": SOURCE}),
        path="storage.data.data_source_ref", fix="excludes existing_claims"),
    row(mark.requirement("VG-32"), site=changed(source(), "storage.data.selector", {"matchLabels": {}}), path="storage.data.data_source_ref",
        fix="excludes selector"),
    # existing claims
    row(mark.requirement("VG-23"), site=changed(STORAGE, "storage.data.existing_claim", "a"), path="storage.data.existing_claim",
        fix="existing_claims"),
    row(mark.requirement("VG-23"), site=changed(STORAGE, "storage.data.existing_claims", {"3": "a"}), path="storage.data.existing_claims",
        fix="0 to 2"),
    row(mark.requirement("VG-23"), site=changed(STORAGE, "storage.data", {"existing_claims": {"0": "a"}}), path="storage.data", fix="every ordinal"),
    row(mark.requirement("VG-23"), site=changed(EDGE, "gateway.metadata.existing_claims", {"0": "a"}), path="gateway.metadata.existing_claims",
        fix="name the claims so"),
    row(site=changed(STORAGE, "storage.data.existing_claims", {"0": "a", "1": "a"}), path="", fix="named 2 times"),
    # addresses, budgets, services
    row(mark.requirement("OP-028"), site=changed(STORAGE, "storage.rpc_public_addr", "a.example.org:3901"), path="storage.rpc_public_addr",
        fix="{ordinal}"),
    row(mark.requirement("OP-028"), site=changed(STORAGE, "storage.rpc_public_addr", "a-{ordinal}.example.org"), path="storage.rpc_public_addr",
        fix="no port"),
    row(mark.requirement("OP-028"),
        site=changed(changed(BOTH, "storage.rpc_public_addr", "a-{ordinal}:1"), "gateway.rpc_public_addr", "a-{ordinal}:1"),
        path="gateway.rpc_public_addr", fix="one of its own"),
    row(mark.requirement("OP-029"), site=changed(STORAGE, "storage.disruption_budget", {"max_unavailable": 1, "min_available": 1}),
        path="storage.disruption_budget",
        fix="exclude one another"),
    row(mark.requirement("OP-029"), site=changed(STORAGE, "storage.disruption_budget.max_unavailable", "half"),
        path="storage.disruption_budget.max_unavailable",
        fix="50%"),
    row(mark.requirement("OP-030"), site=changed(STORAGE, "storage.service.node_ports", {"s3": 30900}), path="storage.service.node_ports",
        fix="NodePort"),
    row(mark.requirement("OP-030"), site=changed(STORAGE, "storage.service", {"type": "NodePort", "node_ports": {"web": 30900}}),
        path="storage.service.node_ports.web",
        fix="config.s3_web"),
    row(mark.requirement("OP-030", "FC-116"), site=changed(config(k2v_api={}), "storage.service", {"type": "NodePort", "node_ports": {"s3": 1, "k2v": 1}}),
        path="storage.service.node_ports", fix="s3 and k2v have 1"),
    row(mark.requirement("OP-008"), site=changed(STORAGE, "layout.nodes", [{"node": "a" * 64, "capacity": "1GB"}]), path="layout.nodes",
        fix="leave nodes out"),
    row(mark.requirement("OP-031"), site=changed(STORAGE, "storage.service", {"type": "NodePort", "load_balancer_class": "a"}),
        path="storage.service.load_balancer_class",
        fix="LoadBalancer"),
    row(mark.requirement("OP-031"), site=changed(STORAGE, "storage.service.external_traffic_policy", "Local"),
        path="storage.service.external_traffic_policy",
        fix="NodePort"),
    row(mark.requirement("OP-031"), site=changed(BOTH, "storage.service.type", "NodePort"), path="storage.service", fix="gateway.service"),
    # pods
    row(mark.requirement("OP-034"), site=pod(env=[{"name": "GARAGE_RPC_SECRET", "value": "x"}]), path="storage.pod.env[0].name",
        fix="credentials.rpc_secret"),
    row(mark.requirement("OP-034"), site=pod(env=[{"name": "GARAGE_ADMIN_TOKEN_FILE", "value": "x"}]), path="storage.pod.env[0].name",
        fix="credentials.admin_token_file"),
    row(mark.requirement("OP-034"), site=pod(env=[{"name": "GARAGE_CONFIG_FILE", "value": "x"}]), path="storage.pod.env[0].name", fix="leave it out"),
    row(mark.requirement("OP-034"), site=pod(env=[{"name": "A"}, {"name": "A"}]), path="storage.pod.env", fix="used 2 times"),
    row(mark.requirement("OP-034"), site=pod(env=[{"name": f"A{index}"} for index in range(65)]), path="storage.pod.env", fix="at most 64"),
    row(mark.requirement("OP-034"), site=pod(env_from=[{"prefix": "GARAGE_", "configMapRef": {"name": "a"}}]), path="storage.pod.env_from[0].prefix",
        fix="name the variables"),
    row(mark.requirement("OP-043"), site=pod(containers=[{"name": "garage"}]), path="storage.pod.containers[0].name", fix="choose another"),
    row(mark.requirement("OP-043"), site=pod(containers=[{"name": "a"}], init_containers=[{"name": "a"}]), path="storage.pod", fix="used 2 times"),
    row(mark.requirement("OP-043"), site=pod(containers=[{"name": f"a{index}"} for index in range(17)]), path="storage.pod.containers",
        fix="at most 16"),
    row(mark.requirement("OP-043"), site=pod(init_containers=[{"name": f"a{index}"} for index in range(17)]), path="storage.pod.init_containers",
        fix="at most 16"),
    row(mark.requirement("OP-043"), site=pod(volumes=[{"name": f"a{index}"} for index in range(33)]), path="storage.pod.volumes", fix="at most 32"),
    row(mark.requirement("OP-043"), site=pod(containers=[{"name": "a", "ports": [{"containerPort": 80, "hostPort": 80}]}]),
        path="storage.pod.containers[0].ports[0].hostPort", fix="use a Service"),
    row(mark.requirement("OP-043"), site=pod(containers=[{"name": "a", "ports": [{"containerPort": 3903}]}]),
        path="storage.pod.containers[0].ports[0].containerPort",
        fix="3900 to 3904"),
    row(mark.requirement("OP-043"), site=pod(init_containers=[{"name": "a", "volumeDevices": []}]),
        path="storage.pod.init_containers[0].volumeDevices",
        fix="volumeMounts"),
    row(mark.requirement("OP-043"), site=pod(volumes=[{"name": "data-1"}]), path="storage.pod.volumes[0].name", fix="choose another"),
    row(mark.requirement("OP-043"), site=pod(volumes=[{"name": "a"}, {"name": "a"}]), path="storage.pod.volumes", fix="used 2 times"),
    row(mark.requirement("OP-043"), site=pod(volume_mounts=[{"name": "a", "mountPath": "/a"}]), path="storage.pod.volume_mounts[0].name",
        fix="add it to volumes"),
    row(mark.requirement("OP-043", "FC-116"), site=pod(volumes=[{"name": "a"}], volume_mounts=[{"name": "a", "mountPath": "/etc/garage/x"}]),
        path="storage.pod.volume_mounts[0].mountPath", fix="choose another"),
    row(mark.requirement("OP-043"), site=pod(volumes=[{"name": "a"}], volume_mounts=[{"name": "a"}]), path="storage.pod.volume_mounts[0].mountPath",
        fix="is missing"),
    row(mark.requirement("OP-043"), site=pod(volumes=[{"name": "a"}], volume_mounts=[{"name": "a", "mountPath": "/tmp/"}]),
        path="storage.pod.volume_mounts",
        fix="/tmp"),
    row(mark.requirement("OP-043"), site=pod(affinity={"a": "x" * 65536}), path="storage.pod", fix="at most 65536"),
    row(mark.requirement("OP-043"), site=pod(labels={"app.kubernetes.io/instance": "x"}), path="storage.pod.labels", fix="choose another"),
    row(mark.requirement("OP-043"), site=pod(annotations={"s3ops.garage/config-checksum": "x"}), path="storage.pod.annotations",
        fix="choose another"),
    row(mark.requirement("OP-043"), site=changed(STORAGE, "storage.data.labels", {"s3ops.garage/node": "x"}), path="storage.data.labels",
        fix="choose another"),
    row(mark.requirement("OP-043"), site=changed(STORAGE, "storage.service.labels", {"app.kubernetes.io/name": "x"}), path="storage.service.labels",
        fix="choose another"),
    row(site=pod(nodeSelector={}), path="storage.pod.nodeSelector", fix="did you mean node_selector"),
    # garage.toml
    row(site=config(db_enigne="lmdb"), path="config.db_enigne", fix="did you mean db_engine"),
    row(site=config(db_engine="sled"), path="config.db_engine", fix="fjall"),
    row(site=config(replication_mode="3"), path="config.replication_mode", fix="replication.factor"),
    *[row(site=config(**{name: "x"}), path=f"config.{name}", fix=fix) for name, fix in (
        ("replication_factor", "replication.factor"), ("consistency_mode", "replication.consistency_mode"), ("metadata_dir", "storage.metadata"),
        ("data_dir", "data.paths"), ("rpc_secret", "credentials.rpc_secret"), ("rpc_secret_file", "credentials.rpc_secret_file"),
        ("rpc_bind_addr", "3901"), ("rpc_public_addr", "storage.rpc_public_addr"), ("bootstrap_peers", "remotes[].peers"))],
    row(mark.requirement("OP-020"), site=config(rpc_tls={}), path="config.rpc_tls", fix="no TLS"),
    *[row(site=config(**{part: {name: "x", **extra}}), path=f"config.{part}.{name}", fix=fix) for part, name, fix, extra in (
        ("s3_api", "api_bind_addr", "3900", {}), ("s3_web", "bind_addr", "3902", {"root_domain": "a"}), ("s3_web", "index", "tenancy",
                                                                                                         {"root_domain": "a"}),
        ("k2v_api", "api_bind_addr", "3904", {}), ("admin", "api_bind_addr", "3903", {}), ("admin", "admin_token", "credentials.admin_token", {}),
        ("admin", "metrics_token_file", "credentials.metrics_token_file", {}))],
    row(site=config(s3_web={}), path="config.s3_web.root_domain", fix="is missing"),
    row(site=config(block_size="1X"), path="config.block_size", fix="unit"),
    row(site=config(compression_level=23), path="config.compression_level", fix="-99 to 22"),
    row(site=config(metadata_auto_snapshot_interval="often"), path="config.metadata_auto_snapshot_interval", fix="6h"),
    row(site=config(rpc_public_addr_subnet="10.0.0.1/8"), path="config.rpc_public_addr_subnet", fix="10.0.0.0/8"),
    row(site=config(metadata_snapshots_dir="/snapshots"), path="config.metadata_snapshots_dir", fix="volume_mounts"),
    row(mark.requirement("OP-033"), site=config(consul_discovery={"consul_http_addr": "http://consul:8500"}),
        path="config.consul_discovery.service_name",
        fix="is missing"),
    row(mark.requirement("OP-033"), site=consul(ca_cert="-----BEGIN CERTIFICATE-----"), path="config.consul_discovery.ca_cert", fix="absolute path"),
    row(mark.requirement("OP-033"), site=consul(client_cert="/c"), path="config.consul_discovery.client_cert", fix="client_key"),
    row(mark.requirement("OP-033"), site=consul(client_key="/c"), path="config.consul_discovery.client_key", fix="client_cert"),
    row(mark.requirement("OP-033"), site=consul(api="agent", client_cert="/c", client_key="/k"), path="config.consul_discovery.client_cert",
        fix="api: catalog"),
    row(mark.requirement("OP-033"), site=consul(token=SECRET), path="config.consul_discovery.token", fix="client_cert"),
    # releases
    row(site=tagged("v1.3.1", STORAGE), path="image.tag", fix="2.0.0"),
    row(mark.requirement("OP-045"), site=tagged("v2.3.0", consul()), path="config.consul_discovery", fix="v2.4.1"),
    row(mark.requirement("OP-045", "FC-106"), site=tagged("v2.4.0", config(kubernetes_discovery={})), path="config.kubernetes_discovery", fix="v2.4.1"),
    row(site=tagged("v2.0.0", config(db_engine="fjall")), path="config.db_engine", fix="v2.1.0"),
    row(site=tagged("2.0.0", config(block_max_concurrent_reads=1)), path="config.block_max_concurrent_reads", fix="v2.1.0"),
    row(site=tagged("v2.1.0", config(block_max_concurrent_writes_per_request=1)), path="config.block_max_concurrent_writes_per_request",
        fix="v2.2.0"),
    row(site=tagged("v2.1.0", consul(datacenters=["a"])), path="config.consul_discovery.datacenters", fix="v2.2.0"),
    row(site=tagged("v2.2.0", changed(STORAGE, "tenancy.buckets", [{"name": "media", "cors_rules": [
        {"allowed_origins": ["*"], "allowed_methods": ["GET"]}]}])), path="tenancy.buckets[0].cors_rules", fix="v2.3.0"),
    row(site=tagged("v2.2.0", changed(STORAGE, "tenancy.buckets", [{"name": "media", "website": {
        "enabled": True, "index_document": "i", "routing_rules": [{"redirect": {"host_name": "a"}}]}}])),
        path="tenancy.buckets[0].website.routing_rules", fix="v2.3.0"),
    row(site=tagged("v2.2.0", changed(STORAGE, "tenancy.keys", [{"name": "app", "id": "own.key-id", "secret_access_key": SECRET}])),
        path="tenancy.keys[0].id", fix="2.3.0"),
]


@mark.parametrize(("site", "path", "fix"), FAULTS)
def test_fault_with_its_path_and_the_fix(site: Any, path: str, fix: str) -> None:
    (fault,) = faults(site)
    assert fault.startswith(f"garage_site.{path}: " if path else "garage_site: ") and fix in fault


@mark.requirement("MH-12", "VG-05", "VG-07", "VG-23")
@mark.parametrize("site", [
    STORAGE,
    BOTH,
    FULL,
    EDGE,
    changed(STORAGE, "storage", {"replicas": 0}),
    {**BOTH, "gateway": {"replicas": 0}},
    changed(STORAGE, "storage.data.size", 10**9),
    changed(STORAGE, "storage.data", {"size": "1Gi", "existing_claims": {0: "a", 1: "b"}}),
    changed(changed(STORAGE, "storage.data", {"existing_claims": {"0": "a", "1": "b", "2": "c"}}), "storage.capacity", "1G"),
    EMPTY,
    changed(STORAGE, "storage.metadata", {"empty_dir": {"medium": "Memory"}}),
    {**changed(STORAGE, "storage.replicas", 1), "remotes": [REMOTE]},
    changed(changed(STORAGE, "storage.replicas", 1), "layout.external_nodes", [{"node": ID_1, "zone": "lyon", "capacity": "1GB"}]),
    tagged("main", config(db_engine="fjall")),
    tagged("v2.3.0", STORAGE),
    tagged("v2.4.1", consul()),
    tagged("v2.3.0", changed(STORAGE, "tenancy.keys", [{"name": "app", "id": "own.key-id", "secret_access_key": SECRET}])),
    config(pod(volumes=[{"name": "s", "emptyDir": {}}], volume_mounts=[{"name": "s", "mountPath": "/snapshots/"}]),
           metadata_snapshots_dir="/snapshots"),
    changed(EDGE, "connect_to", {"peers": [f"{ID_1}@a:1"], "rpc_secret_file": "/x"}),
    changed(changed(EDGE, "connect_to", {"peers": [f"{ID_1}@a:1"]}), "credentials.rpc_secret_file", "/x"),
    changed(HANDLE, "connect_to", {"transport": "exec", "kubernetes": {"namespace": "garage", "pod": "garage-0"}}),
])
def test_accepted(site: dict) -> None:
    assert faults(site) == []


@mark.requirement("OP-037")
@mark.parametrize(("target", "fix"), [
    ({"transport": "exec", "kubernetes": {"namespace": "garage"}}, "one of pod and label_selector"),
    ({"transport": "exec", "kubernetes": {"namespace": "garage", "pod": "a", "label_selector": "b"}}, "one of pod and label_selector"),
    ({"transport": "http", "api_url": "http://a:1", "api_token": "x", "kubernetes": {"namespace": "garage", "pod": "a"}},
     "set transport or leave it out"),
    ({"transport": "exec", "api_url": "http://a:1", "api_token": "x"}, "kubernetes: is missing"),
])
def test_the_way_into_a_pod(target: dict, fix: str) -> None:
    (fault,) = faults(changed(HANDLE, "connect_to", target))
    assert fault.startswith("garage_site.connect_to") and fix in fault


def test_sites_of_one_cluster_have_one_factor_and_one_mode() -> None:
    paris = {**STORAGE, "remotes": [REMOTE]}
    lyon = {**STORAGE, "name": "lyon", "zone": "lyon", "replication": {"factor": 2, "consistency_mode": "degraded"},
            "layout": {"site_role": "follower"}, "remotes": [{**REMOTE, "name": "paris", "zone": "paris"}]}
    nice = {**STORAGE, "name": "nice", "replication": {"factor": 1}}
    (fault,) = faults(paris, inventory(paris, lyon, nice))
    assert fault.startswith("garage_site.replication.factor: 3 here and 2 at site lyon (host host-lyon)") and "migration" in fault
    (fault,) = faults({**changed(paris, "replication", {"factor": 2, "consistency_mode": "consistent"})}, inventory(paris, lyon))
    assert fault.startswith("garage_site.replication.consistency_mode: 'consistent' here and 'degraded' at site lyon")


@mark.requirement("OP-037")
@mark.parametrize(("edge", "target", "path", "fix"), [
    ({}, STORAGE, None, ""),
    ({"replication": {"factor": 2}}, STORAGE, "replication.factor", "3 at site paris"),
    ({}, {**STORAGE, "replication": None}, "replication.factor", "set that of the cluster"),
    ({"replication": {"factor": 3}}, HANDLE, "connect_to.site", "rpc_secret_file"),
    ({"replication": {"factor": 3}, "connect_to": {"site": "paris", "rpc_secret_file": "/x"}}, HANDLE, None, ""),
])
def test_gateways_that_serve_another_site_of_the_inventory(edge: dict, target: dict, path: str | None, fix: str) -> None:
    site = {"name": "edge", "zone": "edge", "kubernetes": {"namespace": "edge"}, "gateway": {"metadata": {"size": "1Gi"}},
            "connect_to": {"site": "paris"}, **edge}
    found = faults(site, inventory(site, target))
    assert [fault.partition(":")[0] for fault in found] == ([f"garage_site.{path}"] if path else [])
    assert fix in "".join(found)


SPREAD = {**STORAGE, "replication": {"factor": 3, "zone_redundancy": "maximum"}}
LYON, NICE = ({**REMOTE, "name": name, "zone": name} for name in ("lyon", "nice"))


@mark.requirement("OP-038")
@mark.parametrize(("edge", "target", "refused"), [
    ({}, SPREAD, True),
    ({"zone": "paris"}, SPREAD, False),
    ({}, STORAGE, False),
    ({}, {**SPREAD, "replication": {"factor": 1, "zone_redundancy": "maximum"}}, False),
    ({}, {**SPREAD, "replication": {"factor": 3, "zone_redundancy": 1}}, False),
    ({"replication": {"zone_redundancy": 1}}, SPREAD, False),
    ({}, {**SPREAD, "remotes": [LYON]}, True),
    ({}, {**SPREAD, "remotes": [LYON, NICE]}, False),
    ({"zone": "lyon"}, {**SPREAD, "remotes": [LYON]}, False),
    ({}, {**SPREAD, "remotes": [LYON], "layout": {"external_nodes": [{"node": ID_1, "zone": "nice", "capacity": "1T"}]}}, False),
    ({}, {**SPREAD, "remotes": [LYON], "layout": {"external_nodes": [{"node": ID_1, "zone": "nice", "gateway": True}]}}, True),
])
def test_gateways_in_a_zone_of_their_own(edge: dict, target: dict, refused: bool) -> None:
    site = {"name": "edge", "zone": "edge", "kubernetes": {"namespace": "edge"}, "gateway": {"metadata": {"size": "1Gi"}},
            "connect_to": {"site": "paris"}, **edge}
    found = [fault for fault in faults(site, inventory(site, target)) if fault.startswith("garage_site.zone: 'edge' holds gateways alone")]
    assert len(found) == refused
    assert "paris" in "".join(found) or not refused


@mark.requirement("OP-046")
def test_all_faults_of_a_workload_at_once() -> None:
    site = {
        "name": "p" * 50, "zone": "paris", "replication": {"factor": 5, "consistency_mode": "weak"},
        "config": {"replication_mode": "3", "consul_discovery": {"api": "agent", "client_cert": "/c"}}, "image": {"tag": "v2.4.0"},
        "storage": {"replicas": 3, "metadata": {"size": "1Gi", "empty_dir": {}}, "data": {"size": "1Gi", "selector": {},
                                                                                          "data_source_ref": {"kind": "VolumeSnapshot"}},
                    "pod": {"env": [{"name": "GARAGE_ADMIN_TOKEN"}], "containers": [{"name": "garage"}]}},
    }
    assert {fault.partition(": ")[0].removeprefix("garage_site.") for fault in faults(site)} == {
        "name", "kubernetes", "replication.factor", "replication.consistency_mode", "config.replication_mode", "config.consul_discovery",
        "config.consul_discovery.consul_http_addr", "config.consul_discovery.service_name", "config.consul_discovery.client_cert", "storage.metadata",
        "storage.data.data_source_ref", "storage.data.data_source_ref.api_group", "storage.data.data_source_ref.name",
        "storage.data.data_source_ref.kind",
        "storage.pod.env[0].name", "storage.pod.containers[0].name",
    }


def test_no_secret_of_a_workload_in_any_fault() -> None:
    dotted = f"{SECRET}.x"
    site = changed(STORAGE, "credentials", {"rpc_secret": SECRET, "admin_token": dotted, "metrics_token": dotted, "admin_token_file": 7})
    found = faults(site)
    assert len(found) >= 4 and SECRET not in "\n".join(found)
