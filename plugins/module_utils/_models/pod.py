# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods as the Kubernetes API shows them. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

_LONGEST_REASON = 1000  # characters; a termination message may be 4096 bytes of log


@dataclass(frozen=True)
class Pod:
    """``running`` tells of the one container that matters; ``reason`` is why it does not run (None when it does). ``ready`` is of the whole pod."""

    name: str
    uid: str
    phase: str
    ready: bool
    running: bool
    reason: str | None
    hostname: str
    ip: str | None
    containers: tuple[str, ...]

    @classmethod
    def from_api(cls, item: Mapping, container: str) -> Pod:
        """``item`` is a Pod in Kubernetes' JSON."""
        meta, spec, status = item["metadata"], item.get("spec") or {}, item.get("status") or {}
        names = tuple(each["name"] for each in spec.get("containers") or ())
        state = _states(status).get(container, {})
        leaving = "deletionTimestamp" in meta
        running = "running" in state and not leaving
        ready = any(each.get("type") == "Ready" and each.get("status") == "True" for each in status.get("conditions") or ())
        reason = None if running else "it is being deleted" if leaving else _reason(container, names, status)
        # Kubernetes gives a pod its own name as the host name, unless told otherwise.
        return cls(meta["name"], meta.get("uid", ""), status.get("phase", "Unknown"), ready and not leaving, running, reason,
                   spec.get("hostname") or meta["name"], status.get("podIP"), names)


def choose_pod(pods: Iterable[Pod]) -> Pod | None:
    """The first by name that is ready; else the first whose container runs: a probe that waits for a quorum is not met before the first layout."""
    return min((pod for pod in pods if pod.running), key=lambda pod: (not pod.ready, pod.name), default=None)


def _states(status: Mapping) -> dict[str, Mapping]:
    return {each["name"]: each.get("state") or {} for each in status.get("containerStatuses") or ()}


def _reason(container: str, names: tuple[str, ...], status: Mapping) -> str:
    if container not in names:
        return f"it has no container {container!r}, but {', '.join(names)}"
    return "; ".join(_causes(container, status))[:_LONGEST_REASON] or f"its phase is {status.get('phase', 'Unknown')}"


def _causes(container: str, status: Mapping) -> Iterator[str]:
    """What keeps the container from running: containers before it, its own state and how it ended last, the scheduler, the kubelet."""
    for each in [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]:
        other = each["name"] != container
        state, last = each.get("state") or {}, (each.get("lastState") or {}).get("terminated")
        ended = state.get("terminated")
        if other and (not ended or ended.get("exitCode") == 0) and not (state.get("waiting") or {}).get("message"):
            continue
        if "waiting" in state:
            yield f"container {each['name']} waits: {_said(state['waiting'])}"
        for how, end in (("has ended", ended), ("ended before", last)):
            if end:
                yield f"container {each['name']} {how} with exit code {end.get('exitCode')}: {_said(end)}"
    for each in status.get("conditions") or ():
        if each.get("type") == "PodScheduled" and each.get("status") == "False":
            yield f"it is not scheduled: {_said(each)}"
    if status.get("reason") or status.get("message"):
        yield _said(status)


def _said(thing: Mapping) -> str:
    """Reason and message of a state, on one line; a log keeps its end."""
    return ": ".join(" ".join(str(thing[key]).split())[-500:] for key in ("reason", "message") if thing.get(key)) or "no reason is given"
