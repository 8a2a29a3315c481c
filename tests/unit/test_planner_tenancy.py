# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a whole tenancy needs, decided on tables: no server, no Ansible."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timezone

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils._errors import (
    Ambiguous,
    InputError,
    NotDeclaredHere,
    NotFound,
    PlanError,
    TransportError,
)
from ansible_collections.s3ops.garage.plugins.module_utils._executor import Doubt, Task, converge
from ansible_collections.s3ops.garage.plugins.module_utils._models.bucket import Bucket, BucketGrant
from ansible_collections.s3ops.garage.plugins.module_utils._models.key import LIST_CAP, Key, KeyDirectory
from ansible_collections.s3ops.garage.plugins.module_utils._models.tenancy import TenancySpec
from ansible_collections.s3ops.garage.plugins.module_utils._plan import Call, Ref, resolve
from ansible_collections.s3ops.garage.plugins.module_utils._planners.bucket import BucketSnapshot
from ansible_collections.s3ops.garage.plugins.module_utils._planners.tenancy import TenancySnapshot, plan_tenancy
from ansible_collections.s3ops.garage.plugins.module_utils._readers.tenancy import read_tenancy

SECRET = "hush-hush-hush-hush"
NOW = datetime(2026, 6, 1, tzinfo=timezone.utc)
ALL = {"read": True, "write": True, "owner": True}


def spec(keys=(), buckets=()):
    return TenancySpec.from_params({"keys": list(keys), "buckets": list(buckets)})


def kid(number):
    return f"GK{number:024x}"


def bid(number):
    return f"{number:064x}"


def key(number, name, **more):
    return Key(kid(number), name, **more)


def bucket(number, name, *grants, **more):
    return Bucket(bid(number), aliases=(name,), grants=grants, **more)


def grant(number, name, *rights, **more):
    return BucketGrant(kid(number), name, **dict.fromkeys(rights, True), **more)


def live(*buckets, keys=(), complete=True):
    return TenancySnapshot(KeyDirectory(tuple(keys), complete), tuple(BucketSnapshot(found) for found in buckets), NOW)


def why(plan):
    return list(plan.would)


TWO = {"keys": [{"name": "app"}, {"name": "backup", "expiration": "2030-01-01T00:00:00Z"}],
       "buckets": [{"name": "media", "quotas": {"max_objects": "10"},
                    "grants": [{"key": "app", "read": True, "write": True}, {"key": "backup", "read": True}]},
                   {"name": "site", "grants": [{"key": "app", "owner": True}]}]}


def test_an_empty_server_gets_all_in_one_plan():
    plan = plan_tenancy(spec(**TWO), live(None, None))
    assert why(plan) == [
        "create access key app", "create access key backup", "create bucket media", "set quotas of bucket media", "create bucket site",
        "allow read, write on bucket media to access key app", "allow read on bucket media to access key backup",
        "allow owner on bucket site to access key app"]
    assert plan.calls[5].body["bucketId"] == Ref("bucket media", "id")
    assert plan.calls[5].body["accessKeyId"] == Ref("access key app", "accessKeyId")
    answers = {call.binds: {"id": f"the id of {call.binds}", "accessKeyId": f"the id of {call.binds}"} for call in plan.calls if call.binds}
    assert resolve(plan.calls[6].body, answers) == {
        "bucketId": "the id of bucket media", "accessKeyId": "the id of access key backup", "permissions": {"read": True}}


def test_the_prediction_is_in_the_order_of_the_document_and_holds_the_grants():
    plan = plan_tenancy(spec(**TWO), live(None, None))
    result = plan.prediction
    assert [row["name"] for row in result["keys"]] == ["app", "backup"]
    assert [row["aliases"] for row in result["buckets"]] == [["media"], ["site"]]
    assert [(row["bucket"], row["key"], row["read"], row["write"], row["owner"]) for row in result["grants"]] == [
        ("media", "app", True, True, False), ("media", "backup", True, False, False), ("site", "app", False, False, True)]
    assert [row["key_name"] for row in result["buckets"][0]["grants"]] == ["app", "backup"]
    assert set(json.loads(json.dumps(plan.diff))["after"]) == {
        "access key app", "access key backup", "bucket media", "bucket site", "grant of access key app on bucket media",
        "grant of access key backup on bucket media", "grant of access key app on bucket site"}
    assert json.loads(json.dumps(result)) == result


CONVERGED = live(bucket(1, "media", grant(1, "app", "read", "write"), grant(2, "backup", "read"), max_objects=10),
                 bucket(2, "site", grant(1, "app", "owner")),
                 keys=[key(1, "app"), key(2, "backup", expiration="2030-01-01T00:00:00Z")])


def test_what_is_there_already_needs_nothing():
    plan = plan_tenancy(spec(**TWO), CONVERGED)
    assert not plan.changed and not plan.notes
    assert plan.prediction["buckets"][0]["grants"] == [
        {"key_id": kid(1), "key_name": "app", "read": True, "write": True, "owner": False},
        {"key_id": kid(2), "key_name": "backup", "read": True, "write": False, "owner": False}]


def test_only_what_differs_is_sent():
    document = {"keys": [{"name": "app"}, {"name": "backup", "expiration": "never"}],
                "buckets": [{"name": "media", "grants": [{"key": "app", "write": False}, {"key_id": kid(2), "write": True}]}, {"name": "site"}]}
    plan = plan_tenancy(spec(**document), CONVERGED)
    assert why(plan) == ["set expiration of access key backup", "deny write on bucket media to access key app",
                         f"allow write on bucket media to access key {kid(2)}"]
    assert plan.diff["after"]["access key backup"] == {"expiration": None}


def test_nothing_declared_is_nothing_to_do():
    plan = plan_tenancy(spec(), TenancySnapshot())
    assert (plan.changed, plan.prediction) == (False, {"keys": [], "buckets": [], "grants": [], "admin_tokens": []})


def test_no_bucket_goes_through_all_keys():
    """Else a document of n buckets and n keys costs n times n: 100 s of nothing at 10,000."""

    class Counted(dict):
        looks = 0

        def get(self, *arguments):
            Counted.looks += 1
            return super().get(*arguments)

    def looks(buckets):
        Counted.looks = 0
        TenancySpec.from_params({"keys": [Counted(name=f"k{number}") for number in range(9)], "buckets": [
            {"name": f"bucket{number}", "grants": [{"key": "k1", "read": True}]} for number in range(buckets)]})
        return Counted.looks

    assert looks(1) == looks(50) > 0


def test_removals_come_last_grants_before_buckets_before_keys():
    document = {"keys": [{"name": "gone", "state": "absent"}, {"name": "new"}],
                "buckets": [{"name": "old", "state": "absent", "grants": [{"key": "nobody", "read": True}]},
                            {"name": "media", "grants": [{"key": "new", "read": True}], "purge_grants": True}]}
    plan = plan_tenancy(spec(**document), live(bucket(1, "old"), bucket(2, "media", grant(3, "gone", "read"), grant(4, "other", "read", "owner")),
                                               keys=[key(3, "gone"), key(4, "other")]))
    assert why(plan) == ["create access key new", "allow read on bucket media to access key new",
                         f"deny read, owner on bucket media to access key other ({kid(4)})", "delete bucket old", "delete access key gone"]
    assert plan.prediction["keys"][0] is None and plan.prediction["buckets"][0] is None
    assert [row["key_name"] for row in plan.prediction["buckets"][1]["grants"]] == ["new"]


@pytest.mark.requirement("FC-074")
@pytest.mark.parametrize(("more", "sent", "notes"), [
    ({"purge_grants": True}, [f"deny read on bucket media to access key c ({kid(3)})"], 0),
    ({}, [], 1),
], ids=["purged", "told of"])
def test_rights_of_keys_that_are_not_declared(more, sent, notes):
    document = {"buckets": [{"name": "media", "grants": [{"key": "a", "read": True}, {"key": "b", "read": True}], **more}]}
    there = live(bucket(1, "media", grant(1, "a", "read"), grant(2, "b", "read"), grant(3, "c", "read"), grant(4, "only-a-name")),
                 keys=[key(1, "a"), key(2, "b"), key(3, "c"), key(4, "only-a-name")])
    plan = plan_tenancy(spec(**document), there)
    assert why(plan) == sent
    assert len(plan.notes) == notes
    assert all(f"c ({kid(3)}: read)" in note and "only-a-name" not in note for note in plan.notes)


def test_no_word_of_other_keys_where_no_grants_are_declared():
    assert not plan_tenancy(spec(buckets=[{"name": "media"}]), live(bucket(1, "media", grant(3, "c", "read")))).notes


def test_a_purged_key_keeps_the_name_of_its_own_for_the_bucket():
    document = {"buckets": [{"name": "media", "grants": [], "purge_grants": True}]}
    there = live(bucket(1, "media", grant(1, "a", "read"), grant(2, "b", "read"), local_aliases=((kid(2), "mine"),)), keys=[key(1, "a"), key(2, "b")])
    predicted = plan_tenancy(spec(**document), there).prediction["buckets"][0]
    assert predicted["grants"] == [] and predicted["local_aliases"] == [{"key_id": kid(2), "alias": "mine"}]


def test_a_local_alias_may_belong_to_a_key_of_the_same_document():
    plan = plan_tenancy(spec(keys=[{"name": "new"}], buckets=[{"name": "media", "local_aliases": [{"key": "new", "alias": "mine"}]}]), live(None))
    assert why(plan) == ["create access key new", "create bucket media", "add local alias mine of key new for bucket media"]
    assert plan.calls[-1].body == {"bucketId": Ref("bucket media", "id"), "localAlias": "mine", "accessKeyId": Ref("access key new", "accessKeyId")}
    with pytest.raises(NotDeclaredHere, match="local_aliases: there is no access key"):
        plan_tenancy(spec(buckets=[{"name": "media", "local_aliases": [{"key": "nobody", "alias": "mine"}]}]), live(None))


def test_an_imported_key_is_granted_by_its_id_and_its_secret_shown_nowhere():
    wanted = spec(keys=[{"name": "imp", "id": kid(9), "secret_access_key": SECRET, "allow_create_bucket": True}],
                  buckets=[{"name": "media", "grants": [{"key": "imp", "read": True}]}])
    plan = plan_tenancy(wanted, live(None))
    assert why(plan)[:2] == ["import access key imp", "set create-bucket right of access key imp"]
    assert plan.calls[-1].body["accessKeyId"] == Ref("access key imp", "accessKeyId", known=kid(9))
    assert plan.prediction["grants"][0]["key_id"] == plan.prediction["buckets"][0]["grants"][0]["key_id"] == kid(9)
    assert SECRET not in repr(plan) and SECRET not in json.dumps(plan.diff) and SECRET not in json.dumps(plan.prediction)


def test_a_key_shows_only_what_was_read_of_it():
    plan = plan_tenancy(spec(keys=[{"name": "a"}, {"name": "b", "allow_create_bucket": True}]),
                        live(keys=[key(1, "a", allow_create_bucket=True, buckets=()), key(2, "b", allow_create_bucket=True, buckets=())]))
    assert [(row["allow_create_bucket"], row["buckets"]) for row in plan.prediction["keys"]] == [(None, None), (True, None)]


STATIC = [
    ("name or id", {"keys": [{}], "buckets": [{}]}, ["keys[0].name or id must be set", "buckets[0].name or id must be set"]),
    ("names twice", {"keys": [{"name": "a"}, {"name": "a"}], "buckets": [{"name": "bbb"}, {"name": "bbb", "state": "absent"}]},
     ["keys[1].name: 'a' is already declared at keys[0].name", "buckets[1].name: 'bbb' is already declared at buckets[0].name"]),
    ("ids twice", {"keys": [{"id": kid(1)}, {"id": kid(1)}], "buckets": [{"id": bid(1)}, {"id": bid(1)}]},
     [f"keys[1].id: '{kid(1)}' is already declared at keys[0].id", f"buckets[1].id: '{bid(1)}' is already declared at buckets[0].id"]),
    ("an alias of two buckets", {"buckets": [{"name": "aaa", "aliases": ["ccc"]}, {"name": "bbb", "aliases": ["ccc", "aaa"]}]},
     ["buckets[1].aliases: 'ccc' is already declared at buckets[0].aliases", "buckets[1].aliases: 'aaa' is already declared at buckets[0].name"]),
    ("a grant twice", {"keys": [{"name": "a", "id": kid(1)}], "buckets": [
        {"name": "bbb", "grants": [{"key": "a", "read": True}, {"key": "a", "write": True}, {"key_id": kid(1), "owner": True}]}]},
     ["buckets[0].grants[1].key: 'GK000000000000000000000001' is already declared at buckets[0].grants[0].key",
      "buckets[0].grants[2].key_id: 'GK000000000000000000000001' is already declared at buckets[0].grants[0].key"]),
    ("a key declared absent", {"keys": [{"name": "a", "state": "absent"}, {"id": kid(1), "state": "absent"}], "buckets": [
        {"name": "bbb", "grants": [{"key": "a", "read": True}, {"key_id": kid(1), "read": True}, {"key": "c", "read": True}]}]},
     ["buckets[0].grants[0].key: 'a' is declared absent", f"buckets[0].grants[1].key_id: '{kid(1)}' is declared absent"]),
    ("a grant of nothing", {"buckets": [{"name": "bbb", "grants": [{"key": "a"}, {"read": True}]}]},
     ["buckets[0].grants[0].read, write or owner must be set", "buckets[0].grants[1].key or key_id must be set"]),
    ("purge without a list", {"buckets": [{"name": "bbb", "purge_grants": True}]},
     ["buckets[0].purge_grants: needs grants, the ones to keep; write grants: [] to keep none"]),
    ("twice, and wrong besides", {"keys": [{"name": "a"}, {"name": "a", "expiration": "soon"}]},
     ["keys[1].expiration: 'soon' is not", "keys[1].name: 'a' is already declared at keys[0].name"]),
    ("one bad name, not one for each grant", {"buckets": [{"name": "B", "grants": [{"key": "a", "read": True}]}]}, ["buckets[0].name: 'B' is not"]),
]


@pytest.mark.parametrize(("document", "faults"), [row[1:] for row in STATIC], ids=[row[0] for row in STATIC])
def test_faults_of_the_document_come_all_at_once_with_their_paths(document, faults):
    with pytest.raises(InputError) as caught:
        spec(**document)
    assert len(caught.value.faults) == len(faults)
    assert all(found.startswith(wanted) for found, wanted in zip(caught.value.faults, faults))


def test_grants_to_unknown_keys_are_all_told_at_once():
    buckets = [{"name": "bbb", "grants": [{"key": "x", "read": True}, {"key": "a", "read": True}]},
               {"name": "ccc", "grants": [{"key_id": kid(7), "read": True}]}]
    with pytest.raises(NotDeclaredHere) as caught:
        plan_tenancy(spec([{"name": "a"}], buckets), live(None, None))
    assert "buckets[0].grants[0].key: there is no access key x, neither in this document nor on the server" in caught.value.message
    assert f"buckets[1].grants[0].key_id: there is no access key {kid(7)}" in caught.value.message
    assert "grants[1]" not in caught.value.message


def test_names_of_several_keys_are_never_guessed():
    document = {"keys": [{"name": "twin"}], "buckets": [{"name": "bbb", "grants": [{"key": "pair", "read": True}]}]}
    twins = [key(1, "twin"), key(2, "twin"), key(3, "pair"), key(4, "pair")]
    with pytest.raises(Ambiguous) as caught:
        plan_tenancy(spec(**document), live(None, keys=twins))
    assert f"keys[0]: 2 access keys are called 'twin': {kid(1)}, {kid(2)}" in caught.value.message
    assert f"buckets[0].grants[0].key: 2 access keys are called 'pair': {kid(3)}, {kid(4)}" in caught.value.message


@pytest.mark.parametrize(("document", "there", "words"), [
    ({"keys": [{"name": "a"}, {"id": kid(1)}]}, live(keys=[key(1, "a")]), "keys[1]: is the same as keys[0]"),
    ({"buckets": [{"name": "aaa"}, {"name": "bbb"}]}, live(bucket(1, "aaa"), bucket(1, "aaa")), "buckets[1]: is the same as buckets[0]"),
    ({"buckets": [{"name": "aaa", "grants": [{"key": "a", "read": True}, {"key_id": kid(1), "read": True}]}]}, live(None, keys=[key(1, "a")]),
     "buckets[0].grants[1]: is the same as buckets[0].grants[0]"),
    ({"keys": [{"name": "a", "state": "absent"}], "buckets": [{"name": "aaa", "grants": [{"key_id": kid(1), "read": True}]}]},
     live(None, keys=[key(1, "a")]), f"buckets[0].grants[0].key_id: access key {kid(1)} is declared absent"),
    ({"buckets": [{"name": "aaa", "grants": [{"key": "a", "read": False}]}]}, live(bucket(1, "aaa"), keys=[key(1, "a")]),
     "buckets[0].grants[0]: grant of access key a on bucket aaa: no right would be left"),
    ({"keys": [{"name": "a"}]}, live(complete=False, keys=[key(1, "b")]), "keys[0]: there is no access key 'a' among the 1"),
    ({"keys": [{"id": kid(1)}], "buckets": [{"name": "aaa", "state": "absent"}]}, live(bucket(1, "aaa", usage={"objects": 3})),
     "buckets[0]: bucket aaa: it holds 3 objects"),
])
def test_what_the_server_shows_to_be_wrong(document, there, words):
    with pytest.raises(PlanError) as caught:
        plan_tenancy(spec(**document), there)
    assert words in caught.value.message


class Server:
    """A client in front of the few answers that a reader and an executor need; ``fails`` is raised by the n-th write."""

    def __init__(self, keys=(), buckets=(), fails=None, at=0, details=None):
        self.keys, self.buckets, self.details = list(keys), list(buckets), details or {}
        self.fails, self.at = fails, at
        self.asked, self.writes, self.secrets, self.warnings = [], [], [], []
        self.server_time, self.retry_delay = NOW, 0

    def call(self, endpoint, query=None, body=None):
        self.asked.append((endpoint, query))
        if endpoint == "ListKeys":
            return self.keys
        if endpoint == "ListBuckets":
            return [{"id": row["id"], "created": row["created"], "globalAliases": row["globalAliases"], "localAliases": []} for row in self.buckets]
        if endpoint == "GetKeyInfo" and query["id"] in self.details:
            return self.details[query["id"]]
        if endpoint == "GetBucketInfo":
            for row in self.buckets:
                if row["id"] == query.get("id") or query.get("globalAlias") in row["globalAliases"]:
                    return row
        if endpoint.startswith("Get"):
            raise NotFound("404", status=404, endpoint=endpoint)
        if len(self.writes) == self.at and self.fails:
            raise self.fails
        self.writes.append((endpoint, body))
        return {"id": bid(len(self.writes)), "accessKeyId": kid(len(self.writes))}


def test_one_list_of_keys_and_details_only_where_they_are_declared():
    rows = [{"id": kid(number), "name": name} for number, name in enumerate("abcd")]
    details = {kid(1): {"accessKeyId": kid(1), "name": "b", "permissions": {"createBucket": True}},
               kid(2): {"accessKeyId": kid(2), "name": "c", "secretAccessKey": SECRET}}
    wanted = spec(keys=[{"name": "a"}, {"name": "b", "allow_create_bucket": True}, {"id": kid(2), "secret_access_key": SECRET},
                        {"name": "d", "state": "absent", "allow_create_bucket": True}])
    server = Server(keys=rows, details=details)
    snapshot = read_tenancy(server, wanted)
    assert server.asked == [("ListKeys", {"limit": 1_000_000}), ("GetKeyInfo", {"id": kid(1)}),
                            ("GetKeyInfo", {"id": kid(2), "showSecretKey": True})]
    assert [found.allow_create_bucket for found in snapshot.directory.keys] == [None, True, False, None]
    assert SECRET in server.secrets
    assert why(plan_tenancy(wanted, snapshot)) == ["delete access key d"]


def test_a_document_of_buckets_alone_needs_no_right_to_list_keys():
    server = Server()
    read_tenancy(server, spec(buckets=[{"name": "media"}]))
    assert [endpoint for endpoint, query in server.asked] == ["GetBucketInfo"]


def test_ids_are_found_even_when_the_list_of_keys_was_cut():
    rows = [{"id": kid(number), "name": "x"} for number in range(LIST_CAP)]
    far, secret = kid(LIST_CAP + 1), kid(LIST_CAP + 2)
    server = Server(keys=rows, details={far: {"accessKeyId": far, "name": "far"},
                                        secret: {"accessKeyId": secret, "name": "s", "secretAccessKey": SECRET}})
    wanted = spec(keys=[{"id": secret, "secret_access_key": SECRET}], buckets=[{"name": "media", "grants": [{"key_id": far, "read": True}]}])
    assert why(plan_tenancy(wanted, read_tenancy(server, wanted))) == ["create bucket media", f"allow read on bucket media to access key {far}"]


def test_what_a_lost_answer_left_behind_goes_to_its_own_bucket():
    orphan = {"id": bid(5), "created": "2026-06-01T00:00:01Z", "globalAliases": []}
    wanted = spec(buckets=[{"name": "aaa"}, {"name": "bbb"}])
    doubt = Doubt(Call("CreateBucket", "create bucket bbb", body={"globalAlias": "bbb"}, binds="bucket bbb"), NOW)
    plan = plan_tenancy(wanted, read_tenancy(Server(buckets=[orphan]), wanted, (doubt,)))
    assert why(plan) == ["create bucket aaa", "add alias bbb of bucket bbb"]


def test_a_run_that_stops_half_way_tells_what_was_done_and_what_not():
    wanted = spec(**TWO)
    task = Task(read=lambda client, doubts: read_tenancy(client, wanted, doubts), plan=lambda snapshot: plan_tenancy(wanted, snapshot),
                show=lambda snapshot: plan_tenancy(wanted, snapshot).predicted)
    server = Server(fails=PlanError("stop"), at=3)
    with pytest.raises(PlanError) as caught:
        converge(task, server)
    assert caught.value.done == ("create access key app", "create access key backup", "create bucket media")
    assert caught.value.left[0] == "set quotas of bucket media" and len(caught.value.left) == 5


def test_the_call_in_doubt_is_the_one_that_failed():
    wanted, seen = spec(buckets=[{"name": "aaa"}, {"name": "bbb"}]), []

    def read(client, doubts):
        seen.extend(doubts)
        return read_tenancy(client, wanted)

    task = Task(read=read, plan=lambda snapshot: plan_tenancy(wanted, snapshot), show=lambda snapshot: None)
    with pytest.raises(TransportError):
        converge(task, Server(fails=TransportError("cut", sent=True, endpoint="CreateBucket"), at=1))
    assert [doubt.call.why for doubt in seen] == ["create bucket bbb"]


def test_a_key_that_the_document_names_is_not_purged():
    there = live(bucket(1, "app-media"), keys=[key(1, "app-a"), key(2, "app-b"), key(3, "app-c"), key(4, "other")])
    document = {"buckets": [{"name": "app-media", "grants": [{"key": "app-a", "read": True}], "local_aliases": [{"key_id": kid(2), "alias": "mine"}]}],
                "owner": {"prefix": "app-"}, "purge_keys": True}
    plan = plan_tenancy(TenancySpec.from_params(document), there)
    assert [call.query["id"] for call in plan.calls if call.endpoint == "DeleteKey"] == [kid(3)]


def test_a_local_alias_of_a_key_that_is_nowhere_or_shall_be_gone_is_refused():
    with pytest.raises(NotDeclaredHere, match=r"buckets\[0\].local_aliases: there is no access key GK"):
        plan_tenancy(spec(buckets=[{"name": "media", "local_aliases": [{"key_id": kid(9), "alias": "mine"}]}]), live(None))
    with pytest.raises(InputError, match=r"buckets\[0\].local_aliases\[0\].key: 'app' is declared absent"):
        spec(keys=[{"name": "app", "state": "absent"}], buckets=[{"name": "media", "local_aliases": [{"key": "app", "alias": "mine"}]}])


def test_a_grant_uses_the_name_that_the_document_gives_to_a_key():
    there = live(bucket(1, "media"), keys=[key(1, "old")])
    document = {"keys": [{"id": kid(1), "name": "new"}], "buckets": [{"name": "media", "grants": [{"key": "old", "read": True}]}]}
    with pytest.raises(PlanError, match=r"buckets\[0\].grants\[0\].key: access key old is to be called 'new' by this document"):
        plan_tenancy(spec(**document), there)
    document["buckets"][0]["grants"][0]["key"] = "new"
    assert plan_tenancy(spec(**document), there).prediction["grants"][0]["key_id"] == kid(1)


@pytest.mark.parametrize("document", [{"keys": [{"name": "a", "state": "absent"}]}, {"owner": {"prefix": "a"}, "purge_keys": True}],
                         ids=["absent", "purged"])
def test_a_key_that_goes_takes_its_names_and_grants_along_in_the_prediction(document):
    there = live(bucket(1, "media", grant(1, "a", "read"), grant(2, "b", "read"), local_aliases=((kid(1), "mine"), (kid(2), "yours"))),
                 keys=[key(1, "a"), key(2, "b")])
    after = plan_tenancy(TenancySpec.from_params({**document, "buckets": [{"name": "media"}]}), there).prediction["buckets"][0]
    assert after["local_aliases"] == [{"key_id": kid(2), "alias": "yours"}]
    assert [row["key_id"] for row in after["grants"]] == [kid(2)]


def test_a_key_knows_one_bucket_by_a_name():
    document = {"keys": [{"name": "app"}], "buckets": [{"name": name, "local_aliases": [{"key": "app", "alias": "mine"}]} for name in ("media", "logs")]}
    with pytest.raises(PlanError, match=r"buckets\[1\].local_aliases\[0\]: is the same as .*the local alias 'mine' of access key app"):
        plan_tenancy(spec(**document), live(None, None))
    document["buckets"][1]["local_aliases"] = [{"key_id": kid(1), "alias": "mine"}]
    with pytest.raises(PlanError, match=f"of access key {kid(1)}"):
        plan_tenancy(spec(**document), live(None, None, keys=[key(1, "app")]))


def test_a_bucket_that_only_a_purged_key_knows_by_a_name_of_its_own_goes_too():
    there = live(keys=[key(1, "app-a"), key(2, "other")])
    owned = (bucket(1, "app-x", local_aliases=((kid(1), "mine"),)), bucket(2, "app-y", local_aliases=((kid(2), "theirs"),)))
    document = {"owner": {"prefix": "app-"}, "purge_keys": True, "purge_buckets": True}
    plan = plan_tenancy(TenancySpec.from_params(document), replace(there, owned=owned))
    assert why(plan) == ["delete bucket app-x", "delete access key app-a"]
