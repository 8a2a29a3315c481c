# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""An access key with its store, on a Garage in memory: delivered, put right, imported again, broken off, raced for, removed."""

from __future__ import annotations

import copy
import json

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils._errors import GarageError, InputError, PlanError, StoreFault
from ansible_collections.s3ops.garage.plugins.module_utils._key_job import run_key
from tests.fakes.garage import FakeGarage, Fault
from tests.unit.store_places import PLACES, Place, at_once, cut_off, hurry
from tests.unit.token_runs import Context, Power

S3 = {"endpoint": "https://s3.example.org", "region": "garage", "bucket": "media"}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    hurry(monkeypatch)


@pytest.fixture
def garage():
    return FakeGarage()


@pytest.fixture(params=PLACES)
def place(request, tmp_path, secrets, kv):
    return Place(request.param, tmp_path, secrets, kv)


secret_only = pytest.mark.parametrize("place", ["Secret"], indirect=True)
file_only = pytest.mark.parametrize("place", ["file"], indirect=True)


def options(place, **more):
    return {"name": "app", "store": {**place.option, **more.pop("store", {})}, **more}


def run(garage, params, **more):
    """(result, context) of a run; the result as the module would make it of it."""
    context = Context(garage, **more)
    outcome, beside = run_key(params, context)
    context.warnings += outcome.plan.notes
    return {"changed": outcome.plan.changed, "key": outcome.result, "actions": list(outcome.plan.would), "diff": outcome.plan.diff, **beside}, context


def keys(garage):
    return {row.id: row.name for row in garage.state.keys.values() if not row.deleted}


def in_order(garage, place):
    """One key of the name, its credentials in the store, and nothing else in either."""
    (row,) = [row for row in garage.state.keys.values() if not row.deleted]
    assert (row.name, place.pair, place.names) == ("app", (row.id, row.secret), ["ci"])
    return row


# deliver and keep right

@pytest.mark.requirement("FC-108", "TD-37", "TD-35")
def test_a_key_is_made_and_delivered_and_then_unchanged(garage, place):
    wanted = options(place, store=S3)
    predicted, context = run(garage, wanted, check=True)
    assert not context.wire.writes and place.names == []
    result, _context = run(garage, wanted)
    row = in_order(garage, place)
    assert result["actions"] == predicted["actions"] and result["changed"] and result["key"]["id"] == row.id
    assert row.secret not in json.dumps(result) and "access-key-id" not in json.dumps(result["key"]["store"])
    for check in (True, False):
        result, context = run(garage, wanted, check=check)
        assert (result["changed"], result["actions"], context.wire.writes) == (False, [], [])
    assert context.endpoints == ["ListKeys", "GetKeyInfo"]


@pytest.mark.requirement("FC-108", "TD-01")
@pytest.mark.parametrize("spoil", ["gone", "another form", "another secret"])
def test_what_is_not_right_in_the_store_is_put_right(garage, place, spoil):
    run(garage, options(place))
    row = in_order(garage, place)
    store, wanted = place.store, options(place)
    if spoil == "gone":
        store.delete(store.read())
    elif spoil == "another secret":
        held = store.read()
        store.replace(type(held)({name: text.replace(row.secret, "0" * 64) for name, text in held.data.items()}, held.cluster), held)
    else:
        wanted = options(place, store=S3)
    predicted, context = run(garage, wanted, check=True)
    assert predicted["changed"] and not context.wire.writes
    result, context = run(garage, wanted)
    assert result["actions"] == predicted["actions"] == [f"put the credentials of access key app into {place.store.place}"]
    assert result["diff"]["before"] == {"store": None if spoil == "gone" else {"content": "something else"}}
    assert not context.wire.writes and in_order(garage, place) is row
    assert not run(garage, wanted)[0]["changed"]


@pytest.mark.requirement("TD-53", "TD-38")
def test_a_key_that_is_there_already_is_delivered(garage, place):
    status, row = garage.handle("POST", "/v2/CreateKey", body={"name": "app"})
    result, context = run(garage, options(place))
    assert status == 200 and not context.wire.writes and in_order(garage, place).id == row["accessKeyId"]
    result, _context = run(garage, {**options(place), "name": None, "id": row["accessKeyId"]})
    assert not result["changed"]


@secret_only
def test_a_secret_is_labelled_and_others_labels_stay(garage, place, secrets):
    run(garage, options(place, store={"labels": {"team": "a"}, "annotations": {"n": "1"}}))
    secrets.secrets["garage", "ci"]["metadata"]["labels"]["theirs"] = "x"
    result, _context = run(garage, options(place, store={"labels": {"team": "b"}}))
    assert result["changed"]
    assert secrets.secrets["garage", "ci"]["metadata"]["labels"] == {"team": "b", "theirs": "x", "app.kubernetes.io/managed-by": "s3ops.garage"}


@file_only
@pytest.mark.requirement("FC-108")
@pytest.mark.parametrize("form", ["aws_credentials", "env"])
def test_each_form_is_unchanged_the_second_time(garage, place, form):
    wanted = options(place, store={**S3, "format": form})
    assert run(garage, wanted)[0]["changed"] and not run(garage, wanted)[0]["changed"]


# what is somebody else's

@pytest.mark.requirement("FC-108")
@pytest.mark.parametrize("check", [True, False])
def test_a_store_of_somebody_else_makes_nothing_on_the_server(garage, place, secrets, kv, tmp_path, check):
    if place.kind == "vault file":
        # One that was encrypted by hand has no note of ours.
        run(garage, options(place))
        garage.state.keys.clear()
        (tmp_path / ".ci.garage").unlink()
    elif place.kind == "file":
        (tmp_path / "ci").write_text("[other]\naws_access_key_id = theirs\n")
    secrets.put("garage", "ci", {"password": "theirs"})
    kv.put("ci", {"password": "theirs"})
    before = place.store.read().data
    context = Context(garage, check=check)
    with pytest.raises(PlanError, match="did not put there"):
        run_key(options(place), context)
    assert not context.wire.writes and place.store.read().data == before and keys(garage) == {}


def test_two_keys_do_not_share_a_store(garage, place):
    run(garage, options(place))
    row = in_order(garage, place)
    context = Context(garage)
    with pytest.raises(PlanError, match=f"credentials of another key, app \\({row.id}\\)"):
        run_key({**options(place), "name": "other"}, context)
    assert not context.wire.writes and in_order(garage, place)


@pytest.mark.requirement("TD-32")
@pytest.mark.parametrize("more", [{}, {"state": "absent", "credential_deletion_policy": "delete"}])
def test_the_credentials_of_another_cluster_are_left_alone(garage, place, more):
    run(garage, options(place))
    before = place.pair
    other = FakeGarage(seed=7)
    context = Context(other)
    with pytest.raises(PlanError, match="none of which is in this one"):
        run_key(options(place, **more), context)
    assert not context.wire.writes and place.pair == before
    status, _row = other.handle("POST", "/v2/CreateKey", body={"name": "app"})
    with pytest.raises(PlanError, match="none of which is in this one"):
        run_key(options(place, **more), Context(other))
    assert status == 200 and place.pair == before


# the server lost it

@pytest.mark.requirement("TD-01", "TD-11", "TD-32")
@pytest.mark.parametrize("how", ["an older state", "a new cluster that takes over"])
def test_a_key_that_the_server_lost_is_imported_as_the_store_holds_it(garage, place, how):
    older = copy.deepcopy(garage.state)
    run(garage, options(place, expiration="2030-01-01T00:00:00Z", allow_create_bucket=True))
    row = in_order(garage, place)
    if how == "an older state":
        garage.state.keys, store = older.keys, {}
    else:
        garage, store = FakeGarage(seed=7), {"take_over": True}
    wanted = options(place, expiration="2030-01-01T00:00:00Z", allow_create_bucket=True, store=store)
    predicted, _context = run(garage, wanted, check=True)
    result, context = run(garage, wanted)
    assert "ImportKey" in context.endpoints and result["actions"] == predicted["actions"]
    again = in_order(garage, place)
    assert (again.id, again.secret, again.create_bucket, again.expiration) == (row.id, row.secret, True, row.expiration)
    assert not run(garage, wanted)[0]["changed"]


@pytest.mark.requirement("TD-01", "TD-02", "GS-06")
def test_a_key_that_was_deleted_gets_another_one_in_its_place(garage, place):
    run(garage, options(place))
    old = in_order(garage, place)
    run(garage, options(place, state="absent"))
    assert keys(garage) == {} and place.pair == (old.id, old.secret)
    result, context = run(garage, options(place, allow_create_bucket=True))
    assert any("never takes its id again" in text for client in context.clients for text in client.warnings)
    new = in_order(garage, place)
    assert result["changed"] and new.id != old.id and new.create_bucket
    assert not run(garage, options(place, allow_create_bucket=True))[0]["changed"]


# absent

@pytest.mark.requirement("TD-02", "TD-03", "TD-46", "TD-55")
@pytest.mark.parametrize("policy", [None, "retain", "delete"])
def test_the_store_of_an_absent_key(garage, place, policy):
    run(garage, options(place))
    held = place.pair
    gone = options(place, state="absent", credential_deletion_policy=policy)
    predicted, _context = run(garage, gone, check=True)
    assert place.pair == held and keys(garage)
    result, _context = run(garage, gone)
    assert result["actions"] == predicted["actions"] and result["key"] is None
    assert (keys(garage), place.pair) == ({}, None if policy == "delete" else held)
    again, _context = run(garage, gone)
    assert not again["changed"]
    run(garage, options(place))
    in_order(garage, place)


# unwritable

@secret_only
@pytest.mark.parametrize("check", [True, False])
def test_an_unwritable_store_makes_nothing_on_the_server(garage, place, secrets, check):
    secrets.refuse = {"create", "update"}
    context = Context(garage, check=check)
    with pytest.raises(StoreFault, match="403"):
        run_key(options(place), context)
    assert not context.wire.writes and keys(garage) == {}


@file_only
@pytest.mark.parametrize("check", [True, False])
def test_without_a_folder_nothing_is_made(garage, place, tmp_path, check):
    context = Context(garage, check=check)
    with pytest.raises(StoreFault, match="does not exist"):
        run_key(options(place, store={"path": str(tmp_path / "no" / "key")}), context)
    assert not context.wire.writes


@secret_only
def test_a_store_that_can_only_be_read_is_good_enough_for_what_is_right(garage, place, secrets):
    run(garage, options(place))
    secrets.refuse = {"create", "update", "delete"}
    assert not run(garage, options(place))[0]["changed"]


def test_faults_of_all_kinds_are_told_at_once(garage):
    context = Context(garage)
    with pytest.raises(InputError) as caught:
        run_key({"name": "", "store": {"path": "x", "region": "a"}, "rotate": True, "remove_replaced": True, "rotate_grace": "soon"}, context)
    assert {fault.split(":")[0] for fault in caught.value.faults} == {"store.path", "name", "rotate_grace", "remove_replaced"}
    assert context.endpoints == []


# broken off anywhere

def run_until(garage, params, until):
    power = Power(until)
    cut_off(lambda: run(garage, params, power=power), power)
    return power.points


def prepare(kind, place):
    place.clear()
    garage = FakeGarage(seed=3)
    if kind != "create":
        run(garage, options(place))
    if kind == "lost":
        garage.state.keys.clear()
    if kind == "deleted":
        run(garage, options(place, state="absent"))
    return garage, options(place, **({"state": "absent", "credential_deletion_policy": "delete"} if kind == "delete" else {}))


@pytest.mark.requirement("TD-42", "TD-55")
@pytest.mark.parametrize("kind", ["create", "lost", "deleted", "delete"])
def test_a_run_that_breaks_off_anywhere_is_finished_by_the_next(place, kind):
    total = run_until(*prepare(kind, place), None)
    assert total >= 8
    for number in range(total):
        garage, params = prepare(kind, place)
        before = place.pair
        run_until(garage, params, number)
        assert len(keys(garage)) <= 1
        place.later()
        run(garage, params)
        if kind == "delete":
            assert (keys(garage), place.names) == ({}, [])
        else:
            row = in_order(garage, place)
            assert ((row.id, row.secret) == before) == (kind == "lost")


@pytest.mark.requirement("TD-42")
@file_only
@pytest.mark.parametrize("fault", [fault for fault in Fault if fault.name != "CUT_HALFWAY"])
def test_a_request_that_fails_anyhow_leaves_nothing_that_the_next_run_cannot_mend(place, fault):
    garage, params = prepare("create", place)
    _result, context = run(garage, params)
    total = len(context.wire.sent)
    for number in range(total):
        garage, params = prepare("create", place)
        try:
            run(garage, params, faults={number: fault})
        except GarageError as error:
            assert not any(row.secret in error.message for row in garage.state.keys.values())
            run(garage, params)
        in_order(garage, place)


# at once

@pytest.mark.requirement("TD-29")
def test_of_two_runs_at_once_one_makes_the_key_and_the_other_finds_it(garage, place):
    for _round in range(3):
        garage.state.keys.clear()
        place.clear()
        results = at_once(lambda: run(garage, options(place))[0])
        assert sorted(result["changed"] for result in results) == [False, True]
        in_order(garage, place)
