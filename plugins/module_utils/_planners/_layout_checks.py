# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What Garage's layout engine would refuse, or do without a word, said before anything is staged. Pure. Private: not for use outside."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from .._models.cluster import Node
from .._models.layout import MAXIMUM, Layout, LayoutSpec, Role

CONSISTENT = "consistent"
MAX_STORAGE_ROLES = 256  # a partition index is one byte in Garage


def constraint_faults(spec: LayoutSpec, after: Layout, removed: Collection[str]) -> list[str]:
    """Why ``after`` cannot be computed. What needs the replication factor is checked only when the user gave it: no API tells it (GS-13)."""
    faults = []
    storage = after.storage
    zones = {role.zone for role in storage}
    factor = spec.replication_factor
    if not storage:
        faults.append("no node with a capacity would be left" if removed else "no node with a capacity is declared; gateways alone store nothing")
    if len(storage) > MAX_STORAGE_ROLES:
        faults.append(f"{len(storage)} storage nodes are more than the {MAX_STORAGE_ROLES} a layout can hold")
    if factor is None:
        return faults
    if storage and len(storage) < factor:
        faults.append(f"{len(storage)} storage nodes are fewer than the replication factor {factor}; "
                      + ("add a node before this one is removed" if removed else "declare all of them in one task"))
    everywhere = {role.zone for role in after.roles.values()}
    needed = min(len(everywhere), factor) if after.redundancy == MAXIMUM else after.redundancy
    if storage and len(zones) < needed:
        empty = sorted(everywhere - zones)
        faults.append(f"zone redundancy {after.redundancy} needs storage nodes in {needed} zones, there are {len(zones)} ({', '.join(sorted(zones))})"
                      + (f"; gateways alone are in {', '.join(empty)}: put them into a storage zone, or set zone_redundancy to a number"
                         if empty else ""))
    return faults


def unseen_faults(roles: Mapping[str, Role | None], nodes: Collection[Node], layout: Layout) -> list[str]:
    """Nodes that would get a first role although the cluster has never seen them: half of all partitions would lose their quorum at once
    (seen on 2.5.0)."""
    seen = {node.id for node in nodes if node.up or node.last_seen_seconds is not None}
    unseen = sorted(id for id, role in roles.items() if role and id not in seen and id not in layout.roles)
    return [f"node {id[:16]} has never been seen by this cluster; connect it first (s3ops.garage.cluster_connect), or set allow_unseen_nodes: true"
            for id in unseen]


def drain_faults(spec: LayoutSpec, roles: Mapping[str, Role | None], redundancy: object, nodes: Collection[Node], layout: Layout) -> list[str]:
    """Why nodes that are up may not give up what they store now: of some blocks the only copy in reach may be on them. A site that is lost as a whole
    can be taken out, since its nodes are down themselves."""
    up = {node.id for node in nodes if node.up}
    storing = {role.id for role in layout.storage}
    keeping = {role.id for role in {**layout.roles, **roles}.values() if role and role.capacity is not None}
    leaving = sorted((storing - keeping) & up)
    if not leaving:
        return []
    leave = f"node {', '.join(id[:16] for id in leaving)} would give up what it stores"
    missed = ", ".join(id[:16] for id in sorted((storing & keeping) - up))  # OP-016
    faults = [f"{leave} while {missed} is down"] if missed else []
    # Nodes that take its place are what blocks move to; all else that moves blocks has to be in force before (OP-009).
    others = [f"the role of {id[:16]}" for id, role in sorted(roles.items()) if role and id not in leaving and _moves(role, layout.roles.get(id))]
    others += ["the zone redundancy"] if redundancy is not None else []
    if others:
        faults.append(f"{leave} together with other changes ({', '.join(others)}); make these first, in a run of their own")
    # A write that one node alone has acknowledged may be lost with it (OP-010, OP-011).
    if spec.consistency_mode not in (None, CONSISTENT):
        faults.append(f"{leave} with consistency_mode {spec.consistency_mode}, by which it may hold the only copy; set {CONSISTENT} everywhere first,"
                      " in a run of its own")
    if spec.assume_peers_consistent is False:
        faults.append(f"{leave}, and nobody has said that the other sites run with consistency_mode {CONSISTENT}; see to it that they do, then set"
                      " assume_peers_consistent: true")
    return faults


def _moves(role: Role, before: Role | None) -> bool:
    return before is not None and (role.zone, role.capacity) != (before.zone, before.capacity)


def warnings_about(spec: LayoutSpec, after: Layout) -> list[str]:
    """What is allowed but seldom meant."""
    notes = []
    storage = after.storage
    factor = spec.replication_factor
    if factor == 2:
        notes.append("replication factor 2: with one copy out of reach nothing can be written")
    if len({role.zone for role in storage}) == 1 and len(storage) > 1 and factor != 1:
        notes.append(f"all storage nodes are in zone {storage[0].zone!r}: losing it loses every copy")
    return notes
