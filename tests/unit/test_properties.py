# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold for every live state and every wish, tried on a Garage in memory."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, event, given, note, settings
from hypothesis import strategies as st

from ansible_collections.s3ops.garage.plugins.module_utils._errors import Conflict, InputError, PlanError, Unsupported
from ansible_collections.s3ops.garage.plugins.module_utils._models.key import KNOWN_AFTER
from tests.fakes.garage import FakeGarage, Fault
from tests.unit.property_kinds import KINDS, LAYOUT_KIND, Attempt, Kind, attempt
from tests.unit.property_worlds import NODE_WORLDS, SECRETS, VERSIONS, Nodes, World, in_ids_of, secrets_of, visible, worlds

DATA = st.data()
# What only the server can tell before it has acted.
SERVER_MADE = {"id", "created", "key_id", "bucket_id", "secret_access_key"}

every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def draw(kind: Kind, world: World | Nodes, data: st.DataObject) -> tuple[FakeGarage, dict]:
    """The world, and options in the ids of what is in it now."""
    garage = world.build()
    return garage, in_ids_of(garage, data.draw(kind.options))


def refused(run: Attempt) -> bool:
    """Whether it was refused before anything was sent. Any other error is a failure of the test."""
    if run.error is None:
        return False
    event(f"refused: {run.error.__class__.__name__}")
    if isinstance(run.error, Conflict):
        # That an id was spent can only be learned by trying; what comes before it in the plan was done.
        assert "never takes the id of a deleted key again" in run.error.message
    else:
        assert isinstance(run.error, (InputError, PlanError, Unsupported)), run.error
        assert not run.transport.writes
    return True


@every_kind
@given(world=worlds(), data=DATA)
@settings(max_examples=100)
def test_what_was_declared_once_needs_nothing_the_second_time(kind: Kind, world: World, data: st.DataObject) -> None:
    garage, options = draw(kind, world, data)
    before = visible(garage)
    first = attempt(kind, garage, options)
    if refused(first):
        assert isinstance(first.error, Conflict) or visible(garage) == before
        return
    event("changed" if first.outcome.plan.changed else "unchanged")
    after = visible(garage)
    assert first.outcome.plan.changed == bool(first.transport.writes) == (after != before)
    again = attempt(kind, garage, options)
    assert again.error is None
    assert (again.outcome.plan.calls, again.transport.writes) == ((), [])
    assert again.outcome.result == first.outcome.result
    assert visible(garage) == after


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.name != "grant"], ids=lambda kind: kind.name)
@given(world=worlds(VERSIONS), data=DATA)
@settings(max_examples=50)
def test_where_nothing_is_asked_for_nothing_is_done(kind: Kind, world: World, data: st.DataObject) -> None:
    garage = world.build()
    run = attempt(kind, garage, in_ids_of(garage, data.draw(kind.idle)))
    assume(not isinstance(run.error, PlanError))
    assert run.error is None
    assert (run.outcome.plan.calls, run.transport.writes) == ((), [])


@pytest.mark.requirement("FC-056")
@every_kind
@given(world=worlds(VERSIONS), data=DATA, check=st.booleans(), fault=st.one_of(st.none(), st.sampled_from(Fault)))
@settings(max_examples=60)
def test_no_secret_is_shown(kind: Kind, world: World, data: st.DataObject, check: bool, fault: Fault | None) -> None:
    garage, options = draw(kind, world, data)
    faults = {} if fault is None else {data.draw(st.integers(0, 8)): fault}
    run = attempt(kind, garage, options, check=check, faults=faults)
    known = {*SECRETS, *secrets_of(garage)}
    assert [secret for secret in known if secret in run.text] == []


@every_kind
@given(world=worlds(VERSIONS), data=DATA)
@settings(max_examples=100)
def test_check_mode_sends_nothing_and_predicts_the_result(kind: Kind, world: World, data: st.DataObject) -> None:
    garage, options = draw(kind, world, data)
    before = visible(garage)
    check = attempt(kind, garage, options, check=True)
    assert (check.transport.writes, visible(garage)) == ([], before)
    real = attempt(kind, garage, options)
    if refused(real):
        assert isinstance(real.error, Conflict) or (check.error.__class__, str(check.error)) == (real.error.__class__, str(real.error))
        return
    assert check.error is None
    assert check.outcome.plan.would == real.outcome.plan.would == real.outcome.done
    assert check.outcome.plan.diff == real.outcome.plan.diff
    assert unlike(check.outcome.result, real.outcome.result) == []


def unlike(predicted: Any, real: Any, path: str = "result") -> list[str]:
    """Where a result is not what check mode said, other than in what only the server could tell."""
    if isinstance(predicted, dict) and isinstance(real, dict):
        if predicted.keys() != real.keys():
            return [f"{path}: {sorted(predicted)} / {sorted(real)}"]
        return [fault for name in predicted for fault in unlike(predicted[name], real[name], f"{path}.{name}")]
    if isinstance(predicted, list) and isinstance(real, list):
        if len(predicted) != len(real):
            return [f"{path}: {predicted} / {real}"]
        left = list(real)
        for item in predicted:
            # Lists are ordered by ids, which new things do not have yet.
            match = next((number for number, other in enumerate(left) if not unlike(item, other, path)), None)
            if match is None:
                return [f"{path}: {item} / {left}"]
            del left[match]
        return []
    made = path.rpartition(".")[2] in SERVER_MADE and predicted in (None, KNOWN_AFTER)
    return [] if predicted == real or made else [f"{path}: {predicted!r} / {real!r}"]


@pytest.mark.requirement("GS-07", "FC-088")
@every_kind
@given(world=worlds(), data=DATA)
@settings(max_examples=40)
def test_after_any_single_fault_a_second_run_finishes_and_nothing_is_doubled(kind: Kind, world: World, data: st.DataObject) -> None:
    check_single_faults(kind, world, data)


@given(world=NODE_WORLDS, data=DATA)
@settings(max_examples=60)
def test_after_any_single_fault_a_layout_is_applied_once(world: Nodes, data: st.DataObject) -> None:
    check_single_faults(LAYOUT_KIND, world, data)


def check_single_faults(kind: Kind, world: World | Nodes, data: st.DataObject) -> None:
    """Each request of a run fails in each way, once: the second run ends where one without a fault does."""
    garage, options = draw(kind, world, data)
    clean = attempt(kind, garage, options)
    if clean.error or not clean.outcome.plan.changed:
        return
    for number, sent in enumerate(clean.transport.sent):
        for fault in Fault:
            event(f"{fault.value} at a {'write' if sent in clean.transport.writes else 'read'}")
            note(f"request {number} to {sent.endpoint}: {fault}")
            broken = world.build()
            first = attempt(kind, broken, options, faults={number: fault})
            again = attempt(kind, broken, options)
            assert again.error is None
            assert visible(broken) == visible(garage)
            assert timeless(again.outcome.result) == timeless(clean.outcome.result)
            assert first.error or not again.outcome.plan.changed


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: timeless(item) for name, item in value.items() if name != "created"}
    return [timeless(item) for item in value] if isinstance(value, list) else value
