# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster does what the tests of the roles need of it."""

from __future__ import annotations

import contextlib
import re

import requests
from kubernetes import client

from tests.kubernetes.namespaces import ADMIN_PORT, Namespace, claim, pod
from tools.cluster import provider
from tools.cluster.forward import Forwards
from tools.cluster.state import Cluster
from tools.testbed.versions import parse_version

CONFIG = """\
metadata_dir = "/data/metadata"
data_dir = "/data/objects"
db_engine = "lmdb"
replication_factor = 1
rpc_bind_addr = "[::]:3901"
rpc_secret = "{secret}"
bootstrap_peers = {peers}
[s3_api]
api_bind_addr = "[::]:3900"
s3_region = "garage"
[admin]
api_bind_addr = "[::]:3903"
"""
SECRET = "5c" * 32


def garage(name: str, claims: dict[str, str]) -> dict:
    """A pod whose Garage reads its configuration from the map of the same name."""
    server = pod(name, "", ["/garage", "-c", "/config/garage.toml", "server"], claims)
    server["spec"]["volumes"].append({"name": "config", "configMap": {"name": name}})
    server["spec"]["containers"][0]["volumeMounts"].append({"name": "config", "mountPath": "/config"})
    return server


def run_garage(namespace: Namespace, name: str, claim_name: str, peers: str = "[]") -> str:
    """Start a Garage that keeps everything in one claim; its node id."""
    text = CONFIG.format(secret=SECRET, peers=peers)
    namespace.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"garage.toml": text}}
    )
    server = garage(name, {claim_name: "/data"})
    server["spec"]["containers"][0]["image"] = namespace.cluster.image
    namespace.create(server)
    namespace.wait_pod(name, "Ready")
    return node_id(namespace, name)


def node_id(namespace: Namespace, name: str) -> str:
    """The id that the node itself tells; it needs a moment after its start."""
    seen: list[str] = []

    def missing() -> str | None:
        ended = namespace.run(name, "/garage", "-c", "/config/garage.toml", "node", "id", "-q")
        seen.append(ended.stdout.partition("@")[0].strip())
        return None if ended.rc == 0 and re.fullmatch("[0-9a-f]{64}", seen[-1]) else ended.stderr

    namespace.wait(f"the id of {name}", missing)
    return seen[-1]


def test_a_node_is_ready(cluster: Cluster) -> None:
    nodes = client.CoreV1Api(cluster.api()).list_node().items
    conditions = [condition for node in nodes for condition in node.status.conditions if condition.type == "Ready"]
    assert "True" in {condition.status for condition in conditions}


def test_a_pod_runs_garage(namespace: Namespace) -> None:
    namespace.create(pod("garage", namespace.cluster.image, ["/garage", "--version"]))
    assert namespace.wait_pod("garage", "Succeeded", "Failed").status.phase == "Succeeded"
    assert parse_version(namespace.logs("garage")) >= (2, 0, 0)


def test_garage_comes_under_another_tag(namespace: Namespace) -> None:
    image = provider.load_garage(namespace.cluster, "other")
    assert image != namespace.cluster.image
    namespace.create(pod("garage", image, ["/garage", "--version"]))
    assert namespace.wait_pod("garage", "Succeeded", "Failed").status.phase == "Succeeded"


def test_a_command_runs_in_a_pod(namespace: Namespace) -> None:
    namespace.create(claim("data", namespace.cluster.storage_class))
    run_garage(namespace, "one", "data")
    ended = namespace.run("one", "/garage", "no-such-command")
    assert ended.rc != 0
    assert "no-such-command" in ended.stderr


def test_the_admin_api_of_a_pod_is_reached(namespace: Namespace) -> None:
    namespace.create(claim("data", namespace.cluster.storage_class))
    run_garage(namespace, "one", "data")
    # No layout yet, so the node is not healthy; that it says so is what counts here.
    assert "Quorum is not available" in requests.get(f"{namespace.admin_url('one')}/health", timeout=30).text


def test_a_port_is_forwarded_where_pods_are_not_reached(namespace: Namespace) -> None:
    namespace.create(claim("data", namespace.cluster.storage_class))
    run_garage(namespace, "one", "data")
    with contextlib.closing(Forwards(namespace.api)) as forwards:
        url = f"http://127.0.0.1:{forwards.to(namespace.name, 'one', ADMIN_PORT)}/health"
        with requests.Session() as session:
            answers = [session.get(url, timeout=30).text for _number in range(2)]
        answers.append(requests.get(url, timeout=30).text)
    assert all("Quorum is not available" in answer for answer in answers)


def test_pods_find_each_other_by_the_name_of_a_service(namespace: Namespace) -> None:
    namespace.create(claim("first", namespace.cluster.storage_class), claim("second", namespace.cluster.storage_class))
    namespace.create(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "garage"},
            "spec": {"selector": {"name": "one"}, "ports": [{"port": 13901, "targetPort": 3901}]},
        }
    )
    first = run_garage(namespace, "one", "first")
    peer = f"{first}@garage.{namespace.name}.svc.cluster.local:13901"
    run_garage(namespace, "two", "second", f'["{peer}"]')
    # The node id proves that name and port led to this very pod.
    url = f"{namespace.admin_url('one')}/metrics"

    def missing() -> str | None:
        connected = re.search(r"^cluster_connected_nodes (\d+)", requests.get(url, timeout=30).text, re.MULTILINE)
        return None if connected and int(connected[1]) == 2 else f"connected: {connected and connected[1]}"

    namespace.wait("the two nodes to see each other", missing)


def test_a_claim_grows(namespace: Namespace) -> None:
    namespace.create(claim("data", namespace.cluster.storage_class, "1Gi"))
    namespace.wait_claim("data")
    change = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    namespace.core.patch_namespaced_persistent_volume_claim("data", namespace.name, change)
    namespace.wait(
        "the claim to grow",
        lambda: None if namespace.claim("data").status.capacity["storage"] == "2Gi" else "it has the old size",
    )


def test_a_volume_goes_with_its_claim(namespace: Namespace) -> None:
    namespace.create(claim("data", namespace.cluster.storage_class))
    volume = namespace.wait_claim("data").spec.volume_name
    namespace.core.delete_namespaced_persistent_volume_claim("data", namespace.name)

    def missing() -> str | None:
        left = [each.metadata.name for each in namespace.core.list_persistent_volume().items]
        return "it is still there" if volume in left else None

    namespace.wait(f"volume {volume} to go", missing)


def test_a_claim_is_filled_from_the_member_of_its_name(namespace: Namespace, make_namespace) -> None:
    namespace.create(claim("data-0", namespace.cluster.storage_class), claim("data-1", namespace.cluster.storage_class))
    identities = {name: run_garage(namespace, f"from-{name}", name) for name in ("data-0", "data-1")}
    for name in identities:
        namespace.core.delete_namespaced_pod(f"from-{name}", namespace.name)
        namespace.wait_pod_gone(f"from-{name}")
    namespace.take_group_snapshot(namespace.name)

    restored = make_namespace("restored")
    source = restored.create_group_restore("all", namespace.name)
    for name in identities:
        restored.create(claim(name, restored.cluster.storage_class, source=source))
    assert {name: run_garage(restored, f"from-{name}", name) for name in identities} == identities
    assert len(set(identities.values())) == 2


def test_a_claim_with_an_unknown_source_stays_pending(namespace: Namespace) -> None:
    storage_class = namespace.cluster.storage_class
    source = {"apiGroup": "restore.example.org", "kind": "GroupRestore", "name": "nowhere"}
    namespace.create(claim("waits", storage_class, source=source))
    no_member = namespace.create_group_restore("empty", snapshot=f"{namespace.name}-never-taken")
    namespace.create(claim("waits-too", storage_class, source=no_member))
    # Served after the two, so they have been looked at by then.
    for number in range(2):
        namespace.create(claim(f"plain-{number}", storage_class))
        namespace.wait_claim(f"plain-{number}")
    assert {namespace.claim(name).status.phase for name in ("waits", "waits-too")} == {"Pending"}
