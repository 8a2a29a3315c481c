# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""An admin token in each kind of place: made, found again, broken off, raced for; and whose what is stored there is."""

from __future__ import annotations


import pytest

from ansible_collections.s3ops.garage.plugins.module_utils import _note_job, _token_job
from ansible_collections.s3ops.garage.plugins.module_utils._errors import CredentialLost, PlanError, StoreFault
from ansible_collections.s3ops.garage.plugins.module_utils._token_job import run_token
from tests.fakes.garage import FakeGarage
from tests.unit.store_places import PLACES, Place, at_once, cut_off, hurry
from tests.unit.token_runs import SCOPE, Context, Power, run, tokens


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(_token_job, "_ACCEPTED_WITHIN_SECONDS", 0.0)
    hurry(monkeypatch)


@pytest.fixture
def garage():
    return FakeGarage()


@pytest.fixture(params=PLACES)
def place(request, tmp_path, secrets, kv):
    return Place(request.param, tmp_path, secrets, kv)


secret_only = pytest.mark.parametrize("place", ["Secret"], indirect=True)


def options(place, **more):
    return {"name": "ci", "scope": SCOPE, "store": {**place.option, **more.pop("store", {})}, **more}


def in_order(garage, place):
    """One token of the name, its secret in the store, and nothing else in either."""
    (row,) = garage.state.tokens.values()
    assert (row.name, place.token) == ("ci", row.secret)
    assert place.names == [place.names[0]]
    return row


@pytest.mark.requirement("TD-05", "TD-11", "TD-26", "TD-37")
def test_a_token_is_made_adopted_rotated_and_removed(garage, place):
    result, _context = run(garage, options(place))
    row = in_order(garage, place)
    assert result["changed"] and "token" not in result["admin_token"]["store"]
    result, _context = run(garage, options(place))
    assert (result["changed"], result["adopted"], in_order(garage, place)) == (False, True, row)
    result, _context = run(garage, options(place, rotate=True))
    assert result["rotated"] and in_order(garage, place).id != row.id
    gone = options(place, state="absent", credential_deletion_policy="delete")
    predicted, _context = run(garage, gone, check=True)
    result, _context = run(garage, gone)
    assert result["actions"] == predicted["actions"] and len(result["actions"]) == 2
    assert (tokens(garage), place.names) == ({}, [])
    assert not run(garage, gone)[0]["changed"]


@pytest.mark.requirement("TD-09", "TD-28", "TD-44")
def test_a_lost_secret_fails_closed(garage, place):
    run(garage, options(place))
    row = in_order(garage, place)
    place.clear()
    context = Context(garage)
    with pytest.raises(CredentialLost, match="is not in"):
        run_token(options(place), context)
    assert not context.wire.writes and place.names == []
    run(garage, options(place, rotate=True))
    assert in_order(garage, place).id != row.id


@pytest.mark.parametrize("check", [True, False])
def test_check_mode_touches_no_store(garage, place, check):
    result, context = run(garage, options(place), check=check)
    assert result["changed"] and bool(context.wire.writes) != check and (place.names == []) == check


# broken off anywhere

def run_until(garage, params, until):
    """Run until the power is cut at a point on the wire, on disk or on the way to another store; the number of points passed."""
    power = Power(until)
    cut_off(lambda: run(garage, params, power=power), power)
    return power.points


def prepare(kind, place):
    place.clear()
    garage = FakeGarage(seed=3)
    if kind != "create":
        run(garage, options(place))
    if kind == "reset":
        garage.state.tokens.clear()
    if kind == "delete":
        return garage, options(place, state="absent", credential_deletion_policy="delete")
    return garage, options(place, rotate=kind == "rotate")


@pytest.mark.requirement("TD-26", "TD-27", "TD-42", "TD-43", "TD-55")
@pytest.mark.parametrize("kind", ["create", "rotate", "reset", "delete"])
def test_a_run_that_breaks_off_anywhere_is_finished_by_the_next(place, kind):
    total = run_until(*prepare(kind, place), None)
    assert total >= 10
    for number in range(total):
        garage, params = prepare(kind, place)
        before = place.token
        run_until(garage, params, number)
        assert len([row for row in garage.state.tokens.values() if row.name == "ci"]) <= 1
        if kind == "rotate":
            assert place.token in [row.secret for row in garage.state.tokens.values()]
        place.later()
        run(garage, params)
        if kind == "delete":
            assert (tokens(garage), place.names) == ({}, [])
        elif kind == "reset":
            assert place.token_in(place.store.beside("old").read()) == before
            assert place.token == [row.secret for row in garage.state.tokens.values()][0] and len(place.names) == 2
        else:
            in_order(garage, place)


# at once

@pytest.mark.requirement("TD-29", "TD-42")
def test_of_two_runs_at_once_one_makes_the_token_and_the_other_finds_it(garage, place):
    for _round in range(3):
        garage.state.tokens.clear()
        place.clear()
        results = at_once(lambda: run(garage, options(place))[0])
        assert sorted((result["changed"], result["adopted"]) for result in results) == [(False, True), (True, False)]
        in_order(garage, place)


@pytest.mark.parametrize("place", ["Secret", "KV engine"], indirect=True)
@pytest.mark.requirement("TD-09", "TD-29", "TD-42")
def test_a_token_that_another_run_stores_between_two_looks_is_not_taken_for_lost(garage, place, monkeypatch):
    real, others = _token_job.read_directory, []

    def after_another_run(*arguments):
        if not others:
            others.append(None)
            others.append(run(garage, options(place))[0])
        return real(*arguments)

    monkeypatch.setattr(_token_job, "read_directory", after_another_run)
    result = run(garage, options(place))[0]
    assert others[1]["changed"] and (result["changed"], result["adopted"]) == (False, True)
    in_order(garage, place)


@pytest.mark.requirement("TD-29", "TD-31", "TD-42")
def test_of_two_rotations_at_once_each_leaves_one_token_that_is_stored(garage, place):
    for _round in range(3):
        garage.state.tokens.clear()
        place.clear()
        run(garage, options(place))
        before = in_order(garage, place)
        results = at_once(lambda: run(garage, options(place, rotate=True))[0])
        assert all(result["rotated"] for result in results)
        assert in_order(garage, place).id != before.id


@secret_only
@pytest.mark.requirement("TD-42")
def test_a_young_note_of_another_run_is_waited_for_and_an_old_one_is_taken_over(garage, place, secrets, monkeypatch):
    monkeypatch.setattr(_note_job, "_AT_WORK_SECONDS", 5.0)
    waits = []
    real = _note_job.wait_until
    monkeypatch.setattr(_note_job, "wait_until", lambda look, what, timeout, sleep: real(
        lambda: look() and (waits.append(1) or secrets.pass_time(2) or "not yet"), what, timeout, 0))
    run_until(garage, options(place), 12)
    assert "ci-intent" in place.names
    run(garage, options(place))
    # The clock that counts is that of the API server: two seconds at each look.
    assert len(waits) == 3
    in_order(garage, place)


@secret_only
def test_check_mode_does_not_wait(garage, place):
    run_until(garage, options(place), 12)
    assert "ci-intent" in place.names
    assert run(garage, options(place), check=True)[0]["changed"]


@secret_only
def test_a_secret_that_appears_meanwhile_is_not_overwritten(garage, place, secrets):
    def appear(verb):
        if verb == "create" and ("garage", "ci") not in secrets.secrets:
            secrets.before = lambda verb: None
            secrets.put("garage", "ci", {"password": "theirs"})

    secrets.before = appear
    with pytest.raises(PlanError, match="no admin token of Garage"):
        run(garage, options(place))
    assert secrets.data("garage", "ci") == {"password": "theirs"} and tokens(garage) == {} and place.names == ["ci"]


# what cannot be written, what is somebody else's

@secret_only
@pytest.mark.requirement("TD-26")
@pytest.mark.parametrize("check", [True, False])
def test_an_unwritable_store_makes_nothing_on_the_server(garage, place, secrets, check):
    secrets.refuse = {"create", "update"}
    context = Context(garage, check=check)
    with pytest.raises(StoreFault, match="403"):
        run_token(options(place), context)
    assert not context.wire.writes and place.names == []


@pytest.mark.parametrize("place", ["KV engine"], indirect=True)
def test_an_unwritable_kv_engine_makes_nothing_on_the_server(garage, place, kv):
    kv.read_only = True
    context = Context(garage)
    with pytest.raises(StoreFault, match="permission denied"):
        run_token(options(place), context)
    assert not context.wire.writes


@secret_only
def test_a_store_that_can_only_be_read_is_good_enough_for_what_is_there(garage, place, secrets):
    run(garage, options(place))
    secrets.refuse = {"create", "update", "delete"}
    result, _context = run(garage, options(place))
    assert (result["changed"], result["adopted"]) == (False, True)


@secret_only
@pytest.mark.requirement("TD-38")
def test_a_secret_made_by_hand_is_adopted_and_never_written_to(garage, place, secrets):
    run(garage, options(place))
    row = in_order(garage, place)
    secrets.secrets.clear()
    secrets.put("garage", "ci", {"token": row.secret})
    assert run(garage, options(place))[0]["adopted"]
    with pytest.raises(StoreFault, match="somebody else's"):
        run(garage, options(place, rotate=True))
    assert list(tokens(garage)) == [row.id]


@secret_only
def test_a_form_that_changed_is_set_and_keeps_the_token(garage, place, secrets):
    run(garage, options(place))
    row = in_order(garage, place)
    wanted = options(place, store={"data_keys": {"token": "admin-token"}, "extra_data": {"url": "http://garage"}, "labels": {"team": "a"}})
    predicted, _context = run(garage, wanted, check=True)
    assert secrets.data("garage", "ci") == {"token": row.secret}
    result, _context = run(garage, wanted)
    assert result["actions"] == predicted["actions"] == ["set what Secret garage/ci holds beside the token"]
    assert secrets.data("garage", "ci") == {"admin-token": row.secret, "url": "http://garage"}
    assert secrets.secrets["garage", "ci"]["metadata"]["labels"]["team"] == "a"
    again, _context = run(garage, wanted)
    assert (again["changed"], again["adopted"]) == (False, True)


# whose

@pytest.mark.requirement("TD-32")
@pytest.mark.parametrize("more", [{}, {"rotate": True}, {"state": "absent", "credential_deletion_policy": "delete"}])
def test_a_credential_of_another_cluster_is_left_alone(garage, place, more):
    run(garage, options(place))
    token = place.token
    other = FakeGarage(seed=7)
    context = Context(other)
    with pytest.raises(PlanError, match="none of which is in this one"):
        run_token(options(place, **more), context)
    assert not context.wire.writes and place.token == token and len(place.names) == 1


@pytest.mark.requirement("TD-32", "TD-06")
def test_it_is_replaced_on_request_and_kept_beside(garage, place):
    run(garage, options(place))
    token = place.token
    other = FakeGarage(seed=7)
    run(other, options(place, store={"take_over": True}))
    assert place.token == [row.secret for row in other.state.tokens.values()][0] != token
    assert place.token_in(place.store.beside("old").read()) == token
    assert run(other, options(place))[0]["adopted"]


@pytest.mark.requirement("TD-32")
def test_a_token_that_may_not_ask_for_the_nodes_is_warned_of(place):
    garage = FakeGarage()
    run(garage, {"name": "manager", "scope": ["ListAdminTokens", "CreateAdminToken", "UpdateAdminToken", "DeleteAdminToken"], "return_secret": True})
    (manager,) = garage.state.tokens.values()
    _result, context = run(garage, options(place), token=manager.secret)
    assert any("may not call GetClusterStatus" in text for client in context.clients for text in client.warnings)
    assert place.store.read().cluster == ()
