# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kubernetes_node_info, and other modules by commands, over a Kubernetes API on loopback."""

from __future__ import annotations

import json
import threading

import pytest
from ansible.module_utils.common import warnings as ansible_warnings
from ansible.module_utils.testing import patch_module_args
from ansible_collections.s3ops.garage.plugins.module_utils import _runner
from ansible_collections.s3ops.garage.plugins.modules import kubernetes_node_info, layout_recovery
from tests.fakes.kubernetes import FakeKubernetes, Refusal, pod
from tests.fakes.loopback import Loopback, answer, clean_environment

WAITS = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    clean_environment(monkeypatch)


@pytest.fixture
def run(capsys, tmp_path):
    """run(start, cluster, options) -> what the module printed."""

    def go(start, cluster, **given):
        ansible_warnings._global_warnings.clear()
        spot = {"namespace": "garage", "label_selector": "app=garage", "kubeconfig": cluster.kubeconfig(tmp_path)}
        with patch_module_args({"kubernetes": spot, "retry_delay": 0, **given}), pytest.raises(SystemExit):
            start()
        return json.loads(capsys.readouterr().out)

    return go


def identity(argv, stdin):
    """As Garage answers GetNodeInfo for itself."""
    assert argv[:5] == ["/garage", "-c", "/etc/garage/garage.toml", "json-api", "GetNodeInfo"] and json.loads(stdin) == {"node": "self", "body": None}
    info = {"nodeId": "a" * 64, "hostname": "inside", "garageVersion": "v2.5.0"}
    return 0, json.dumps({"success": {"a" * 64: info}, "error": {}}).encode(), b""


def test_each_pod_tells_its_node_or_why_not(run):
    with FakeKubernetes(pod("garage-1", state=WAITS), pod("garage-0", ready=False), execute=identity) as cluster:
        result = run(kubernetes_node_info.main, cluster)
    assert result["changed"] is False and "transport" not in result
    assert result["nodes"] == [
        {"pod": "garage-0", "uid": "uid-of-garage-0", "id": "a" * 64, "hostname": "inside", "garage_version": "2.5.0", "ip": "10.0.0.7",
         "ready": False, "phase": "Running", "message": None},
        {"pod": "garage-1", "uid": "uid-of-garage-1", "id": None, "hostname": "garage-1", "garage_version": None, "ip": "10.0.0.7", "ready": False,
         "phase": "Pending", "message": "container garage waits: CrashLoopBackOff: back-off"},
    ]
    assert [command.pod for command in cluster.ran] == ["garage-0"]


def test_it_fails_only_when_it_is_told_to(run):
    down = FakeKubernetes(pod("garage-0"), execute=lambda argv, stdin: (1, b"", b"Error: Unable to connect to destination RPC host."))
    with down as cluster:
        result = run(kubernetes_node_info.main, cluster)
        assert "Unable to connect" in result["nodes"][0]["message"] and not result.get("failed")
        strict = run(kubernetes_node_info.main, cluster, fail_on_unreachable=True)
        assert len(cluster.ran) == 2
    assert strict["failed"] and strict["error"]["kind"] == "unreachable" and strict["nodes"] == result["nodes"]
    assert "garage-0: GetNodeInfo at pod garage/garage-0: the command ended" in strict["msg"]
    with FakeKubernetes() as cluster:
        assert run(kubernetes_node_info.main, cluster)["nodes"] == []
        assert "there is no such pod" in run(kubernetes_node_info.main, cluster, fail_on_unreachable=True)["msg"]


def test_a_missing_right_fails_and_is_named(run):
    text = 'pods "garage-0" is forbidden: User "eve" cannot create resource "pods/exec" in API group "" in the namespace "garage"'
    with FakeKubernetes(pod("garage-0"), faults={0: Refusal(403, text)}) as cluster:
        result = run(kubernetes_node_info.main, cluster)
    assert result["failed"] and text in result["msg"] and "the verb create on pods/exec" in result["msg"]


def test_at_most_four_pods_are_asked_at_once(run):
    lock, meeting, now, most = threading.Lock(), threading.Barrier(4), [0], [0]

    def slow(argv, stdin):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        meeting.wait(timeout=30)
        with lock:
            now[0] -= 1
        return identity(argv, stdin)

    with FakeKubernetes(*(pod(f"garage-{number}") for number in range(8)), execute=slow) as cluster:
        result = run(kubernetes_node_info.main, cluster)
    assert ([row["pod"] for row in result["nodes"] if row["id"]], most) == ([f"garage-{number}" for number in range(8)], [4])


def test_a_missing_library_is_named(run, monkeypatch):
    monkeypatch.setattr(_runner, "KUBERNETES_ERROR", "Traceback: no kubernetes")
    with FakeKubernetes() as cluster:
        for start, given in ((kubernetes_node_info.main, {}), (layout_recovery.main, {"transport": "exec", "action": "revert"})):
            assert "Failed to import the required Python library (kubernetes)" in run(start, cluster, **given)["msg"]


def test_without_pods_the_option_is_asked_for(capsys):
    with patch_module_args({}), pytest.raises(SystemExit):
        kubernetes_node_info.main()
    assert "kubernetes is not set" in json.loads(capsys.readouterr().out)["msg"]


# other modules

def thing():
    _runner.run_info("buckets", {}, lambda client, params: client.call("ListBuckets"))


def test_a_module_says_what_was_chosen_for_it(run):
    with FakeKubernetes(pod("garage-0"), execute=lambda argv, stdin: (0, b"[]", b"")) as cluster:
        assert run(thing, cluster, transport="auto")["transport"] == "exec in pod garage/garage-0, because no api_url is set"
        assert "transport" not in run(thing, cluster, transport="exec")
        with Loopback(answer({}), answer(["x"])) as server:
            result = run(thing, cluster, transport="auto", api_url=server.url, api_token="an-admin-token")
        assert (result["buckets"], result["transport"]) == (["x"], f"http to {server.url}")
        cluster.execute = lambda argv, stdin: (1, b"", b"Error: AccessDenied (403): no")
        failed = run(thing, cluster, transport="auto")
    assert failed["failed"] and failed["transport"].startswith("exec in ")


@pytest.mark.requirement("LW-13", "LW-15")
def test_a_follower_is_stopped_before_a_command(run, monkeypatch):
    monkeypatch.setenv("GARAGE_SITE_ROLE", "follower")

    def write():
        _runner.run_job({}, lambda params, context: context.client().call("ApplyClusterLayout", body={"version": 1}))

    with FakeKubernetes(pod("garage-0")) as cluster:
        result = run(write, cluster, transport="exec")
    assert result["pending"] and cluster.asked == []
