# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which sites share a cluster, and what all of them together tell of it. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .seen import Seen, awaited
from .words import age, node_name, short, size

FOLLOWER, WRITER = "follower", "writer"


def clusters(sites: Sequence[Seen]) -> list[list[Seen]]:
    """The sites, put together by the nodes that they see and by the remotes that their files name; in the order given."""
    groups: list[tuple[set[str], list[Seen]]] = []
    for site in sites:
        marks = {f"site {name}" for name in (site.name, *site.remotes)} | {f"node {node['id']}" for node in site.nodes}
        near = [group for group in groups if group[0] & marks]
        for group in near:
            groups.remove(group)
        groups.append((marks.union(*(group[0] for group in near)), [*(member for group in near for member in group[1]), site]))
    order = {site.name: index for index, site in enumerate(sites)}
    return sorted((sorted(members, key=lambda one: order[one.name]) for _marks, members in groups), key=lambda members: order[members[0].name])


def writers(sites: Sequence[Seen]) -> list[str]:
    """Who writes the layout. A site without a role does where its file has anything to say of it, unless another is said to."""
    said = [site.name for site in sites if site.site_role == WRITER]
    return said or [site.name for site in sites if site.site_role != FOLLOWER and site.declares_layout]


def first(sites: Sequence[Seen], part: str) -> Any:
    """The answer of the writer, or of the first other site that has one: within a cluster they are the same."""
    names = writers(sites)
    for site in sorted(sites, key=lambda one: one.name not in names):
        if (found := site.part(part)) is not None:
            return found
    return None


def nodes(sites: Sequence[Seen]) -> list[dict]:
    """Each node that any site sees, with what each site sees of it. ``state`` is up, down, or disputed when the sites do not agree."""
    ids = sorted({node["id"] for site in sites for node in site.nodes})
    usable = {role["id"]: role["usable_capacity"] for role in (first(sites, "layout") or {"roles": []})["roles"]}
    return sorted((_node(id, sites, usable.get(id)) for id in ids), key=lambda node: (node["zone"] is None, node["zone"] or "", node["name"]))


def _node(id: str, sites: Sequence[Seen], usable: int | None) -> dict:
    views = {site.name: next((node for node in site.nodes if node["id"] == id), None) for site in sites if site.reachable}
    known = [view for view in views.values() if view]
    states = {bool(view and view["up"]) for view in views.values()}

    def told(name: str) -> Any:
        return next((view[name] for view in known if view.get(name) is not None), None)

    return {
        "id": id,
        "name": node_name({"id": id, "hostname": told("hostname")}),
        "hostname": told("hostname"),
        "garage_version": told("garage_version"),
        "zone": told("zone"),
        "capacity": told("capacity"),
        "usable_capacity": usable,
        "gateway": any(view["gateway"] for view in known),
        "has_role": any(view["has_role"] for view in known),
        "draining": any(view["draining"] for view in known),
        "disk": told("data_partition"),
        "state": "disputed" if len(states) > 1 else "up" if True in states else "down",
        "views": {name: _view(view) for name, view in views.items()},
    }


def _view(node: Mapping | None) -> str:
    if node is None:
        return "not known"
    return "up" if node["up"] else f"down, {age(node['last_seen_seconds'])}"


def zones(sites: Sequence[Seen], found: Sequence[Mapping]) -> list[dict]:
    """Capacity and use by zone; the nodes without a zone, and the zones of sites without nodes, among them. Sizes are bytes, None when unknown."""
    names = sorted({site.zone for site in sites if site.zone} | {node["zone"] for node in found if node["zone"]})
    return [_zone(name, sites, [node for node in found if node["zone"] == name])
            for name in (*names, *([None] if any(node["zone"] is None for node in found) else []))]


def _zone(name: str | None, sites: Sequence[Seen], found: Sequence[Mapping]) -> dict:
    storage = [node for node in found if node["capacity"] is not None]
    disks = [node["disk"] for node in storage if node["disk"]]
    return {
        "zone": name,
        "sites": [site.name for site in sites if site.zone == name],
        "nodes": len(found),
        "up": sum(node["state"] == "up" for node in found),
        "storage": len(storage),
        "gateways": sum(node["gateway"] for node in found),
        "capacity": sum(node["capacity"] for node in storage),
        "usable_capacity": _sum(node["usable_capacity"] for node in storage),
        "disk_total": _sum(disk["total"] for disk in disks),
        "disk_used": _sum(disk["total"] - disk["available"] for disk in disks),
        "disks_unknown": len(storage) - len(disks),
    }


def _sum(numbers: Iterable[int | None]) -> int | None:
    """None when there is nothing to add up, or when one is not known."""
    found = list(numbers)
    return None if not found or None in found else sum(number for number in found if number is not None)


def layout(sites: Sequence[Seen]) -> dict | None:
    """The layout in force and what is on its way; None when no site tells."""
    found = first(sites, "layout")
    if found is None:
        return None
    staged = [_staged(role) for role in found["staged"]["roles"]]
    if (redundancy := found["staged"]["zone_redundancy"]) is not None:
        staged.append(f"set the zone redundancy to {redundancy}")
    history = found["history"]
    return {
        "version": found["version"],
        "versions": {site.name: site.cluster["layout_version"] for site in sites if site.reachable},
        "zone_redundancy": str(found["zone_redundancy"]),
        "staged": staged,
        # What still drains by name only, no node needs any more (OP-110).
        "draining": [] if history["settled"] else [version["version"] for version in history["versions"] if version["status"] == "draining"],
        "lagging": sorted(short(id) for id in history["lagging"]) if not history["settled"] else [],
        "without_role": [short(id) for id in found["nodes_without_role"]],
        "awaiting": {site.name: lines for site in sites if (lines := _awaiting(site))},
    }


def _staged(role: Mapping) -> str:
    if role["remove"]:
        return f"remove the role of {short(role['id'])}"
    return f"give {short(role['id'])} zone {role['zone']}, {'gateway' if role['gateway'] else size(role['capacity'])}"


def _awaiting(site: Seen) -> list[str]:
    """By the site file where it declares something of the layout, else by what the follower sees."""
    plan = site.plan("layout")
    if plan["state"] != "undeclared":
        return plan["actions"] if plan["state"] == "awaiting" else []
    awaiting = (site.part("layout") or {}).get("awaiting")
    return awaited(awaiting) if awaiting and awaiting["reason"] != "nothing_pending" else []
