# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an access key needs, decided on tables: no server, no Ansible."""

from __future__ import annotations

import json
from datetime import datetime, timezone

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils._errors import Ambiguous, Conflict, InputError, NotDeclaredHere, PlanError
from ansible_collections.s3ops.garage.plugins.module_utils._executor import Task, converge
from ansible_collections.s3ops.garage.plugins.module_utils._models.key import KNOWN_AFTER, LIST_CAP, Key, KeyDirectory, KeySpec
from ansible_collections.s3ops.garage.plugins.module_utils._plan import Secret, resolve
from ansible_collections.s3ops.garage.plugins.module_utils._planners.key import KeySnapshot, plan_key

ID = "GK0123456789abcdef01234567"
SECRET = "f" * 32 + "0" * 32
NOW = datetime(2026, 6, 1, tzinfo=timezone.utc)


def spec(**params):
    return KeySpec.from_params(params)


def live(**changes):
    return KeySnapshot(Key(**{"id": ID, "name": "app", "allow_create_bucket": False, "buckets": (), **changes}), NOW)


def sent(plan):
    """The requests of a plan as they go on the wire: endpoint, query, body."""
    return [(call.endpoint, resolve(call.query, {}), resolve(call.body, {})) for call in plan.calls]


ABSENT = KeySnapshot(None, NOW)

TABLE = [
    ("create", {"name": "app"}, ABSENT, [("CreateKey", {}, {"name": "app"})]),
    ("create with everything", {"name": "app", "expiration": "2030-01-01T02:00:00+02:00", "allow_create_bucket": True}, ABSENT,
     [("CreateKey", {}, {"name": "app", "expiration": "2030-01-01T00:00:00Z", "allow": {"createBucket": True}})]),
    ("create without what is not there anyway", {"name": "app", "expiration": "never", "allow_create_bucket": False}, ABSENT,
     [("CreateKey", {}, {"name": "app"})]),
    ("there already", {"name": "app"}, live(), []),
    ("import", {"id": ID, "secret_access_key": SECRET, "name": "app"}, ABSENT,
     [("ImportKey", {}, {"accessKeyId": ID, "secretAccessKey": SECRET, "name": "app"})]),
    ("import, settings by a call of their own", {"id": ID, "secret_access_key": SECRET, "expiration": "2030-01-01T00:00:00Z",
                                                 "allow_create_bucket": True}, ABSENT,
     [("ImportKey", {}, {"accessKeyId": ID, "secretAccessKey": SECRET, "name": "Imported key"}),
      ("UpdateKey", {"id": ID}, {"expiration": "2030-01-01T00:00:00Z", "allow": {"createBucket": True}})]),
    ("imported already", {"id": ID, "secret_access_key": SECRET}, live(secret=Secret(SECRET)), []),
    ("rename by id", {"id": ID, "name": "app2"}, live(), [("UpdateKey", {"id": ID}, {"name": "app2"})]),
    ("expiration set", {"name": "app", "expiration": "2030-01-01T00:00:00Z"}, live(),
     [("UpdateKey", {"id": ID}, {"expiration": "2030-01-01T00:00:00Z"})]),
    ("expiration equal in another zone", {"name": "app", "expiration": "2030-01-01T02:00:00+02:00"}, live(expiration="2030-01-01T00:00:00Z"), []),
    ("expiration left alone", {"name": "app"}, live(expiration="2030-01-01T00:00:00Z"), []),
    ("expiration cleared", {"name": "app", "expiration": "never"}, live(expiration="2030-01-01T00:00:00Z"),
     [("UpdateKey", {"id": ID}, {"neverExpires": True})]),
    ("never expires already", {"name": "app", "expiration": "never"}, live(), []),
    ("right to create buckets", {"name": "app", "allow_create_bucket": True}, live(), [("UpdateKey", {"id": ID}, {"allow": {"createBucket": True}})]),
    ("right there already", {"name": "app", "allow_create_bucket": True}, live(allow_create_bucket=True), []),
    ("right taken away", {"name": "app", "allow_create_bucket": False}, live(allow_create_bucket=True),
     [("UpdateKey", {"id": ID}, {"deny": {"createBucket": True}})]),
    ("right left alone", {"name": "app"}, live(allow_create_bucket=True), []),
    ("delete", {"name": "app", "state": "absent"}, live(), [("DeleteKey", {"id": ID}, None)]),
    ("gone already", {"name": "app", "state": "absent"}, ABSENT, []),
    ("gone already by id", {"id": ID, "state": "absent"}, ABSENT, []),
]


@pytest.mark.requirement("FC-056")
@pytest.mark.requirement("FC-059")
@pytest.mark.requirement("FC-064")
@pytest.mark.requirement("FC-065")
@pytest.mark.requirement("FC-067")
@pytest.mark.parametrize(("params", "snapshot", "calls"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_what_is_sent(params, snapshot, calls):
    plan = plan_key(spec(**params), snapshot)
    assert sent(plan) == calls
    assert plan.changed == bool(calls)


@pytest.mark.parametrize(("params", "snapshot", "error", "words"), [
    ({"id": ID}, ABSENT, NotDeclaredHere, "there is no key with the id"),
    ({"id": ID, "secret_access_key": SECRET}, live(secret=Secret("another-secret-than-that")), PlanError, "can never be changed"),
    ({"id": ID, "name": "web", "state": "absent"}, live(), PlanError, "nothing was deleted"),
], ids=["id without secret", "another secret", "another name"])
@pytest.mark.requirement("FC-062")
def test_what_is_refused(params, snapshot, error, words):
    with pytest.raises(error, match=words) as caught:
        plan_key(spec(**params), snapshot)
    assert "another-secret" not in str(caught.value) and SECRET not in str(caught.value)


@pytest.mark.parametrize(("params", "words"), [
    ({}, "name or id must be set"),
    ({"name": ""}, "name: must not be empty"),
    ({"id": "short"}, "id: 'short' is not an access key id"),
    ({"id": "has space and & in it"}, "id: "),
    ({"name": "app", "secret_access_key": SECRET}, "secret_access_key: needs id"),
    ({"id": ID, "secret_access_key": "too-short"}, "secret_access_key: is not a secret access key"),
    ({"id": ID, "secret_access_key": "ümlaut-ümlaut-ümlaut"}, "secret_access_key: is not a secret access key"),
    ({"name": "app", "expiration": "1969-12-31T00:00:00Z"}, "expiration: '1969-12-31T00:00:00Z' lies before 1970"),
    ({"name": "app", "expiration": "2030-01-01"}, "expiration: "),
    ({"name": "app", "expiration": "2030-01-01T00:00:00"}, "expiration: "),
])
def test_faulty_options(params, words):
    with pytest.raises(InputError) as caught:
        KeySpec.from_params(params, where="keys[3].")
    assert f"keys[3].{words}" in str(caught.value)
    assert params.get("secret_access_key", SECRET) not in str(caught.value)


def test_all_faults_at_once():
    with pytest.raises(InputError) as caught:
        spec(name="", id="no", secret_access_key="short", expiration="soon")
    assert [fault.split(":")[0] for fault in caught.value.faults] == ["expiration", "name", "id", "secret_access_key"]


@pytest.mark.parametrize(("when", "expired"), [("2026-05-31T23:59:59Z", True), ("2026-06-01T00:00:01Z", False)])
def test_expired_is_predicted_by_the_clock_of_the_server(when, expired):
    assert plan_key(spec(name="app", expiration=when), live()).after["expired"] is expired


@pytest.mark.requirement("FC-056")
@pytest.mark.parametrize(("params", "snapshot", "shown"), [
    ({"name": "app"}, ABSENT, None),
    ({"name": "app", "return_secret": True}, ABSENT, KNOWN_AFTER),
    ({"name": "app"}, live(secret=Secret(SECRET)), None),
    ({"name": "app", "return_secret": True}, live(secret=Secret(SECRET)), SECRET),
    ({"name": "app", "return_secret": True, "allow_create_bucket": True}, live(secret=Secret(SECRET)), SECRET),
    ({"id": ID, "secret_access_key": SECRET}, ABSENT, None),
    ({"id": ID, "secret_access_key": SECRET, "return_secret": True}, ABSENT, SECRET),
])
def test_the_secret_is_in_the_result_alone(params, snapshot, shown):
    plan = plan_key(spec(**params), snapshot)
    assert resolve(plan.after, {})["secret_access_key"] == shown
    assert SECRET not in repr(plan) and SECRET not in json.dumps(plan.diff) and SECRET not in repr(spec(**params))


def test_a_result_has_the_same_entries_whatever_happened():
    plans = [plan_key(spec(name="app"), ABSENT), plan_key(spec(name="app"), live()), plan_key(spec(name="app", expiration="never"), live())]
    assert len({tuple(plan.after) for plan in plans}) == 1


class Deleted:
    """A client of a server that had a key with the wanted id once."""

    def __init__(self):
        self.secrets, self.warnings, self.server_time = [], [], None

    def call(self, endpoint, query=None, body=None):
        raise Conflict("ImportKey at http://x: HTTP 409 KeyAlreadyExists: exists", status=409, code="KeyAlreadyExists", endpoint=endpoint)


@pytest.mark.requirement("FC-061")
def test_the_id_of_a_deleted_key_is_explained():
    wanted = spec(id=ID, secret_access_key=SECRET)
    task = Task(read=lambda client, doubts: ABSENT, plan=lambda snapshot: plan_key(wanted, snapshot), show=lambda snapshot: None)
    with pytest.raises(Conflict) as caught:
        converge(task, Deleted())
    assert "was deleted before, and Garage never takes" in caught.value.message
    assert (caught.value.status, caught.value.done) == (409, ())


def rows(*names):
    return [{"id": f"GK{number:024x}", "name": name, "expired": False} for number, name in enumerate(names)]


@pytest.mark.requirement("FC-058")
def test_a_name_is_looked_up_exactly_and_never_guessed():
    directory = KeyDirectory.from_api(rows("app", "App", "app2", "twin", "twin"))
    assert directory.by_name("app").id == f"GK{0:024x}"
    assert directory.by_name("ap") is None
    with pytest.raises(Ambiguous, match=f"GK{3:024x}, GK{4:024x}"):
        directory.by_name("twin")


def test_a_name_is_not_absent_when_the_list_was_cut():
    directory = KeyDirectory.from_api(rows(*(f"key{number}" for number in range(LIST_CAP))))
    assert directory.by_name("key7").id == f"GK{7:024x}"
    with pytest.raises(PlanError, match="it may have more"):
        directory.by_name("app")
    assert KeyDirectory.from_api(rows(*["x"] * (LIST_CAP + 1))).by_name("app") is None


def test_a_key_is_read_in_one_order_and_form():
    info = {"accessKeyId": ID, "name": "app", "created": "2026-01-01T00:00:00.000Z", "expiration": "2030-01-01T01:00:00+01:00", "expired": False,
            "permissions": {"createBucket": True}, "secretAccessKey": SECRET, "buckets": [
                {"id": "b" * 64, "globalAliases": ["z", "a"], "localAliases": [], "permissions": {"read": True, "write": False, "owner": False}},
                {"id": "a" * 64, "globalAliases": [], "localAliases": ["mine"], "permissions": {}}]}
    key = Key.from_api(info)
    assert key.to_result() == {
        "id": ID, "name": "app", "created": "2026-01-01T00:00:00Z", "expiration": "2030-01-01T00:00:00Z", "expired": False,
        "allow_create_bucket": True, "secret_access_key": None, "buckets": [
            {"id": "a" * 64, "aliases": [], "local_aliases": ["mine"], "read": False, "write": False, "owner": False},
            {"id": "b" * 64, "aliases": ["a", "z"], "local_aliases": [], "read": True, "write": False, "owner": False}]}
    assert SECRET not in repr(key)
