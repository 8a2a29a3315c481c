# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""How many partitions each node stores in a new layout.

The size of a partition is exactly the server's. Which node moves how much is not: the server searches for the least movement, this
keeps what nodes have and fills up in the order of their ids. Counts agree where the capacities leave no choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PARTITIONS = 256


class Impossible(Exception):
    """The roles cannot hold the data as often, or in as many zones, as wanted; the text is the server's."""


@dataclass(frozen=True)
class Role:
    """A node's entry in a layout; ``capacity`` in bytes, None for a gateway."""

    zone: str
    capacity: int | None
    tags: tuple[str, ...]


def effective_redundancy(roles: Mapping[str, Role], redundancy: int | str, factor: int) -> int:
    """The number of zones each partition must be in. "maximum" counts the zones of gateways too, which cannot hold anything."""
    return redundancy if isinstance(redundancy, int) else min(len({role.zone for role in roles.values()}), factor)


def assign(roles: Mapping[str, Role], zones_wanted: int, factor: int, before: Mapping[str, int]) -> tuple[int, dict[str, int]]:
    """The size of a partition in bytes and the number of partitions by storage node. Raises Impossible."""
    storage = {node: role for node, role in sorted(roles.items()) if role.capacity is not None}
    zones = {role.zone for role in storage.values()}
    if len(storage) < factor:
        raise Impossible(f"The number of nodes with positive capacity ({len(storage)}) is smaller than the replication factor ({factor}).")
    if len(zones) < zones_wanted:
        raise Impossible(f"The number of zones with non-gateway nodes ({len(zones)}) is smaller than the redundancy parameter ({zones_wanted})")
    size = _largest_size(storage, zones_wanted, factor)
    return size, _counts(storage, _limits(storage, size), factor, before)


def _limits(storage: Mapping[str, Role], size: int) -> dict[str, int]:
    return {node: min(PARTITIONS, (role.capacity or 0) // size) for node, role in storage.items()}


def _fits(storage: Mapping[str, Role], size: int, zones_wanted: int, factor: int) -> bool:
    # The server asks a flow graph with a vertex for each partition. Partitions are alike, so the two cuts of that graph say the same.
    limits = _limits(storage, size)
    by_zone: dict[str, int] = {}
    for node, role in storage.items():
        by_zone[role.zone] = by_zone.get(role.zone, 0) + limits[node]
    return (sum(by_zone.values()) >= PARTITIONS * factor
            and sum(min(PARTITIONS, held) for held in by_zone.values()) >= PARTITIONS * zones_wanted)


def _largest_size(storage: Mapping[str, Role], zones_wanted: int, factor: int) -> int:
    low, high = 1, sum(role.capacity or 0 for role in storage.values())
    if not _fits(storage, low, zones_wanted, factor):
        raise Impossible("The storage capacity of the cluster is too small. It is impossible to store partitions of size 1.")
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if _fits(storage, middle, zones_wanted, factor) else (low, middle)
    return low


def _counts(storage: Mapping[str, Role], limits: Mapping[str, int], factor: int, before: Mapping[str, int]) -> dict[str, int]:
    counts = dict.fromkeys(storage, 0)
    left = PARTITIONS * factor
    # First each zone gets every partition once, as far as it can, so that the partitions are in as many zones as possible.
    for most in (PARTITIONS, PARTITIONS * factor):
        for zone in sorted({role.zone for role in storage.values()}):
            nodes = [node for node, role in storage.items() if role.zone == zone]
            room = min(left, most - sum(counts[node] for node in nodes))
            for kept in (True, False):
                for node in nodes:
                    limit = min(limits[node], before.get(node, 0)) if kept else limits[node]
                    more = max(0, min(room, limit - counts[node]))
                    counts[node] += more
                    room -= more
                    left -= more
    return counts
