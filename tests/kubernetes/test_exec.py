# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands in real pods: a cluster is made with no Admin API to reach and no token; who may do it; what happens when a pod goes."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._connection import resolve_connection
from ansible_collections.s3ops.garage.plugins.module_utils._errors import TransportError
from ansible_collections.s3ops.garage.plugins.module_utils._pods import Pods
from ansible_collections.s3ops.garage.plugins.module_utils._transports import open_transport

from tests.kubernetes.exec_pods import CONFIG, ByCommands, garage_pod, limited_account
from tests.kubernetes.namespaces import Namespace
from tools.cluster.state import Cluster

SECRET = "5ec4e7" * 10 + "0123"
KEY_ID = "GK" + "ab" * 12


def client_of(namespace: Namespace, **spot: str) -> Client:
    by = ByCommands(namespace, namespace.cluster.kubeconfig, **spot)
    return Client(open_transport(resolve_connection(by.connection, {}, str)), retries=0)


@pytest.mark.requirement("FC-085")
def test_a_cluster_is_made_by_commands_alone(namespace: Namespace, cluster: Cluster, tmp_path: Path) -> None:
    for name in ("garage-0", "garage-1"):
        namespace.create(garage_pod(namespace, name))
    for name in ("garage-0", "garage-1"):
        namespace.wait_pod(name, "Ready")
    run = ByCommands(namespace, cluster.kubeconfig)

    nodes = run("kubernetes_node_info", {"fail_on_unreachable": True})["nodes"]
    assert [row["pod"] for row in nodes] == ["garage-0", "garage-1"] == [row["hostname"] for row in nodes]
    assert all(len(row["id"]) == 64 and row["ready"] and row["phase"] == "Running" and row["message"] is None for row in nodes)
    assert {row["garage_version"] for row in nodes} == {cluster.image.rpartition(":v")[2]}
    assert [row["ip"] for row in nodes] == [namespace.pod(row["pod"]).status.pod_ip for row in nodes]

    roles = [{"node": row["id"], "zone": "paris", "capacity": "1GB"} for row in nodes]
    steps = [
        ("cluster_connect", {"nodes": [f"{row['id']}@{row['ip']}:3901" for row in nodes]}),
        ("layout", {"roles": roles, "site_role": "follower"}),
        ("layout", {"roles": roles}),
        ("cluster_info", {"wait": True, "min_nodes": 2}),
        ("bucket", {"name": "media", "quotas": {"max_size": "1GB"}, "aliases": ["films"]}),
        ("key", {"name": "app", "id": KEY_ID, "secret_access_key": SECRET}),
        ("grant", {"bucket": "media", "key": "app", "read": True, "write": True}),
        ("tenancy", {"keys": [{"name": "one"}, {"name": "two"}], "buckets": [
            {"name": f"tenant-{number}", "grants": [{"key": "one", "read": True}, {"key": "two", "owner": True}]} for number in range(4)]}),
        ("bucket_info", {"name": "media", "transport": "auto", "api_url": f"http://{nodes[0]['ip']}:3903", "api_token": "an-admin-token"}),
    ]
    played = run.play(tmp_path, steps, "-vvv", "--diff")
    assert SECRET not in played.output
    first = [row["result"] for row in played.rows]
    assert [result["changed"] for result in first] == [True, False, True, False, True, True, True, True, False]
    assert first[1]["pending"] is True
    assert first[2]["layout"]["version"] == 1
    assert (first[3]["cluster"]["phase"], first[3]["cluster"]["health"]["status"]) == ("running", "healthy")
    assert first[8]["buckets"][0]["aliases"] == ["films", "media"]
    assert first[8]["transport"].startswith(f"exec in pod {namespace.name}/garage-0, because GetClusterHealth at http://")
    for options in (["--check"], []):
        assert run.play(tmp_path, steps, *options).changed == 0


@contextmanager
def seen_processes() -> Iterator[list[str]]:
    """The arguments of all processes of this machine, as long as it is open; those of pods are there when the node is this machine."""
    seen: list[str] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            for entry in os.scandir("/proc"):
                if entry.name.isdigit():
                    try:
                        seen.append(Path(entry.path, "cmdline").read_text(encoding="utf-8", errors="replace").replace("\0", " "))
                    except OSError:
                        continue

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()


@pytest.mark.requirement("FC-085")
def test_a_secret_is_seen_by_nobody_on_the_way(namespace: Namespace, cluster: Cluster) -> None:
    namespace.create(garage_pod(namespace, "garage-0"))
    namespace.wait_pod("garage-0", "Ready")
    client = client_of(namespace, pod="garage-0")
    node = client.call("GetClusterStatus")["nodes"][0]["id"]
    client.call("UpdateClusterLayout", None, {"roles": [{"id": node, "zone": "x", "capacity": 1_000_000_000, "tags": []}]})
    client.call("ApplyClusterLayout", None, {"version": 1})
    key = {"accessKeyId": KEY_ID, "secretAccessKey": SECRET, "name": "app"}
    with seen_processes() as seen:
        for _each in range(20):
            client.call("ImportKey", None, key)
            client.call("DeleteKey", {"id": KEY_ID})
            if cluster.kind != "local" or any("json-api ImportKey -" in line for line in seen):
                break
    assert not any(SECRET in line for line in seen)
    assert SECRET not in namespace.logs("garage-0")
    if cluster.kind == "local":
        assert any("json-api ImportKey -" in line for line in seen)
        logs = {path.name: path.read_text(encoding="utf-8", errors="replace") for path in (Path(cluster.kubeconfig).parent / "logs").iterdir()}
        assert logs
        assert [name for name, text in logs.items() if SECRET in text] == []


def test_the_rights_that_are_documented_are_enough_and_each_is_named_when_it_lacks(namespace: Namespace, tmp_path: Path) -> None:
    namespace.create(garage_pod(namespace, "garage-0"))
    namespace.wait_pod("garage-0", "Ready")
    lists, runs = {"resources": ["pods"], "verbs": ["list"]}, {"resources": ["pods/exec"], "verbs": ["get", "create"]}

    def ask(*rules: dict) -> dict:
        return ByCommands(namespace, limited_account(namespace, tmp_path, *rules), pod="garage-0")("cluster_info", {})

    assert ask(lists, runs)["cluster"]["phase"] == "running"
    for rules, right in (((lists,), 'resource "pods/exec"'), ((), 'cannot list resource "pods"')):
        refused = ask(*rules)
        assert (refused["rc"], refused["error"]["kind"]) == (2, "unreachable")
        assert right in refused["msg"] and f"limited-{len(rules)}" in refused["msg"] and "give this account a Role" in refused["msg"]


def test_pods_that_do_not_run_tell_why(namespace: Namespace, cluster: Cluster) -> None:
    namespace.create(garage_pod(namespace, "bad-config", CONFIG.replace("sqlite", "nonsense")))
    namespace.create(garage_pod(namespace, "bad-image", image="docker.invalid/garage:v0", imagePullPolicy="Always"))
    namespace.create(garage_pod(namespace, "no-node", resources={"requests": {"cpu": "1000"}}))
    run = ByCommands(namespace, cluster.kubeconfig)
    words = {"bad-config": "nonsense", "bad-image": "Pull", "no-node": "it is not scheduled: Unschedulable: "}
    rows: dict[str, dict] = {}

    def missing() -> str | None:
        rows.update({row["pod"]: row for row in run("kubernetes_node_info", {})["nodes"]})
        silent = [name for name, text in words.items() if text not in (rows[name]["message"] or "")]
        return str([rows[name] for name in silent]) if silent else None

    namespace.wait("each pod to say what is wrong", missing)
    assert {row["id"] for row in rows.values()} == {None}
    assert "exit code 1" in rows["bad-config"]["message"]
    refused = run("cluster_info", {"retries": 0})
    assert all(f"{name}: " in refused["msg"] for name in words)


def test_a_pod_that_goes_in_the_middle_leaves_a_write_of_unknown_fate(namespace: Namespace, monkeypatch: pytest.MonkeyPatch) -> None:
    namespace.create(garage_pod(namespace, "garage-0"))
    namespace.wait_pod("garage-0", "Ready")
    client = client_of(namespace)
    client.call("GetClusterHealth")
    # An address that answers nothing keeps the command waiting.
    peer = f"{'a' * 64}@192.0.2.1:3901"
    talk = Pods._talk

    def talk_and_lose(pods: Pods, *arguments: object) -> object:
        """The command runs from here on."""
        threading.Timer(0.5, lambda: namespace.core.delete_namespaced_pod("garage-0", namespace.name, grace_period_seconds=0)).start()
        return talk(pods, *arguments)

    with monkeypatch.context() as patch, pytest.raises(TransportError) as caught:
        patch.setattr(Pods, "_talk", talk_and_lose)
        client.call("ConnectClusterNodes", None, [peer] * 3)
    assert caught.value.sent, caught.value
    namespace.wait_pod_gone("garage-0")
    with pytest.raises(TransportError, match="pods .garage-0. not found") as caught:
        client.call("ConnectClusterNodes", None, [peer])
    assert not caught.value.sent
