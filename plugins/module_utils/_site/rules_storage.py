# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rules for the volumes of a site and the group sources they are filled from. Pure. Private: not for use outside of the collection.

Each function returns faults as text and copes with values of a wrong type, which the schema reports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .._models.layout import MIN_CAPACITY
from .._units import SIZE_RULE, parse_size
from .shape import EDGE_GATEWAYS, entries, number, section, shape

GROUPS = ("storage", "gateway")
WAYS = "size, or existing_claims for every ordinal, or empty_dir"
CLAIM_OPTIONS = ("size", "storage_class", "access_modes", "selector", "labels", "annotations", "volume_attributes_class", "existing_claims",
                 "data_source_ref")
# What would give every node a copy of one and the same volume (VG-12, VG-27).
CORE_GROUPS = ("", "core", "v1")
SINGLE_KINDS = ("PersistentVolumeClaim", "VolumeSnapshot")


@dataclass(frozen=True)
class Place:
    """A volume in a site file. ``group``: storage or gateway. ``replicas``: how many nodes have one, None when that is not known."""

    where: str
    group: str
    volume: Mapping[str, Any]
    data: bool
    replicas: int | None

    @property
    def claims(self) -> Mapping:
        return section(self.volume, "existing_claims")

    @property
    def has_way(self) -> bool:
        """Whether each node gets a volume: a new claim, one that is there already, or an ephemeral one."""
        claimed = bool(self.claims) and self.replicas is not None and all(str(index) in self.claims for index in range(self.replicas))
        return claimed or "size" in self.volume or "empty_dir" in self.volume


def places(site: Mapping) -> Iterator[Place]:
    """All volumes that a site file describes."""
    for group in GROUPS:
        nodes = section(site, group)
        replicas = number(nodes.get("replicas", 2 if group == "gateway" else None))
        for name in ("metadata", "data"):
            volume, where = section(nodes, name), f"garage_site.{group}.{name}"
            if name == "data" and "paths" in volume:
                yield from (Place(f"{where}.paths[{index}]", group, path, True, replicas) for index, path in entries(volume, "paths"))
            elif isinstance(nodes.get(name), Mapping):
                yield Place(where, group, volume, name == "data", replicas)


def volume_faults(site: Mapping) -> Iterator[str]:
    """All faults of the volumes."""
    yield from _missing(site)
    found = list(places(site))
    for place in found:
        yield from _empty_dir(place)
        yield from _existing_claims(place, shape(site) == EDGE_GATEWAYS)
        yield from _source(place)
        if place.replicas and not place.has_way:
            yield f"{place.where}: {place.group} with replicas needs {place.where.rpartition('.')[2]} with {WAYS}"
    counted = Counter(str(claim) for place in found for claim in place.claims.values())
    # VG-02: two nodes on one disk would be two nodes with one identity.
    yield from (f"garage_site: the existing claim {claim!r} is named {count} times; each volume of each node has one of its own"
                for claim, count in counted.items() if count > 1)
    yield from _paths(section(section(site, "storage"), "data"))
    yield from _capacity(section(site, "storage"), found)


def _missing(site: Mapping) -> Iterator[str]:
    for group, names in (("storage", ("metadata", "data")), ("gateway", ("metadata",))):
        nodes = section(site, group)
        if site.get(group) is None or not number(nodes.get("replicas", 2 if group == "gateway" else None)):
            continue
        for name in names:
            if nodes.get(name) is None:
                extra = " (or paths)" if name == "data" else ""
                yield f"garage_site.{group}.{name}: {group} with replicas needs {name}{extra} with {WAYS}"


def _empty_dir(place: Place) -> Iterator[str]:
    if "empty_dir" not in place.volume:
        return
    others = [name for name in CLAIM_OPTIONS if name in place.volume]
    if others:
        yield f"{place.where}: empty_dir excludes {', '.join(others)}, for only a claim has that; leave out the one or the other"


def _existing_claims(place: Place, edge: bool) -> Iterator[str]:
    if not place.claims:
        return
    where = f"{place.where}.existing_claims"
    if edge:
        yield (f"{where}: gateways without storage are one StatefulSet, whose claims are named by Kubernetes (metadata-<name>-gateway-<ordinal>);"
               " name the claims so, or leave existing_claims out")
    for ordinal in place.claims:
        if not ordinal.isdecimal() or str(int(ordinal)) != ordinal or (place.replicas is not None and int(ordinal) >= place.replicas):
            yield f"{where}: {ordinal[:40]!r} is the ordinal of no node; ordinals are 0 to {(place.replicas or 1) - 1}"


def _source(place: Place) -> Iterator[str]:
    source, where = section(place.volume, "data_source_ref"), f"{place.where}.data_source_ref"
    if "data_source_ref" not in place.volume:
        return
    for name in ("existing_claims", "selector"):
        if name in place.volume:
            yield f"{where}: excludes {name}: only a new claim is filled, and it gets a volume of its own"
    group, kind = source.get("api_group"), source.get("kind")
    if group in CORE_GROUPS:
        yield f"{where}.api_group: {group!r} is the core group, whose kinds are no group sources; name the API group of a volume populator"
    elif isinstance(group, str) and "/" in group:
        yield f"{where}.api_group: {group!r} has a version; leave out what follows the slash"
    if kind in SINGLE_KINDS:
        yield (f"{where}.kind: a {kind} is a single volume, which every node would get a copy of, with one identity for all; name a group source,"
               " such as a Restore of a volume populator")


def _paths(data: Mapping) -> Iterator[str]:
    if "paths" not in data:
        return
    where = "garage_site.storage.data"
    others = [name for name in data if name in (*CLAIM_OPTIONS, "empty_dir")]
    if others:
        yield f"{where}: paths and {', '.join(others)} exclude one another; each of the paths has its own"
    paths = entries(data, "paths")
    if paths and all(path.get("read_only") is True for _index, path in paths):
        yield f"{where}.paths: all are read_only; one at least must take data"
    counted = Counter(str(path.get("name", index)) for index, path in paths)
    yield from (f"{where}.paths: the name {name!r} is used {count} times; a path without a name has its index for one"
                for name, count in counted.items() if count > 1)


def _capacity(storage: Mapping, found: list[Place]) -> Iterator[str]:
    """OP-102: capacity follows from the volumes, and LW-31: it is never guessed."""
    where, capacity = "garage_site.storage.capacity", storage.get("capacity")
    if capacity is not None and storage.get("capacity_reserve_percent"):
        yield "garage_site.storage.capacity_reserve_percent: has no effect beside capacity; leave one of them out"
    wanted = _bytes(capacity)
    if capacity is not None and wanted is None:
        yield f"{where}: {str(capacity)[:80]!r} is not a size; wanted: {SIZE_RULE}"
        return
    disks = [place for place in found if place.group == "storage" and place.data and place.volume.get("read_only") is not True]
    if wanted is None and any(disk.replicas and "size" not in disk.volume and disk.has_way for disk in disks):
        yield f"{where}: is missing; the size of a volume for data is not known, and a capacity is never guessed"
    sizes = [_bytes(disk.volume.get("size")) for disk in disks]
    if not sizes or not all(sizes):
        return
    room = sum(size or 0 for size in sizes)
    if wanted is None:
        wanted = room * (100 - (number(storage.get("capacity_reserve_percent")) or 0)) // 100
    elif wanted > room:
        yield f"{where}: {capacity!r} is more than the volumes for data hold ({room} bytes); make them larger or leave capacity out"
    if wanted < MIN_CAPACITY:
        yield f"{where}: {wanted} bytes; Garage takes no storage node below {MIN_CAPACITY} bytes"


def _bytes(value: Any) -> int | None:
    try:
        return parse_size(value)
    except ValueError:
        return None
