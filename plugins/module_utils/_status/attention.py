# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What needs a look, the worst first. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .seen import TOLD
from .words import counted, listed, size

BAD, WARN, NOTE = "bad", "warn", "note"


def attention(cluster: Mapping, expiry_days: int) -> list[dict]:
    """Sentences with their ``level``: bad (something does not work, or is about to), warn, note."""
    found = [{"level": level, "text": text} for part in (_sites, _writing, _nodes, _layout, _tenants, _drift) for level, text in part(cluster)]
    found += [{"level": WARN, "text": text} for text in _expiring(cluster, expiry_days)]
    return sorted(found, key=lambda need: (BAD, WARN, NOTE).index(need["level"]))


def _sites(cluster: Mapping) -> Iterator[tuple[str, str]]:
    # All sites of a cluster say the same of it as a rule.
    said: dict[tuple[str, str], list[str]] = {}
    for site in cluster["sites"]:
        if not site["reachable"]:
            yield BAD, f"{site['name']} cannot be reached: {site['message']}"
        elif health := _health(site):
            said.setdefault(health, []).append(site["name"])
        for name, fault in site["faults"].items():
            yield NOTE, f"{site['name']}: {TOLD[name]} could not be read: {fault}"
    for (level, text), names in said.items():
        yield level, f"{listed(names)}: {text}"


def _health(site: Mapping) -> tuple[str, str] | None:
    parts = site["partitions"]
    if site["layout_version"] == 0:
        return WARN, "the cluster has no layout yet"
    if site["health"] == "unavailable":
        return BAD, f"{parts['partitions'] - parts['partitions_quorum']} of {parts['partitions']} partitions cannot be written"
    return None if site["health"] in ("healthy", None) else (WARN, f"the cluster is {site['health']}")


def _writing(cluster: Mapping) -> Iterator[tuple[str, str]]:
    if len(cluster["writers"]) > 1:
        yield BAD, f"more than one site may write the layout: {listed(cluster['writers'])}; set layout.site_role: follower at all but one"
    if not cluster["writers"] and any(site["site_role"] == "follower" for site in cluster["sites"]):
        yield NOTE, "the site that writes the layout is not among these sites"


def _nodes(cluster: Mapping) -> Iterator[tuple[str, str]]:
    for node in cluster["nodes"]:
        where = f"node {node['name']} in {node['zone']}" if node["zone"] else f"node {node['name']}, which has no role,"
        if node["state"] == "down":
            yield WARN, f"{where} is down"
        elif node["state"] == "disputed":
            yield WARN, f"{where} is not seen the same by all: {listed(f'{name} says {view}' for name, view in node['views'].items())}"
    versions = sorted({node["garage_version"] for node in cluster["nodes"] if node["garage_version"]})
    if len(versions) > 1:
        yield NOTE, f"nodes run different versions of Garage: {listed(versions)}"


def _layout(cluster: Mapping) -> Iterator[tuple[str, str]]:
    layout = cluster["layout"]
    if layout is None:
        return
    if len(set(layout["versions"].values())) > 1:
        yield WARN, f"the sites know different layout versions: {listed(f'{name} {version}' for name, version in layout['versions'].items())}"
    if layout["staged"]:
        yield NOTE, f"{counted(len(layout['staged']), 'layout change')} staged and not applied"
    if layout["draining"]:
        yield NOTE, f"layout version {listed(map(str, layout['draining']))} still drains"
    for name, lines in layout["awaiting"].items():
        yield NOTE, f"{name} waits for the layout writer: {listed(lines)}"


def _tenants(cluster: Mapping) -> Iterator[tuple[str, str]]:
    for bucket in (cluster["buckets"] or {"limited": []})["limited"]:
        if bucket["level"] != "ok":
            yield BAD if bucket["level"] == "full" else WARN, f"bucket {bucket['name']} has used {bucket['percent']} % of its quota ({_used(bucket)})"
    for row in cluster["block_errors"] or ():
        yield WARN, f"node {row['node']} could not resync {counted(row['blocks'], 'block')}"


def _used(bucket: Mapping) -> str:
    if bucket["size_percent"] == bucket["percent"]:
        return f"{size(bucket['bytes'])} of {size(bucket['max_size'])}"
    return f"{bucket['objects']} of {counted(bucket['max_objects'], 'object')}"


def _drift(cluster: Mapping) -> Iterator[tuple[str, str]]:
    for site in cluster["sites"]:
        for name, plan in site["drift"].items():
            if plan["state"] == "differs":
                yield NOTE, f"{site['name']}: a run would change the {name} ({counted(len(plan['actions']), 'action')})"
            elif plan["state"] == "unknown":
                yield NOTE, f"{site['name']}: the {name} of the site file cannot be compared: {plan['message']}"


def _expiring(cluster: Mapping, days: int) -> Iterator[str]:
    for row in cluster["expiring"]:
        when = "has expired" if row["expired"] else f"expires within {counted(days, 'day')}"
        yield f"{row['kind']} {row['name']} {when}: {row['expiration']}"
