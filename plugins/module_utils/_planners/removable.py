# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which nodes may be switched off for good. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from .._models.cluster import Node
from .layout import LayoutSnapshot


def removable(live: LayoutSnapshot) -> list[str]:
    """Ids of the nodes that hold nothing the cluster needs (LW-25, LW-46): no role in the layout in force, none staged, and no older version
    that still drains needs them. A workload on such a node may be deleted; any other must stay, also where its role is to be removed."""
    return sorted(node.id for node in live.nodes if _may_go(node, live))


def _may_go(node: Node, live: LayoutSnapshot) -> bool:
    if node.id in live.layout.roles or live.layout.staged.get(node.id):
        return False
    # The server calls a node draining until the last bookkeeping is done, which on a small cluster may never be (OP-110).
    return not node.draining or (live.history is not None and live.history.settled)
