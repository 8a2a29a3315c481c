# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A site on the cluster of the tests, brought to its site file by the playbook as a user runs it."""

from __future__ import annotations

import base64
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kubernetes import client

from tests.garage.playbook_run import Run, run_playbook
from tests.kubernetes.api_proxy import ApiProxy
from tests.kubernetes.namespaces import Namespace
from tools.cluster import namespaces
from tools.cluster.state import Cluster
from tools.testbed.waiting import wait_until

PLAYBOOK = "s3ops.garage.site"
# Longer than any pod takes on a machine that does other things as well. A scheduler that has missed that a claim is bound looks again after
# five minutes.
POD_TIMEOUT = 600
# How often pods are looked at while a run changes them.
LOOK_SECONDS = 0.5


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings merged in depth; None takes a key away."""
    found = dict(base)
    for name, value in over.items():
        if isinstance(value, Mapping) and isinstance(found.get(name), Mapping):
            found[name] = merged(found[name], value)
        else:
            found[name] = value
    return {name: value for name, value in found.items() if value is not None}


def fitted(cluster: Cluster) -> dict[str, str]:
    """What stands in the place of the sizes of a guide: small ones, of a class that the cluster has."""
    return {f"size: {shown}": f"size: {size}, storage_class: {cluster.storage_class}" for shown, size in
            (("1Gi", "100Mi"), ("10Gi", "100Mi"), ("100Gi", "1Gi"))}


class Site:
    """A site in a namespace of its own. `namespace` looks at it beside the play; `proxy` notes what the play asks of the API."""

    def __init__(self, cluster: Cluster, folder: Path, name: str = "paris", namespace: str | None = None) -> None:
        self.cluster = cluster
        self.name = name
        self.proxy = ApiProxy(cluster, folder)
        self.namespace = Namespace(cluster, namespace or f"{name}-{secrets.token_hex(3)}")
        volume = {"storage_class": cluster.storage_class}
        self.file: dict[str, Any] = {
            "name": name,
            "zone": name,
            "kubernetes": {"namespace": self.namespace.name, "kubeconfig": str(self.proxy.kubeconfig)},
            "replication": {"factor": 3},
            "storage": {"replicas": 3, "metadata": {"size": "100Mi", **volume}, "data": {"size": "1Gi", **volume}},
        }

    def close(self) -> None:
        """Ask for the end of the namespace."""
        self.proxy.close()
        core = client.CoreV1Api(self.cluster.api())
        if self.namespace.name in [item.metadata.name for item in core.list_namespace().items]:
            # A test run that is killed before leaves it to the next one to delete.
            core.patch_namespace(self.namespace.name, {"metadata": {"labels": {namespaces.LABEL: namespaces.owner()}}})
            core.delete_namespace(self.namespace.name)

    def inventory(self, file: Mapping[str, Any] | None = None, **variables: Any) -> dict[str, Any]:
        host = {"garage_site": dict(file or self.file), "garage_pod_timeout": POD_TIMEOUT, "garage_wait_timeout": POD_TIMEOUT, **variables}
        settings = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
        return {"all": {"vars": settings, "hosts": {self.name: host}}}

    def run(self, *options: str, **variables: Any) -> Run:
        """One run of the playbook on the site file as it is."""
        return run_playbook(PLAYBOOK, self.inventory(**variables), *options)

    def change(self, over: Mapping[str, Any]) -> None:
        """Change the site file."""
        self.file = merged(self.file, over)

    def pods(self) -> dict[str, client.V1Pod]:
        return {pod.metadata.name: pod for pod in self.namespace.pods(f"app.kubernetes.io/instance={self.name}")}

    def uids(self) -> dict[str, str]:
        return {name: pod.metadata.uid for name, pod in self.pods().items()}

    def names(self, kind: str) -> set[str]:
        """Names of the objects of a kind that the collection has made here."""
        space, selector = self.namespace, "app.kubernetes.io/managed-by=s3ops.garage"
        lists = {
            "StatefulSet": space.apps.list_namespaced_stateful_set,
            "ConfigMap": space.core.list_namespaced_config_map,
            "Service": space.core.list_namespaced_service,
            "Secret": space.core.list_namespaced_secret,
            "PodDisruptionBudget": client.PolicyV1Api(space.api).list_namespaced_pod_disruption_budget,
        }
        return {item.metadata.name for item in lists[kind](space.name, label_selector=selector).items}

    def secret_values(self) -> dict[str, str]:
        """What its Secret holds."""
        data = self.namespace.core.read_namespaced_secret(f"{self.name}-garage", self.namespace.name).data
        return {name: base64.b64decode(value).decode() for name, value in data.items()}

    def claims(self) -> dict[str, client.V1PersistentVolumeClaim]:
        found = self.namespace.core.list_namespaced_persistent_volume_claim(self.namespace.name).items
        return {claim.metadata.name: claim for claim in found}

    @contextmanager
    def watch(self) -> Iterator[Watch]:
        """Look at the pods all the time meanwhile."""
        watch = Watch(self)
        thread = threading.Thread(target=watch.run, daemon=True)
        thread.start()
        try:
            yield watch
        finally:
            watch.ended.set()
            thread.join()

    def wait_gone(self) -> None:
        """Wait until no pod of the site is left."""
        wait_until("the end of the pods", lambda: ", ".join(self.pods()) or None, POD_TIMEOUT, pause=LOOK_SECONDS)


class Watch:
    """Which pods were not ready at the same time, and in which order pods were replaced."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.before = site.uids()
        self.most_down = 0
        self.replaced: list[str] = []
        self.ended = threading.Event()

    def run(self) -> None:
        seen = dict(self.before)
        while not self.ended.is_set():
            pods = self.site.pods()
            ready = {name for name, pod in pods.items() if is_ready(pod)}
            self.most_down = max(self.most_down, len(set(self.before) - ready))
            for name, pod in pods.items():
                if seen.get(name) != pod.metadata.uid:
                    seen[name] = pod.metadata.uid
                    self.replaced.append(name)
            time.sleep(LOOK_SECONDS)


def shown(run: Run, *secret_values: Mapping[str, str]) -> bool:
    """Whether a run printed any of these, as it is or as a Secret holds it."""
    values = [value for each in secret_values for value in each.values()]
    return any(form in run.output for value in values for form in (value, base64.b64encode(value.encode()).decode()))


def is_ready(pod: client.V1Pod) -> bool:
    """Whether Kubernetes takes a pod for ready, and does not end it."""
    conditions = pod.status.conditions or []
    return not pod.metadata.deletion_timestamp and any(row.type == "Ready" and row.status == "True" for row in conditions)
