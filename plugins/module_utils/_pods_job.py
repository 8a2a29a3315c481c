# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which Garage nodes are in which pods: what the module ``kubernetes_node_info`` does. Private: not for use outside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ._client import Client
from ._errors import ApiError, SetupError, TransportError
from ._models.cluster import normal_version
from ._models.pod import Pod

_IN_FLIGHT = 4


def run_pods(params: Mapping, context: Any) -> dict:
    """The result of kubernetes_node_info. Raises TransportError, with that result in it, for a node that is asked for and not known."""
    pods, client = context.pods()
    rows = ask_nodes(pods.found("GetNodeInfo"), client)
    if params["fail_on_unreachable"]:
        _demand(rows, pods.connection.place)
    return {"changed": False, "nodes": rows}


def ask_nodes(pods: Iterable[Pod], client: Callable[[str], Client]) -> list[dict]:
    """``nodes`` of the result: which Garage node each pod is, or why that cannot be told."""
    with ThreadPoolExecutor(max_workers=_IN_FLIGHT) as pool:
        return list(pool.map(lambda pod: _row(pod, client), pods))


def _row(pod: Pod, client: Callable[[str], Client]) -> dict:
    row = {"pod": pod.name, "uid": pod.uid, "id": None, "hostname": pod.hostname, "garage_version": None, "ip": pod.ip, "ready": pod.ready,
           "phase": pod.phase, "message": pod.reason}
    if not pod.running:
        return row
    try:
        answer = client(pod.name).once().call("GetNodeInfo", {"node": "self"})
    except SetupError:
        # What is forbidden or wrongly set up for one pod is so for all.
        raise
    except (ApiError, TransportError) as error:
        return {**row, "message": error.message}
    ((node, info),) = answer["success"].items()
    # Servers before 2.3.0 do not tell their host name.
    return {**row, "id": node, "hostname": info.get("hostname") or pod.hostname, "garage_version": normal_version(info.get("garageVersion"))}


def _demand(rows: list[dict], place: str) -> None:
    unknown = [f"{row['pod']}: {row['message']}" for row in rows if row["id"] is None]
    if unknown or not rows:
        error = TransportError(f"{place}: {'; '.join(unknown) or 'there is no such pod'}", hint="see the pods, or set fail_on_unreachable: false")
        error.result = {"nodes": rows}
        raise error
