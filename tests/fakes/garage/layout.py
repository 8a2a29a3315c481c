# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The layout: what is staged, what is in force, what still drains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tests.fakes.garage.partitions import PARTITIONS, Role, assign, effective_redundancy

# Of the versions that have drained the server remembers so many.
REMEMBERED = 5


@dataclass(frozen=True)
class Version:
    """A layout that was applied; version 0 is the one before any."""

    version: int = 0
    roles: Mapping[str, Role] = field(default_factory=dict)
    redundancy: int | str = "maximum"
    partition_size: int = 0
    partitions: Mapping[str, int] = field(default_factory=dict)

    @property
    def storage(self) -> list[str]:
        return [node for node, role in self.roles.items() if role.capacity is not None]


@dataclass
class LayoutState:
    """``live`` are the draining versions and, last, the one in force. A staged None removes a node."""

    factor: int
    live: list[Version] = field(default_factory=lambda: [Version()])
    old: list[Version] = field(default_factory=list)
    staged: dict[str, Role | None] = field(default_factory=dict)
    staged_redundancy: int | str = "maximum"
    acknowledged: dict[str, int] = field(default_factory=dict)
    synced: dict[str, int] = field(default_factory=dict)
    let_go: dict[str, int] = field(default_factory=dict)

    @property
    def current(self) -> Version:
        return self.live[-1]

    @property
    def nodes(self) -> list[str]:
        """All nodes of all live versions."""
        return sorted({node for version in self.live for node in version.roles})

    def next(self) -> tuple[Version, dict]:
        """The version that applying would make, with the statistics of its computation. Raises Impossible."""
        merged = {**self.current.roles, **self.staged}
        roles = {node: role for node, role in sorted(merged.items()) if role is not None}
        zones = effective_redundancy(roles, self.staged_redundancy, self.factor)
        size, partitions = assign(roles, zones, self.factor, self.current.partitions)
        version = Version(self.current.version + 1, roles, self.staged_redundancy, size, partitions)
        return version, self._statistics(version, zones)

    def apply(self) -> dict:
        """Put the next version in force and return its statistics. Raises Impossible."""
        version, statistics = self.next()
        # Version 0 is no layout; it is forgotten instead of remembered.
        self.live = [*(live for live in self.live if live.version), version]
        self.staged = {}
        return statistics

    def revert(self) -> None:
        self.staged, self.staged_redundancy = {}, self.current.redundancy

    def settle(self, up: Iterable[str]) -> None:
        """What the nodes that are up do by themselves after a layout write: acknowledge, synchronise, let go of older versions.

        Nodes let go when they hear from each other. A node alone hears of nobody, so its older version drains until the next layout write (2.5.0).
        """
        present = sorted(up)
        self._let_go(present)
        for node in present:
            self.acknowledged[node] = self.synced[node] = self.current.version
        if len(present) > 1:
            self._let_go(present)

    def _let_go(self, present: list[str]) -> None:
        oldest = self.live[0].version
        everywhere = min((self.synced.get(node, oldest) for version in self.live for node in version.storage), default=oldest)
        self.let_go.update(dict.fromkeys(present, everywhere))
        drained = min((self.let_go.get(node, oldest) for node in self.current.roles), default=oldest)
        while self.live[0].version < drained:
            self.old.append(self.live.pop(0))
        self.old = self.old[-REMEMBERED:]

    def skip_dead(self, version: int, missing_data: bool, up: set[str]) -> tuple[list[str], list[str]]:
        """The ids of the nodes whose acknowledgement and whose synchronisation were raised to ``version``."""
        oldest = self.live[0].version
        dead = [node for node in self.nodes if missing_data or node not in up]
        raised = [node for node in dead if self.acknowledged.get(node, oldest) < version]
        skipped = [node for node in self.nodes if missing_data and self.synced.get(node, oldest) < version]
        self.acknowledged.update(dict.fromkeys(raised, version))
        self.synced.update(dict.fromkeys(skipped, version))
        return raised, skipped

    def _statistics(self, version: Version, zones: int) -> dict:
        before, first = self.current.partitions, self.current.version == 0
        usable = version.partition_size * PARTITIONS * self.factor
        total = sum(version.roles[node].capacity or 0 for node in version.storage)
        moved = {node: max(0, count - before.get(node, 0)) for node, count in version.partitions.items()}
        return {
            "replicationFactor": self.factor,
            "effectiveZoneRedundancy": zones,
            "partitionSize": version.partition_size,
            "previousPartitionSize": None if first else self.current.partition_size,
            "lowPartitionSize": version.partition_size < 100,
            "usableCapacity": usable,
            "totalCapacity": total,
            "effectiveCapacity": usable // self.factor,
            "lowUsableCapacity": 100 * usable / total < 80,
            "totalMovedPartitions": None if first else sum(moved.values()),
            "zones": [_zone(version, zone, moved) for zone in dict.fromkeys(version.roles[node].zone for node in version.storage)],
        }


def _zone(version: Version, zone: str, moved: Mapping[str, int]) -> dict:
    nodes = [node for node in version.storage if version.roles[node].zone == zone]
    stored = sum(version.partitions[node] for node in nodes)
    return {
        "name": zone,
        "totalReplicatedPartitions": stored,
        "uniquePartitions": min(PARTITIONS, stored),
        "totalCapacity": sum(version.roles[node].capacity or 0 for node in nodes),
        "usableCapacity": stored * version.partition_size,
        "nodes": [{"id": node, "tags": list(version.roles[node].tags), "storedPartitions": version.partitions[node], "newPartitions": moved[node],
                   "totalCapacity": version.roles[node].capacity, "usableCapacity": version.partitions[node] * version.partition_size}
                  for node in nodes],
    }
