# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which sites have one RPC secret, and whether all of them are in a run that changes it. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from .federation import federation, members
from .shape import EDGE_GATEWAYS, HANDLE, section, shape


def rpc_sites(hosts: Mapping[str, Mapping], play_hosts: Collection[str]) -> dict:
    """``sites``: names of all sites with nodes of their own that share the RPC secret of those in the run, sorted. ``faults``: why that run cannot change
    it for all of them (OP-005)."""
    known = members(hosts)
    sites = {member.name: hosts[member.host]["garage_site"] for member in known}
    where = {member.name: member.host for member in known}
    running = {name for name in sites if where[name] in play_hosts and shape(sites[name]) != HANDLE}
    if not running:
        return {"sites": [], "faults": ["no site of this run has nodes of its own"]}
    group = _together(min(running), sites, known)
    faults = [f"{name} belongs to another cluster than {min(running)}, or names no other site: name the hosts of one cluster in garage_hosts"
              for name in sorted(running - group)]
    for name in sorted(group):
        if name not in sites:
            faults.append(f"{name} is a remote and no site of this inventory, so its nodes cannot be stopped from here")
        elif shape(sites[name]) == HANDLE and not section(sites[name], "connect_to").get("site"):
            faults.append(f"{name} is run by something else, so its nodes cannot be stopped from here")
        elif shape(sites[name]) != HANDLE and where[name] not in play_hosts:
            faults.append(f"{name} (host {where[name]}) has the same RPC secret and is not in this run")
    return {"sites": sorted(name for name in group & sites.keys() if shape(sites[name]) != HANDLE), "faults": faults}


def _together(name: str, sites: Mapping[str, Mapping], known: list) -> set[str]:
    """The sites that are joined with ``name``: by remotes, or as edge gateways of one of them. Remotes that are no sites are among them."""
    found, new = set(), {name}
    while new:
        found |= new
        near = {remote for member in known if member.name in found for remote in member.remotes}
        near |= {member.name for each in found for member in federation(each, known)}
        near |= {other for other, site in sites.items() if _serves(site) in found}
        near |= {_serves(sites[each]) for each in found & sites.keys()} - {None}
        new = near - found
    return found


def _serves(site: Mapping) -> str | None:
    """The site whose RPC secret these edge gateways have."""
    return section(site, "connect_to").get("site") if shape(site) == EDGE_GATEWAYS else None
