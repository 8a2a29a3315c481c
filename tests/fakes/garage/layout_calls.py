# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The endpoints of the layout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.fakes.garage.bodies import Malformed, flag, many, struct, text, unsigned
from tests.fakes.garage.errors import bad_request, internal
from tests.fakes.garage.layout import LayoutState, Version
from tests.fakes.garage.partitions import Impossible, Role
from tests.fakes.garage.row import Row
from tests.fakes.garage.state import State, parse_id


def _get(state: State, args: dict) -> dict:
    return _show(state, state.layout.current)


def _show(state: State, version: Version, staged: bool = True) -> dict:
    layout = state.layout
    changes = layout.staged if staged else {}
    redundancy = layout.staged_redundancy if staged else version.redundancy
    return {
        "version": version.version,
        "roles": [_role(version, node, role) for node, role in sorted(version.roles.items())],
        "parameters": _parameters(version.redundancy),
        "partitionSize": version.partition_size,
        "stagedRoleChanges": [_change(node, role) for node, role in sorted(changes.items()) if _is_reported(state, node, role)],
        "stagedParameters": None if redundancy == version.redundancy else _parameters(redundancy),
    }


def _is_reported(state: State, node: str, role: Role | None) -> bool:
    roles = state.layout.current.roles
    # Before 2.4 the removal of a node that has no role was reported for ever.
    return role != roles.get(node) or (role is None and node not in roles and not state.since(2, 4))


def _role(version: Version, node: str, role: Role) -> dict:
    stored = version.partitions.get(node, 0)
    return {"id": node, "zone": role.zone, "tags": list(role.tags), "capacity": role.capacity, "storedPartitions": stored,
            "usableCapacity": stored * version.partition_size}


def _change(node: str, role: Role | None) -> dict:
    return {"id": node, "remove": True} if role is None else {"id": node, "zone": role.zone, "tags": list(role.tags), "capacity": role.capacity}


def _parameters(redundancy: int | str) -> dict:
    return {"zoneRedundancy": redundancy if isinstance(redundancy, str) else {"atLeast": redundancy}}


def _history(state: State, args: dict) -> dict:
    layout = state.layout
    several = len(layout.live) > 1
    oldest = layout.live[0].version
    return {
        "currentVersion": layout.current.version,
        "minAck": min((layout.acknowledged.get(node, oldest) for node in layout.nodes), default=oldest),
        "versions": [_version(layout, version) for version in [*reversed(layout.live), *reversed(layout.old)]],
        "updateTrackers": {node: _tracker(layout, node) for node in layout.nodes} if several else None,
    }


def _version(layout: LayoutState, version: Version) -> dict:
    status = "Current" if version is layout.current else "Draining" if version in layout.live else "Historical"
    return {"version": version.version, "status": status, "storageNodes": len(version.storage),
            "gatewayNodes": len(version.roles) - len(version.storage)}


def _tracker(layout: LayoutState, node: str) -> dict:
    oldest = layout.live[0].version
    return {name: max(oldest, reached.get(node, oldest))
            for name, reached in (("ack", layout.acknowledged), ("sync", layout.synced), ("syncAck", layout.let_go))}


def _update(state: State, args: dict) -> dict:
    layout, body = state.layout, args["body"]
    # One bad role or parameter and nothing is staged.
    changes = {parse_id(role["id"], "Invalid node identifier"): _staged_role(role) for role in body["roles"]}
    redundancy = layout.staged_redundancy if body["parameters"] is None else body["parameters"]["zoneRedundancy"]
    if isinstance(redundancy, int) and redundancy > layout.factor:
        raise bad_request(f"The zone redundancy must be smaller or equal to the replication factor ({layout.factor}).")
    if isinstance(redundancy, int) and redundancy < 1:
        raise bad_request("The zone redundancy must be at least 1.")
    layout.staged.update(changes)
    layout.staged_redundancy = redundancy
    state.settle()
    return _show(state, layout.current)


def _staged_role(role: Mapping) -> Role | None:
    if "remove" in role:
        if not role["remove"]:
            raise bad_request("Invalid layout change")
        return None
    if role["capacity"] is not None and role["capacity"] < 1024:
        raise bad_request("Capacity should be at least 1K (1024)")
    return Role(role["zone"], role["capacity"], tuple(role["tags"]))


def _preview(state: State, args: dict) -> dict:
    try:
        version, statistics = state.layout.next()
    except Impossible as error:
        return {"error": str(error)}
    return {**_outcome(state, statistics), "newLayout": _show(state, version, staged=False)}


def _apply(state: State, args: dict) -> dict:
    if args["body"]["version"] != state.layout.current.version + 1:
        raise internal("Invalid new layout version")
    try:
        statistics = state.layout.apply()
    except Impossible as error:
        raise internal(str(error)) from None
    state.settle()
    return {**_outcome(state, statistics), "layout": _show(state, state.layout.current)}


def _outcome(state: State, statistics: Mapping) -> dict:
    lines = ["==== COMPUTATION OF A NEW PARTITION ASSIGNATION ====", "",
             f"Partitions are replicated {statistics['replicationFactor']} times on at least {statistics['effectiveZoneRedundancy']} distinct zones."]
    moved = statistics["totalMovedPartitions"]
    if moved is not None:
        lines += ["", f"A total of {moved} new copies of partitions need to be transferred."]
    return {"message": lines, "statistics": dict(statistics)} if state.since(2, 4) else {"message": lines}


def _revert(state: State, args: dict) -> dict:
    state.layout.revert()
    state.settle()
    return _show(state, state.layout.current)


def _skip_dead(state: State, args: dict) -> dict:
    layout, version = state.layout, args["body"]["version"]
    if len(layout.live) == 1:
        raise bad_request("This command cannot be called when there is only one live cluster layout version")
    usable = range(layout.live[0].version + 1, layout.current.version + 1)
    if version not in usable:
        raise bad_request(f"Invalid version, you may use the following version numbers: {' '.join(map(str, usable))}")
    raised, skipped = layout.skip_dead(version, args["body"]["allowMissingData"], set(state.up_ids()))
    state.settle()
    return {"ackUpdated": raised, "syncUpdated": skipped}


def _role_change(value: Any) -> dict:
    node = struct(required={"id": text})(value)
    # Whatever has a boolean `remove` is a removal, whatever else it says.
    if isinstance(value.get("remove"), bool):
        return {**node, "remove": value["remove"]}
    try:
        return {**node, **struct(required={"zone": text, "tags": many(text)}, optional={"capacity": unsigned})(value)}
    except Malformed:
        raise Malformed("data did not match any variant of untagged enum NodeRoleChangeEnum") from None


def _redundancy(value: Any) -> int | str:
    if value == "maximum":
        return "maximum"
    if isinstance(value, dict) and list(value) == ["atLeast"]:
        return unsigned(value["atLeast"])
    raise Malformed("unknown variant, expected `atLeast` or `maximum`")


_UPDATE = struct(optional={"parameters": struct(required={"zoneRedundancy": _redundancy})}, defaulted={"roles": (many(_role_change), [])})

ROWS = (
    Row("GetClusterLayout", "GET", _get),
    Row("GetClusterLayoutHistory", "GET", _history),
    Row("UpdateClusterLayout", "POST", _update, body=_UPDATE),
    Row("PreviewClusterLayoutChanges", "POST", _preview),
    Row("ApplyClusterLayout", "POST", _apply, body=struct(required={"version": unsigned})),
    Row("RevertClusterLayout", "POST", _revert),
    Row("ClusterLayoutSkipDeadNodes", "POST", _skip_dead, body=struct(required={"version": unsigned, "allowMissingData": flag})),
)
