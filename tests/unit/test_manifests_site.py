# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a whole site file to objects that Kubernetes takes."""

from __future__ import annotations

import json

import kubernetes_validate
import pytest
from tests.unit.manifest_sites import all_objects, leaves, live_of

from ansible_collections.s3ops.garage.plugins.module_utils._manifests.objects import objects
from ansible_collections.s3ops.garage.plugins.module_utils._planners.workload import plan_workload
from ansible_collections.s3ops.garage.plugins.module_utils._site.document import normal_site

SECRETS = {"rpc_secret": "5ec2e70f" * 8, "admin_token": "5ec2e70f-admin", "metrics_token": "5ec2e70f-metrics"}
COMMON = {"name": "paris", "zone": "paris", "kubernetes": {"namespace": "garage"}, "replication": {"factor": 3}}
POD = {
    "annotations": {"note": "a"}, "labels": {"team": "b"}, "node_selector": {"disk": "ssd"}, "priority_class_name": "high",
    "tolerations": [{"key": "disk", "operator": "Exists"}], "resources": {"requests": {"cpu": "100m", "memory": "1Gi"}},
    "topology_spread_constraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {}}],
    "env": [{"name": "RUST_LOG", "value": "garage=debug"}], "env_from": [{"configMapRef": {"name": "more"}}],
    "volumes": [{"name": "ca", "secret": {"secretName": "ca", "defaultMode": 288}}], "volume_mounts": [{"name": "ca", "mountPath": "/ca"}],
    "containers": [{"name": "sidecar", "image": "example.org/sidecar:1", "ports": [{"containerPort": 9000}]}],
    "image_pull_secrets": [{"name": "registry"}], "termination_grace_period_seconds": 60,
}


def source(name):
    return {"api_group": "kopiur.home-operations.com", "kind": "Restore", "name": name}


SITES = {
    "storage": {
        "storage": {"replicas": 3, "metadata": {"size": "10Gi", "data_source_ref": source("garage-metadata")},
                    "data": {"size": "100Gi", "storage_class": "fast", "data_source_ref": source("garage-data"), "labels": {"backup": "yes"}},
                    "pod": POD, "disruption_budget": {}, "service": {"type": "NodePort", "node_ports": {"s3": 30900}}},
        "monitoring": {"service_monitor": {}, "rules": {}, "dashboard": {}},
    },
    "storage_with_gateways": {
        "config": {"db_engine": "sqlite", "s3_web": {"root_domain": ".web.example.org"}, "k2v_api": {}},
        "storage": {"replicas": 3, "metadata": {"size": "10Gi"}, "data": {"paths": [{"size": "1Ti"}, {"size": "500Gi", "name": "old"}]},
                    "rpc_public_addr": "s{ordinal}.example.org:3901"},
        "gateway": {"replicas": 2, "metadata": {"size": "1Gi"}, "pod": POD, "service": {"type": "LoadBalancer"}, "disruption_budget": {}},
    },
    "edge_gateways": {
        "connect_to": {"rpc_secret_file": "secret", "peers": [f"{'a' * 64}@s0.example.org:3901"]},
        "gateway": {"metadata": {"size": "1Gi"}, "rpc_public_addr": "g{ordinal}.example.org:3901"},
    },
}


@pytest.mark.parametrize("shape", SITES)
def test_a_site_file_becomes_objects_that_kubernetes_takes(shape):
    credentials = SECRETS if shape != "edge_gateways" else {name: text for name, text in SECRETS.items() if name != "rpc_secret"}
    site = normal_site({**COMMON, **SITES[shape], "credentials": credentials}, {})
    assert site["shape"] == shape
    made = objects(site["workload"], site["kubernetes"]["namespace"], "hash")
    for item in made["shared"] + [found for node in made["nodes"] for found in node["objects"]]:
        kubernetes_validate.validate(item, "1.34", strict=True)
    assert "5ec2e70f" not in json.dumps(made)
    assert not [path for path, value in leaves(all_objects(made)) if value is None]
    plan = plan_workload(made, live_of(made))
    assert not any(value for name, value in plan.items() if name != "same")
