# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods as Kubernetes shows them: whether Garage runs there, and why it does not."""

from __future__ import annotations

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._models.pod import Pod, choose_pod
from tests.fakes.kubernetes import pod

OOM = {"exitCode": 137, "reason": "OOMKilled"}
CRASH = {"exitCode": 1, "reason": "Error", "message": "first line\nError: Unable to read configuration file\n"}
WAITS = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s restarting failed container"}}
INIT = {"initContainerStatuses": [{"name": "copy", "state": {"waiting": {"reason": "ErrImagePull", "message": "no such image"}}}]}
DONE = {"initContainerStatuses": [{"name": "copy", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}]}
UNBOUND = {"containerStatuses": [], "phase": "Pending", "conditions": [
    {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "pod has unbound immediate PersistentVolumeClaims"}]}


def read(*args, **more):
    return Pod.from_api(pod(*args, **more), "garage")


def test_a_pod_that_runs():
    found = read("garage-0")
    assert (found.name, found.uid, found.phase) == ("garage-0", "uid-of-garage-0", "Running")
    assert (found.ready, found.running, found.reason) == (True, True, None)
    assert (found.hostname, found.ip, found.containers) == ("garage-0", "10.0.0.7", ("garage",))
    named = pod("garage-0")
    named["spec"]["hostname"] = "paris"
    assert Pod.from_api(named, "garage").hostname == "paris"


@pytest.mark.parametrize(("item", "words"), [
    (pod("p", state=WAITS, last=CRASH), "container garage waits: CrashLoopBackOff: back-off 10s restarting failed container; container garage ended"
     " before with exit code 1: Error: first line Error: Unable to read configuration file"),
    (pod("p", state={"terminated": OOM}), "container garage has ended with exit code 137: OOMKilled"),
    (pod("p", state={"waiting": {"reason": "ErrImagePull", "message": "not found"}}), "container garage waits: ErrImagePull: not found"),
    (pod("p", state={"waiting": {"reason": "PodInitializing"}}, **INIT), "container copy waits: ErrImagePull: no such image; container garage waits:"
     " PodInitializing"),
    (pod("p", state={"waiting": {}}, **DONE), "container garage waits: no reason is given"),
    (pod("p", **UNBOUND), "it is not scheduled: Unschedulable: pod has unbound immediate PersistentVolumeClaims"),
    (pod("p", containerStatuses=[], phase="Failed", reason="Evicted", message="The node was low on resource: memory."),
     "Evicted: The node was low on resource: memory."),
    (pod("p", containerStatuses=[], phase="Pending"), "its phase is Pending"),
    (pod("p", container="other"), "it has no container 'garage', but other"),
    ({"metadata": {"name": "p"}}, "it has no container 'garage', but "),
], ids=lambda value: value[:40] if isinstance(value, str) else "")
def test_why_a_pod_does_not_run(item, words):
    found = Pod.from_api(item, "garage")
    assert (found.running, found.reason) == (False, words)


def test_a_pod_that_leaves_does_not_run():
    leaving = pod("garage-0")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    found = Pod.from_api(leaving, "garage")
    assert (found.running, found.ready, found.reason) == (False, False, "it is being deleted")


def test_a_long_reason_is_cut_and_a_log_keeps_its_end():
    found = read("p", state=WAITS, last={"exitCode": 1, "message": "x" * 5000 + " the last words"})
    assert len(found.reason) <= 1000 and found.reason.endswith("the last words")


def test_the_pod_to_take():
    ready, early, broken = read("b"), read("a", ready=False), read("c", state=WAITS)
    assert choose_pod([early, ready, broken]).name == "b"
    assert choose_pod([broken, early]).name == "a"
    assert choose_pod([read("e"), read("d")]).name == "d"
    assert choose_pod([broken]) is None and choose_pod([]) is None
