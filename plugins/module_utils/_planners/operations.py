# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plans of operations: things that are done, not declared, so they are done each time. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .._errors import InputError, PlanError
from .._models.bucket import Bucket
from .._models.layout import History, Layout
from .._models.node_answers import node_fault
from .._plan import Awaiting, Call, Plan
from .._units import parse_duration

ANSWER = "answer"  # name under which the answer of the operation is kept
SCRUB_COMMANDS = ("start", "pause", "resume", "cancel")
_HASH = re.compile(r"[0-9a-f]{64}")
# The server takes an age from its clock in unsigned milliseconds: one that reaches behind 1970 wraps round, and every upload is older (2.5.0).
_OLDEST = 50 * 365 * 86400
# What the server takes; it answers anything else with a node error inside of a 200 (FC-098).
_VARIABLES = {"resync_worker_count": (1, 8), "resync_tranquility": (0, None), "scrub_tranquility": (0, None)}


def plan_snapshot(params: Mapping) -> Plan:
    """A metadata snapshot on the nodes asked. Raises InputError."""
    return _on_nodes("metadata snapshot", params, "CreateMetadataSnapshot", f"take a metadata snapshot on {_nodes(params)}")


def plan_repair(params: Mapping) -> Plan:
    """A repair, named by the server's own word; ``scrub`` takes one of the scrub commands. Raises InputError."""
    kind, command = params["operation"], params.get("scrub_command")
    if (kind == "scrub") != (command is not None):
        raise InputError(f"scrub_command: goes with operation: scrub, and that needs one of {', '.join(SCRUB_COMMANDS)}")
    words = f"scrub {command}" if command else f"repair {kind}"
    return _on_nodes(words, params, "LaunchRepairOperation", f"launch {words} on {_nodes(params)}",
                     {"repairType": {"scrub": command} if command else kind})


def plan_blocks(params: Mapping) -> Plan:
    """Retry or purge data blocks. Purging needs ``confirm``, since it deletes every object that uses one of them. Raises InputError."""
    faults = [f"blocks: {block!r} is not a full block hash (64 hexadecimal digits)" for block in params["blocks"] or () if not _HASH.fullmatch(block)]
    if params["action"] == "purge":
        faults += ["blocks: name the blocks to purge"] if not params["blocks"] else []
        faults += ["confirm: purging deletes every object that uses one of these blocks, for ever; set confirm: true when that is meant"] \
            if not params["confirm"] else []
    elif bool(params["blocks"]) == params["all"]:
        faults.append("blocks: name the blocks to retry, or set all: true")
    if faults:
        raise InputError(faults)
    if params["action"] == "purge":
        return _on_nodes("data blocks", params, "PurgeBlocks", f"purge {len(params['blocks'])} blocks on {_nodes(params)}", params["blocks"])
    body = {"all": True} if params["all"] else {"blockHashes": params["blocks"]}
    return _on_nodes("data blocks", params, "RetryBlockResync", f"retry {'all' if params['all'] else len(params['blocks'])} blocks on {_nodes(params)}", body)


def plan_uploads(params: Mapping, seconds: int, bucket: Bucket) -> Plan:
    """Clean up unfinished uploads. Empty when the bucket has none; how many are old enough only the server can tell."""
    label = f"bucket {params.get('name') or params.get('id')}"
    if not bucket.usage.get("unfinished_uploads") and not bucket.usage.get("unfinished_multipart_uploads"):
        return Plan(label)
    call = Call("CleanupIncompleteUploads", f"delete unfinished uploads of {label} that are older than {params['older_than']}",
                body={"bucketId": bucket.id, "olderThanSecs": seconds}, binds=ANSWER)
    return Plan(label, calls=(call,))


def older_than(params: Mapping) -> int:
    """The age in seconds. Raises InputError."""
    try:
        seconds = parse_duration(params["older_than"])
    except ValueError as error:
        raise InputError(f"older_than: {error}") from None
    if seconds > _OLDEST:
        raise InputError(f"older_than: {params['older_than']!r} is more than 50 years; an age that reaches behind 1970 makes Garage delete every upload,"
                         " also those that are under way")
    return seconds


def check_recovery(params: Mapping) -> None:
    """Raises InputError for options of a layout recovery that do not go together."""
    faults = []
    if params["action"] == "revert":
        given = {"version": params["version"] is not None, "allow_missing_data": params["allow_missing_data"]}
        faults = [f"{name}: goes with action: skip_dead_nodes" for name, is_given in given.items() if is_given]
    elif not params["confirm"]:
        given_up = "data that only dead nodes hold is given up" if params["allow_missing_data"] else "nodes that are down count as dead"
        faults = [f"confirm: {given_up}; set confirm: true when that is meant"]
    if faults:
        raise InputError(faults)


def plan_recovery(params: Mapping, layout: Layout, history: History, follower: bool = False) -> Plan:
    """Drop what is staged, or let the layout go on without its dead nodes (LW-27, GS-18). Raises PlanError.

    On a follower the plan has no calls, and ``awaiting`` says what the writer would have to run.
    """
    plan = _plan_revert(layout) if params["action"] == "revert" else _plan_skip(params, history, follower)
    if not follower:
        return plan
    nodes = () if not plan.calls else tuple(sorted(layout.staged if params["action"] == "revert" else history.lagging))
    lines = [{name: params[name] for name in ("action", "version", "allow_missing_data", "confirm") if params[name]}] if plan.calls else []
    return Plan("cluster layout", awaiting=Awaiting("pending_recovery" if plan.calls else "nothing_pending", nodes,
                                                    tuple(call.endpoint for call in plan.calls), tuple(lines)))


def _plan_revert(layout: Layout) -> Plan:
    calls = (Call("RevertClusterLayout", "drop all staged layout changes"),) if layout.has_staged else ()
    after = {**layout.to_diff(), "staged": {}, "staged_zone_redundancy": None}
    return Plan("cluster layout", layout.to_diff(), after, calls)


def _plan_skip(params: Mapping, history: History, follower: bool) -> Plan:
    version = params["version"] if params["version"] is not None else history.current
    if not history.draining and params["version"] is None and not follower:
        raise PlanError(f"layout version {version} is the only one that is live, so no dead node holds one up and there is nothing to skip",
                        hint="see s3ops.garage.cluster_info for what keeps the cluster from being well; a node that is dead for good leaves the layout by"
                        " s3ops.garage.layout")
    if history.settled and version <= history.current:
        return Plan("cluster layout")
    oldest = min(history.draining, default=history.current - 1)
    if not oldest < version <= history.current:
        raise PlanError(f"version: {version} must be one of {oldest + 1} to {history.current}: newer than the oldest that is still"
                        " stored, and not newer than the current one", hint="see layout.history of s3ops.garage.layout_info, or leave version out")
    call = Call("ClusterLayoutSkipDeadNodes", f"let layout version {version} go on without its dead nodes"
                + (", giving up data that only they hold" if params["allow_missing_data"] else ""),
                body={"version": version, "allowMissingData": params["allow_missing_data"]}, binds=ANSWER)
    return Plan("cluster layout", calls=(call,))


def wanted_variables(params: Mapping) -> dict[str, int]:
    """The worker variables that are declared, by the server's names. Raises InputError."""
    wanted = {name: params[name] for name in _VARIABLES if params[name] is not None}
    faults = [f"{name}: {value} must be {low} {'or more' if high is None else f'to {high}'}" for name, value in wanted.items()
              for low, high in (_VARIABLES[name],) if value < low or (high is not None and value > high)]
    if faults:
        raise InputError(faults)
    return {name.replace("_", "-"): value for name, value in wanted.items()}


def plan_variables(wanted: Mapping[str, int], nodes: Mapping[str, Mapping[str, str]]) -> Plan:
    """Worker variables by node: one call for each that differs (FC-094), its answer kept under its own words."""
    before = {id: {name: have.get(name) for name in wanted} for id, have in nodes.items()}
    after = {id: {name: str(value) for name, value in wanted.items()} for id in nodes}
    calls = tuple(Call("SetWorkerVariable", (why := f"set {name} to {value} on node {id[:16]}"), query={"node": id},
                       body={"variable": name, "value": value}, binds=why)
                  for id in nodes for name, value in after[id].items() if before[id][name] != value)
    return Plan("worker variables", before, after, calls)


def _on_nodes(subject: str, params: Mapping, endpoint: str, why: str, body: object = None) -> Plan:
    if fault := node_fault(params["node"]):
        raise InputError(fault)
    return Plan(subject, calls=(Call(endpoint, why, query={"node": params["node"]}, body=body, binds=ANSWER),))


def _nodes(params: Mapping) -> str:
    return {"*": "all nodes", "self": "the node that is asked"}.get(params["node"], f"node {params['node'][:16]}")
