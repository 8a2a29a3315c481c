# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking all nodes while one of them hangs: it is named, and the others are heard."""

from __future__ import annotations

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._errors import GarageError, TransportError
from ansible_collections.s3ops.garage.plugins.module_utils._models.node_answers import NodeErrors
from ansible_collections.s3ops.garage.plugins.module_utils._readers.nodes import read_node_info, read_workers
from tests.fakes.garage import FakeGarage, FakeTransport, Fault

ALL = {"node": "*", "tolerate_node_errors": False, "statistics": False}


class Hanging(FakeTransport):
    """Requests that wait for the node ``hung`` get no answer in time."""

    def __init__(self, garage, hung):
        super().__init__(garage)
        self.hung = hung

    def send(self, method, path, query, body, label):
        answer = super().send(method, path, query, body, label)
        if (query or {}).get("node") in ("*", self.hung):
            raise TransportError(f"{label} at {self.url}: no answer within 5 s", sent=True, endpoint=label)
        return answer


@pytest.fixture
def garage():
    garage = FakeGarage(layout=False)
    garage.add_node()
    garage.add_node()
    garage.give_layout()
    return garage


@pytest.fixture
def hung(garage):
    return garage.state.nodes[1].id


@pytest.mark.requirement("FC-098")
def test_the_node_that_hangs_is_named(garage, hung):
    transport = Hanging(garage, hung)
    client = Client(transport, retries=3, retry_delay=0)
    with pytest.raises(NodeErrors) as caught:
        read_node_info(client, ALL)
    assert hung[:16] in caught.value.message and "no answer within 5 s" in caught.value.message
    assert not any(node.id[:16] in caught.value.message for node in garage.state.nodes if node.id != hung)
    assert caught.value.result["errors"][0]["id"] == hung
    # Each waits for the time-out once, and no retry makes that longer.
    assert [sent.endpoint for sent in transport.sent] == ["GetNodeInfo", "GetClusterStatus", *3 * ["GetNodeInfo"]]


@pytest.mark.requirement("FC-098")
def test_the_others_count_when_that_is_tolerated(garage, hung):
    client = Client(Hanging(garage, hung), retry_delay=0)
    rows = read_node_info(client, {**ALL, "tolerate_node_errors": True})
    assert [row["id"] for row in rows] == sorted(node.id for node in garage.state.nodes if node.id != hung)
    assert any("asking each node for itself" in text for text in client.warnings) and any(hung[:16] in text for text in client.warnings)
    rows = read_workers(client, {**ALL, "tolerate_node_errors": True, "worker_id": None, "busy_only": False, "error_only": False})
    assert len(rows) == 2 and all(row["variables"] for row in rows)


def test_a_dead_node_that_still_has_a_role_is_asked_as_well(garage, hung):
    garage.state.nodes[2].up = False
    with pytest.raises(NodeErrors) as caught:
        read_node_info(Client(Hanging(garage, hung), retry_delay=0), ALL)
    assert {row["id"] for row in caught.value.result["errors"]} == {hung, garage.state.nodes[2].id}


@pytest.mark.parametrize(("fault", "kind"), [(Fault.REFUSED, "unreachable"), (Fault.GARBAGE_BEFORE, "not_admin_api"), (Fault.ERROR_500, "server_fault")])
def test_what_no_single_question_would_mend_is_told_as_it_is(garage, fault, kind):
    transport = FakeTransport(garage, faults=dict.fromkeys(range(9), fault))
    with pytest.raises(GarageError) as caught:
        read_node_info(Client(transport, retries=2, retry_delay=0), ALL)
    assert caught.value.data()["kind"] == kind and {sent.endpoint for sent in transport.sent} == {"GetNodeInfo"}


def test_one_lost_answer_is_not_noticed(garage):
    rows = read_node_info(Client(FakeTransport(garage, faults={0: Fault.CUT_AFTER}), retry_delay=0), ALL)
    assert len(rows) == 3
