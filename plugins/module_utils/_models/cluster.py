# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster as one of its nodes sees it: nodes, health, versions. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import re
from collections.abc import Mapping
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

    def node(self, id: str) -> Node | None:
        """The node with this full id, or None."""
        return next((node for node in self.nodes if node.id == id), None)
