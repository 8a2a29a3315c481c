# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The bucket planner by tables: what is sent for which difference, in which order, and what is refused before anything is."""

from __future__ import annotations

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError, NotDeclaredHere, PlanError, Unsupported
from ansible_collections.s3ops.garage.plugins.module_utils._models.bucket import Bucket, BucketGrant, BucketSpec, Website
from ansible_collections.s3ops.garage.plugins.module_utils._plan import Ref
from ansible_collections.s3ops.garage.plugins.module_utils._planners.bucket import BucketSnapshot, plan_bucket
from ansible_collections.s3ops.garage.plugins.module_utils._translate import routing_rule

ID, OTHER = "a" * 64, "b" * 64
LIVE = Bucket(ID, aliases=("media",))
RULE = routing_rule({"redirect": {"host_name": "h"}})


def spec(**params):
    return BucketSpec.from_params(params)


def plan(live=LIVE, owners=None, orphan=None, key_ids=None, local_owners=None, **params):
    return plan_bucket(spec(**params), BucketSnapshot(live, owners or {}, orphan, key_ids or {}, local_owners or {}))


def sent(plan):
    return [(call.endpoint, call.query or None, call.body) for call in plan.calls]


def test_nothing_wanted_of_what_is_there_is_nothing_sent():
    assert not plan(name="media").changed
    assert plan(name="media").diff == {"before": {}, "after": {}}


@pytest.mark.requirement("FC-029")
def test_a_new_bucket_is_made_with_its_alias_and_one_update_for_all_settings():
    decided = plan(None, name="media", quotas={"max_size": "40GB", "max_objects": "1000000"}, website={"enabled": True, "index_document": "index.html"})
    assert sent(decided) == [
        ("CreateBucket", None, {"globalAlias": "media"}),
        ("UpdateBucket", {"id": Ref("bucket media", "id")}, {
            "websiteAccess": {"enabled": True, "indexDocument": "index.html", "errorDocument": None},
            "quotas": {"maxSize": 40_000_000_000, "maxObjects": 1_000_000},
        }),
    ]
    assert decided.before is None and decided.after["id"] is None and decided.after["aliases"] == ["media"]


@pytest.mark.requirement("FC-035")
def test_an_id_that_does_not_exist_is_never_made_up():
    with pytest.raises(NotDeclaredHere):
        plan(None, id=ID, name="media")


@pytest.mark.requirement("GS-07", "FC-034")
def test_a_bucket_that_a_lost_answer_left_without_a_name_gets_its_name():
    decided = plan(None, orphan=Bucket(OTHER), name="media")
    assert sent(decided) == [("AddBucketAlias", None, {"bucketId": OTHER, "globalAlias": "media"})]


@pytest.mark.requirement("GS-10", "FC-041")
@pytest.mark.parametrize(("live", "wanted", "body"), [
    ((None, None), {"max_size": "1000"}, {"maxSize": 1000, "maxObjects": None}),
    ((5, 7), {"max_size": "1000"}, {"maxSize": 1000, "maxObjects": 7}),
    ((5, 7), {"max_objects": "0"}, {"maxSize": 5, "maxObjects": 0}),
    ((5, 7), {"max_size": "unlimited"}, {"maxSize": None, "maxObjects": 7}),
    ((0, 0), {"max_size": "unlimited", "max_objects": "unlimited"}, {"maxSize": None, "maxObjects": None}),
    ((5, 7), {"max_size": "5", "max_objects": "7"}, None),
    ((None, None), {"max_size": "unlimited"}, None),
    ((5, 7), {}, None),
    ((5, 7), None, None),
])
def test_each_half_of_the_quotas_is_managed_on_its_own_and_both_are_sent(live, wanted, body):
    decided = plan(Bucket(ID, aliases=("media",), max_size=live[0], max_objects=live[1]), name="media", quotas=wanted)
    assert sent(decided) == ([("UpdateBucket", {"id": ID}, {"quotas": body})] if body else [])


@pytest.mark.requirement("GS-09", "FC-043", "FC-044")
@pytest.mark.parametrize(("live", "wanted", "body"), [
    (None, {"enabled": False}, None),
    (Website("i"), {"enabled": False}, {"enabled": False}),
    (Website("i"), {"enabled": True}, None),
    (None, {"enabled": True, "index_document": "i"}, {"enabled": True, "indexDocument": "i", "errorDocument": None}),
    (Website("i", "e"), {"enabled": True, "index_document": "j"}, {"enabled": True, "indexDocument": "j", "errorDocument": "e"}),
    (Website("i", "e", (RULE,)), {"enabled": True, "index_document": "j"}, {"enabled": True, "indexDocument": "j", "errorDocument": "e"}),
    (Website("i", "e", (RULE,)), {"enabled": True, "routing_rules": []},
     {"enabled": True, "indexDocument": "i", "errorDocument": "e", "routingRules": []}),
    (Website("i", "e"), {"enabled": True, "error_document": ""}, {"enabled": True, "indexDocument": "i", "errorDocument": None}),
])
def test_a_website_keeps_what_is_left_out(live, wanted, body):
    decided = plan(Bucket(ID, aliases=("media",), website=live), name="media", website=wanted)
    assert sent(decided) == ([("UpdateBucket", {"id": ID}, {"websiteAccess": body})] if body else [])


@pytest.mark.requirement("FC-043")
def test_a_website_without_an_index_is_refused():
    with pytest.raises(PlanError, match="index_document"):
        plan(name="media", website={"enabled": True})
    with pytest.raises(InputError, match="leave the documents out"):
        spec(name="media", website={"enabled": False, "index_document": "i"})


def test_new_names_come_before_old_ones_go():
    decided = plan(Bucket(ID, aliases=("media", "old")), name="media", aliases=["new"], purge_aliases=True)
    assert decided.would == ("add alias new of bucket media", "remove alias old of bucket media")
    assert decided.after["aliases"] == ["media", "new"]


def test_unknown_names_stay_unless_purged_and_id_with_name_renames():
    assert not plan(Bucket(ID, aliases=("media", "other")), name="media").changed
    decided = plan(id=ID, name="pictures", purge_aliases=True)
    assert [(call.endpoint, call.body["globalAlias"]) for call in decided.calls] == [("AddBucketAlias", "pictures"), ("RemoveBucketAlias", "media")]


@pytest.mark.requirement("FC-038")
def test_a_name_of_another_bucket_is_refused_and_names_it():
    with pytest.raises(PlanError, match=f"'pictures' belongs to bucket {OTHER}; it was not moved"):
        plan(name="media", aliases=["pictures"], owners={"pictures": OTHER})


@pytest.mark.requirement("FC-037")
def test_the_last_name_stays():
    with pytest.raises(PlanError, match="last alias"):
        plan(id=ID, aliases=[], purge_aliases=True)
    # A key's own name for the bucket is a name as well.
    known = Bucket(ID, aliases=("media",), local_aliases=(("GK1", "mine"),))
    assert plan(known, id=ID, aliases=[], purge_aliases=True).would == (f"remove alias media of bucket {ID}",)
    with pytest.raises(PlanError, match="last alias"):
        plan(known, id=ID, aliases=[], purge_aliases=True, local_aliases=[], purge_local_aliases=True)


def test_a_bucket_that_has_no_name_is_managed_by_its_id():
    nameless = Bucket(ID)
    assert not plan(nameless, id=ID).changed
    assert plan(nameless, id=ID, quotas={"max_objects": 5}).would == (f"set quotas of bucket {ID}",)
    assert plan(nameless, id=ID, name="media").would == ("add alias media of bucket media",)


def test_local_aliases_are_added_by_key_name_or_id_and_removed_when_purged():
    live = Bucket(ID, aliases=("media",), local_aliases=(("GK000001", "old"), ("GK000002", "same")))
    wanted = [{"key": "app", "alias": "new"}, {"key_id": "GK000002", "alias": "same"}]
    decided = plan(live, name="media", local_aliases=wanted, key_ids={"app": "GK000001", "GK000002": "GK000002"})
    assert sent(decided) == [("AddBucketAlias", None, {"bucketId": ID, "localAlias": "new", "accessKeyId": "GK000001"})]
    decided = plan(live, name="media", local_aliases=wanted, purge_local_aliases=True, key_ids={"app": "GK000001", "GK000002": "GK000002"})
    assert decided.would == ("add local alias new of key app for bucket media", "remove local alias old of key GK000001 for bucket media")
    assert decided.after["local_aliases"] == [{"key_id": "GK000001", "alias": "new"}, {"key_id": "GK000002", "alias": "same"}]
    assert not plan(live, name="media", local_aliases=[], key_ids={}).changed
    twice = [{"key": "app", "alias": "new"}, {"key_id": "GK000001", "alias": "new"}]
    assert len(sent(plan(live, name="media", local_aliases=twice, key_ids={"app": "GK000001", "GK000001": "GK000001"}))) == 1


def test_a_local_alias_of_nobody_or_of_another_bucket_is_refused():
    for ghost in ({"key": "ghost"}, {"key_id": "ghost-id"}):
        with pytest.raises(NotDeclaredHere, match="'ghost"):
            plan(name="media", local_aliases=[{**ghost, "alias": "mine"}])
    with pytest.raises(PlanError, match=f"names bucket {OTHER}"):
        plan(name="media", local_aliases=[{"key_id": "GK000001", "alias": "mine"}], key_ids={"GK000001": "GK000001"},
             local_owners={("GK000001", "mine"): OTHER})
    with pytest.raises(InputError, match=r"local_aliases\[0\]: set either key or key_id; local_aliases\[1\].alias"):
        spec(name="media", local_aliases=[{"alias": "mine"}, {"key": "a", "alias": "A"}])


@pytest.mark.requirement("FC-046")
def test_rules_in_another_order_are_equal_and_an_empty_list_clears():
    rules = [{"id": "b", "expiration_days": 1}, {"id": "a", "abort_incomplete_multipart_upload_days": 7, "prefix": ""}]
    first = plan(None, name="media", lifecycle_rules=rules)
    live = Bucket(ID, aliases=("media",), lifecycle_rules=tuple(first.after["lifecycle_rules"]))
    assert not plan(live, name="media", lifecycle_rules=list(reversed(rules))).changed
    assert sent(plan(live, name="media", lifecycle_rules=[])) == [("UpdateBucket", {"id": ID}, {"lifecycleRules": []})]
    assert not plan(live, name="media").changed


@pytest.mark.requirement("FC-050")
def test_an_absent_bucket_is_removed_once():
    assert sent(plan(name="media", state="absent")) == [("DeleteBucket", {"id": ID}, None)]
    assert plan(name="media", state="absent").after is None
    assert not plan(None, name="media", state="absent").changed


def test_what_holds_objects_is_kept_with_its_grants_and_says_how_many():
    full = Bucket(ID, aliases=("media",), grants=(BucketGrant("GK1", "app", read=True),), usage={"objects": 3, "bytes": 42})
    with pytest.raises(PlanError, match=r"holds 3 objects \(42 bytes\)"):
        plan(full, name="media", state="absent")


def test_an_id_and_a_name_that_are_not_one_bucket_delete_nothing():
    with pytest.raises(PlanError, match="not called 'other' but media"):
        plan(id=ID, name="other", state="absent")


@pytest.mark.requirement("FC-053")
@pytest.mark.parametrize("name", ["ab", "a" * 64, "A_B", "with space", ".dot", "dot.", "-a-", "10.0.0.1", "x-s3alias", ID])
def test_names_garage_refuses_are_refused_with_the_rule(name):
    with pytest.raises(InputError, match=r"name: .*(bucket name Garage takes|is a bucket id)"):
        spec(name=name)


@pytest.mark.parametrize("name", ["abc", "a..b", "a.b-c", "a" * 63, "xn--4ca"])
def test_names_garage_takes_are_taken(name):
    assert spec(name=name).name == name


def test_all_faults_are_told_at_once():
    with pytest.raises(InputError) as caught:
        spec(id="x", name="A", aliases=["B"], quotas={"max_size": "1X", "max_objects": "-1"}, lifecycle_rules=[{"id": "a"}, {"id": "a"}])
    assert len(caught.value.faults) == 7


@pytest.mark.requirement("FC-047")
@pytest.mark.parametrize(("wanted", "needs"), [
    ({"cors_rules": [{"allowed_origins": ["*"], "allowed_methods": ["GET"]}]}, "cors_rules needs Garage 2.3.0, this is 2.2.0"),
    ({"lifecycle_rules": [{"id": "a", "expiration_days": 1}]}, "lifecycle_rules needs Garage 2.3.0"),
    ({"website": {"enabled": True, "index_document": "i", "routing_rules": [{"redirect": {"host_name": "h"}}]}}, "routing_rules needs Garage 2.3.0"),
])
def test_what_the_server_would_ignore_is_refused_with_the_version_it_needs(wanted, needs):
    decide = spec(name="media", **wanted)
    for live in (None, LIVE):
        with pytest.raises(Unsupported, match=needs):
            plan_bucket(decide, BucketSnapshot(live, server_version=(2, 2, 0)))
        assert plan_bucket(decide, BucketSnapshot(live, server_version=(2, 3, 0))).changed
        # A version that nobody tells is no reason to refuse; the read-back will tell.
        assert plan_bucket(decide, BucketSnapshot(live)).changed


def test_clearing_what_an_old_server_cannot_have_is_no_change():
    decide = spec(name="media", cors_rules=[], lifecycle_rules=[])
    assert not plan_bucket(decide, BucketSnapshot(LIVE, server_version=(2, 0, 0))).changed
