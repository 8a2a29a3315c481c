# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""All sites as a table of text. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

HEAD = ("SITE", "ROLE", "GARAGE", "LAYOUT", "NODES UP", "HEALTH", "SITE FILE")
_DRIFT = {"same": "as declared", "differs": "differs", "awaiting": "awaits writer", "unknown": "unknown", "undeclared": ""}


def lines(clusters: Iterable[Mapping], needs: Sequence[Mapping]) -> list[str]:
    """The lines to print: a table with a row for each site, and below it what needs a look."""
    rows = [_row(site) for cluster in clusters for site in cluster["sites"]]
    widths = [max(len(row[column]) for row in (HEAD, *rows)) for column in range(len(HEAD))]
    table = ["  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in (HEAD, *rows)]
    return [*table, *(f"{need['level'].upper()}: {need['text']}" for need in needs)]


def _row(site: Mapping) -> tuple[str, ...]:
    if not site["reachable"]:
        return (site["name"], role_of(site), "", "", "", "unreachable", "")
    return (site["name"], role_of(site), site["garage_version"] or "?", str(site["layout_version"]), f"{site['nodes_up']} of {site['nodes']}",
            site["health"] or "?", drift_of(site))


def role_of(site: Mapping) -> str:
    """The role that the site has, and behind it what it comes to when none is set."""
    return site["site_role"] or ("writer (unset)" if site["writes"] else "-")


def drift_of(site: Mapping) -> str:
    """The parts of a site file that are not as declared, or that all are."""
    states = {name: plan["state"] for name, plan in site["drift"].items() if plan["state"] != "undeclared"}
    if not states:
        return "-"
    odd = [f"{name} {_DRIFT[state]}" for name, state in states.items() if state != "same"]
    return ", ".join(odd) or _DRIFT["same"]
