# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What ties buckets to names and keys: aliases and permissions."""

from __future__ import annotations

import pytest

from tests.contract.server import Server

NOWHERE = "0" * 64

NO_RIGHTS = {"read": False, "write": False, "owner": False}


def add(server: Server, bucket: dict, **alias: str) -> tuple[str, dict, dict]:
    return "AddBucketAlias", {}, {"bucketId": bucket["id"], **alias}


def remove(server: Server, bucket: dict, **alias: str) -> tuple[str, dict, dict]:
    return "RemoveBucketAlias", {}, {"bucketId": bucket["id"], **alias}


def test_adding_an_alias_twice_is_no_error(server: Server) -> None:
    bucket, alias = server.make_bucket(), server.name("second")
    both = sorted([*bucket["globalAliases"], alias])
    assert server.ok(*add(server, bucket, globalAlias=alias))["globalAliases"] == both
    assert server.ok(*add(server, bucket, globalAlias=alias))["globalAliases"] == both


def test_an_alias_of_another_bucket_is_not_moved(server: Server) -> None:
    one, other = server.make_bucket(), server.make_bucket()
    alias = other["globalAliases"][0]
    assert server.refusal(*add(server, one, globalAlias=alias)) == (
        400, "InvalidRequest", f"Bad request: Alias {alias} already exists and points to different bucket: {other['id'][:16]}")


def test_removing_an_absent_or_foreign_alias_is_a_500(server: Server) -> None:
    one, other = server.make_bucket(), server.make_bucket()
    text = f"Internal error: Internal error: alias not found or does not point to bucket {one['id'][:16]}"
    for alias in ("nobody-has-this", other["globalAliases"][0]):
        assert server.refusal(*remove(server, one, globalAlias=alias)) == (500, "InternalError", text)


def test_the_last_alias_stays(server: Server) -> None:
    bucket = server.make_bucket()
    alias = bucket["globalAliases"][0]
    assert server.refusal(*remove(server, bucket, globalAlias=alias)) == (
        400, "InvalidRequest", f"Bad request: Bucket {alias} doesn't have other aliases, please delete it instead of just unaliasing.")


def test_a_local_alias_is_as_good_as_a_global_one(server: Server) -> None:
    bucket, key, local = server.make_bucket(), server.make_key(), server.name("local")
    alias = bucket["globalAliases"][0]
    mine = {"localAlias": local, "accessKeyId": key["accessKeyId"]}
    shown = server.ok(*add(server, bucket, **mine))
    assert shown["keys"] == ([{"accessKeyId": key["accessKeyId"], "name": key["name"], "bucketLocalAliases": [local],
                               "permissions": {"read": False, "write": False, "owner": False}}] if server.since(2, 4) or not server.since(2, 1) else [])
    assert server.ok(*remove(server, bucket, globalAlias=alias))["globalAliases"] == []
    assert server.refusal(*remove(server, bucket, **mine)) == (
        400, "InvalidRequest", f"Bad request: Bucket {local} doesn't have other aliases, please delete it instead of just unaliasing.")
    assert server.call("GetBucketInfo", {"globalAlias": local}).status == 404


def test_a_local_alias_belongs_to_one_bucket_of_its_key(server: Server) -> None:
    one, other, key, local = server.make_bucket(), server.make_bucket(), server.make_key(), server.name("local")
    mine = {"localAlias": local, "accessKeyId": key["accessKeyId"]}
    server.ok(*add(server, one, **mine))
    server.ok(*add(server, one, **mine))
    assert server.refusal(*add(server, other, **mine)) == (
        400, "InvalidRequest",
        f"Bad request: Alias {local} already exists in namespace of key {key['accessKeyId']} and points to different bucket: {one['id'][:16]}")
    assert server.refusal(*remove(server, other, **mine)) == (
        500, "InternalError", f"Internal error: Bucket {other['id'][:16]} does not have alias {local} in namespace of key {key['accessKeyId']}")
    server.ok(*add(server, other, localAlias=local, accessKeyId=server.make_key()["accessKeyId"]))


def test_a_removed_local_alias_blocks_creating_but_not_adding(server: Server) -> None:
    bucket, key, local = server.make_bucket(), server.make_key(), server.name("local")
    mine = {"localAlias": local, "accessKeyId": key["accessKeyId"]}
    server.ok(*add(server, bucket, **mine))
    server.ok(*remove(server, bucket, **mine))
    count = len(server.ok("ListBuckets"))
    assert server.refusal("CreateBucket", body={"localAlias": {"alias": local, "accessKeyId": key["accessKeyId"]}}) == (
        400, "InvalidRequest", "Bad request: Local alias already exists")
    assert len(server.ok("ListBuckets")) == count
    server.ok(*add(server, server.make_bucket(), **mine))


def test_a_bucket_may_be_made_with_a_local_alias_and_rights(server: Server) -> None:
    key, local = server.make_key(), server.name("local")
    made = server.ok("CreateBucket", body={"localAlias": {"alias": local, "accessKeyId": key["accessKeyId"], "allow": {"read": True}}})
    assert made["globalAliases"] == []
    assert made["keys"] == [{"accessKeyId": key["accessKeyId"], "name": key["name"], "bucketLocalAliases": [local],
                             "permissions": {"read": True, "write": False, "owner": False}}]


def test_deleting_the_bucket_also_leaves_a_trace_of_its_local_alias(server: Server) -> None:
    key, local = server.make_key(), server.name("local")
    body = {"localAlias": {"alias": local, "accessKeyId": key["accessKeyId"]}}
    server.ok("DeleteBucket", {"id": server.ok("CreateBucket", body=body)["id"]})
    assert server.refusal("CreateBucket", body=body) == (400, "InvalidRequest", "Bad request: Local alias already exists")


def test_deleting_the_key_takes_its_local_aliases_along(server: Server) -> None:
    key, local = server.make_key(), server.name("local")
    made = server.ok("CreateBucket", body={"localAlias": {"alias": local, "accessKeyId": key["accessKeyId"], "allow": {"owner": True}}})
    server.ok("DeleteKey", {"id": key["accessKeyId"]})
    left = server.bucket(made["id"])
    assert (left["globalAliases"], left["keys"]) == ([], [])
    assert next(row for row in server.ok("ListBuckets") if row["id"] == made["id"])["localAliases"] == []


@pytest.mark.parametrize("endpoint", ["AddBucketAlias", "RemoveBucketAlias"])
def test_aliases_of_what_is_not_there(server: Server, endpoint: str) -> None:
    bucket, key = server.make_bucket(), server.make_key()
    assert server.refusal(endpoint, body={"bucketId": NOWHERE, "globalAlias": "abc"}) == (404, "NoSuchBucket", f"Bucket not found: {NOWHERE}")
    assert server.refusal(endpoint, body={"bucketId": bucket["id"], "localAlias": "abc", "accessKeyId": "GKnone"}) == (
        404, "NoSuchAccessKey", "Access key not found: GKnone")
    for incomplete in ({}, {"localAlias": "abc"}, {"accessKeyId": key["accessKeyId"]}, {"globalAlias": None}):
        assert server.refusal(endpoint, body={"bucketId": bucket["id"], **incomplete}) == (400, "InvalidRequest", "Bad request: Invalid JSON")


def test_a_global_alias_beats_a_local_one_in_one_body(server: Server) -> None:
    bucket, key, name = server.make_bucket(), server.make_key(), server.name("both")
    shown = server.ok(*add(server, bucket, globalAlias=name, localAlias="other", accessKeyId=key["accessKeyId"]))
    assert (name in shown["globalAliases"], shown["keys"]) == (True, [])


# permissions


def change(server: Server, endpoint: str, bucket: dict, key: dict, **flags: bool) -> dict | None:
    shown = server.ok(endpoint, body={"bucketId": bucket["id"], "accessKeyId": key["accessKeyId"], "permissions": flags})
    return next((row["permissions"] for row in shown["keys"] if row["accessKeyId"] == key["accessKeyId"]), None)


def test_only_true_acts(server: Server) -> None:
    bucket, key = server.make_bucket(), server.make_key()
    assert change(server, "AllowBucketKey", bucket, key, read=True, write=True) == {"read": True, "write": True, "owner": False}
    assert change(server, "AllowBucketKey", bucket, key, read=False, owner=True) == {"read": True, "write": True, "owner": True}
    assert change(server, "DenyBucketKey", bucket, key, read=False, write=True) == {"read": True, "write": False, "owner": True}
    assert change(server, "AllowBucketKey", bucket, key) == {"read": True, "write": False, "owner": True}
    assert server.key(key["accessKeyId"])["buckets"] == [
        {"id": bucket["id"], "globalAliases": bucket["globalAliases"], "localAliases": [],
         "permissions": {"read": True, "write": False, "owner": True}}]


def test_a_key_without_rights_is_not_shown(server: Server) -> None:
    bucket, key = server.make_bucket(), server.make_key()
    change(server, "AllowBucketKey", bucket, key, read=True)
    hidden = None if server.since(2, 1) else NO_RIGHTS
    assert change(server, "DenyBucketKey", bucket, key, read=True, write=True, owner=True) == hidden
    assert change(server, "AllowBucketKey", bucket, key) == hidden
    assert [row["permissions"] for row in server.key(key["accessKeyId"])["buckets"]] == ([hidden] if hidden else [])


def test_with_a_local_alias_it_stays_with_all_false(server: Server) -> None:
    bucket, key, local = server.make_bucket(), server.make_key(), server.name("local")
    server.ok(*add(server, bucket, localAlias=local, accessKeyId=key["accessKeyId"]))
    change(server, "AllowBucketKey", bucket, key, read=True)
    none = {"read": False, "write": False, "owner": False}
    if server.since(2, 4):
        assert change(server, "DenyBucketKey", bucket, key, read=True) == none
        assert server.key(key["accessKeyId"])["buckets"] == [
            {"id": bucket["id"], "globalAliases": bucket["globalAliases"], "localAliases": [local], "permissions": none}]


def test_denying_what_was_never_allowed_is_no_error(server: Server) -> None:
    assert change(server, "DenyBucketKey", server.make_bucket(), server.make_key(), read=True) == (None if server.since(2, 1) else NO_RIGHTS)


@pytest.mark.parametrize("endpoint", ["AllowBucketKey", "DenyBucketKey"])
def test_permissions_of_what_is_not_there(server: Server, endpoint: str) -> None:
    bucket, key = server.make_bucket(), server.make_key()
    body = {"bucketId": bucket["id"], "accessKeyId": key["accessKeyId"], "permissions": {"read": True}}
    assert server.refusal(endpoint, body={**body, "bucketId": NOWHERE}) == (404, "NoSuchBucket", f"Bucket not found: {NOWHERE}")
    assert server.refusal(endpoint, body={**body, "bucketId": "media"}) == (
        400, "InvalidRequest", "Bad request: Invalid bucket id: Odd number of digits")
    assert server.refusal(endpoint, body={**body, "accessKeyId": "GKnone"}) == (404, "NoSuchAccessKey", "Access key not found: GKnone")
    for wrong in ({"permissions": None}, {"permissions": {"read": None}}, {"permissions": {"read": "true"}}):
        assert server.refusal(endpoint, body={**body, **wrong}) == (400, "InvalidRequest", "Bad request: Invalid JSON")


def test_a_deleted_key_leaves_no_grant(server: Server) -> None:
    bucket, key = server.make_bucket(), server.make_key()
    change(server, "AllowBucketKey", bucket, key, read=True)
    server.ok("DeleteKey", {"id": key["accessKeyId"]})
    assert server.bucket(bucket["id"])["keys"] == []


def test_all_keys_of_a_bucket_are_there_in_whatever_order(server: Server) -> None:
    bucket, keys = server.make_bucket(), [server.make_key() for dummy in range(4)]
    for key in keys:
        server.grant(bucket, key, read=True)
    assert {row["accessKeyId"]: row["name"] for row in server.bucket(bucket["id"])["keys"]} == {key["accessKeyId"]: key["name"] for key in keys}
