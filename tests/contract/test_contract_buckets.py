# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Buckets: how they come, are found, listed, and go."""

from __future__ import annotations

import pytest

from tests.contract.server import Server

NOWHERE = "0" * 64
RULE = ("Invalid bucket name. See AWS documentation for constraints on S3 bucket names:\n"
        "https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html")
BAD_NAMES = ["ab", "a" * 64, "A-b", "a_b", "-abc", "abc-", ".abc", "abc.", "192.168.1.1", "xn--abc", "a.xn--b", "abc-s3alias", "a b", "é-bucket", ""]


def test_a_new_bucket_shows_all_its_fields(server: Server) -> None:
    alias = server.name("new")
    made = server.ok("CreateBucket", body={"globalAlias": alias})
    bucket_id, created = made.pop("id"), made.pop("created")
    assert len(bucket_id) == 64
    assert created.endswith("Z")
    assert made == {
        "globalAliases": [alias], "websiteAccess": False, "keys": [], "objects": 0, "bytes": 0, "unfinishedUploads": 0,
        "unfinishedMultipartUploads": 0, "unfinishedMultipartUploadParts": 0, "unfinishedMultipartUploadBytes": 0,
        "quotas": {"maxSize": None, "maxObjects": None}, **({} if server.since(2, 3) else {"websiteConfig": None}),
    }


def test_a_bucket_may_have_no_name(server: Server) -> None:
    made = server.ok("CreateBucket", body={})
    assert made["globalAliases"] == []
    assert made["id"] in {row["id"] for row in server.ok("ListBuckets") if not row["globalAliases"] and not row["localAliases"]}


def test_a_taken_name_is_a_conflict(server: Server) -> None:
    alias = server.make_bucket()["globalAliases"][0]
    assert server.refusal("CreateBucket", body={"globalAlias": alias}) == (409, "BucketAlreadyExists", "Bucket already exists")


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_bad_name_is_refused_with_two_codes(server: Server, name: str) -> None:
    bucket = server.make_bucket()
    assert server.refusal("CreateBucket", body={"globalAlias": name}) == (400, "InvalidRequest", f"Bad request: {name}: {RULE}")
    assert server.refusal("AddBucketAlias", body={"bucketId": bucket["id"], "globalAlias": name}) == (
        400, "InvalidBucketName", f"Invalid bucket name: {name}")


@pytest.mark.parametrize("stem", ["a..b", "1", "x.y-z", "999.999.999.999"])
def test_odd_names_are_taken(server: Server, stem: str) -> None:
    name = server.name(stem)
    assert server.ok("CreateBucket", body={"globalAlias": name})["globalAliases"] == [name]


def test_a_bucket_is_found_by_id_in_any_case_by_name_and_by_search(server: Server) -> None:
    bucket = server.make_bucket()
    for query in ({"id": bucket["id"]}, {"id": bucket["id"].upper()}, {"globalAlias": bucket["globalAliases"][0]},
                  {"search": bucket["globalAliases"][0]}, {"search": bucket["id"]}, {"search": bucket["id"][:15]}):
        assert server.ok("GetBucketInfo", query)["id"] == bucket["id"], query


@pytest.mark.requirement("FC-031")
@pytest.mark.parametrize(("query", "refusal"), [
    ({"id": NOWHERE}, (404, "NoSuchBucket", f"Bucket not found: {NOWHERE}")),
    ({"id": "abcd"}, (400, "InvalidRequest", "Bad request: Invalid bucket id")),
    ({"id": "media"}, (400, "InvalidRequest", "Bad request: Invalid bucket id: Odd number of digits")),
    ({"id": "medium"}, (400, "InvalidRequest", "Bad request: Invalid bucket id: Invalid character 'm' at position 0")),
    ({"globalAlias": "nobody-has-this"}, (404, "NoSuchBucket", "Bucket not found: nobody-has-this")),
    ({"globalAlias": NOWHERE}, (404, "NoSuchBucket", f"Bucket not found: {NOWHERE}")),
    ({"search": "nobody-has-this"}, (404, "NoSuchBucket", "Bucket not found: nobody-has-this")),
    ({"search": "f"}, (404, "NoSuchBucket", "Bucket not found: f")),
    ({"search": "0" * 66}, (400, "InvalidRequest", "Bad request: invalid length")),
    ({}, (400, "InvalidRequest", "Bad request: Either id, globalAlias or search must be provided (but not several of them)")),
    ({"id": NOWHERE, "search": "x"}, (400, "InvalidRequest",
                                      "Bad request: Either id, globalAlias or search must be provided (but not several of them)")),
])
def test_a_bucket_that_is_not_found(server: Server, query: dict, refusal: tuple) -> None:
    assert server.refusal("GetBucketInfo", query) == refusal


def test_part_of_a_name_finds_nothing(server: Server) -> None:
    alias = server.make_bucket(server.name("pg-backup"))["globalAliases"][0]
    assert server.call("GetBucketInfo", {"search": alias[:-2]}).status == 404
    assert server.call("GetBucketInfo", {"globalAlias": alias[:-2]}).status == 404


@pytest.mark.requirement("FC-040")
def test_lists_are_sorted_and_name_local_aliases(server: Server) -> None:
    key = server.make_key()
    local = server.name("local")
    made = [server.ok("CreateBucket", body={"localAlias": {"accessKeyId": key["accessKeyId"], "alias": local}}), server.make_bucket()]
    rows = server.ok("ListBuckets")
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)
    mine = {row["id"]: row for row in rows if row["id"] in {bucket["id"] for bucket in made}}
    assert mine[made[0]["id"]] == {"id": made[0]["id"], "created": made[0]["created"], "globalAliases": [],
                                   "localAliases": [{"accessKeyId": key["accessKeyId"], "alias": local}]}
    assert mine[made[1]["id"]] == {"id": made[1]["id"], "created": made[1]["created"], "globalAliases": made[1]["globalAliases"], "localAliases": []}


def test_pages_begin_at_the_offset_and_have_no_upper_bound(server: Server) -> None:
    for dummy in range(3):
        server.make_bucket()
    ids = [row["id"] for row in server.ok("ListBuckets", {"limit": 1000000})]
    pages = {
        "first two": ({"limit": 2}, ids[:2]),
        "from the second": ({"offset": ids[1], "limit": 1}, ids[1:2]),
        "from in between": ({"offset": ids[1][:-1] + "f", "limit": 1}, None),
        "none": ({"limit": 0}, []),
    }
    if not server.since(2, 5):
        assert [row["id"] for row in server.ok("ListBuckets", {"limit": 1})] == ids
        return
    for words, (query, expected) in pages.items():
        for endpoint in ("ListBuckets", "ListBucketsInfo"):
            found = [row["id"] for row in server.ok(endpoint, query)]
            assert found == (expected if expected is not None else [each for each in ids if each >= query["offset"]][:1]), words
    assert server.refusal("ListBuckets", {"offset": "abc"}) == (400, "InvalidRequest", "Bad request: Invalid bucket id: Odd number of digits")
    for limit in (-1, "x", 1.5):
        assert server.refusal("ListBuckets", {"limit": limit}) == (400, "InvalidRequest", "Bad request: Failed to parse query parameter")


def test_the_bulk_list_shows_what_the_single_call_shows(server: Server) -> None:
    bucket, key = server.make_bucket(), server.make_key()
    server.grant(bucket, key, read=True)
    server.update(bucket, quotas={"maxSize": 5}, websiteAccess={"enabled": True, "indexDocument": "i"})
    if server.since(2, 5):
        rows = server.ok("ListBucketsInfo", {"offset": bucket["id"], "limit": 1})
        assert rows == [server.bucket(bucket["id"])]


@pytest.mark.requirement("GS-08")
def test_only_an_empty_bucket_is_deleted(server: Server) -> None:
    bucket, key = server.make_bucket(), server.make_key()
    server.grant(bucket, key, read=True, write=True)
    server.store(bucket["id"], key, "object", b"data")
    assert server.refusal("DeleteBucket", {"id": bucket["id"]}) == (409, "BucketNotEmpty", "Tried to delete a non-empty bucket")
    assert server.bucket(bucket["id"])["globalAliases"] == bucket["globalAliases"]


@pytest.mark.requirement("GS-08")
def test_unfinished_uploads_do_not_keep_a_bucket(server: Server) -> None:
    bucket, key = server.make_bucket(), server.make_key()
    server.grant(bucket, key, read=True, write=True)
    server.begin_upload(bucket["id"], key, "upload")
    assert server.ok("DeleteBucket", {"id": bucket["id"]}) is None


def test_a_deleted_bucket_is_gone_and_its_names_are_free(server: Server) -> None:
    bucket, key = server.make_bucket(), server.make_key()
    server.grant(bucket, key, owner=True)
    server.ok("DeleteBucket", {"id": bucket["id"]})
    gone = (404, "NoSuchBucket", f"Bucket not found: {bucket['id']}")
    assert server.refusal("DeleteBucket", {"id": bucket["id"]}) == gone
    assert server.refusal("GetBucketInfo", {"id": bucket["id"]}) == gone
    assert server.refusal("UpdateBucket", {"id": bucket["id"]}, {}) == gone
    assert server.key(key["accessKeyId"])["buckets"] == []
    assert server.ok("CreateBucket", body={"globalAlias": bucket["globalAliases"][0]})["id"] != bucket["id"]


def test_uploads_are_cleaned_up_by_age(server: Server) -> None:
    bucket, key = server.make_bucket(), server.make_key()
    server.grant(bucket, key, read=True, write=True)
    server.begin_upload(bucket["id"], key, "upload")
    assert server.ok("CleanupIncompleteUploads", body={"bucketId": bucket["id"], "olderThanSecs": 3600}) == {"uploadsDeleted": 0}
    assert server.ok("CleanupIncompleteUploads", body={"bucketId": bucket["id"], "olderThanSecs": 0}) == {"uploadsDeleted": 1}
    assert server.ok("CleanupIncompleteUploads", body={"bucketId": bucket["id"], "olderThanSecs": 0}) == {"uploadsDeleted": 0}
    assert server.ok("CleanupIncompleteUploads", body={"bucketId": NOWHERE, "olderThanSecs": 0}) == {"uploadsDeleted": 0}


def test_an_age_beyond_1970_deletes_every_upload(server: Server) -> None:
    bucket, key = server.make_bucket(), server.make_key()
    server.grant(bucket, key, read=True, write=True)
    server.begin_upload(bucket["id"], key, "upload")
    assert server.ok("CleanupIncompleteUploads", body={"bucketId": bucket["id"], "olderThanSecs": 10**11}) == {"uploadsDeleted": 1}
