# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide how one access key takes the place of another. Pure. Private: not for use outside of the collection.

The new key is made under a name of its own, gets the rights of the old one, and is delivered. Then the old one gives up its name and the new one
gets it. The names tell the next run how far a broken-off one came, and both keys work all the time; the old one goes in a later step.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from .._errors import PlanError
from .._models.grant import RIGHTS
from .._models.key import Key, KeyBucket, KeySpec
from .._plan import Call, Ref
from .._units import format_timestamp, parse_server_time, seconds_after
from .grant import Party, rights_calls


def make_call(spec: KeySpec, wanted: Key) -> Call:
    """The new key, with the settings of ``wanted``. Raises PlanError when it would never work."""
    if wanted.expired:
        raise PlanError(f"{spec.label}: a new key that expires at {wanted.expiration} would never work", hint="give expiration: never, or a later one")
    body = {"name": spec.rotating_name, **({"expiration": wanted.expiration} if wanted.expiration else {}),
            **({"allow": {"createBucket": True}} if wanted.allow_create_bucket else {})}
    return Call("CreateKey", f"create a new key for {spec.label}", body=body, binds=f"new {spec.label}")


def copy_calls(spec: KeySpec, old: Key, new: Key | None, target: str | Ref) -> tuple[Call, ...]:
    """The rights and local aliases of the old key that the new one, whose id is ``target``, lacks."""
    party = Party(spec.rotating_name, target)
    have = {bucket.id: bucket for bucket in (new.buckets if new else ())}
    return tuple(call for bucket in old.buckets for call in _copy(spec, bucket, have.get(bucket.id, KeyBucket(bucket.id)), party))


def _copy(spec: KeySpec, bucket: KeyBucket, have: KeyBucket, party: Party) -> Iterable[Call]:
    name = next(iter(bucket.aliases + bucket.local_aliases), bucket.id)
    to = f"the new key for {spec.label}"
    yield from rights_calls(_rights(have), _rights(have) | _rights(bucket), Party(name, bucket.id), party, on=f"bucket {name}", to=to)
    for alias in bucket.local_aliases:
        if alias not in have.local_aliases:
            yield Call("AddBucketAlias", f"add local alias {alias} of bucket {name} to {to}",
                       body={"bucketId": bucket.id, "accessKeyId": party.target, "localAlias": alias})


def swap_calls(spec: KeySpec, old: Key, new: str | Ref, settings: dict, now: datetime | None) -> tuple[Call, ...]:
    """The old key gives up its name, for ever or until its time is over, and the new one gets it, and whatever else of its ``settings`` is to be set."""
    body: dict = {"name": spec.replaced_name}
    until = ""
    if spec.grace is not None and now is not None:
        end = seconds_after(now, spec.grace)
        own = parse_server_time(old.expiration)
        if own is None or end < own:
            body["expiration"] = format_timestamp(end)
            until = f", which works until {body['expiration']}"
    return (Call("UpdateKey", f"call the old key {spec.replaced_name}{until}", query={"id": old.id}, body=body),
            Call("UpdateKey", f"give the new key its name, {spec.name}", query={"id": new}, body={**settings, "name": spec.name}))


def removal_calls(spec: KeySpec, replaced: tuple[Key, ...], over: frozenset[str]) -> tuple[Call, ...]:
    """The keys that were replaced and whose time is ``over``, or all of them when that is asked for."""
    return tuple(Call("DeleteKey", f"delete {key.name} ({key.id})", query={"id": key.id}) for key in replaced
                 if spec.remove_replaced or key.id in over)


def _rights(bucket: KeyBucket) -> frozenset[str]:
    return frozenset(right for right in RIGHTS if getattr(bucket, right))
