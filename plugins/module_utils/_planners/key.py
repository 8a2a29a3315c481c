# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide what an access key needs. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from .._errors import NotDeclaredHere, PlanError
from .._models.key import KNOWN_AFTER, NEVER, Key, KeySpec
from .._plan import Call, Plan
from .._units import parse_server_time


@dataclass(frozen=True)
class KeySnapshot:
    """What the planner must know: the key (None = absent), and the server's clock, by which an expiration has passed or not."""

    key: Key | None = None
    now: datetime | None = None


def plan_key(spec: KeySpec, live: KeySnapshot) -> Plan:
    """Raises PlanError when the live state forbids what is wanted; nothing is sent then."""
    key = live.key
    if spec.absent:
        return _plan_absent(spec, key)
    if key is None:
        return _plan_new(spec, live.now)
    if spec.secret is not None and key.secret != spec.secret:
        raise PlanError(f"{spec.label}: the key with id {spec.id} has another secret than the one given; a secret can never be changed",
                        hint="leave secret_access_key out to keep the key, or make a new key and remove this one when nobody uses it any more")
    after, body = _settings(spec, key, live.now)
    calls = (_update(spec, key.id, body),) if body else ()
    return Plan(spec.label, before=key.to_result(spec.show_secret), after=after.to_result(spec.show_secret), calls=calls)


def _plan_absent(spec: KeySpec, key: Key | None) -> Plan:
    if key is None:
        return Plan(spec.label)
    if spec.id and spec.name is not None and spec.name != key.name:
        raise PlanError(f"{spec.label}: the key with id {spec.id} is not called {spec.name!r} but {key.name!r}; nothing was deleted",
                        hint="leave out the name or the id")
    return Plan(spec.label, before=key.to_result(), calls=(Call("DeleteKey", f"delete {spec.label}", query={"id": key.id}),))


def _plan_new(spec: KeySpec, now: datetime | None) -> Plan:
    if spec.id and spec.secret is None:
        raise NotDeclaredHere(f"{spec.label}: there is no key with the id {spec.id}, and nothing was made", hint="leave id out to make a key by"
                              " name (Garage chooses its id), or give secret_access_key as well to import one")
    return _plan_import(spec, now) if spec.id else _plan_create(spec, now)


def _plan_create(spec: KeySpec, now: datetime | None) -> Plan:
    after, body = _settings(spec, Key(id=None, name=spec.name, allow_create_bucket=False, buckets=(), secret=KNOWN_AFTER), now)
    call = Call("CreateKey", f"create {spec.label}", body={"name": spec.name, **body}, binds=spec.label)
    return Plan(spec.label, after=after.to_result(spec.show_secret), calls=(call,))


def _plan_import(spec: KeySpec, now: datetime | None) -> Plan:
    # ImportKey takes neither an expiration nor permissions; a call of its own brings them.
    fresh = Key(id=spec.id, name=spec.name or "Imported key", allow_create_bucket=False, buckets=(), secret=spec.secret)
    after, body = _settings(spec, fresh, now)
    calls = [Call("ImportKey", f"import {spec.label}", body={"accessKeyId": spec.id, "secretAccessKey": spec.secret, "name": fresh.name},
                  binds=spec.label, conflict=f"{spec.label}: it cannot be imported, because a key with the id {spec.id} was deleted before, and Garage never takes"
                           " the id of a deleted key again; choose another id, or make a key by name")]
    if body:
        calls.append(_update(spec, spec.id, body))
    return Plan(spec.label, after=after.to_result(spec.show_secret), calls=tuple(calls))


def _update(spec: KeySpec, key_id: str, body: dict) -> Call:
    words = list(dict.fromkeys(_SETTING_WORDS[name] for name in body))
    return Call("UpdateKey", f"set {', '.join(words)} of {spec.label}", query={"id": key_id}, body=body)


_SETTING_WORDS = {"name": "name", "expiration": "expiration", "neverExpires": "expiration", "allow": "create-bucket right",
                  "deny": "create-bucket right"}


def _settings(spec: KeySpec, key: Key, now: datetime | None) -> tuple[Key, dict]:
    """The key with the wanted settings, and the body that makes them so ({} when all are there)."""
    body: dict = {}
    after = key
    if spec.name is not None and spec.name != key.name:
        body["name"] = spec.name
        after = replace(after, name=spec.name)
    if spec.expiration is not None and (wanted := None if spec.expiration == NEVER else spec.expiration) != key.expiration:
        body.update({"neverExpires": True} if wanted is None else {"expiration": wanted})
        after = replace(after, expiration=wanted, expired=bool(wanted and now and parse_server_time(wanted) <= now))
    if spec.allow_create_bucket is not None and spec.allow_create_bucket != key.allow_create_bucket:
        # Only a true flag has an effect on the server: taking a right away is a true flag in deny.
        body["allow" if spec.allow_create_bucket else "deny"] = {"createBucket": True}
        after = replace(after, allow_create_bucket=spec.allow_create_bucket)
    return after, body
