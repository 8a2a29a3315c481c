# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nodes that followers publish for the writer: from facts of the same play, or from artefacts of an earlier job. Pure. Private: not for use
outside of the collection.

A follower's hosts carry the fact ``garage_layout_nodes`` ({site: nodes}). An artefact has a name of its own for each site
(``garage_layout_nodes_lyon``), so that jobs that run at the same time do not overwrite one another's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._errors import InputError
from .._models.layout import LayoutSpec
from .._names import is_node_id
from .federation import FOLLOWER, Member, federation, members
from .shape import entries, section

FACT = "garage_layout_nodes"
FIELDS = {"node", "zone", "capacity", "gateway", "tags", "state"}


def artefact(name: str) -> str:
    """The variable by which the nodes of the site ``name`` travel from job to job. A site's name has hyphens, a variable's has none."""
    return f"{FACT}_{name.replace('-', '_')}"


def layout_options(site: Mapping, hosts: Mapping[str, Mapping], own: Sequence[Mapping] = ()) -> dict:
    """Options of the module layout for a normal site: what its file declares, its ``own`` nodes that only the running workload knows, and at a
    writer the nodes that followers publish. Raises InputError.

    What the writer's own file says of a node holds. Nodes outside of the zones that the site's owner allows are left to their site.
    """
    options = dict(site["layout"])
    declared = [*options["roles"], *({"zone": site["zone"], **node} for node in own)]
    taken = [] if site["site_role"] == FOLLOWER else _taken(site, hosts, declared)
    zones = list(dict.fromkeys([*options["owner"].get("zones", ()), *(node["zone"] for node in taken)]))
    return {**options, "roles": [*declared, *taken], "owner": {**options["owner"], "zones": zones}}


def _taken(site: Mapping, hosts: Mapping[str, Mapping], declared: Sequence[Mapping]) -> list[dict]:
    known = members(hosts)
    own = next((member.host for member in known if member.name == site["name"]), None)
    if own is None:
        return []
    ids = {_id(node) for node in declared}
    allowed = section(section(hosts[own]["garage_site"], "layout"), "owner").get("zones")
    taken = []
    for name, zone in _others(site["name"], known, own, hosts):
        nodes = _published(name, own, [member.host for member in known if member.name == name], hosts)
        if nodes is None or (allowed is not None and zone not in allowed):
            continue
        if faults := [*_faults(name, zone, nodes)]:
            raise InputError(faults)
        new = [dict(node) for node in nodes if _id(node) not in ids]
        if new and site["layout"]["purge_roles"] and any(node["zone"] == zone for node in declared):
            # In a run without that site the others would be purged: a site that is not there never authorises a removal (OP-115).
            raise InputError(f"garage_site.layout.external_nodes: purge is set, and of the zone {zone!r} only some nodes are declared here while"
                             f" {', '.join(_id(node)[:16] for node in new)} {'is' if len(new) == 1 else 'are'} published by the site {name!r};"
                             " declare all nodes of a site, or none")
        taken += new
    return taken


def _others(name: str, known: list[Member], own: str, hosts: Mapping[str, Mapping]) -> list[tuple[str, str]]:
    """Names and zones of the sites that may publish nodes for the site ``name``: followers of the inventory, and its remotes."""
    zones = {member.name: str(hosts[member.host]["garage_site"].get("zone")) for member in federation(name, known)
             if member.host != own and member.role == FOLLOWER}
    zones |= {str(remote.get("name")): str(remote.get("zone")) for _index, remote in entries(hosts[own]["garage_site"], "remotes")}
    return sorted(zones.items())


def _published(name: str, own: str, bearers: list[str], hosts: Mapping[str, Mapping]) -> Any:
    """What the site ``name`` has published; None when nothing. A fact of this play comes before what an earlier job has left."""
    for host in (*bearers, own):
        found = hosts[host][FACT] if FACT in hosts[host] else None
        if isinstance(found, Mapping) and name in found:
            return found[name]
    return hosts[own][artefact(name)] if artefact(name) in hosts[own] else None


def _faults(name: str, zone: str, nodes: Any) -> Iterator[str]:
    where = artefact(name)
    if not isinstance(nodes, (list, tuple)) or not all(isinstance(node, Mapping) for node in nodes):
        yield f"{where}: must be the list of nodes that the site {name!r} has published"
        return
    for index, node in enumerate(nodes):
        if not is_node_id(str(node.get("node"))):
            yield f"{where}[{index}].node: must be a full node id (64 hexadecimal digits)"
        if node.get("zone") != zone:
            yield f"{where}[{index}].zone: {node.get('zone')!r} is not the zone of the site {name!r} ({zone!r})"
        if unknown := sorted(str(key) for key in set(node) - FIELDS):
            yield f"{where}[{index}]: unknown {', '.join(unknown)}"
        if node.get("state") != "absent" and node.get("capacity") is None and not node.get("gateway"):
            # LW-31: a capacity is never guessed.
            yield f"{where}[{index}]: has neither capacity nor gateway"
    try:
        LayoutSpec.from_params({"roles": [{**node, "node": str(node.get("node"))} for node in nodes]})
    except InputError as error:
        yield from (fault.replace("roles", where, 1) for fault in error.faults)


def _id(node: Mapping) -> str:
    return str(node["node"]).partition("@")[0].lower()
