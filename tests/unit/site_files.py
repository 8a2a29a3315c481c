# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Site files of each shape, for the tests."""

from __future__ import annotations

import copy
from typing import Any

from ansible_collections.s3ops.garage.plugins.module_utils._site.document import site_faults

ID_1, ID_2, ID_3 = "1" * 64, "2" * 64, "3" * 64
SECRET = "0123456789abcdef-secret"
HANDLE = {"name": "paris", "zone": "paris", "connect_to": {"api_url": "http://127.0.0.1:3903", "api_token_file": "/etc/garage/token"}}
REMOTE = {"name": "lyon", "zone": "lyon", "api_url": "https://admin.lyon.example.org", "api_token": SECRET}
STORAGE: dict[str, Any] = {"name": "paris", "zone": "paris", "kubernetes": {"namespace": "garage"}, "replication": {"factor": 3},
                           "storage": {"replicas": 3, "metadata": {"size": "10Gi"}, "data": {"size": "100Gi"}}}
EDGE = {**HANDLE, "connect_to": {**HANDLE["connect_to"], "rpc_secret_file": "/etc/garage/rpc"}, "kubernetes": {"namespace": "garage"},
        "replication": {"factor": 3}, "gateway": {"replicas": 2, "metadata": {"size": "1Gi"}}}

SOURCE = {"api_group": "kopiur.home-operations.com", "kind": "Restore", "name": "garage"}
# Storage with gateways and each section filled, for tests that go through all of it.
FULL: dict[str, Any] = {
    **STORAGE,
    "kubernetes": {"namespace": "garage", "kubeconfig": "/etc/kube/config", "context": "paris", "create_namespace": False,
                   "cluster_domain": "k8s.example"},
    "image": {"repository": "registry.example.org/garage", "tag": "v2.5.0", "digest": "sha256:" + "a" * 64, "pull_policy": "Always",
              "pull_secrets": ["r"]},
    "replication": {"factor": 3, "zone_redundancy": "maximum", "consistency_mode": "consistent"},
    "config": {
        "db_engine": "lmdb", "metadata_auto_snapshot_interval": "6h", "block_size": "1MiB", "compression_level": 3, "allow_punycode": True,
        "rpc_public_addr_subnet": "10.0.0.0/8", "s3_api": {"s3_region": "paris", "root_domain": ".s3.example.org"},
        "s3_web": {"root_domain": ".web.example.org"}, "k2v_api": {}, "admin": {"metrics_require_token": True, "trace_sink": "http://otel:4317"},
        "consul_discovery": {"api": "catalog", "consul_http_addr": "https://consul:8501", "service_name": "garage", "client_cert": "/c/crt",
                             "client_key": "/c/key", "tags": ["a"], "meta": {"a": "b"}, "datacenters": ["dc1"]},
        "kubernetes_discovery": {"skip_crd": True},
    },
    "credentials": {"secret": "paris-secret", "rpc_secret": "ab" * 32, "admin_token_file": "/etc/garage/admin", "metrics_token": "metrics"},
    "admin": {"transport": "auto", "api_url": "https://admin.paris.example.org", "timeout": 5},
    "storage": {
        "replicas": 3, "capacity": "150G", "tags": ["ssd"], "rpc_public_addr": "paris-{ordinal}.example.org:3901",
        "metadata": {"size": "10Gi", "storage_class": "fast", "access_modes": ["ReadWriteOncePod"], "labels": {"a": "b"}, "annotations": {"a": "b"},
                     "volume_attributes_class": "gold", "data_source_ref": SOURCE},
        "data": {"paths": [{"name": "a", "size": "100Gi", "data_source_ref": SOURCE}, {"name": "b", "size": "100Gi", "data_source_ref": SOURCE},
                           {"name": "c", "size": "1Gi", "read_only": True, "selector": {"matchLabels": {"disk": "old"}}}]},
        "pod": {"annotations": {"a": "b"}, "labels": {"team": "store"}, "node_selector": {"disk": "ssd"}, "tolerations": [{"operator": "Exists"}],
                "affinity": {"podAntiAffinity": {}}, "topology_spread_constraints": [{"maxSkew": 1}], "resources": {"requests": {"cpu": "1"}},
                "security_context": {"runAsUser": 7}, "container_security_context": {"runAsUser": 7}, "service_account_name": "own",
                "priority_class_name": "high", "env": [{"name": "RUST_LOG", "value": "debug"}], "env_from": [{"configMapRef": {"name": "env"}}],
                "volumes": [{"name": "certs", "secret": {"secretName": "certs"}}], "volume_mounts": [{"name": "certs", "mountPath": "/c"}],
                "init_containers": [{"name": "wait", "image": "busybox"}], "containers": [{"name": "log", "image": "log",
                                                                                           "ports": [{"containerPort": 80}]}],
                "image_pull_secrets": [{"name": "more"}], "termination_grace_period_seconds": 60},
        "disruption_budget": {"max_unavailable": 1},
    },
    "gateway": {
        "replicas": 2, "metadata": {"size": "1Gi", "data_source_ref": SOURCE}, "tags": ["edge"],
        "rpc_public_addr": "gateway-{ordinal}.example.org:3901",
        "pod": {"labels": {"team": "store"}}, "disruption_budget": {"min_available": "50%"},
        "service": {"type": "LoadBalancer", "annotations": {"a": "b"}, "labels": {"a": "b"}, "load_balancer_class": "x/y",
                    "external_traffic_policy": "Local", "node_ports": {"s3": 30900, "web": 30902, "k2v": 30904}},
    },
    "monitoring": {"service_monitor": {"labels": {"release": "prometheus"}, "interval": "1m"}, "rules": {},
                   "dashboard": {"labels": {"grafana": "1"}}},
    "layout": {"site_role": "writer"},
    "remotes": [REMOTE],
    "tenancy": {"keys": [{"name": "app"}], "buckets": [{"name": "media"}]},
}


def changed(site: dict, path: str, value: Any) -> dict:
    """A copy of the site with one value set; ``layout.nodes.0.capacity`` makes what is missing on the way."""
    copied = copy.deepcopy(site)
    place: Any = copied
    *way, last = path.split(".")
    for name in way:
        place = place[int(name)] if isinstance(place, list) else place.setdefault(name, {})
    if isinstance(place, list):
        place[int(last)] = value
    else:
        place[last] = value
    return copied


def faults(site: Any, hosts: dict | None = None, writer: str | None = None) -> list[str]:
    return site_faults(site, hosts or {}, writer)


def inventory(*sites: dict, **variables: str) -> dict:
    return {f"host-{site['name']}": {"garage_site": site, **variables} for site in sites}
