# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The shape of a site, inferred from what is set. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

STORAGE = "storage"
STORAGE_WITH_GATEWAYS = "storage_with_gateways"
EDGE_GATEWAYS = "edge_gateways"
HANDLE = "handle"

WORKLOAD = ("kubernetes", "image", "config", "credentials", "admin", "monitoring")  # sections that only a workload of ours has

_SHAPES = {  # storage, gateway, connect_to
    (True, False, False): STORAGE,
    (True, True, False): STORAGE_WITH_GATEWAYS,
    (False, True, True): EDGE_GATEWAYS,
    (False, False, True): HANDLE,
}


def shape(site: Mapping | None) -> str | None:
    """One of the four shapes, or None when what is set makes no site (MH-07). A section that is null counts as not set."""
    return _SHAPES.get(tuple((site or {}).get(name) is not None for name in ("storage", "gateway", "connect_to")))


def shape_faults(site: Mapping) -> list[str]:
    """Why the sections that are set do not make a site (OP-001 to OP-003)."""
    if shape(site):
        return []
    if site.get("storage") is not None:
        return ["garage_site: storage and connect_to exclude one another: a site has either nodes of its own or a Garage that runs already; to join"
                " the sites of a federation, list the others in remotes"]
    if site.get("gateway") is not None:
        return ["garage_site.gateway: gateways without storage need connect_to, the cluster they serve"]
    return ["garage_site: set at least one of storage, gateway and connect_to; connect_to alone manages a Garage that runs already"]


def misplaced(site: Mapping) -> list[str]:
    """Sections of a workload at a site that has none (MH-20)."""
    if shape(site) != HANDLE:
        return []
    return [f"garage_site.{name}: a site with connect_to alone has no workload of its own; leave {name} out"
            for name in WORKLOAD if site.get(name) is not None]


def section(value: Any, name: str) -> Mapping:
    """The mapping ``name`` of a mapping; empty when it is absent, null or something else, which the schema reports."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def entries(value: Any, name: str) -> list[tuple[int, Mapping]]:
    """The mappings in the list ``name`` of a mapping, with their index."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return [(index, entry) for index, entry in enumerate(found) if isinstance(entry, Mapping)] if isinstance(found, list) else []


def number(value: Any) -> int | None:
    """A whole number; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
