# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What was seen of all sites, in one dictionary: for a table, for a page, for whoever reads it by program. Pure. Private: not for use outside of
the collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .attention import attention
from .cluster import clusters, layout, nodes, writers, zones
from .seen import Seen
from .table import lines
from .tenants import block_errors, buckets, expiring

DRIFT = ("layout", "tenancy")


def summarize(facts: Iterable[Mapping], now: str, quota_percent: int = 90, expiry_days: int = 30) -> dict:
    """``clusters`` holds the sites that share a cluster and what there is to tell of it, ``attention`` what needs a look, ``lines`` the table to
    print, ``brief`` a few values for each site. ``now`` is RFC 3339; it is not in the result. Raises ValueError when it is no time.
    """
    found = [_cluster(members, now, quota_percent, expiry_days) for members in clusters([Seen.of(fact) for fact in facts])]
    needs = [{**need, "cluster": cluster["name"]} for cluster in found for need in attention(cluster, expiry_days)]
    return {"clusters": found, "attention": needs, "lines": lines(found, needs), "brief": {site["name"]: _brief(site) for site in sites_of(found)}}


def sites_of(found: Iterable[Mapping]) -> list[dict]:
    return [site for cluster in found for site in cluster["sites"]]


def _cluster(members: Sequence[Seen], now: str, quota_percent: int, expiry_days: int) -> dict:
    known, names = nodes(members), writers(members)
    return {
        "name": ", ".join(site.name for site in members),
        "sites": [_site(site, names) for site in members],
        "writers": names,
        "nodes": known,
        "zones": zones(members, known),
        "layout": layout(members),
        "buckets": buckets(members, quota_percent),
        "expiring": expiring(members, now, expiry_days),
        "block_errors": block_errors(members, {node["id"]: node["name"] for node in known}),
    }


def _site(site: Seen, names: Sequence[str]) -> dict:
    cluster = site.cluster
    return {
        "name": site.name,
        "zone": site.zone,
        "site_role": site.site_role,
        "writes": site.name in names,
        "reachable": site.reachable,
        "message": cluster["message"],
        "garage_version": cluster.get("garage_version"),
        "layout_version": cluster.get("layout_version"),
        "health": (cluster.get("health") or {}).get("status"),
        "partitions": {name: (cluster.get("health") or {}).get(name) for name in ("partitions", "partitions_quorum", "partitions_all_ok")},
        "nodes": len(site.nodes),
        "nodes_up": sum(bool(node["up"]) for node in site.nodes),
        "drift": {name: site.plan(name) for name in DRIFT},
        "faults": {name: fault for name in ("layout", "buckets", "keys", "tokens", "blocks") if (fault := site.fault(name))},
    }


def _brief(site: Mapping) -> dict:
    return {
        **{name: site[name] for name in ("reachable", "message", "site_role", "garage_version", "layout_version", "health", "nodes", "nodes_up")},
        "drift": {name: plan["state"] for name, plan in site["drift"].items()},
    }
