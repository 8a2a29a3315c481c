# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether nodes can be switched off for good: what they may still hold. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .._errors import PlanError
from .._models.layout import Layout
from .._plan import Plan
from ._node_selector import resolve_nodes
from .layout import LayoutSnapshot
from .operations import plan_repair

_RESYNC = "Block resync"  # the workers, and since 2.5.0 one that fills their queue
_AT_REST = ("idle", "done")
# What was put into the queue gets there within 2 s (2.5.0); with room.
ENQUEUED_SECONDS = 5.0


def leaving_nodes(selectors: Sequence[str], live: LayoutSnapshot) -> list[str]:
    """The ids of the nodes that leave, in the order they were named. Raises InputError."""
    ids = resolve_nodes(selectors, [False] * len(selectors), live.nodes, live.layout.roles, where="nodes[{}]")
    return [id for id in ids if id]


def plan_drain(leaving: Collection[str], layout: Layout) -> Plan:
    """The repair by which the others get what they lack. Raises PlanError for a node that has a role: it would go on to be given blocks."""
    needed = [id[:16] for id in leaving if id in layout.roles or layout.staged.get(id)]
    if needed:
        raise PlanError(f"node {', '.join(needed)} has a role in the layout, or is about to have one",
                        hint="take it away first (s3ops.garage.layout with state: absent)")
    return plan_repair({"operation": "blocks", "node": "*"})


def uncopied(workers: Mapping[str, Sequence[Mapping[str, Any]]], staying: Collection[str], elapsed: float, rpc_timeout: float) -> str | None:
    """What the nodes that stay have still to get, or None. ``workers`` by node as ListWorkers answers; a node that does not answer proves nothing.

    A node looks at a block that is new to it after twice its RPC timeout, and nothing brings that forward (2.5.0: of two times for one block the later
    one holds). So a worker at rest proves something when that time has passed since the repair (``elapsed``, seconds), or when its queue is empty.
    """
    missing = []
    due = 2 * rpc_timeout + ENQUEUED_SECONDS
    for id in staying:
        own = [worker for worker in workers.get(id, ()) if worker["name"].startswith(_RESYNC)]
        queue = max((worker.get("queueLength") or 0 for worker in own), default=0)
        lost = max((worker.get("persistentErrors") or 0 for worker in own), default=0)
        if not own:
            missing.append(f"node {id[:16]} does not answer")
        elif lost:
            missing.append(f"node {id[:16]} could not get {lost} blocks")
        elif any(worker["state"] not in _AT_REST for worker in own):
            missing.append(f"node {id[:16]} is still at it ({queue} blocks in its queue)")
        elif elapsed < (due if queue else ENQUEUED_SECONDS):
            missing.append(f"node {id[:16]} looks at {queue} blocks within {due - elapsed:.0f} s")
    return "; ".join(missing) or None
