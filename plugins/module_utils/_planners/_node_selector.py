# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""From the ways a user may name a node to its id. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from .._errors import InputError
from .._models.cluster import Node
from .._names import is_node_id

_PREFIX = re.compile(r"^[0-9a-f]{4,63}$")


def resolve_nodes(selectors: Sequence[str], absent: Sequence[bool], nodes: Collection[Node], roles: Collection[str],
                  where: str = "roles[{}].node") -> list[str | None]:
    """Node ids in the order of ``selectors``; None for one that is to be absent and fits nothing.

    A selector is a full id, ``id@host:port``, a unique prefix of an id (4 digits or more) or a host name. ``roles`` are the ids that have a role;
    ``where`` is the option of a selector by its index. Raises InputError with every selector that fits no node, several nodes, or a node named before,
    and for a host name that is to be absent and might be that of a node whose name is not known.
    """
    nameless = sorted({*roles} - {node.id for node in nodes if node.hostname})
    faults: list[str] = []
    ids: list[str | None] = []
    for index, selector in enumerate(selectors):
        found = _candidates(selector, nodes, roles)
        if len(found) > 1:
            faults.append(f"{where.format(index)}: {selector!r} fits several nodes: {', '.join(found)}; name one by its id")
        elif not found and not absent[index]:
            faults.append(f"{where.format(index)}: {selector!r} fits no node this cluster knows; connect it first (s3ops.garage.cluster_connect), or"
                          " give its full id")
        elif not found and nameless and not _PREFIX.match(_id_part(selector)):
            # A server that was restarted does not know the names of nodes that are down, and these are the ones that get removed.
            faults.append(f"{where.format(index)}: {selector!r} fits no node this cluster knows by name, but the names of {', '.join(nameless)} are"
                          " not known; name it by its id")
        elif found and found[0] in ids:
            first = where.format(ids.index(found[0])).removesuffix(".node")
            faults.append(f"{where.format(index)}: {selector!r} is the same node as {first} ({found[0][:16]})")
        ids.append(found[0] if len(found) == 1 else None)
    if faults:
        raise InputError(faults)
    return ids


def _id_part(selector: str) -> str:
    return selector.split("@", 1)[0].lower()


def _candidates(selector: str, nodes: Collection[Node], roles: Collection[str]) -> list[str]:
    id = _id_part(selector)
    if is_node_id(id):
        return [id]
    found = {node.id for node in nodes if node.hostname == selector}
    if _PREFIX.match(id):
        found |= {known for known in (*(node.id for node in nodes), *roles) if known.startswith(id)}
    return sorted(found)
