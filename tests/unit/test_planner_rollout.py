# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far pods are, and what is told of those that do not come up."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._planners.rollout import account, awaited, growing, progress

NAME = "paris-storage-0-0"


def pod(
    *, name: str = NAME, ready: bool = False, revision: str = "a", state: dict | None = None, last: dict | None = None, **more: Any
) -> dict:
    row = {"name": "garage", "state": state or {"running": {}}, "lastState": last or {}, "restartCount": more.pop("restarts", 0)}
    return {
        "metadata": {"name": name, "labels": {"controller-revision-hash": revision}, **more.pop("metadata", {})},
        "status": {"conditions": [{"type": "Ready", "status": str(ready)}], "containerStatuses": [row], **more},
    }


def waiting(reason: str, message: str | None = None) -> dict:
    return {"waiting": {"reason": reason, "message": message}}


def test_all_ready() -> None:
    state = progress([pod(ready=True)], [{"pod": NAME, "revision": "a"}])
    assert state == {"done": True, "ready": [NAME], "waiting": [], "failed": []}


@pytest.mark.parametrize(
    ("pods", "revision", "reason"),
    [
        ([], "a", "is not there yet"),
        ([pod(ready=True)], "b", "the pod before it is still there"),
        ([pod(ready=True)], None, "Kubernetes has not taken notice of its StatefulSet yet"),
        ([pod(ready=True, metadata={"deletionTimestamp": "now"})], "a", "the pod before it is still there"),
        ([pod()], "a", "has started and is not ready"),
        ([pod(state=waiting("ErrImagePull", "no such image"))], "a", "container garage: ErrImagePull: no such image"),
        ([pod(state=waiting("CrashLoopBackOff"), restarts=1)], "a", "container garage: CrashLoopBackOff"),
        (
            [pod(conditions=[{"type": "PodScheduled", "status": "False", "message": "no node"}], containerStatuses=None)],
            "a",
            "is not scheduled: no node",
        ),
    ],
)
def test_what_may_still_become_ready_is_waited_for(pods: list[dict], revision: str | None, reason: str) -> None:
    state = progress(pods, [{"pod": NAME, "revision": revision}])
    assert (state["done"], state["waiting"], state["failed"]) == (False, [{"pod": NAME, "reason": reason}], [])


ENDED = {"terminated": {"exitCode": 1, "message": "no\nconfig"}}


@pytest.mark.parametrize(
    ("live", "reason", "previous"),
    [
        (pod(state=waiting("ImagePullBackOff", 'Back-off pulling image "x:1"')), 'ImagePullBackOff: Back-off pulling image "x:1"', False),
        (pod(state=waiting("CreateContainerConfigError")), "CreateContainerConfigError", False),
        (pod(state=waiting("CrashLoopBackOff"), last=ENDED, restarts=2), "CrashLoopBackOff: ended with status 1 2 times: no config", True),
        (pod(phase="Failed", reason="Evicted", message="disk", containerStatuses=None), "Evicted: disk", False),
    ],
)
def test_what_never_becomes_ready_ends_the_waiting(live: dict, reason: str, previous: bool) -> None:
    state = progress([live, pod(name="other", ready=True)], [{"pod": "other", "revision": "a"}, {"pod": NAME, "revision": "a"}])
    assert state["done"]
    assert state["ready"] == ["other"]
    assert [(row["reason"], row["previous"]) for row in state["failed"]] == [(reason, previous)]


def test_a_failure_of_a_pod_that_is_on_its_way_out_does_not_count() -> None:
    broken = pod(state=waiting("ImagePullBackOff"), revision="bad")
    assert not progress([broken], [{"pod": NAME, "revision": "good"}])["done"]


def test_the_last_line_of_the_log_is_told() -> None:
    state = progress([pod(state=waiting("CrashLoopBackOff"), restarts=3)], [{"pod": NAME, "revision": "a"}])
    lines = account(state, [], [], "INFO one\nError: bad config\n\n")
    assert lines[0].startswith(f"pod {NAME}, container garage: CrashLoopBackOff")
    assert lines[1] == "the last line of its log: Error: bad config"


def claim(name: str, phase: str, source: dict | None = None) -> dict:
    return {"metadata": {"name": name}, "spec": {"dataSourceRef": source} if source else {}, "status": {"phase": phase}}


@pytest.mark.requirement("VG-10")
def test_a_pending_claim_is_told_with_the_source_it_waits_for() -> None:
    source = {"apiGroup": "restore.example.org", "kind": "GroupRestore", "name": "nightly"}
    claims = [claim(f"metadata-{NAME}", "Bound", source), claim(f"data-{NAME}", "Pending", source), claim("data-paris-storage-1-0", "Pending")]
    events = [
        {"involvedObject": {"kind": "PersistentVolumeClaim", "name": f"data-{NAME}"}, "reason": "Old", "message": "x", "lastTimestamp": "2026-01-01"},
        {"involvedObject": {"kind": "PersistentVolumeClaim", "name": f"data-{NAME}"}, "reason": "New", "message": "no\ndata", "lastTimestamp": "2026-01-02"},
    ]
    lines = account(progress([], [{"pod": NAME, "revision": "a"}]), claims, events)
    assert lines == [
        f"pod {NAME}: is not there yet",
        f"claim data-{NAME} is Pending: it waits for its source GroupRestore.restore.example.org nightly (New: no data)",
    ]


def test_why_there_is_no_pod_is_told_by_its_stateful_set() -> None:
    event = {"involvedObject": {"kind": "StatefulSet", "name": "paris-storage-0"}, "reason": "FailedCreate", "message": "violates PodSecurity"}
    (line,) = account(progress([], [{"pod": NAME, "revision": "a"}]), [], [event])
    assert line == f"pod {NAME}: is not there yet (FailedCreate: violates PodSecurity)"


def stateful_set(name: str, generation: int, observed: int | None, **meta: str) -> dict:
    status = {} if observed is None else {"observedGeneration": observed, "updateRevision": f"{name}-new"}
    return {"metadata": {"name": name, "generation": generation, **meta}, "status": status}


def test_a_revision_counts_when_the_controller_has_taken_notice() -> None:
    sets = [stateful_set("a", 2, 2), stateful_set("b", 2, 1), stateful_set("c", 1, None), stateful_set("d", 1, 1, deletionTimestamp="now")]
    units = [{"name": name, "pods": [f"{name}-0"]} for name in "abcde"] + [{"name": "a", "pods": ["a-1", "a-2"]}]
    assert awaited(sets, units) == [
        {"pod": "a-0", "revision": "a-new"},
        *({"pod": f"{name}-0", "revision": None} for name in "bcde"),
        {"pod": "a-1", "revision": "a-new"},
        {"pod": "a-2", "revision": "a-new"},
    ]


@pytest.mark.requirement("FC-101")
@pytest.mark.parametrize(
    ("has", "phase", "is_growing"), [("2Gi", "Bound", False), ("1Gi", "Bound", True), (None, "Bound", True), (None, "Pending", False), ("3G", "Bound", False)]
)
def test_a_claim_grows_until_its_volume_has_the_size(has: str | None, phase: str, is_growing: bool) -> None:
    status = {"phase": phase, "capacity": {"storage": has} if has else {}}
    live = {"metadata": {"name": "data-x"}, "spec": {"resources": {"requests": {"storage": "2Gi"}}}, "status": status}
    assert growing([live], ["data-x", "not-there"]) == (["data-x"] if is_growing else [])
