# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cluster layout, as it is and as it is wanted. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from .._errors import InputError
from .._units import parse_size
from .plan_hash import PlanHash

MAXIMUM = "maximum"
MIN_CAPACITY = 1024  # bytes; the server refuses less (GS-17)


@dataclass(frozen=True)
class Role:
    """A node's entry in the layout. ``capacity`` is bytes, None for a gateway. What the server computed is not compared."""

    id: str
    zone: str
    capacity: int | None
    tags: tuple[str, ...] = ()
    stored_partitions: int | None = field(default=None, compare=False)
    usable_capacity: int | None = field(default=None, compare=False)

    @classmethod
    def from_api(cls, role: Mapping) -> Role:
        return cls(role["id"], role["zone"], role.get("capacity"), tuple(role.get("tags") or ()), role.get("storedPartitions"),
                   role.get("usableCapacity"))

    def to_api(self) -> dict:
        # Tags must be a list and capacity null for a gateway; with either left out the server answers 400 (seen on 2.5.0).
        return {"id": self.id, "zone": self.zone, "capacity": self.capacity, "tags": list(self.tags)}

    def same_as(self, other: Role | None) -> bool:
        """Equal apart from the order of tags, which the server keeps but which means nothing."""
        return other is not None and (self.id, self.zone, self.capacity, set(self.tags)) == (other.id, other.zone, other.capacity, set(other.tags))

    def to_result(self) -> dict:
        return {"id": self.id, "zone": self.zone, "capacity": self.capacity, "gateway": self.capacity is None, "tags": list(self.tags),
                "stored_partitions": self.stored_partitions, "usable_capacity": self.usable_capacity}


@dataclass(frozen=True)
class Layout:
    """The layout in force and what is staged (a Role, or None for a removal, by node id). ``redundancy`` is "maximum" or a number."""

    version: int
    roles: Mapping[str, Role]
    redundancy: str | int
    staged: Mapping[str, Role | None] = field(default_factory=dict)
    staged_redundancy: str | int | None = None
    partition_size: int | None = None

    @classmethod
    def from_api(cls, layout: Mapping) -> Layout:
        """From a GetClusterLayout answer.

        Staged removals of nodes without a role are dropped: servers before 2.4.0 show them for ever and they mean nothing (upstream 1427).
        """
        roles = {role["id"]: Role.from_api(role) for role in layout["roles"]}
        redundancy = redundancy_from_api(layout["parameters"]["zoneRedundancy"])
        parameters = layout.get("stagedParameters")
        wanted = redundancy_from_api(parameters["zoneRedundancy"]) if parameters else None
        staged = {change["id"]: None if change.get("remove") else Role.from_api(change) for change in layout["stagedRoleChanges"]}
        return cls(layout["version"], roles, redundancy, {id: role for id, role in staged.items() if role or id in roles},
                   None if wanted == redundancy else wanted, layout.get("partitionSize"))

    @property
    def has_staged(self) -> bool:
        return bool(self.staged) or self.staged_redundancy is not None

    @property
    def storage(self) -> tuple[Role, ...]:
        return tuple(role for role in self.roles.values() if role.capacity is not None)

    def to_result(self) -> dict:
        """The layout as a user sees it; roles and staged roles ordered by id."""
        return {
            "version": self.version,
            "roles": [role.to_result() for id, role in sorted(self.roles.items())],
            "zone_redundancy": self.redundancy,
            "staged": {
                "roles": [_staged_result(id, role) for id, role in sorted(self.staged.items())],
                "zone_redundancy": self.staged_redundancy,
            },
            "partition_size": self.partition_size,
        }

    def to_diff(self) -> dict:
        """The same, keyed by node id, so that a diff names only the nodes that differ."""
        return {
            "version": self.version,
            "roles": {id: _shown(role) for id, role in sorted(self.roles.items())},
            "zone_redundancy": self.redundancy,
            "staged": {id: _shown(role) if role else "remove" for id, role in sorted(self.staged.items())},
            "staged_zone_redundancy": self.staged_redundancy,
        }


@dataclass(frozen=True)
class History:
    """The layout versions that are still alive, and how far each node has come (ack and sync by node id)."""

    current: int
    draining: tuple[int, ...] = ()
    trackers: Mapping[str, Mapping[str, int]] | None = None
    versions: tuple[dict, ...] = ()

    @classmethod
    def from_api(cls, history: Mapping) -> History:
        versions = tuple({"version": row["version"], "status": row["status"].lower(), "storage_nodes": row["storageNodes"],
                          "gateway_nodes": row["gatewayNodes"]} for row in history["versions"])
        return cls(history["currentVersion"], tuple(row["version"] for row in versions if row["status"] == "draining"),
                   history.get("updateTrackers"), versions)

    @property
    def lagging(self) -> dict[str, dict[str, int]]:
        """By node id, the counters that are behind the current version.

        ``syncAck`` does not count: it advances only when a node starts or hears from a peer, so a single node would wait for ever.
        """
        behind = {}
        for id, tracker in sorted((self.trackers or {}).items()):
            counters = {name: tracker[name] for name in ("ack", "sync") if tracker[name] < self.current}
            if counters:
                behind[id] = counters
        return behind

    @property
    def settled(self) -> bool:
        """True when no older version is still needed. Without trackers a draining version counts as needed (OP-110)."""
        return not self.draining or (self.trackers is not None and not self.lagging)

    def unsettled(self) -> str | None:
        """What keeps older versions from going, in words; None when nothing does."""
        if self.settled:
            return None
        behind = "; ".join(f"node {id[:16]} is behind with {', '.join(f'{name} {value}' for name, value in counters.items())}"
                           for id, counters in self.lagging.items())
        return f"version {', '.join(map(str, self.draining))} is still draining, current is {self.current}: {behind or 'no counters are known'}"

    def to_result(self) -> dict:
        return {"current_version": self.current, "settled": self.settled, "versions": list(self.versions), "lagging": self.lagging}


@dataclass(frozen=True)
class RoleSpec:
    """A role as it is wanted. ``node`` is an id, a unique prefix of one, a host name, or id@host:port; None leaves a field alone."""

    node: str
    zone: str | None = None
    capacity: int | None = None
    gateway: bool | None = None
    tags: tuple[str, ...] | None = None
    absent: bool = False


@dataclass(frozen=True)
class LayoutSpec:
    """A layout as it is wanted. ``owner_zones`` and ``owner_tag`` bound what may be touched and purged. ``waits``: until older
    versions have drained, before anything is applied."""

    roles: tuple[RoleSpec, ...] = ()
    redundancy: str | int | None = None
    replication_factor: int | None = None
    purge: bool = False
    owner_zones: tuple[str, ...] = ()
    owner_tag: str | None = None
    apply: bool = True
    foreign_staged: str = "fail"
    allow_unseen: bool = False
    require_settled: bool = True
    waits: bool = False
    consistency_mode: str | None = None
    assume_peers_consistent: bool | None = None
    follower: bool = False
    expected_plan: PlanHash | None = None
    record: Mapping | None = None

    @classmethod
    def from_params(cls, params: Mapping, follower: bool = False) -> LayoutSpec:
        """From module options. Raises InputError with all faults."""
        faults: list[str] = []
        owner = params.get("owner") or {}
        spec = cls(
            roles=tuple(_role_spec(role, f"roles[{index}]", faults) for index, role in enumerate(params.get("roles") or ())),
            redundancy=_redundancy(params.get("zone_redundancy"), params.get("replication_factor"), faults),
            replication_factor=params.get("replication_factor"),
            purge=bool(params.get("purge_roles")),
            owner_zones=tuple(owner.get("zones") or ()),
            owner_tag=owner.get("tag"),
            apply=params.get("apply", True),
            foreign_staged=params.get("foreign_staged", "fail"),
            allow_unseen=bool(params.get("allow_unseen_nodes")),
            require_settled=params.get("require_settled", True),
            consistency_mode=params.get("consistency_mode"),
            assume_peers_consistent=params.get("assume_peers_consistent"),
            follower=follower,
            expected_plan=_plan_hash(params.get("expected_plan"), faults),
        )
        if spec.replication_factor is not None and spec.replication_factor < 1:
            faults.append(f"replication_factor: {spec.replication_factor} must be 1 or more")
        if spec.purge and not (spec.owner_zones or spec.owner_tag):
            faults.append("purge_roles: needs owner.zones or owner.tag, so that it never touches roles of others")
        if spec.purge and params.get("roles") is None:
            faults.append("purge_roles: needs roles; an empty list removes every role inside of owner")
        if spec.owner_tag is not None and _tag_fault(spec.owner_tag):
            faults.append(f"owner.tag: {spec.owner_tag!r} {_tag_fault(spec.owner_tag)}")
        for index, role in enumerate(spec.roles):
            if role.zone and spec.owner_zones and role.zone not in spec.owner_zones:
                faults.append(f"roles[{index}].zone: {role.zone!r} is outside of owner.zones ({', '.join(spec.owner_zones)})")
        if faults:
            raise InputError(faults)
        return spec


def redundancy_from_api(value: object) -> str | int:
    """``"maximum"`` or ``{"atLeast": n}`` to "maximum" or n."""
    return value["atLeast"] if isinstance(value, Mapping) else str(value)


def redundancy_to_api(value: str | int) -> str | dict:
    return MAXIMUM if value == MAXIMUM else {"atLeast": value}


def _staged_result(id: str, role: Role | None) -> dict:
    removal = {"id": id, "zone": None, "capacity": None, "gateway": None, "tags": [], "stored_partitions": None, "usable_capacity": None}
    return {**(role.to_result() if role else removal), "remove": role is None}


def _shown(role: Role) -> dict:
    return {"zone": role.zone, "capacity": "gateway" if role.capacity is None else role.capacity, "tags": list(role.tags)}


def _redundancy(value: object, factor: int | None, faults: list[str]) -> str | int | None:
    if value is None or value == MAXIMUM:
        return value
    if not re.fullmatch(r"[0-9]+", str(value)) or int(value) < 1:
        faults.append(f"zone_redundancy: {value!r} must be {MAXIMUM!r} or a number of zones, 1 or more")
        return None
    if factor is not None and int(value) > factor:
        faults.append(f"zone_redundancy: {value} zones is more than the replication factor {factor}; a block has only {factor} copies to spread")
    return int(value)


def _plan_hash(text: str | None, faults: list[str]) -> PlanHash | None:
    if text is None:
        return None
    try:
        return PlanHash.parse(text)
    except ValueError as error:
        faults.append(f"expected_plan: {error}")
        return None


def _tag_fault(tag: str) -> str | None:
    return None if tag.strip() and "," not in tag else "must be a word without commas"


def _role_spec(role: Mapping, where: str, faults: list[str]) -> RoleSpec:
    capacity, gateway = role.get("capacity"), role.get("gateway")
    size = None
    if capacity is not None:
        try:
            size = parse_size(capacity)
        except ValueError as error:
            faults.append(f"{where}.capacity: {error}")
        else:
            if size < MIN_CAPACITY:
                faults.append(f"{where}.capacity: {capacity!r} is less than the {MIN_CAPACITY} bytes Garage asks of a storage node; set gateway: true"
                              " for a node that stores nothing")
        if gateway:
            faults.append(f"{where}: a gateway stores nothing; set either gateway: true or capacity")
    if not role["node"].strip():
        faults.append(f"{where}.node: must not be empty")
    if role.get("zone") is not None and not role["zone"].strip():
        faults.append(f"{where}.zone: must not be empty")
    faults += [f"{where}.tags: {tag!r} {_tag_fault(tag)}; give several tags as a list" for tag in role.get("tags") or () if _tag_fault(tag)]
    tags = role.get("tags")
    return RoleSpec(role["node"].strip(), role.get("zone"), size, gateway, None if tags is None else tuple(dict.fromkeys(tags)),
                    role.get("state") == "absent")
