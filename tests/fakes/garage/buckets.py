# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Buckets: read, create, change, delete."""

from __future__ import annotations

import string
from collections.abc import Mapping
from ipaddress import ip_address

from tests.fakes.garage.bodies import PERMISSIONS, Query, flag, many, struct, text, unsigned
from tests.fakes.garage.errors import bad_request, conflict, no_such_bucket
from tests.fakes.garage.row import ID, PAGE, Row
from tests.fakes.garage.rules import (
    CORS_RULE,
    LIFECYCLE_RULE,
    ROUTING_RULE,
    keep_cors_rules,
    keep_lifecycle_rules,
    keep_routing_rules,
)
from tests.fakes.garage.state import BucketRow, State, page, parse_id, show_time

_NAME_CHARS = set(string.ascii_lowercase + string.digits + ".-")
_NAME_RULE = ("Invalid bucket name. See AWS documentation for constraints on S3 bucket names:\n"
              "https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html")
_FLAGS = ("read", "write", "owner")


def is_bucket_name(name: str) -> bool:
    """The server's own rule, without allow_punycode."""
    return (3 <= len(name) <= 63 and set(name) <= _NAME_CHARS and name[0] not in "-." and name[-1] not in "-." and not _is_address(name)
            and not name.startswith("xn--") and ".xn--" not in name and not name.endswith("-s3alias"))


def bucket_info(state: State, bucket: BucketRow) -> dict:
    """What GetBucketInfo shows."""
    info = {
        "id": bucket.id,
        "created": show_time(bucket.created),
        "globalAliases": sorted(bucket.aliases),
        "websiteAccess": bucket.website is not None,
        "keys": state.shuffled([_key(state, bucket, key_id) for key_id in sorted(_visible_keys(state, bucket))]),
        "objects": len(bucket.objects),
        "bytes": sum(bucket.objects.values()),
        "unfinishedUploads": len(bucket.uploads),
        "unfinishedMultipartUploads": len(bucket.uploads),
        "unfinishedMultipartUploadParts": 0,
        "unfinishedMultipartUploadBytes": 0,
        "quotas": dict(bucket.quotas),
    }
    if not state.since(2, 3):
        website = bucket.website and {name: bucket.website[name] for name in ("indexDocument", "errorDocument")}
        return {**info, "websiteConfig": website}
    optional = {"websiteConfig": bucket.website, "corsRules": bucket.cors, "lifecycleRules": bucket.lifecycle}
    return {**info, **{name: value for name, value in optional.items() if value is not None}}


def _visible_keys(state: State, bucket: BucketRow) -> set[str]:
    # 2.0 shows every key that was ever allowed or denied anything, or had a name of its own for the bucket, until the key is deleted.
    if not state.since(2, 1):
        return {key_id for key_id in (*bucket.grants, *bucket.named_by) if not state.keys[key_id].deleted}
    granted = {key_id for key_id, flags in bucket.grants.items() if any(flags.values())}
    # Between 2.1 and 2.3 a key that only has a local alias was left out.
    return granted if state.since(2, 1) and not state.since(2, 4) else granted | {key_id for key_id, _alias in bucket.local_aliases}


def _key(state: State, bucket: BucketRow, key_id: str) -> dict:
    flags = bucket.grants.get(key_id, {})
    return {
        "accessKeyId": key_id,
        "name": state.keys[key_id].name,
        "permissions": {name: flags.get(name, False) for name in _FLAGS},
        "bucketLocalAliases": sorted(alias for owner, alias in bucket.local_aliases if owner == key_id),
    }


def _list_item(bucket: BucketRow) -> dict:
    return {"id": bucket.id, "created": show_time(bucket.created), "globalAliases": sorted(bucket.aliases),
            "localAliases": [{"accessKeyId": key_id, "alias": alias} for key_id, alias in sorted(bucket.local_aliases)]}


def _list(state: State, args: dict) -> list[dict]:
    default = 10_000 if state.since(2, 5) or not state.since(2, 3) else 1_000_000
    return [_list_item(bucket) for bucket in _page(state, args, default)]


def _list_info(state: State, args: dict) -> list[dict]:
    return [bucket_info(state, bucket) for bucket in _page(state, args, 1000)]


def _page(state: State, args: Mapping, default: int) -> list[BucketRow]:
    paged = args if state.since(2, 5) else {"offset": None, "limit": None}
    offset = None if paged["offset"] is None else parse_id(paged["offset"], "Invalid bucket id")
    state.tables()
    ids = sorted(state.buckets)
    return page([state.buckets[bucket_id] for bucket_id in ids], ids, offset, default if paged["limit"] is None else paged["limit"])


def _get(state: State, args: dict) -> dict:
    given = {name: args[name] for name in ("id", "globalAlias", "search") if args[name] is not None}
    if len(given) != 1:
        raise bad_request("Either id, globalAlias or search must be provided (but not several of them)")
    if "id" in given:
        return bucket_info(state, state.bucket(given["id"]))
    name = given.get("globalAlias") or given["search"]
    bucket = state.bucket_of_alias(name)
    if bucket is None and "search" in given:
        bucket = _search(state, name)
    if bucket is None:
        raise no_such_bucket(name)
    return bucket_info(state, bucket)


def _search(state: State, search: str) -> BucketRow | None:
    even = search[:len(search) & ~1]
    if not even or not set(even.lower()) <= set(string.hexdigits.lower()):
        return None
    if len(even) > 64:
        raise bad_request("invalid length")
    found = [bucket_id for bucket_id in sorted(state.buckets) if bucket_id.startswith(search)]
    if len(found) > 1:
        raise bad_request(f"Several matching buckets: {search}")
    return state.buckets[found[0]] if found else None


def _create(state: State, args: dict) -> dict:
    alias, local = args["body"]["globalAlias"], args["body"]["localAlias"]
    if alias is not None:
        _check_name(alias)
        if state.bucket_of_alias(alias):
            raise conflict("BucketAlreadyExists", "Bucket already exists")
    if local is not None:
        _check_name(local["alias"])
        # Also when it was removed again: the server looks for an entry, not for a live one.
        if local["alias"] in state.key(local["accessKeyId"]).local_aliases:
            raise bad_request("Local alias already exists")
    state.tables()
    bucket = BucketRow(id=state.make_hex(64), created=state.clock.milliseconds)
    state.buckets[bucket.id] = bucket
    if alias is not None:
        bucket.aliases.add(alias)
    if local is not None:
        key = state.key(local["accessKeyId"])
        key.local_aliases[local["alias"]] = bucket.id
        bucket.local_aliases.add((key.id, local["alias"]))
        bucket.named_by.add(key.id)
        if any(local["allow"].values()):
            bucket.grants[key.id] = dict(local["allow"])
    return bucket_info(state, bucket)


def _check_name(name: str) -> None:
    if not is_bucket_name(name):
        raise bad_request(f"{name}: {_NAME_RULE}")


def _update(state: State, args: dict) -> dict:
    bucket, body = state.bucket(args["id"]), args["body"]
    # All is checked before anything is kept.
    changes: dict = {}
    if body["websiteAccess"] is not None:
        changes["website"] = _website(state, body["websiteAccess"], bucket.website)
    if body["quotas"] is not None:
        changes["quotas"] = body["quotas"]
    if state.since(2, 3) and body["corsRules"] is not None:
        changes["cors"] = keep_cors_rules(body["corsRules"])
    if state.since(2, 3) and body["lifecycleRules"] is not None:
        changes["lifecycle"] = keep_lifecycle_rules(body["lifecycleRules"])
    for name, value in changes.items():
        setattr(bucket, name, value)
    return bucket_info(state, bucket)


def _website(state: State, wanted: Mapping, live: Mapping | None) -> dict | None:
    if not wanted["enabled"]:
        if wanted["indexDocument"] is not None or wanted["errorDocument"] is not None:
            raise bad_request("Cannot specify indexDocument or errorDocument when disabling website access.")
        return None
    rules = live["routingRules"] if live else []
    if state.since(2, 3) and wanted["routingRules"] is not None:
        rules = keep_routing_rules(wanted["routingRules"])
    if wanted["indexDocument"] is None:
        raise bad_request("Please specify indexDocument when enabling website access.")
    return {"indexDocument": wanted["indexDocument"], "errorDocument": wanted["errorDocument"], "routingRules": rules}


def _delete(state: State, args: dict) -> None:
    bucket = state.bucket(args["id"])
    if bucket.objects:
        raise conflict("BucketNotEmpty", "Tried to delete a non-empty bucket")
    for key_id, alias in bucket.local_aliases:
        state.keys[key_id].local_aliases[alias] = None
    del state.buckets[bucket.id]


def _cleanup(state: State, args: dict) -> dict:
    bucket_id = parse_id(args["body"]["bucketId"], "Invalid bucket id")
    state.tables()
    # Of a bucket that does not exist nothing is found, and nothing complained about.
    uploads = state.buckets[bucket_id].uploads if bucket_id in state.buckets else {}
    # The limit is an unsigned number of milliseconds: an age beyond 1970 wraps round and every upload is old enough (2.5.0).
    limit = (state.clock.milliseconds - args["body"]["olderThanSecs"] * 1000) % 2**64
    old = [key for key, started in uploads.items() if started < limit]
    for key in old:
        del uploads[key]
    return {"uploadsDeleted": len(old)}


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


_CREATE = struct(optional={"globalAlias": text,
                           "localAlias": struct(required={"accessKeyId": text, "alias": text},
                                                defaulted={"allow": (PERMISSIONS, {"read": False, "write": False, "owner": False})})})
_UPDATE = struct(optional={
    "websiteAccess": struct(required={"enabled": flag}, optional={"indexDocument": text, "errorDocument": text, "routingRules": many(ROUTING_RULE)}),
    "quotas": struct(optional={"maxSize": unsigned, "maxObjects": unsigned}),
    "corsRules": many(CORS_RULE),
    "lifecycleRules": many(LIFECYCLE_RULE),
})

ROWS = (
    Row("ListBuckets", "GET", _list, query=PAGE),
    Row("ListBucketsInfo", "GET", _list_info, query=PAGE, since=(2, 5)),
    Row("GetBucketInfo", "GET", _get, query={name: Query.optional for name in ("id", "globalAlias", "search")}),
    Row("CreateBucket", "POST", _create, body=_CREATE),
    Row("UpdateBucket", "POST", _update, body=_UPDATE, query=ID),
    Row("DeleteBucket", "POST", _delete, query=ID),
    Row("CleanupIncompleteUploads", "POST", _cleanup, body=struct(required={"bucketId": text, "olderThanSecs": unsigned})),
)
