# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the module ``layout`` does around the plan: preview, wait, and the words of a follower. Private: not for use outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ._client import Client
from ._connection import together
from ._errors import GarageError, PlanError, StaleVersion, VerifyMismatch, WaitTimeout
from ._executor import Doubts, Outcome, Task, converge, send
from ._models.layout import LayoutSpec
from ._models.layout_record import moved, moved_note, read_record, record_of
from ._plan import Call
from ._planners._gate import refuse_when_awaiting, writer_result
from ._planners.layout import (
    APPLIED,
    ASK,
    PREVIEWED,
    LayoutPlan,
    LayoutSnapshot,
    check_previewed,
    plan_layout,
    preview_before,
    preview_calls,
    refuse_unapproved,
    with_moves,
)
from ._readers.layout import preview_result, read_layout, wait_settled


def run_layout(client: Client, params: Mapping, check: bool) -> tuple[Outcome, dict]:
    """The outcome of converging the layout, and the keys a result has beside it."""
    spec, record = together(lambda: LayoutSpec.from_params(params, follower=client.site_role == "follower"), lambda: read_record(params["record"]))
    spec = replace(spec, record=None if spec.follower else record)
    if check and params["wait"]:
        # The real run waits before it decides.
        spec = replace(spec, waits=True)
    run = _Run(client, spec, params, check)
    run.settle()
    try:
        outcome = converge(Task(run.read, run.plan, show=lambda live: live.layout.to_result(), send=run.send), client, check)
    except StaleVersion as error:
        error.message += f"; it was to become version {run.plans[-1].calls[-1].body['version']}, and is at {read_layout(client).layout.version} now"
        error.hint = "another writer is at work: find out who, then run this again"
        raise
    if outcome.done:
        try:
            run.settle()
        except WaitTimeout as error:
            error.done = outcome.done
            # It is in force, whenever it will have settled.
            error.result = {"record": None if spec.follower else record_of(run.seen[-1].layout)}
            raise
    answer = _preview(client, outcome, params["preview"])
    preview = preview_result(answer) if answer else None
    if check and preview and preview["error"]:
        raise PlanError(f"the server cannot compute this layout: {preview['error']}", hint="change the roles, their capacities or zone_redundancy until it can")
    refuse_when_awaiting(outcome.plan, params)
    foreign = run.foreign(record)
    if note := moved_note(foreign):
        client.warnings.append(note)
    return outcome, {
        "preview": preview,
        "foreign_writer": foreign,
        # A follower keeps what the writer has left; nothing is recorded of a run that did not happen.
        "record": record if spec.follower or check else record_of(run.seen[-1].layout),
        "declared": [dict(line) for line in outcome.plan.declared],
        "plan_hash": _plan_hash(spec, outcome.plan, answer, params["preview"]),
        **writer_result(client.site_role, outcome.plan),
    }


class _Run:
    """One run: ``plans`` that were decided, the one in force last. An approval holds until the apply was sent; what is planned then is a check."""

    def __init__(self, client: Client, spec: LayoutSpec, params: Mapping, check: bool) -> None:
        self.client, self.spec, self.params, self.check = client, spec, params, check
        self.plans: list[LayoutPlan] = []
        self.seen: list[LayoutSnapshot] = []
        self.applies = 0
        self.in_doubt = False
        self.performed: LayoutPlan | None = None

    def settle(self) -> None:
        if self.params["wait"] and not self.check:
            wait_settled(self.client, self.params["wait_timeout"], self.params["wait_sleep"])

    def read(self, reader: Client, doubts: Doubts) -> LayoutSnapshot:
        if doubts:
            # The version that came in between may drain still.
            self.settle()
            self.in_doubt = True
        self.seen.append(read_layout(reader))
        return self.seen[-1]

    def plan(self, live: LayoutSnapshot) -> LayoutPlan:
        plan = plan_layout(self.spec, live)
        if self.plans and self.spec.foreign_staged != "include":
            # What the second attempt finds staged was staged by the first, and is put back if that was to be.
            plan = replace(plan, undo=self.plans[0].undo)
        if self.spec.expected_plan and not self.applies:
            refuse_unapproved(self.spec.expected_plan, plan)
        self.plans.append(plan)
        return plan

    def send(self, client: Client, call: Call, answers: dict, done: list[str]) -> None:
        ask = preview_before(call)
        if ask and self.spec.expected_plan and self.spec.expected_plan.moves:
            send(client, ask, answers, [])
            self._refuse_other_moves(client, answers, done)
        self.performed = self.plans[-1]
        send(client, call, answers, done)
        self.applies += ask is not None

    def foreign(self, record: Mapping | None) -> dict | None:
        """What somebody else has written: since the writer's ``record``, or while this run was at work (LW-36)."""
        first, last = record_of(self.seen[0].layout), record_of(self.seen[-1].layout)
        # Of a write in doubt nobody knows whose the version is.
        if last["version"] > first["version"] + self.applies and not self.in_doubt:
            return moved(record or first, last, during_run=True)
        # What another staged in the same moment is applied with ours: both take the same next version, with the changes of both (seen on 2.5.0).
        together_with = self.performed and moved(self.performed.after, last, during_run=True)
        return together_with or moved(record, first)

    def _refuse_other_moves(self, client: Client, answers: dict, done: list[str]) -> None:
        plan = self.plans[-1]
        check_previewed(plan, answers[PREVIEWED])
        try:
            refuse_unapproved(self.spec.expected_plan, with_moves(plan, answers[PREVIEWED]))
        except PlanError:
            # What is staged is ours alone, as the preview has shown.
            if done and plan.undo:
                # The stage is right before the apply.
                _put_back(client, plan.undo, plan.calls[-2])
                done.clear()
            raise


def _plan_hash(spec: LayoutSpec, plan: LayoutPlan, answer: Mapping | None, asked: bool) -> str | None:
    """The moves go in where they were asked for, by ``preview`` or by the approval of them, and nowhere else: otherwise a check without a preview
    and the run after it would differ."""
    moves = asked or (spec.expected_plan and spec.expected_plan.moves)
    approval = with_moves(plan, answer).approval if moves else plan.approval
    return str(approval) if approval else None


def _preview(client: Client, outcome: Outcome, asked: bool) -> dict | None:
    """The server's own answer to the apply or, where it was asked, to a preview."""
    applied = (outcome.answers or {}).get(APPLIED)
    if applied:
        return applied
    if not asked or not outcome.plan.calls:
        return None
    calls = (ASK,) if outcome.done else preview_calls(outcome.plan)
    answers: dict = {}
    if len(calls) == 1:
        send(client, calls[0], answers, [])
        return answers[PREVIEWED]
    # Only on an empty staging area, so that putting it back drops nothing of anybody else.
    if not calls or read_layout(client).layout.has_staged:
        client.warnings.append("no preview: changes are staged already, and putting the staging area back would drop them")
        return None
    stage, ask, revert = calls
    done: list[str] = []
    try:
        send(client, stage, answers, done)
        send(client, ask, answers, done)
    except VerifyMismatch as error:
        # Somebody else has staged in this moment: a revert would drop theirs too.
        error.done = tuple(done)
        raise
    except GarageError:
        _put_back(client, revert, stage)
        raise
    _put_back(client, revert, stage)
    return answers[PREVIEWED]


def _put_back(client: Client, revert: Call, stage: Call) -> None:
    """Empty the staging area again. Where that fails, the error says what may be left in it."""
    try:
        send(client, revert, {}, [])
    except GarageError as error:
        error.message += f"; this may be left staged: {stage.why}"
        error.hint = "see s3ops.garage.layout_info, and drop it by s3ops.garage.layout_recovery (action: revert) once the server answers"
        raise
