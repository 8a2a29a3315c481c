# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What runs of a site on Kubernetes: what the module ``kubernetes_workload_info`` does. Private: not for use outside of the collection."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ._errors import InputError, NotReady, SetupError, TransportError, WaitTimeout
from ._live_workload import LiveWorkload
from ._models.pod import Pod
from ._pods_job import ask_nodes
from ._planners.rollout import account, awaited, growing, progress
from ._waiter import wait_until

T = TypeVar("T")


def run_workload(params: Mapping, context: Any) -> dict:
    """The result of kubernetes_workload_info. Raises NotReady for pods that do not come up, WaitTimeout for volumes that do not grow."""
    pods, client = context.pods()
    if pods.connection.label_selector is None:
        raise InputError(["kubernetes.label_selector: is missing; it names the objects of the site"])
    live = LiveWorkload(pods)
    if params["wait_for_pods"]:
        _wait_pods(live, params)
    if params["wait_for_claims"]:
        _wait_claims(live, params)
    found = _patiently(live.read, params["retries"], params["retry_delay"])
    rows = sorted((Pod.from_api(item, pods.connection.container) for item in found["objects"]["pods"]), key=lambda pod: pod.name)
    return {"changed": False, **found, "nodes": ask_nodes(rows, client)}


def _wait_pods(live: LiveWorkload, params: Mapping) -> None:
    """Until all are ready, or one never will be."""
    units, seen = params["wait_for_pods"], [progress((), awaited((), params["wait_for_pods"]))]

    def look() -> str | None:
        seen.append(progress(live.listed("pods"), awaited(live.listed("statefulsets"), units)))
        return None if seen[-1]["done"] else "not all are ready"

    _wait(look, "the pods", params)
    if seen[-1]["failed"] or seen[-1]["waiting"]:
        raise NotReady("; ".join(_account(live, seen[-1])))


def _wait_claims(live: LiveWorkload, params: Mapping) -> None:
    def look() -> str | None:
        left = growing(live.listed("claims"), params["wait_for_claims"])
        return f"{', '.join(left)} did not grow" if left else None

    if missing := _wait(look, "the volumes", params):
        raise WaitTimeout(missing, hint="see what the storage of their class says; running this again goes on waiting")


def _wait(look: Callable[[], str | None], what: str, params: Mapping) -> str | None:
    """None once ``look`` returns None, else why not in time. An API that is away for a while is waited for as well."""

    def patient() -> str | None:
        try:
            return look()
        except SetupError:
            raise
        except TransportError as error:
            return error.message

    try:
        wait_until(patient, what, params["wait_timeout"], params["wait_sleep"])
    except WaitTimeout as error:
        return error.message
    return None


def _account(live: LiveWorkload, state: Mapping) -> list[str]:
    """What holds the pods up. What cannot be read does not hide the rest."""
    faults: list[str] = []

    def told(read: Callable[[], T], else_: T) -> T:
        try:
            return read()
        except TransportError as error:
            faults.append(error.message)
            return else_

    ended = [row for row in state["failed"] if row["previous"]]
    log = told(lambda: live.log(ended[0]), "") if ended else ""
    return [*account(state, told(lambda: live.listed("claims"), []), told(live.events, []), log), *faults]


def _patiently(read: Callable[[], T], retries: int, delay: float) -> T:
    """A read, tried again when the API does not answer."""
    for _left in range(retries):
        try:
            return read()
        except SetupError:
            raise
        except TransportError:
            time.sleep(delay)
    return read()
