# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Access keys."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping

from tests.fakes.garage.bodies import Query, flag, moment, struct, text
from tests.fakes.garage.errors import bad_request, conflict, no_such_key
from tests.fakes.garage.row import ID, PAGE, Row
from tests.fakes.garage.state import BucketRow, KeyRow, State, page, show_time

_ID_CHARS = set(string.ascii_letters + string.digits + "-_.")


def _summary(state: State, key: KeyRow) -> dict:
    return {"name": key.name, "created": show_time(key.created), "expiration": show_time(key.expiration), "expired": state.expired(key.expiration)}


def _info(state: State, key: KeyRow, secret: bool = False) -> dict:
    buckets = [bucket for bucket in state.buckets.values() if _shows(state, key, bucket)]
    shown = {"secretAccessKey": key.secret} if secret else {}
    return {"accessKeyId": key.id, **_summary(state, key), **shown, "permissions": {"createBucket": key.create_bucket},
            "buckets": state.shuffled([_bucket(key, bucket) for bucket in buckets])}


def _shows(state: State, key: KeyRow, bucket: BucketRow) -> bool:
    # 2.0 shows every bucket on which the key was ever allowed or denied anything.
    granted = any(bucket.grants.get(key.id, {}).values()) or (key.id in bucket.grants and not state.since(2, 1))
    if state.since(2, 1) and not state.since(2, 4):
        return granted
    return granted or bucket.id in key.local_aliases.values()


def _bucket(key: KeyRow, bucket: BucketRow) -> dict:
    return {"id": bucket.id, "globalAliases": sorted(bucket.aliases),
            "localAliases": sorted(alias for owner, alias in bucket.local_aliases if owner == key.id),
            "permissions": {name: bucket.grants.get(key.id, {}).get(name, False) for name in ("read", "write", "owner")}}


def _list(state: State, args: dict) -> list[dict]:
    return [{"id": key.id, **_summary(state, key)} for key in _page(state, args, 10_000)]


def _list_info(state: State, args: dict) -> list[dict]:
    return [_info(state, key) for key in _page(state, args, 1000)]


def _page(state: State, args: Mapping, default: int) -> list[KeyRow]:
    paged = args if state.since(2, 5) else {"offset": None, "limit": None}
    keys = state.live_keys()
    return page(keys, [key.id for key in keys], paged["offset"], default if paged["limit"] is None else paged["limit"])


def _get(state: State, args: dict) -> dict:
    if (args["id"] is None) == (args["search"] is None):
        raise bad_request("Either id or search must be provided (but not both)")
    key = state.key(args["id"]) if args["id"] is not None else _search(state, args["search"])
    return _info(state, key, args["showSecretKey"])


def _search(state: State, search: str) -> KeyRow:
    wanted = search.lower()
    found = [key for key in state.live_keys() if key.id.lower().startswith(wanted) or key.name.lower() == wanted][:10]
    if not found and state.since(2, 3):
        raise no_such_key(search)
    if len(found) != 1:
        raise bad_request(f"{len(found)} matching keys")
    return found[0]


def _create(state: State, args: dict) -> dict:
    refuse_both_expirations(args["body"])
    state.tables()
    key = KeyRow(id=f"GK{state.make_hex(24)}", secret=state.make_hex(64), name="Unnamed key", created=state.clock.milliseconds)
    state.keys[key.id] = key
    _apply(key, args["body"])
    return _info(state, key, secret=True)


def _import(state: State, args: dict) -> dict:
    body = args["body"]
    state.tables()
    if body["accessKeyId"] in state.keys:
        raise conflict("KeyAlreadyExists", f"Key {body['accessKeyId']} already exists in data store. Even if it is deleted, we can't let you create"
                                           " a new key with the same ID. Sorry.")
    fault = _format_fault(state, body["accessKeyId"], body["secretAccessKey"])
    if fault:
        raise bad_request(f"Invalid key format: {fault}")
    key = KeyRow(id=body["accessKeyId"], secret=body["secretAccessKey"], created=state.clock.milliseconds,
                 name="Imported key" if body["name"] is None else body["name"])
    state.keys[key.id] = key
    return _info(state, key)


def _format_fault(state: State, key_id: str, secret: str) -> str | None:
    if not state.since(2, 3):
        strict = re.fullmatch(r"GK[0-9a-fA-F]{24}", key_id) and re.fullmatch(r"[0-9a-fA-F]{64}", secret)
        return None if strict else "The key id must be GK and 24 hexadecimal digits, the secret 64 hexadecimal digits"
    if len(key_id.encode()) < 8:
        return "Key identifiers should be at least 8 characters long"
    if not set(key_id) <= _ID_CHARS:
        return "Key identifiers should be composed only of ASCII alphanumeric characters and characters '-', '_' and '.'"
    if len(secret.encode()) < 16:
        return "Secret keys should be at least 16 characters long"
    if not all("!" <= char <= "~" for char in secret):
        return "Secret keys should be composed only of graphic ASCII characters (U+0021 to U+007E)"
    return None


def _update(state: State, args: dict) -> dict:
    key = state.key(args["id"])
    refuse_both_expirations(args["body"])
    _apply(key, args["body"])
    return _info(state, key)


def _delete(state: State, args: dict) -> None:
    key = state.key(args["id"])
    for bucket in state.buckets.values():
        bucket.grants.pop(key.id, None)
        bucket.local_aliases = {(owner, alias) for owner, alias in bucket.local_aliases if owner != key.id}
    key.deleted = True
    key.local_aliases = {}


def refuse_both_expirations(body: Mapping) -> None:
    """A body that sets a date and also says never."""
    if body["neverExpires"] and body["expiration"] is not None:
        raise bad_request("cannot specify `expiration` and `never_expires`")


def _apply(key: KeyRow, body: Mapping) -> None:
    if body["name"] is not None:
        key.name = body["name"]
    if body["expiration"] is not None or body["neverExpires"]:
        key.expiration = body["expiration"]
    # Only true acts, and denying comes last.
    if (body["allow"] or {}).get("createBucket"):
        key.create_bucket = True
    if (body["deny"] or {}).get("createBucket"):
        key.create_bucket = False


_PERMISSION = struct(defaulted={"createBucket": (flag, False)})
_UPDATE = struct(optional={"name": text, "expiration": moment, "allow": _PERMISSION, "deny": _PERMISSION}, defaulted={"neverExpires": (flag, False)})

ROWS = (
    Row("ListKeys", "GET", _list, query=PAGE),
    Row("ListKeysInfo", "GET", _list_info, query=PAGE, since=(2, 5)),
    Row("GetKeyInfo", "GET", _get, query={"id": Query.optional, "search": Query.optional, "showSecretKey": Query.boolean}),
    Row("CreateKey", "POST", _create, body=_UPDATE),
    Row("ImportKey", "POST", _import, body=struct(required={"accessKeyId": text, "secretAccessKey": text}, optional={"name": text})),
    Row("UpdateKey", "POST", _update, body=_UPDATE, query=ID),
    Row("DeleteKey", "POST", _delete, query=ID),
)
