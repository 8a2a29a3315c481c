# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Volumes for the tests: hostPath folders, made for claims, filled from group snapshots, removed with their volumes.

Runs as a process of its own, `python -m tools.cluster.storage HOME`, as long as its cluster does. A claim's
`dataSourceRef` may name a GroupRestore, `spec: {snapshot: NAME}`: then its volume begins as a copy of the snapshot's
member of the claim's name. While there is no such member the claim stays Pending, as with every populator.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import urllib3
from kubernetes import client, utils

from tools.cluster.state import Cluster
from tools.testbed.errors import SetupError

PROVISIONER = "storage.restore.example.org"
STORAGE_CLASS = "garage-test"
RESTORE_GROUP, RESTORE_VERSION, RESTORE_KIND, RESTORE_PLURAL = (
    "restore.example.org",
    "v1",
    "GroupRestore",
    "grouprestores",
)
PAUSE_SECONDS = 0.3
ASKED_OF = "volume.kubernetes.io/storage-provisioner"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
CONFLICT, NOT_FOUND = 409, 404


class Folders:
    """The folders of volumes and of snapshots, on the node's file system."""

    def __init__(self, cluster: Cluster) -> None:
        self._command = cluster.node_command
        self.root = cluster.storage_folder

    def volume(self, name: str) -> str:
        return f"{self.root}/volumes/{name}"

    def make(self, volume: str, member: str | None = None) -> None:
        """A folder for a volume, empty or a copy of a snapshot's member. Not half filled, whenever it is interrupted."""
        target = self.volume(volume)
        if self._is_there(target):
            return
        fresh = f"{target}.part"
        self.remove(fresh)
        self._run("mkdir", "-p", f"{self.root}/volumes")
        if member:
            self._run("cp", "-a", member, fresh)
        else:
            self._run("mkdir", fresh)
        # No storage driver is here to give the folder to the pod's group.
        self._run("chmod", "0777", fresh)
        self._run("mv", "-T", fresh, target)

    def member(self, snapshot: str, claim: str) -> str | None:
        """The folder that a snapshot keeps of a claim, or None."""
        path = f"{self.root}/snapshots/{snapshot}/{claim}"
        return path if self._is_there(path) else None

    def take(self, snapshot: str, volumes: dict[str, str]) -> None:
        """Copy volumes, given by claim name, as the members of a new snapshot."""
        target = f"{self.root}/snapshots/{snapshot}"
        if self._is_there(target):
            raise SetupError(f"there is a snapshot {snapshot} already")
        self._run("mkdir", "-p", f"{target}.part")
        for claim, volume in volumes.items():
            self._run("cp", "-a", self.volume(volume), f"{target}.part/{claim}")
        self._run("mv", "-T", f"{target}.part", target)

    def remove(self, path: str) -> None:
        self._run("rm", "-rf", "--one-file-system", path)

    def _is_there(self, path: str) -> bool:
        return subprocess.run([*self._command, "test", "-e", path], capture_output=True, check=False).returncode == 0

    def _run(self, *command: str) -> None:
        done = subprocess.run([*self._command, *command], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SetupError(f"`{' '.join(command)}` on the node failed: {done.stderr.strip()}")


class Provisioner:
    """What a storage driver and a volume populator do, for one node."""

    def __init__(self, cluster: Cluster) -> None:
        api = cluster.api()
        self._core = client.CoreV1Api(api)
        self._custom = client.CustomObjectsApi(api)
        self._folders = Folders(cluster)

    def step(self) -> None:
        """Do what claims and volumes ask for now."""
        volumes = {volume.metadata.name: volume for volume in self._core.list_persistent_volume().items}
        for claim in self._core.list_persistent_volume_claim_for_all_namespaces().items:
            if (claim.metadata.annotations or {}).get(ASKED_OF) != PROVISIONER or claim.metadata.deletion_timestamp:
                continue
            if not claim.spec.volume_name:
                self._provide(claim)
            elif claim.spec.volume_name in volumes and claim.status.capacity:
                self._grow(claim, volumes[claim.spec.volume_name])
        for volume in volumes.values():
            if (volume.metadata.annotations or {}).get(PROVISIONED_BY) == PROVISIONER:
                self._reclaim(volume)

    def _provide(self, claim: Any) -> None:
        source = claim.spec.data_source_ref
        member = None
        if source:
            member = self._member(claim, source)
            if not member:
                return
        name = f"pvc-{claim.metadata.uid}"
        self._folders.make(name, member)
        try:
            self._core.create_persistent_volume(_volume(name, self._folders.volume(name), claim))
        except client.ApiException as refused:
            if refused.status != CONFLICT:  # made in an earlier step, and not bound yet
                raise

    def _member(self, claim: Any, source: Any) -> str | None:
        if (source.api_group, source.kind) != (RESTORE_GROUP, RESTORE_KIND) or source.namespace:
            return None
        place = (RESTORE_GROUP, RESTORE_VERSION, claim.metadata.namespace, RESTORE_PLURAL)
        try:
            restore = self._custom.get_namespaced_custom_object(*place, source.name)
        except client.ApiException as refused:
            if refused.status == NOT_FOUND:
                return None
            raise
        return self._folders.member(restore["spec"]["snapshot"], claim.metadata.name)

    def _grow(self, claim: Any, volume: Any) -> None:
        wanted = claim.spec.resources.requests["storage"]
        if claim.status.capacity.get("storage") == wanted:
            return
        # A folder has no size; only the numbers follow.
        self._core.patch_persistent_volume(volume.metadata.name, {"spec": {"capacity": {"storage": wanted}}})
        grown = {"status": {"capacity": {"storage": wanted}}}
        self._core.patch_namespaced_persistent_volume_claim_status(claim.metadata.name, claim.metadata.namespace, grown)

    def _reclaim(self, volume: Any) -> None:
        if volume.status.phase != "Released" or volume.spec.persistent_volume_reclaim_policy != "Delete":
            return
        if volume.metadata.deletion_timestamp:
            return
        self._folders.remove(volume.spec.host_path.path)
        self._core.delete_persistent_volume(volume.metadata.name)


def objects() -> list[dict[str, Any]]:
    """What the cluster must know: the class of the volumes and the kind of the source."""
    schema = {
        "type": "object",
        "required": ["spec"],
        "properties": {
            "spec": {
                "type": "object",
                "required": ["snapshot"],
                "properties": {"snapshot": {"type": "string", "minLength": 1}},
            }
        },
    }
    return [
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": STORAGE_CLASS},
            "provisioner": PROVISIONER,
            "reclaimPolicy": "Delete",
            "volumeBindingMode": "Immediate",
            "allowVolumeExpansion": True,
        },
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{RESTORE_PLURAL}.{RESTORE_GROUP}"},
            "spec": {
                "group": RESTORE_GROUP,
                "scope": "Namespaced",
                "names": {"kind": RESTORE_KIND, "plural": RESTORE_PLURAL, "singular": RESTORE_KIND.lower()},
                "versions": [
                    {"name": RESTORE_VERSION, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
                ],
            },
        },
    ]


def install(api: client.ApiClient) -> list[str]:
    """Create what the cluster must know; the names of what was not there before."""
    created = []
    for definition in objects():
        try:
            utils.create_from_dict(api, definition)
            created.append(definition["metadata"]["name"])
        except utils.FailToCreateError as refused:
            if any(each.status != CONFLICT for each in refused.api_exceptions):
                raise
    return created


def uninstall(api: client.ApiClient, created: list[str]) -> None:
    """Take away again what install() has created."""
    for name in created:
        if name == STORAGE_CLASS:
            client.StorageV1Api(api).delete_storage_class(name)
        else:
            client.ApiextensionsV1Api(api).delete_custom_resource_definition(name)


def _volume(name: str, path: str, claim: Any) -> dict[str, Any]:
    reference = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": claim.metadata.namespace,
        "name": claim.metadata.name,
        "uid": claim.metadata.uid,
    }
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "annotations": {PROVISIONED_BY: PROVISIONER}},
        "spec": {
            "capacity": {"storage": claim.spec.resources.requests["storage"]},
            "accessModes": claim.spec.access_modes,
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": claim.spec.storage_class_name,
            "volumeMode": "Filesystem",
            "hostPath": {"path": path, "type": "Directory"},
            "claimRef": reference,
        },
    }


def main() -> int:
    home = Path(sys.argv[1])
    cluster = Cluster.load(home)
    provisioner = Provisioner(cluster)
    # Without its cluster it has nothing to do: it ends, also when nobody has told it to.
    while (now := Cluster.find(home)) and now.identity == cluster.identity:
        try:
            provisioner.step()
        except (client.ApiException, urllib3.exceptions.HTTPError, SetupError) as failed:
            # The API server may be restarted by a test, a claim may go while it is served: the next step sees.
            print(f"{type(failed).__name__}: {failed}", flush=True)
        time.sleep(PAUSE_SECONDS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
