# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""An admin token with its file: made, adopted, changed, rotated, lost, removed, on a Garage in memory."""

from __future__ import annotations

import json
import stat

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils import _token_job
from ansible_collections.s3ops.garage.plugins.module_utils._errors import (
    CredentialLost,
    InputError,
    PlanError,
    ServerFault,
    StoreFault,
    TransportError,
    Unavailable,
    VerifyMismatch,
)
from ansible_collections.s3ops.garage.plugins.module_utils._token_job import run_token
from tests.fakes.garage import FakeGarage, Fault
from tests.unit.token_runs import SCOPE, Context, in_order, options, run, tokens


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(_token_job, "_ACCEPTED_WITHIN_SECONDS", 0.0)


@pytest.fixture
def garage():
    return FakeGarage()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ci-token"


# create and adopt

@pytest.mark.requirement("TD-26")
def test_a_token_is_made_stored_tried_and_named(garage, path):
    result, context = run(garage, options(path))
    row = in_order(garage, path)
    assert context.endpoints == ["ListAdminTokens", "GetClusterStatus", "CreateAdminToken", "GetCurrentAdminTokenInfo", "UpdateAdminToken",
                                 "ListAdminTokens"]
    assert result["admin_token"] == {"id": row.id, "name": "ci", "created": "2026-01-01T00:00:00.003Z", "expiration": None, "expired": False,
                                     "scope": SCOPE, "store": {"path": str(path)}, "secret_token": None}
    assert (result["changed"], result["adopted"], result["rotated"], context.warnings) == (True, False, False, [])
    assert row.secret in context.hidden


@pytest.mark.requirement("TD-04", "TD-05", "TD-08", "GS-02")
@pytest.mark.parametrize("scope", [SCOPE, ["Metrics"], [], ["*"]])
def test_a_stored_token_is_tried_whatever_its_scope_and_adopted(garage, path, scope):
    run(garage, options(path, scope=scope))
    result, context = run(garage, options(path, scope=scope))
    assert context.endpoints == ["ListAdminTokens", "GetCurrentAdminTokenInfo"]
    assert (result["changed"], result["adopted"], result["actions"]) == (False, True, [])
    in_order(garage, path)


@pytest.mark.requirement("TD-11", "TD-01")
def test_a_token_of_which_only_the_file_is_left_is_adopted_by_it(garage, path):
    run(garage, options(path))
    before = in_order(garage, path).secret
    result, _context = run(garage, {"name": "ci", "store": {"path": str(path)}})
    assert (result["changed"], result["adopted"], in_order(garage, path).secret) == (False, True, before)


@pytest.mark.requirement("TD-30")
def test_settings_are_changed_in_place(garage, path):
    run(garage, options(path))
    before = in_order(garage, path)
    result, context = run(garage, options(path, scope=["ListKeys"], expiration="2030-01-01T00:00:00Z"))
    after = in_order(garage, path)
    assert context.endpoints == ["ListAdminTokens", "GetCurrentAdminTokenInfo", "UpdateAdminToken", "ListAdminTokens"]
    assert (after.id, after.secret, after.scope) == (before.id, before.secret, ["ListKeys"])
    assert (result["admin_token"]["expiration"], result["changed"], result["adopted"]) == ("2030-01-01T00:00:00Z", True, True)
    assert result["diff"]["after"] == {"expiration": "2030-01-01T00:00:00Z", "scope": ["ListKeys"]}


@pytest.mark.requirement("TD-06")
def test_an_expired_token_is_renewed_with_its_secret(garage, path):
    run(garage, options(path, expiration="2026-01-02T00:00:00Z"))
    before = in_order(garage, path)
    garage.clock.advance(2 * 86400)
    result, context = run(garage, options(path, expiration="never"))
    after = in_order(garage, path)
    assert (after.id, after.secret, result["adopted"]) == (before.id, before.secret, True)
    # Asked while it is expired it would be refused like a wrong one.
    assert context.endpoints == ["ListAdminTokens", "UpdateAdminToken", "ListAdminTokens", "GetCurrentAdminTokenInfo"]


@pytest.mark.requirement("TD-06")
def test_a_store_that_outlived_a_reset_is_filled_anew_and_its_old_text_kept(garage, path):
    run(garage, options(path))
    old = path.read_text()
    garage.state.tokens.clear()
    result, context = run(garage, options(path))
    assert in_order(garage, path).secret + "\n" != old
    kept = path.with_name("ci-token.old")
    assert (kept.read_text(), stat.S_IMODE(kept.stat().st_mode)) == (old, 0o600)
    assert (result["changed"], result["adopted"], result["rotated"]) == (True, False, False)
    assert any("ci-token.old" in text for text in context.warnings)
    assert run(garage, options(path))[0]["adopted"]


@pytest.mark.requirement("TD-09", "TD-28", "TD-44", "GS-01")
@pytest.mark.parametrize("spoil", [lambda path: path.unlink(), lambda path: path.write_text(""),
                                   lambda path: path.write_text(path.read_text().strip()[:-1] + "_"), lambda path: path.write_text("f" * 24 + "." + "x" * 43)],
                         ids=["no file", "an empty file", "another secret", "another token"])
def test_a_lost_secret_fails_closed_and_is_replaced_on_request(garage, path, spoil):
    run(garage, options(path))
    before = in_order(garage, path).id
    spoil(path)
    spoilt = path.read_text() if path.exists() else None
    for check in (True, False):
        context = Context(garage, check=check)
        with pytest.raises(CredentialLost, match=str(path)):
            run_token(options(path), context)
        assert not context.wire.writes
        assert (path.read_text() if path.exists() else None) == spoilt
    result, _context = run(garage, options(path, rotate=True))
    assert in_order(garage, path).id != before
    assert (result["rotated"], result["changed"]) == (True, True)


@pytest.mark.requirement("TD-07")
@pytest.mark.parametrize("fault", [fault for fault in Fault if fault.name != "CUT_HALFWAY"])
@pytest.mark.parametrize("request_number", [0, 1])
def test_whatever_else_goes_wrong_while_looking_makes_nothing(garage, path, fault, request_number):
    run(garage, options(path))
    row = in_order(garage, path)
    context = Context(garage, faults={request_number: fault})
    with pytest.raises((TransportError, Unavailable, ServerFault)):
        run_token(options(path, scope=["*"]), context)
    assert not context.wire.writes
    assert in_order(garage, path) == row


@pytest.mark.parametrize("text", ["theirs", "[admin]\n", "\x00\x01"])
def test_a_file_of_somebody_else_is_left_alone(garage, path, text):
    path.write_text(text)
    with pytest.raises(PlanError, match="no admin token of Garage"):
        run_token(options(path), Context(garage))
    assert (path.read_text(), tokens(garage)) == (text, {})


@pytest.mark.parametrize("text", ["theirs", "{}"])
def test_a_note_of_somebody_else_is_left_alone(garage, path, text):
    note = path.with_name("ci-token.intent")
    note.write_text(text)
    with pytest.raises(PlanError, match="not a note of this module"):
        run_token(options(path), Context(garage))
    assert (note.read_text(), tokens(garage)) == (text, {})


@pytest.mark.parametrize("check", [True, False])
def test_without_a_folder_nothing_is_made(garage, tmp_path, check):
    context = Context(garage, check=check)
    with pytest.raises(StoreFault, match="does not exist"):
        run_token(options(tmp_path / "no" / "token"), context)
    assert not context.wire.writes


def test_a_file_that_appears_meanwhile_is_not_overwritten(garage, path):
    context = Context(garage)
    context.wire.before = lambda number: path.write_text("theirs") if number == 2 else None
    with pytest.raises(StoreFault, match="File exists"):
        run_token(options(path), context)
    assert path.read_text() == "theirs"
    # What was made stays under its pending name, for the next run to remove.
    assert all("(pending" in name for name in tokens(garage).values())
    path.unlink()
    run(garage, options(path))
    in_order(garage, path)


def test_an_empty_file_is_filled(garage, path):
    path.touch(mode=0o644)
    run(garage, options(path))
    in_order(garage, path)


def test_a_file_that_others_may_read_is_told_of(garage, path):
    run(garage, options(path))
    path.chmod(0o644)
    assert any("mode should be 0600" in text for text in run(garage, options(path))[1].warnings)


def test_faults_of_the_options_come_before_anything_is_sent(garage, path):
    context = Context(garage)
    with pytest.raises(InputError, match="ListBuckets"):
        run_token(options(path, scope=["ListBucket"]), context)
    assert context.endpoints == []


@pytest.mark.requirement("GS-05")
def test_tokens_of_the_configuration_are_never_taken_for_one_of_the_name(garage, path):
    name = "admin_token (from daemon configuration)"
    context = Context(garage)
    with pytest.raises(PlanError, match="stands in the configuration"):
        run_token(options(path, name=name), context)
    assert not context.wire.writes


# servers

def test_a_server_that_cannot_be_asked_is_trusted_with_a_word(path):
    garage = FakeGarage("2.0.0")
    result, context = run(garage, options(path))
    in_order(garage, path)
    assert result["changed"]
    assert [text for text in context.warnings if "from 2.1.0 on" in text] == [_token_job._NOT_ASKED]
    result, context = run(garage, options(path))
    assert (result["changed"], result["adopted"]) == (False, True)
    assert _token_job._NOT_ASKED in context.warnings


@pytest.mark.requirement("TD-31")
def test_a_node_that_does_not_know_new_tokens_costs_no_credential(garage, path):
    run(garage, options(path))
    old = in_order(garage, path)

    def forget(number):
        # As on a node without a role: the token is listed, and refused.
        for row in garage.state.tokens.values():
            if "(pending" in row.name:
                row.expiration, row.kept = 0, row.expiration

    context = Context(garage)
    context.wire.before = forget
    with pytest.raises(VerifyMismatch, match="does not accept it") as caught:
        run_token(options(path, rotate=True), context)
    assert "no role" in caught.value.hint or "without a role" in caught.value.hint
    assert old.id in tokens(garage)
    assert len(caught.value.done) == 1 and len(caught.value.left) == 2
    for row in garage.state.tokens.values():
        row.expiration = None
    result, _context = run(garage, options(path))
    assert result["rotated"] and in_order(garage, path).id != old.id


# rotate

@pytest.mark.requirement("TD-31")
def test_a_rotation_adds_before_it_removes(garage, path):
    run(garage, options(path, expiration="2030-01-01T00:00:00Z"))
    old = in_order(garage, path)
    result, context = run(garage, {"name": "ci", "store": {"path": str(path)}, "rotate": True})
    new = in_order(garage, path)
    assert context.endpoints[3:7] == ["CreateAdminToken", "GetCurrentAdminTokenInfo", "DeleteAdminToken", "UpdateAdminToken"]
    assert new.id != old.id and (new.scope, new.expiration) == (old.scope, old.expiration)
    assert (result["rotated"], result["adopted"], result["admin_token"]["id"]) == (True, False, new.id)
    assert any(old.id in text for text in context.warnings)


def test_a_token_cannot_rotate_or_delete_itself(garage, path):
    run(garage, options(path, scope=["*"]))
    own = path.read_text().strip()
    for more in ({"rotate": True}, {"state": "absent"}):
        context = Context(garage, token=own)
        with pytest.raises(PlanError, match="the very token"):
            run_token(options(path, scope=["*"], **more), context)
        assert not context.wire.writes
    assert run(garage, options(path, scope=["*"]), token=own)[0]["adopted"]


# without a file

def test_a_secret_can_be_returned_instead_of_stored(garage):
    result, context = run(garage, options(return_secret=True))
    (row,) = garage.state.tokens.values()
    assert (result["admin_token"]["secret_token"], result["admin_token"]["store"], row.name) == (row.secret, None, "ci")
    assert "GetCurrentAdminTokenInfo" in context.endpoints
    result, context = run(garage, options(return_secret=True))
    assert (result["changed"], result["admin_token"]["secret_token"]) == (False, None)
    result, _context = run(garage, options(return_secret=True, rotate=True))
    (new,) = garage.state.tokens.values()
    assert new.id != row.id and result["admin_token"]["secret_token"] == new.secret


def test_a_stored_secret_can_be_returned_as_well(garage, path):
    for _attempt in (1, 2):
        result, _context = run(garage, options(path, return_secret=True))
        assert result["admin_token"]["secret_token"] == in_order(garage, path).secret


def test_without_a_place_for_the_secret_nothing_is_made(garage):
    context = Context(garage)
    with pytest.raises(PlanError, match="would have no place"):
        run_token(options(), context)
    assert not context.wire.writes


# absent

@pytest.mark.requirement("TD-01", "TD-02", "TD-03")
@pytest.mark.parametrize(("policy", "left"), [(None, True), ("retain", True), ("delete", False)])
def test_the_file_of_an_absent_token(garage, path, policy, left):
    run(garage, options(path))
    gone = {"name": "ci", "store": {"path": str(path)}, "state": "absent", "credential_deletion_policy": policy}
    predicted, context = run(garage, gone, check=True)
    assert path.exists() and tokens(garage) and not context.wire.writes
    result, _context = run(garage, gone)
    assert (result["actions"], result["changed"], result["admin_token"]) == (predicted["actions"], True, None)
    assert (path.exists(), tokens(garage)) == (left, {})
    again, _context = run(garage, gone)
    assert (again["changed"], again["actions"]) == (False, [])
    # A later run is possible all the same.
    assert run(garage, options(path))[0]["changed"]
    in_order(garage, path)


def test_a_dead_file_alone_is_removed_when_that_is_asked_for(garage, path):
    path.write_text("f" * 24 + "." + "x" * 43)
    gone = {"name": "ci", "store": {"path": str(path)}, "state": "absent", "credential_deletion_policy": "delete"}
    assert run(garage, gone, check=True)[0]["changed"] and path.exists()
    result, _context = run(garage, gone)
    assert (result["changed"], result["actions"], path.exists()) == (True, [f"delete {path}"], False)


# check mode

@pytest.mark.parametrize("more", [{}, {"rotate": True}, {"scope": ["*"]}])
@pytest.mark.parametrize("there", [False, True])
def test_check_mode_says_what_the_run_does_and_touches_nothing(garage, path, there, more):
    if there:
        run(garage, options(path))
    before = (tokens(garage), sorted(path.parent.iterdir()), path.read_text() if there else None)
    predicted, context = run(garage, options(path, **more), check=True)
    assert not context.wire.writes
    assert (tokens(garage), sorted(path.parent.iterdir()), path.read_text() if there else None) == before
    result, _context = run(garage, options(path, **more))
    assert predicted.keys() == result.keys() and predicted["admin_token"].keys() == result["admin_token"].keys()
    for name in ("changed", "actions", "adopted", "rotated", "diff"):
        assert predicted[name] == result[name], name


# secrets

def test_no_secret_is_in_what_a_run_gives_away(garage, path):
    seen = []
    for more in ({}, {}, {"scope": ["*"]}, {"rotate": True}):
        result, context = run(garage, options(path, **more))
        seen.append(json.dumps(result) + repr(context.warnings) + "".join(repr(client.warnings) for client in context.clients))
        assert in_order(garage, path).secret in context.hidden
        assert not any(row.secret.partition(".")[2] in text for row in garage.state.tokens.values() for text in seen)
