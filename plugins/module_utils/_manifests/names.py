# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The names and labels of a site's objects. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NAME, INSTANCE, COMPONENT = "app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/component"
MANAGED_BY, NODE, SERVICE = "app.kubernetes.io/managed-by", "s3ops.garage/node", "s3ops.garage/service"
CHECKSUM = "s3ops.garage/config-checksum"
MANAGER = "s3ops.garage"
STORAGE, GATEWAY = "storage", "gateway"
PORTS = {"s3": 3900, "rpc": 3901, "web": 3902, "admin": 3903, "k2v": 3904}

# Names behind that of the site, by kind.
_TAILS = (
    ({"StatefulSet", "ConfigMap"}, r"(storage|gateway)-[0-9]+|gateway"),
    ({"ConfigMap"}, "dashboard"),
    ({"Service"}, "nodes|s3|admin"),
    ({"PodDisruptionBudget"}, "storage|gateway"),
    ({"ServiceAccount", "ServiceMonitor", "PrometheusRule", "Role", "RoleBinding"}, "garage"),
)


@dataclass(frozen=True)
class Unit:
    """One StatefulSet of a site. ``ordinal`` is None for edge gateways, whose pods are all of one StatefulSet.

    ``section`` is the site file's ``storage`` or ``gateway``.
    """

    site: str
    component: str
    section: Mapping[str, Any]
    ordinal: int | None

    @property
    def name(self) -> str:
        base = f"{self.site}-{self.component}"
        return base if self.ordinal is None else f"{base}-{self.ordinal}"

    @property
    def replicas(self) -> int:
        return 1 if self.ordinal is not None else self.section["replicas"]

    @property
    def pods(self) -> tuple[str, ...]:
        return tuple(f"{self.name}-{index}" for index in range(self.replicas))

    @property
    def pod_ordinals(self) -> tuple[int, ...]:
        """What ``{ordinal}`` stands for in each of the pods."""
        return tuple(range(self.replicas)) if self.ordinal is None else (self.ordinal,)

    @property
    def selector(self) -> dict:
        return {**selector(self.site, self.component), **({} if self.ordinal is None else {NODE: self.name})}

    @property
    def labels(self) -> dict:
        return {**self.selector, MANAGED_BY: MANAGER}


def units(workload: Mapping) -> tuple[Unit, ...]:
    """The StatefulSets of a site: one for each storage node and each gateway beside storage, one for all edge gateways."""
    storage, gateway = workload["storage"], workload["gateway"]
    found = [Unit(workload["name"], STORAGE, storage, index) for index in range(storage["replicas"])] if storage else []
    if gateway:
        ordinals = range(gateway["replicas"]) if storage else (None,)
        found += [Unit(workload["name"], GATEWAY, gateway, ordinal) for ordinal in ordinals]
    return tuple(found)


def is_object_name(site: str, kind: str, name: str) -> bool:
    """Whether an object of that kind and name can only be one of the workload's: what another role keeps under our labels is not."""
    tail = name.removeprefix(f"{site}-") if name.startswith(f"{site}-") else ""
    return any(re.fullmatch(pattern, tail) for kinds, pattern in _TAILS if kind in kinds)


def selector(site: str, component: str | None = None) -> dict:
    """What finds the pods of a site, or those of one component."""
    return {NAME: "garage", INSTANCE: site, **({COMPONENT: component} if component else {})}


def metadata(namespace: str, name: str, labels: Mapping, annotations: Mapping | None = None) -> dict:
    """The metadata of an object of ours."""
    found = {"name": name, "namespace": namespace, "labels": {**labels, MANAGED_BY: MANAGER}}
    return {**found, "annotations": dict(annotations)} if annotations else found


def secret_name(workload: Mapping) -> str:
    """The Secret with the credentials of a site."""
    return workload["credentials"]["secret"]


def account_name(site: str) -> str:
    """The ServiceAccount of a site's pods."""
    return f"{site}-garage"


def nodes_service(site: str) -> str:
    """The headless Service that gives each pod a name."""
    return f"{site}-nodes"
