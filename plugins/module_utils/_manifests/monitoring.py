# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What Prometheus and Grafana get of a site. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .names import INSTANCE, SERVICE, metadata, nodes_service, secret_name, selector

DASHBOARD = Path(__file__).resolve().parents[2] / "dashboards" / "garage.json"
DASHBOARD_LABELS = {"grafana_dashboard": "1"}  # by which the loader of Grafana's chart finds dashboards
_API = "monitoring.coreos.com/v1"


def monitors(workload: Mapping, namespace: str) -> list[dict]:
    """ServiceMonitor and PrometheusRule, as far as they are set. Their kinds belong to the Prometheus operator."""
    options, site = workload["monitoring"], workload["name"]
    found = []
    if "service_monitor" in options:
        found.append(_object("ServiceMonitor", site, namespace, options["service_monitor"], {
            # The headless Service: metrics are those of each single node.
            "selector": {"matchLabels": {INSTANCE: site, SERVICE: "nodes"}},
            "endpoints": [{
                "port": "admin", "path": "/metrics", "interval": options["service_monitor"]["interval"],
                "authorization": {"type": "Bearer", "credentials": {"name": secret_name(workload), "key": "metrics-token"}},
            }],
        }))
    if "rules" in options:
        rules = [_rule(site, namespace, *row) for row in ALERTS]
        found.append(_object("PrometheusRule", site, namespace, options["rules"], {"groups": [{"name": f"{site}-garage", "rules": rules}]}))
    return found


def dashboards(workload: Mapping, namespace: str) -> list[dict]:
    """The ConfigMap with the dashboard, when it is set."""
    options, site = workload["monitoring"], workload["name"]
    if "dashboard" not in options:
        return []
    named = metadata(namespace, f"{site}-dashboard", {**(options["dashboard"].get("labels") or DASHBOARD_LABELS), **selector(site)})
    return [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": named, "data": {f"{site}-garage.json": DASHBOARD.read_text(encoding="utf-8")}}]


def _object(kind: str, site: str, namespace: str, options: Mapping, spec: dict) -> dict:
    labels = {**options.get("labels", {}), **selector(site)}
    return {"apiVersion": _API, "kind": kind, "metadata": metadata(namespace, f"{site}-garage", labels), "spec": spec}


def _rule(site: str, namespace: str, alert: str, expression: str, minutes: int, severity: str, summary: str) -> dict:
    own = f'namespace="{namespace}",job="{nodes_service(site)}"'
    rule: dict[str, Any] = {"alert": alert, "expr": expression.replace("$own", own), "for": f"{minutes}m"}
    return {**rule, "labels": {"severity": severity, "site": site}, "annotations": {"summary": f"Garage site {site}: {summary}"}}


_FAILED_CALLS = " + ".join(f"(sum(rate({name}{{$own}}[10m])) or vector(0))" for name in (
    "rpc_netapp_error_counter", "rpc_garage_error_counter", "rpc_timeout_counter"))

# Name, expression ($own chooses the site's nodes), minutes it must hold, severity, what it means.
ALERTS = (
    ("GarageNodeDown", "up{$own} == 0", 5, "warning", "node {{ $labels.pod }} does not answer"),
    ("GarageUnavailable", "max(cluster_available{$own}) == 0", 2, "critical", "no quorum for some partition, requests fail"),
    ("GarageUnhealthy", "min(cluster_healthy{$own}) == 0", 15, "warning", "some node sees the cluster as not healthy"),
    ("GarageStorageNodeDown", "max(cluster_storage_nodes{$own} - cluster_storage_nodes_ok{$own}) > 0", 10, "warning",
     "{{ $value }} storage nodes of the cluster are down"),
    ("GaragePartitionsDegraded", "max(cluster_partitions{$own} - cluster_partitions_all_ok{$own}) > 0", 15, "warning",
     "{{ $value }} partitions lack a copy"),
    ("GarageNodeDisconnected", "cluster_layout_node_connected{$own} == 0", 15, "warning",
     "{{ $labels.pod }} is not connected to node {{ $labels.id }} of zone {{ $labels.role_zone }}"),
    ("GarageCallsFail", f"({_FAILED_CALLS}) / sum(rate(rpc_request_counter{{$own}}[10m])) > 0.05", 15, "warning",
     "more than a twentieth of the calls between nodes fail"),
    ("GarageBlockErrors", "block_resync_errored_blocks{$own} > 0", 60, "warning", "{{ $labels.pod }} cannot get {{ $value }} blocks"),
    ("GarageResyncQueueLong", "block_resync_queue_length{$own} > 10000", 60, "warning", "{{ $value }} blocks wait for resync on {{ $labels.pod }}"),
    ("GarageDiskAlmostFull", "garage_local_disk_avail{$own} / garage_local_disk_total{$own} < 0.1", 15, "warning",
     "less than a tenth is left of {{ $labels.volume }} on {{ $labels.pod }}"),
)
