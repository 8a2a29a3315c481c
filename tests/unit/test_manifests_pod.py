# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pods of a site."""

from __future__ import annotations

import json

import pytest
from tests.unit.manifest_sites import one, workload

from ansible_collections.s3ops.garage.plugins.module_utils._manifests.objects import objects
from ansible_collections.s3ops.garage.plugins.module_utils._manifests.pod import image_reference

PASSED = {
    "node_selector": ("nodeSelector", {"disk": "ssd"}),
    "tolerations": ("tolerations", [{"key": "disk", "operator": "Exists"}]),
    "affinity": ("affinity", {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}}),
    "topology_spread_constraints": ("topologySpreadConstraints", [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]),
    "security_context": ("securityContext", {"runAsUser": 7}),
    "service_account_name": ("serviceAccountName", "mine"),
    "priority_class_name": ("priorityClassName", "high"),
    "init_containers": ("initContainers", [{"name": "first", "image": "example.org/first:1"}]),
    "image_pull_secrets": ("imagePullSecrets", [{"name": "registry"}]),
    "termination_grace_period_seconds": ("terminationGracePeriodSeconds", 0),
}
PASSED_TO_GARAGE = {
    "resources": ("resources", {"limits": {"memory": "1Gi"}}),
    "env_from": ("envFrom", [{"configMapRef": {"name": "more"}}]),
    "container_security_context": ("securityContext", {"privileged": False}),
}
ADDED = {"env": "env", "volume_mounts": "volumeMounts"}


def stateful_set(site, name):
    return one(objects(site, "garage", "hash"), "StatefulSet", name)["spec"]


def pod(site, name="paris-storage-0"):
    return stateful_set(site, name)["template"]["spec"]


def garage(site, name="paris-storage-0"):
    return pod(site, name)["containers"][0]


def both(**options):
    """A site whose gateways have these pod options, and whose storage has none."""
    return workload("storage_with_gateways", gateway={"pod": options})


@pytest.mark.requirement("TD-16", "TD-17", "TD-19")
@pytest.mark.parametrize("option", PASSED)
def test_a_setting_reaches_the_pod_as_it_is(option):
    field, value = PASSED[option]
    assert pod(both(**{option: value}), "paris-gateway-1")[field] == value
    assert pod(both(**{option: value})) == pod(workload())


@pytest.mark.requirement("TD-16")
@pytest.mark.parametrize("option", PASSED_TO_GARAGE)
def test_a_setting_reaches_the_container_as_it_is(option):
    field, value = PASSED_TO_GARAGE[option]
    assert garage(both(**{option: value}), "paris-gateway-1")[field] == value
    assert pod(both(**{option: value})) == pod(workload())


@pytest.mark.requirement("TD-16")
@pytest.mark.parametrize(("option", "value"), [
    ("env", [{"name": "RUST_LOG", "value": "debug"}]),
    ("volume_mounts", [{"name": "x", "mountPath": "/x"}]),
])
def test_what_is_added_comes_behind_what_is_there(option, value):
    assert garage(both(**{option: value}), "paris-gateway-1")[ADDED[option]] == garage(both(), "paris-gateway-1")[ADDED[option]] + value


@pytest.mark.requirement("TD-16", "TD-19")
def test_containers_volumes_labels_and_annotations_are_added():
    site = both(containers=[{"name": "sidecar"}], volumes=[{"name": "x", "emptyDir": {}}], labels={"team": "a", "app.kubernetes.io/name": "mine"},
                annotations={"note": "b"})
    template = stateful_set(site, "paris-gateway-0")["template"]
    assert [container["name"] for container in template["spec"]["containers"]] == ["garage", "sidecar"]
    assert template["spec"]["volumes"][-1] == {"name": "x", "emptyDir": {}}
    assert (template["metadata"]["labels"]["team"], template["metadata"]["annotations"]["note"]) == ("a", "b")
    assert template["metadata"]["labels"]["app.kubernetes.io/name"] == "garage"


@pytest.mark.requirement("TD-18")
def test_no_placement_is_made_up():
    assert not {"affinity", "nodeSelector", "tolerations", "topologySpreadConstraints"} & set(pod(workload()))


def test_the_default_pod_is_restricted():
    """What the pod security level of that name asks for."""
    spec = pod(workload())
    container = spec["containers"][0]
    assert spec["securityContext"] == {"runAsNonRoot": True, "runAsUser": 1000, "runAsGroup": 1000, "fsGroup": 1000,
                                       "fsGroupChangePolicy": "OnRootMismatch", "seccompProfile": {"type": "RuntimeDefault"}}
    assert container["securityContext"] == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    assert spec["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec)
    assert all({"configMap", "emptyDir"} & set(volume) for volume in spec["volumes"])
    assert all("hostPort" not in port for port in container["ports"])


@pytest.mark.requirement("FC-109", "TD-40")
def test_secrets_are_referred_to_and_nowhere_else():
    secrets = {"rpc_secret": "5ec2e7" * 10, "admin_token": "admin-5ec2e7", "metrics_token": "metrics-5ec2e7"}
    site = workload("storage_with_gateways", credentials={"secret": "kept", **secrets}, monitoring={"service_monitor": {"interval": "30s"}})
    assert "5ec2e7" not in json.dumps(objects(site, "garage", "hash"))
    assert garage(site)["env"][1:] == [
        {"name": name, "valueFrom": {"secretKeyRef": {"name": "kept", "key": key}}} for name, key in (
            ("GARAGE_RPC_SECRET", "rpc-secret"), ("GARAGE_ADMIN_TOKEN", "admin-token"), ("GARAGE_METRICS_TOKEN", "metrics-token"))]


def test_probes_depend_on_no_quorum():
    for name in ("paris-storage-0", "paris-gateway-0"):
        container = garage(both(), name)
        probes = [container[f"{kind}Probe"] for kind in ("startup", "liveness", "readiness")]
        assert [probe["tcpSocket"]["port"] for probe in probes] == ["admin", "admin", "s3"]
        assert all("httpGet" not in probe for probe in probes)


@pytest.mark.requirement("TD-13")
def test_each_identity_has_a_statefulset_and_edge_gateways_share_one():
    made = objects(workload("storage_with_gateways"), "garage", "hash")
    assert [(node["name"], node["ordinal"], node["pods"]) for node in made["nodes"]] == [
        ("paris-storage-0", 0, ["paris-storage-0-0"]), ("paris-storage-1", 1, ["paris-storage-1-0"]), ("paris-storage-2", 2, ["paris-storage-2-0"]),
        ("paris-gateway-0", 0, ["paris-gateway-0-0"]), ("paris-gateway-1", 1, ["paris-gateway-1-0"])]
    assert {node["objects"][1]["spec"]["replicas"] for node in made["nodes"]} == {1}
    edge = objects(workload("edge_gateways"), "garage", "hash")
    assert [(node["name"], node["ordinal"], node["pods"]) for node in edge["nodes"]] == [
        ("paris-gateway", None, ["paris-gateway-0", "paris-gateway-1"])]
    spec = edge["nodes"][0]["objects"][1]["spec"]
    assert (spec["replicas"], spec["updateStrategy"], spec["podManagementPolicy"]) == (2, {"type": "RollingUpdate"}, "Parallel")


def test_no_pod_is_selected_by_two_statefulsets():
    made = objects(workload("storage_with_gateways"), "garage", "hash")
    sets = [node["objects"][1] for node in made["nodes"]]
    for owner in sets:
        labels = owner["spec"]["template"]["metadata"]["labels"].items()
        assert [each["metadata"]["name"] for each in sets if each["spec"]["selector"]["matchLabels"].items() <= labels] == [owner["metadata"]["name"]]


@pytest.mark.requirement("FC-103")
def test_an_existing_claim_is_used_and_none_made():
    site = workload(storage={"data": {"size": "1Gi", "existing_claims": {"1": "old-disk"}}})
    assert [item["metadata"]["name"] for item in stateful_set(site, "paris-storage-1")["volumeClaimTemplates"]] == ["metadata"]
    assert {"name": "data", "persistentVolumeClaim": {"claimName": "old-disk"}} in pod(site, "paris-storage-1")["volumes"]
    assert len(stateful_set(site, "paris-storage-0")["volumeClaimTemplates"]) == 2


def test_an_ephemeral_volume_is_no_claim():
    site = workload(storage={"metadata": {"empty_dir": {"medium": "Memory"}}, "data": {"empty_dir": {}}})
    assert "volumeClaimTemplates" not in stateful_set(site, "paris-storage-0")
    assert pod(site)["volumes"][2:] == [{"name": "metadata", "emptyDir": {"medium": "Memory"}}, {"name": "data", "emptyDir": {}}]


@pytest.mark.requirement("VG-17")
def test_gateways_have_a_volume_for_their_metadata_and_no_other():
    for name, shape in (("paris-gateway-0", "storage_with_gateways"), ("paris-gateway", "edge_gateways")):
        assert not {volume["name"] for volume in pod(workload(shape), name)["volumes"]} & {"metadata", "data"}
        assert [item["metadata"]["name"] for item in stateful_set(workload(shape), name)["volumeClaimTemplates"]] == ["metadata"]


@pytest.mark.parametrize(("image", "reference"), [
    ({"repository": "a/b", "tag": "v1"}, "a/b:v1"),
    ({"repository": "a/b", "digest": "sha256:0"}, "a/b@sha256:0"),
    ({"repository": "a/b", "tag": "v1", "digest": "sha256:0"}, "a/b:v1@sha256:0"),
])
def test_image_reference(image, reference):
    assert image_reference(image) == reference


def test_pull_secrets_of_image_and_pod_are_used_once_each():
    image = {"repository": "a/b", "tag": "v1", "pull_policy": "Never", "pull_secrets": ["one"]}
    site = workload(image=image, storage={"pod": {"image_pull_secrets": [{"name": "two"}, {"name": "one"}]}})
    assert pod(site)["imagePullSecrets"] == [{"name": "one"}, {"name": "two"}]
    assert garage(site)["imagePullPolicy"] == "Never"
