# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of a site on a real Kubernetes: taken as they are, unchanged the second time, and grown without a restart."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._manifests.objects import objects
from ansible_collections.s3ops.garage.plugins.module_utils._manifests.pod import ENVIRONMENT
from ansible_collections.s3ops.garage.plugins.module_utils._planners.workload import plan_workload
from ansible_collections.s3ops.garage.plugins.module_utils._site.document import normal_site
from kubernetes.dynamic import DynamicClient

from tests.kubernetes.namespaces import Namespace
from tools.testbed.admin_api import AdminApi, AdminApiError

RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}
CONFIG = ("/garage", "-c", "/etc/garage/garage.toml")
LISTS = {"statefulsets": ["apps/v1/StatefulSet"], "claims": ["v1/PersistentVolumeClaim"], "pods": ["v1/Pod"],
         "objects": ["v1/ConfigMap", "v1/Service", "policy/v1/PodDisruptionBudget"]}


class Applied:
    """What a site file makes in a namespace, applied as the role does."""

    def __init__(self, namespace: Namespace, site: dict[str, Any]) -> None:
        self.namespace, self.site = namespace, site
        self.client = DynamicClient(namespace.api)

    def wanted(self, peers: Sequence[str] = (), **storage: Any) -> dict[str, Any]:
        site = {**self.site, "storage": {**self.site["storage"], **storage}} if storage else self.site
        return objects(normal_site(site, {})["workload"], self.namespace.name, "hash", peers)

    def apply(self, items: Iterable[dict[str, Any]]) -> list[tuple[str, str, str]]:
        """Kind, name and version of each object afterwards."""
        found = []
        for item in items:
            kind = self.client.resources.get(api_version=item["apiVersion"], kind=item["kind"])
            live = kind.server_side_apply(body=item, name=item["metadata"]["name"], namespace=self.namespace.name, field_manager="s3ops.garage")
            found.append((live.kind, live.metadata.name, live.metadata.resourceVersion))
        return found

    def live(self) -> dict[str, list]:
        found: dict[str, list] = {}
        for name, kinds in LISTS.items():
            found[name] = []
            for text in kinds:
                api_version, kind = text.rsplit("/", 1)
                items = self.client.resources.get(api_version=api_version, kind=kind).get(
                    namespace=self.namespace.name, label_selector=f"app.kubernetes.io/instance={self.site['name']}").to_dict()["items"]
                # Lists leave out what their items are; k8s_info puts it back.
                found[name] += [{"apiVersion": api_version, "kind": kind, **item} for item in items]
        return found

    def plan(self, wanted: dict[str, Any]) -> dict[str, Any]:
        return plan_workload(wanted, self.live())

    def wait_pods(self, *pods: str) -> None:
        def missing() -> str | None:
            return ", ".join(set(pods) - {pod.metadata.name for pod in self.namespace.pods()}) or None

        self.namespace.wait("pods to be made", missing)
        for pod in pods:
            self.namespace.wait_pod(pod, "Ready")

    def in_pod(self, pod: str, *command: str) -> str:
        ended = self.namespace.run(pod, *CONFIG, *command)
        assert ended.rc == 0, ended.stderr
        return ended.stdout.strip()


@pytest.fixture
def applied(make_namespace: Callable[..., Namespace]) -> Callable[..., Applied]:
    """applied(site) in a namespace that takes only pods of the level "restricted", with the site's Secret."""

    def make(site: dict[str, Any]) -> Applied:
        namespace = make_namespace(site["name"], labels=RESTRICTED)
        data = {key: base64.b64encode(secrets.token_hex(32).encode()).decode() for key in ENVIRONMENT.values()}
        namespace.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": f"{site['name']}-garage"}, "data": data})
        return Applied(namespace, {**site, "kubernetes": {"namespace": namespace.name}})

    return make


def everything(wanted: dict[str, Any]) -> list[dict[str, Any]]:
    return [*wanted["shared"], *(item for node in wanted["nodes"] for item in node["objects"])]


def nothing_but_the_same(plan: dict[str, Any]) -> bool:
    return not any(value for name, value in plan.items() if name != "same")


@pytest.mark.requirement("FC-101", "FC-104", "OP-014", "VG-09")
def test_a_site_with_gateways_is_taken_settles_and_grows_without_a_restart(applied: Callable[..., Applied], cluster: Any) -> None:
    volume = {"size": "10Mi", "storage_class": cluster.storage_class}
    paris = applied({
        "name": "paris", "zone": "paris", "replication": {"factor": 1}, "config": {"s3_web": {"root_domain": ".web.example.org"}},
        "storage": {"replicas": 1, "metadata": volume, "data": {"paths": [volume, {**volume, "name": "more"}]},
                    "disruption_budget": {}, "pod": {"annotations": {"note": "a"}, "env": [{"name": "RUST_LOG", "value": "garage=debug"}]}},
        "gateway": {"replicas": 1, "metadata": volume},
    })
    wanted = paris.wanted()
    assert [node["name"] for node in paris.plan(wanted)["create"]] == ["paris-storage-0", "paris-gateway-0"]
    first = paris.apply(everything(wanted))
    paris.wait_pods("paris-storage-0-0", "paris-gateway-0-0")
    statefulsets = {row for row in first if row[0] in ("StatefulSet", "PodDisruptionBudget")}
    # Their controllers write a status, so only what else they hold is compared, by the plan.
    assert set(paris.apply(everything(wanted))) >= set(first) - statefulsets
    assert nothing_but_the_same(paris.plan(wanted))
    claims = [claim["metadata"]["name"] for claim in paris.live()["claims"]]
    assert sorted(claims) == sorted(name for node in wanted["nodes"] for name in node["claims"])

    # Of several data paths Garage has to know the sizes, so those do not grow without a restart.
    grown = paris.wanted(metadata={**volume, "size": "20Mi"})
    plan = paris.plan(grown)
    assert (plan["faults"], plan["recreate"], len(plan["patch_claims"])) == ([], ["paris-storage-0"], 1)
    before = paris.namespace.pod("paris-storage-0-0").metadata.uid
    for patch in plan["patch_claims"]:
        paris.namespace.core.patch_namespaced_persistent_volume_claim(patch["metadata"]["name"], paris.namespace.name, patch)
    for name in plan["recreate"]:
        paris.namespace.apps.delete_namespaced_stateful_set(name, paris.namespace.name, propagation_policy="Orphan")
    paris.namespace.wait("the StatefulSet to go", lambda: "it is there" if len(paris.live()["statefulsets"]) > 1 else None)
    assert [node["name"] for node in paris.plan(grown)["roll"]] == ["paris-storage-0"]
    paris.apply(plan["roll"][0]["objects"])

    def not_adopted() -> str | None:
        live = next(item for item in paris.live()["statefulsets"] if item["metadata"]["name"] == "paris-storage-0")
        return None if live.get("status", {}).get("updatedReplicas") == 1 else "the pod has no owner"

    paris.namespace.wait("the pod to be adopted", not_adopted)
    assert paris.namespace.pod("paris-storage-0-0").metadata.uid == before
    assert nothing_but_the_same(paris.plan(grown))


@pytest.mark.requirement("TD-13", "VG-09")
def test_each_edge_gateway_has_its_own_configuration(applied: Callable[..., Applied], cluster: Any) -> None:
    lyon = applied({
        "name": "lyon", "zone": "lyon", "replication": {"factor": 1},
        "connect_to": {"rpc_secret_file": "/dev/null", "peers": [f"{'a' * 64}@10.1.1.9:3901"]},
        "gateway": {"metadata": {"size": "10Mi", "storage_class": cluster.storage_class}, "rpc_public_addr": "10.1.1.{ordinal}:3901"},
    })
    wanted = lyon.wanted()
    lyon.apply(everything(wanted))
    lyon.wait_pods("lyon-gateway-0", "lyon-gateway-1")
    for pod in ("lyon-gateway-0", "lyon-gateway-1"):
        assert lyon.in_pod(pod, "node", "id", "-q").split("@")[1] == f"10.1.1.{pod[-1]}:3901"
    assert nothing_but_the_same(lyon.plan(wanted))


def test_nodes_find_one_another_again_after_all_have_moved(applied: Callable[..., Applied], cluster: Any, tmp_path: Path) -> None:
    """Without a play: peers are names in the configuration, which nodes look up again each minute."""
    volume = {"size": "10Mi", "storage_class": cluster.storage_class}
    paris = applied({"name": "paris", "zone": "paris", "replication": {"factor": 2}, "storage": {"replicas": 2, "metadata": volume, "data": volume}})
    pods = ("paris-storage-0-0", "paris-storage-1-0")
    paris.apply(everything(paris.wanted()))
    paris.wait_pods(*pods)
    token = paris.namespace.core.read_namespaced_secret("paris-garage", paris.namespace.name).data["admin-token"]
    (tmp_path / "token").write_bytes(base64.b64decode(token))

    def admin(pod: str) -> AdminApi:
        return AdminApi(paris.namespace.admin_url(pod), tmp_path / "token")

    def unhealthy() -> str | None:
        try:
            status = admin(pods[0]).get("GetClusterHealth")["status"]
        except AdminApiError as refused:
            return str(refused)
        return None if status == "healthy" else status

    ids = [next(iter(admin(pod).get("GetNodeInfo", node="self")["success"])) for pod in pods]
    peers = [f"{node}@{pod}.paris-nodes.{paris.namespace.name}.svc.cluster.local:3901" for node, pod in zip(ids, pods, strict=True)]
    admin(pods[0]).post("ConnectClusterNodes", peers)
    admin(pods[0]).post("UpdateClusterLayout", {"roles": [{"id": node, "zone": "paris", "capacity": 10**7, "tags": []} for node in ids]})
    admin(pods[0]).post("ApplyClusterLayout", {"version": 1})
    paris.namespace.wait("the cluster to be healthy", unhealthy)

    first = [paris.namespace.pod(pod) for pod in pods]
    paris.apply(everything(paris.wanted(peers)))
    # The configuration has changed, and no node has started again for it.
    assert nothing_but_the_same(paris.plan(paris.wanted(peers)))
    assert [paris.namespace.pod(pod).metadata.uid for pod in pods] == [pod.metadata.uid for pod in first]
    for pod in pods:
        paris.namespace.core.delete_namespaced_pod(pod, paris.namespace.name)

    def old() -> str | None:
        left = {pod.metadata.uid for pod in paris.namespace.pods()} & {pod.metadata.uid for pod in first}
        return f"{len(left)} pods are the first ones" if left else None

    paris.namespace.wait("the first pods to go", old)
    paris.wait_pods(*pods)
    paris.namespace.wait("the cluster to be healthy again", unhealthy)
    assert not {paris.namespace.pod(pod).status.pod_ip for pod in pods} & {pod.status.pod_ip for pod in first}
