# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""One access key in the place of another: never a moment without access, whatever breaks off."""

from __future__ import annotations

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils import _key_job
from ansible_collections.s3ops.garage.plugins.module_utils._errors import Ambiguous, GarageError, InputError, PlanError, VerifyMismatch
from ansible_collections.s3ops.garage.plugins.module_utils._key_job import run_key
from ansible_collections.s3ops.garage.plugins.module_utils._models.key import KeySpec
from tests.fakes.garage import FakeGarage, Fault
from tests.fakes.loopback import Loopback, answer
from tests.unit.store_places import PLACES, Place, at_once, cut_off, hurry
from tests.unit.token_runs import Context, Power

TAKEN = "<ListAllMyBucketsResult><Buckets/></ListAllMyBucketsResult>"
REFUSED = "<Error><Code>InvalidAccessKeyId</Code><Message>No such key</Message></Error>"
LATER = "2026-01-02T00:00:00Z"


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(_key_job, "_ACCEPTED_WITHIN_SECONDS", 0.0)
    hurry(monkeypatch)


@pytest.fixture
def place(request, tmp_path, secrets, kv):
    return Place(getattr(request, "param", "file"), tmp_path, secrets, kv)


every_place = pytest.mark.parametrize("place", PLACES, indirect=True)


def call(garage, method, endpoint, **more):
    status, body = garage.handle(method, f"/v2/{endpoint}", **more)
    assert status == 200, body
    return body


def prepared(place, seed=3, **settings):
    """A Garage with the key app, its credentials in the store, rights on two buckets, and a local alias."""
    garage = FakeGarage(seed=seed)
    run(garage, options(place, **settings))
    (key_id,) = garage.state.keys
    for alias, rights in (("media", ("read", "write")), ("logs", ("read", "owner"))):
        bucket = call(garage, "POST", "CreateBucket", body={"globalAlias": alias})
        call(garage, "POST", "AllowBucketKey", body={"bucketId": bucket["id"], "accessKeyId": key_id, "permissions": dict.fromkeys(rights, True)})
    call(garage, "POST", "AddBucketAlias", body={"bucketId": bucket["id"], "accessKeyId": key_id, "localAlias": "mine"})
    return garage


def options(place, **more):
    return {"name": "app", "store": {**place.option, **more.pop("store", {})}, **more}


def run(garage, params, **more):
    context = Context(garage, **more)
    outcome, beside = run_key(params, context)
    context.warnings += outcome.plan.notes
    return {"changed": outcome.plan.changed, "key": outcome.result, "actions": list(outcome.plan.would), "diff": outcome.plan.diff, **beside}, context


def named(garage):
    return {row.name: row for row in garage.state.keys.values() if not row.deleted}


def rights(garage, key_id):
    """What the key may do, and how it calls its buckets."""
    buckets = garage.state.buckets.values()
    return ({(sorted(bucket.aliases)[0], right) for bucket in buckets for right, given in bucket.grants.get(key_id, {}).items() if given},
            {alias for bucket in buckets for owner, alias in bucket.local_aliases if owner == key_id})


EVERYTHING = ({("media", "read"), ("media", "write"), ("logs", "read"), ("logs", "owner")}, {"mine"})


@pytest.mark.requirement("FC-068", "TD-31")
def test_a_rotation_makes_a_new_key_with_all_rights_and_leaves_the_old_one(place):
    garage = prepared(place, allow_create_bucket=True, expiration="2030-01-01T00:00:00Z")
    old = named(garage)["app"]
    predicted, context = run(garage, options(place, rotate=True), check=True)
    assert not context.wire.writes and predicted["rotated"]
    result, context = run(garage, options(place, rotate=True))
    assert result["actions"] == predicted["actions"] and result["diff"] == predicted["diff"]
    new = named(garage)["app"]
    assert (result["rotated"], result["changed"], result["key"]["id"]) == (True, True, new.id)
    assert new.id != old.id and place.pair == (new.id, new.secret) and place.names == ["ci"]
    assert rights(garage, new.id) == rights(garage, old.id) == EVERYTHING
    assert (new.create_bucket, new.expiration) == (True, old.expiration)
    assert {name: row.id for name, row in named(garage).items()} == {"app": new.id, "app (replaced)": old.id}
    assert any(old.id in text for text in context.warnings)
    again, _context = run(garage, options(place))
    assert (again["changed"], again["rotated"]) == (False, False)


@pytest.mark.requirement("FC-068")
def test_the_old_key_goes_in_a_second_step(place):
    garage = prepared(place)
    run(garage, options(place, rotate=True))
    old = named(garage)["app (replaced)"].id
    result, _context = run(garage, options(place, remove_replaced=True))
    assert result["actions"] == [f"delete app (replaced) ({old})"] and set(named(garage)) == {"app"}
    assert not run(garage, options(place, remove_replaced=True))[0]["changed"]


@pytest.mark.requirement("FC-068")
def test_a_grace_period_ends_by_the_clock_of_the_server(place):
    garage = prepared(place)
    run(garage, options(place, rotate=True, rotate_grace="24h"))
    assert not run(garage, options(place))[0]["changed"]
    garage.clock.advance(25 * 3600)
    result, _context = run(garage, options(place))
    assert result["changed"] and set(named(garage)) == {"app"}


def test_a_grace_period_never_lengthens_a_life(place):
    garage = prepared(place, expiration=LATER)
    run(garage, options(place, rotate=True, rotate_grace="7d", expiration="never"))
    found = named(garage)
    assert found["app"].expiration is None and found["app (replaced)"].expiration is not None
    garage.clock.advance(25 * 3600)
    run(garage, options(place))
    assert set(named(garage)) == {"app"}


def test_two_rotations_leave_two_old_keys_and_an_absent_key_takes_all_along(place):
    garage = prepared(place)
    for _time in range(2):
        run(garage, options(place, rotate=True))
    assert sorted(row.name for row in garage.state.keys.values()) == ["app", "app (replaced)", "app (replaced)"]
    result, _context = run(garage, options(place, state="absent"))
    assert len(result["actions"]) == 3 and named(garage) == {}


@pytest.mark.requirement("TD-38")
def test_a_rotation_of_a_key_that_is_not_there_makes_it(place):
    garage = FakeGarage()
    result, _context = run(garage, options(place, rotate=True))
    assert (result["changed"], result["rotated"], set(named(garage))) == (True, False, {"app"})


def test_the_new_credentials_can_be_returned_instead_of_stored():
    garage = FakeGarage()
    run(garage, {"name": "app"})
    result, _context = run(garage, {"name": "app", "rotate": True, "return_secret": True})
    new = named(garage)["app"]
    assert (result["key"]["id"], result["key"]["secret_access_key"]) == (new.id, new.secret) and len(named(garage)) == 2


def test_a_new_key_that_would_never_work_is_refused(place):
    garage = prepared(place, expiration=LATER)
    garage.clock.advance(25 * 3600)
    context = Context(garage)
    with pytest.raises(PlanError, match="would never work"):
        run_key(options(place, rotate=True), context)
    assert not context.wire.writes
    run(garage, options(place, rotate=True, expiration="never"))
    assert named(garage)["app"].expiration is None


def test_two_keys_that_were_to_take_the_place_are_told(place):
    garage = prepared(place)
    for _time in range(2):
        call(garage, "POST", "CreateKey", body={"name": "app (rotating)"})
    with pytest.raises(Ambiguous, match="rotating"):
        run_key(options(place), Context(garage))


@pytest.mark.parametrize(("params", "words"), [
    ({"id": "GK0123456789abcdef01234567", "rotate": True, "return_secret": True}, "rotate: needs name, and no id"),
    ({"name": "app", "rotate": True}, "rotate: needs a place for the new credentials"),
    ({"name": "app", "rotate": True, "return_secret": True, "state": "absent"}, "rotate: cannot be asked of a key that shall be absent"),
    ({"name": "app", "rotate": True, "return_secret": True, "remove_replaced": True}, "remove_replaced: is for a later run"),
    ({"name": "app", "rotate_grace": "24h"}, "rotate_grace: is for rotate"),
    ({"name": "app", "rotate": True, "return_secret": True, "rotate_grace": "soon"}, "rotate_grace: 'soon' is not a duration"),
    ({"name": "app", "credential_deletion_policy": "delete"}, "credential_deletion_policy: delete needs store"),
])
def test_faulty_options(params, words):
    with pytest.raises(InputError) as caught:
        KeySpec.from_params(params)
    assert any(words in fault for fault in caught.value.faults)


# tried where it is for

@pytest.mark.requirement("FC-068", "TD-31")
@pytest.mark.parametrize(("status", "accepted"), [(200, True), (403, False), (400, False), (500, None)])
def test_the_new_key_has_to_sign_a_request_that_s3_takes(place, monkeypatch, status, accepted):
    monkeypatch.setenv("NO_PROXY", "*")
    garage = prepared(place)
    old = named(garage)["app"]
    with Loopback(default=answer(status=status, text=TAKEN if status == 200 else REFUSED, media_type="application/xml")) as s3:
        wanted = options(place, rotate=True, store={"endpoint": s3.url})
        if accepted is False:
            with pytest.raises(VerifyMismatch, match=f"HTTP {status} InvalidAccessKeyId"):
                run_key(wanted, Context(garage))
            assert {name: row.id for name, row in named(garage).items()}["app"] == old.id
            assert rights(garage, old.id) == EVERYTHING
        else:
            _result, context = run(garage, wanted)
            told = [text for client in context.clients for text in client.warnings if "could not be tried" in text]
            assert bool(told) == (accepted is None) and named(garage)["app"].id != old.id
        new = place.pair[0]
        assert all(f"Credential={new}/" in request.headers["authorization"] for request in s3.requests) and s3.requests
    # What broke off is gone on with, also where nothing but the state is asked for.
    if accepted is False:
        with Loopback(default=answer(text=TAKEN, media_type="application/xml")) as s3:
            result, _context = run(garage, options(place, store={"endpoint": s3.url}))
        assert result["rotated"] and named(garage)["app"].id == new


# broken off anywhere

class Watched(Power):
    """Looks at each point; what the look itself does is none."""

    def __init__(self, until, look):
        super().__init__(until)
        self._look, self._looking = look, False

    def point(self):
        if self._looking:
            return
        self._looking = True
        self._look()
        self._looking = False
        super().point()


def run_until(garage, params, until, watch=lambda: None):
    power = Watched(until, watch)
    cut_off(lambda: run(garage, params, power=power), power)
    return power.points


@pytest.mark.requirement("FC-068", "TD-31", "TD-42")
@pytest.mark.parametrize("again", ["same", "plain"])
@every_place
def test_a_rotation_that_breaks_off_anywhere_is_finished_by_the_next_run_and_nobody_loses_access(place, again):
    def access(garage):
        # Whoever has what is in the store can do everything, and so can whoever still has the old credentials.
        for key_id in (place.pair[0], old):
            row = garage.state.keys[key_id]
            assert not row.deleted and rights(garage, key_id) == EVERYTHING

    garage = prepared(place)
    old = named(garage)["app"].id
    total = run_until(garage, options(place, rotate=True), None, lambda: access(garage))
    assert total > 20
    place.clear()
    for number in range(total):
        garage = prepared(place)
        old = named(garage)["app"].id
        run_until(garage, options(place, rotate=True), number, lambda: access(garage))
        access(garage)
        before = set(named(garage))
        place.later()
        run(garage, options(place, rotate=again == "same"))
        access(garage)
        rows = [row for row in garage.state.keys.values() if not row.deleted]
        # A rotation that had come to its end is followed by another one where that is asked for again.
        ended, unbegun = before == {"app", "app (replaced)"}, before == {"app"}
        assert len(rows) == (3 if ended and again == "same" else 1 if unbegun and again == "plain" else 2)
        assert {row.name for row in rows} <= {"app", "app (replaced)"}
        assert place.pair[0] == named(garage)["app"].id and place.names == ["ci"]
        place.clear()


@pytest.mark.requirement("FC-068", "TD-42", "TD-55")
@pytest.mark.parametrize("end", [{"remove_replaced": True}, {"state": "absent", "credential_deletion_policy": "delete"}], ids=["replaced", "all"])
@every_place
def test_a_removal_of_what_was_rotated_that_breaks_off_anywhere_is_finished_by_the_next_run(place, end):
    def rotated():
        place.clear()
        garage = prepared(place)
        run(garage, options(place, rotate=True))
        return garage

    total = run_until(rotated(), options(place, **end), None)
    assert total >= 6
    for number in range(total):
        garage = rotated()
        new = place.pair
        run_until(garage, options(place, **end), number)
        place.later()
        run(garage, options(place, **end))
        if "remove_replaced" in end:
            assert set(named(garage)) == {"app"} and place.names == ["ci"]
            assert place.pair == new == (named(garage)["app"].id, named(garage)["app"].secret)
        else:
            assert (named(garage), place.names) == ({}, [])


@pytest.mark.requirement("FC-068")
@pytest.mark.parametrize("fault", [fault for fault in Fault if fault.name != "CUT_HALFWAY"])
def test_a_request_that_fails_anyhow_is_mended(place, fault):
    garage = prepared(place)
    _result, context = run(garage, options(place, rotate=True))
    total = len(context.wire.sent)
    place.clear()
    for number in range(total):
        garage = prepared(place)
        try:
            run(garage, options(place, rotate=True), faults={number: fault})
        except GarageError as error:
            assert not any(row.secret in error.message for row in garage.state.keys.values())
            run(garage, options(place))
        found = named(garage)
        assert set(found) <= {"app", "app (replaced)"} and place.pair == (found["app"].id, found["app"].secret)
        assert rights(garage, found["app"].id) == EVERYTHING
        place.clear()


# at once

@pytest.mark.requirement("FC-068", "TD-29", "TD-31")
@every_place
def test_of_two_rotations_at_once_each_leaves_a_key_that_works_and_the_last_is_stored(place):
    for _round in range(3):
        place.clear()
        garage = prepared(place)
        at_once(lambda garage=garage: run(garage, options(place, rotate=True)))
        found = [row.name for row in garage.state.keys.values() if not row.deleted]
        assert found.count("app") == 1 and set(found) == {"app", "app (replaced)"} and len(found) in (2, 3)
        new = named(garage)["app"]
        assert place.pair == (new.id, new.secret) and place.names == ["ci"]
        assert all(rights(garage, row.id)[0] == EVERYTHING[0] for row in garage.state.keys.values())
