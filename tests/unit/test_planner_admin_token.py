# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an admin token needs, decided on tables: no server, no file, no Ansible."""

from __future__ import annotations

import json
from datetime import datetime, timezone

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils._endpoints import ENDPOINTS
from ansible_collections.s3ops.garage.plugins.module_utils._errors import Ambiguous, CredentialLost, InputError, NotDeclaredHere, PlanError
from ansible_collections.s3ops.garage.plugins.module_utils._models.admin_token import (
    LIST_CAP,
    SCOPES,
    AdminToken,
    Intent,
    StoredToken,
    TokenDirectory,
    TokenSpec,
)
from ansible_collections.s3ops.garage.plugins.module_utils._models.key import KNOWN_AFTER
from ansible_collections.s3ops.garage.plugins.module_utils._models.store import DELETE_ENTRY, Entry
from ansible_collections.s3ops.garage.plugins.module_utils._models.store_layout import CONTENT
from ansible_collections.s3ops.garage.plugins.module_utils._plan import Secret, resolve
from ansible_collections.s3ops.garage.plugins.module_utils._planners.admin_token import TokenSnapshot, plan_admin_token

NOW = datetime(2026, 6, 1, tzinfo=timezone.utc)
ID, OTHER, FRESH = "a" * 24, "b" * 24, "c" * 24
NONCE, EARLIER = "0" * 32, "1" * 32
PATH = "/etc/garage/ci-token"
STORE = {"store": {"path": PATH}}
HUSH = "hush-hush-hush-hush-hush"
CONFIGURED = AdminToken(None, "admin_token (from daemon configuration)", scope=("*",))


def spec(**params):
    return TokenSpec.from_params(params)


def token(token_id=ID, name="ci", scope=("ListBuckets",), **more):
    return AdminToken(token_id, name, "2026-01-01T00:00:00Z", scope=scope, **more)


def held(token_id=ID, accepted=True):
    return StoredToken(token_id, Secret(f"{token_id}.{HUSH}"), accepted)


def live(*tokens, **more):
    if more.get("stored"):
        more.setdefault("entry", Entry({CONTENT: more["stored"].secret.value + "\n"}))
    return TokenSnapshot(TokenDirectory((CONFIGURED, *tokens)), nonce=NONCE, now=NOW, **more)


def sent(plan):
    answers = {call.binds: {"id": "the new id"} for call in plan.calls}
    return [(call.endpoint, resolve(call.query, answers), resolve(call.body, answers)) for call in plan.calls]


def pending(nonce, token_id=FRESH, **more):
    return token(token_id, f"ci (pending {nonce})", **more)


def create(**more):
    return ("CreateAdminToken", {}, {"name": f"ci (pending {NONCE})", "scope": ["ListBuckets"], **more})


NAME_IT = ("UpdateAdminToken", {"id": "the new id"}, {"name": "ci"})
CI = {"name": "ci", "scope": ["ListBuckets"], **STORE}
BEGUN = Intent("ci", EARLIER)
ROTATING = Intent("ci", EARLIER, ID)
LATER = "2030-01-01T00:00:00Z"


def delete(token_id):
    return ("DeleteAdminToken", {"id": token_id}, None)


def update(token_id=ID, **body):
    return ("UpdateAdminToken", {"id": token_id}, body)


TABLE = [
    ("create", CI, live(), [create(), NAME_IT]),
    ("create with an expiration", {**CI, "expiration": "2030-01-01T02:00:00+02:00"}, live(), [create(expiration=LATER), NAME_IT]),
    ("create for ever", {**CI, "expiration": "never"}, live(), [create(), NAME_IT]),
    ("create to be returned", {"name": "ci", "scope": ["ListBuckets"], "return_secret": True}, live(), [create(), NAME_IT]),
    ("there already", CI, live(token(), stored=held()), []),
    ("there already, could not be asked", CI, live(token(), stored=held(accepted=None)), []),
    ("there already, scope in another order", {**CI, "scope": ["GetKeyInfo", "ListBuckets", "ListBuckets"]},
     live(token(scope=("GetKeyInfo", "ListBuckets")), stored=held()), []),
    ("nothing wanted of what is there", {"name": "ci", **STORE}, live(token(expiration=LATER), stored=held()), []),
    ("without a store, of what is there", {"name": "ci"}, live(token()), []),
    ("secret asked for of what is there", {"name": "ci", "return_secret": True}, live(token()), []),
    ("another scope", {**CI, "scope": ["ListKeys"]}, live(token(), stored=held()), [update(scope=["ListKeys"])]),
    ("no scope", {**CI, "scope": []}, live(token(), stored=held()), [update(scope=[])]),
    ("expiration set", {**CI, "expiration": LATER}, live(token(), stored=held()), [update(expiration=LATER)]),
    ("expiration cleared", {**CI, "expiration": "never"}, live(token(expiration=LATER), stored=held()), [update(neverExpires=True)]),
    ("expired and brought back", {**CI, "expiration": LATER}, live(token(expiration="2026-05-01T00:00:00Z", expired=True), stored=held(accepted=None)),
     [update(expiration=LATER)]),
    ("expired and left", CI, live(token(expiration="2026-05-01T00:00:00Z", expired=True), stored=held(accepted=None)), []),
    ("renamed by id", {"id": ID, "name": "cd", **STORE}, live(token(), stored=held()), [update(name="cd")]),
    ("all at once without a store", {"id": ID, "name": "cd", "scope": ["*"], "expiration": LATER}, live(token()),
     [update(name="cd", scope=["*"], expiration=LATER)]),
    ("the store outlived the server", CI, live(stored=held()), [create(), NAME_IT]),
    ("rotate", {**CI, "rotate": True}, live(token(), stored=held()), [create(), delete(ID), NAME_IT]),
    ("rotate what was lost", {"name": "ci", "rotate": True, **STORE}, live(token()), [create(), delete(ID), NAME_IT]),
    ("rotate what is refused", {**CI, "rotate": True}, live(token(), stored=held(accepted=False)), [create(), delete(ID), NAME_IT]),
    ("rotate what the store has never heard of", {**CI, "rotate": True}, live(token(), stored=held(OTHER)), [create(), delete(ID), NAME_IT]),
    ("rotate by id", {"id": ID, "rotate": True, **STORE}, live(token(expiration=LATER), token(OTHER), stored=held()),
     [create(expiration=LATER), delete(ID), NAME_IT]),
    ("rotate to be returned", {"name": "ci", "rotate": True, "return_secret": True}, live(token()), [create(), delete(ID), NAME_IT]),
    ("rotate what is not there", {**CI, "rotate": True}, live(), [create(), NAME_IT]),
    ("delete", {"name": "ci", "state": "absent"}, live(token()), [delete(ID)]),
    ("gone already", {"name": "ci", "state": "absent"}, live(token(name="cd")), []),
    ("gone already by id", {"id": ID, "state": "absent", **STORE}, live(), []),
    # after a run that broke off
    ("before the create", CI, live(intent=BEGUN), [create(), NAME_IT]),
    ("before the store", CI, live(pending(EARLIER), intent=BEGUN), [delete(FRESH), create(), NAME_IT]),
    ("before the store, several", CI, live(pending(EARLIER), pending(EARLIER, OTHER), intent=BEGUN), [delete(FRESH), delete(OTHER), create(), NAME_IT]),
    ("before the store, which holds what outlived", CI, live(pending(EARLIER), intent=BEGUN, stored=held()), [delete(FRESH), create(), NAME_IT]),
    ("before the name", CI, live(pending(EARLIER), intent=BEGUN, stored=held(FRESH)), [update(FRESH, name="ci")]),
    ("before the name, and another scope", {**CI, "scope": ["*"]}, live(pending(EARLIER), intent=BEGUN, stored=held(FRESH)),
     [update(FRESH, name="ci", scope=["*"])]),
    ("before the end", CI, live(token(FRESH), intent=BEGUN, stored=held(FRESH)), []),
    ("with one more that came late", CI, live(pending(EARLIER), pending(EARLIER, OTHER), intent=BEGUN, stored=held(FRESH)),
     [delete(OTHER), update(FRESH, name="ci")]),
    ("of a rotation, before the store", CI, live(token(), pending(EARLIER), intent=ROTATING, stored=held()), [delete(FRESH)]),
    ("of a rotation, before the store, again", {**CI, "rotate": True}, live(token(), pending(EARLIER), intent=ROTATING, stored=held()),
     [delete(FRESH), create(), delete(ID), NAME_IT]),
    ("of a rotation, before the old one goes", CI, live(token(), pending(EARLIER), intent=ROTATING, stored=held(FRESH)),
     [delete(ID), update(FRESH, name="ci")]),
    ("of a rotation, before the old one goes, again", {**CI, "rotate": True}, live(token(), pending(EARLIER), intent=ROTATING, stored=held(FRESH)),
     [delete(ID), update(FRESH, name="ci")]),
    ("of a rotation, before the name", CI, live(pending(EARLIER), intent=ROTATING, stored=held(FRESH)), [update(FRESH, name="ci")]),
    ("of a rotation, before the end", CI, live(token(FRESH), intent=ROTATING, stored=held(FRESH)), []),
    ("of a rotation, the new one is refused", {**CI, "rotate": True},
     live(token(), pending(EARLIER), intent=ROTATING, stored=held(FRESH, accepted=False)), [delete(FRESH), create(), delete(ID), NAME_IT]),
    ("to be absent", {"name": "ci", "state": "absent", **STORE}, live(token(), pending(EARLIER), intent=ROTATING), [delete(FRESH), delete(ID)]),
]


@pytest.mark.requirement("TD-05", "TD-06", "TD-27", "TD-30", "TD-31", "TD-42", "TD-43")
@pytest.mark.parametrize(("params", "snapshot", "calls"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_what_is_sent(params, snapshot, calls):
    plan = plan_admin_token(spec(**params), snapshot)
    assert sent(plan) == calls
    assert plan.changed == bool(calls)


REFUSED = [
    ("no scope", {"name": "ci", **STORE}, live(), PlanError, "scope must be set"),
    ("no place for the secret", {"name": "ci", "scope": ["*"]}, live(), PlanError, "would have no place"),
    ("never to work", {**CI, "expiration": "2026-05-31T00:00:00Z"}, live(), PlanError, "would never work"),
    ("rotated, never to work", {"name": "ci", "rotate": True, **STORE}, live(token(expiration="2026-05-31T00:00:00Z", expired=True)), PlanError,
     "would never work"),
    ("unknown id", {"id": ID, "scope": ["*"], **STORE}, live(), NotDeclaredHere, "nothing was made"),
    ("two of a name", CI, live(token(), token(OTHER), stored=held()), Ambiguous, f"{ID}, {OTHER}"),
    ("two of a name, to be absent", {"name": "ci", "state": "absent"}, live(token(), token(OTHER)), Ambiguous, f"{ID}, {OTHER}"),
    ("of the configuration", {**CI, "name": CONFIGURED.name}, live(), PlanError, "stands in the configuration"),
    ("of the configuration, to be absent", {"name": CONFIGURED.name, "state": "absent"}, live(), PlanError, "stands in the configuration"),
    ("secret not there", CI, live(token()), CredentialLost, f"its secret is not in {PATH}"),
    ("secret of nobody", CI, live(token(), stored=held(OTHER)), CredentialLost, f"holds the secret of a token {OTHER}"),
    ("wrong secret", CI, live(token(), stored=held(accepted=False)), CredentialLost, "does not accept the secret"),
    ("wrong secret after an interrupted run", CI, live(pending(EARLIER), intent=BEGUN, stored=held(FRESH, accepted=False)), CredentialLost,
     "does not accept the secret"),
    ("secret of another, create", CI, live(token(OTHER, "cd"), stored=held(OTHER)), PlanError, "holds the secret of another token, admin token cd"),
    ("secret of another, change", CI, live(token(), token(OTHER, "cd"), stored=held(OTHER)), PlanError, "holds the secret of another token"),
    ("secret of another, rotate", {**CI, "rotate": True}, live(token(), token(OTHER, "cd"), stored=held(OTHER)), PlanError, "of another token"),
    ("note of another", CI, live(intent=Intent("cd", EARLIER)), PlanError, "the note of an interrupted run for 'cd'"),
    ("another name for the id", {"id": ID, "name": "cd", "state": "absent"}, live(token()), PlanError, "nothing was deleted"),
    ("rotate oneself", {**CI, "rotate": True}, live(token(), stored=held(), own_id=ID), PlanError, "the very token"),
    ("delete oneself", {"name": "ci", "state": "absent"}, live(token(), own_id=ID), PlanError, "the very token"),
]


@pytest.mark.requirement("TD-09", "TD-28", "TD-34", "TD-44", "FC-080", "GS-05")
@pytest.mark.parametrize(("params", "snapshot", "error", "words"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_is_refused(params, snapshot, error, words):
    with pytest.raises(error) as caught:
        plan_admin_token(spec(**params), snapshot)
    assert caught.value.__class__ is error
    assert words in caught.value.message
    assert HUSH not in caught.value.message


@pytest.mark.requirement("TD-09", "TD-44")
@pytest.mark.parametrize("snapshot", [live(token()), live(token(), stored=held(OTHER)), live(token(), stored=held(accepted=False))])
def test_a_lost_secret_says_what_to_restore_and_how_to_go_on_without(snapshot):
    with pytest.raises(CredentialLost) as caught:
        plan_admin_token(spec(**CI), snapshot)
    assert caught.value.kind == "credential_lost"
    assert ID in caught.value.message
    assert PATH in caught.value.hint and "rotate: true" in caught.value.hint


@pytest.mark.requirement("TD-43")
@pytest.mark.parametrize("params", [CI, {**CI, "rotate": True}, {"name": "ci", "state": "absent"}])
def test_what_has_not_our_nonce_is_told_of_and_left(params):
    foreign = [pending("2" * 32, "d" * 24), token("e" * 24, "ci (pending)"), token("f" * 24, "xci (pending " + "2" * 32 + ")")]
    plan = plan_admin_token(spec(**params), live(token(), *foreign, stored=held()))
    assert not [call for call in plan.calls if call.query.get("id") in ("d" * 24, "e" * 24, "f" * 24)]
    (note,) = [note for note in plan.notes if "of which there is no note" in note]
    assert "d" * 24 in note and "e" * 24 not in note and "f" * 24 not in note


FLAGS = [
    (CI, live(), (False, False)),
    (CI, live(token(), stored=held()), (True, False)),
    ({**CI, "scope": ["*"]}, live(token(), stored=held()), (True, False)),
    ({"name": "ci"}, live(token()), (False, False)),
    (CI, live(stored=held()), (False, False)),
    ({**CI, "rotate": True}, live(token(), stored=held()), (False, True)),
    ({**CI, "rotate": True}, live(), (False, False)),
    (CI, live(pending(EARLIER), intent=BEGUN, stored=held(FRESH)), (True, False)),
    (CI, live(token(), pending(EARLIER), intent=ROTATING, stored=held(FRESH)), (True, True)),
    (CI, live(token(FRESH), intent=ROTATING, stored=held(FRESH)), (True, False)),
    ({"name": "ci", "state": "absent"}, live(token()), (False, False)),
]


@pytest.mark.requirement("TD-05", "TD-31")
@pytest.mark.parametrize(("params", "snapshot", "flags"), FLAGS)
def test_adopted_and_rotated(params, snapshot, flags):
    plan = plan_admin_token(spec(**params), snapshot)
    assert (plan.adopted, plan.rotated) == flags
    assert any("goes with the rotation" in note for note in plan.notes) == plan.rotated


@pytest.mark.parametrize(("scope", "told"), [(["CreateAdminToken"], True), (["UpdateAdminToken", "ListKeys"], True), (["*"], False), (["ListKeys"], False)])
def test_a_scope_that_can_widen_itself_is_told_of(scope, told):
    for snapshot in (live(), live(token(), stored=held())):
        plan = plan_admin_token(spec(**{**CI, "scope": scope}), snapshot)
        assert any("give itself every other right" in note for note in plan.notes) == told


@pytest.mark.requirement("TD-06")
def test_a_store_that_outlived_the_server_is_told_of():
    plan = plan_admin_token(spec(**CI), live(stored=held()))
    assert any(f"{PATH}.old" in note and ID in note for note in plan.notes)


@pytest.mark.requirement("TD-02")
@pytest.mark.parametrize(("snapshot", "drops"), [
    (live(token(), stored=held()), True),
    (live(stored=held()), True),
    (live(pending(EARLIER), intent=BEGUN, stored=held(FRESH)), True),
    (live(token(), token(OTHER, "cd"), stored=held(OTHER)), False),
    (live(token()), False),
])
def test_the_file_goes_only_when_it_is_asked_for_and_dead(snapshot, drops):
    gone = {"name": "ci", "state": "absent", **STORE}
    plan = plan_admin_token(spec(**gone, credential_deletion_policy="delete"), snapshot)
    assert any(call.endpoint == DELETE_ENTRY for call in plan.calls) == drops
    assert any("which is another token" in note for note in plan.notes) == bool(snapshot.stored and not drops)
    assert DELETE_ENTRY not in {call.endpoint for call in plan_admin_token(spec(**gone), snapshot).calls}


@pytest.mark.requirement("TD-37")
def test_a_result_has_the_same_entries_whatever_happened():
    plans = [plan_admin_token(spec(**params), snapshot) for params, snapshot in (
        (CI, live()), (CI, live(token(), stored=held())), ({"name": "ci"}, live(token())), ({**CI, "rotate": True}, live(token(), stored=held())))]
    assert len({tuple(plan.prediction) for plan in plans}) == 1
    assert [plan.prediction["store"] for plan in plans] == [{"path": PATH}, {"path": PATH}, None, {"path": PATH}]
    assert plan_admin_token(spec(name="ci", state="absent"), live(token())).prediction is None


@pytest.mark.parametrize(("params", "snapshot", "shown"), [
    (CI, live(), None),
    ({**CI, "return_secret": True}, live(), KNOWN_AFTER),
    (CI, live(token(), stored=held()), None),
    ({**CI, "return_secret": True}, live(token(), stored=held()), f"{ID}.{HUSH}"),
    ({"name": "ci", "return_secret": True}, live(token()), None),
    ({**CI, "return_secret": True, "rotate": True}, live(token(), stored=held()), KNOWN_AFTER),
])
def test_the_secret_is_in_the_result_alone(params, snapshot, shown):
    plan = plan_admin_token(spec(**params), snapshot)
    assert resolve(plan.prediction, {})["secret_token"] == shown
    assert HUSH not in repr(plan) and HUSH not in repr(snapshot) and HUSH not in json.dumps(plan.diff)


def test_a_diff_of_a_rotation_shows_that_the_id_is_another():
    plan = plan_admin_token(spec(**CI, rotate=True), live(token(), stored=held()))
    assert (plan.diff["before"], plan.diff["after"]) == ({"id": ID, "created": "2026-01-01T00:00:00Z"}, {"id": None, "created": None})


@pytest.mark.parametrize(("params", "words"), [
    ({}, "name or id must be set"),
    ({"name": " "}, "name: must not be empty"),
    ({"id": f"{ID}.{HUSH}"}, "id: is not the id of an admin token"),
    ({"id": "GK0123456789"}, "id: is not the id of an admin token"),
    ({"name": "ci", "scope": ["ListBucket"]}, "scope: 'ListBucket' is not the name of an Admin API call; near it are ListBuckets"),
    ({"name": "ci", "scope": ["createkey"]}, "near it are CreateKey"),
    ({"name": "ci", "scope": ["metrics"]}, "near it are Metrics"),
    ({"name": "ci", "scope": ["zzzzzz"]}, "wanted: names as ListBuckets, or Metrics, or '*'"),
    ({"name": "ci", "scope": ["Health"]}, "'Health' is not the name"),
    ({"name": "ci", "scope": ["*", "ListKeys"]}, "'*' is everything already"),
    ({"name": "ci", "expiration": "1969-12-31T00:00:00Z"}, "expiration: '1969-12-31T00:00:00Z' lies before 1970"),
    ({"name": "ci", "store": {"path": "token"}}, "store.path: 'token' must be an absolute path"),
    ({"name": "ci", "store": {"path": ""}}, "store.path: '' must be an absolute path"),
    ({"name": "ci", "rotate": True}, "rotate: needs a place for the new secret"),
    ({"name": "ci", "rotate": True, "state": "absent", **STORE}, "rotate: cannot be asked of a token that shall be absent"),
    ({"name": "ci", "state": "absent", "credential_deletion_policy": "delete"}, "credential_deletion_policy: delete needs store"),
])
def test_faulty_options(params, words):
    with pytest.raises(InputError) as caught:
        spec(**params)
    assert words in str(caught.value)
    assert HUSH not in str(caught.value)


def test_all_faults_at_once():
    with pytest.raises(InputError) as caught:
        spec(name="", id="no", scope=["Listbuckets", "Nope"], expiration="soon", store={"path": "x"})
    assert [fault.split(":")[0] for fault in caught.value.faults] == ["expiration", "store.path", "name", "id", "scope", "scope"]


def test_every_call_that_asks_for_a_token_can_be_in_a_scope():
    assert set(SCOPES) == {name for name, row in ENDPOINTS.items() if row.path.startswith("/v2/")} | {"Metrics", "*"}
    assert spec(name="ci", scope=[name for name in SCOPES if name != "*"]).scope


def test_a_name_is_not_absent_when_the_list_was_cut():
    cut = TokenDirectory(tuple(token(f"{number:024x}", f"token{number}") for number in range(3)), complete=False)
    assert cut.by_name("token2").id == f"{2:024x}"
    with pytest.raises(PlanError, match="it may have more"):
        cut.by_name("ci")
    assert LIST_CAP == 10_000


@pytest.mark.parametrize("text", ["hush", "GK.hush", f"{ID}.short", f"{ID} {HUSH}", f"[admin]\nadmin_token = '{ID}.{HUSH}'", f"{ID}.{HUSH}\n{ID}.{HUSH}"])
def test_a_store_with_something_else_is_refused_without_showing_it(text):
    with pytest.raises(PlanError, match="/x holds something that is no admin token") as caught:
        StoredToken.from_text(text, "/x")
    assert "hush" not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("text", [None, "", " \n"])
def test_an_empty_store_holds_nothing(text):
    assert StoredToken.from_text(text, "/x") is None


def test_a_stored_token_is_read_whatever_stands_around_it():
    found = StoredToken.from_text(f" {ID}.{HUSH}\n", "/x")
    assert (found.id, found.secret) == (ID, Secret(f"{ID}.{HUSH}"))
    assert HUSH not in repr(found)


@pytest.mark.parametrize("intent", [BEGUN, ROTATING, Intent('na"me', NONCE)])
def test_an_intent_is_read_as_it_was_written(intent):
    assert Intent.from_text(intent.to_text(), "/x") == intent
    assert Intent.from_text(None, "/x") is None


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "7", "{", '{"name": "ci", "nonce": "x", "replaces": null}',
                                  '{"name": 1, "nonce": "' + NONCE + '", "replaces": null}'])
def test_a_note_that_is_not_ours_is_left_alone(text):
    with pytest.raises(PlanError, match="/x is not a note of this module"):
        Intent.from_text(text, "/x")


def test_a_token_is_read_in_one_order_and_form():
    row = {"id": ID, "name": "ci", "created": "2026-01-01T00:00:00.000Z", "expiration": "2030-01-01T01:00:00+01:00", "expired": False,
           "scope": ["ListKeys", "GetKeyInfo"]}
    assert AdminToken.from_api(row).to_result() == {
        "id": ID, "name": "ci", "created": "2026-01-01T00:00:00Z", "expiration": LATER, "expired": False, "scope": ["GetKeyInfo", "ListKeys"]}
    assert AdminToken.from_api({"id": None, "created": None, "name": "admin_token", "expiration": None, "expired": False, "scope": ["*"]}).id is None
