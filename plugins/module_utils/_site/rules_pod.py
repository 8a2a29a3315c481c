# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rules for what a user adds to the pods of a site: names, ports and places that are taken. Pure. Private: not for use outside of the collection.

Each function returns faults as text and copes with values of a wrong type, which the schema reports.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from .shape import entries, section

CONTAINER = "garage"
PORTS = range(3900, 3905)
_SECRETS = ("RPC_SECRET", "ADMIN_TOKEN", "METRICS_TOKEN")
ENVIRONMENT = ("POD_NAME", "GARAGE_CONFIG_FILE", *(f"GARAGE_{name}{suffix}" for name in _SECRETS for suffix in ("", "_FILE")))
METADATA_DIR = "/var/lib/garage/meta"
FOLDERS = ("/etc/garage", METADATA_DIR, "/var/lib/garage/data")
VOLUME = re.compile(r"config|tmp|metadata|data(-[0-9]+)?")
# By these the objects of a site find one another.
MARKS = re.compile(r"app\.kubernetes\.io/(name|instance|component|managed-by)|(s3ops\.garage|statefulset\.kubernetes\.io)/.*|controller-revision-hash")
MOST_BYTES = 64 * 1024  # of all that is passed through to one pod (OP-043)


def pod_faults(site: Mapping) -> Iterator[str]:
    """All faults of the pod sections."""
    for group in ("storage", "gateway"):
        pod, where = section(section(site, group), "pod"), f"garage_site.{group}.pod"
        if not pod:
            continue
        yield from _environment(pod, where)
        yield from _containers(pod, where)
        yield from _volumes(pod, where)
        yield from mark_faults(pod, where)
        size = len(json.dumps(pod, default=str))
        if size > MOST_BYTES:
            yield f"{where}: {size} bytes; at most {MOST_BYTES} are passed through to a pod"


def mark_faults(place: Mapping, where: str) -> Iterator[str]:
    """Labels and annotations that the roles set themselves."""
    for name in ("labels", "annotations"):
        for key in section(place, name):
            if MARKS.fullmatch(str(key)):
                yield f"{where}.{name}: {str(key)[:80]!r} is set by the roles, which find their objects by it; choose another"


def _environment(pod: Mapping, where: str) -> Iterator[str]:
    names = [variable.get("name") for _index, variable in entries(pod, "env")]
    for index, name in enumerate(names):
        if name in ENVIRONMENT:
            yield f"{where}.env[{index}].name: {name} is set by the roles; {_instead(str(name))}"
    yield from _twice(names, f"{where}.env")
    for index, source in entries(pod, "env_from"):
        prefix = source.get("prefix")
        if isinstance(prefix, str) and prefix.startswith("GARAGE_"):
            yield f"{where}.env_from[{index}].prefix: {prefix[:80]!r} could set what the roles set; name the variables in env"


def _instead(name: str) -> str:
    option = name.removeprefix("GARAGE_").lower()
    return f"set credentials.{option}" if option.startswith(("rpc_", "admin_", "metrics_")) else "leave it out"


def _containers(pod: Mapping, where: str) -> Iterator[str]:
    names: list[Any] = [CONTAINER]
    for option in ("init_containers", "containers"):
        for index, container in entries(pod, option):
            place = f"{where}.{option}[{index}]"
            if container.get("name") == CONTAINER:
                yield f"{place}.name: {CONTAINER} is the container that runs Garage; choose another name"
            else:
                names.append(container.get("name"))
            if "volumeDevices" in container:
                yield f"{place}.volumeDevices: block devices are not passed through; use volumeMounts"
            for port_index, port in entries(container, "ports"):
                if port.get("hostPort"):
                    yield f"{place}.ports[{port_index}].hostPort: ports of the Kubernetes node are not taken; use a Service"
                if port.get("containerPort") in PORTS:
                    yield f"{place}.ports[{port_index}].containerPort: Garage has the ports {PORTS[0]} to {PORTS[-1]} of its pod; choose another"
    yield from _twice(names, where, "container")


def _volumes(pod: Mapping, where: str) -> Iterator[str]:
    names = [volume.get("name") for _index, volume in entries(pod, "volumes")]
    for index, name in enumerate(names):
        if isinstance(name, str) and VOLUME.fullmatch(name):
            yield f"{where}.volumes[{index}].name: {name!r} is a volume of the node itself; choose another name"
    yield from _twice(names, f"{where}.volumes")
    paths = ["/tmp"]
    for index, mount in entries(pod, "volume_mounts"):
        place, path, name = f"{where}.volume_mounts[{index}]", mount.get("mountPath"), mount.get("name")
        if isinstance(name, str) and name not in names and not VOLUME.fullmatch(name):
            yield f"{place}.name: there is no volume {name[:80]!r}; add it to volumes"
        if not isinstance(path, str):
            yield f"{place}.mountPath: is missing; it is the path in the container"
        elif any(f"{path.rstrip('/')}/".startswith(f"{folder}/") for folder in FOLDERS) or path.rstrip("/") == "":
            yield f"{place}.mountPath: {path[:80]!r} is where the node itself has its volumes; choose another"
        else:
            paths.append(path.rstrip("/"))
    yield from _twice(paths, f"{where}.volume_mounts", "mountPath")


def _twice(names: list[Any], where: str, what: str = "name") -> Iterator[str]:
    counted = Counter(name for name in names if isinstance(name, str))
    yield from (f"{where}: the {what} {name[:80]!r} is used {count} times" for name, count in counted.items() if count > 1)
