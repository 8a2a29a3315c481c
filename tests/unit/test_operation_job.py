# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Operations on nodes: what is told when some nodes refuse, and what is refused before anything is sent."""

from __future__ import annotations

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError
from ansible_collections.s3ops.garage.plugins.module_utils._models.node_answers import NodeErrors
from ansible_collections.s3ops.garage.plugins.module_utils._operation_job import clean_uploads, on_nodes, recover_layout, set_variables
from ansible_collections.s3ops.garage.plugins.module_utils._planners.operations import plan_snapshot
from ansible_collections.s3ops.garage.plugins.module_utils._readers.nodes import read_blocks

A, B = "a" * 64, "b" * 64
ALL = {"node": "*", "tolerate_node_errors": False}
NOTHING = {"resync_worker_count": None, "resync_tranquility": None, "scrub_tranquility": None}


class Client:
    """Two nodes with worker variables; ``refuses`` gives the error of a node by endpoint."""

    site_role, server_time = "writer", None

    def __init__(self, refuses=None, answers=None):
        self.refuses = refuses or {}
        self.answers = answers or {}
        self.variables = {A: {"resync-worker-count": "1"}, B: {"resync-worker-count": "1"}}
        self.sent = []
        self.secrets, self.warnings = [], []

    def once(self):
        return self

    def call(self, endpoint, query=None, body=None):
        self.sent.append(endpoint)
        node = (query or {}).get("node", "*")
        refused = {id: text for (name, id), text in self.refuses.items() if name == endpoint and node in ("*", id)}
        asked = [id for id in (A, B) if node in ("*", id) and id not in refused]
        if endpoint == "SetWorkerVariable":
            for id in asked:
                self.variables[id][body["variable"]] = body["value"]
        found = {"GetWorkerVariable": self.variables}.get(endpoint, self.answers)
        return {"success": {id: dict(found.get(id, {})) for id in asked}, "error": refused}


class Context:
    def __init__(self, client=None, check=False):
        self._client, self.check = client, check

    def client(self):
        assert self._client, "nothing may be sent"
        return self._client


@pytest.mark.requirement("FC-094", "FC-098")
def test_a_node_that_refuses_a_setting_does_not_hinder_the_other_and_is_not_told_as_done():
    client = Client({("SetWorkerVariable", A): "InternalError (500): no"})
    with pytest.raises(NodeErrors) as caught:
        set_variables({**ALL, **NOTHING, "resync_worker_count": 2}, Context(client))
    assert caught.value.done == (f"set resync-worker-count to 2 on node {B[:16]}",)
    assert caught.value.result == {"errors": [{"id": A, "error": "InternalError (500): no"}]}
    assert A[:16] in caught.value.message and B[:16] not in caught.value.message


@pytest.mark.requirement("FC-098")
def test_a_tolerated_refusal_is_a_warning_and_alone_no_change():
    client = Client({("SetWorkerVariable", A): "no"})
    client.variables[B]["resync-worker-count"] = "2"
    with pytest.raises(NodeErrors) as caught:
        set_variables({**ALL, **NOTHING, "resync_worker_count": 2, "tolerate_node_errors": True}, Context(client))
    assert caught.value.done == ()
    client.variables[B]["resync-worker-count"] = "1"
    result = set_variables({**ALL, **NOTHING, "resync_worker_count": 2, "tolerate_node_errors": True}, Context(client))
    assert result["changed"] and [row["variables"]["resync-worker-count"] for row in result["nodes"]] == ["1", "2"]
    assert any(A[:16] in text for text in client.warnings)


@pytest.mark.requirement("FC-095", "FC-098")
def test_what_the_others_did_is_told_when_one_node_fails():
    with pytest.raises(NodeErrors) as caught:
        on_nodes(plan_snapshot(ALL), ALL, Context(Client({("CreateMetadataSnapshot", B): "down"})))
    assert caught.value.done == (f"metadata snapshot on node {A[:16]}",)


def test_a_block_is_shown_by_the_nodes_that_know_it():
    params = {**ALL, "block": "0123abcd"}
    client = Client({("GetBlockInfo", A): "NoSuchBlock (404): Block not found: 0123abcd"}, {B: {"blockHash": "0123abcd", "refcount": 1}})
    assert read_blocks(client, params) == [{"id": B, "block_errors": None, "block": {"block_hash": "0123abcd", "refcount": 1}}]
    with pytest.raises(NodeErrors):
        read_blocks(Client({("GetBlockInfo", A): "Timeout (504): no answer"}), params)


@pytest.mark.parametrize("job, params, option", [
    (set_variables, {**ALL, **NOTHING, "resync_worker_count": 9}, "resync_worker_count"),
    (set_variables, {**ALL, **NOTHING, "resync_worker_count": 0}, "resync_worker_count"),
    (set_variables, {**ALL, **NOTHING, "scrub_tranquility": -1}, "scrub_tranquility"),
    (clean_uploads, {"name": "media", "id": None, "older_than": "soon"}, "older_than"),
    (recover_layout, {"action": "revert", "version": 0, "allow_missing_data": False, "confirm": False}, "version"),
    (recover_layout, {"action": "skip_dead_nodes", "version": None, "allow_missing_data": True, "confirm": False}, "confirm"),
    (recover_layout, {"action": "skip_dead_nodes", "version": None, "allow_missing_data": False, "confirm": False}, "confirm"),
])
def test_what_cannot_be_is_refused_before_anything_is_sent(job, params, option):
    with pytest.raises(InputError) as caught:
        job(params, Context())
    assert caught.value.message.startswith(f"{option}:")
