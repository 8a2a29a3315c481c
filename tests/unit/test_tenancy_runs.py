# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whole runs of ``tenancy``: what it purges and what it must never, going on after errors, and several writes in flight."""

from __future__ import annotations

import json

import pytest
from ansible.module_utils.common import warnings as ansible_warnings
from ansible.module_utils.testing import patch_module_args

from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError, PlanError
from ansible_collections.s3ops.garage.plugins.module_utils._models import key as key_model
from ansible_collections.s3ops.garage.plugins.module_utils._models.tenancy import TenancySpec
from ansible_collections.s3ops.garage.plugins.module_utils._readers import tenancy as reader
from ansible_collections.s3ops.garage.plugins.modules import tenancy
from tests.fakes.garage import ADMIN_TOKEN, FakeGarage, FakeServer
from tests.fakes.loopback import clean_environment
from tests.unit.tenancy_runs import Wire, names, options, run

OWNED = {"owner": {"prefix": "app-"}}
PURGE = {**OWNED, "purge_keys": True, "purge_buckets": True}
# Garage refuses punycode unless it is configured to take it; our own rule leaves that to the server.
REFUSED_BY_SERVER = "xn--refused"
SPENT = f"GK{7:024x}"


@pytest.fixture(params=["2.5.0", "2.4.1"])
def garage(request):
    return FakeGarage(request.param)


def fill(garage, keys=(), buckets=()):
    run(garage, options([{"name": name} for name in keys], [{"name": name} for name in buckets]))


def local_alias(garage, bucket, key, alias):
    key_id = next(row.id for row in garage.state.keys.values() if row.name == key)
    status, _answer = garage.handle("POST", "/v2/AddBucketAlias", body={"bucketId": garage.bucket(bucket).id, "accessKeyId": key_id, "localAlias": alias})
    assert status == 200


# purge

def test_what_has_the_prefix_and_is_not_declared_goes_and_nothing_else(garage):
    fill(garage, ["app-old", "app-kept", "other", "xapp-"], ["app-old", "app-kept", "other", "my-app-old"])
    garage.state.buckets[garage.bucket("other").id].aliases.add("app-too")
    params = options([{"name": "app-kept"}, {"name": "app-new"}], [{"name": "app-kept"}, {"name": "app-new"}], **PURGE)
    predicted, wire = run(garage, params, check=True)
    assert not wire.writes
    outcome, _wire = run(garage, params)
    assert outcome.plan.would == predicted.plan.would
    assert list(outcome.plan.would)[-2:] == ["delete bucket app-old", "delete access key app-old"]
    assert names(garage) == (["app-kept", "app-new", "other", "xapp-"], ["app-kept", "app-new", "app-too", "my-app-old"])
    again, wire = run(garage, params)
    assert not again.plan.changed and not wire.writes


@pytest.mark.parametrize(("more", "left"), [
    (OWNED, (["app-k"], ["app-b"])),
    ({**OWNED, "purge_keys": True}, ([], ["app-b"])),
    ({**OWNED, "purge_buckets": True}, (["app-k"], [])),
    (PURGE, ([], [])),
])
def test_keys_and_buckets_are_purged_each_on_request(garage, more, left):
    fill(garage, ["app-k"], ["app-b"])
    run(garage, options(**more))
    assert names(garage) == left


@pytest.mark.parametrize("by", ["name", "id"])
def test_what_is_declared_stays_whether_by_name_or_by_id(garage, by):
    fill(garage, ["app-k"], ["app-b"])
    key_id = next(iter(garage.state.keys))
    which = ({"name": "app-k"}, {"name": "app-b"}) if by == "name" else ({"id": key_id}, {"id": garage.bucket("app-b").id})
    _outcome, wire = run(garage, options(which[:1], which[1:], **PURGE))
    assert not wire.writes and names(garage) == (["app-k"], ["app-b"])


@pytest.mark.parametrize("which", ["purge_keys", "purge_buckets"])
@pytest.mark.parametrize("owner", [None, {"prefix": ""}])
def test_without_a_prefix_nothing_can_be_purged(which, owner):
    with pytest.raises(InputError, match=f"{which}: needs owner.prefix"):
        TenancySpec.from_params(options(owner=owner, **{which: True}))


def test_one_bucket_that_holds_objects_keeps_the_whole_run_from_beginning(garage):
    fill(garage, ["app-k"], ["app-a", "app-full", "app-z"])
    garage.put_object(garage.bucket("app-full").id, "precious", size=7)
    for check in (True, False):
        wire = Wire(garage)
        with pytest.raises(PlanError, match="bucket app-full: it holds 1 objects") as caught:
            run(garage, options([{"name": "new"}], **PURGE), check, wire)
        assert caught.value.message.startswith("purge_buckets: ") and not wire.writes
    assert names(garage) == (["app-k"], ["app-a", "app-full", "app-z"])


@pytest.mark.parametrize(("keys", "left"), [
    ([{"name": "app-k"}], ["app-b"]),
    ([], []),
], ids=["a key that stays", "a key that goes as well"])
def test_a_bucket_that_a_key_knows_by_a_name_of_its_own(garage, keys, left):
    fill(garage, ["app-k"], ["app-b"])
    local_alias(garage, "app-b", "app-k", "mine")
    run(garage, options(keys, **PURGE))
    assert names(garage)[1] == left


def test_a_bucket_that_a_foreign_key_knows_by_a_name_of_its_own_is_not_purged(garage):
    fill(garage, ["guest"], ["app-b"])
    local_alias(garage, "app-b", "guest", "theirs")
    outcome, wire = run(garage, options(**PURGE))
    assert not outcome.plan.changed and not wire.writes


def test_nameless_buckets_are_nobodys_to_purge(garage):
    garage.handle("POST", "/v2/CreateBucket", body={})
    outcome, _wire = run(garage, options(**PURGE))
    assert not outcome.plan.changed


@pytest.mark.parametrize(("which", "what"), [("purge_keys", "keys"), ("purge_buckets", "buckets")])
def test_a_list_that_may_be_cut_purges_nothing(monkeypatch, which, what):
    garage = FakeGarage("2.4.1")
    fill(garage, ["app-1", "app-2", "k"], ["app-1", "app-2", "bbb"])
    # A list as long as the cap of the server may be a part of one.
    monkeypatch.setattr(key_model, "LIST_CAP", 3)
    monkeypatch.setattr(reader, "LIST_CAP", 3)
    wire = Wire(garage)
    with pytest.raises(PlanError, match=f"{which}: the server may not have listed all {what}, so nothing is purged"):
        run(garage, options(**OWNED, **{which: True}), wire=wire)
    assert not wire.writes
    monkeypatch.setattr(key_model, "LIST_CAP", 4)
    monkeypatch.setattr(reader, "LIST_CAP", 4)
    run(garage, options(**OWNED, **{which: True}))
    assert names(garage)[0 if what == "keys" else 1] == (["k"] if what == "keys" else ["bbb"])


def test_faults_of_a_purge_and_of_the_document_are_told_together(monkeypatch):
    garage = FakeGarage()
    fill(garage, ["twin"], ["app-full"])
    garage.handle("POST", "/v2/CreateKey", body={"name": "twin"})
    garage.put_object(garage.bucket("app-full").id, "precious")
    with pytest.raises(PlanError) as caught:
        run(garage, options([{"name": "twin"}], **PURGE))
    assert "keys[0]: 2 access keys are called 'twin'" in caught.value.message and "purge_buckets: bucket app-full" in caught.value.message


# going on after errors

@pytest.fixture
def module(garage, capsys, monkeypatch):
    """module(options) -> what the module ``tenancy`` prints, over HTTP."""
    clean_environment(monkeypatch)
    with FakeServer(garage) as server:

        def go(params):
            ansible_warnings._global_warnings.clear()
            with patch_module_args({"api_url": server.url, "api_token": ADMIN_TOKEN, "retry_delay": 0, **params}), pytest.raises(SystemExit):
                tenancy.main()
            return json.loads(capsys.readouterr().out)

        yield go


def with_one_refused(**more):
    grants = [{"key": "app", "read": True}]
    return options([{"name": "app"}], [{"name": "aaa", "grants": grants}, {"name": REFUSED_BY_SERVER, "grants": grants},
                                       {"name": "zzz", "grants": grants, "quotas": {"max_objects": "5"}}], **more)


@pytest.mark.parametrize("max_in_flight", [1, 4])
def test_going_on_does_all_that_does_not_need_what_failed(garage, module, max_in_flight):
    result = module(with_one_refused(on_error="continue", max_in_flight=max_in_flight))
    assert names(garage) == (["app"], ["aaa", "zzz"])
    assert (result["failed"], result["changed"], result["error"]["kind"]) == (True, True, "partly_failed")
    failures = {failure["subject"]: failure for failure in result["failures"]}
    assert set(failures) == {f"bucket {REFUSED_BY_SERVER}", f"grant of access key app on bucket {REFUSED_BY_SERVER}"}
    refused, orphaned = failures.values()
    assert refused["error"] == {"kind": "invalid", "status": 400, "code": "InvalidRequest", "endpoint": "CreateBucket"}
    assert "could not be made" in orphaned["msg"] and orphaned["error"]["kind"] == "refused"
    assert all(failure["msg"] in result["msg"] for failure in failures.values()) and "2 of 7 subjects failed" in result["msg"]
    # The state as it is: the one that failed is not there, and nobody has a right on it.
    first, second, third = result["tenancy"]["buckets"]
    assert second is None
    assert (first["id"], third["id"]) == (garage.bucket("aaa").id, garage.bucket("zzz").id)
    assert third["quotas"]["max_objects"] == 5
    assert [grant is None for grant in result["tenancy"]["grants"]] == [False, True, False]


def test_nothing_is_given_to_a_key_whose_import_failed(garage):
    """Its id is known all the same, and Garage would keep a right of an id that belongs to nobody."""
    run(garage, options([{"id": SPENT, "secret_access_key": "5" * 64}]))
    run(garage, options([{"id": SPENT, "state": "absent"}]))
    wire = Wire(garage)
    outcome, _wire = run(garage, options([{"name": "imp", "id": SPENT, "secret_access_key": "5" * 64}, {"name": "app"}], [
        {"name": "media", "grants": [{"key": "imp", "read": True}, {"key": "app", "read": True}]},
        {"name": "logs", "local_aliases": [{"key": "imp", "alias": "mine"}]}], on_error="continue"), wire=wire)
    assert {subject: error.kind for subject, error in outcome.failed.items()} == {
        "access key imp": "conflict", "grant of access key imp on bucket media": "refused", "bucket logs": "refused"}
    assert "access key imp could not be made" in outcome.failed["grant of access key imp on bucket media"].message
    assert [sent.endpoint for sent in wire.writes if SPENT in json.dumps(sent.body)] == ["ImportKey"]
    assert garage.bucket("media") and garage.bucket("logs")


def test_what_failed_is_all_that_is_left_for_the_next_run(garage, module):
    module(with_one_refused(on_error="continue"))
    params = with_one_refused(on_error="continue")
    del params["buckets"][1]
    result = module(params)
    assert not result.get("failed") and result["changed"] is False and "failures" not in result


def test_stopping_sends_nothing_more(garage, module):
    result = module(with_one_refused(on_error="stop", max_in_flight=1))
    assert names(garage) == (["app"], ["aaa"])
    assert result["error"] == {"kind": "invalid", "status": 400, "code": "InvalidRequest", "endpoint": "CreateBucket"}
    assert "failures" not in result
    assert "create bucket aaa" in result["msg"] and "Not done: " in result["msg"]


def test_a_removal_that_fails_does_not_keep_others_from_going(garage):
    fill(garage, [], ["aaa", "bbb", "ccc"])

    def fill_up(number):
        # Somebody writes into it just before the removals begin.
        if wire.sent and wire.sent[-1].endpoint == "CreateKey":
            garage.put_object(garage.bucket("bbb").id, "late")

    gone = [{"name": name, "state": "absent"} for name in ("aaa", "bbb", "ccc")]
    wire = Wire(garage, before=fill_up)
    outcome, _wire = run(garage, options([{"name": "k"}], gone, on_error="continue", max_in_flight=1), wire=wire)
    assert {subject: error.kind for subject, error in outcome.failed.items()} == {"bucket bbb": "conflict"}
    # The state that made it fail now forbids to plan its removal, so there is no result; the failure is told all the same.
    assert outcome.result is None
    assert names(garage) == (["k"], ["bbb"])


# several in flight

@pytest.mark.parametrize("most", [1, 2, 4])
def test_as_many_buckets_are_made_at_a_time_as_is_allowed(most):
    garage = FakeGarage()
    params = options([], [{"name": f"bucket{number}", "quotas": {"max_objects": "1"}} for number in range(9)], max_in_flight=most)
    wire = Wire(garage, meet=most, where="CreateBucket")
    outcome, _wire = run(garage, params, wire=wire)
    # Reads have a bound of their own.
    writes = [sent for sent in wire.sent if sent.endpoint in ("CreateBucket", "UpdateBucket")]
    assert len(writes) == 18 and wire.most_writes == most
    made = {row.id: min(row.aliases) for row in garage.state.buckets.values()}
    created = [sent.body["globalAlias"] for sent in writes if sent.endpoint == "CreateBucket"]
    assert sorted(created) == sorted(made.values())
    for number, sent in enumerate(writes):
        if sent.endpoint == "UpdateBucket":
            assert made[sent.query["id"]] in [earlier.body["globalAlias"] for earlier in writes[:number] if earlier.endpoint == "CreateBucket"]
    assert [row["quotas"]["max_objects"] for row in outcome.result["buckets"]] == [1] * 9


def test_a_stage_begins_when_the_one_before_has_ended():
    garage = FakeGarage()
    keys = [{"name": f"key{number}"} for number in range(6)]
    buckets = [{"name": f"bucket{number}", "grants": [{"key": f"key{number}", "read": True}]} for number in range(6)]
    fill(garage, ["gone"], ["gone"])
    wire = Wire(garage)
    run(garage, options([*keys, {"name": "gone", "state": "absent"}], [*buckets, {"name": "gone", "state": "absent"}]), wire=wire)
    assert [sent.endpoint for sent in wire.writes] == [
        *["CreateKey"] * 6, *["CreateBucket"] * 6, *["AllowBucketKey"] * 6, "DeleteBucket", "DeleteKey"]


@pytest.mark.parametrize("number", [0, -1])
def test_none_in_flight_is_refused(number):
    with pytest.raises(InputError, match=f"max_in_flight: {number} must be 1 or more"):
        TenancySpec.from_params(options(max_in_flight=number))
