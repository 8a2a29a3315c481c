# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The nodes of the cluster: status, health, statistics, connecting."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.fakes.garage.bodies import Query, many, text
from tests.fakes.garage.errors import Refusal, bad_request
from tests.fakes.garage.partitions import PARTITIONS, Role
from tests.fakes.garage.row import Row
from tests.fakes.garage.state import NodeRow, State

_PEER = re.compile(r"([0-9a-fA-F]{64})@(\[[0-9a-fA-F:]+\]|[^@:\s]+):([0-9]{1,5})")
_NODE = {"node": Query.needed}


def _status(state: State, args: dict) -> dict:
    roles = state.layout.current.roles
    draining = {node for version in state.layout.live[:-1] for node in version.storage} - set(roles)
    known = {node.id: node for node in state.known_nodes()}
    ids = sorted({*known, *roles, *draining})
    return {"layoutVersion": state.layout.current.version,
            "nodes": [_node(state, node_id, known.get(node_id), roles.get(node_id), node_id in draining) for node_id in ids]}


def _node(state: State, node_id: str, node: NodeRow | None, role: Role | None, draining: bool) -> dict:
    shown = {
        "id": node_id,
        "garageVersion": node and f"cargo:{node.version}",
        "addr": node and node.addr,
        "hostname": node and node.hostname,
        "isUp": bool(node and node.up),
        "lastSeenSecsAgo": None if node is None or node.id == state.nodes[0].id else 0 if node.up else 60,
        "role": _role(role),
        "draining": draining,
    }
    if node is None:
        return shown
    return {**shown, **_disks(node), **({"resyncQueueLen": 0} if state.since(2, 5) else {})}


def _role(role: Role | None) -> dict | None:
    return role and {"zone": role.zone, "tags": list(role.tags), "capacity": role.capacity}


def _disks(node: NodeRow) -> dict:
    space = dict(zip(("available", "total"), node.disk, strict=True))
    return {"dataPartition": space, "metadataPartition": dict(space)}


def health(state: State) -> dict:
    """What GetClusterHealth shows.

    Partitions are not placed one by one here: with fewer nodes down than the quorum bears, all keep it; with more, those of the nodes that are
    down are counted as lost, though on a real server some may have a quorum elsewhere.
    """
    layout, up = state.layout, set(state.up_ids())
    storage = {node for version in layout.live for node in version.storage}
    ready = layout.current.version > 0
    down = sorted(storage - up)
    touched = min(PARTITIONS, sum(layout.current.partitions.get(node, 0) for node in down))
    bearable = layout.factor - (layout.factor // 2 + 1)
    all_ok = PARTITIONS - touched if ready else 0
    quorum = 0 if not ready else PARTITIONS if len(down) <= bearable else all_ok
    # 2.0.0 takes the first layout, which has no nodes, for one whose partitions are all well.
    counted = ready or not state.since(2, 1)
    all_ok = PARTITIONS if counted and not ready else all_ok
    healthy, usable = counted and not down, ready and quorum == PARTITIONS
    return {
        "status": "healthy" if healthy else "degraded" if usable else "unavailable",
        "knownNodes": len(state.known_nodes()),
        "connectedNodes": len(up),
        "storageNodes": len(storage),
        "storageNodesUp" if state.since(2, 1) else "storageNodesOk": len(storage & up),
        "partitions": PARTITIONS if counted else 0,
        "partitionsQuorum": quorum,
        "partitionsAllOk": all_ok,
    }


def _health(state: State, args: dict) -> dict:
    return health(state)


def _statistics(state: State, args: dict) -> dict:
    if state.since(2, 3):
        state.tables()
    buckets = state.buckets.values()
    freeform = f"Number of buckets: {len(buckets)}\n"
    if not state.since(2, 3):
        return {"freeform": freeform}
    free = min(node.disk[0] for node in state.known_nodes())
    numbers = {"freeform": freeform, "dataAvail": free, "metadataAvail": free, "incompleteAvailInfo": False, "bucketCount": len(buckets)}
    if len(buckets) >= 1000:
        return numbers
    return {**numbers, "totalObjectCount": sum(len(bucket.objects) for bucket in buckets),
            "totalObjectBytes": sum(size for bucket in buckets for size in bucket.objects.values())}


def _connect(state: State, args: dict) -> list[dict]:
    return [_connect_one(state, peer) for peer in args["body"]]


def _connect_one(state: State, peer: str) -> dict:
    found = _PEER.fullmatch(peer)
    if not found or int(found.group(3)) > 65535:
        return {"success": False, "error": f"Unable to parse or resolve node specification: {peer}"}
    node_id = found.group(1).lower()
    node = next((node for node in state.nodes if node.id == node_id), None)
    if node and node.up and (node.known or node.addr == f"{found.group(2)}:{found.group(3)}"):
        node.known = True
        state.settle()
        return {"success": True, "error": None}
    return {"success": False, "error": f"Error establishing RPC connection to remote node: {node_id}@{found.group(2)}:{found.group(3)}.\n"
                                       "This can happen if the remote node is not reachable on the network, but also if the two nodes are not"
                                       " configured with the same rpc_secret.\nIO error: Connection refused (os error 111)"}


def _matching(state: State, wanted: str) -> list[str]:
    if wanted == "self":
        return [state.nodes[0].id]
    every = list(dict.fromkeys([*state.layout.nodes, *state.up_ids()]))
    if wanted == "*":
        return every
    found = [node_id for node_id in every if node_id.startswith(wanted)]
    if not found:
        raise bad_request(f"No nodes matching {wanted}")
    if len(found) > 1:
        raise bad_request(f"Multiple nodes matching {wanted}: [{', '.join(node_id[:16] for node_id in found)}]")
    return found


def on_nodes(answer: Callable[[State, NodeRow, dict], Any]) -> Callable[[State, dict], dict]:
    """An endpoint that asks one or more nodes: 200 whatever they say, answers and failures by node id."""

    def handle(state: State, args: dict) -> dict:
        up = {node.id: node for node in state.known_nodes() if node.up}
        said: dict[str, dict] = {"success": {}, "error": {}}
        for node_id in _matching(state, args["node"]):
            try:
                if node_id in up:
                    said["success"][node_id] = answer(state, up[node_id], args)
                else:
                    said["error"][node_id] = f"Network error: Not connected: {node_id[:16]}"
            except Refusal as refusal:
                said["error"][node_id] = f"{refusal.code} ({refusal.status}): {refusal.message}"
        return said

    return handle


def _node_info(state: State, node: NodeRow, args: dict) -> dict:
    info = {"nodeId": node.id, "garageVersion": f"cargo:{node.version}", "garageFeatures": ["bundled-libs", "lmdb", "metrics", "sqlite"],
            "rustVersion": "1.95.0", "dbEngine": "LMDB (using Heed crate)"}
    if state.since(2, 3):
        info["hostname"] = node.hostname
    if state.since(2, 4):
        role = state.layout.current.roles.get(node.id)
        info |= {"addr": node.addr, "isUp": True, "draining": role is None and node.id in state.layout.nodes, **_disks(node)}
        info |= {"role": _role(role)} if role else {}
    if state.since(2, 5):
        info["connectionParameters"] = {"region": state.region}
    return info


def _node_statistics(state: State, node: NodeRow, args: dict) -> dict:
    freeform = f"Node ID: {node.id[:16]}\nHostname: {node.hostname}\n"
    if not state.since(2, 3):
        return {"freeform": freeform}
    return {"freeform": freeform, "tableStats": [], "blockManagerStats": {"rcEntries": 0, "resyncQueueLen": 0, "resyncErrors": 0}}


ROWS = (
    Row("GetClusterStatus", "GET", _status),
    Row("GetClusterHealth", "GET", _health),
    Row("GetClusterStatistics", "GET", _statistics),
    Row("ConnectClusterNodes", "POST", _connect, body=many(text)),
    Row("GetNodeInfo", "GET", on_nodes(_node_info), query=_NODE),
    Row("GetNodeStatistics", "GET", on_nodes(_node_statistics), query=_NODE),
)
