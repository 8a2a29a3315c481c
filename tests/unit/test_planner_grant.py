# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a grant needs, decided on tables: no server, no Ansible."""

from __future__ import annotations

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError, NotDeclaredHere, PlanError
from ansible_collections.s3ops.garage.plugins.module_utils._models.bucket import Bucket, BucketGrant
from ansible_collections.s3ops.garage.plugins.module_utils._models.grant import GrantSpec
from ansible_collections.s3ops.garage.plugins.module_utils._models.key import Key
from ansible_collections.s3ops.garage.plugins.module_utils._planners.grant import GrantSnapshot, plan_grant

BUCKET, KEY, OTHER = "b" * 64, "GK0123456789abcdef01234567", "GKffffffffffffffffffffffff"


def spec(**params):
    return GrantSpec.from_params({"bucket": "media", "key": "app", **params})


def live(*rights):
    """The bucket and the key, the key with these rights on it; another key has all."""
    grants = (BucketGrant(OTHER, "other", True, True, True), BucketGrant(KEY, "app", **dict.fromkeys(rights, True)))
    return GrantSnapshot(Bucket(BUCKET, aliases=("media",), grants=grants), Key(KEY, "app"))


def sent(plan):
    """What is asked of the server: which call, with which true flags."""
    for call in plan.calls:
        assert (call.body["bucketId"], call.body["accessKeyId"], set(call.body["permissions"].values())) == (BUCKET, KEY, {True})
    return [(call.endpoint, list(call.body["permissions"])) for call in plan.calls]


def flags(plan):
    return None if plan.after is None else [right for right in ("read", "write", "owner") if plan.after[right]]


ALL = ("read", "write", "owner")

TABLE = [
    ("new", {"read": True, "write": True}, (), [("AllowBucketKey", ["read", "write"])], ["read", "write"]),
    ("equal", {"read": True, "write": True}, ("read", "write"), [], ["read", "write"]),
    ("equal, one left alone", {"read": True}, ALL, [], list(ALL)),
    ("owner alone leaves the others", {"owner": True}, (), [("AllowBucketKey", ["owner"])], ["owner"]),
    ("raised", {"owner": True}, ("read",), [("AllowBucketKey", ["owner"])], ["read", "owner"]),
    ("lowered", {"write": False}, ("read", "write"), [("DenyBucketKey", ["write"])], ["read"]),
    ("lowered before raised", {"read": False, "write": True}, ("read",), [("DenyBucketKey", ["read"]), ("AllowBucketKey", ["write"])], ["write"]),
    ("exact", {"read": True, "exact": True}, ALL, [("DenyBucketKey", ["write", "owner"])], ["read"]),
    ("exact and equal", {"read": True, "exact": True}, ("read",), [], ["read"]),
    ("absent takes all there are", {"state": "absent"}, ("read", "owner"), [("DenyBucketKey", ["read", "owner"])], None),
    ("absent whatever the flags say", {"state": "absent", "read": True}, ALL, [("DenyBucketKey", list(ALL))], None),
    ("absent already", {"state": "absent"}, (), [], None),
]


@pytest.mark.requirement("FC-071")
@pytest.mark.requirement("FC-073")
@pytest.mark.requirement("FC-077")
@pytest.mark.parametrize(("params", "rights", "calls", "after"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_what_is_sent(params, rights, calls, after):
    plan = plan_grant(spec(**params), live(*rights))
    assert sent(plan) == calls
    assert flags(plan) == after
    assert plan.changed == bool(calls)


@pytest.mark.requirement("FC-076")
@pytest.mark.parametrize(("bucket", "key", "words"), [
    (None, None, "there is no bucket media and no access key app"),
    (None, Key(KEY, "app"), "there is no bucket media$"),
    (Bucket(BUCKET), None, "there is no access key app$"),
], ids=["both", "bucket", "key"])
def test_which_of_the_two_is_missing(bucket, key, words):
    with pytest.raises(NotDeclaredHere, match=words):
        plan_grant(spec(read=True), GrantSnapshot(bucket, key))
    assert not plan_grant(spec(state="absent"), GrantSnapshot(bucket, key)).changed


def test_a_grant_of_nothing_is_refused():
    with pytest.raises(PlanError, match="no right would be left"):
        plan_grant(spec(write=False), live("write"))


@pytest.mark.parametrize(("params", "words"), [
    ({}, "read, write or owner must be set"),
    ({"read": False, "exact": True}, "no right would be left"),
    ({"read": False, "write": False, "owner": False}, "no right would be left"),
    ({"read": True, "key": None}, "key or key_id must be set"),
    ({"read": True, "key_id": KEY}, "key and key_id exclude one another"),
    ({"read": True, "bucket_id": BUCKET}, "bucket and bucket_id exclude one another"),
    ({"read": True, "bucket": None, "bucket_id": "nonsense"}, "bucket_id: "),
    ({"read": True, "key": None, "key_id": "x"}, "key_id: "),
    ({"read": True, "key": ""}, "key: must not be empty"),
    ({"read": True, "bucket": BUCKET}, "bucket: "),
])
def test_faulty_options(params, words):
    with pytest.raises(InputError) as caught:
        GrantSpec.from_params({"bucket": "media", "key": "app", **params}, where="grants[1].")
    assert caught.value.faults[0].startswith(f"grants[1].{words}")


def test_the_result_names_both_sides():
    plan = plan_grant(GrantSpec(bucket_id=BUCKET, key_id=KEY, read=True), live())
    assert plan.after == {"bucket": "media", "bucket_id": BUCKET, "key": "app", "key_id": KEY, "read": True, "write": False, "owner": False}
    assert plan.before is None
