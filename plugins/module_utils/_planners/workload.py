# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide what a site's workload needs: what to apply at once, what node by node, what to patch, hold or remove. Pure. Private: not for use outside of
the collection.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from .._manifests.names import GATEWAY, INSTANCE, MANAGED_BY, MANAGER, NODE, STORAGE, is_object_name
from .._manifests.pod import CONTAINER
from ._claims import Claim, claim_faults, claim_patch, source_text
from .rollout import is_ready

LAYOUT_RECORD = "-layout"  # behind the name of the site: what the layout writer has left, kept by the role layout

# What no node takes by a restart: the others would not understand it (factor, OP-012), or it would start on an empty database.
FROZEN = {
    "replication_factor": "Garage starts with another one only when all nodes were stopped and the file cluster_layout was taken out of the metadata of"
                          " each, and then has no layout; set replication.factor: {live}",
    "db_engine": "a node would start without its metadata; convert it with `garage convert-db` first, or set config.db_engine: {live}",
}


def plan_workload(wanted: Mapping, live: Mapping, changed: Collection[str] = (), removable: Collection[str] = (),
                  major_upgrade: bool = False) -> dict:
    """What to do so that a site's workload becomes ``wanted`` (the result of ``objects``).

    ``live``: lists of what carries the labels of the site, as the Kubernetes API gives it: ``statefulsets``, ``claims``, ``pods``, ``objects`` (any
    other kind). ``changed``: StatefulSets that a dry run of ``wanted`` would change. ``removable``: pods that the cluster does not need any more.
    ``major_upgrade``: Garage may become one of another major version.

    The result: ``faults`` and ``warnings``; ``create`` (nodes to make at once), ``roll`` (nodes to change one by one) and ``same`` (names);
    ``patch_claims`` (patches, before all else); ``recreate`` (StatefulSets to delete with their pods left alone, before they are applied again);
    ``hold`` ({name, pods, reason}: to be removed, still needed); ``remove`` (objects to delete); ``claims_left`` (names of claims that no wanted
    and no held node has; never deleted unasked); ``pending_claims`` ({name, source, text}).
    """
    own = wanted["shared"][0]["metadata"]
    return _Planner(own["labels"][INSTANCE], own["namespace"], wanted, live, set(changed), set(removable), major_upgrade).plan()


def plan_retirement(site: str, namespace: str, live: Mapping) -> dict:
    """How all of a site goes, its Secret and its claims aside: ``remove`` (objects to delete), ``pods`` (their names) and ``claims`` (names of those
    that hold its data)."""
    return _Planner(site, namespace, {"shared": (), "monitoring": (), "nodes": ()}, live).retire()


class _Planner:
    def __init__(self, site: str, namespace: str, wanted: Mapping, live: Mapping, changed: Collection[str] = (), removable: Collection[str] = (),
                 major_upgrade: bool = False) -> None:
        self.site, self.namespace = site, namespace
        self.wanted, self.changed, self.removable, self.major_upgrade = wanted, changed, removable, major_upgrade
        self.sets = {name: item for name, item in _by_name(live["statefulsets"]).items()
                     if self._is_mine(item) and is_object_name(self.site, "StatefulSet", name)}
        self.claims = _by_name(live["claims"])
        self.pods = _by_name(live.get("pods", ()))
        self.objects = sorted((item for item in live.get("objects", ()) if self._is_mine(item)), key=_kind_name)

    def plan(self) -> dict:
        held = list(self._held())
        nodes = [self._with_held_pods(node, held) for node in self.wanted["nodes"]]
        names = {node["name"] for node in nodes}
        recreate = [node["name"] for node in nodes if self._is_other_template(node)]
        # A node whose pod runs without its StatefulSet is one whose growth was broken off: to make it may restart the pod.
        create = [node for node in nodes if node["name"] not in self.sets and not self.pods.keys() & set(node["pods"])]
        made = {node["name"] for node in create}
        roll = [node for node in nodes if node["name"] not in made and (
            node["name"] in recreate or node["name"] in self.changed or node["name"] not in self.sets)]
        patches = {node["name"]: list(self._patches(node)) for node in nodes}
        beside = [node["name"] for node in nodes if node in create and self._is_new(node) or node in roll and self._runs(node) or patches[node["name"]]]
        return {
            "faults": [*_shape_faults(self.site, names, self.sets), *_beside_faults(self.site, held, beside),
                       *(fault for node in nodes for fault in self._faults(node))],
            "warnings": [warning for node in nodes for warning in self._warnings(node)],
            "create": create,
            "roll": roll,
            "same": sorted(names - made - {node["name"] for node in roll}),
            "patch_claims": [patch for each in patches.values() for patch in each],
            "recreate": recreate,
            "hold": held,
            "remove": self._removals(names, held),
            "claims_left": self._claims_left(nodes, held),
            "pending_claims": [_pending(claim) for claim in self.claims.values() if _phase(claim) == "Pending"],
        }

    def retire(self) -> dict:
        # A pod that belongs to no StatefulSet is one whose growth was broken off: nothing takes it away with its StatefulSet.
        orphans = sorted(name for name, pod in self.pods.items() if not pod["metadata"].get("ownerReferences"))
        record = ("ConfigMap", f"{self.site}{LAYOUT_RECORD}")
        return {
            "remove": [*self._removals((), ()), *(_reference("v1", "Pod", name, self.namespace) for name in orphans),
                       *(_reference("v1", *record, self.namespace) for item in self.objects if _kind_name(item) == record)],
            "pods": sorted({*self.pods, *(pod for name, live in self.sets.items() for pod in self._pods_of(name, live))}),
            "claims": sorted(self.claims),
        }

    def _is_new(self, node: Mapping) -> bool:
        """Whether this is no node yet: one that was taken down comes back to its claims."""
        return all(live is None for _name, _wanted, live in self._claims(node))

    def _runs(self, node: Mapping) -> bool:
        """A node that is down may be mended at any time."""
        return any(is_ready(self.pods[pod]) for pod in node["pods"] if pod in self.pods)

    # nodes that are to go

    def _held(self) -> Iterator[dict]:
        """Nodes that are not wanted any more, as long as the cluster needs them (LW-46)."""
        names = {node["name"]: node for node in self.wanted["nodes"]}
        for name, live in self.sets.items():
            surplus = [pod for pod in self._pods_of(name, live) if pod not in names.get(name, {}).get("pods", ())]
            # Kubernetes takes the pods of a StatefulSet away from the last, so the last that is needed keeps those before it.
            needed = [pod for pod in surplus if pod not in self.removable]
            kept = surplus[:surplus.index(needed[-1]) + 1] if needed else []
            if kept:
                reason = f"{', '.join(needed)} may still hold a role or data; it goes once the layout has let go of it"
                yield {"name": name, "pods": kept, "reason": reason}

    def _pods_of(self, name: str, live: Mapping) -> list[str]:
        """A node that somebody has stopped is one still: its claims may hold what the cluster needs."""
        count = live["spec"].get("replicas", 1) if name == f"{self.site}-{GATEWAY}" else 1
        return [f"{name}-{index}" for index in range(count)]

    def _with_held_pods(self, node: Mapping, held: Sequence[Mapping]) -> dict:
        """Edge gateways share one StatefulSet, which keeps as many replicas as are still needed."""
        pods = next((item["pods"] for item in held if item["name"] == node["name"]), [])
        if not pods:
            return dict(node)
        config_map, stateful_set = node["objects"]
        files = {f"{pod}.toml" for pod in pods}
        live = next((item.get("data") or {} for item in self.objects if _kind_name(item) == ("ConfigMap", node["name"])), {})
        data = {**config_map["data"], **{name: text for name, text in live.items() if name in files}}
        spec = {**stateful_set["spec"], "replicas": len(node["pods"]) + len(pods)}
        return {**node, "pods": [*node["pods"], *pods], "objects": [{**config_map, "data": data}, {**stateful_set, "spec": spec}]}

    def _removals(self, names: Collection[str], held: Sequence[Mapping]) -> list[dict]:
        """StatefulSets first, so that no pod starts without its configuration."""
        kept = {*names, *(item["name"] for item in held)}
        gone = [_reference("apps/v1", "StatefulSet", name, self.namespace) for name in self.sets if name not in kept]
        wanted = {_kind_name(item) for item in self._wanted_objects()}
        for item in self.objects:
            kind, name = _kind_name(item)
            if (kind, name) in wanted or item["metadata"]["labels"].get(NODE, name) in kept:
                continue
            if is_object_name(self.site, kind, name):
                gone.append(_reference(item["apiVersion"], kind, name, self.namespace))
        return gone

    def _claims_left(self, nodes: Sequence[Mapping], held: Sequence[Mapping]) -> list[str]:
        pods = {pod for item in (*nodes, *held) for pod in item["pods"]}
        return sorted(name for name in self.claims if not any(name.endswith(f"-{pod}") for pod in pods))

    def _wanted_objects(self) -> Iterator[Mapping]:
        yield from self.wanted["shared"]
        yield from self.wanted["monitoring"]
        for node in self.wanted["nodes"]:
            yield from node["objects"]

    def _is_mine(self, item: Mapping) -> bool:
        labels = item["metadata"].get("labels") or {}
        return (labels.get(INSTANCE), labels.get(MANAGED_BY)) == (self.site, MANAGER)

    # volumes

    def _claims(self, node: Mapping) -> Iterator[tuple[str, Claim, Claim | None]]:
        """Each claim of a node by name: as it is wanted, and as it is."""
        for template in _templates(node["objects"][1]):
            wanted = Claim.from_api(template)
            for pod in node["pods"]:
                name = f"{template['metadata']['name']}-{pod}"
                yield name, wanted, Claim.from_api(self.claims[name]) if name in self.claims else None

    def _is_other_template(self, node: Mapping) -> bool:
        live = self.sets.get(node["name"])
        if live is None:
            return False
        wanted, found = ({item["metadata"]["name"]: Claim.from_api(item) for item in _templates(each)} for each in (node["objects"][1], live))
        return wanted.keys() != found.keys() or not all(claim.same_template(found[name]) for name, claim in wanted.items())

    def _patches(self, node: Mapping) -> Iterator[dict]:
        for name, wanted, live in self._claims(node):
            if live and (patch := claim_patch(name, self.namespace, wanted, live)):
                yield patch

    def _faults(self, node: Mapping) -> Iterator[str]:
        for name, wanted, live in self._claims(node):
            if live:
                yield from claim_faults(name, wanted, live)
        if live_set := self.sets.get(node["name"]):
            yield from _volume_faults(node["name"], node["objects"][1], live_set)
            if not self.major_upgrade:
                yield from _version_faults(node["name"], node["objects"][1], live_set)
        live_map = next((item for item in self.objects if _kind_name(item) == ("ConfigMap", node["name"])), None)
        if live_map:
            yield from _frozen_faults(node["name"], node["objects"][0], live_map)

    def _warnings(self, node: Mapping) -> Iterator[str]:
        for name, wanted, live in self._claims(node):
            if live and _phase(self.claims[name]) == "Lost":
                yield f"claim {name} is Lost: the volume that was bound to it does not exist any more"
            elif not live and node["name"] in self.sets:
                filled = f"filled from {source_text(wanted.source)}" if wanted.source else "empty"
                yield f"claim {name} of node {node['name']} is missing; Kubernetes makes it again with the next pod, {filled}"


def _shape_faults(site: str, names: Collection[str], live: Collection[str]) -> Iterator[str]:
    """A site does not become another kind of site, for another cluster (OP-004). Edge gateways are one StatefulSet, which no site with storage has."""
    edge = f"{site}-{GATEWAY}"
    storage = sorted(name for name in live if name.startswith(f"{site}-{STORAGE}-"))
    if edge in names and storage:
        yield (f"{', '.join(storage)} store data here, and the site file makes {site} gateways of another cluster: give these a site with a name of its"
               " own, and end this one first if it is to go")
    if edge in live and edge not in names:
        yield (f"{edge} are gateways of another cluster here, and the site file makes {site} a site with storage: give it a name of its own, and end the"
               " gateways first if they are to go")


def _beside_faults(site: str, held: Collection[Mapping], beside: Collection[str]) -> Iterator[str]:
    """While a storage node gives up what it stores, nothing else that runs is changed (OP-006, OP-007, OP-009, OP-015)."""
    leaving = [pod for item in held if item["name"].startswith(f"{site}-{STORAGE}-") for pod in item["pods"]]
    if leaving and beside:
        yield (f"{', '.join(leaving)} is to go, and that is a step of its own: {', '.join(beside)} would change beside it; take the other changes back"
               " until it has gone, or storage.replicas until they are made")


def _volume_faults(node: str, wanted: Mapping, live: Mapping) -> Iterator[str]:
    """Volumes that are not what they were under the same name, or under another (OP-014)."""
    own, found = ({item["metadata"]["name"] for item in _templates(each)} for each in (wanted, live))
    if own != found:
        yield (f"node {node} has claims for {', '.join(sorted(found)) or 'no volume'}, the site file makes {', '.join(sorted(own)) or 'none'}:"
               " volumes of a node are not added, removed or renamed; put them back as they were")
        return
    paths, live_paths = _mount_paths(wanted), _mount_paths(live)
    for name in sorted(own):
        if name in live_paths and paths[name] != live_paths[name]:
            yield f"volume {name} of node {node} lies at {live_paths[name]} and would move to {paths[name]}, where Garage would not find its blocks"


def _version_faults(node: str, wanted: Mapping, live: Mapping) -> Iterator[str]:
    images = [_garage(item)["image"] for item in (wanted, live)]
    own, found = (re.search(r":v?([0-9]+)\.", image) for image in images)
    if own and found and own[1] != found[1]:
        yield (f"node {node} runs {images[1]}, the site file says {images[0]}: all nodes change to another major version together, by the steps of"
               " its release notes; follow these, then set garage_major_upgrade: true")


def _frozen_faults(node: str, wanted: Mapping, live: Mapping) -> Iterator[str]:
    texts = ["\n".join((item.get("data") or {}).values()) for item in (wanted, live)]
    for key, way in FROZEN.items():
        own, found = (re.search(rf"^{key} = (.*)$", text, re.MULTILINE) for text in texts)
        if own and found and own[1] != found[1]:
            yield f"node {node} runs with {key} = {found[1]}, the site file says {own[1]}: {way.format(live=found[1])}"


def _mount_paths(stateful_set: Mapping) -> dict[str, str]:
    return {mount["name"]: mount["mountPath"] for mount in _garage(stateful_set)["volumeMounts"]}


def _garage(stateful_set: Mapping) -> Mapping:
    """The container that runs Garage."""
    return next(item for item in stateful_set["spec"]["template"]["spec"]["containers"] if item["name"] == CONTAINER)


def _templates(stateful_set: Mapping) -> Sequence[Mapping]:
    return stateful_set["spec"].get("volumeClaimTemplates") or ()


def _pending(claim: Mapping) -> dict:
    name, source = claim["metadata"]["name"], Claim.from_api(claim).source
    waits = f"waits for its source {source_text(source)}" if source else "waits for a volume"
    return {"name": name, "source": source_text(source) if source else None, "text": f"claim {name} {waits}"}


def _phase(claim: Mapping) -> str | None:
    return (claim.get("status") or {}).get("phase")


def _by_name(items: Sequence[Mapping]) -> dict[str, Any]:
    return {item["metadata"]["name"]: item for item in sorted(items, key=lambda item: item["metadata"]["name"])}


def _kind_name(item: Mapping) -> tuple[str, str]:
    return item["kind"], item["metadata"]["name"]


def _reference(api_version: str, kind: str, name: str, namespace: str) -> dict:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}}
