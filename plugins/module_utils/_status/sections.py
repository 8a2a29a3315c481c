# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The parts of the page about one cluster. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .markup import Content, Markup, tag
from .picture import arrange, draw
from .table import drift_of, role_of
from .words import counted, listed, percent, size

UNTOLD = "No site has told."
_HEALTH = {"healthy": "ok", "degraded": "warn", "unavailable": "bad"}
_STATE = {"up": "ok", "down": "bad", "disputed": "warn"}
_LEVEL = {"ok": "ok", "near": "warn", "full": "bad"}
_DRIFT = {"same": ("ok", "as declared"), "differs": ("warn", "differs"), "awaiting": ("warn", "waits for the writer"),
          "unknown": ("warn", "cannot be compared")}


def table(heads: Sequence[str], rows: Iterable[Sequence[Content]], none: str) -> Markup:
    """On a phone each cell says itself what it is. ``none`` is said in place of a table without rows."""
    made = [tag("tr", None, map(_cell, heads, row)) for row in rows]
    if not made:
        return tag("p", {"class": "muted"}, none)
    head_row = tag("tr", None, [tag("th", {"scope": "col"}, head) for head in heads])
    return tag("div", {"class": "scroll"}, tag("table", None, tag("thead", None, head_row), tag("tbody", None, made)))


def _cell(head: str, content: Content) -> Markup:
    return tag("td", {"data-label": head, "class": "none" if content == "-" else None}, tag("div", None, content))


def word(level: str, text: str) -> Markup:
    return tag("span", {"class": f"word {level}"}, text)


def meter(level: str, share: int) -> Markup:
    """A bar of ``share`` percent; the number is said beside it."""
    return tag("svg", {"class": "bar", "viewBox": "0 0 100 6", "preserveAspectRatio": "none", "aria-hidden": "true"},
               tag("rect", {"class": "track", "x": 0, "y": 0, "width": 100, "height": 6}),
               tag("rect", {"class": level, "x": 0, "y": 0, "width": min(max(share, 0), 100), "height": 6}))


def site_table(sites: Iterable[Mapping]) -> Markup:
    heads = ("Site", "Zone", "Role", "State", "Garage", "Layout", "Nodes up", "Site file")
    return table(heads, map(_site_row, sites), "No site was asked.")


def _site_row(site: Mapping) -> tuple[Content, ...]:
    start = (site["name"], site["zone"] or "-", role_of(site))
    if not site["reachable"]:
        return (*start, [word("bad", "unreachable"), " ", site["message"]], "-", "-", "-", "-")
    state = word(_HEALTH.get(site["health"], "warn"), site["health"] or "unknown")
    return (*start, state, site["garage_version"] or "?", f"version {site['layout_version']}", f"{site['nodes_up']} of {site['nodes']}",
            drift_of(site))


def picture_part(cluster: Mapping) -> Markup:
    """Twice, for wide and for narrow windows; the style shows one of them."""
    title = f"Zones, sites and nodes of the cluster of {cluster['name']}"
    caption = ("Arrows lead from the site that writes the layout to those that follow it." if arrange(cluster, 1).arrows else
               "The framed site writes the layout." if cluster["writers"] else "None of these sites writes the layout.")
    return tag("figure", None, draw(arrange(cluster, 3), "picture wide", title), draw(arrange(cluster, 1), "picture narrow", title),
               tag("figcaption", None, caption))


def zone_table(zones: Iterable[Mapping]) -> Markup:
    heads = ("Zone", "Nodes", "Capacity in the layout", "Usable at this balance", "Disks in use")
    return table(heads, map(_zone_row, zones), "No zone is known.")


def _zone_row(zone: Mapping) -> tuple[Content, ...]:
    kinds = (f"{zone['storage']} storage" if zone["storage"] else "", counted(zone["gateways"], "gateway") if zone["gateways"] else "")
    nodes = f"{zone['up']} of {zone['nodes']} up: {listed(filter(None, kinds)) or 'no role'}" if zone["nodes"] else "none known"
    capacity, usable = (size(zone[name]) if zone["storage"] else "-" for name in ("capacity", "usable_capacity"))
    return zone["zone"] or "no zone yet", nodes, capacity, usable, _disks(zone)


def _disks(zone: Mapping) -> Content:
    if zone["disk_total"] is None:
        return "unknown" if zone["storage"] else "-"
    share = percent(zone["disk_used"], zone["disk_total"])
    unknown = f", {counted(zone['disks_unknown'], 'node')} unknown" if zone["disks_unknown"] else ""
    level = "bad" if share >= 95 else "warn" if share >= 85 else "ok"
    return [f"{share} %, {size(zone['disk_used'])} of {size(zone['disk_total'])}{unknown}", meter(level, share)]


def layout_part(layout: Mapping | None) -> Markup:
    if layout is None:
        return tag("p", {"class": "muted"}, UNTOLD)
    rows = [
        ("In force", f"version {layout['version']}, zone redundancy {layout['zone_redundancy']}"),
        ("Staged", _lines(layout["staged"])),
        ("Draining", [f"version {listed(map(str, layout['draining']))}", f"; behind: {listed(layout['lagging'])}" if layout["lagging"] else ""]
         if layout["draining"] else "nothing"),
        ("Nodes without role", listed(layout["without_role"]) or "none"),
        ("Awaiting the writer", _lines([f"{name}: {line}" for name, lines in layout["awaiting"].items() for line in lines])),
    ]
    return table(("What", "Is"), rows, UNTOLD)


def _lines(texts: Sequence[str]) -> Content:
    return [[text, tag("br")] for text in texts] if texts else "nothing"


def node_table(cluster: Mapping) -> Markup:
    views = [site["name"] for site in cluster["sites"]]
    heads = ("Node", "Zone", "Kind", "State", *(f"Seen by {name}" for name in views))
    return table(heads, (_node_row(node, views) for node in cluster["nodes"]), "No node is known.")


def _node_row(node: Mapping, views: Sequence[str]) -> tuple[Content, ...]:
    kind = "gateway" if node["gateway"] else f"storage, {size(node['capacity'])}" if node["has_role"] else "no role"
    state = [word(_STATE[node["state"]], node["state"]), " draining" if node["draining"] else ""]
    return node["name"], node["zone"] or "-", kind, state, *(node["views"].get(name, "unreachable") for name in views)


def bucket_table(buckets: Mapping | None) -> Content:
    if buckets is None:
        return tag("p", {"class": "muted"}, UNTOLD)
    others = buckets["others"]
    rest = f"{counted(others['buckets'], 'bucket')} without a quota: {size(others['bytes'])}, {counted(others['objects'], 'object')}."
    return [table(("Bucket", "Size", "Objects", "Used"), map(_bucket_row, buckets["limited"]), "No bucket has a quota."),
            tag("p", {"class": "muted"}, rest)]


def _bucket_row(bucket: Mapping) -> tuple[Content, ...]:
    level = _LEVEL[bucket["level"]]
    return (bucket["name"], _of(size(bucket["bytes"]), None if bucket["max_size"] is None else size(bucket["max_size"])),
            _of(str(bucket["objects"]), None if bucket["max_objects"] is None else str(bucket["max_objects"])),
            [word(level, f"{bucket['percent']} %"), meter(level, bucket["percent"])])


def _of(used: str, limit: str | None) -> str:
    return used if limit is None else f"{used} of {limit}"


def expiry_table(rows: Iterable[Mapping]) -> Markup:
    return table(("Kind", "Name", "Id", "Expires", "State"), (
        (row["kind"], row["name"], row["id"] or "-", row["expiration"], word("bad", "expired") if row["expired"] else word("warn", "soon"))
        for row in rows), "None.")


def drift_table(sites: Iterable[Mapping]) -> Markup:
    rows = [(site["name"], name, word(*_DRIFT[plan["state"]]), _lines(plan["actions"]) if plan["actions"] else plan["message"] or "-")
            for site in sites for name, plan in site["drift"].items() if plan["state"] != "undeclared"]
    none = "No site file declares a layout or a tenancy, or its site could not be asked."
    return table(("Site", "Part", "State", "What a run would do"), rows, none)


def error_table(rows: Sequence[Mapping] | None) -> Markup:
    if rows is None:
        return tag("p", {"class": "muted"}, UNTOLD)
    return table(("Node", "Blocks", "Most tries"), ((row["node"], row["blocks"], row["most_tries"]) for row in rows), "None.")
