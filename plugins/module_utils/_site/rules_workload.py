# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rules for a workload as a whole: names, credentials, the way to its Admin API, replicas, addresses, Services. Pure. Private: not for use
outside of the collection.

Each function returns faults as text and copes with values of a wrong type, which the schema reports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .._models.layout import MAXIMUM
from .._models.peer import split_address
from .rules_config import config_faults, version_faults
from .rules_pod import mark_faults, pod_faults
from .rules_storage import GROUPS, places, volume_faults
from .shape import EDGE_GATEWAYS, HANDLE, entries, number, section, shape

# Kubernetes labels each pod with <StatefulSet>-<hash of 10 characters>, of at most 63: <name>-storage-255 has 52 (OP-032).
LONGEST_NAME = 40
SECRETS = ("rpc_secret", "admin_token", "metrics_token")
ORDINAL = "{ordinal}"


def workload_faults(site: Mapping) -> Iterator[str]:
    """All faults of the sections of a workload."""
    if shape(site) in (None, HANDLE):
        return
    yield from _place(site)
    yield from _credentials(site)
    yield from _admin(section(site, "admin"))
    yield from _replication(site)
    yield from volume_faults(site)
    yield from pod_faults(site)
    for place in places(site):
        yield from mark_faults(place.volume, place.where)
    yield from _addresses(site)
    yield from _budgets(site)
    yield from _services(site)
    yield from config_faults(site)
    yield from version_faults(site)


def _place(site: Mapping) -> Iterator[str]:
    if site.get("kubernetes") is None:
        yield "garage_site.kubernetes: is missing; set its namespace, where the nodes shall run"
    name = site.get("name")
    if isinstance(name, str) and len(name) > LONGEST_NAME:
        yield f"garage_site.name: {len(name)} characters; names of objects derive from it, so at most {LONGEST_NAME} are taken for a site with nodes"


def _credentials(site: Mapping) -> Iterator[str]:
    given, where = section(site, "credentials"), "garage_site.credentials"
    yield from (f"{where}: {name} and {name}_file exclude one another" for name in SECRETS if name in given and f"{name}_file" in given)
    target = section(site, "connect_to")
    own = [name for name in ("rpc_secret", "rpc_secret_file") if name in given]
    other = next((name for name in ("rpc_secret_file", "site") if target.get(name)), None)
    if shape(site) == EDGE_GATEWAYS and own and other:
        yield f"{where}.{own[0]}: gateways have the RPC secret of their cluster by connect_to.{other}; leave one of them out"


def _admin(admin: Mapping) -> Iterator[str]:
    where = "garage_site.admin"
    if admin.get("transport") == "http" and not admin.get("api_url"):
        yield f"{where}.api_url: is missing; transport http needs the address by which the play reaches the Admin API"
    if admin.get("transport") == "exec" and admin.get("api_url"):
        yield f"{where}.api_url: is not used by transport exec; leave it out, or set transport to auto"
    if admin.get("client_key") and not admin.get("client_cert"):
        yield f"{where}.client_key: needs client_cert"


def _replication(site: Mapping) -> Iterator[str]:
    replication, where = section(site, "replication"), "garage_site.replication"
    factor = number(replication.get("factor"))
    if replication.get("factor") is None and not section(site, "connect_to").get("site"):
        yield f"{where}.factor: is missing; it is how many copies of each block the cluster keeps, the same at all sites and for good"
    alone = not site.get("remotes") and not any(section(site, "layout").get(name) for name in ("nodes", "external_nodes"))
    replicas = number(section(site, "storage").get("replicas"))
    if site.get("storage") is not None and alone:
        if factor and replicas and factor > replicas:
            yield (f"{where}.factor: {factor} copies need {factor} storage nodes, and this site has {replicas}; set storage.replicas to {factor} or"
                   " more, or name the other sites in remotes")
        if (number(replication.get("zone_redundancy")) or 0) > 1:
            yield f"{where}.zone_redundancy: {replication['zone_redundancy']} zones, and this site is a single one; set maximum, or name the others in remotes"


def _addresses(site: Mapping) -> Iterator[str]:
    """OP-028: each node has an address of its own."""
    found: dict[Any, str] = {}
    for group in GROUPS:
        nodes, where = section(site, group), f"garage_site.{group}.rpc_public_addr"
        address = nodes.get("rpc_public_addr")
        if not isinstance(address, str):
            continue
        if (number(nodes.get("replicas", 2)) or 0) > 1 and ORDINAL not in address:
            yield f"{where}: {address[:80]!r} would be the address of all nodes; put {ORDINAL} where they differ"
        if found.setdefault(address, where) != where:
            yield f"{where}: {address[:80]!r} is that of the storage nodes too; each node has one of its own"
        try:
            split_address(re.sub(re.escape(ORDINAL), "0", address))
        except ValueError as error:
            yield f"{where}: {error}"


def _budgets(site: Mapping) -> Iterator[str]:
    for group in GROUPS:
        budget = section(section(site, group), "disruption_budget")
        if "max_unavailable" in budget and "min_available" in budget:
            yield f"garage_site.{group}.disruption_budget: max_unavailable and min_available exclude one another"


def _services(site: Mapping) -> Iterator[str]:
    config = section(site, "config")
    for group in GROUPS:
        service, where = section(section(site, group), "service"), f"garage_site.{group}.service"
        if not service:
            continue
        if group == "storage" and site.get("gateway") is not None:
            yield f"{where}: the Service of a site with gateways leads to them; set gateway.service"
        kind, ports = service.get("type", "ClusterIP"), section(service, "node_ports")
        # OP-030, OP-031
        if kind != "LoadBalancer" and "load_balancer_class" in service:
            yield f"{where}.load_balancer_class: needs type LoadBalancer, not {kind}"
        for name in ("external_traffic_policy", "node_ports"):
            if kind == "ClusterIP" and name in service:
                yield f"{where}.{name}: needs type NodePort or LoadBalancer, not {kind}"
        for name, part in (("web", "s3_web"), ("k2v", "k2v_api")):
            if name in ports and part not in config:
                yield f"{where}.node_ports.{name}: there is no such port without config.{part}"
        for value in dict.fromkeys(map(str, ports.values())):
            alike = [name for name, number in ports.items() if str(number) == value]
            if len(alike) > 1:
                yield f"{where}.node_ports: {' and '.join(alike)} have {value}; each port has a number of its own"
        yield from mark_faults(service, where)


def cluster_faults(site: Mapping, others: list[tuple[str, Mapping]]) -> Iterator[str]:
    """Settings that the sites of one cluster must share (OP-012). ``others``: what the others are called, and they themselves."""
    own = section(site, "replication")
    for called, other in others:
        for name in ("factor", "consistency_mode"):
            found = section(other, "replication").get(name)
            if None not in (own.get(name), found) and own[name] != found:
                yield (f"garage_site.replication.{name}: {own[name]!r} here and {found!r} at {called}; nodes of one cluster have one."
                       + (" Changing the factor of a cluster that runs is a migration: all nodes stop for it" if name == "factor" else ""))


def zone_faults(site: Mapping, target: Mapping) -> Iterator[str]:
    """Whether Garage can compute a layout with gateways in the zone of ``site``, for the cluster of ``target``.

    With `maximum` it counts the zones of gateways too, and finds storage in none of them: it refuses to apply such a layout (seen on 2.5.0).
    """
    said = section(site, "replication").get("zone_redundancy", section(target, "replication").get("zone_redundancy"))
    factor = number(section(target, "replication").get("factor"))
    if said != MAXIMUM or factor is None or target.get("storage") is None:
        return
    others = [node.get("zone") for name in ("nodes", "external_nodes") for _index, node in entries(section(target, "layout"), name)
              if not node.get("gateway")]
    # Of the other sites it is not known here that they store nothing.
    zones = {str(zone) for zone in (target.get("zone"), *others, *(remote.get("zone") for _index, remote in entries(target, "remotes"))) if zone}
    if site.get("zone") not in zones and len(zones) < factor:
        yield (f"garage_site.zone: {site.get('zone')!r} holds gateways alone, and with zone_redundancy: maximum Garage would want storage in it and"
               f" refuse the layout; set the zone of the storage they are near ({', '.join(sorted(zones))}), or zone_redundancy: {len(zones)} at the"
               " writer of the layout")


def tag_lists(site: Mapping) -> Iterator[tuple[str, Any]]:
    """Where tags of nodes stand, and they themselves."""
    for name in ("nodes", "external_nodes"):
        yield from ((f"garage_site.layout.{name}[{index}].tags", node.get("tags")) for index, node in entries(section(site, "layout"), name))
    yield from ((f"garage_site.{group}.tags", section(site, group).get("tags")) for group in GROUPS)
