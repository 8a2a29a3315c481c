# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Kubernetes objects of a site, read by few requests over one connection. Private: not for use outside of the collection."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ._errors import SetupError, TransportError
from ._pods import Pods

LABEL = "read"
MONITORING = "/apis/monitoring.coreos.com/v1"
_MONITORS = ("servicemonitors", "prometheusrules")
_KINDS = {"statefulsets": ("/apis/apps/v1", "statefulsets"), "claims": ("/api/v1", "persistentvolumeclaims"), "pods": ("/api/v1", "pods")}
_OBJECTS = (("/api/v1", "configmaps"), ("/api/v1", "services"), ("/apis/policy/v1", "poddisruptionbudgets"))
_LOG_LINES = 20


class LiveWorkload:
    """What carries the labels of a site. Every method raises TransportError; SetupError where trying again cannot help."""

    def __init__(self, pods: Pods) -> None:
        self._pods = pods
        self._namespace = f"namespaces/{pods.connection.namespace}"

    def read(self) -> dict:
        """All of it: ``namespace`` (whether there is one; None when that may not be looked at), ``monitoring`` (kinds of that group that the cluster
        has), ``objects`` (``statefulsets``, ``claims``, ``pods``, and ``objects`` for the other kinds)."""
        kinds = self._monitoring()
        found = {name: self.listed(name) for name in _KINDS}
        rest = [*_OBJECTS, *((MONITORING, resource) for resource in _MONITORS if resource in kinds)]
        found["objects"] = [item for group, resource in rest for item in self._list(group, resource)]
        # A list in a namespace that is not there is empty, so only an empty one is looked for.
        return {"namespace": True if any(found.values()) else self._exists(), "monitoring": sorted(kinds.values()), "objects": found}

    def listed(self, name: str) -> list[dict]:
        """Those of one kind: ``statefulsets``, ``claims`` or ``pods``."""
        return self._list(*_KINDS[name])

    def events(self) -> list[dict]:
        """All events of the namespace."""
        return self._list("/api/v1", "events", everything=True)

    def log(self, row: Mapping) -> str:
        """The end of the log of a container; empty when it never started. ``row``: ``pod``, ``container``, ``previous``."""
        query = {"container": row["container"], "previous": "true", "tailLines": _LOG_LINES}
        data = self._pods.get(LABEL, f"/api/v1/{self._namespace}/pods/{row['pod']}/log", query)
        return (data or b"").decode("utf-8", "replace")

    def _exists(self) -> bool | None:
        try:
            return self._pods.get(LABEL, f"/api/v1/{self._namespace}") is not None
        except SetupError:
            # Who may only work inside of the namespace may not look at it, and needs not.
            return None

    def _monitoring(self) -> dict[str, str]:
        """Kinds by the names of their resources."""
        found = json.loads(self._pods.get(LABEL, MONITORING) or b'{"resources": []}')["resources"]
        return {row["name"]: row["kind"] for row in found if row["name"] in _MONITORS}

    def _list(self, group: str, resource: str, everything: bool = False) -> list[dict]:
        query = {} if everything else {"labelSelector": self._pods.connection.label_selector}
        found = json.loads(self._pods.get(LABEL, f"{group}/{self._namespace}/{resource}", query) or b"null")
        if found is None:
            raise TransportError(f"{LABEL} at {self._pods.connection.place}: the Kubernetes API has no {resource} in {group}",
                                 hint="see that it is the API of a Kubernetes", endpoint=LABEL)
        # Items of a list do not say what they are.
        kind, version = found["kind"].removesuffix("List"), group.removeprefix("/apis/").removeprefix("/api/")
        return [_plain({"apiVersion": version, "kind": kind, **item}) for item in found["items"]]


def _plain(item: dict) -> dict:
    """Without the book-keeping of who owns which field, which is longer than the rest."""
    item["metadata"].pop("managedFields", None)
    return item
