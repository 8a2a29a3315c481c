# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each request of an operation fails in each way, once: what happened is told, nothing is sent twice, and the next run ends well."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils import _connect_job
from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._connect_job import run_connect
from ansible_collections.s3ops.garage.plugins.module_utils._drain_job import drain
from ansible_collections.s3ops.garage.plugins.module_utils._errors import GarageError, WaitTimeout
from ansible_collections.s3ops.garage.plugins.module_utils._operation_job import clean_uploads, on_nodes, recover_layout, repair, set_variables
from ansible_collections.s3ops.garage.plugins.module_utils._planners import drain as planner
from ansible_collections.s3ops.garage.plugins.module_utils._planners.operations import plan_blocks, plan_repair, plan_snapshot
from tests.fakes.contexts import Context
from tests.fakes.garage import GIB, FakeGarage, FakeTransport, Fault
from tests.fakes.garage.partitions import Role

BLOCKS = ["a" * 64, "b" * 64]
ALL = {"node": "*", "tolerate_node_errors": False}
WAIT = {"wait": True, "wait_timeout": 60, "wait_sleep": 0}
NO_BLOCKS = {"blocks": None, "all": False, "confirm": False}
RECOVERY = {"version": None, "allow_missing_data": False, "confirm": False, "fail_when_awaiting": False}
DAY = 86400


@dataclass(frozen=True)
class Operation:
    """A module on a Garage: what it is run with, and ``state``, what a user would want of it, out of the Garage. ``wanted`` is that state afterwards.

    ``once``: to do it again is to do it twice, so that no run may ever send it again by itself.
    """

    run: Callable[[dict, Context], dict]
    params: Callable[[FakeGarage], dict]
    state: Callable[[FakeGarage], Any]
    wanted: Any
    once: bool = False


def _staged(garage):
    return dict(garage.state.layout.staged)


def _connected(garage):
    return [node.known for node in garage.state.nodes]


OPERATIONS = {
    "repair": Operation(lambda params, context: repair(plan_repair(params), params, context),
                        lambda garage: {**ALL, **WAIT, "wait": False, "operation": "blocks", "scrub_command": None},
                        lambda garage: [node.repairs[-1:] for node in garage.state.nodes], [["blocks"]] * 2, once=True),
    "repair and wait": Operation(lambda params, context: repair(plan_repair(params), params, context),
                                 lambda garage: {**ALL, **WAIT, "operation": "blocks", "scrub_command": None},
                                 lambda garage: [node.repairs[-1:] for node in garage.state.nodes], [["blocks"]] * 2, once=True),
    "drain": Operation(drain, lambda garage: {"nodes": ["0" * 64], "rpc_timeout_msec": 0, **WAIT},
                       lambda garage: [node.repairs[-1:] for node in garage.state.nodes], [["blocks"]] * 2, once=True),
    "metadata_snapshot": Operation(lambda params, context: on_nodes(plan_snapshot(params), params, context),
                                   lambda garage: ALL, lambda garage: [node.snapshots > 0 for node in garage.state.nodes], [True, True], once=True),
    "block_action retry": Operation(lambda params, context: on_nodes(plan_blocks(params), params, context),
                                    lambda garage: {**ALL, **NO_BLOCKS, "action": "retry", "all": True},
                                    lambda garage: [sorted(set(node.retried)) for node in garage.state.nodes], [BLOCKS] * 2, once=True),
    "block_action purge": Operation(lambda params, context: on_nodes(plan_blocks(params), params, context),
                                    lambda garage: {**ALL, **NO_BLOCKS, "action": "purge", "blocks": BLOCKS[:1], "confirm": True},
                                    lambda garage: [sorted(node.errored_blocks) for node in garage.state.nodes], [BLOCKS[1:]] * 2, once=True),
    "worker_setting": Operation(set_variables, lambda garage: {**ALL, "resync_worker_count": 4, "resync_tranquility": None, "scrub_tranquility": 0},
                                lambda garage: [(node.variables["resync-worker-count"], node.variables["scrub-tranquility"])
                                                for node in garage.state.nodes], [("4", "0")] * 2),
    "bucket_uploads": Operation(clean_uploads, lambda garage: {"name": "media", "id": None, "older_than": "1h"},
                                lambda garage: list(garage.bucket("media").uploads), ["new"]),
    "layout_recovery revert": Operation(recover_layout, lambda garage: {**RECOVERY, "action": "revert"}, _staged, {}),
    "layout_recovery skip_dead_nodes": Operation(
        recover_layout, lambda garage: {**RECOVERY, "action": "skip_dead_nodes", "version": 2, "allow_missing_data": True, "confirm": True},
        lambda garage: [version.version for version in garage.state.layout.live], [2]),
    "cluster_connect": Operation(run_connect, lambda garage: {
        "nodes": [f"{garage.state.nodes[-1].id}@{garage.state.nodes[-1].addr}"], "remotes": None, "fail_on_unreachable": True},
        _connected, [True, True, True]),
}
FAULTS = [fault for fault in Fault if fault is not Fault.CUT_HALFWAY]


def prepare(name: str) -> FakeGarage:
    """Two nodes with whatever the operation is for."""
    garage = FakeGarage(layout=False)
    garage.add_node()
    garage.give_layout()
    for node in garage.state.nodes:
        # Blocks that a node cannot get are what a drain waits for.
        node.errored_blocks.update(BLOCKS if name != "drain" else ())
    status, bucket = garage.handle("POST", "/v2/CreateBucket", None, {"globalAlias": "media"})
    assert status == 200
    garage.begin_upload(bucket["id"], "old")
    garage.clock.advance(DAY)
    garage.begin_upload(bucket["id"], "new")
    if name == "layout_recovery revert":
        garage.state.layout.staged[garage.node_id] = Role("dc1", 2 * GIB, ())
    if name == "layout_recovery skip_dead_nodes":
        # Somebody takes the second node out after it died, and the old version waits for it.
        garage.state.nodes[1].up = False
        garage.state.layout.staged[garage.state.nodes[1].id] = None
        garage.state.layout.apply()
        garage.state.settle()
    if name == "cluster_connect":
        garage.add_node(known=False)
    return garage


def attempt(garage: FakeGarage, name: str, faults: dict[int, Fault] | None = None, check: bool = False,
            retries: int = 0) -> tuple[Any, FakeTransport]:
    """The result or the error of one run."""
    operation, transport = OPERATIONS[name], FakeTransport(garage, faults=faults)
    context = Context(Client(transport, retries=retries, retry_delay=0), check)
    try:
        return operation.run(operation.params(garage), context), transport
    except GarageError as error:
        return error, transport


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(_connect_job, "SEEN_WITHIN_SECONDS", 0.0)
    monkeypatch.setattr(planner, "ENQUEUED_SECONDS", 0.0)


@pytest.mark.parametrize("name", OPERATIONS)
def test_without_a_fault_it_is_done_and_check_mode_sends_nothing(name):
    garage = prepare(name)
    before = OPERATIONS[name].state(garage)
    predicted, transport = attempt(garage, name, check=True)
    assert predicted["changed"] and not transport.writes and OPERATIONS[name].state(garage) == before != OPERATIONS[name].wanted
    result, transport = attempt(garage, name)
    assert result["changed"] and result["actions"] == predicted["actions"] and OPERATIONS[name].state(garage) == OPERATIONS[name].wanted
    assert len({str(sent) for sent in transport.writes}) == len(transport.writes)


@pytest.mark.requirement("FC-088", "FC-098")
@pytest.mark.parametrize("retries", [0, 3])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.value)
@pytest.mark.parametrize("name", OPERATIONS)
def test_after_any_single_fault_the_next_run_ends_well(name, fault, retries):
    operation = OPERATIONS[name]
    dummy, clean = attempt(prepare(name), name)
    for number in range(len(clean.sent)):
        garage = prepare(name)
        before = operation.state(garage)
        first, transport = attempt(garage, name, {number: fault}, retries=retries)
        sent = [str(write) for write in transport.writes]
        if operation.once:
            assert len(set(sent)) == len(sent)
        if isinstance(first, GarageError):
            # Whoever reads it knows whether anything happened.
            happened = operation.state(garage) != before
            told = bool(first.done) or "it is not known whether this was done" in first.message
            assert told or not happened, (number, first.message)
            assert first.data()["kind"] != "error"
        else:
            assert first["changed"] and operation.state(garage) == operation.wanted
        again, dummy = attempt(garage, name)
        assert not isinstance(again, GarageError), (number, again)
        assert operation.state(garage) == operation.wanted


@pytest.mark.requirement("FC-094")
@pytest.mark.parametrize("name", ["worker_setting", "bucket_uploads", "layout_recovery revert", "layout_recovery skip_dead_nodes", "cluster_connect"])
def test_what_is_declared_is_unchanged_the_second_time(name):
    garage = prepare(name)
    attempt(garage, name)
    again, transport = attempt(garage, name)
    assert again["changed"] is False
    assert not transport.writes or name == "bucket_uploads"


def test_a_repair_that_is_not_done_in_time_was_launched_all_the_same():
    garage = prepare("repair and wait")
    params = {**OPERATIONS["repair and wait"].params(garage), "wait_timeout": 0}
    with pytest.raises(WaitTimeout) as caught:
        repair(plan_repair(params), params, Context(Client(FakeTransport(garage), retry_delay=0)))
    assert caught.value.done == ("launch repair blocks on all nodes",) and "launches it again" in caught.value.hint
    assert [node.repairs for node in garage.state.nodes] == [["blocks"]] * 2


@pytest.mark.requirement("FC-095", "FC-098")
def test_a_node_that_is_down_is_named_and_the_others_are_done():
    garage = prepare("metadata_snapshot")
    garage.state.nodes[1].up = False
    error, dummy = attempt(garage, "metadata_snapshot")
    assert error.kind == "node_errors" and garage.state.nodes[1].id[:16] in error.message
    assert error.done == (f"metadata snapshot on node {garage.node_id[:16]}",) and garage.state.nodes[0].snapshots == 1
