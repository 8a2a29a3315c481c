# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide what the cluster layout needs. Pure. Private: not for use outside of the collection.

The only file besides the endpoint table that names the calls which write the layout (LW-17).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from .._errors import InputError, PlanError, VerifyMismatch
from .._models.cluster import Node
from .._models.layout import History, Layout, LayoutSpec, Role, RoleSpec, redundancy_to_api
from .._models.layout_record import lost
from .._models.plan_hash import PlanHash, layout_digest, moves_digest
from .._plan import Awaiting, Call, Plan
from ._layout_checks import constraint_faults, drain_faults, unseen_faults, warnings_about
from ._node_selector import resolve_nodes

STAGE, APPLY = "UpdateClusterLayout", "ApplyClusterLayout"
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


@dataclass(frozen=True)
class LayoutPlan(Plan):
    """A plan with the hash by which it is approved (None on a follower, which plans nothing), and what the task ``declared`` of nodes, by their ids,
    in the form in which it can be declared elsewhere."""

    approval: PlanHash | None = None
    declared: tuple[Mapping, ...] = ()


SUBJECT = "cluster layout"
UNDO = Call("RevertClusterLayout", "what was staged was dropped again")
ASK = Call("PreviewClusterLayoutChanges", "preview the staged changes", binds=PREVIEWED)


def plan_layout(spec: LayoutSpec, live: LayoutSnapshot) -> LayoutPlan:
    """Raises PlanError or InputError when the live state forbids what is wanted; nothing is sent then.

    On a follower the plan has no calls; ``awaiting`` says what the writer has to do (LW-16, LW-22 to LW-26, LW-29).
    """
    layout = live.layout
    declared = _declared(spec, live)
    wanted = _wanted(spec, declared, layout)
    lines = tuple(_line(id, role, layout) for id, role in sorted(declared.items()) if role or id in layout.roles)
    nothing = LayoutPlan(subject=SUBJECT, before=layout.to_diff(), after=layout.to_diff(), predicted=layout.to_result(),
                         approval=PlanHash.of(layout, layout), declared=lines)
    if spec.follower:
        return replace(nothing, awaiting=awaiting(spec, wanted, layout), approval=None)
    foreign = _foreign(wanted, layout)
    base, target, back = layout, wanted, Changes({})
    if foreign and spec.foreign_staged == "discard":
        base = replace(layout, staged={}, staged_redundancy=None)
    elif foreign and spec.foreign_staged == "include":
        target, back = _taken_in(spec, declared, wanted, foreign, layout)
    # What is staged as asked may have its tags in another order, and keeps it.
    target = replace(target, roles={id: base.staged[id] if id in base.staged and _same(role, base.staged[id]) else role
                                    for id, role in target.roles.items()})
    calls = tuple(_calls(spec, base, target, back, discard=base is not layout))
    if foreign and spec.foreign_staged == "fail":
        note = f"somebody else has staged changes that are not applied: {'; '.join(foreign.lines())}"
        if calls:
            raise PlanError(f"{SUBJECT}: {note}; nothing was applied",
                            hint="foreign_staged: discard drops them, foreign_staged: include applies them together with these")
        return replace(nothing, notes=(note,))
    if not calls:
        return nothing
    after = _applied(layout, target)
    if target:
        _refuse(spec, live, after, target)
    shown = after if spec.apply and target else replace(layout, staged=dict(target.roles), staged_redundancy=target.redundancy)
    return LayoutPlan(subject=SUBJECT, before=layout.to_diff(), after=shown.to_diff(), calls=calls,
                      notes=tuple(warnings_about(spec, after)) if target else (),
                      predicted=shown.to_result(), undo=None if base.has_staged else UNDO, approval=PlanHash.of(layout, after),
                      declared=lines)


def refuse_unapproved(approved: PlanHash, plan: LayoutPlan) -> None:
    """Raises PlanError when ``plan`` is another than the one that was approved. With nothing to do there is nothing to approve."""
    changes = plan.approval.changed_since(approved) if plan.calls and plan.approval else []
    if changes:
        raise PlanError(f"{SUBJECT}: this is not the plan that was approved ({approved}): {'; '.join(changes)}",
                        hint=f"look at the plan again (check mode) and approve it anew; now it would be {plan.approval}: {'; '.join(plan.would)}")


def with_moves(plan: LayoutPlan, answer: Mapping | None) -> LayoutPlan:
    """``plan`` with what the server answered to a preview, or to the apply, in its hash."""
    return replace(plan, approval=replace(plan.approval, moves=moves_digest(answer))) if plan.approval else plan


def check_previewed(plan: LayoutPlan, answer: Mapping) -> None:
    """Raises VerifyMismatch when the preview is of something else than ``plan``: somebody has staged since, and their change must not be dropped."""
    if answer.get("newLayout") and layout_digest(Layout.from_api(answer["newLayout"])) != plan.approval.wanted:
        raise VerifyMismatch(f"{SUBJECT}: what is staged is not what this run has staged; nothing was applied",
                             hint="somebody else stages changes at the same time: find out who, then run this again")


def staged_approval(layout: Layout, preview: Mapping | None) -> PlanHash:
    """The hash of applying what is staged; ``preview`` is the server's answer, None when it was not asked."""
    return PlanHash.of(layout, _applied(layout, Changes(layout.staged, layout.staged_redundancy)) if layout.has_staged else layout, preview)


def preview_before(call: Call) -> Call | None:
    """What to ask before ``call`` when the moves were approved too: a preview, before the apply."""
    return ASK if call.endpoint == APPLY else None


def preview_calls(plan: Plan) -> tuple[Call, ...]:
    """The calls that ask the server what ``plan`` would do: the question alone when all is staged already, else stage, ask, and put the
    empty staging area back. None of them when the plan sends nothing, or begins with dropping what somebody else has staged."""
    first = plan.calls[0] if plan.calls else None
    if first is None or first.endpoint == "RevertClusterLayout":
        return ()
    if first.endpoint == APPLY:
        return (ASK,)
    return (first, ASK, UNDO)


def awaiting(spec: LayoutSpec, wanted: Changes, layout: Layout) -> Awaiting:
    """What a follower has to wait for, the most pressing reason first: removal, no role, changed role, tombstones, replication change (LW-10)."""
    removals = [id for id, role in wanted.roles.items() if role is None]
    storage = [id for id in removals if layout.roles[id].capacity is not None]
    tombstones = [id for id in removals if layout.roles[id].capacity is None]
    fresh = [id for id, role in wanted.roles.items() if role and id not in layout.roles]
    other = [id for id, role in wanted.roles.items() if role and id in layout.roles]
    reasons = [("pending_role_removal", storage), ("nodes_without_role", fresh), ("pending_role_change", other), ("pending_tombstones", tombstones)]
    reason = next((word for word, ids in reasons if ids), "replication_change" if wanted.redundancy is not None else "nothing_pending")
    lines: list[Mapping] = [_line(id, role, layout) for id, role in sorted(wanted.roles.items())]
    if wanted.redundancy is not None:
        lines.append({"zone_redundancy": wanted.redundancy})
    operations = (STAGE, *((APPLY,) if spec.apply else ())) if wanted else ()
    return Awaiting(reason, tuple(sorted(wanted.roles)), operations, tuple(lines))


def _line(id: str, role: Role | None, layout: Layout) -> dict:
    """A role as the list of nodes in a site file takes it."""
    if role is None:
        return {"node": id, "zone": layout.roles[id].zone, "state": "absent"}
    return {"node": id, "zone": role.zone, **({"gateway": True} if role.capacity is None else {"capacity": role.capacity}), "tags": list(role.tags)}


def _declared(spec: LayoutSpec, live: LayoutSnapshot) -> dict[str, Role | None]:
    """What the task says of nodes, by their ids; None for a node that shall have no role, be it named or purged."""
    ids = resolve_nodes([role.node for role in spec.roles], [role.absent for role in spec.roles], live.nodes, live.layout.roles)
    roles: dict[str, Role | None] = {}
    faults: list[str] = []
    for index, (role, id) in enumerate(zip(spec.roles, ids, strict=True)):
        if id is None:
            continue
        current = live.layout.roles.get(id)
        if current and spec.owner_zones and current.zone not in spec.owner_zones:
            faults.append(f"roles[{index}]: node {id[:16]} has a role in zone {current.zone!r}, outside of owner.zones"
                          f" ({', '.join(spec.owner_zones)})")
        elif role.absent:
            roles[id] = None
        else:
            roles[id] = _role(spec, role, id, current, f"roles[{index}]", faults)
    if faults:
        raise InputError(faults)
    # What another writer has made of the same version is taken in, or its roles would be lost.
    roles.update({id: role for id, role in lost(spec.record, live.layout).items() if id not in roles})
    if spec.purge:
        roles.update({id: None for id, role in live.layout.roles.items() if id not in roles and _owned(spec, role)})
    return roles


def _wanted(spec: LayoutSpec, declared: Mapping[str, Role | None], layout: Layout) -> Changes:
    changed = {id: role for id, role in declared.items()
               if (id in layout.roles if role is None else not role.same_as(layout.roles.get(id)))}
    return Changes(changed, spec.redundancy if spec.redundancy not in (None, layout.redundancy) else None)


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


def _taken_in(spec: LayoutSpec, declared: Collection[str], wanted: Changes, foreign: Changes, layout: Layout) -> tuple[Changes, Changes]:
    """Ours and theirs together; and what to stage so that those of theirs go away that the declaration speaks against, where it is live already:
    the server drops what equals the layout in force."""
    against = {id for id, role in foreign.roles.items() if id in declared or (role and spec.purge and _owned(spec, role))}
    theirs = {id: role for id, role in foreign.roles.items() if id not in against}
    target = Changes({**theirs, **wanted.roles}, foreign.redundancy if spec.redundancy is None else wanted.redundancy)
    keeps = spec.redundancy is not None and wanted.redundancy is None and foreign.redundancy is not None
    return target, Changes({id: layout.roles.get(id) for id in against - set(wanted.roles)}, layout.redundancy if keeps else None)


def _refuse(spec: LayoutSpec, live: LayoutSnapshot, after: Layout, target: Changes) -> None:
    """Raises PlanError when the server would refuse ``after``, or when now is not the time to apply it."""
    faults = constraint_faults(spec, after, removed=[id for id, role in target.roles.items() if role is None])
    faults += [] if spec.allow_unseen else unseen_faults(target.roles, live.nodes, live.layout)
    if faults:
        raise PlanError(f"{SUBJECT}: {'; '.join(faults)}; nothing was applied", hint="change the roles, or wait for the nodes that are named")
    if not (spec.apply and spec.require_settled):
        return
    if faults := drain_faults(spec, target.roles, target.redundancy, live.nodes, live.layout):
        raise PlanError(f"{SUBJECT}: {'; '.join(faults)}; nothing was applied", hint="do what is named; a node that is down comes back, or its role is taken"
                        " away before; require_settled: false overrides this")
    if not spec.waits and live.history and not live.history.settled:
        raise PlanError(f"{SUBJECT}: version {', '.join(map(str, live.history.draining))} is still draining"
                        f"{_lagging(live.history)}; another change now would pile up", hint="wait (wait: true), or see s3ops.garage.layout_info; a"
                        " dead node that blocks it needs skip-dead-nodes; require_settled: false overrides this")


def _applied(layout: Layout, target: Changes) -> Layout:
    """The layout after ``target``, without what only the server can compute."""
    roles = {id: replace(role, stored_partitions=None, usable_capacity=None)
             for id, role in {**layout.roles, **target.roles}.items() if role is not None}
    return replace(layout, version=layout.version + 1, roles=roles, staged={}, staged_redundancy=None, partition_size=None,
                   redundancy=layout.redundancy if target.redundancy is None else target.redundancy)


def _calls(spec: LayoutSpec, base: Layout, target: Changes, back: Changes, discard: bool) -> Iterator[Call]:
    if discard:
        yield Call("RevertClusterLayout", "discard the changes somebody else has staged")
    missing = Changes({id: role for id, role in target.roles.items() if id not in base.staged or role != base.staged[id]},
                      target.redundancy if target.redundancy != base.staged_redundancy else None)
    if missing or back:
        roles = {**missing.roles, **back.roles}
        body: dict = {"roles": [role.to_api() if role else {"id": id, "remove": True} for id, role in sorted(roles.items())]}
        redundancy = back.redundancy if missing.redundancy is None else missing.redundancy
        if redundancy is not None:
            body["parameters"] = {"zoneRedundancy": redundancy_to_api(redundancy)}
        dropped = [f"drop what is staged for {id[:16]}" for id in sorted(back.roles)]
        dropped += ["drop the staged zone redundancy"] if back.redundancy is not None else []
        yield Call(STAGE, f"stage: {'; '.join([*missing.lines(), *dropped])}", body=body,
                   check=lambda answer: _staging_fault(answer, target))
    if spec.apply and target:
        version = base.version + 1
        yield Call(APPLY, f"apply layout version {version}", body={"version": version}, binds=APPLIED)


def _staging_fault(answer: Mapping, target: Changes) -> str | None:
    """Why the staging area after our update is not what is about to be applied, or None (OP-107)."""
    found = Layout.from_api(answer)
    odd = sorted(id for id in {*found.staged, *target.roles} if not _same(found.staged.get(id, "nothing"), target.roles.get(id, "nothing")))
    faults = [f"node {id[:16]}" for id in odd] + (["the zone redundancy"] if found.staged_redundancy != target.redundancy else [])
    return f"the staging area does not hold what was asked for {', '.join(faults)}" if faults else None


def _same(one: object, other: object) -> bool:
    return one.same_as(other) if isinstance(one, Role) and isinstance(other, Role) else one == other


def _lagging(history: History) -> str:
    lines = [f"{id[:16]} ({', '.join(f'{name} {value}' for name, value in counters.items())})" for id, counters in history.lagging.items()]
    return f", waiting for node {', '.join(lines)}" if lines else ""
