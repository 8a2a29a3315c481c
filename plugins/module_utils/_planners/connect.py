# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide which nodes a node has to be told of. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Iterable

from .._models.cluster import RPC_ADDRESS_TAG, ClusterStatus, Node
from .._models.peer import Peer, split_address
from .._plan import Call, Plan


def missing_peers(peers: Iterable[Peer], status: ClusterStatus) -> tuple[Peer, ...]:
    """Those of ``peers`` that the node that gave ``status`` does not see as up. By id: where a node that is up was reached does not matter."""
    return tuple(dict.fromkeys(peer for peer in peers if peer.id not in status.up_ids))


def plan_connect(subject: str, missing: tuple[Peer, ...]) -> Plan:
    """Connect ``subject`` (``our node``) to all that it misses, in one call, whose answer has the same order."""
    if not missing:
        return Plan(subject)
    named = ", ".join(f"{peer.id[:16]} at {peer.address}" for peer in missing)
    call = Call("ConnectClusterNodes", f"connect {subject} to {named}", body=[peer.text for peer in missing])
    return Plan(subject, before={peer.text: "down" for peer in missing}, after={peer.text: "up" for peer in missing}, calls=(call,))


def peers_of(status: ClusterStatus) -> tuple[Peer, ...]:
    """The nodes that are up there and say where they can be reached: what another node may be told of."""
    found = (_peer(node) for node in status.nodes if node.up)
    return tuple(peer for peer in found if peer)


def _peer(node: Node) -> Peer | None:
    """The address a site declares by a tag comes first: the observed one may be inside of a network of its own (OP-116)."""
    declared = [tag.removeprefix(RPC_ADDRESS_TAG) for tag in node.tags if tag.startswith(RPC_ADDRESS_TAG)]
    for address in (*declared, node.addr or ""):
        try:
            return Peer(node.id, *split_address(address))
        except ValueError:
            # A tag is free text that anybody may have written.
            continue
    return None
