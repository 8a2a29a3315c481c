# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kubernetes_workload_info over a Kubernetes API on loopback."""

from __future__ import annotations

import json

import pytest
from ansible.module_utils.common import warnings as ansible_warnings
from ansible.module_utils.testing import patch_module_args
from ansible_collections.s3ops.garage.plugins.modules import kubernetes_workload_info
from tests.fakes.kubernetes import FakeKubernetes, Refusal, pod
from tests.fakes.loopback import clean_environment

SPACE = "/api/v1/namespaces/garage"
SETS = "/apis/apps/v1/namespaces/garage/statefulsets"
MONITORING = "/apis/monitoring.coreos.com/v1"
WAITS = {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off"}}
CRASHES = {"waiting": {"reason": "CrashLoopBackOff"}}
READY = [{"name": "garage", "pods": ["garage-0"]}]
FORBIDDEN = Refusal(403, 'namespaces "garage" is forbidden: User "eve" cannot get resource "namespaces" in API group "" in the namespace "garage"')


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    clean_environment(monkeypatch)


@pytest.fixture
def run(capsys, tmp_path):
    """run(cluster, options) -> what the module printed."""

    def go(cluster, **given):
        ansible_warnings._global_warnings.clear()
        spot = {"namespace": "garage", "label_selector": "app=garage", "kubeconfig": cluster.kubeconfig(tmp_path)}
        options = {"kubernetes": spot, "retry_delay": 0, "wait_sleep": 0, **given}
        with patch_module_args(options), pytest.raises(SystemExit):
            kubernetes_workload_info.main()
        return json.loads(capsys.readouterr().out)

    return go


def identity(argv, stdin):
    info = {"nodeId": "a" * 64, "hostname": "inside", "garageVersion": "v2.5.0"}
    return 0, json.dumps({"success": {"a" * 64: info}, "error": {}}).encode(), b""


def listing(kind, *items):
    return {"kind": f"{kind}List", "apiVersion": "whatever", "items": list(items)}


def named(name, **more):
    return {"metadata": {"name": name, "managedFields": ["long"]}, **more}


def stateful_set(observed=1):
    return {"metadata": {"name": "garage", "generation": 1}, "status": {"observedGeneration": observed, "updateRevision": "new"}}


def running(name="garage-0", revision="new", **more):
    made = pod(name, **more)
    made["metadata"]["labels"] = {"app": "garage", "controller-revision-hash": revision}
    return made


def api(**over):
    """What an API with an empty namespace answers, by path; ``over`` by the last part of a path."""
    paths = {SETS: listing("StatefulSet"), SPACE: {"kind": "Namespace"},
             "/apis/policy/v1/namespaces/garage/poddisruptionbudgets": listing("PodDisruptionBudget"),
             f"{SPACE}/persistentvolumeclaims": listing("PersistentVolumeClaim"), f"{SPACE}/configmaps": listing("ConfigMap"),
             f"{SPACE}/services": listing("Service"), f"{SPACE}/events": listing("Event")}
    return {path: over.get(path.rpartition("/")[2], answer) for path, answer in paths.items()}


@pytest.mark.requirement("TD-45")
def test_all_objects_are_told_with_their_kinds_and_nodes(run):
    objects = api(statefulsets=listing("StatefulSet", stateful_set()), configmaps=listing("ConfigMap", named("garage", data={"a": "b"})))
    with FakeKubernetes(running(), execute=identity, objects=objects) as cluster:
        result = run(cluster)
    assert (result["changed"], result["namespace"], result["monitoring"]) == (False, True, [])
    assert result["objects"]["objects"] == [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "garage"}, "data": {"a": "b"}}]
    assert [(item["apiVersion"], item["kind"]) for item in result["objects"]["statefulsets"]] == [("apps/v1", "StatefulSet")]
    assert [(row["pod"], row["id"], row["message"]) for row in result["nodes"]] == [("garage-0", "a" * 64, None)]
    asked = [path for path in cluster.asked if "/namespaces/garage/" in path and "/exec" not in path]
    assert asked and all("labelSelector=app%3Dgarage" in path for path in asked)


@pytest.mark.requirement("TD-21")
@pytest.mark.parametrize(("answer", "exists"), [({"kind": "Namespace"}, True), (Refusal(404, "not found"), False), (FORBIDDEN, None)], ids=str)
def test_whether_there_is_a_namespace_is_asked_only_when_nothing_is_in_it(run, answer, exists):
    with FakeKubernetes(objects={**api(), SPACE: answer}) as cluster:
        assert run(cluster)["namespace"] is exists
    with FakeKubernetes(objects={**api(services=listing("Service", named("s3"))), SPACE: answer}) as cluster:
        assert run(cluster)["namespace"] is True
        assert SPACE not in cluster.asked


@pytest.mark.requirement("TD-19")
def test_monitoring_kinds_are_read_where_there_are_any(run):
    group = {"resources": [{"name": "servicemonitors", "kind": "ServiceMonitor"}, {"name": "podmonitors", "kind": "PodMonitor"}]}
    monitors = {f"{MONITORING}/namespaces/garage/servicemonitors": listing("ServiceMonitor", named("garage"))}
    with FakeKubernetes(objects={**api(), MONITORING: group, **monitors}) as cluster:
        result = run(cluster)
    assert result["monitoring"] == ["ServiceMonitor"]
    assert [(item["apiVersion"], item["kind"]) for item in result["objects"]["objects"]] == [("monitoring.coreos.com/v1", "ServiceMonitor")]


def test_a_missing_right_is_named_and_not_tried_again(run):
    text = 'services is forbidden: User "eve" cannot list resource "services" in API group "" in the namespace "garage"'
    with FakeKubernetes(objects=api(services=Refusal(403, text))) as cluster:
        result = run(cluster)
        assert sum("/services" in path for path in cluster.asked) == 1
    assert result["failed"] and text in result["msg"]


def in_turn(*answers):
    """A function that gives one after the other, and the last for ever."""
    left = list(answers)
    return lambda: left.pop(0) if len(left) > 1 else left[0]


@pytest.mark.requirement("OP-120")
def test_an_api_that_is_away_for_a_while_is_read_again(run):
    away = Refusal(503, "starting")
    with FakeKubernetes(objects=api(services=in_turn(away, away, listing("Service", named("s3"))))) as cluster:
        assert [item["metadata"]["name"] for item in run(cluster)["objects"]["objects"]] == ["s3"]
    with FakeKubernetes(objects=api(services=away)) as cluster:
        assert "answers 503: starting" in run(cluster, retries=1)["msg"]


@pytest.mark.requirement("FC-112", "OP-120")
def test_pods_are_waited_for_until_their_revision_is_ready(run):
    sets = in_turn(Refusal(503, "starting"), listing("StatefulSet", stateful_set(observed=0)), listing("StatefulSet", stateful_set()))
    with FakeKubernetes(running(), execute=identity, objects=api(statefulsets=sets)) as cluster:
        result = run(cluster, wait_for_pods=READY)
        assert sum(path.startswith(SETS) for path in cluster.asked) == 4
    assert result["nodes"][0]["ready"]


@pytest.mark.requirement("FC-112", "TD-41")
def test_a_pod_that_will_not_come_up_ends_the_waiting_with_its_reason(run):
    objects = api(statefulsets=listing("StatefulSet", stateful_set()))
    with FakeKubernetes(running(state=WAITS), objects=objects) as cluster:
        result = run(cluster, wait_for_pods=READY)
    assert result["failed"] and result["error"]["kind"] == "not_ready"
    assert result["msg"] == "pod garage-0, container garage: ImagePullBackOff: Back-off."


@pytest.mark.requirement("TD-41")
def test_the_log_of_a_container_that_crashes_is_told_and_what_cannot_be_read_hides_nothing(run):
    crashed = running(state=CRASHES)
    crashed["status"]["containerStatuses"][0]["restartCount"] = 3
    objects = {**api(statefulsets=listing("StatefulSet", stateful_set()), events=Refusal(403, "events is forbidden")),
               f"{SPACE}/pods/garage-0/log": {"the last": "line"}}
    with FakeKubernetes(crashed, objects=objects) as cluster:
        result = run(cluster, wait_for_pods=READY)
        (log,) = [path for path in cluster.asked if "/log?" in path]
    assert "CrashLoopBackOff: ended with status unknown 3 times; the last line of its log: {\"the last\": \"line\"}" in result["msg"]
    assert "events is forbidden" in result["msg"]
    assert "container=garage" in log and "previous=true" in log and "tailLines=20" in log


@pytest.mark.requirement("VG-10")
def test_a_claim_that_waits_is_named_when_the_time_is_over(run):
    source = {"apiGroup": "restore.example.org", "kind": "GroupRestore", "name": "nightly"}
    claims = listing("PersistentVolumeClaim", named("data-garage-0", spec={"dataSourceRef": source}, status={"phase": "Pending"}))
    with FakeKubernetes(objects=api(statefulsets=listing("StatefulSet", stateful_set()), persistentvolumeclaims=claims)) as cluster:
        result = run(cluster, wait_for_pods=READY, wait_timeout=0)
    assert result["error"]["kind"] == "not_ready"
    assert "pod garage-0: is not there yet; claim data-garage-0 is Pending: it waits for its source GroupRestore.restore.example.org nightly" in result["msg"]


@pytest.mark.requirement("FC-101")
def test_volumes_are_waited_for_until_they_have_grown(run):
    def claim(size):
        spec = {"resources": {"requests": {"storage": "2Gi"}}}
        return listing("PersistentVolumeClaim", named("data-garage-0", spec=spec, status={"phase": "Bound", "capacity": {"storage": size}}))

    with FakeKubernetes(objects=api(persistentvolumeclaims=in_turn(claim("1Gi"), claim("2Gi")))) as cluster:
        assert not run(cluster, wait_for_claims=["data-garage-0"]).get("failed")
    with FakeKubernetes(objects=api(persistentvolumeclaims=claim("1Gi"))) as cluster:
        result = run(cluster, wait_for_claims=["data-garage-0"], wait_timeout=0)
    assert result["error"]["kind"] == "timeout" and "data-garage-0 did not grow" in result["msg"]


def test_the_labels_of_the_objects_are_needed(run):
    with FakeKubernetes(objects=api()) as cluster:
        assert "label_selector" in run(cluster, kubernetes={"namespace": "garage", "pod": "garage-0"})["msg"]
        assert cluster.asked == []
