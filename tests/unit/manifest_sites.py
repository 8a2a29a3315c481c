# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Workloads as the filter ``site`` gives them, by hand and generated, and what tests look up in their objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

SHAPES = ("storage", "storage_with_gateways", "edge_gateways")
SOURCES = ("meta-group", "data-group", "gateway-group", "ssd-group", "hdd-group")


def source(name: str) -> dict:
    return {"api_group": "restore.example.org", "kind": "GroupRestore", "name": name}


def workload(shape: str = "storage", **sections: Any) -> dict:
    """A small workload; ``storage`` and ``gateway`` are merged with what a small one has, other sections are taken as they are."""
    found = {
        "name": "paris", "zone": "paris", "shape": shape, "warnings": [],
        "image": {"repository": "docker.io/dxflrs/garage", "tag": "v2.5.0", "pull_policy": "IfNotPresent"},
        "replication": {"factor": 3, "consistency_mode": "consistent"},
        "config": {"db_engine": "lmdb", "s3_api": {"s3_region": "garage"}},
        "credentials": {"secret": "paris-garage"},
        "storage": None, "gateway": None, "monitoring": {},
    }
    if shape != "edge_gateways":
        found["storage"] = {"replicas": 3, "metadata": {"size": "1Gi"}, "data": {"size": "10Gi"}, "capacity_reserve_percent": 0, "tags": [],
                            "pod": {}, "service": {"type": "ClusterIP"}}
    if shape != "storage":
        found["gateway"] = {"replicas": 2, "metadata": {"size": "1Gi"}, "tags": [], "pod": {}, "service": {"type": "ClusterIP"}}
    for name, value in sections.items():
        found[name] = {**found[name], **value} if name in ("storage", "gateway") else value
    return found


def all_objects(made: dict) -> list[dict]:
    """Every object of a site."""
    return [*made["shared"], *made["monitoring"], *(found for node in made["nodes"] for found in node["objects"])]


def one(made: dict, kind: str, name: str) -> dict:
    """The object of that kind and name."""
    found = [item for item in all_objects(made) if (item["kind"], item["metadata"]["name"]) == (kind, name)]
    assert len(found) == 1
    return found[0]


def claims(made: dict) -> dict[str, dict]:
    """The spec of each claim that Kubernetes will make, by name."""
    found = {}
    for node in made["nodes"]:
        stateful_set = node["objects"][1]
        for pod in node["pods"]:
            for template in stateful_set["spec"].get("volumeClaimTemplates", ()):
                found[f"{template['metadata']['name']}-{pod}"] = template["spec"]
    return found


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value that is no list and no dictionary, with its path."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from leaves(item, f"{path}.{name}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}[{index}]")
    else:
        yield path, value


TEXTS = st.text(st.characters(blacklist_categories=("Cs",), min_codepoint=1), max_size=12)
LABELS = st.dictionaries(st.sampled_from(["team", "example.org/tier", "app.kubernetes.io/name"]), st.sampled_from(["a", "b-1"]), max_size=2)
SIZES = st.sampled_from(["1Gi", "10Gi", "500G", "1Ti", 4096])


def volumes(sources: tuple[str, ...], with_existing: bool = True) -> st.SearchStrategy[dict]:
    """A volume: ephemeral, or a claim with some of what a claim takes."""
    options: dict[str, st.SearchStrategy] = {
        "storage_class": st.sampled_from(["fast", ""]), "access_modes": st.just(["ReadWriteOncePod"]), "labels": LABELS, "annotations": LABELS,
        "volume_attributes_class": st.just("gold"), "data_source_ref": st.sampled_from(sources).map(source),
        "selector": st.just({"matchLabels": {"disk": "ssd"}}),
    }
    if with_existing:
        options["existing_claims"] = st.sampled_from([{"0": "old-disk"}, {"1": "other-disk"}])
    return st.one_of(st.just({"empty_dir": {}}), st.fixed_dictionaries({"size": SIZES}, optional=options))


PODS = st.fixed_dictionaries({}, optional={
    "annotations": LABELS, "labels": LABELS, "node_selector": LABELS, "tolerations": st.just([{"key": "disk", "operator": "Exists"}]),
    "affinity": st.just({"podAntiAffinity": {}}), "resources": st.just({"limits": {"memory": "1Gi"}}), "security_context": st.just({"runAsUser": 7}),
    "container_security_context": st.just({"privileged": False}), "service_account_name": st.just("mine"), "priority_class_name": st.just("high"),
    "env": st.just([{"name": "RUST_LOG", "value": "garage=debug"}]), "env_from": st.just([{"configMapRef": {"name": "more"}}]),
    "volumes": st.just([{"name": "extra", "emptyDir": {}}]), "volume_mounts": st.just([{"name": "extra", "mountPath": "/extra"}]),
    "containers": st.just([{"name": "sidecar", "image": "example.org/sidecar:1"}]),
    "init_containers": st.just([{"name": "first", "image": "example.org/first:1"}]),
    "image_pull_secrets": st.just([{"name": "registry"}]), "termination_grace_period_seconds": st.just(0),
    "topology_spread_constraints": st.just([{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]),
})
SERVICES = st.sampled_from([{"type": "ClusterIP"}, {"type": "NodePort", "node_ports": {"s3": 30900}, "external_traffic_policy": "Local"},
                            {"type": "LoadBalancer", "load_balancer_class": "example.org/lb", "labels": {"a": "b"}, "annotations": {"c": "d"}}])
BUDGETS = st.sampled_from([{"max_unavailable": 1}, {"min_available": "50%"}])
CONFIGS = st.fixed_dictionaries({"s3_api": st.fixed_dictionaries({"s3_region": TEXTS})}, optional={
    "db_engine": st.just("sqlite"), "metadata_fsync": st.booleans(), "block_size": st.sampled_from(["1MiB", 1048576]),
    "compression_level": st.integers(-99, 22),
    "s3_web": st.fixed_dictionaries({"root_domain": TEXTS}), "k2v_api": st.just({}), "admin": st.just({"metrics_require_token": True}),
    "consul_discovery": st.fixed_dictionaries({"consul_http_addr": st.just("http://consul:8500"), "service_name": TEXTS,
                                               "tags": st.lists(TEXTS), "meta": st.dictionaries(TEXTS, TEXTS)}),
    "kubernetes_discovery": st.just({}),
})
MONITORING = st.fixed_dictionaries({}, optional={
    "service_monitor": st.fixed_dictionaries({"interval": st.just("30s")}, optional={"labels": LABELS}),
    "rules": st.fixed_dictionaries({}, optional={"labels": LABELS}), "dashboard": st.fixed_dictionaries({}, optional={"labels": LABELS}),
})


def _nodes(metadata: st.SearchStrategy[dict], most: int, **more: st.SearchStrategy) -> st.SearchStrategy[dict]:
    return st.fixed_dictionaries(
        {"replicas": st.integers(0, most), "metadata": metadata, "tags": st.just([]), "pod": PODS, "service": SERVICES, **more},
        optional={"disruption_budget": BUDGETS, "rpc_public_addr": st.just("node-{ordinal}.example.org:3901")})


DISKS = st.one_of(volumes(("ssd-group", "hdd-group")), st.just({"size": "1Gi", "read_only": True, "name": "old"}))
DATA = st.one_of(volumes(("data-group",)), st.lists(DISKS, min_size=1, max_size=3, unique_by=str).map(lambda paths: {"paths": paths}))


@st.composite
def workloads(draw: st.DrawFn) -> dict:
    """Any site with a workload that has no faults."""
    shape = draw(st.sampled_from(SHAPES))
    found = workload(shape, config=draw(CONFIGS), monitoring=draw(MONITORING))
    if found["storage"]:
        found["storage"] = draw(_nodes(volumes(("meta-group",)), 4, data=DATA))
    if found["gateway"]:
        found["gateway"] = draw(_nodes(volumes(("gateway-group",), with_existing=shape != "edge_gateways"), 3))
    return found


def live_of(made: dict) -> dict:
    """A cluster on which these objects were applied, with what Kubernetes adds to them."""
    live: dict[str, list] = {"statefulsets": [], "claims": [], "pods": [], "objects": [*made["shared"], *made["monitoring"]]}
    for node in json.loads(json.dumps(made["nodes"])):
        config_map, stateful_set = node["objects"]
        live["objects"].append(config_map)
        live["statefulsets"].append(stateful_set)
        live["pods"] += [{"metadata": {"name": pod}} for pod in node["pods"]]
        for template in stateful_set["spec"].get("volumeClaimTemplates", ()):
            live["claims"] += [_claim(template, stateful_set, pod) for pod in node["pods"]]
            template.update(apiVersion="v1", kind="PersistentVolumeClaim", status={"phase": "Pending"})
            template["metadata"]["creationTimestamp"] = None
            template["spec"]["volumeMode"] = "Filesystem"
    return live


def _claim(template: dict, stateful_set: dict, pod: str) -> dict:
    metadata = json.loads(json.dumps(template["metadata"]))
    metadata["name"] += f"-{pod}"
    metadata["labels"] |= stateful_set["spec"]["selector"]["matchLabels"]
    metadata["annotations"] = {**metadata.get("annotations", {}), "pv.kubernetes.io/bind-completed": "yes"}
    spec = {"storageClassName": "standard", **template["spec"], "volumeName": "pvc-1", "volumeMode": "Filesystem"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec, "status": {"phase": "Bound"}}
