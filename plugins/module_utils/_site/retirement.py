# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ending a site with nodes on Kubernetes: what forbids it, what deserves a warning, what to do, and the lines to change. Pure. Private: not for use
outside of the collection.

``seen`` holds for each inventory host what was seen of its site, as for a handover; ``found`` what there is on Kubernetes of the site that ends:
``live`` (its objects, as ``plan_workload`` takes them) and ``nodes`` (of kubernetes_node_info).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .._errors import InputError
from .._planners.identities import identities
from .._planners.workload import plan_retirement
from .federation import FOLLOWER, Member, chain, federation, members, role_in_chain
from .handover import draining, member_of, staged_lines
from .shape import EDGE_GATEWAYS, HANDLE, entries, section, shape

DRAIN, RETAIN = "drain", "retain"
CHOICES = (f"{DRAIN} (the other sites take over what it stores, then its objects go) or {RETAIN} (its objects go; its claims, its Secret and the"
           " roles of its nodes stay, so that s3ops.garage.site brings it back)")
YES, NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


@dataclass(frozen=True)
class Retirement:
    """``refused`` is empty when it may be done. ``host`` and ``writer`` are the inventory hosts of the site and of the one that writes the layout for
    it (None where nothing is written); ``look`` those to look at. ``stores`` is false for gateways alone. ``roles`` are the nodes whose roles the
    writer takes away, ``nodes`` all that run; ``remove`` are objects to delete, ``claims`` names of claims. ``lines`` say what to change, by the name
    of the site whose file it belongs into."""

    refused: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    lines: Mapping[str, Any] = field(default_factory=dict)
    policy: str = RETAIN
    stores: bool = True
    host: str | None = None
    writer: str | None = None
    look: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    remove: tuple[Mapping, ...] = ()
    claims: tuple[str, ...] = ()


def request(name: Any, hosts: Mapping[str, Mapping], policy: Any = None, delete_claims: Any = False) -> Retirement:
    """What can be said before any site is looked at (OP-017, OP-019, OP-042)."""
    known = members(hosts)
    own = member_of(str(name), known)
    faults = [*_form(name, own, policy, delete_claims, known)]
    if own is None:
        return Retirement(tuple(faults))
    site = hosts[own.host]["garage_site"]
    if shape(site) == HANDLE:
        faults.append(f"{name}: is a handle: nothing of it was made here, so there is nothing to take away; take it out of the inventory")
        return Retirement(tuple(faults))
    edge, joined = shape(site) == EDGE_GATEWAYS, _is_joined(own, known)
    if not joined and not edge and policy == DRAIN:
        faults.append(f"{name}: stands alone, so no node is left to take over what it stores; leave garage_deletion_policy out: its claims stay")
    if joined and not edge and policy is None:
        faults.append(f"{name}: is joined with other sites, so say what shall happen to what it stores: garage_deletion_policy is {CHOICES}")
    # Gateways store nothing that anybody would have to take over.
    chosen = policy or (DRAIN if edge else RETAIN)
    if chosen == RETAIN and (joined or edge) and _flag(delete_claims):
        faults.append(f"{name}: garage_delete_claims with garage_deletion_policy: {RETAIN} would leave the roles of its nodes without their data;"
                      f" {DRAIN} takes them away first")
    writer = None
    if chosen == DRAIN:
        try:
            writer = _writer(own, site, hosts, known)
        except InputError as error:
            faults += error.faults
    look = tuple(dict.fromkeys((own.host, writer.host) if writer else (own.host,))) if chosen == DRAIN else ()
    return Retirement(tuple(faults), policy=chosen, stores=not edge, host=own.host, writer=writer.host if writer else None, look=look)


def retirement(name: str, hosts: Mapping[str, Mapping], seen: Mapping[str, Mapping], found: Mapping | None, policy: str | None = None,
               delete_claims: Any = False) -> Retirement:
    """The decision, once the sites were looked at; ``found`` is None when this one was not. A follower's site is drained by the writer alone, and its
    pods go after that (LW-25, LW-46)."""
    asked = request(name, hosts, policy, delete_claims)
    if asked.refused:
        return asked
    if found is None:
        return replace(asked, refused=(f"{name}: its host {asked.host} is not among the hosts of this run",))
    known = members(hosts)
    own = next(member for member in known if member.host == asked.host)
    site, state = hosts[own.host]["garage_site"], _State.of(name, hosts[own.host]["garage_site"], seen, found, asked)
    faults = [*_drain_faults(own, site, hosts, seen, state, known)] if asked.policy == DRAIN else []
    claims = state.claims if _flag(delete_claims) else ()
    return replace(
        asked,
        refused=tuple(f"{name}: {fault}" for fault in faults),
        warnings=tuple(_warnings(own, asked, hosts, known, claims)),
        lines=_lines(own, asked, hosts, state, known),
        roles=state.roles if asked.policy == DRAIN else (),
        # Where no pod runs any more, nothing waits for anything.
        nodes=tuple(state.ids.values()) if state.runs else (),
        remove=state.remove,
        claims=claims,
    )


@dataclass(frozen=True)
class _State:
    """What there is of a site: ids of its nodes by pod, its pods of which none is known, those of its nodes that have a role, and nodes
    with a role that run in none of its pods and yet must be of it."""

    ids: Mapping[str, str]
    unknown: tuple[str, ...]
    roles: tuple[str, ...]
    stray: tuple[str, ...]
    runs: bool
    remove: tuple[Mapping, ...]
    claims: tuple[str, ...]

    @classmethod
    def of(cls, name: str, site: Mapping, seen: Mapping[str, Mapping], found: Mapping, asked: Retirement) -> _State:
        live = found["live"]
        going = plan_retirement(name, section(site, "kubernetes")["namespace"], live)
        kept = identities(name, live["objects"], (), "", ())["kept"]
        ids = identities(name, live["objects"], found["nodes"], "", {*kept, *going["pods"]})["ids"]
        layout = (seen.get(asked.writer or "") or {}).get("layout") or {"roles": []}
        roles = {role["id"]: role for role in layout["roles"]}
        stray = [id for id, role in roles.items() if id not in ids.values() and _looks_like_own(role, name, site)]
        return cls(ids, tuple(pod for pod in going["pods"] if pod not in ids), tuple(sorted(set(ids.values()) & roles.keys())),
                   tuple(sorted(stray)), bool(going["pods"]), tuple(going["remove"]), tuple(going["claims"]))


def _looks_like_own(role: Mapping, name: str, site: Mapping) -> bool:
    """A zone is that of one site's storage; edge gateways may be in it too, and are known by the tags with the names of their pods."""
    if shape(site) == EDGE_GATEWAYS:
        return any(tag.startswith(f"{name}-gateway-") for tag in role["tags"])
    return role["zone"] == site["zone"] and not role["gateway"]


def _form(name: Any, own: Member | None, policy: Any, delete_claims: Any, known: list[Member]) -> Iterator[str]:
    if name in (None, ""):
        yield "garage_retire: is missing; name the site, as in -e garage_retire=lyon"
    elif own is None:
        yield f"garage_retire: {name!r} is no site of the inventory; known are {', '.join(sorted(member.name for member in known)) or 'none'}"
    if policy not in (None, DRAIN, RETAIN):
        yield f"garage_deletion_policy: {policy!r} must be {CHOICES}"
    if str(delete_claims).lower() not in (*YES, *NO):
        yield f"garage_delete_claims: {delete_claims!r} must be true or false"


def _flag(value: Any) -> bool:
    return str(value).lower() in YES


def _is_joined(own: Member, known: list[Member]) -> bool:
    return bool(own.remotes) or any(own.name in member.remotes for member in known)


def _writer(own: Member, site: Mapping, hosts: Mapping[str, Mapping], known: list[Member]) -> Member | None:
    """Who writes the layout that the nodes of ``site`` have their roles in. Edge gateways act on that of the cluster they join, as its writer or
    through it."""
    name = own.name
    if shape(site) == EDGE_GATEWAYS:
        sites = chain(site, hosts)
        if role_in_chain(sites, _named_writer(own, hosts)) != FOLLOWER:
            return own
        name = str(sites[-1]["name"])
    return next((member for member in federation(name, known) if member.writes), None)


def _named_writer(own: Member, hosts: Mapping[str, Mapping]) -> str | None:
    return hosts[own.host].get("garage_layout_writer_site")


def _drain_faults(own: Member, site: Mapping, hosts: Mapping[str, Mapping], seen: Mapping[str, Mapping], state: _State,
                  known: list[Member]) -> Iterator[str]:
    """Everything that speaks against it (OP-018)."""
    writer, edge = _writer(own, site, hosts, known), shape(site) == EDGE_GATEWAYS
    if not edge:
        yield from _consistency_faults(own, site, writer, hosts)
    gateways = [member.name for member in known if member.host != own.host and _joins(hosts[member.host]["garage_site"], own.name)]
    if gateways:
        yield f"{', '.join(gateways)}: connect_to names {own.name}, so these gateways would be left without their cluster; retire them first"
    if writer is None:
        yield "no site of the inventory writes the layout, so nobody can take the roles of its nodes away; name the writer's site in the inventory"
        return
    if writer is own and not edge:
        yield "writes the layout itself; hand that over first (s3ops.garage.demote, s3ops.garage.promote)"
        return
    declared = [] if writer is own else _declared(hosts[writer.host]["garage_site"], site, state)
    if declared:
        yield (f"the site file of {writer.name} declares {', '.join(id[:16] for id in declared)} in layout.external_nodes, so a later run would give"
               " them their roles again; take these lines out first")
    theirs = seen.get(writer.host)
    if not (theirs or {}).get("reachable"):
        why = f"cannot be reached: {theirs.get('message') or 'it was not asked'}" if theirs else "is not among the hosts of this run"
        yield f"{writer.name} (host {writer.host}), which writes the layout, {why}"
    else:
        yield from _state_faults(theirs, seen.get(own.host) or {}, state)


def _consistency_faults(own: Member, site: Mapping, writer: Member | None, hosts: Mapping[str, Mapping]) -> Iterator[str]:
    mode = section(site, "replication").get("consistency_mode", "consistent")
    if mode != "consistent":
        yield (f"replication.consistency_mode is {mode}, by which its nodes may hold the only copy; set consistent at all sites first, in a run of"
               " its own")
    if writer and writer.name != own.name and section(hosts[writer.host]["garage_site"], "layout").get("assume_peers_consistent") is not True:
        yield ("nobody has said that all sites run with consistency_mode consistent; see to it that they do, then set"
               f" layout.assume_peers_consistent: true in the site file of {writer.name}")


def _state_faults(theirs: Mapping, ours: Mapping, state: _State) -> Iterator[str]:
    """What has to be finished before the roles are taken away. Once they are, this drain is what is under way."""
    if not state.runs and state.stray:
        yield (f"its nodes do not run, and {', '.join(id[:16] for id in state.stray)} of its zone still have a role; bring it back first by"
               " s3ops.garage.site, or, where it is lost, take them out of the layout by state: absent")
    if state.unknown:
        yield f"it is not known which nodes run in the pods {', '.join(state.unknown)}; see that they start first"
    if not state.roles:
        return
    if not ours.get("reachable"):
        yield f"cannot be reached, so nothing can be taken over from it: {ours.get('message') or 'it was not asked'}"
    if staged := staged_lines(theirs):
        yield f"changes are staged and not applied: {', '.join(staged)}; apply or drop them first"
    yield from (f"{text}; wait until it has ended" for text in draining(theirs))


def _joins(site: Mapping, name: str) -> bool:
    return shape(site) == EDGE_GATEWAYS and section(site, "connect_to").get("site") == name


def _declared(writer: Mapping, site: Mapping, state: _State) -> list[str]:
    """Nodes of the site that the writer's own file gives a role."""
    found = []
    for _index, node in entries(section(writer, "layout"), "external_nodes"):
        id = str(node.get("node")).partition("@")[0]
        if node.get("state") != "absent" and (node.get("zone") == site["zone"] or any(known.startswith(id.lower()) for known in state.ids.values())):
            found.append(id)
    return found


def _warnings(own: Member, asked: Retirement, hosts: Mapping[str, Mapping], known: list[Member], claims: tuple[str, ...]) -> Iterator[str]:
    if asked.policy == RETAIN and _is_joined(own, known):
        yield f"until {own.name} is back, the copies on its nodes are out of reach, and nothing is copied elsewhere in their place"
        if own.writes:
            yield f"{own.name} writes the layout: until it is back, or another site is promoted, nobody does"
    gateways = [member.name for member in known if _joins(hosts[member.host]["garage_site"], own.name)]
    if asked.policy == RETAIN and gateways:
        yield f"{', '.join(gateways)}: these gateways serve {own.name}, and are without their cluster until it is back"
    if claims:
        yield f"these claims are deleted with all that is on them: {', '.join(claims)}"


def _lines(own: Member, asked: Retirement, hosts: Mapping[str, Mapping], state: _State, known: list[Member]) -> dict[str, list[str]]:
    """What would make the site again, or leads to where it was."""
    if asked.policy == RETAIN:
        return {"inventory": [f"the next run of s3ops.garage.site brings {own.name} back; leave its host {own.host} out of the runs until then"]}
    lines = {"inventory": [f"take the host {own.host} out: the next run of s3ops.garage.site would make {own.name} again"]}
    for member in known:
        if member.host == own.host:
            continue
        site = hosts[member.host]["garage_site"]
        texts = [f"remotes: take {own.name} out"] if own.name in member.remotes else []
        absent = [str(node.get("node")) for _index, node in entries(section(site, "layout"), "external_nodes") if node.get("state") == "absent"
                  and str(node.get("node")).partition("@")[0] in state.ids.values()]
        texts += [f"layout.external_nodes: take {', '.join(id[:16] for id in absent)} out"] if absent else []
        texts += [f"connect_to: names {own.name}; take the host {member.host} out"] if section(site, "connect_to").get("site") == own.name else []
        lines |= {member.name: texts} if texts else {}
    return lines
