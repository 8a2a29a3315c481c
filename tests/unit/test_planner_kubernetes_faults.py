# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said of an answer of the Kubernetes API that a task failed on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._planners.kubernetes_faults import explain


def failed(message: str, **status: Any) -> str:
    """The message of a task as kubernetes.core writes it."""
    body = json.dumps({"kind": "Status", "message": message, **status}).encode()
    return f"Failed to apply object: {body!r}"


def test_a_missing_right_is_written_as_a_rule() -> None:
    text = failed('statefulsets.apps is forbidden: User "eve" cannot list resource "statefulsets" in API group "apps" in the namespace "garage"')
    assert explain(text) == 'eve lacks a right in the namespace garage: apiGroups: ["apps"], resources: [statefulsets], verbs: [list]'


def test_a_missing_right_on_the_cluster() -> None:
    text = failed('namespaces is forbidden: User "it\'s" cannot create resource "namespaces" in API group "" at the cluster scope')
    assert explain(text) == 'it\'s lacks a right in the whole cluster: apiGroups: [""], resources: [namespaces], verbs: [create]'


def test_a_field_of_another_owner_is_named() -> None:
    field = '.spec.template.spec.containers[name="garage"].image'
    cause = {"reason": "FieldManagerConflict", "message": 'conflict with "kubectl-edit" using apps/v1', "field": field}
    said = explain(failed("Apply failed with 1 conflict", reason="Conflict", details={"causes": [cause]}))
    assert f'"kubectl-edit" using apps/v1 owns {field}' in said
    assert "garage_force_conflicts" in said


def test_an_api_that_does_not_answer() -> None:
    text = ("HTTPSConnectionPool(host='10.0.0.1', port=6443): Max retries exceeded with url: /version (Caused by NewConnectionError('<x>: Failed to"
            " establish a new connection: [Errno 111] Connection refused'))")
    said = explain(text)
    assert said.startswith("the Kubernetes API at 10.0.0.1:6443 does not answer: ")
    assert "Connection refused" in said


@pytest.mark.parametrize("text", ["", "Failed: b'{no json}'", "b'{' + b'}'", 'b"{1: 2}"', "b'{\"message\": 1', 'x'}'", "something else"])
def test_any_other_text_stays(text: str) -> None:
    assert explain(text) == text


def test_a_body_that_is_text_already() -> None:
    assert explain('Failed to create object: {"status":"Failure","message":"too late"}') == "too late"


def test_the_words_of_the_api_without_the_wrapping() -> None:
    assert explain(failed("pods is invalid")) == "pods is invalid"
