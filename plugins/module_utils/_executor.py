# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Carry a plan out: read, decide, send, read back. Private: not for use outside of the collection."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from threading import Event
from typing import Any, Generic, TypeVar

from ._client import Client
from ._errors import ApiError, Conflict, GarageError, PlanError, StaleVersion, StoreFault, TransportError, Unavailable, VerifyMismatch
from ._plan import Call, Plan, difference, refs_in, resolve, secrets_in

S = TypeVar("S")
# After these the state must be read again; what else goes wrong, a new look would not mend.
_READ_AGAIN = (TransportError, Unavailable, StaleVersion)


@dataclass(frozen=True)
class Doubt:
    """A write whose fate is unknown: the call, and the server's clock shortly before it (None when it is not known)."""

    call: Call
    since: datetime | None


Doubts = tuple[Doubt, ...]


@dataclass(frozen=True)
class Task(Generic[S]):
    """A subject to converge: ``read`` gives its snapshot, ``plan`` decides on one, ``show`` is the result a user sees of a snapshot.

    ``read`` is told of the writes in doubt, so that it can look for what they may have left behind. ``in_flight`` is how many subjects of one
    stage may be written at the same time; with ``go_on`` a subject that fails does not keep the others from being tried. ``send`` stands in for
    the function of that name, for a task that has to do something before or after a call.
    """

    read: Callable[[Client, Doubts], S]
    plan: Callable[[S], Plan]
    show: Callable[[S], Any]
    in_flight: int = 1
    go_on: bool = False
    send: Callable[[Client, Call, dict[str, Any], list[str]], None] | None = None


@dataclass(frozen=True)
class Outcome:
    """What happened: the plan that was decided first, the result, and what was sent (``done``), with the answers by ``binds``.

    ``failed`` holds the errors by subject of a run that went on after them. Secrets in the result are open: planners put them there only where
    they were asked for.
    """

    plan: Plan
    result: Any
    done: tuple[str, ...] = ()
    answers: dict | None = None
    failed: dict[str, GarageError] = field(default_factory=dict)


def converge(task: Task, client: Client, check: bool = False) -> Outcome:
    """Bring the live state to what the task's planner wants; send nothing in check mode.

    Writes whose fate is unknown (cut, timed out, 503) and a layout version that moved in between are answered by reading again and
    deciding again, once. After writing, the state is read back and planned once more: a plan that is not empty then is a VerifyMismatch
    (servers ignore fields they do not know with a 200).
    """
    snapshot = task.read(client, ())
    first = plan = task.plan(snapshot)
    if check or not plan.calls:
        return Outcome(plan, resolve(plan.prediction, {}))
    run = Run(client, task.in_flight, task.go_on, task.send)
    try:
        try:
            run.perform(plan)
        except _READ_AGAIN as error:
            client.warnings.append(f"{error.message}; reading the state again before anything else is sent")
            time.sleep(client.retry_delay)
            plan = task.plan(task.read(client, tuple(run.doubts)))
            run.perform(plan)
        snapshot = task.read(client, ())
        if run.failed:
            return Outcome(first, _shown_in_part(task, snapshot), tuple(run.done), run.answers, run.failed)
        rest = task.plan(snapshot)
    except GarageError as error:
        run.account(error, plan)
        raise
    if rest.calls:
        raise _mismatch(rest, run.done)
    return Outcome(first, resolve(task.show(snapshot), {}), tuple(run.done), run.answers)


class Run:
    """What has been sent so far: ``done``, the answers by ``binds``, the writes in doubt, and what ``failed`` by subject."""

    def __init__(self, client: Client, in_flight: int = 1, go_on: bool = False, sender: Callable | None = None) -> None:
        self.client = client
        self.in_flight = in_flight
        self.go_on = go_on
        self.send = sender or send
        self.done: list[str] = []
        self.answers: dict[str, Any] = {}
        self.doubts: list[Doubt] = []
        self.failed: dict[str, GarageError] = {}

    def perform(self, plan: Plan) -> None:
        """Send all calls. Raises the first error, after everything that was in flight has ended; with ``go_on`` only those that need a new look."""
        # What was in doubt and is not wanted any more has happened.
        self.done += [doubt.call.why for doubt in self.doubts if doubt.call.why not in plan.would]
        self.doubts, self.failed = [], {}
        for stage in plan.stages or ((plan,),):
            self._stage(stage)

    def account(self, error: GarageError, plan: Plan) -> None:
        """Tell the error what was done, what was not, and what nobody knows; put back what a refusal left half-way."""
        if self.doubts:
            error.message += f"; it is not known whether this was done: {'; '.join(doubt.call.why for doubt in self.doubts)}"
        if isinstance(error, ApiError) and plan.undo and self.done:
            self._undo(error, plan.undo)
        error.done = tuple(self.done)
        error.left = tuple(why for why in plan.would if why not in self.done) if self.done else ()

    def _stage(self, lanes: Sequence[Plan]) -> None:
        stop = Event()
        if self.in_flight == 1 or len(lanes) == 1:
            errors = [self._lane(lane, stop) for lane in lanes]
        else:
            with ThreadPoolExecutor(max_workers=self.in_flight) as pool:
                errors = list(pool.map(lambda lane: self._lane(lane, stop), lanes))
        met = [error for error in errors if error]
        # What the state must be read again for comes first: it is the one kind of error that the run may recover from.
        met.sort(key=lambda error: not isinstance(error, _READ_AGAIN))
        if met and (not self.go_on or isinstance(met[0], _READ_AGAIN)):
            raise met[0]

    def _lane(self, lane: Plan, stop: Event) -> GarageError | None:
        """The calls of one subject, one after the other. The error is kept, so that lanes beside this one end in peace."""
        for call in lane.calls:
            if stop.is_set():
                return None
            # Taken before the call: a 503 comes with the clock of minutes later, when what it left behind is old.
            since = self.client.server_time
            try:
                self._refuse_orphaned(call)
                self.send(self.client, call, self.answers, self.done)
            except GarageError as error:
                if isinstance(error, (TransportError, Unavailable)) and getattr(error, "sent", True):
                    self.doubts.append(Doubt(call, since))
                self.failed[lane.subject] = error
                if not self.go_on or isinstance(error, _READ_AGAIN):
                    stop.set()
                return error
        return None

    def _refuse_orphaned(self, call: Call) -> None:
        """A call that refers to something a failed call was to make cannot be sent."""
        missing = sorted({ref.name for ref in refs_in([call.query, call.body]) if ref.name not in self.answers})
        if missing:
            raise PlanError(f"{call.why}: not tried, because {', '.join(missing)} could not be made", hint="mend what could not be made, then run this again")

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


@contextmanager
def after_writing(done: Iterable[str]) -> Iterator[None]:
    """Let an error that comes after a write, as of a read that was to see it, say what was done."""
    try:
        yield
    except GarageError as error:
        error.done = error.done or tuple(done)
        raise


def _shown_in_part(task: Task, snapshot: Any) -> Any:
    """The result of a run that went on after errors; None where the state that made a subject fail now forbids to decide on it at all."""
    try:
        return resolve(task.show(snapshot), {})
    except (PlanError, StoreFault):
        return None


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
