# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The volumes of a node: claims, mounts, and what Garage calls them. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._units import parse_size
from .names import GATEWAY, Unit

METADATA_DIR = "/var/lib/garage/meta"
DATA_DIR = "/var/lib/garage/data"
# Gateways store no blocks, but Garage does not start where the marker is gone that its metadata knows of the data folder (seen on 2.5.0). So the two
# stay together, also when a pod is replaced or a claim is filled from a snapshot.
GATEWAY_DATA_DIR = f"{METADATA_DIR}/data"
UNKNOWN_SIZE = 10 * 2**30  # of a volume whose size nothing says (OP-102)


@dataclass(frozen=True)
class Volume:
    """One volume of a node. ``options`` are those of the site file; ``data`` tells data from metadata."""

    name: str
    path: str
    options: Mapping[str, Any]
    data: bool

    @property
    def size(self) -> int | None:
        """Bytes, or None when nothing says."""
        return parse_size(self.options["size"], milli=True) if "size" in self.options else None

    @property
    def is_claimed(self) -> bool:
        return "empty_dir" not in self.options

    def existing_claim(self, ordinal: int | None) -> str | None:
        """The claim that a user made for this volume of node ``ordinal``."""
        return self.options.get("existing_claims", {}).get(str(ordinal))


def volumes(unit: Unit) -> tuple[Volume, ...]:
    """The volumes of each pod of a unit, metadata first. Gateways have no other."""
    section = unit.section
    found = [Volume("metadata", METADATA_DIR, section["metadata"], False)]
    if unit.component == GATEWAY:
        return tuple(found)
    data = section["data"]
    if "paths" in data:
        found += [Volume(f"data-{index}", f"{DATA_DIR}/{path.get('name', index)}", path, True) for index, path in enumerate(data["paths"])]
    else:
        found.append(Volume("data", DATA_DIR, data, True))
    return tuple(found)


def claim_templates(unit: Unit) -> list[dict]:
    """The claims that Kubernetes makes for each pod of a unit."""
    return [_template(unit, volume) for volume in volumes(unit) if volume.is_claimed and not volume.existing_claim(unit.ordinal)]


def claim_names(unit: Unit) -> list[str]:
    """The claims of a unit's pods, by the names Kubernetes gives them."""
    return [f"{template['metadata']['name']}-{pod}" for pod in unit.pods for template in claim_templates(unit)]


def pod_volumes(unit: Unit) -> list[dict]:
    """The volumes of the pod template that do not come from a claim template."""
    found = []
    for volume in volumes(unit):
        if claim := volume.existing_claim(unit.ordinal):
            found.append({"name": volume.name, "persistentVolumeClaim": {"claimName": claim}})
        elif not volume.is_claimed:
            found.append({"name": volume.name, "emptyDir": volume.options["empty_dir"]})
    return found


def mounts(unit: Unit) -> list[dict]:
    """Where the container finds them."""
    return [{"name": volume.name, "mountPath": volume.path} for volume in volumes(unit)]


def data_dir(unit: Unit) -> str | list[dict]:
    """``data_dir`` of garage.toml: a path, or paths with capacities, by which Garage spreads blocks over disks of different size."""
    if unit.component == GATEWAY:
        return GATEWAY_DATA_DIR
    found = [volume for volume in volumes(unit) if volume.data]
    if len(found) == 1 and found[0].path == DATA_DIR:
        return DATA_DIR
    return [_disk(volume) for volume in found]


def _disk(volume: Volume) -> dict:
    if volume.options.get("read_only"):
        return {"path": volume.path, "read_only": True}
    return {"path": volume.path, "capacity": str(volume.size or UNKNOWN_SIZE)}


def _template(unit: Unit, volume: Volume) -> dict:
    options = volume.options
    spec: dict[str, Any] = {
        "accessModes": options.get("access_modes", ["ReadWriteOnce"]),
        "resources": {"requests": {"storage": str(options["size"])}},
    }
    for option, field in (("storage_class", "storageClassName"), ("selector", "selector"), ("volume_attributes_class", "volumeAttributesClassName")):
        if option in options:
            spec[field] = options[option]
    if source := options.get("data_source_ref"):
        spec["dataSourceRef"] = {"apiGroup": source["api_group"], "kind": source["kind"], "name": source["name"]}
    named = {"name": volume.name, "labels": {**options.get("labels", {}), **unit.labels}}
    if annotations := options.get("annotations"):
        named["annotations"] = annotations
    return {"metadata": named, "spec": spec}
