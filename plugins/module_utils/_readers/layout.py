# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Snapshots of the cluster layout. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Mapping

from .._client import Client
from .._errors import Denied
from .._models.layout import History, Layout
from .._models.layout_record import moved, moved_note, read_record, record_of
from .._planners.layout import APPLY, STAGE, LayoutSnapshot, staged_approval
from .._planners.removable import removable
from .._waiter import wait_until
from .cluster import read_status


def read_layout(client: Client) -> LayoutSnapshot:
    """Three requests; all of them work before the first layout."""
    layout = Layout.from_api(client.call("GetClusterLayout"))
    return LayoutSnapshot(layout, read_status(client).nodes, read_history(client))


def read_history(client: Client) -> History:
    return History.from_api(client.call("GetClusterLayoutHistory"))


def read_preview(client: Client, layout: Layout) -> dict | None:
    """What applying the staged changes would do, as the server answers; None when nothing is staged."""
    return client.call("PreviewClusterLayoutChanges") if layout.has_staged else None


def preview_result(answer: dict) -> dict:
    """A preview's or an apply's answer as a user sees it: ``error`` or ``message``; ``statistics`` since Garage 2.4.0.

    ``nodes_without_partitions`` are storage nodes that would hold nothing, because their zone is full enough already.
    """
    layout = answer.get("newLayout") or answer.get("layout") or {"roles": []}
    statistics = answer.get("statistics") or {}
    return {
        "error": answer.get("error"),
        "message": answer.get("message") or [],
        "moved_partitions": statistics.get("totalMovedPartitions"),
        "partition_size": statistics.get("partitionSize"),
        "usable_capacity": statistics.get("usableCapacity"),
        "total_capacity": statistics.get("totalCapacity"),
        "nodes_without_partitions": sorted(role["id"] for role in layout["roles"] if role.get("capacity") and not role.get("storedPartitions")),
    }


def wait_settled(client: Client, timeout: float, sleep: float) -> None:
    """Wait until no older layout version is needed any more. Raises WaitTimeout naming the nodes and the counters that lag."""
    wait_until(lambda: read_history(client).unsettled(), "settled cluster layout", timeout, sleep)


def read_layout_info(client: Client, record: Mapping | None = None) -> dict:
    """All there is to see of a layout, as a user sees it, and how it differs from the ``record`` of the writer. A token that may only read Get…
    calls is enough."""
    kept = read_record(record)
    snapshot = read_layout(client)
    foreign = moved(kept, record_of(snapshot.layout))
    if note := moved_note(foreign):
        client.warnings.append(note)
    roleless = [node.id for node in snapshot.nodes if node.up and node.id not in snapshot.layout.roles]
    try:
        preview = read_preview(client, snapshot.layout)
    except Denied as error:
        client.warnings.append(f"{error.message}; the preview is left out")
        preview = None
    return {
        **snapshot.layout.to_result(),
        "history": snapshot.history.to_result(),
        "preview": preview_result(preview) if preview else None,
        "plan_hash": str(staged_approval(snapshot.layout, preview)),
        "nodes": [node.to_result() for node in snapshot.nodes],
        "nodes_without_role": roleless,
        "removable": removable(snapshot),
        "foreign_writer": foreign,
        "awaiting": _awaiting(roleless) if client.site_role == "follower" else None,
    }


def _awaiting(roleless: list[str]) -> dict:
    """What a follower can tell without a declaration: only the writer gives roles (LW-10)."""
    return {
        "reason": "nodes_without_role" if roleless else "nothing_pending",
        "nodes": roleless,
        "operations": [STAGE, APPLY] if roleless else [],
        "lines": [{"node": id} for id in roleless],
    }
