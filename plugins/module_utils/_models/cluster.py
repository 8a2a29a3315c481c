# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster as one of its nodes sees it: nodes, health, versions. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

_VERSION = re.compile(r"\d+\.\d+\.\d+")
RPC_ADDRESS_TAG = "rpc-address:"


def parse_version(text: str | None) -> tuple[int, int, int] | None:
    """The version in ``v2.5.0``, ``cargo:2.5.0`` or ``git:v2.5.0-3-gabc``; None when there is none, as in ``unknown``."""
    found = _VERSION.search(text or "")
    if not found:
        return None
    major, minor, patch = (int(part) for part in found.group().split("."))
    return major, minor, patch


def normal_version(text: str | None) -> str | None:
    """``2.5.0``: the form that results hold and that Ansible's ``version`` test can compare."""
    version = parse_version(text)
    return ".".join(map(str, version)) if version else None


@dataclass(frozen=True)
class Node:
    """One entry of GetClusterStatus: a node that is connected, has a role, or still drains an older layout.

    ``addr`` is ``host:port`` for RPC; ``last_seen_seconds`` is None for a node never seen since the asked node started, and for the asked
    node itself. ``capacity`` is bytes, None for gateways and for nodes without a role. Partitions hold ``available`` and ``total`` bytes.
    """

    id: str
    hostname: str | None = None
    addr: str | None = None
    garage_version: str | None = None
    up: bool = False
    last_seen_seconds: int | None = None
    draining: bool = False
    has_role: bool = False
    zone: str | None = None
    capacity: int | None = None
    tags: tuple[str, ...] = ()
    data_partition: Mapping[str, int] | None = None
    metadata_partition: Mapping[str, int] | None = None
    resync_queue_length: int | None = None

    @classmethod
    def from_api(cls, info: Mapping) -> Node:
        role = info.get("role")
        return cls(
            id=info["id"],
            hostname=info.get("hostname"),
            addr=info.get("addr"),
            garage_version=normal_version(info.get("garageVersion")),
            up=bool(info.get("isUp")),
            last_seen_seconds=info.get("lastSeenSecsAgo"),
            draining=bool(info.get("draining")),
            has_role=role is not None,
            zone=(role or {}).get("zone"),
            capacity=(role or {}).get("capacity"),
            tags=tuple((role or {}).get("tags") or ()),
            data_partition=info.get("dataPartition"),
            metadata_partition=info.get("metadataPartition"),
            resync_queue_length=info.get("resyncQueueLen"),
        )

    @property
    def gateway(self) -> bool:
        """True for a role without a capacity."""
        return self.has_role and self.capacity is None

    @property
    def storage(self) -> bool:
        """True for a role with a capacity."""
        return self.capacity is not None

    @property
    def label(self) -> str:
        """A short name for messages: the beginning of the id, as Garage itself prints it, and the hostname."""
        return f"{self.id[:16]} ({self.hostname})" if self.hostname else self.id[:16]

    def to_result(self) -> dict:
        return {**asdict(self), "tags": list(self.tags), "gateway": self.gateway}


@dataclass(frozen=True)
class ClusterStatus:
    """GetClusterStatus: the version of the layout in force (0 = none yet) and the nodes, ordered by id."""

    layout_version: int
    nodes: tuple[Node, ...] = ()

    @classmethod
    def from_api(cls, answer: Mapping) -> ClusterStatus:
        nodes = (Node.from_api(node) for node in answer.get("nodes") or ())
        return cls(layout_version=answer["layoutVersion"], nodes=tuple(sorted(nodes, key=lambda node: node.id)))

    @property
    def up_ids(self) -> frozenset[str]:
        return frozenset(node.id for node in self.nodes if node.up)

    @property
    def likely_self(self) -> str | None:
        """The id of the asked node, for who may not ask it: the one that is up and was never "last seen" (OP-113)."""
        found = [node.id for node in self.nodes if node.up and node.last_seen_seconds is None]
        return found[0] if len(found) == 1 else None

    def node(self, id: str) -> Node | None:
        """The node with this full id, or None."""
        return next((node for node in self.nodes if node.id == id), None)


@dataclass(frozen=True)
class Health:
    """GetClusterHealth. Partitions are 0 before the first layout; ``status`` is healthy, degraded or unavailable."""

    status: str
    known_nodes: int = 0
    connected_nodes: int = 0
    storage_nodes: int = 0
    storage_nodes_up: int = 0
    partitions: int = 0
    partitions_quorum: int = 0
    partitions_all_ok: int = 0

    @classmethod
    def from_api(cls, answer: Mapping) -> Health:
        return cls(
            status=answer["status"],
            known_nodes=answer["knownNodes"],
            connected_nodes=answer["connectedNodes"],
            storage_nodes=answer["storageNodes"],
            # The name that 2.0 used.
            storage_nodes_up=answer["storageNodesUp"] if "storageNodesUp" in answer else answer["storageNodesOk"],
            partitions=answer["partitions"],
            partitions_quorum=answer["partitionsQuorum"],
            partitions_all_ok=answer["partitionsAllOk"],
        )

    @property
    def quorum(self) -> bool:
        """True when there is a layout and every partition can be written."""
        return self.partitions_quorum == self.partitions > 0

    @property
    def quorum_at_risk(self) -> bool:
        return self.partitions_quorum < self.partitions


WELL = ("healthy", "settled")
GOALS = ("reachable", "layout", "quorum", *WELL)


def missing_for(goal: str, min_nodes: int, status: ClusterStatus, health: Health) -> str | None:
    """What keeps the cluster from ``goal`` (one of GOALS) with ``min_nodes`` nodes up, in words; None when nothing does."""
    lacks = []
    up = len(status.up_ids)
    if up < min_nodes:
        lacks.append(f"{up} of {min_nodes} nodes are up")
    if goal != "reachable" and status.layout_version == 0:
        lacks.append("no layout has been applied")
    elif goal in ("quorum", *WELL) and not health.quorum:
        lacks.append(f"{health.partitions_quorum} of {health.partitions} partitions have a quorum")
    elif goal in WELL and health.status != "healthy":
        lacks.append(f"the status is {health.status}, {health.storage_nodes_up} of {health.storage_nodes} storage nodes are up")
    down = ", ".join(node.label for node in status.nodes if not node.up)
    return "; ".join([*lacks, *([f"down: {down}"] if down else [])]) if lacks else None


# What a feature needs, by the first version of Garage that has it.
CAPABILITIES = {
    "bulk_reads": (2, 5, 0),
    "connection_parameters": (2, 5, 0),
    "cors_rules": (2, 3, 0),
    "layout_statistics": (2, 4, 0),
    "lifecycle_rules": (2, 3, 0),
    "paged_lists": (2, 5, 0),
    "resync_queue_length": (2, 5, 0),
    "routing_rules": (2, 3, 0),
    "statistics": (2, 3, 0),
}


def capabilities(garage_version: str | None) -> dict[str, bool | None]:
    """Which features a server of this version has; None for each when the version is not known, since a guess helps nobody."""
    version = parse_version(garage_version)
    return {feature: None if version is None else version >= since for feature, since in CAPABILITIES.items()}


def missing_features(wanted: Iterable[str], version: tuple[int, int, int] | None) -> list[str]:
    """What a server of this version lacks of ``wanted``, each with the version it needs; empty when the version is not known."""
    return [f"{name} needs Garage {'.'.join(map(str, CAPABILITIES[name]))}, this is {'.'.join(map(str, version))}"
            for name in wanted if version is not None and version < CAPABILITIES[name]]


def unreachable_peers(nodes: Iterable[Node], after_seconds: int = 600) -> tuple[Node, ...]:
    """Nodes that are missed: with a storage role or draining, and not seen for longer than ``after_seconds`` or never."""
    return tuple(node for node in nodes if not node.up and (node.storage or node.draining)
                 and (node.last_seen_seconds is None or node.last_seen_seconds > after_seconds))


_STATISTICS = {
    "data_avail": "dataAvail",
    "metadata_avail": "metadataAvail",
    "incomplete_avail_info": "incompleteAvailInfo",
    "bucket_count": "bucketCount",
    "total_object_count": "totalObjectCount",
    "total_object_bytes": "totalObjectBytes",
    "freeform": "freeform",
}


@dataclass(frozen=True)
class Cluster:
    """All that can be told of a cluster through one node. What the token may not read is None."""

    status: ClusterStatus
    health: Health | None = None
    self_id: str | None = None
    garage_version: str | None = None
    statistics: Mapping | None = None

    def to_result(self) -> dict:
        """The cluster as a user sees it."""
        return {
            "reachable": True,
            "phase": "running",
            "message": None,
            "error": None,
            "garage_version": self.garage_version,
            "capabilities": capabilities(self.garage_version),
            "layout_version": self.status.layout_version,
            "health": asdict(self.health) if self.health else None,
            "quorum_at_risk": self.health.quorum_at_risk if self.health else None,
            "nodes": [{**node.to_result(), "self": node.id == self.self_id} for node in self.status.nodes],
            "unreachable_peers": [{"id": node.id, "hostname": node.hostname, "zone": node.zone, "last_seen_seconds": node.last_seen_seconds}
                                  for node in unreachable_peers(self.status.nodes)],
            "statistics": None if self.statistics is None else {ours: self.statistics.get(theirs) for ours, theirs in _STATISTICS.items()},
        }


def pending_result(message: str, error: Mapping) -> dict:
    """What a user sees of a cluster that cannot be reached: the same keys, with the reason."""
    return {"reachable": False, "phase": "pending", "message": message, "error": dict(error), "garage_version": None,
            "capabilities": capabilities(None), "layout_version": None, "health": None, "quorum_at_risk": None, "nodes": [],
            "unreachable_peers": [], "statistics": None}
