# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is done on single nodes: workers and their variables, repairs, snapshots, data blocks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.server import Server
from tools.testbed.waiting import wait_until

NOBODY = "0" * 64
NODE = {"node": "*"}
NOTHING_PURGED = {"objectsDeleted": 0, "uploadsDeleted": 0, "versionsDeleted": 0, "blockRefsPurged": 0}


def said(server: Server, endpoint: str, body: Any = None) -> Any:
    """What the one node answered."""
    answer = server.ok(endpoint, NODE, body)
    assert (list(answer["success"]), answer["error"]) == ([server.node_id], {})
    return answer["success"][server.node_id]


def fault(server: Server, endpoint: str, body: Any = None) -> str:
    """Why the one node did not do it, inside of a 200."""
    answer = server.ok(endpoint, NODE, body)
    assert (answer["success"], list(answer["error"])) == ({}, [server.node_id])
    return answer["error"][server.node_id]


@pytest.mark.requirement("FC-094", "FC-098")
def test_worker_variables(server: Server) -> None:
    every = said(server, "GetWorkerVariable", {})
    assert {"resync-worker-count", "resync-tranquility", "scrub-tranquility", "scrub-last-completed", "scrub-corruptions_detected",
            "lifecycle-last-completed"} <= set(every)
    assert said(server, "GetWorkerVariable", {"variable": "resync-tranquility"}) == {"resync-tranquility": every["resync-tranquility"]}
    assert said(server, "SetWorkerVariable", {"variable": "resync-worker-count", "value": "3"}) == {"variable": "resync-worker-count", "value": "3"}
    assert said(server, "GetWorkerVariable", {"variable": "resync-worker-count"}) == {"resync-worker-count": "3"}
    said(server, "SetWorkerVariable", {"variable": "resync-worker-count", "value": every["resync-worker-count"]})
    assert said(server, "GetWorkerVariable", {})["resync-worker-count"] == every["resync-worker-count"]


@pytest.mark.parametrize(("body", "words"), [
    *(({"variable": "resync-worker-count", "value": value}, "Invalid number of resync workers, must be between 1 and 8") for value in ("0", "9")),
    *(({"variable": name, "value": value}, f"invalid value: {value}") for name, value in (("resync-worker-count", "x"), ("scrub-tranquility", "-1"))),
    ({"variable": "scrub-last-completed", "value": "1"}, "Cannot set value of scrub-last-completed"),
    ({"variable": "nobody", "value": "1"}, "variable does not exist"),
])
def test_values_that_a_node_refuses(server: Server, body: dict, words: str) -> None:
    assert fault(server, "SetWorkerVariable", body) == f"InternalError (500): Internal error: {words}"


def test_what_is_no_body_is_refused_as_a_whole(server: Server) -> None:
    for endpoint, body in (("GetWorkerVariable", None), ("ListWorkers", None), ("GetWorkerInfo", {}), ("RetryBlockResync", {}), ("PurgeBlocks", {}),
                           ("SetWorkerVariable", {"variable": "scrub-tranquility", "value": 3}), ("LaunchRepairOperation", {"repairType": "nothing"}),
                           ("LaunchRepairOperation", {"repairType": {"scrub": "nothing"}})):
        assert server.refusal(endpoint, NODE, body) == (400, "InvalidRequest", "Bad request: Invalid JSON"), endpoint
    assert server.refusal("CreateMetadataSnapshot") == (400, "InvalidRequest", "Bad request: Missing argument `node` for endpoint")


def test_an_unknown_variable_is_a_fault_of_the_node(server: Server) -> None:
    assert fault(server, "GetWorkerVariable", {"variable": "nobody"}) == "InternalError (500): Internal error: variable does not exist"


def test_a_snapshot_answers_when_it_is_taken(server: Server) -> None:
    assert said(server, "CreateMetadataSnapshot") is None


@pytest.mark.requirement("FC-097")
def test_workers(server: Server) -> None:
    workers = {worker["name"]: worker for worker in said(server, "ListWorkers", {})}
    assert {"Block resync worker #1", "Block scrub worker", "object sync", "key sync"} <= set(workers)
    assert workers["object sync"]["queueLength"] == 0
    resync = workers["Block resync worker #1"]
    assert (resync["state"], resync["queueLength"], resync["persistentErrors"]) == ("idle", 0, 0)
    assert str(workers["Block scrub worker"]["tranquility"]) == said(server, "GetWorkerVariable", {})["scrub-tranquility"]
    some = workers["key sync"]
    assert said(server, "GetWorkerInfo", {"id": some["id"]})["name"] == "key sync"
    assert fault(server, "GetWorkerInfo", {"id": 10**6}) == "NoSuchWorker (404): Worker not found: 1000000"
    assert said(server, "ListWorkers", {"errorOnly": True}) == []


@pytest.mark.parametrize(("kind", "name"), [
    ("blocks", "Block repair worker"), ("versions", "version repair worker"), ("multipartUploads", "multipart_upload repair worker"),
    ("blockRefs", "block_ref repair worker"), ("blockRc", "Block refcount repair worker"), ("rebalance", "Block rebalance worker")])
def test_a_repair_is_a_new_worker_that_ends(server: Server, kind: str, name: str) -> None:
    before = max(worker["id"] for worker in said(server, "ListWorkers", {}))
    assert said(server, "LaunchRepairOperation", {"repairType": kind}) is None

    def ended() -> str | None:
        started = [worker for worker in said(server, "ListWorkers", {}) if worker["id"] > before]
        assert {worker["name"] for worker in started} == {name}
        return None if all(worker["state"] == "done" for worker in started) else "it runs"

    wait_until("the repair to end", ended, limit=60)
    assert name not in {worker["name"] for worker in said(server, "ListWorkers", {"busyOnly": True})}


@pytest.mark.parametrize("kind", ["tables", "aliases", *({"scrub": command} for command in ("start", "pause", "resume", "cancel"))], ids=str)
def test_other_repairs_start_no_worker(server: Server, kind: Any) -> None:
    before = {worker["id"] for worker in said(server, "ListWorkers", {})}
    assert said(server, "LaunchRepairOperation", {"repairType": kind}) is None
    assert {worker["id"] for worker in said(server, "ListWorkers", {})} == before


def test_the_resync_queue_can_be_cleared_since_2_1(server: Server) -> None:
    if server.since(2, 1):
        assert said(server, "LaunchRepairOperation", {"repairType": "clearResyncQueue"}) is None
    else:
        assert server.refusal("LaunchRepairOperation", NODE, {"repairType": "clearResyncQueue"})[0] == 400


@pytest.mark.requirement("FC-098")
def test_blocks(server: Server) -> None:
    assert said(server, "ListBlockErrors") == []
    for wanted in (NOBODY, NOBODY[:4]):
        assert fault(server, "GetBlockInfo", {"blockHash": wanted}) == f"NoSuchBlock (404): Block not found: {wanted}"
    assert fault(server, "GetBlockInfo", {"blockHash": "00"}).startswith("InvalidRequest (400): Bad request: Please specify at least 4 characters")
    assert said(server, "RetryBlockResync", {"all": True}) == said(server, "RetryBlockResync", {"blockHashes": []}) == {"count": 0}
    assert fault(server, "RetryBlockResync", {"all": False}) == "InvalidRequest (400): Bad request: nonsense"
    assert fault(server, "RetryBlockResync", {"blockHashes": [NOBODY]}) == (
        f"InternalError (500): Internal error: Block {NOBODY[:16]} was not in an errored state")
    assert said(server, "PurgeBlocks", [NOBODY]) == {"blocksPurged": 1, **NOTHING_PURGED}
    assert said(server, "PurgeBlocks", []) == {"blocksPurged": 0, **NOTHING_PURGED}
    for endpoint, body in (("RetryBlockResync", {"blockHashes": ["00"]}), ("PurgeBlocks", ["00"])):
        assert fault(server, endpoint, body) == "InvalidRequest (400): Bad request: invalid hash"
