# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Handing the layout from one site to another: what forbids it, what deserves a warning, and the lines to change. Pure. Private: not for use outside
of the collection.

Who writes is said by the site files alone, so nothing is changed here. ``seen`` holds for each inventory host what was seen of its site: ``reachable``,
``message`` (why not), ``layout`` (of layout_info, None when not reachable) and ``workload`` (its StatefulSets as Kubernetes gives them).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .federation import FOLLOWER, WRITER, Member, federation, members
from .shape import section


@dataclass(frozen=True)
class Handover:
    """``refused`` is empty when it may be done; ``lines`` are what to set, by the name of the site (or ``inventory``) whose file it belongs into."""

    refused: tuple[str, ...]
    warnings: tuple[str, ...]
    lines: Mapping[str, Any]


def promotion(name: str, hosts: Mapping[str, Mapping], seen: Mapping[str, Mapping], writer: str | None = None, force: bool = False) -> Handover:
    """A follower becomes the writer. That is always possible once its former writer is known to be silent (LW-33), except while an older version of the
    layout drains (LW-41); ``force`` is for a drain that no longer ends by itself, because its nodes are lost."""
    known = members(hosts)
    own = member_of(name, known)
    if own is None:
        return _unknown(name, known)
    state = seen.get(own.host) or {}
    if not state.get("reachable"):
        return Handover((f"{name}: cannot be reached, so it cannot take the layout over: {state.get('message') or 'it was not asked'}",), (), {})
    if own.writes:
        return Handover((), (f"{name}: is the writer already, as the inventory says",), {})
    drains = [] if force else [f"{text}; wait until it has ended, or set garage_promote_force: true when its nodes are lost"
                               for text in draining(state)]
    former = [member for member in federation(name, known) if member.writes]
    notes = [note for member in former for note in _former_notes(member, seen.get(member.host) or {}, state)]
    if not former:
        notes.append(f"no site of the inventory writes the layout of {name}; make sure that none elsewhere does")
    notes += [f"changes are staged and not applied: {', '.join(staged_lines(state))}; the first run of {name} as writer refuses to apply what is not"
              " declared"] if staged_lines(state) else []
    lines: dict[str, Any] = {"inventory": {"garage_layout_writer_site": name}} if writer else {}
    lines[name] = {**_role_line(WRITER, writer), **_taken_over(hosts[own.host]["garage_site"], [hosts[row.host]["garage_site"] for row in former], state)}
    lines |= {} if writer else {member.name: _role_line(FOLLOWER, writer) for member in former}
    return Handover(tuple(f"{name}: {fault}" for fault in drains), tuple(notes), lines)


def demotion(name: str, hosts: Mapping[str, Mapping], seen: Mapping[str, Mapping], writer: str | None = None) -> Handover:
    """The writer becomes a follower, which it may only with nothing of its own under way: nobody else would finish it (LW-32)."""
    known = members(hosts)
    own = member_of(name, known)
    if own is None:
        return _unknown(name, known)
    state = seen.get(own.host) or {}
    if own.role == FOLLOWER:
        return Handover((), (f"{name}: is a follower already, as the inventory says",), {})
    faults = []
    if not state.get("reachable"):
        faults.append(f"cannot be reached, so nobody knows what it has under way: {state.get('message') or 'it was not asked'}; for a site that is lost,"
                      " promote another (s3ops.garage.promote)")
    faults += [f"changes are staged and not applied: {', '.join(staged_lines(state))}; apply or drop them first"] if staged_lines(state) else []
    faults += [f"{text}; wait until it has ended" for text in draining(state)]
    faults += [f"the StatefulSet {name} is being rolled out; wait until it has ended" for name in _rolling(state.get("workload") or ())]
    if not own.remotes:
        faults.append("has no remotes, and a follower needs the site of the writer among them")
    notes = (f"until another site of the federation is promoted, nobody writes the layout of {name}: new nodes wait",)
    lines = {"inventory": {"garage_layout_writer_site": "the site to be promoted"}} if writer else {name: _role_line(FOLLOWER, writer)}
    return Handover(tuple(f"{name}: {fault}" for fault in faults), notes, lines)


def member_of(name: str, known: list[Member]) -> Member | None:
    return next((member for member in known if member.name == name), None)


def _unknown(name: str, known: list[Member]) -> Handover:
    return Handover((f"{name!r} is no site of the inventory; known are {', '.join(sorted(member.name for member in known)) or 'none'}",), (), {})


def _former_notes(member: Member, theirs: Mapping, ours: Mapping) -> list[str]:
    notes = [f"{member.name} (host {member.host}) is the writer as the inventory says: demote it first; as long as both would write, the role validate"
             " refuses to run either"]
    if not theirs.get("reachable"):
        return [*notes, f"{member.name} cannot be reached ({theirs.get('message') or 'it was not asked'}): make sure that nobody runs it as writer, on no other"
                        " control node and by no schedule, and that it returns as a follower"]
    notes.append(f"{member.name} answers: make sure that nobody runs it as writer on another control node or by a schedule")
    versions = [state["layout"]["version"] for state in (theirs, ours)]
    if versions[0] != versions[1]:
        notes.append(f"{member.name} is at layout version {versions[0]}, this site at {versions[1]}: wait until they agree")
    return notes


def draining(state: Mapping) -> list[str]:
    history = (state.get("layout") or {}).get("history") or {"settled": True}
    if history["settled"]:
        return []
    versions = ", ".join(str(row["version"]) for row in history["versions"] if row["status"] == "draining")
    lagging = ", ".join(id[:16] for id in history["lagging"])
    return [f"layout version {versions} is still draining" + (f", waiting for node {lagging}" if lagging else "")]


def staged_lines(state: Mapping) -> list[str]:
    staged = (state.get("layout") or {}).get("staged") or {"roles": [], "zone_redundancy": None}
    lines = [f"{'removal' if role['remove'] else 'role'} of {role['id'][:16]}" for role in staged["roles"]]
    return lines + ([f"zone redundancy {staged['zone_redundancy']}"] if staged["zone_redundancy"] is not None else [])


def _rolling(workload: Any) -> list[str]:
    return sorted(each["metadata"]["name"] for each in workload if not _is_rolled_out(each))


def _is_rolled_out(stateful_set: Mapping) -> bool:
    status, wanted = section(stateful_set, "status"), section(stateful_set, "spec").get("replicas", 1)
    seen = status.get("observedGeneration", 0) >= stateful_set["metadata"].get("generation", 0)
    return (seen and status.get("currentRevision") == status.get("updateRevision")
            and status.get("readyReplicas", 0) >= wanted and status.get("replicas", 0) == wanted)


def _role_line(role: str, writer: str | None) -> dict:
    # Where the inventory names the writer once, the site files say nothing (LW-47).
    return {} if writer else {"layout": {"site_role": role}}


def _taken_over(site: Mapping, former: list[Mapping], state: Mapping) -> dict:
    """What the new writer has to declare: the nodes of the other sites as they are in force, and the replication of the former writer."""
    layout = state["layout"]
    nodes = [{"node": role["id"], "zone": role["zone"], **({"gateway": True} if role["gateway"] else {"capacity": role["capacity"]}),
              "tags": list(role["tags"])} for role in layout["roles"] if role["zone"] != site.get("zone")]
    factor = next((section(other, "replication")["factor"] for other in (site, *former) if section(other, "replication").get("factor")), None)
    return {"layout.external_nodes": nodes, "replication": {**({"factor": factor} if factor else {}), "zone_redundancy": layout["zone_redundancy"]}}
