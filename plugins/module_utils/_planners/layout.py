# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide what the cluster layout needs. Pure. Private: not for use outside of the collection.

The only file besides the endpoint table that names the calls which write the layout (LW-17).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from .._errors import InputError, PlanError
from .._models.cluster import Node
from .._models.layout import History, Layout, LayoutSpec, Role, RoleSpec, redundancy_to_api, staged_from_api
from .._plan import Awaiting, Call, Plan
from ._layout_checks import constraint_faults, unseen_faults, warnings_about
from ._node_selector import resolve_nodes

APPLIED, PREVIEWED = "applied layout", "preview"  # names under which answers are kept


@dataclass(frozen=True)
class LayoutSnapshot:
    """What the planner must know: the layout, the nodes the cluster knows, and the version history (None when it was not asked for)."""

    layout: Layout
    nodes: tuple[Node, ...] = ()
    history: History | None = None


@dataclass(frozen=True)
class Changes:
    """What differs from the layout in force: a Role or None (removal) by node id, and the zone redundancy (None = as it is)."""

    roles: Mapping[str, Role | None]
    redundancy: str | int | None = None

    def __bool__(self) -> bool:
        return bool(self.roles) or self.redundancy is not None

    def lines(self) -> list[str]:
        words = [f"{'set the role of' if role else 'remove the role of'} {id[:16]}" for id, role in sorted(self.roles.items())]
        return words + ([f"zone redundancy {self.redundancy}"] if self.redundancy is not None else [])


SUBJECT = "cluster layout"
UNDO = Call("RevertClusterLayout", "what was staged was dropped again")


def plan_layout(spec: LayoutSpec, live: LayoutSnapshot) -> Plan:
    """Raises PlanError or InputError when the live state forbids what is wanted; nothing is sent then.

    On a follower the plan has no calls; ``awaiting`` says what the writer has to do (LW-16, LW-22 to LW-26, LW-29).
    """
    layout = live.layout
    wanted = _wanted(spec, live)
    if spec.follower:
        return Plan(SUBJECT, layout.to_diff(), layout.to_diff(), predicted=layout.to_result(), awaiting=awaiting(wanted, layout))
    foreign = _foreign(wanted, layout)
    if foreign and not wanted and spec.foreign_staged == "fail":
        # Nothing of ours is to be done, so nothing of theirs is in the way.
        note = f"somebody else has staged changes that are not applied: {'; '.join(foreign.lines())}"
        return Plan(SUBJECT, layout.to_diff(), layout.to_diff(), predicted=layout.to_result(), notes=(note,))
    if foreign and spec.foreign_staged == "fail":
        raise PlanError(f"{SUBJECT}: somebody else has staged changes that are not applied: {'; '.join(foreign.lines())}; nothing was staged or applied",
                        hint="foreign_staged: discard drops them, foreign_staged: include applies them together with these")
    discard = bool(foreign) and spec.foreign_staged == "discard"
    base = replace(layout, staged={}, staged_redundancy=None) if discard else layout
    target = _merged(wanted, foreign) if foreign and not discard else wanted
    after = _applied(layout, target)
    if target:
        faults = constraint_faults(spec, after, removed=[id for id, role in target.roles.items() if role is None])
        faults += [] if spec.allow_unseen else unseen_faults(wanted.roles, live.nodes, layout)
        if faults:
            raise PlanError(f"{SUBJECT}: {'; '.join(faults)}; nothing was staged or applied")
    calls = tuple(_calls(spec, base, target, discard))
    if calls and spec.require_settled and live.history and not live.history.settled:
        raise PlanError(f"{SUBJECT}: version {', '.join(map(str, live.history.draining))} is still draining"
                        f"{_lagging(live.history)}; another change now would pile up", hint="wait (wait: true), or see s3ops.garage.layout_info; a"
                        " dead node that blocks it needs skip-dead-nodes; require_settled: false overrides this")
    shown = after if spec.apply and target else replace(layout, staged=dict(target.roles), staged_redundancy=target.redundancy)
    if not calls:
        shown = layout
    return Plan(SUBJECT, layout.to_diff(), shown.to_diff(), calls, tuple(warnings_about(spec, after)) if calls else (),
                predicted=shown.to_result(), undo=None if base.has_staged else UNDO)


def preview_calls(plan: Plan) -> tuple[Call, ...]:
    """The calls that ask the server what ``plan`` would do: the question alone when all is staged already, else stage, ask, and put the
    empty staging area back. None when the plan sends nothing, or begins with dropping what somebody else has staged."""
    ask = Call("PreviewClusterLayoutChanges", "preview the staged changes", binds=PREVIEWED)
    first = plan.calls[0] if plan.calls else None
    if first is None or first.endpoint == "RevertClusterLayout":
        return ()
    if first.endpoint == "ApplyClusterLayout":
        return (ask,)
    return (first, ask, UNDO)


def awaiting(wanted: Changes, layout: Layout) -> Awaiting:
    """What a follower has to wait for, the most pressing reason first: removal, no role, changed role, tombstones, replication change (LW-10)."""
    removals = [id for id, role in wanted.roles.items() if role is None]
    storage = [id for id in removals if layout.roles[id].capacity is not None]
    tombstones = [id for id in removals if layout.roles[id].capacity is None]
    fresh = [id for id, role in wanted.roles.items() if role and id not in layout.roles]
    other = [id for id, role in wanted.roles.items() if role and id in layout.roles]
    reasons = [("pending_role_removal", storage), ("nodes_without_role", fresh), ("pending_role_change", other), ("pending_tombstones", tombstones)]
    reason = next((word for word, ids in reasons if ids), "replication_change" if wanted.redundancy is not None else "nothing_pending")
    lines = [{"node": id, "state": "absent"} if role is None else
             {"node": id, "zone": role.zone, **({"gateway": True} if role.capacity is None else {"capacity": role.capacity}), "tags": list(role.tags)}
             for id, role in sorted(wanted.roles.items())]
    if wanted.redundancy is not None:
        lines.append({"zone_redundancy": wanted.redundancy})
    operations = ("UpdateClusterLayout", "ApplyClusterLayout") if wanted else ()
    return Awaiting(reason, tuple(sorted(wanted.roles)), operations, tuple(lines))


def _wanted(spec: LayoutSpec, live: LayoutSnapshot) -> Changes:
    ids = resolve_nodes([role.node for role in spec.roles], [role.absent for role in spec.roles], live.nodes, live.layout.roles)
    roles: dict[str, Role | None] = {}
    faults: list[str] = []
    for index, (role, id) in enumerate(zip(spec.roles, ids, strict=True)):
        if id is None:
            continue
        current = live.layout.roles.get(id)
        if current and spec.owner_zones and current.zone not in spec.owner_zones:
            faults.append(f"roles[{index}]: node {id[:16]} has a role in zone {current.zone!r}, outside of owner.zones ({', '.join(spec.owner_zones)})")
        elif role.absent:
            roles[id] = None
        else:
            roles[id] = _role(spec, role, id, current, f"roles[{index}]", faults)
    if faults:
        raise InputError(faults)
    if spec.purge:
        roles.update({id: None for id, role in live.layout.roles.items() if id not in roles and _owned(spec, role)})
    changed = {id: role for id, role in roles.items() if (role is None and id in live.layout.roles) or
               (role is not None and not role.same_as(live.layout.roles.get(id)))}
    redundancy = spec.redundancy if spec.redundancy not in (None, live.layout.redundancy) else None
    return Changes(changed, redundancy)


def _role(spec: LayoutSpec, role: RoleSpec, id: str, current: Role | None, where: str, faults: list[str]) -> Role | None:
    zone = role.zone or (current.zone if current else None)
    if zone is None:
        faults.append(f"{where}: node {role.node!r} has no role yet, so zone must be set")
    capacity = role.capacity
    if capacity is None and not role.gateway:
        capacity = current.capacity if current else None
        if capacity is None and (current is None or role.gateway is False):
            faults.append(f"{where}: set capacity for node {role.node!r}, or gateway: true when it stores nothing")
    tags = role.tags if role.tags is not None else (current.tags if current else ())
    if spec.owner_tag and spec.owner_tag not in tags:
        tags = (*tags, spec.owner_tag)
    return Role(id, zone or "", capacity, tags)


def _owned(spec: LayoutSpec, role: Role) -> bool:
    """Inside the ownership scope: every bound that is set must hold (OP-111)."""
    return (not spec.owner_zones or role.zone in spec.owner_zones) and (not spec.owner_tag or spec.owner_tag in role.tags)


def _foreign(wanted: Changes, layout: Layout) -> Changes:
    """Staged changes that this plan does not intend (OP-106). What is exactly ours is the residue of an earlier run."""
    roles = {id: role for id, role in layout.staged.items() if id not in wanted.roles or not _same(role, wanted.roles[id])}
    other = layout.staged_redundancy
    return Changes(roles, other if other is not None and other != wanted.redundancy else None)


def _merged(wanted: Changes, foreign: Changes) -> Changes:
    return Changes({**foreign.roles, **wanted.roles}, wanted.redundancy if wanted.redundancy is not None else foreign.redundancy)


def _applied(layout: Layout, target: Changes) -> Layout:
    roles = {**layout.roles, **target.roles}
    return replace(layout, version=layout.version + 1, roles={id: role for id, role in roles.items() if role is not None}, staged={},
                   staged_redundancy=None, redundancy=layout.redundancy if target.redundancy is None else target.redundancy)


def _calls(spec: LayoutSpec, base: Layout, target: Changes, discard: bool) -> list[Call]:
    calls = []
    if discard:
        calls.append(Call("RevertClusterLayout", "discard the changes somebody else has staged"))
    missing = {id: role for id, role in target.roles.items() if id not in base.staged or not _same(role, base.staged[id])}
    redundancy = target.redundancy if target.redundancy != base.staged_redundancy else None
    if missing or redundancy is not None:
        body: dict = {"roles": [role.to_api() if role else {"id": id, "remove": True} for id, role in sorted(missing.items())]}
        if redundancy is not None:
            body["parameters"] = {"zoneRedundancy": redundancy_to_api(redundancy)}
        calls.append(Call("UpdateClusterLayout", f"stage: {'; '.join(Changes(missing, redundancy).lines())}", body=body,
                          check=lambda answer: _staging_fault(answer, target)))
    if spec.apply and target:
        version = base.version + 1
        calls.append(Call("ApplyClusterLayout", f"apply layout version {version}", body={"version": version}, binds=APPLIED))
    return calls


def _staging_fault(answer: Mapping, target: Changes) -> str | None:
    """Why the staging area after our update is not what is about to be applied, or None (OP-107)."""
    roles = {role["id"] for role in answer["roles"]}
    staged = {id: role for id, role in staged_from_api(answer).items() if role or id in roles}
    odd = sorted(id for id in {*staged, *target.roles} if not _same(staged.get(id, "nothing"), target.roles.get(id, "nothing")))
    return f"the staging area does not hold what was asked for node {', '.join(id[:16] for id in odd)}" if odd else None


def _same(one: object, other: object) -> bool:
    return one.same_as(other) if isinstance(one, Role) and isinstance(other, Role) else one == other


def _lagging(history: History) -> str:
    lines = [f"{id[:16]} ({', '.join(f'{name} {value}' for name, value in counters.items())})" for id, counters in history.lagging.items()]
    return f", waiting for node {', '.join(lines)}" if lines else ""
