# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that are to be switched off: what the others still lack, and what is asked of whom."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._drain_job import drain
from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError, PlanError, WaitTimeout
from ansible_collections.s3ops.garage.plugins.module_utils._planners import drain as planner
from ansible_collections.s3ops.garage.plugins.module_utils._planners.drain import ENQUEUED_SECONDS, uncopied

from tests.fakes.contexts import Context
from tests.fakes.garage import FakeGarage, FakeTransport
from tests.fakes.garage.partitions import Role

A, B = "a" * 64, "b" * 64
RPC_TIMEOUT, LONG = 300.0, 1000.0


def resync(state: Any = "idle", number: int = 1, **values: Any) -> dict[str, Any]:
    return {"name": f"Block resync worker #{number}", "state": state, "persistentErrors": 0, "queueLength": 0} | values


OTHERS = [{"name": "object sync", "state": "busy"}, {"name": "Block scrub worker", "state": {"throttled": {"durationSecs": 1.0}}, "persistentErrors": 3}]


@pytest.mark.requirement("OP-016", "OP-018")
@pytest.mark.parametrize(("workers", "missing"), [
    pytest.param([resync(), *OTHERS], None, id="at rest, whatever others do"),
    # What came after the repair: a queue of a live cluster is never empty for long.
    pytest.param([resync(queueLength=12)], None, id="at rest with what is due later"),
    pytest.param([resync("busy", queueLength=7)], "is still at it (7 blocks in its queue)", id="busy"),
    pytest.param([resync({"throttled": {"durationSecs": 0.5}}, queueLength=7)], "is still at it (7 blocks in its queue)", id="resting between blocks"),
    pytest.param([resync(), resync("busy", 2, queueLength=None)], "is still at it (0 blocks in its queue)", id="the second worker is busy"),
    pytest.param([resync(), resync("busy", name="Block resync queue deferred worker", queueLength=5)], "is still at it (5 blocks in its queue)",
                 id="its queue is being filled"),
    pytest.param([resync(persistentErrors=2)], "could not get 2 blocks", id="blocks it cannot get"),
    pytest.param([resync("busy", persistentErrors=2)], "could not get 2 blocks", id="blocks it cannot get, and busy"),
    pytest.param(OTHERS, "does not answer", id="no resync worker"),
])
def test_what_a_node_still_lacks(workers, missing):
    assert uncopied({A: workers}, [A], LONG, RPC_TIMEOUT) == (missing and f"node {A[:16]} {missing}")


@pytest.mark.parametrize(("elapsed", "queue", "missing"), [
    (0, 0, "looks at 0 blocks within 605 s"), (ENQUEUED_SECONDS, 0, None), (ENQUEUED_SECONDS, 3, "looks at 3 blocks within 600 s"),
    (604, 3, "looks at 3 blocks within 1 s"), (605, 3, None),
])
def test_a_worker_at_rest_proves_something_once_it_had_to_look(elapsed, queue, missing):
    assert uncopied({A: [resync(queueLength=queue)]}, [A], elapsed, RPC_TIMEOUT) == (missing and f"node {A[:16]} {missing}")


def test_only_nodes_that_stay_count_and_each_of_them():
    assert uncopied({A: [resync()], B: [resync("busy")]}, [A], LONG, RPC_TIMEOUT) is None
    assert uncopied({A: [resync("busy")]}, [A, B], LONG, RPC_TIMEOUT) == f"node {A[:16]} is still at it (0 blocks in its queue); node {B[:16]} does not answer"


@pytest.fixture
def at_once(monkeypatch):
    """What is put into a queue is there at once."""
    monkeypatch.setattr(planner, "ENQUEUED_SECONDS", 0.0)


def cluster() -> FakeGarage:
    """Two nodes with a role, and a third without."""
    garage = FakeGarage(layout=False)
    garage.add_node()
    garage.give_layout()
    garage.add_node()
    return garage


def run(garage: FakeGarage, *nodes: str, check: bool = False, **params: Any) -> tuple[dict[str, Any], list[str]]:
    transport = FakeTransport(garage)
    options = {"nodes": list(nodes), "wait_timeout": 60, "wait_sleep": 0, "rpc_timeout_msec": 300_000, **params}
    result = drain(options, Context(Client(transport, retry_delay=0), check))
    return result, [sent.endpoint for sent in transport.sent]


def test_every_node_is_made_to_look_and_looked_at_until_it_is_done(at_once):
    garage = cluster()
    leaving = garage.state.nodes[2].id
    result, asked = run(garage, leaving[:8])
    assert result == {"changed": True, "drain": {"nodes": [leaving], "drained": True}, "actions": ["launch repair blocks on all nodes"]}
    assert [node.repairs for node in garage.state.nodes] == [["blocks"]] * 3
    launched = max(number for number, path in enumerate(asked) if path == "LaunchRepairOperation")
    assert len([path for path in asked[launched:] if path == "ListWorkers"]) == 3


def test_check_mode_sends_nothing_and_promises_nothing():
    garage = cluster()
    result, asked = run(garage, garage.state.nodes[2].id, check=True)
    assert (result["changed"], result["drain"]["drained"]) == (True, False)
    assert [path for path in asked if "Launch" in path or "Workers" in path] == []


@pytest.mark.parametrize("staged", [False, True])
def test_a_node_with_a_role_is_refused_before_anything_is_launched(staged):
    garage = cluster()
    node = garage.state.nodes[2 if staged else 1]
    if staged:
        garage.state.layout.staged[node.id] = Role("dc1", 1 << 30, ())
    with pytest.raises(PlanError, match="has a role in the layout") as caught:
        run(garage, node.id)
    assert "s3ops.garage.layout" in caught.value.hint
    assert garage.state.nodes[0].repairs == []


def test_names_that_fit_nothing_are_told_by_their_place():
    with pytest.raises(InputError) as caught:
        run(cluster(), "no-such-host", "beef")
    assert [fault.split(":")[0] for fault in caught.value.faults] == ["nodes[0]", "nodes[1]"]


def test_one_that_is_down_already_is_no_hindrance_and_one_that_stays_is(at_once):
    garage = cluster()
    garage.state.nodes[2].up = False
    assert run(garage, garage.state.nodes[2].id)[0]["drain"]["drained"] is True
    garage.state.nodes[1].up = False
    with pytest.raises(Exception, match=garage.state.nodes[1].id[:16]):
        run(garage, garage.state.nodes[2].id, wait_timeout=0)


def test_blocks_that_nobody_has_are_waited_for_in_vain(at_once):
    garage = cluster()
    garage.state.nodes[0].errored_blocks.add("ab" * 32)
    with pytest.raises(WaitTimeout, match="could not get 1 blocks"):
        run(garage, garage.state.nodes[2].id, wait_timeout=0.2, wait_sleep=0.01)
