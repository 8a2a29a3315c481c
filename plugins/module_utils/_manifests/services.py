# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Services of a site. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Mapping

from .names import GATEWAY, PORTS, SERVICE, STORAGE, metadata, nodes_service, selector


def services(workload: Mapping, namespace: str) -> list[dict]:
    """A name for each pod, the S3 API, and the Admin API."""
    site, config = workload["name"], workload["config"]
    front = GATEWAY if workload["gateway"] else STORAGE
    public = ["s3", *(["web"] if "s3_web" in config else []), *(["k2v"] if "k2v_api" in config else [])]
    return [
        _service(namespace, site, nodes_service(site), "nodes", {
            # Nodes that are not ready must find one another too: none is ready before.
            "clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector(site), "ports": _ports(["rpc", "admin"]),
        }),
        _front(namespace, site, workload[front]["service"], front, public),
        _service(namespace, site, f"{site}-admin", "admin", {"type": "ClusterIP", "selector": selector(site), "ports": _ports(["admin"])}),
    ]


def _front(namespace: str, site: str, options: Mapping, component: str, names: list[str]) -> dict:
    spec = {
        "type": options["type"],
        "selector": selector(site, component),
        "ports": _ports(names, options.get("node_ports", {})),
        **{field: options[option] for option, field in (
            ("load_balancer_class", "loadBalancerClass"), ("external_traffic_policy", "externalTrafficPolicy")) if option in options},
    }
    return _service(namespace, site, f"{site}-s3", "s3", spec, options.get("labels", {}), options.get("annotations", {}))


def _service(namespace: str, site: str, name: str, purpose: str, spec: dict, labels: Mapping | None = None,
             annotations: Mapping | None = None) -> dict:
    marked = {**(labels or {}), **selector(site), SERVICE: purpose}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata(namespace, name, marked, annotations), "spec": spec}


def _ports(names: list[str], node_ports: Mapping | None = None) -> list[dict]:
    found = node_ports or {}
    return [{"name": name, "port": PORTS[name], "targetPort": name, "protocol": "TCP", **({"nodePort": found[name]} if name in found else {})}
            for name in names]
