# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A namespace of a test, and what a test does in it beside the roles that it tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kubernetes import client, utils
from kubernetes.stream import stream

from tools.cluster.forward import Forwards
from tools.cluster.state import Cluster
from tools.cluster.storage import RESTORE_GROUP, RESTORE_KIND, RESTORE_PLURAL, RESTORE_VERSION, Folders
from tools.testbed.errors import SetupError
from tools.testbed.waiting import wait_until

LIMIT_SECONDS = 180.0
# Each look is a request to a server that has two cores with everything else.
PAUSE_SECONDS = 0.2
FINAL_PHASES = {"Succeeded", "Failed"}
LOG_LINES_SHOWN = 20
ADMIN_PORT = 3903


@dataclass(frozen=True)
class Ended:
    """A command that ran in a pod."""

    rc: int
    stdout: str
    stderr: str


class Namespace:
    """One namespace. The values that it returns are those of the Python client, such as V1Pod."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster = cluster
        self.name = name
        self.api = cluster.api()
        self.core = client.CoreV1Api(self.api)
        self.apps = client.AppsV1Api(self.api)
        self.custom = client.CustomObjectsApi(self.api)
        self._forwards = Forwards(self.api)

    def create(self, *definitions: dict[str, Any]) -> None:
        """Create objects of core kinds; the namespace is filled in."""
        for definition in definitions:
            placed = definition | {"metadata": definition["metadata"] | {"namespace": self.name}}
            utils.create_from_dict(self.api, placed)

    def pod(self, name: str) -> client.V1Pod:
        return self.core.read_namespaced_pod(name, self.name)

    def pods(self, selector: str = "") -> list[client.V1Pod]:
        return self.core.list_namespaced_pod(self.name, label_selector=selector).items

    def claim(self, name: str) -> client.V1PersistentVolumeClaim:
        return self.core.read_namespaced_persistent_volume_claim(name, self.name)

    def wait(self, what: str, missing: Callable[[], str | None], limit: float = LIMIT_SECONDS) -> None:
        """Call `missing` until it returns None. Raises SetupError with its last answer."""
        wait_until(what, missing, limit, PAUSE_SECONDS)

    def wait_pod(self, name: str, *phases: str) -> client.V1Pod:
        """Wait until a pod is in one of these phases; `Ready` stands for running and ready.

        Raises SetupError, at once when it can come to none of them any more.
        """

        def missing() -> str | None:
            pod = self.pod(name)
            ready = any(c.type == "Ready" and c.status == "True" for c in pod.status.conditions or [])
            if pod.status.phase in phases or (ready and "Ready" in phases):
                return None
            if pod.status.phase in FINAL_PHASES:
                raise SetupError(f"pod {name} is not {' or '.join(phases)}: {pod_state(pod)}")
            return pod_state(pod)

        self.wait(f"pod {name} to be {' or '.join(phases)}", missing)
        return self.pod(name)

    def wait_pod_gone(self, name: str) -> None:
        """Wait until a deleted pod is no more."""

        def missing() -> str | None:
            return "it is still there" if name in [pod.metadata.name for pod in self.pods()] else None

        self.wait(f"pod {name} to go", missing)

    def wait_claim(self, name: str) -> client.V1PersistentVolumeClaim:
        """Wait until a claim is bound."""
        self.wait(f"claim {name} to be bound", lambda: None if self.claim(name).status.phase == "Bound" else "Pending")
        return self.claim(name)

    def logs(self, pod: str, container: str | None = None, previous: bool = False) -> str:
        options = {"container": container} if container else {}
        # Undecoded: the client would turn it into the text of a Python value.
        answer = self.core.read_namespaced_pod_log(pod, self.name, previous=previous, _preload_content=False, **options)
        return answer.data.decode("utf-8", "replace")

    def run(self, pod: str, *command: str, container: str | None = None) -> Ended:
        """Run a command in a pod, without standard input."""
        options: dict[str, Any] = {"container": container} if container else {}
        running = stream(
            # The library puts its websocket into the client that it is given: one of its own for each call.
            client.CoreV1Api(self.cluster.api()).connect_get_namespaced_pod_exec,
            pod,
            self.name,
            command=list(command),
            stdout=True,
            stderr=True,
            _preload_content=False,
            **options,
        )
        running.run_forever(timeout=LIMIT_SECONDS)
        return Ended(running.returncode, running.read_stdout(timeout=0) or "", running.read_stderr(timeout=0) or "")

    def url(self, pod: str, port: int) -> str:
        """A URL on which this machine reaches a port of a pod, as long as the pod lives."""
        if self.cluster.reaches_pods:
            return f"http://{self.pod(pod).status.pod_ip}:{port}"
        return f"http://127.0.0.1:{self._forwards.to(self.name, pod, port)}"

    def admin_url(self, pod: str) -> str:
        """The Admin API of a pod."""
        return self.url(pod, ADMIN_PORT)

    def take_group_snapshot(self, snapshot: str) -> None:
        """Copy the volume of each bound claim of the namespace, as the members of a snapshot, by claim name.

        Nothing is stopped for it: stop the pods before, or what is written meanwhile may be half in it.
        """
        claims = self.core.list_namespaced_persistent_volume_claim(self.name).items
        volumes = {claim.metadata.name: claim.spec.volume_name for claim in claims if claim.spec.volume_name}
        Folders(self.cluster).take(snapshot, volumes)

    def create_group_restore(self, name: str, snapshot: str) -> dict[str, str]:
        """An object that claims may name as their source; returns the `dataSourceRef` that does."""
        body = {
            "apiVersion": f"{RESTORE_GROUP}/{RESTORE_VERSION}",
            "kind": RESTORE_KIND,
            "metadata": {"name": name},
            "spec": {"snapshot": snapshot},
        }
        self.custom.create_namespaced_custom_object(RESTORE_GROUP, RESTORE_VERSION, self.name, RESTORE_PLURAL, body)
        return {"apiGroup": RESTORE_GROUP, "kind": RESTORE_KIND, "name": name}

    def delete(self) -> None:
        """Ask for its end, without waiting for it."""
        self._forwards.close()
        self.core.delete_namespace(self.name)

    def describe(self) -> str:
        """What a person would look at when something failed: pods, claims, events, the ends of the logs."""
        lines = [f"pod {pod.metadata.name}: {pod_state(pod)}" for pod in self.pods()]
        claims = self.core.list_namespaced_persistent_volume_claim(self.name).items
        lines += [f"claim {claim.metadata.name}: {claim.status.phase}" for claim in claims]
        events = self.core.list_namespaced_event(self.name).items
        lines += [f"event {e.involved_object.kind} {e.involved_object.name}: {e.reason}: {e.message}" for e in events]
        for pod in self.pods():
            for container in pod.status.container_statuses or []:
                lines.append(f"log of {pod.metadata.name}, {container.name}:")
                lines += self._log_end(pod.metadata.name, container.name)
        return "\n".join(lines)

    def _log_end(self, pod: str, container: str) -> list[str]:
        try:
            return self.logs(pod, container).splitlines()[-LOG_LINES_SHOWN:]
        except client.ApiException as refused:
            return [f"(none: {refused.reason})"]


def pod_state(pod: client.V1Pod) -> str:
    """The phase, and the reason of each container that waits or has ended."""
    reasons = [pod.status.phase]
    for container in pod.status.container_statuses or []:
        state = container.state.waiting or container.state.terminated
        if state:
            reasons.append(f"{container.name}: {state.reason}")
    unscheduled = [c.message for c in pod.status.conditions or [] if c.type == "PodScheduled" and c.status == "False"]
    return ", ".join(reasons + unscheduled)


def claim(name: str, storage_class: str, size: str = "1Gi", source: dict[str, str] | None = None) -> dict[str, Any]:
    """A claim as an object."""
    spec: dict[str, Any] = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "resources": {"requests": {"storage": size}},
    }
    if source:
        spec["dataSourceRef"] = source
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def pod(name: str, image: str, command: list[str], claims: dict[str, str] | None = None) -> dict[str, Any]:
    """A pod as an object: one container, claims mounted at paths, never started again."""
    claims = claims or {}
    container = {
        "name": "main",
        "image": image,
        "command": command,
        "volumeMounts": [{"name": claim, "mountPath": path} for claim, path in claims.items()],
    }
    volumes = [{"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in claims]
    spec = {"restartPolicy": "Never", "containers": [container], "volumes": volumes, "terminationGracePeriodSeconds": 1}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"name": name}}, "spec": spec}
