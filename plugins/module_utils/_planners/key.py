# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide what an access key needs. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from .._errors import NotDeclaredHere, PlanError
from .._models.key import KNOWN_AFTER, NEVER, Key, KeySpec
from .._plan import Call, Plan, Ref, Secret
from .._units import parse_server_time
from ._key_rotation import copy_calls, make_call, removal_calls, swap_calls
from ._key_store import KeyStoreState, delete_calls, importable, put_call, settle_calls


@dataclass(frozen=True)
class KeySnapshot:
    """What the planner must know: the key (None = absent), the server's clock, by which an expiration has passed or not, and what its store holds.

    ``rotating`` is a key that is to take its place and does not have its name yet, ``replaced`` are those whose place it took, ``over`` the
    ids of those whose time was over when the run began. ``rotates`` is the id of the key that shall be replaced in this run. ``namesakes`` are the
    keys that have the name which a derived key, that is not there, shall get.
    """

    key: Key | None = None
    now: datetime | None = None
    store: KeyStoreState = field(default_factory=KeyStoreState)
    rotating: Key | None = None
    replaced: tuple[Key, ...] = ()
    over: frozenset[str] = frozenset()
    rotates: str | None = None
    namesakes: tuple[Key, ...] = ()

    @property
    def own(self) -> tuple[Key, ...]:
        """All keys that this task is about."""
        return tuple(key for key in (self.key, self.rotating, *self.replaced) if key)


@dataclass(frozen=True)
class KeyPlan(Plan):
    """``rotated``: a new key takes the place of another."""

    rotated: bool = False


def plan_key(spec: KeySpec, live: KeySnapshot) -> KeyPlan:
    """Raises PlanError when the live state forbids what is wanted; nothing is sent then."""
    if spec.absent:
        return _plan_absent(spec, live)
    if live.key is None and live.rotating is None:
        return _plan_new(spec, live)
    if live.key and (live.rotating or live.key.id == live.rotates):
        return _plan_rotation(spec, live, live.key)
    # Where the old key has given up its name and the new one has not got it yet, that is all that is left to do.
    key = live.key or live.rotating
    if spec.secret is not None and key.secret != spec.secret:
        raise PlanError(f"{spec.label}: the key with id {spec.id} has another secret than the one given; a secret can never be changed",
                        hint="leave secret_access_key out to keep the key, or make a new key and remove this one when nobody uses it any more")
    after, body = _settings(spec, key, live.now)
    calls = (_update(spec, key.id, body),) if body else ()
    calls += settle_calls(spec, live.store, key, live.own) + removal_calls(spec, live.replaced, live.over)
    return KeyPlan(subject=spec.label, before=_before(spec, live), after=_result(spec, after), calls=calls, rotated=key is live.rotating)


def _plan_absent(spec: KeySpec, live: KeySnapshot) -> KeyPlan:
    key = live.key
    if key and spec.id and spec.name is not None and spec.name != key.name:
        raise PlanError(f"{spec.label}: the key with id {spec.id} is not called {spec.name!r} but {key.name!r}; nothing was deleted",
                        hint="leave out the name or the id")
    calls = [Call("DeleteKey", f"delete {spec.label}", query={"id": key.id})] if key else []
    calls += [Call("DeleteKey", f"delete {other.name} ({other.id})", query={"id": other.id}) for other in live.own if other is not key]
    stored, notes = delete_calls(spec, live.store, live.own)
    return KeyPlan(subject=spec.label, before=_result(replace(spec, show_secret=False), key) if key else None, calls=(*calls, *stored), notes=notes)


def _plan_new(spec: KeySpec, live: KeySnapshot) -> KeyPlan:
    _refuse_other_derivation(spec, live)
    stored = importable(spec, live.store)
    if stored:
        return _plan_import(spec, live, *stored, fallback=True)
    if spec.id and spec.secret is None:
        raise NotDeclaredHere(f"{spec.label}: there is no key with the id {spec.id}, and nothing was made", hint="leave id out to make a key by"
                              " name (Garage chooses its id), or give secret_access_key as well to import one")
    return _plan_import(spec, live, spec.id, spec.secret) if spec.id else _plan_create(spec, live)


def _refuse_other_derivation(spec: KeySpec, live: KeySnapshot) -> None:
    """The same key is derived at every site, so one of its name with another id tells of another RPC secret or another derivation (MH-22)."""
    if spec.derivation is None or not live.namesakes:
        return
    known, name = spec.derivation.result, live.namesakes[0].name
    ids = ", ".join(sorted(key.id for key in live.namesakes)[:20])
    raise PlanError(f"{spec.label}: the key called {name!r} has the id {ids}, and from {known['context']} and the RPC secret given (fingerprint"
                    f" {known['rpc_fingerprint']}) follows {spec.id}. So it was derived from another RPC secret, or otherwise, or was not derived at all;"
                    " nothing was made", hint="give the RPC secret of this cluster, and derive_nonce where the other site, or the store that was lost, had"
                    " one; to make this key beside that one, rename that one")


def _plan_create(spec: KeySpec, live: KeySnapshot) -> KeyPlan:
    after, body = _settings(spec, Key(id=None, name=spec.name, allow_create_bucket=False, buckets=(), secret=KNOWN_AFTER), live.now)
    call = Call("CreateKey", f"create {spec.label}", body={"name": spec.name, **body}, binds=spec.label)
    return KeyPlan(spec.label, after=_result(spec, after), calls=(call, *_stored(spec, live, Ref(spec.label, "accessKeyId"))))


def _plan_import(spec: KeySpec, live: KeySnapshot, key_id: str, secret: Secret, fallback: bool = False) -> KeyPlan:
    """``fallback``: the credentials come from the store, so where the server never takes that id again, another key will do."""
    # ImportKey takes neither an expiration nor permissions; a call of its own brings them.
    name = spec.derived_name if spec.derivation else spec.name or "Imported key"
    fresh = Key(id=key_id, name=name, allow_create_bucket=False, buckets=(), secret=secret)
    after, body = _settings(spec, fresh, live.now)
    made = Ref(spec.label, "accessKeyId", known=key_id)
    calls = [Call("ImportKey", f"import {spec.label}" + (f" as {spec.store.place} holds it" if fallback else ""),
                  body={"accessKeyId": key_id, "secretAccessKey": secret, "name": fresh.name}, binds=spec.label,
                  conflict=None if fallback else f"{spec.label}: it cannot be imported, because a key with the id {key_id} was deleted before, and"
                  f" Garage never takes the id of a deleted key again; {_way_out(spec)}")]
    if body:
        calls.append(_update(spec, made if fallback or spec.derivation else key_id, body))
    # Credentials that came from the store are in it; only where the form changed, or another key had to be made, there is something to put.
    calls += _stored(spec, live, made) if not fallback else settle_calls(spec, live.store, fresh, (fresh,))
    return KeyPlan(spec.label, after=_result(spec, after), calls=tuple(calls))


def _way_out(spec: KeySpec) -> str:
    if spec.derivation:
        return "set derive_nonce, the same at all sites, which gives another key; with a store one is chosen and kept there"
    return "choose another id, or make a key by name"


def created_instead(call: Call) -> Call:
    """What is sent in the place of an import of stored credentials whose id was deleted on this server (it never takes one again)."""
    return Call("CreateKey", call.why, body={"name": call.body["name"]}, binds=call.binds)


def _plan_rotation(spec: KeySpec, live: KeySnapshot, old: Key) -> KeyPlan:
    """From wherever a rotation is to its end; not from the beginning again where a run broke off."""
    wanted, dummy = _settings(spec, old, live.now)
    new = live.rotating
    target = new.id if new else Ref(f"new {spec.label}", "accessKeyId")
    after, settings = _settings(spec, new or replace(wanted, name=spec.rotating_name, id=None, secret=KNOWN_AFTER), live.now)
    calls = [*([] if new else [make_call(spec, wanted)]), *copy_calls(spec, old, new, target)]
    if spec.store:
        # Also where it is there from a run that broke off: what is put is tried.
        calls.append(put_call(spec, live.store, target, live.own))
    calls += swap_calls(spec, old, target, settings, live.now)
    notes = (f"{spec.label}: {old.id} is replaced; whoever uses it needs the credentials of the new key before it goes",)
    return KeyPlan(subject=spec.label, before=_before(spec, live), after=_result(spec, after), calls=tuple(calls), notes=notes, rotated=True)


def _stored(spec: KeySpec, live: KeySnapshot, key_id: Ref) -> tuple[Call, ...]:
    return (put_call(spec, live.store, key_id, live.own),) if spec.store else ()


def _before(spec: KeySpec, live: KeySnapshot) -> dict | None:
    """The key as it is; the diff shows a store that is to be put right."""
    key = live.key or live.rotating
    shown = _result(spec, key)
    if spec.store and settle_calls(spec, live.store, key, live.own):
        shown["store"] = {**spec.store.where, "content": "something else"} if live.store.entry else None
    return shown


def _result(spec: KeySpec, key: Key) -> dict:
    return {**key.to_result(spec.show_secret), "store": spec.store.where if spec.store else None,
            "derivation": spec.derivation.result if spec.derivation else None}


def _update(spec: KeySpec, key_id: str | Ref, body: dict) -> Call:
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
