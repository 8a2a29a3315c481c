# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Carry a plan out: read, decide, send, read back. Private: not for use outside of the collection."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from ._client import Client
from ._errors import ApiError, Conflict, GarageError, StaleVersion, TransportError, Unavailable, VerifyMismatch
from ._plan import Call, Plan, difference, resolve, secrets_in

S = TypeVar("S")


@dataclass(frozen=True)
class Doubt:
    """A write whose fate is unknown: the call, and the server's clock shortly before it (None when it is not known)."""

    call: Call
    since: datetime | None


@dataclass(frozen=True)
class Task(Generic[S]):
    """A subject to converge: ``read`` gives its snapshot, ``plan`` decides on one, ``show`` is the result a user sees of a snapshot.

    ``read`` is told of a write in doubt, so that it can look for what that write may have left behind.
    """

    read: Callable[[Client, Doubt | None], S]
    plan: Callable[[S], Plan]
    show: Callable[[S], Any]


@dataclass(frozen=True)
class Outcome:
    """What happened: the plan that was decided first, the result, and what was sent (``done``), with the answers by ``binds``.

    Secrets in the result are open: planners put them there only where they were asked for.
    """

    plan: Plan
    result: Any
    done: tuple[str, ...] = ()
    answers: dict | None = None


def converge(task: Task, client: Client, check: bool = False) -> Outcome:
    """Bring the live state to what the task's planner wants; send nothing in check mode.

    A write whose fate is unknown (cut, timed out, 503) and a layout version that moved in between are answered by reading again and
    deciding again, once. After writing, the state is read back and planned once more: a plan that is not empty then is a VerifyMismatch
    (servers ignore fields they do not know with a 200).
    """
    snapshot = task.read(client, None)
    first = plan = task.plan(snapshot)
    if check or not plan.calls:
        return Outcome(plan, resolve(plan.prediction, {}))
    run = _Run(client)
    try:
        try:
            run.perform(plan)
        except (TransportError, Unavailable, StaleVersion) as error:
            client.warnings.append(f"{error.message}; reading the state again before anything else is sent")
            time.sleep(client.retry_delay)
            plan = task.plan(task.read(client, run.doubt))
            run.perform(plan)
        snapshot = task.read(client, None)
        rest = task.plan(snapshot)
    except GarageError as error:
        run.account(error, plan)
        raise
    if rest.calls:
        raise _mismatch(rest, run.done)
    return Outcome(first, resolve(task.show(snapshot), {}), tuple(run.done), run.answers)


class _Run:
    """What has been sent so far: ``done``, the answers by ``binds``, and the write in ``doubt``."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.done: list[str] = []
        self.answers: dict[str, Any] = {}
        self.doubt: Doubt | None = None

    def perform(self, plan: Plan) -> None:
        if self.doubt and self.doubt.call.why not in plan.would:
            self.done.append(self.doubt.call.why)
        self.doubt = None
        for call in plan.calls:
            # Taken before the call: a 503 comes with the clock of minutes later, when what it left behind is old.
            since = self.client.server_time
            try:
                send(self.client, call, self.answers, self.done)
            except (TransportError, Unavailable) as error:
                self.doubt = Doubt(call, since) if getattr(error, "sent", True) else None
                raise

    def account(self, error: GarageError, plan: Plan) -> None:
        """Tell the error what was done, what was not, and what nobody knows; put back what a refusal left half-way."""
        if self.doubt:
            error.message += f"; it is not known whether this was done: {self.doubt.call.why}"
        if isinstance(error, ApiError) and plan.undo and self.done:
            self._undo(error, plan.undo)
        error.done = tuple(self.done)
        error.left = tuple(why for why in plan.would if why not in self.done) if self.done else ()

    def _undo(self, error: ApiError, undo: Call) -> None:
        try:
            send(self.client, undo, self.answers, [])
        except GarageError as failed:
            error.message += f"; putting it back failed as well: {failed.message}"
        else:
            error.message += f"; {undo.why}"
            self.done.clear()


def send(client: Client, call: Call, answers: dict[str, Any], done: list[str]) -> None:
    """One call of a plan: references filled in, noted as done, its answer kept and checked. Raises VerifyMismatch when that is not as it must be."""
    client.secrets.extend(secrets_in(call.body))
    try:
        answer = client.call(call.endpoint, resolve(call.query, answers) or None, resolve(call.body, answers))
    except Conflict as error:
        error.message = call.conflict or error.message
        raise
    done.append(call.why)
    if call.binds:
        answers[call.binds] = answer
    _check_answer(call, answer)


def _check_answer(call: Call, answer: Any) -> None:
    fault = call.check(answer) if call.check else None
    if fault:
        raise VerifyMismatch(f"{call.endpoint} was accepted, but {fault}; something else changed it at the same time",
                             hint="find out who else writes here, then run this again")


def _mismatch(rest: Plan, done: list[str]) -> VerifyMismatch:
    before, after = difference(rest.before, rest.after)
    fields = tuple(after) if isinstance(after, dict) else ()
    found = ", ".join(f"{name} is {before.get(name)!r}, wanted {after[name]!r}" for name in fields) if fields else "; ".join(rest.would)
    error = VerifyMismatch(f"{rest.subject}: the server accepted the change but does not show it: {found}", fields=fields,
                           hint="a server that is too old ignores fields it does not know (CORS, lifecycle and routing rules need"
                           " Garage 2.3.0); otherwise something else changed it at the same time")
    error.done = tuple(done)
    error.left = rest.would
    return error
