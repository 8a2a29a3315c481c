# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""How far the pods of a site are, and what holds them up. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from .._units import parse_size

# A container in one of these states does not come up by waiting: someone has to change something. ErrImagePull is not among them, since the kubelet
# tries once more before it backs off, nor is the first crash of a container: a name may not have been known yet.
_STUCK = {"ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError", "RunContainerError"}
_CRASHES = 2


def awaited(stateful_sets: Iterable[Mapping], units: Iterable[Mapping]) -> list[dict]:
    """The pods of ``units`` ({name, pods}: a StatefulSet and its pods) as ``progress`` wants them. ``revision`` is None as long as the controller has
    not taken notice of the StatefulSet as it is."""
    known = {each["metadata"]["name"]: _revision(each) for each in stateful_sets}
    return [{"pod": pod, "revision": known.get(unit["name"])} for unit in units for pod in unit["pods"]]


def progress(pods: Iterable[Mapping], wanted: Iterable[Mapping]) -> dict:
    """Which of the ``wanted`` pods (as ``awaited`` gives them) are ready.

    ``pods`` are live ones as the Kubernetes API gives them. The result: ``done`` (there is nothing to wait for: all are ready, or one will never be),
    ``ready`` (names), ``waiting`` ({pod, reason}), ``failed`` ({pod, container, reason, previous}; ``previous``: its last log is that of the
    container before).
    """
    live = {pod["metadata"]["name"]: pod for pod in pods}
    ready, waiting, failed = [], [], []
    for want in wanted:
        name, pod = want["pod"], live.get(want["pod"])
        if pod is None or want["revision"] is None or pod["metadata"].get("deletionTimestamp") or _is_old(pod, want["revision"]):
            waiting.append({"pod": name, "reason": _why_not_the_one(pod, want["revision"])})
        elif stuck := next(_stuck(pod), None):
            failed.append({"pod": name, **stuck})
        elif is_ready(pod):
            ready.append(name)
        else:
            waiting.append({"pod": name, "reason": _why_not(pod)})
    return {"done": bool(failed) or not waiting, "ready": ready, "waiting": waiting, "failed": failed}


def growing(claims: Iterable[Mapping], names: Iterable[str]) -> list[str]:
    """Those of the claims ``names`` whose volume does not have the size yet that was asked for."""
    live = {claim["metadata"]["name"]: claim for claim in claims}
    return [name for name in names if name in live and _is_growing(live[name])]


def account(state: Mapping, claims: Iterable[Mapping], events: Iterable[Mapping], log: str = "") -> list[str]:
    """What to tell a person of pods that are not ready (``state`` of ``progress``), one line for each thing that holds them up.

    ``events`` of the namespace, in any order; ``log`` of the first pod that failed.
    """
    claims, last = list(claims), _last_events(events)
    lines = []
    for row in state["failed"]:
        lines.append(f"pod {row['pod']}, container {row['container']}: {row['reason']}")
    if last_line := next((line for line in reversed(log.splitlines()) if line.strip()), ""):
        lines.append(f"the last line of its log: {last_line.strip()[:500]}")
    for row in state["waiting"]:
        owner = row["pod"].rpartition("-")[0]
        told = last.get(("Pod", row["pod"])) or last.get(("StatefulSet", owner))
        lines.append(f"pod {row['pod']}: {row['reason']}" + (f" ({told})" if told else ""))
        own = [claim for claim in claims if claim["metadata"]["name"].endswith(f"-{row['pod']}")]
        lines += [_pending(claim, last) for claim in own if claim.get("status", {}).get("phase") != "Bound"]
    return lines


def _is_growing(claim: Mapping) -> bool:
    asked, status = claim["spec"]["resources"]["requests"]["storage"], claim.get("status") or {}
    has = (status.get("capacity") or {}).get("storage")
    return status.get("phase") == "Bound" and (has is None or parse_size(has, milli=True) < parse_size(asked, milli=True))


def _pending(claim: Mapping, last: Mapping) -> str:
    name, spec = claim["metadata"]["name"], claim.get("spec", {})
    source = spec.get("dataSourceRef")
    waits = f"it waits for its source {source['kind']}.{source.get('apiGroup', '')} {source['name']}" if source else "no volume is bound to it"
    told = last.get(("PersistentVolumeClaim", name))
    return f"claim {name} is {claim.get('status', {}).get('phase', 'Pending')}: {waits}" + (f" ({told})" if told else "")


def _last_events(events: Iterable[Mapping]) -> dict[tuple[str, str], str]:
    """The newest word on each object, by kind and name."""
    known = {}
    for event in sorted(events, key=lambda event: str(event.get("lastTimestamp") or event.get("eventTime") or "")):
        about = event.get("involvedObject", {})
        known[(about.get("kind", ""), about.get("name", ""))] = f"{event.get('reason', '')}: {' '.join(str(event.get('message', '')).split())[:300]}"
    return known


def _revision(stateful_set: Mapping) -> str | None:
    meta, status = stateful_set["metadata"], stateful_set.get("status") or {}
    noticed = status.get("observedGeneration", 0) >= meta.get("generation", 0) and "deletionTimestamp" not in meta
    return status.get("updateRevision") if noticed else None


def _is_old(pod: Mapping, revision: str) -> bool:
    return pod["metadata"].get("labels", {}).get("controller-revision-hash") != revision


def is_ready(pod: Mapping) -> bool:
    """Whether Kubernetes takes a pod for ready."""
    return any(row["type"] == "Ready" and row["status"] == "True" for row in pod.get("status", {}).get("conditions") or ())


def _containers(pod: Mapping) -> list[Mapping]:
    status = pod.get("status", {})
    return [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]


def _stuck(pod: Mapping) -> Iterator[dict]:
    status = pod.get("status", {})
    if status.get("phase") == "Failed":
        yield {"container": "-", "previous": False, "reason": _words(status.get("reason") or "Failed", status.get("message"))}
    for row in _containers(pod):
        held = (row.get("state") or {}).get("waiting") or {}
        reason, ended = held.get("reason"), (row.get("lastState") or {}).get("terminated") or {}
        if reason in _STUCK:
            yield {"container": row["name"], "previous": False, "reason": _words(reason, held.get("message"))}
        elif reason == "CrashLoopBackOff" and row.get("restartCount", 0) >= _CRASHES:
            why = f"ended with status {ended.get('exitCode', 'unknown')} {row['restartCount']} times"
            yield {"container": row["name"], "previous": True, "reason": _words(reason, _words(why, ended.get("message")))}


def _why_not_the_one(pod: Mapping | None, revision: str | None) -> str:
    if pod is None:
        return "is not there yet"
    return "Kubernetes has not taken notice of its StatefulSet yet" if revision is None else "the pod before it is still there"


def _why_not(pod: Mapping) -> str:
    """What a pod that is neither ready nor stuck is at."""
    for row in pod.get("status", {}).get("conditions") or ():
        if row["type"] == "PodScheduled" and row["status"] == "False":
            return _words("is not scheduled", row.get("message"))
    for row in _containers(pod):
        held = (row.get("state") or {}).get("waiting") or {}
        if held.get("reason"):
            return _words(f"container {row['name']}: {held['reason']}", held.get("message"))
    return "has started and is not ready"


def _words(head: str, tail: str | None) -> str:
    return f"{head}: {' '.join(tail.split())[:500]}" if tail else head
