# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is done on single nodes: workers and their variables, repairs, metadata snapshots, data blocks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.fakes.garage.bodies import Malformed, Query, flag, many, struct, text, unsigned
from tests.fakes.garage.errors import Refusal, bad_request, internal
from tests.fakes.garage.nodes import on_nodes
from tests.fakes.garage.row import Row
from tests.fakes.garage.state import NodeRow, State

_NODE = {"node": Query.needed}
_HASH = re.compile(r"[0-9a-f]{64}")
_SCRUB = ("start", "pause", "resume", "cancel")
# What spawns a worker; the rest is done at once.
_WORKERS = {"blocks": "Block repair worker", "versions": "version repair worker", "multipartUploads": "multipart_upload repair worker",
            "blockRefs": "block_ref repair worker", "blockRc": "Block refcount repair worker", "rebalance": "Block rebalance worker"}
_AT_ONCE = ("tables", "aliases", "clearResyncQueue")


def _variable(state: State, node: NodeRow, args: dict) -> dict:
    name = args["body"]["variable"]
    if name is None:
        return dict(state.shuffled(list(node.variables.items())))
    return {name: _existing(node, name)}


def _set_variable(state: State, node: NodeRow, args: dict) -> dict:
    name, value = args["body"]["variable"], args["body"]["value"]
    _existing(node, name)
    if name not in ("resync-worker-count", "resync-tranquility", "scrub-tranquility"):
        raise internal(f"Cannot set value of {name}")
    if not re.fullmatch(r"\+?[0-9]+", value):
        raise internal(f"invalid value: {value}")
    if name == "resync-worker-count" and not 1 <= int(value) <= 8:
        raise internal("Invalid number of resync workers, must be between 1 and 8")
    node.variables[name] = str(int(value))
    return {"variable": name, "value": value}


def _existing(node: NodeRow, name: str) -> str:
    if name not in node.variables:
        raise internal("variable does not exist")
    return node.variables[name]


def _snapshot(state: State, node: NodeRow, args: dict) -> None:
    node.snapshots += 1


def _repair_type(value: Any) -> str:
    """The repair in one word, ``scrub start`` for a command of the scrub."""
    if isinstance(value, dict) and list(value) == ["scrub"] and value["scrub"] in _SCRUB:
        return f"scrub {value['scrub']}"
    if isinstance(value, str) and value in (*_WORKERS, *_AT_ONCE):
        return value
    raise Malformed(f"unknown variant `{value}`")


def _launch(state: State, args: dict) -> dict:
    if args["body"]["repairType"] == "clearResyncQueue" and not state.since(2, 1):
        raise bad_request("Invalid JSON: unknown variant `clearResyncQueue`")
    return on_nodes(_repair)(state, args)


def _repair(state: State, node: NodeRow, args: dict) -> None:
    kind = args["body"]["repairType"]
    node.repairs.append(kind)
    if kind in _WORKERS:
        node.workers.append(_WORKERS[kind])


def _list_workers(state: State, node: NodeRow, args: dict) -> list[dict]:
    shown = [_worker(node, number) for number in range(1, len(node.workers) + 1)]
    # A repair is at work when it is looked at for the first time, and done at the second look.
    node.seen_workers = len(node.workers)
    return state.shuffled([worker for worker in shown if (worker["state"] == "busy" or not args["body"]["busyOnly"])
                           and (worker["errors"] or not args["body"]["errorOnly"])])


def _worker_info(state: State, node: NodeRow, args: dict) -> dict:
    number = args["body"]["id"]
    if not 1 <= number <= len(node.workers):
        raise Refusal(404, "NoSuchWorker", f"Worker not found: {number}")
    return _worker(node, number)


def _worker(node: NodeRow, number: int) -> dict:
    name = node.workers[number - 1]
    repairs, done = name in _WORKERS.values(), number <= node.seen_workers
    resync = name == "Block resync worker #1"
    tranquility = {"Block resync worker #1": "resync-tranquility", "Block scrub worker": "scrub-tranquility"}.get(name)
    return {"id": number, "name": name, "state": ("done" if done else "busy") if repairs else "idle", "errors": 0, "consecutiveErrors": 0,
            "lastError": None, "tranquility": int(node.variables[tranquility]) if tranquility else None,
            "progress": ("100.00%" if done else "0.00%") if repairs else None, "queueLength": None if repairs or name == "Block scrub worker" else 0,
            "persistentErrors": len(node.errored_blocks) if resync else None, "freeform": []}


def _block_errors(state: State, node: NodeRow, args: dict) -> list[dict]:
    return [{"blockHash": block, "refcount": 1, "errorCount": 1, "lastTrySecsAgo": 1, "nextTryInSecs": 60} for block in sorted(node.errored_blocks)]


def _block_info(state: State, node: NodeRow, args: dict) -> dict:
    wanted = args["body"]["blockHash"]
    if len(wanted) < 4:
        raise bad_request("Please specify at least 4 characters of the block hash")
    for position, char in enumerate(wanted):
        if char not in "0123456789abcdef":
            raise bad_request(f"invalid hash: Invalid character '{char}' at position {position}")
    found = [block for block in sorted(node.errored_blocks) if block.startswith(wanted)]
    if not found:
        raise Refusal(404, "NoSuchBlock", f"Block not found: {wanted}")
    return {"blockHash": found[0], "refcount": 1, "versions": []}


def _retry_body(value: Any) -> dict:
    for shape in (struct({"all": flag}), struct({"blockHashes": many(text)})):
        try:
            return shape(value)
        except Malformed:
            continue
    raise Malformed("data did not match any variant of untagged enum LocalRetryBlockResyncRequest")


def _retry(state: State, node: NodeRow, args: dict) -> dict:
    if args["body"].get("all") is False:
        raise bad_request("nonsense")
    blocks = sorted(node.errored_blocks) if "all" in args["body"] else _hashes(args["body"]["blockHashes"])
    for block in blocks:
        if block not in node.errored_blocks:
            raise internal(f"Block {block[:16]} was not in an errored state")
        node.retried.append(block)
    return {"count": len(blocks)}


def _purge(state: State, node: NodeRow, args: dict) -> dict:
    blocks = _hashes(args["body"])
    node.errored_blocks -= set(blocks)
    return {"blocksPurged": len(blocks), "objectsDeleted": 0, "uploadsDeleted": 0, "versionsDeleted": 0, "blockRefsPurged": 0}


def _hashes(blocks: list[str]) -> list[str]:
    if not all(_HASH.fullmatch(block) for block in blocks):
        raise bad_request("invalid hash")
    return blocks


def _row(name: str, act: Callable[[State, NodeRow, dict], Any], method: str = "POST", **more: Any) -> Row:
    return Row(name, method, on_nodes(act), query=_NODE, **more)


ROWS = (
    _row("GetWorkerVariable", _variable, body=struct(optional={"variable": text})),
    _row("SetWorkerVariable", _set_variable, body=struct({"variable": text, "value": text})),
    _row("CreateMetadataSnapshot", _snapshot),
    Row("LaunchRepairOperation", "POST", _launch, query=_NODE, body=struct({"repairType": _repair_type})),
    _row("ListWorkers", _list_workers, body=struct(defaulted={"busyOnly": (flag, False), "errorOnly": (flag, False)})),
    _row("GetWorkerInfo", _worker_info, body=struct({"id": unsigned})),
    _row("ListBlockErrors", _block_errors, method="GET"),
    _row("GetBlockInfo", _block_info, body=struct({"blockHash": text})),
    _row("RetryBlockResync", _retry, body=_retry_body),
    _row("PurgeBlocks", _purge, body=many(text)),
)
