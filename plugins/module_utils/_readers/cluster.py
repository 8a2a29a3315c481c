# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Snapshots of the cluster's nodes and health. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._client import Client
from .._errors import ApiError, Denied, InputError, LayoutNotReady, NotAdminApi, SetupError, TransportError, Unavailable, WaitTimeout
from .._models.cluster import Cluster, ClusterStatus, Health, missing_for, normal_version, parse_version, pending_result
from .._models.layout import History
from .._waiter import wait_until


def read_status(client: Client) -> ClusterStatus:
    """The nodes as the asked node sees them. One request; works before the first layout."""
    return ClusterStatus.from_api(client.call("GetClusterStatus"))


def read_version(client: Client) -> tuple[int, int, int] | None:
    """The version of the node that is asked; None when it does not tell, or the token may not ask."""
    try:
        answer = client.call("GetNodeInfo", {"node": "self"})
    except Denied:
        return None
    return parse_version(next((info.get("garageVersion") for info in answer["success"].values()), None))


def read_cluster(client: Client) -> Cluster:
    """All there is to know. Only the status must be readable; what else is refused or fails is None, with a warning."""
    status = read_status(client)
    health = _optional(client, "GetClusterHealth", "the health is left out")
    answer = _optional(client, "GetNodeInfo", "the version is that of the cluster status, and which node was asked is a guess", node="self")
    self_id, info = next(iter((answer or {}).get("success", {}).items()), (status.likely_self, {}))
    asked = status.node(self_id) if self_id else None
    version = normal_version(info.get("garageVersion")) or (asked.garage_version if asked else None)
    # Before the first layout the server has no statistics: "Layout not ready".
    statistics = _optional(client, "GetClusterStatistics", "the statistics are left out") if status.layout_version else None
    return Cluster(status, Health.from_api(health) if health else None, self_id, version, statistics)


def look_at_cluster(client: Client, params: Mapping) -> dict:
    """The result of cluster_info: waits when that is asked, and tells of an Admin API that cannot be used when that is no failure."""
    if params["min_nodes"] is not None and not params["wait"]:
        raise InputError("min_nodes: it is what to wait for, and needs wait: true")
    try:
        if params["wait"]:
            wait_for_cluster(client, params["wait_for"], params["min_nodes"] or 0, params["wait_timeout"], params["wait_sleep"])
        return read_cluster(client).to_result()
    except (ApiError, TransportError) as error:
        if params["fail_on_unreachable"]:
            raise
        return pending_result(error.message, error.data())


def wait_for_cluster(client: Client, goal: str, min_nodes: int, timeout: float, sleep: float) -> None:
    """Wait until nothing is missing for ``goal``. Raises WaitTimeout, or TransportError when there was no usable answer at the end.

    A server that is still starting is waited for as well (OP-120); a refused token, a wrong port or a wrong certificate is not.
    """
    # The waiting itself repeats the reads.
    once = client.once()
    silence: TransportError | ApiError | None = None

    def look() -> str | None:
        nonlocal silence
        try:
            status, health = read_status(once), Health.from_api(once.call("GetClusterHealth"))
            history = History.from_api(once.call("GetClusterLayoutHistory")) if goal == "settled" else None
        except (NotAdminApi, SetupError):
            raise
        except (TransportError, Unavailable, LayoutNotReady) as error:
            silence = error
            return error.message
        silence = None
        return missing_for(goal, min_nodes, status, health) or (history and history.unsettled())

    try:
        wait_until(look, f"waiting for {goal}", timeout, sleep)
    except WaitTimeout as late:
        if silence:
            raise TransportError(late.message, hint=silence.hint, sent=True, endpoint=silence.data()["endpoint"]) from None
        raise


def _optional(client: Client, endpoint: str, lost: str, **query: str) -> Any:
    """The answer, or None with a warning. Tried once: a hung peer may let every try take the whole time-out."""
    try:
        return client.once().call(endpoint, query or None)
    except (ApiError, TransportError) as error:
        client.warnings.append(f"{error.message}; {lost}")
        return None
