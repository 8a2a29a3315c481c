# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pods of a site. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .names import CHECKSUM, PORTS, Unit, account_name, secret_name
from .volumes import mounts, pod_volumes

CONFIG_DIR = "/etc/garage"
CONFIG_FILE = "garage.toml"
CONTAINER = "garage"
ENVIRONMENT = {"GARAGE_RPC_SECRET": "rpc-secret", "GARAGE_ADMIN_TOKEN": "admin-token", "GARAGE_METRICS_TOKEN": "metrics-token"}
# What the pod security level "restricted" asks for. A volume with millions of blocks is not gone through again at each start.
POD_SECURITY = {
    "runAsNonRoot": True, "runAsUser": 1000, "runAsGroup": 1000, "fsGroup": 1000, "fsGroupChangePolicy": "OnRootMismatch",
    "seccompProfile": {"type": "RuntimeDefault"},
}
CONTAINER_SECURITY = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
PASSED = {
    "node_selector": "nodeSelector", "tolerations": "tolerations", "affinity": "affinity", "topology_spread_constraints": "topologySpreadConstraints",
    "priority_class_name": "priorityClassName", "init_containers": "initContainers",
    "termination_grace_period_seconds": "terminationGracePeriodSeconds",
}


def pod_template(workload: Mapping, unit: Unit, checksum: str) -> dict:
    """The pod template of a unit."""
    pod = unit.section["pod"]
    return {
        "metadata": {
            "labels": {**pod.get("labels", {}), **unit.labels},
            "annotations": {**pod.get("annotations", {}), CHECKSUM: checksum},
        },
        "spec": _spec(workload, unit, pod),
    }


def is_ordinal_mounted(unit: Unit) -> bool:
    """Whether the pods of a unit differ in their configuration, so that each mounts a file of its own."""
    return unit.ordinal is None and "{ordinal}" in unit.section.get("rpc_public_addr", "")


def config_file(unit: Unit, ordinal: int) -> str:
    """The key of a pod's configuration in the ConfigMap of its unit."""
    return f"{unit.name}-{ordinal}.toml" if is_ordinal_mounted(unit) else CONFIG_FILE


def _spec(workload: Mapping, unit: Unit, pod: Mapping) -> dict:
    named = [*({"name": name} for name in workload["image"].get("pull_secrets", ())), *pod.get("image_pull_secrets", ())]
    secrets = list({item["name"]: item for item in named}.values())
    return {
        "serviceAccountName": pod.get("service_account_name") or account_name(unit.site),
        # Only discovery through Kubernetes talks to its API.
        "automountServiceAccountToken": "kubernetes_discovery" in workload["config"],
        "securityContext": pod.get("security_context", POD_SECURITY),
        "containers": [_container(workload, unit, pod), *pod.get("containers", ())],
        "volumes": [
            {"name": "config", "configMap": {"name": unit.name}},
            {"name": "tmp", "emptyDir": {}},
            *pod_volumes(unit),
            *pod.get("volumes", ()),
        ],
        **({"imagePullSecrets": secrets} if secrets else {}),
        **{field: pod[option] for option, field in PASSED.items() if option in pod},
    }


def _container(workload: Mapping, unit: Unit, pod: Mapping) -> dict:
    config = workload["config"]
    ports = [name for name in PORTS if name not in ("web", "k2v") or {"web": "s3_web", "k2v": "k2v_api"}[name] in config]
    return {
        "name": CONTAINER,
        "image": image_reference(workload["image"]),
        "imagePullPolicy": workload["image"]["pull_policy"],
        "command": ["/garage", "-c", f"{CONFIG_DIR}/{CONFIG_FILE}", "server"],
        "env": [*_environment(workload), *pod.get("env", ())],
        "ports": [{"name": name, "containerPort": PORTS[name], "protocol": "TCP"} for name in ports],
        "securityContext": pod.get("container_security_context", CONTAINER_SECURITY),
        "volumeMounts": [_config_mount(unit), {"name": "tmp", "mountPath": "/tmp"}, *mounts(unit), *pod.get("volume_mounts", ())],
        **_probes(),
        **{field: pod[option] for option, field in (("env_from", "envFrom"), ("resources", "resources")) if option in pod},
    }


def image_reference(image: Mapping) -> str:
    """``repository:tag@digest``, with what is given of it."""
    return image["repository"] + (f":{image['tag']}" if image.get("tag") else "") + (f"@{image['digest']}" if image.get("digest") else "")


def _environment(workload: Mapping) -> list[dict]:
    secret = secret_name(workload)
    found: list[dict[str, Any]] = [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    # The group may read a mounted Secret, which Garage refuses; it takes secrets from the environment.
    return found + [{"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}} for name, key in ENVIRONMENT.items()]


def _config_mount(unit: Unit) -> dict:
    if is_ordinal_mounted(unit):
        return {"name": "config", "mountPath": f"{CONFIG_DIR}/{CONFIG_FILE}", "subPathExpr": "$(POD_NAME).toml", "readOnly": True}
    return {"name": "config", "mountPath": CONFIG_DIR, "readOnly": True}


def _probes() -> dict:
    # /health is 503 without quorum: as a probe it would restart or hide the nodes just when the cluster comes together again.
    return {
        "startupProbe": {"tcpSocket": {"port": "admin"}, "periodSeconds": 2, "failureThreshold": 150},
        "livenessProbe": {"tcpSocket": {"port": "admin"}, "periodSeconds": 10, "timeoutSeconds": 5, "failureThreshold": 6},
        "readinessProbe": {"tcpSocket": {"port": "s3"}, "periodSeconds": 5, "timeoutSeconds": 5, "failureThreshold": 3},
    }
