# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Admin tokens in a tenancy: in one plan with the rest, with their secrets stored as ``admin_token`` stores them."""

from __future__ import annotations

import json
import os

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils import _token_job
from ansible_collections.s3ops.garage.plugins.module_utils._errors import CredentialLost, GarageError, InputError, PlanError, StoreFault
from ansible_collections.s3ops.garage.plugins.module_utils._models.admin_token import LIST_CAP
from ansible_collections.s3ops.garage.plugins.module_utils._models.tenancy import TenancySpec
from ansible_collections.s3ops.garage.plugins.module_utils._readers import admin_token as reader
from ansible_collections.s3ops.garage.plugins.module_utils._tenancy_job import run_tenancy
from tests.fakes.contexts import Context
from tests.fakes.garage import FakeGarage, Fault
from tests.unit import token_runs
from tests.unit.tenancy_runs import Wire, options, run

SCOPE = ["ListBuckets"]
REST = {"keys": [{"name": "app"}], "buckets": [{"name": "media", "grants": [{"key": "app", "read": True}]}]}
OWNED = {"owner": {"prefix": "team-"}, "purge_admin_tokens": True}


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(_token_job, "_ACCEPTED_WITHIN_SECONDS", 0.0)
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture
def garage():
    return FakeGarage(seed=7)


def entry(folder, name="ci", **more):
    return {"name": name, "scope": SCOPE, "store": {"path": str(folder / name)}, **more}


def make(garage, name, **more):
    status, row = garage.handle("POST", "/v2/CreateAdminToken", body={"name": name, "scope": SCOPE, **more})
    assert status == 200
    return row


def whole(garage, params, check=False, wire=None):
    """(outcome, context, wire) of a run."""
    wire = wire or Wire(garage)
    context = Context(wire.client(), check)
    return run_tenancy(params, context), context, wire


def stored_in_order(garage, folder, *names):
    """Each of these tokens is there once, with its secret in its file, and nothing else is in the folder."""
    rows = {row.name: row for row in garage.state.tokens.values()}
    assert len(rows) == len(garage.state.tokens) and sorted(rows) == sorted(names)
    assert {file.name: file.read_text() for file in folder.iterdir() if not file.name.startswith(".")} == {
        name: rows[name].secret + "\n" for name in names}


# one document, one run

@pytest.mark.requirement("TD-26", "TD-27")
def test_tokens_come_after_all_else_and_a_second_run_does_nothing(garage, tmp_path):
    params = options(**REST, admin_tokens=[entry(tmp_path), entry(tmp_path, "metrics", scope=["Metrics"], expiration="2030-01-01T00:00:00Z")],
                     max_in_flight=1)
    outcome, wire = run(garage, params)
    assert [sent.endpoint for sent in wire.writes] == ["CreateKey", "CreateBucket", "AllowBucketKey", *2 * ["CreateAdminToken", "UpdateAdminToken"]]
    stored_in_order(garage, tmp_path, "ci", "metrics")
    assert [(row["name"], row["scope"], row["secret_token"]) for row in outcome.result["admin_tokens"]] == [
        ("ci", SCOPE, None), ("metrics", ["Metrics"], None)]
    again, wire = run(garage, params)
    assert not again.plan.changed and not wire.writes and again.result == outcome.result


def test_each_item_is_told_as_the_module_tells_it(garage, tmp_path):
    params = entry(tmp_path)
    outcome, _wire = run(garage, options(admin_tokens=[params]))
    alone, _context = token_runs.run(garage, params)
    assert alone["changed"] is False and outcome.result["admin_tokens"] == [alone["admin_token"]]


@pytest.mark.requirement("TD-42")
def test_check_mode_predicts_all_and_touches_nothing(garage, tmp_path):
    make(garage, "old")
    params = options(**REST, admin_tokens=[entry(tmp_path), {"name": "old", "state": "absent"}])
    predicted, _context, wire = whole(garage, params, check=True)
    assert not wire.writes and not list(tmp_path.iterdir()) and len(garage.state.tokens) == 1
    outcome, wire = run(garage, params)
    assert predicted.plan.would == outcome.plan.would == outcome.done
    token, gone = predicted.result["admin_tokens"]
    assert gone is None and (token["id"], token["name"], token["scope"]) == (None, "ci", SCOPE)
    assert token.keys() == outcome.result["admin_tokens"][0].keys()


def test_no_secret_is_in_what_is_told(garage, tmp_path):
    outcome, context, _wire = whole(garage, options(admin_tokens=[entry(tmp_path), entry(tmp_path, "metrics")]))
    told = "\n".join(map(repr, (outcome.plan, outcome.plan.diff, outcome.result, context.warnings)))
    secrets = [row.secret for row in garage.state.tokens.values()]
    assert not any(secret in told for secret in secrets) and set(secrets) <= set(context.hidden)


def test_several_are_made_at_a_time(garage, tmp_path):
    names = [f"ci{number}" for number in range(6)]
    params = options(admin_tokens=[entry(tmp_path, name) for name in names])
    wire = Wire(garage, meet=4, where="CreateAdminToken")
    run(garage, params, wire=wire)
    assert wire.most_writes == 4
    stored_in_order(garage, tmp_path, *names)


def test_all_tokens_are_listed_once_however_many_are_declared(garage, tmp_path):
    params = options(admin_tokens=[entry(tmp_path, f"ci{number}") for number in range(4)])
    run(garage, params)
    _outcome, wire = run(garage, params)
    assert wire.endpoints.count("ListAdminTokens") == 1 and len(wire.endpoints) == 5


def test_a_token_without_a_store_is_taken_over_by_its_name(garage):
    row = make(garage, "pipeline")
    outcome, wire = run(garage, options(admin_tokens=[{"name": "pipeline", "expiration": "2030-01-01T00:00:00Z"}]))
    assert [sent.endpoint for sent in wire.writes] == ["UpdateAdminToken"]
    [token] = outcome.result["admin_tokens"]
    assert (token["id"], token["expiration"], token["scope"]) == (row["id"], "2030-01-01T00:00:00Z", SCOPE)


@pytest.mark.parametrize(("policy", "left"), [("retain", True), ("delete", False)])
def test_a_removed_token_leaves_its_file_or_not(garage, tmp_path, policy, left):
    run(garage, options(admin_tokens=[entry(tmp_path)]))
    params = options(admin_tokens=[entry(tmp_path, state="absent", credential_deletion_policy=policy)])
    predicted, _context, wire = whole(garage, params, check=True)
    assert not wire.writes and (tmp_path / "ci").exists()
    outcome, _context, _wire = whole(garage, params)
    assert outcome.result["admin_tokens"] == [None] and (tmp_path / "ci").exists() == left
    assert list(outcome.plan.would) == ["delete admin token ci", *([] if left else [f"delete {tmp_path / 'ci'}"])]
    assert predicted.plan.would == outcome.plan.would
    outcome, _context, _wire = whole(garage, params)
    assert not outcome.plan.changed


# what is refused before anything is sent

def test_all_faults_of_the_document_are_told_at_once():
    with pytest.raises(InputError) as caught:
        TenancySpec.from_params({"keys": [{}], "purge_admin_tokens": True, "admin_tokens": [
            {"name": "ci", "scope": ["ListBucket"], "store": {"path": "/a"}}, {"name": "ci", "store": {"path": "/a"}}, {"id": "GK1"},
            {"state": "absent", "credential_deletion_policy": "delete"}]}, where="t.")
    faults = "\n".join(caught.value.faults)
    for fault in ("t.keys[0].name or id", "t.admin_tokens[0].scope: 'ListBucket' is not", "t.admin_tokens[1].name: 'ci' is already declared at",
                  "t.admin_tokens[1].store.path: '/a' is already declared at", "t.admin_tokens[2].id: is not", "t.admin_tokens[3].name or id",
                  "t.admin_tokens[3].credential_deletion_policy: delete needs", "t.purge_admin_tokens: needs owner.prefix"):
        assert fault in faults


@pytest.mark.requirement("TD-09", "TD-28")
def test_all_that_the_live_state_forbids_is_told_at_once_and_nothing_is_sent(garage, tmp_path):
    make(garage, "lost")
    (tmp_path / "odd").write_text("this is no token")
    wire = Wire(garage)
    with pytest.raises(PlanError) as caught:
        run(garage, options(**{**REST, "buckets": [{"name": "media", "grants": [{"key": "nobody", "read": True}]}]},
                            admin_tokens=[entry(tmp_path, "lost"), {"name": "nowhere", "scope": SCOPE}, entry(tmp_path, "odd")]), wire=wire)
    assert not wire.writes
    for fault in ("buckets[0].grants[0].key: there is no access key nobody", "admin_tokens[0]: admin token lost exists on the server",
                  "admin_tokens[1]: admin token nowhere: it is not there, and its secret", f"admin_tokens[2]: {tmp_path / 'odd'} holds something"):
        assert fault in caught.value.message


@pytest.mark.requirement("TD-44")
def test_a_lost_secret_alone_has_its_own_kind(garage, tmp_path):
    make(garage, "ci")
    wire = Wire(garage)
    with pytest.raises(CredentialLost, match=r"^admin_tokens\[0\]: "):
        run(garage, options(**REST, admin_tokens=[entry(tmp_path)]), wire=wire)
    assert not wire.writes


def test_folders_that_are_not_there_are_told_before_anything_is_made(garage, tmp_path):
    for check in (True, False):
        wire = Wire(garage)
        with pytest.raises(StoreFault) as caught:
            run(garage, options(**REST, admin_tokens=[entry(tmp_path / "one"), entry(tmp_path / "two", "metrics")]), check, wire)
        assert "admin_tokens[0]: " in caught.value.message and "admin_tokens[1]: " in caught.value.message and not wire.writes


def test_two_declarations_of_one_token_are_refused(garage):
    row = make(garage, "ci")
    with pytest.raises(PlanError, match=r"admin_tokens\[1\]: is the same as admin_tokens\[0\]"):
        run(garage, options(admin_tokens=[{"name": "ci"}, {"id": row["id"]}]))


# purge

def test_what_has_the_prefix_and_is_not_declared_goes_and_nothing_else(garage, tmp_path):
    made = {name: make(garage, name) for name in ("team-old", "team-kept", "other", "xteam-", f"team-busy (pending {'e' * 32})")}
    twins = [make(garage, "team-twin"), make(garage, "team-twin")]
    params = options(admin_tokens=[{"name": "team-kept"}, entry(tmp_path, "team-new")], **OWNED)
    predicted, _wire = run(garage, params, check=True)
    outcome, _wire = run(garage, params)
    assert predicted.plan.would == outcome.plan.would
    assert set(garage.state.tokens) == {*(row["id"] for name, row in made.items() if name != "team-old"), outcome.result["admin_tokens"][1]["id"]}
    assert {f"delete admin token team-twin ({row['id']})" for row in twins} < set(outcome.plan.would)
    again, wire = run(garage, params)
    assert not again.plan.changed and not wire.writes


def test_the_token_in_use_is_never_purged(garage):
    own = make(garage, "team-runner", scope=["*"])
    for check in (True, False):
        outcome, wire = run(garage, options(**OWNED), check, Wire(garage, own["secretToken"]))
        assert not wire.writes and not outcome.plan.changed
        assert [note for note in outcome.plan.notes if own["id"] in note and "it stays" in note]
    with pytest.raises(PlanError, match="the very token that the task works with"):
        run(garage, options(admin_tokens=[{"name": "team-runner", "state": "absent"}]), wire=Wire(garage, own["secretToken"]))


def test_a_list_that_may_be_cut_purges_nothing(garage, monkeypatch):
    make(garage, "team-old")
    # The token of the configuration stands in the list as well.
    monkeypatch.setattr(reader, "LIST_CAP", 2)
    assert LIST_CAP == 10_000
    with pytest.raises(PlanError, match="purge_admin_tokens: the server may not have listed all admin tokens, so nothing is purged"):
        run(garage, options(**OWNED))
    assert len(garage.state.tokens) == 1


def test_without_being_asked_nothing_is_purged_and_no_token_is_looked_at(garage):
    make(garage, "team-old")
    _outcome, wire = run(garage, options(**REST, owner={"prefix": "team-"}))
    assert "ListAdminTokens" not in wire.endpoints and len(garage.state.tokens) == 1


# failures

def fails_at(endpoint, garage, params, fault):
    """A wire on which the first request to ``endpoint`` fails; the document is applied to nothing before, to find its place."""
    wire = Wire(garage)
    run(FakeGarage(seed=7), params, wire=(probe := Wire(FakeGarage(seed=7))))
    wire.faults[probe.endpoints.index(endpoint)] = fault
    return wire


def test_going_on_makes_the_others_and_the_next_run_makes_what_failed(garage, tmp_path):
    (tmp_path / "probe").mkdir()
    probed = options(admin_tokens=[entry(tmp_path / "probe"), entry(tmp_path / "probe", "metrics")], on_error="continue", max_in_flight=1)
    wire = fails_at("CreateAdminToken", garage, probed, Fault.ERROR_500)
    folder = tmp_path / "real"
    folder.mkdir()
    params = options(admin_tokens=[entry(folder), entry(folder, "metrics")], on_error="continue", max_in_flight=1)
    outcome, _wire = run(garage, params, wire=wire)
    assert set(outcome.failed) == {"admin token ci"} and [row.name for row in garage.state.tokens.values()] == ["metrics"]
    assert [row and row["name"] for row in outcome.result["admin_tokens"]] == [None, "metrics"]
    # The note of what was begun stays for the next run; that of what was finished is gone.
    assert sorted(file.name for file in folder.iterdir() if not file.name.startswith(".")) == ["ci.intent", "metrics"]
    run(garage, params)
    stored_in_order(garage, folder, "ci", "metrics")


def test_what_a_run_of_the_module_left_is_finished(garage, tmp_path):
    with pytest.raises(GarageError):
        token_runs.run(garage, entry(tmp_path), faults={2: Fault.ERROR_500})
    assert (tmp_path / "ci.intent").exists()
    run(garage, options(admin_tokens=[entry(tmp_path)]))
    stored_in_order(garage, tmp_path, "ci")


class Power(token_runs.Power):
    """Also watches what is put on disk or taken from it."""

    def __enter__(self):
        self.patch = pytest.MonkeyPatch()
        for name in ("link", "replace", "unlink"):
            self.patch.setattr(os, name, self._watched(getattr(os, name)))
        return self

    def __exit__(self, *exception):
        self.patch.undo()
        return exception[0] is token_runs.Crash

    def _watched(self, real):
        def step(*arguments, **options):
            self.point()
            real(*arguments, **options)
            self.point()

        return step


def document(folder):
    return options(keys=[{"name": "app"}], admin_tokens=[entry(folder), entry(folder, "metrics")], max_in_flight=1)


def broken_off(garage, folder, until):
    with Power(until) as power:
        wire = token_runs.Wire(garage)
        wire.power = power
        whole(garage, document(folder), wire=_with_client(wire))
    return power.points


def _with_client(wire):
    wire.client = lambda: Wire.client(wire)
    return wire


@pytest.mark.requirement("TD-42", "TD-43")
def test_a_run_that_breaks_off_anywhere_is_finished_by_the_next(tmp_path):
    def folder(name):
        (tmp_path / name).mkdir()
        return tmp_path / name

    total = broken_off(FakeGarage(seed=7), folder("whole"), None)
    assert total > 30
    for number in range(total):
        garage, place = FakeGarage(seed=7), folder(str(number))
        assert broken_off(garage, place, number) == number
        run(garage, document(place))
        stored_in_order(garage, place, "ci", "metrics")


@pytest.mark.requirement("TD-42")
@pytest.mark.parametrize("go_on", ["stop", "continue"])
@pytest.mark.parametrize("fault", [fault for fault in Fault if fault.name != "CUT_HALFWAY"])
def test_after_any_request_that_fails_anyhow_the_next_run_ends_well(tmp_path, fault, go_on):
    def folder(name):
        (tmp_path / name).mkdir()
        return tmp_path / name

    _outcome, wire = run(FakeGarage(seed=7), document(folder("whole")))
    for number in range(len(wire.sent)):
        garage, place = FakeGarage(seed=7), folder(str(number))
        try:
            run(garage, {**document(place), "on_error": go_on}, wire=Wire(garage, faults={number: fault}))
        except GarageError as error:
            assert not any(row.secret in json.dumps([error.message, error.done, error.left]) for row in garage.state.tokens.values())
        run(garage, document(place))
        stored_in_order(garage, place, "ci", "metrics")
        assert [row.name for row in garage.state.keys.values()] == ["app"]
