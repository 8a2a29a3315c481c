# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Claims as they are wanted and as they are: what may not change, and what can be patched. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .._units import parse_size


@dataclass(frozen=True)
class Claim:
    """What a site file says of a claim. ``source``: kind, API group, name. ``size`` in bytes; ``size_text`` as it is written."""

    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    modes: tuple[str, ...]
    size: int
    size_text: str
    storage_class: str | None
    selector: Mapping[str, Any] | None
    attributes_class: str | None
    source: tuple[str, str, str] | None

    @classmethod
    def from_api(cls, item: Mapping) -> Claim:
        """From a PersistentVolumeClaim or a claim template, as Kubernetes or ``_manifests`` has it."""
        metadata, spec = item["metadata"], item["spec"]
        source, size = spec.get("dataSourceRef"), spec["resources"]["requests"]["storage"]
        return cls(
            labels=metadata.get("labels") or {},
            annotations=metadata.get("annotations") or {},
            modes=tuple(spec.get("accessModes") or ()),
            size=parse_size(size, milli=True),
            size_text=str(size),
            storage_class=spec.get("storageClassName"),
            selector=spec.get("selector"),
            attributes_class=spec.get("volumeAttributesClassName"),
            source=(source["kind"], source.get("apiGroup") or "", source["name"]) if source else None,
        )

    def same_template(self, other: Claim) -> bool:
        """Whether a StatefulSet with one of them as template takes the other: it takes no change at all."""
        parts = ("labels", "annotations", "modes", "size", "storage_class", "selector", "attributes_class", "source")
        return all(getattr(self, part) == getattr(other, part) for part in parts)


def source_text(source: tuple[str, str, str] | None) -> str:
    """``GroupRestore.restore.example.org garage-data``."""
    return f"{source[0]}.{source[1]} {source[2]}" if source else "no source"


def claim_faults(name: str, wanted: Claim, live: Claim) -> Iterator[str]:
    """Why claim ``name`` cannot become what is wanted (VG-21, VG-34, OP-014)."""
    if wanted.source != live.source:
        yield (f"claim {name} was made with {source_text(live.source)}, the site file says {source_text(wanted.source)}: a claim is filled once, when"
               " it is made; put data_source_ref back as it was, or delete the claim with what is on it if it shall be filled anew")
    if wanted.size < live.size:
        yield f"claim {name} has {live.size_text}, the site file says {wanted.size_text}: a claim never shrinks; set size: {live.size_text}"
    if wanted.storage_class is not None and wanted.storage_class != live.storage_class:
        yield f"claim {name} is of storage class {live.storage_class!r}, the site file says {wanted.storage_class!r}: {_STAYS}"
    if wanted.modes != live.modes:
        yield f"claim {name} has access modes {', '.join(live.modes)}, the site file says {', '.join(wanted.modes)}: {_STAYS}"
    if wanted.selector != live.selector:
        yield f"claim {name} has selector {live.selector or 'none'}, the site file says {wanted.selector or 'none'}: {_STAYS}"


_STAYS = "that of a claim does not change; set what it has, or move the node to a new one"


def claim_patch(name: str, namespace: str, wanted: Claim, live: Claim) -> dict | None:
    """What to patch claim ``name`` with, or None. Labels and annotations that others put on it stay."""
    metadata: dict[str, Any] = {"name": name, "namespace": namespace}
    for part in ("labels", "annotations"):
        have = getattr(live, part)
        if missing := {key: value for key, value in getattr(wanted, part).items() if have.get(key) != value}:
            metadata[part] = missing
    spec: dict[str, Any] = {}
    if wanted.size > live.size:
        spec["resources"] = {"requests": {"storage": wanted.size_text}}
    if wanted.attributes_class and wanted.attributes_class != live.attributes_class:
        spec["volumeAttributesClassName"] = wanted.attributes_class
    if not spec and len(metadata) == 2:
        return None
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, **({"spec": spec} if spec else {})}
