# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The roles of a workload's nodes in the layout. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from .._errors import InputError
from .._manifests.names import STORAGE, Unit, units
from .._manifests.volumes import UNKNOWN_SIZE, volumes
from .._models.cluster import RPC_ADDRESS_TAG
from .._units import parse_size

LEAST_CAPACITY = 1024  # bytes; Garage takes no less


def layout_roles(workload: Mapping, identities: Sequence[Mapping]) -> list[dict]:
    """``roles`` of the module layout, in the order of the pods.

    ``identities``: {pod, id} of each pod whose Garage said its node id, other keys aside. A node of ours that the site file does not have any more
    is declared absent. Raises InputError when two pods have one node id (VG-02).
    """
    ids = {row["pod"]: row["id"] for row in identities if row.get("id")}
    if faults := list(_doubled(ids)):
        raise InputError(faults, hint="keep one of them, and give the other a volume of its own")
    wanted = {pod: _role(workload, unit, ordinal) for unit in units(workload) for pod, ordinal in zip(unit.pods, unit.pod_ordinals)}
    roles = [{"node": ids[pod], **role, "tags": [*role["tags"], pod]} for pod, role in wanted.items() if pod in ids]
    surplus = [{"node": ids[pod], "state": "absent"} for pod in sorted(ids) if pod not in wanted and _is_own_pod(workload["name"], pod)]
    return roles + surplus


def capacity(unit: Unit) -> int:
    """Bytes of a storage node: what the site file says, else its data volumes less the reserve (OP-102)."""
    section = unit.section
    if "capacity" in section:
        return max(parse_size(section["capacity"]), LEAST_CAPACITY)
    sizes = [volume.size or UNKNOWN_SIZE for volume in volumes(unit) if volume.data and not volume.options.get("read_only")]
    return max(sum(sizes) * (100 - section["capacity_reserve_percent"]) // 100, LEAST_CAPACITY)


def _role(workload: Mapping, unit: Unit, ordinal: int) -> dict:
    address = unit.section.get("rpc_public_addr")
    tags = [*unit.section["tags"], *([RPC_ADDRESS_TAG + address.replace("{ordinal}", str(ordinal))] if address else [])]
    kind = {"capacity": capacity(unit)} if unit.component == STORAGE else {"gateway": True}
    return {"zone": workload["zone"], **kind, "tags": tags}


def _doubled(ids: Mapping[str, str]) -> Iterator[str]:
    for pod, node in ids.items():
        others = [other for other, found in ids.items() if found == node]
        if len(others) > 1 and others[0] == pod:
            yield f"pods {', '.join(others)} have one node id, {node[:16]}: their metadata is a copy of one disk"


def _is_own_pod(site: str, pod: str) -> bool:
    return bool(re.fullmatch(rf"{re.escape(site)}-(storage-[0-9]+-0|gateway-[0-9]+(-0)?)", pod))
