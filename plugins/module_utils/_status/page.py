# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The summary of all sites as one HTML page that needs nothing else: no script, no other file, no network. Pure. Private: not for use outside of
the collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .markup import Content, Markup, tag
from .sections import bucket_table, drift_table, error_table, expiry_table, layout_part, node_table, picture_part, site_table, zone_table
from .style import STYLE
from .words import counted

# A browser that reads this loads and runs nothing, whatever a name in the page may be.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
LEVELS = {"bad": "Bad:", "warn": "Look:", "note": "Note:"}


def page(summary: Mapping, title: str = "Garage", time: str | None = None) -> str:
    """``summary`` is that of ``summarize``. Without ``time`` the same state gives the same page."""
    body = tag(
        "main", None,
        tag("h1", None, title),
        tag("p", {"class": "muted"}, _tally(summary), f", as of {time}" if time else ""),
        _attention(summary["attention"]),
        tag("h2", None, "Sites"), site_table([site for cluster in summary["clusters"] for site in cluster["sites"]]),
        [_cluster(cluster) for cluster in summary["clusters"]],
    )
    head = tag(
        "head", None,
        tag("meta", {"charset": "utf-8"}),
        tag("meta", {"http-equiv": "Content-Security-Policy", "content": POLICY}),
        tag("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        tag("meta", {"name": "color-scheme", "content": "light dark"}),
        tag("meta", {"name": "referrer", "content": "no-referrer"}),
        tag("title", None, title),
        tag("style", None, STYLE),
    )
    return f"<!DOCTYPE html>\n{tag('html', {'lang': 'en'}, head, tag('body', None, body))}\n"


def _tally(summary: Mapping) -> str:
    sites = [site for cluster in summary["clusters"] for site in cluster["sites"]]
    nodes = [node for cluster in summary["clusters"] for node in cluster["nodes"]]
    return (f"{sum(site['reachable'] for site in sites)} of {counted(len(sites), 'site')} reachable, "
            f"{sum(node['state'] == 'up' for node in nodes)} of {counted(len(nodes), 'node')} up")


def _attention(needs: Sequence[Mapping]) -> Markup:
    if not needs:
        return tag("p", None, tag("span", {"class": "word ok"}, "nothing needs a look"))
    return tag("ul", None, [tag("li", {"class": need["level"]}, tag("b", None, LEVELS[need["level"]]), need["text"]) for need in needs])


def _cluster(cluster: Mapping) -> Content:
    parts = (
        ("Federation", picture_part(cluster)),
        ("Capacity and use by zone", zone_table(cluster["zones"])),
        ("Layout", layout_part(cluster["layout"])),
        ("Nodes as each site sees them", node_table(cluster)),
        ("Buckets against their quotas", bucket_table(cluster["buckets"])),
        ("Keys and tokens that expire", expiry_table(cluster["expiring"])),
        ("Site files against what is there", drift_table(cluster["sites"])),
        ("Blocks that could not be resynced", error_table(cluster["block_errors"])),
    )
    return [tag("h2", None, f"Cluster of {cluster['name']}"), [tag("section", None, tag("h3", None, head), content) for head, content in parts]]
