# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide what a grant needs. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .._errors import NotDeclaredHere, PlanError
from .._models.bucket import Bucket
from .._models.grant import RIGHTS, GrantSpec
from .._models.key import Key
from .._plan import Call, Plan, Ref


@dataclass(frozen=True)
class GrantSnapshot:
    """What the planner must know: the bucket with its grants and the key (None = absent)."""

    bucket: Bucket | None = None
    key: Key | None = None


@dataclass(frozen=True)
class Party:
    """A bucket or a key of a grant: its name, and its id or where that will come from."""

    name: str | None
    target: str | Ref

    @property
    def id(self) -> str | None:
        return self.target if isinstance(self.target, str) else self.target.known


def plan_grant(spec: GrantSpec, live: GrantSnapshot) -> Plan:
    """Raises PlanError when the live state forbids what is wanted; nothing is sent then."""
    if live.bucket is None or live.key is None:
        if spec.absent:
            return Plan(spec.label)
        missing = [*([f"no {spec.bucket_label}"] if live.bucket is None else []), *([f"no {spec.key_label}"] if live.key is None else [])]
        raise NotDeclaredHere(f"{spec.label}: there is {' and '.join(missing)}", hint="declare it first with s3ops.garage.bucket or s3ops.garage.key,"
                              " or all together with s3ops.garage.tenancy")
    bucket = Party(spec.bucket or next(iter(live.bucket.aliases), None), live.bucket.id)
    return plan_rights(spec, rights_on(live.bucket, live.key.id), bucket, Party(live.key.name, live.key.id))


def plan_rights(spec: GrantSpec, have: frozenset[str], bucket: Party, key: Party) -> Plan:
    """From the rights that are there to those that are wanted. Raises PlanError when none would be left of a grant that shall be there."""
    wanted = spec.rights(have)
    if not wanted and not spec.absent:
        raise PlanError(f"{spec.label}: no right would be left", hint="write state: absent to remove the grant")
    calls = rights_calls(have, wanted, bucket, key, on=spec.bucket_label, to=spec.key_label)
    return Plan(spec.label, before=grant_result(bucket, key, have), after=grant_result(bucket, key, wanted), calls=calls)


def rights_calls(have: frozenset[str], wanted: frozenset[str], bucket: Party, key: Party, on: str, to: str) -> tuple[Call, ...]:
    """What makes ``have`` into ``wanted``: nothing where they are equal, since a call that changes nothing costs the server as much as another."""
    # Each of the two calls acts on true flags alone, so lowering needs the other one. It comes first: no moment with more than either state.
    steps = (("DenyBucketKey", "deny", have - wanted), ("AllowBucketKey", "allow", wanted - have))
    return tuple(Call(endpoint, f"{verb} {', '.join(in_order(rights))} on {on} to {to}",
                      body={"bucketId": bucket.target, "accessKeyId": key.target, "permissions": dict.fromkeys(in_order(rights), True)})
                 for endpoint, verb, rights in steps if rights)


def rights_on(bucket: Bucket, key_id: str | None) -> frozenset[str]:
    """What the key may do with the bucket now."""
    return frozenset(right for grant in bucket.grants if grant.key_id == key_id for right in RIGHTS if getattr(grant, right))


def grant_result(bucket: Party, key: Party, rights: Iterable[str]) -> dict | None:
    """A grant as a user sees it; None where there is no right."""
    flags = {right: right in set(rights) for right in RIGHTS}
    if not any(flags.values()):
        return None
    return {"bucket": bucket.name, "bucket_id": bucket.id, "key": key.name, "key_id": key.id, **flags}


def in_order(rights: Iterable[str]) -> list[str]:
    """Rights in the one order they are written in."""
    return sorted(rights, key=RIGHTS.index)
