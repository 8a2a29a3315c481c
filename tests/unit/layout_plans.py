# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Layouts, wishes and what a plan holds, in few words, for the tests of the layout planner."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError, PlanError
from ansible_collections.s3ops.garage.plugins.module_utils._models.cluster import Node
from ansible_collections.s3ops.garage.plugins.module_utils._models.layout import History, Layout, LayoutSpec, Role, RoleSpec
from ansible_collections.s3ops.garage.plugins.module_utils._plan import Plan
from ansible_collections.s3ops.garage.plugins.module_utils._planners.layout import LayoutSnapshot, plan_layout

A, B, C, D, GHOST = (digit * 64 for digit in "abcdf")
DRAINING = History(2, (1,), {A: {"ack": 2, "sync": 2, "syncAck": 1}, B: {"ack": 2, "sync": 1, "syncAck": 1}})
UPDATE, APPLY, REVERT = "UpdateClusterLayout", "ApplyClusterLayout", "RevertClusterLayout"


def storage(id: str, zone: str = "paris", capacity: int = 10_000, *tags: str) -> Role:
    return Role(id, zone, capacity, tags)


def gateway(id: str, zone: str = "paris", *tags: str) -> Role:
    return Role(id, zone, None, tags)


def live(*roles: Role, staged: dict[str, Role | None] | None = None, staged_redundancy: Any = None, redundancy: Any = "maximum",
         nodes: tuple[Node, ...] | None = None, history: History | None = None) -> LayoutSnapshot:
    """A snapshot at version 1; all of A to D are up unless ``nodes`` says otherwise."""
    known = nodes if nodes is not None else tuple(Node(id, f"host-{id[0]}", up=True) for id in (A, B, C, D))
    return LayoutSnapshot(Layout(1, {role.id: role for role in roles}, redundancy, staged or {}, staged_redundancy, 100), known, history)


def declared(*roles: Role | RoleSpec, **options: Any) -> LayoutSpec:
    return LayoutSpec(tuple(role if isinstance(role, RoleSpec) else RoleSpec(role.id, role.zone, role.capacity, role.capacity is None, role.tags)
                            for role in roles), **options)


def absent(node: str) -> RoleSpec:
    return RoleSpec(node, absent=True)


def endpoints(plan: Plan) -> list[str]:
    return [call.endpoint for call in plan.calls]


def body(plan: Plan, endpoint: str) -> Any:
    return next(call.body for call in plan.calls if call.endpoint == endpoint)


def refusal(spec: LayoutSpec, snapshot: LayoutSnapshot) -> str:
    with pytest.raises((PlanError, InputError)) as caught:
        plan_layout(spec, snapshot)
    return caught.value.message


THREE = (storage(A), storage(B), storage(C, "lyon"))
