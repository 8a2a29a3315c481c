# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Connect nodes, and two sites in both directions: what the module ``cluster_connect`` does. Private: not for use outside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ._client import Client
from ._errors import ApiError, InputError, NotConnected, TransportError, Unavailable, WaitTimeout
from ._executor import after_writing
from ._models.cluster import ClusterStatus
from ._models.peer import Peer, parse_peers
from ._plan import Plan, difference
from ._planners.connect import missing_peers, peers_of, plan_connect
from ._readers.cluster import read_status
from ._waiter import wait_until

OUR_NODE = "our node"
# ConnectClusterNodes answers after the handshake, so the first look sees the node as a rule.
SEEN_WITHIN_SECONDS = 5.0
NOT_SEEN = f"the connection was made, but the node is not seen as up {SEEN_WITHIN_SECONDS:g} s later"


@dataclass
class Side:
    """A node that is told of ``peers``: ``remote`` is the name of its site, None for ours. ``failures`` are those not up after it was told."""

    client: Client
    peers: tuple[Peer, ...]
    remote: str | None = None
    failures: Mapping[Peer, str] = field(default_factory=dict)

    @property
    def plan(self) -> Plan:
        return plan_connect(self.remote or OUR_NODE, self.peers)


def run_connect(params: Mapping, context: Any) -> dict:
    """The result of cluster_connect. Raises NotConnected, with that result in it, after all that can be done was done."""
    peers, own, remotes = _inputs(params, context)
    status = read_status(own)
    answers, unreachable = _ask(remotes)
    wanted = tuple(dict.fromkeys([*peers, *(peer for theirs in answers.values() for peer in peers_of(theirs))]))
    sides = [Side(own, missing_peers(wanted, status))]
    sides += [Side(remotes[name], missing_peers(peers_of(status), theirs), name) for name, theirs in answers.items()]
    if not context.check:
        for side in sides:
            side.failures = _tell(side)
        _look_again(sides)
    result = _result(sides, wanted, status, unreachable)
    faults = _faults(result["connections"])
    if faults and params["fail_on_unreachable"]:
        raise _failure(faults, result, context.check)
    for fault in faults:
        context.warn(fault)
    return result


def _inputs(params: Mapping, context: Any) -> tuple[tuple[Peer, ...], Client, dict[str, Client]]:
    """What the options mean. Raises InputError with all faults of all connections and nodes."""
    faults: list[str] = []

    def attempt(make: Callable, *arguments: Any) -> Any:
        try:
            return make(*arguments)
        except InputError as error:
            faults.extend(error.faults)
            return None

    peers = attempt(parse_peers, params["nodes"] or (), "nodes")
    own = attempt(context.client)
    remotes: dict[str, Client] = {}
    for number, remote in enumerate(params["remotes"] or ()):
        if remote["name"] in remotes:
            faults.append(f"remotes[{number}].name: {remote['name']!r} is given twice")
        # One that is down must not hold up the others; and nobody writes a layout through the connection to another site.
        connection = {**remote, "retries": 0, "site_role": "follower"}
        remotes[remote["name"]] = attempt(context.client, connection, f"remotes[{number}].")
    if faults:
        raise InputError(faults)
    return peers, own, remotes


def _ask(remotes: Mapping[str, Client]) -> tuple[dict[str, ClusterStatus], list[dict]]:
    answers, unreachable = {}, []
    for name, client in remotes.items():
        try:
            answers[name] = read_status(client)
        except (ApiError, TransportError) as error:
            unreachable.append({"name": name, "error": error.message})
    return answers, unreachable


def _tell(side: Side) -> dict[Peer, str]:
    """Connect, and return why for each peer that is not up afterwards. Only what goes wrong at our own node is raised."""
    if side.remote is None:
        return _connect(side.client, side.peers, again=True)
    try:
        return _connect(side.client, side.peers, again=False)
    except (ApiError, TransportError) as error:
        return dict.fromkeys(side.peers, error.message)


def _connect(client: Client, peers: tuple[Peer, ...], again: bool) -> dict[Peer, str]:
    if not peers:
        return {}
    plan = plan_connect(OUR_NODE, peers)
    (call,) = plan.calls
    try:
        answers = client.call(call.endpoint, body=call.body)
    except (TransportError, Unavailable) as error:
        left = _not_up(client, dict.fromkeys(peers, error.message))
        if left and again:
            client.warnings.append(f"{error.message}; connecting what is not up once more")
            return _connect(client, tuple(left), again=False)
        return left
    # HTTP 200 even when every connection failed (GS-14).
    said = dict.fromkeys(peers, "the server did not say what became of it")
    for peer, answer in zip(peers, answers):
        said[peer] = None if answer.get("success") else _line(answer.get("error") or "no reason was given")
    with after_writing(plan.would):
        return _not_up(client, said)


def _not_up(client: Client, said: Mapping[Peer, str | None]) -> dict[Peer, str]:
    """The peers that are not seen as up, each with what was said of it. A node is up or not by what is seen: another address or the other
    direction may have reached it. Those said to be connected are given a moment."""
    left: dict[Peer, str | None] = {}

    def look() -> str | None:
        nonlocal left
        up = read_status(client).up_ids
        left = {peer: reason for peer, reason in said.items() if peer.id not in up}
        return NOT_SEEN if None in left.values() else None

    try:
        wait_until(look, "connecting", SEEN_WITHIN_SECONDS, 0.2)
    except WaitTimeout:
        pass
    return {peer: reason or NOT_SEEN for peer, reason in left.items()}


def _look_again(sides: Iterable[Side]) -> None:
    """What our node could not reach may have been connected from the other side since."""
    own, *others = sides
    if own.failures and any(side.peers for side in others):
        own.failures = _not_up(own.client, own.failures)


def _result(sides: list[Side], wanted: Iterable[Peer], status: ClusterStatus, unreachable: list[dict]) -> dict:
    failed = [(side, peer, reason) for side in sides for peer, reason in side.failures.items()]
    missed = {peer.id for peer in sides[0].failures}
    told = [(side.plan, side.failures) for side in sides if side.peers]
    before = {plan.subject: plan.before for plan, _failures in told}
    after = {plan.subject: {**plan.after, **{peer.text: "down" for peer in failures}} for plan, failures in told}
    old, new = difference(before, after)
    return {
        "changed": bool(new),
        "connections": {
            "connected": sorted({peer.id for peer in wanted} - missed - {status.likely_self}),
            "failed": [{"node": peer.text, "remote": side.remote, "error": reason} for side, peer, reason in failed],
            "unreachable": unreachable,
        },
        "diff": {"before": old, "after": new},
        "actions": [why for plan, _failures in told for why in plan.would],
    }


def _faults(connections: Mapping) -> list[str]:
    faults = [f"{entry['node']} could not be connected to {entry['remote'] or OUR_NODE}: {entry['error']}" for entry in connections["failed"]]
    return faults + [f"remote {entry['name']} is unreachable: {entry['error']}" for entry in connections["unreachable"]]


def _failure(faults: list[str], result: Mapping, check: bool) -> NotConnected:
    error = NotConnected("; ".join(faults), hint="see that RPC and Admin addresses can be reached from there, that all nodes have the same rpc_secret,"
                         " and run this again; or set fail_on_unreachable: false")
    error.result = {name: result[name] for name in ("connections", "diff", "actions")}
    if not check:
        error.done = tuple(f"connected {text} to {subject}" for subject, peers in result["diff"]["after"].items() for text in peers)
    return error


def _line(text: str) -> str:
    """Garage explains itself in several lines (OP-119: at most 500 characters)."""
    return " ".join(str(text).split())[:500]
