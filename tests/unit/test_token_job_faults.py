# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs of ``admin_token`` that break off anywhere, on the wire or on disk: the next one finishes, and no credential is lost or doubled."""

from __future__ import annotations

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils import _token_job
from ansible_collections.s3ops.garage.plugins.module_utils._errors import CredentialLost, GarageError
from tests.fakes.garage import FakeGarage, Fault
from tests.unit.store_places import cut_off, hurry
from tests.unit.token_runs import SCOPE, Power, in_order, options, run


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(_token_job, "_ACCEPTED_WITHIN_SECONDS", 0.0)
    hurry(monkeypatch)


@pytest.fixture
def garage():
    return FakeGarage()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ci-token"


def prepare(kind, path):
    """A Garage and a file in the state before the scenario, and the options of the run that is broken off and of the one after."""
    garage = FakeGarage(seed=3)
    if kind != "create":
        run(garage, options(path))
    if kind == "reset":
        garage.state.tokens.clear()
    if kind == "lost":
        path.unlink()
    # Another run left this; it is never ours to delete.
    status, _row = garage.handle("POST", "/v2/CreateAdminToken", body={"name": f"ci (pending {'e' * 32})"})
    assert status == 200
    return garage, options(path, rotate=kind in ("rotate", "lost"), scope=["*"] if kind == "settings" else SCOPE)


def settled(garage, path):
    """What in_order says, beside the residue of somebody else."""
    (foreign,) = [row for row in garage.state.tokens.values() if row.name == f"ci (pending {'e' * 32})"]
    del garage.state.tokens[foreign.id]
    return in_order(garage, path)


KINDS = ["create", "reset", "rotate", "lost", "settings"]


def run_until(garage, params, until):
    """Run, ruled by a power over wire and disk; the number of points that it passed."""
    power = Power(until)
    cut_off(lambda: run(garage, params, power=power), power)
    return power.points


def clear(folder):
    for file in folder.iterdir():
        file.unlink()


@pytest.mark.requirement("TD-42", "TD-43", "TD-27")
@pytest.mark.parametrize("again", ["same", "plain"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_breaks_off_anywhere_is_finished_by_the_next(path, kind, again):
    total = run_until(*prepare(kind, path), None)
    assert total >= (8 if kind == "settings" else 18)
    clear(path.parent)
    for number in range(total):
        garage, params = prepare(kind, path)
        before = path.read_text() if path.exists() else None
        assert run_until(garage, params, number) == number
        live = [row for row in garage.state.tokens.values() if row.name == "ci"]
        # At no point are there two of the name, nor, once there is one, a moment without any secret that works.
        assert len(live) <= 1
        if before and kind != "reset":
            assert any(path.read_text() == row.secret + "\n" for row in garage.state.tokens.values())
        try:
            run(garage, params if again == "same" else {**params, "rotate": False})
        except CredentialLost:
            assert (kind, again, before) == ("lost", "plain", None)
            run(garage, params)
        settled(garage, path)
        clear(path.parent)


@pytest.mark.requirement("TD-42")
@pytest.mark.parametrize("fault", [fault for fault in Fault if fault.name != "CUT_HALFWAY"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_request_that_fails_anyhow_leaves_nothing_that_the_next_run_cannot_mend(path, kind, fault):
    garage, params = prepare(kind, path)
    _result, context = run(garage, params)
    total = len(context.wire.sent)
    clear(path.parent)
    for number in range(total):
        garage, params = prepare(kind, path)
        try:
            run(garage, params, faults={number: fault})
        except GarageError as error:
            assert not any(row.secret in error.message for row in garage.state.tokens.values())
            run(garage, params)
        settled(garage, path)
        clear(path.parent)


@pytest.mark.requirement("TD-01", "TD-02", "TD-03", "TD-55")
@pytest.mark.parametrize("policy", ["retain", "delete"])
@pytest.mark.parametrize("kind", ["create", "rotate"])
def test_what_broke_off_anywhere_can_be_removed_and_the_removal_may_break_off_as_well(path, kind, policy):
    gone = {"name": "ci", "store": {"path": str(path)}, "state": "absent", "credential_deletion_policy": policy}
    total = run_until(*prepare(kind, path), None)
    clear(path.parent)
    for number in range(total):
        for second in range(20):
            garage, params = prepare(kind, path)
            run_until(garage, params, number)
            stored = path.exists()
            finished = run_until(garage, gone, second) < second
            run(garage, gone)
            assert [row.name for row in garage.state.tokens.values()] == [f"ci (pending {'e' * 32})"]
            assert path.exists() == (stored and policy == "retain")
            assert not path.with_name("ci-token.intent").exists()
            clear(path.parent)
            if finished:
                break
        assert finished


@pytest.mark.requirement("TD-42")
def test_a_create_whose_answer_is_lost_is_undone_and_done_again_in_the_same_run(garage, path):
    result, context = run(garage, options(path), faults={2: Fault.CUT_AFTER})
    in_order(garage, path)
    assert context.endpoints.count("CreateAdminToken") == 2 and context.endpoints.count("DeleteAdminToken") == 1
    assert result["changed"]


def test_the_same_holds_without_a_file(garage):
    result, _context = run(garage, options(return_secret=True), faults={1: Fault.CUT_AFTER})
    (row,) = garage.state.tokens.values()
    assert (row.name, row.secret) == ("ci", result["admin_token"]["secret_token"])
