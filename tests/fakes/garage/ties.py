# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What ties buckets to names and to keys: aliases and permissions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.fakes.garage.bodies import PERMISSIONS, Malformed, struct, text
from tests.fakes.garage.buckets import bucket_info, is_bucket_name
from tests.fakes.garage.errors import bad_request, internal, invalid_bucket_name
from tests.fakes.garage.row import Row
from tests.fakes.garage.state import BucketRow, State, parse_id


def _add(state: State, args: dict) -> dict:
    bucket_id, alias, key_id = _target(args["body"])
    if not is_bucket_name(alias):
        raise invalid_bucket_name(alias)
    bucket = state.bucket(bucket_id)
    if key_id is None:
        owner = state.bucket_of_alias(alias)
        if owner and owner is not bucket:
            raise bad_request(f"Alias {alias} already exists and points to different bucket: {owner.id[:16]}")
        bucket.aliases.add(alias)
        return bucket_info(state, bucket)
    key = state.key(key_id)
    if key.local_aliases.get(alias) not in (None, bucket.id):
        raise bad_request(f"Alias {alias} already exists in namespace of key {key.id} and points to different bucket:"
                          f" {str(key.local_aliases[alias])[:16]}")
    key.local_aliases[alias] = bucket.id
    bucket.local_aliases.add((key.id, alias))
    bucket.named_by.add(key.id)
    return bucket_info(state, bucket)


def _remove(state: State, args: dict) -> dict:
    bucket_id, alias, key_id = _target(args["body"])
    bucket = state.bucket(bucket_id)
    if key_id is None:
        if alias not in bucket.aliases:
            raise internal(f"Internal error: alias not found or does not point to bucket {bucket.id[:16]}")
        _refuse_last(bucket, alias, bucket.aliases - {alias}, bucket.local_aliases)
        bucket.aliases.discard(alias)
        return bucket_info(state, bucket)
    key = state.key(key_id)
    if key.local_aliases.get(alias) != bucket.id:
        raise internal(f"Bucket {bucket.id[:16]} does not have alias {alias} in namespace of key {key_id}")
    _refuse_last(bucket, alias, bucket.aliases, bucket.local_aliases - {(key.id, alias)})
    key.local_aliases[alias] = None
    bucket.local_aliases.discard((key.id, alias))
    return bucket_info(state, bucket)


def _target(body: Mapping) -> tuple[str, str, str | None]:
    bucket_id = parse_id(body["bucketId"], "Invalid bucket id")
    return bucket_id, body.get("globalAlias", body.get("localAlias")), body.get("accessKeyId")


def _refuse_last(bucket: BucketRow, alias: str, *others: set) -> None:
    if not any(others):
        raise bad_request(f"Bucket {alias} doesn't have other aliases, please delete it instead of just unaliasing.")


def _allow(state: State, args: dict) -> dict:
    return _change(state, args["body"], True)


def _deny(state: State, args: dict) -> dict:
    return _change(state, args["body"], False)


def _change(state: State, body: Mapping, value: bool) -> dict:
    bucket = state.bucket(body["bucketId"])
    key = state.key(body["accessKeyId"])
    flags = bucket.grants.setdefault(key.id, {"read": False, "write": False, "owner": False})
    # Only true acts; false leaves a flag as it is.
    flags.update({name: value for name, chosen in body["permissions"].items() if chosen})
    return bucket_info(state, bucket)


def _alias_body(value: Any) -> dict:
    body = struct(required={"bucketId": text})(value)
    for names in (("globalAlias",), ("localAlias", "accessKeyId")):
        if all(isinstance(value.get(name), str) for name in names):
            return {**body, **{name: value[name] for name in names}}
    raise Malformed("data did not match any variant of untagged enum BucketAliasEnum")


_PERMISSION = struct(required={"bucketId": text, "accessKeyId": text, "permissions": PERMISSIONS})

ROWS = (
    Row("AddBucketAlias", "POST", _add, body=_alias_body),
    Row("RemoveBucketAlias", "POST", _remove, body=_alias_body),
    Row("AllowBucketKey", "POST", _allow, body=_PERMISSION),
    Row("DenyBucketKey", "POST", _deny, body=_PERMISSION),
)
