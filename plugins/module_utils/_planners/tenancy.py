# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide what a whole tenancy needs: keys, buckets, grants, admin tokens, removals. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from .._errors import NotDeclaredHere, PlanError, StoreFault
from .._models.bucket import Bucket, BucketGrant, BucketSpec
from .._models.grant import RIGHTS, GrantSpec
from .._models.key import Key, KeyDirectory, KeySpec
from .._models.tenancy import BucketEntry, TenancySpec
from .._plan import Plan, Ref, combine
from ._tenancy_tokens import Decide, Tokens, TokensSnapshot
from ._key_store import KeyStoreState
from .admin_token import plan_admin_token
from .bucket import BucketSnapshot, plan_bucket
from .grant import Party, grant_result, in_order, plan_rights, rights_calls, rights_on
from .key import KeySnapshot, plan_key


@dataclass(frozen=True)
class TenancySnapshot:
    """What the planner must know: all keys (with details where a declaration needs them), one snapshot for each declared bucket, in their
    order, and the server's clock. For a purge also the buckets all of whose global aliases have the owner's prefix, None when the server may not
    have listed all of them. ``tokens`` where the document says anything of admin tokens, ``stores`` of the keys that have one: what it holds, or why
    that cannot be told."""

    directory: KeyDirectory = field(default_factory=KeyDirectory)
    buckets: tuple[BucketSnapshot, ...] = ()
    now: datetime | None = None
    owned: tuple[Bucket, ...] | None = ()
    tokens: TokensSnapshot = field(default_factory=TokensSnapshot)
    stores: Mapping[KeySpec, KeyStoreState | PlanError | StoreFault] = field(default_factory=dict)


def plan_tenancy(spec: TenancySpec, live: TenancySnapshot, deciders: Sequence[Decide] | None = None) -> Plan:
    """Keys first, then buckets, grants and admin tokens; removals last: grants, buckets, keys, admin tokens.

    ``deciders`` decide on the admin tokens in the planner's place, each on one, as a job does that must remember what was decided.
    Raises PlanError with everything that the live state forbids, each with its path in the document; nothing is sent then.
    """
    keys, parts, purged, tokens = _decide(spec, live, deciders)
    present, absent = ([part for part in parts if part.entry.spec.absent is gone] for gone in (False, True))
    plan = combine("tenancy", [
        [plan for plan, key in zip(keys.plans, spec.keys, strict=True) if not key.absent],
        [part.plan for part in present],
        [plan for part in parts for party, plan in part.grants],
        [plan for part in parts for plan in part.purged],
        [plan for plan, token in zip(tokens.plans, spec.admin_tokens, strict=True) if not token.absent],
        [*(part.plan for part in absent), *purged.buckets],
        [*(plan for plan, key in zip(keys.plans, spec.keys, strict=True) if key.absent), *purged.keys],
        [*(plan for plan, token in zip(tokens.plans, spec.admin_tokens, strict=True) if token.absent), *tokens.purged],
    ])
    notes = tuple(note for part in parts for note in part.notes)
    return replace(plan, notes=plan.notes + notes + tokens.notes, predicted={
        "keys": [plan.after for plan in keys.plans],
        "buckets": [_bucket_result(part, keys.leaving | purged.key_ids) for part in parts],
        "grants": [plan.after for part in parts for party, plan in part.grants],
        "admin_tokens": [plan.after for plan in tokens.plans],
    })


def show_tenancy(spec: TenancySpec, live: TenancySnapshot) -> dict:
    """What is there of the document, in its order, None for what is not: not all of it is when a run went on after errors. Raises PlanError."""
    keys, parts, _purged, tokens = _decide(spec, live)
    return {
        "keys": [plan.before for plan in keys.plans],
        "buckets": [part.plan.before for part in parts],
        "grants": [plan.before for part in parts for party, plan in part.grants],
        "admin_tokens": [plan.before for plan in tokens.plans],
    }


def _decide(spec: TenancySpec, live: TenancySnapshot, deciders: Sequence[Decide] | None = None) -> tuple[_Keys, list[_Part], _Purged, Tokens]:
    faults = _Faults()
    keys = _Keys(spec.keys, live, faults)
    parts = [_part(f"buckets[{index}]", entry, snapshot, keys, faults)
             for index, (entry, snapshot) in enumerate(zip(spec.buckets, live.buckets, strict=True))]
    faults.same_twice((f"buckets[{index}]", part.live.id if part.live else None) for index, part in enumerate(parts))
    faults.same_twice((f"buckets[{index}].local_aliases[{number}]", name) for index, part in enumerate(parts)
                      for number, name in enumerate(part.local_names))
    purged = _Purged(spec, live, keys, parts, faults)
    tokens = Tokens(spec, live.tokens, [partial(plan_admin_token, token) for token in spec.admin_tokens] if deciders is None else deciders, faults)
    faults.check()
    return keys, parts, purged, tokens


class _Faults:
    """Collects what the live state forbids, so that all of it is told at once."""

    def __init__(self) -> None:
        self._errors: list[tuple[str, PlanError | StoreFault]] = []

    def attempt(self, path: str, decide: Callable[..., Any], *args: Any) -> Any:
        """What ``decide`` gives, or None when it raises a PlanError or a StoreFault, which is kept."""
        try:
            return decide(*args)
        except (PlanError, StoreFault) as error:
            self._errors.append((path, error))
            return None

    def same_twice(self, subjects: Iterable[tuple[str, str | None]]) -> None:
        """Keep a fault for each path whose thing on the server, told by its id, another path stands for already."""
        first: dict[str, str] = {}
        for path, identity in subjects:
            if identity in first:
                self._errors.append((path, PlanError(f"is the same as {first[identity]}; both are {identity}", hint="declare each thing once")))
            elif identity is not None:
                first[identity] = path

    def check(self) -> None:
        """Raise everything that was kept as one error; its kind is theirs where they agree."""
        if not self._errors:
            return
        kinds = {type(error) for path, error in self._errors}
        kind = kinds.pop() if len(kinds) == 1 else PlanError
        hints = dict.fromkeys(error.hint for path, error in self._errors if error.hint)
        raise kind("; ".join(f"{path}: {error.message}" for path, error in self._errors), hint="; ".join(hints) or None)


class _Keys:
    """The declared keys with their plans (None where there was a fault), the ids of those that go, and which key a grant means."""

    def __init__(self, specs: tuple[KeySpec, ...], live: TenancySnapshot, faults: _Faults) -> None:
        self._directory = live.directory
        self._by_name = {name: spec for spec in specs if (name := spec.derived_name if spec.derivation else spec.name) is not None}
        self._by_id = {spec.id: spec for spec in specs if spec.id is not None}
        self._stores = live.stores
        self._ids: dict[KeySpec, str] = {}
        self.plans = [faults.attempt(f"keys[{index}]", self._plan, spec, live.now) for index, spec in enumerate(specs)]
        faults.same_twice((f"keys[{index}]", self._ids.get(spec)) for index, spec in enumerate(specs))
        # Declared, or named by a grant or a local alias of the document: what it refers to, it does not purge.
        self.needed_ids = set(self._ids.values())
        self.leaving = {self._ids[spec] for spec in specs if spec.absent and spec in self._ids}
        self._renamed = {key_id: spec.name for spec, key_id in self._ids.items() if spec.name not in (None, self._directory.by_id(key_id).name)}

    def party(self, grant: GrantSpec) -> Party:
        """The key that a grant means: one of the document, or else one on the server. Raises PlanError."""
        spec = self._by_name.get(grant.key) or self._by_id.get(grant.key_id)
        if spec is not None and spec not in self._ids:
            return Party(spec.name, Ref(spec.label, "accessKeyId", known=spec.id))
        if spec is not None:
            key = self._directory.by_id(self._ids[spec])
        else:
            key = self._directory.by_name(grant.key) if grant.key is not None else self._directory.by_id(grant.key_id)
        if key is None:
            raise NotDeclaredHere(f"there is no {grant.key_label}, neither in this document nor on the server", hint="declare it under keys")
        if spec is None and key.id in self._renamed:
            raise PlanError(f"{grant.key_label} is to be called {self._renamed[key.id]!r} by this document", hint="use the new name")
        if key.id in self.leaving:
            raise PlanError(f"{grant.key_label} is declared absent", hint="take its grants and local aliases out of this document")
        self.needed_ids.add(key.id)
        return Party(spec.name if spec and spec.name else key.name, key.id)

    def _plan(self, spec: KeySpec, now: datetime | None) -> Plan:
        store = self._stores.get(spec, KeyStoreState())
        if not isinstance(store, KeyStoreState):
            raise store
        key = self._directory.by_id(spec.id) if spec.id is not None else self._directory.by_name(spec.name)
        # A rotation that broke off between its two renamings is ended here too; one that did not come so far is left to the module `key`.
        rotating = None if key else rotating_key(spec, self._directory)
        others = tuple(other for other in keys_of(spec, self._directory) if other not in (key, rotating))
        if key or rotating:
            self._ids[spec] = (key or rotating).id
        namesakes = self._directory.listed(spec.derived_name) if spec.derivation and key is None and not spec.absent else ()
        plan = plan_key(spec, KeySnapshot(key, now, store, rotating, replaced=others, namesakes=namesakes))
        return replace(plan, before=_read_of(spec, plan.before), after=_read_of(spec, plan.after))


class _Purged:
    """Plans that remove what has the owner's prefix and is not declared. An incomplete list is a fault: what it lacks, nobody has looked at."""

    def __init__(self, spec: TenancySpec, live: TenancySnapshot, keys: _Keys, parts: list[_Part], faults: _Faults) -> None:
        listed = live.directory.keys if live.directory.complete else None
        # What a rotation of a declared key makes and leaves is no stray key.
        rotated = {name for key in spec.keys if key.name for name in (key.rotating_name, key.replaced_name)}
        keys_going = [key for key in faults.attempt("purge_keys", _complete, listed, "keys") or () if key.name.startswith(spec.owner_prefix)
                      and key.id not in keys.needed_ids and key.name not in rotated] if spec.purge_keys else []
        self.key_ids = {key.id for key in keys_going}
        declared, leaving = {part.live.id for part in parts if part.live}, keys.leaving | self.key_ids
        # A bucket is somebody else's when a key that stays has a name of its own for it.
        buckets_going = [bucket for bucket in faults.attempt("purge_buckets", _complete, live.owned, "buckets") or ()
                         if bucket.id not in declared and {key_id for key_id, alias in bucket.local_aliases} <= leaving] if spec.purge_buckets else []
        plans = [faults.attempt("purge_buckets", plan_bucket, BucketSpec(id=bucket.id, name=bucket.aliases[0], absent=True), BucketSnapshot(bucket))
                 for bucket in buckets_going]
        self.buckets = [plan for plan in plans if plan]
        self.keys = [plan_key(KeySpec(id=key.id, name=key.name, absent=True), KeySnapshot(key, live.now)) for key in keys_going]


def rotating_key(spec: KeySpec, directory: KeyDirectory) -> Key | None:
    """The key that a rotation has made for this one's name and not given it yet. Raises Ambiguous."""
    return directory.by_name(spec.rotating_name) if spec.name is not None and directory.listed(spec.rotating_name) else None


def keys_of(spec: KeySpec, directory: KeyDirectory) -> tuple[Key, ...]:
    """The keys on the server that a declared one is about."""
    if spec.id is not None:
        found = directory.by_id(spec.id)
        return (found,) if found else ()
    return tuple(key for name in (spec.name, spec.rotating_name, spec.replaced_name) for key in directory.listed(name))


def _complete(listed: tuple | None, what: str) -> tuple:
    if listed is None:
        raise PlanError(f"the server may not have listed all {what}, so nothing is purged", hint="Garage lists everything from 2.5.0 on")
    return listed


def _read_of(spec: KeySpec, result: dict | None) -> dict | None:
    """A key's result with None for what is not read here: its buckets never, the right to create buckets only where it is declared."""
    unread = ("buckets",) if spec.allow_create_bucket is not None else ("buckets", "allow_create_bucket")
    return None if result is None else {**result, **dict.fromkeys(unread)}


@dataclass
class _Part:
    """One declared bucket: as it is, its plan (None where there was a fault), its grants with their keys, the rights of others, and its local aliases
    in words that tell them apart."""

    entry: BucketEntry
    live: Bucket | None
    plan: Plan | None
    grants: list[tuple[Party, Plan]] = field(default_factory=list)
    purged: list[Plan] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    local_names: list[str] = field(default_factory=list)


def _part(path: str, entry: BucketEntry, snapshot: BucketSnapshot, keys: _Keys, faults: _Faults) -> _Part:
    spec, live = entry.spec, snapshot.bucket or snapshot.orphan
    local = () if spec.absent else spec.local_aliases or ()
    if local:
        meant = {row.selector: GrantSpec(key=row.key, key_id=row.key_id) for row in local}
        parties = {selector: faults.attempt(f"{path}.local_aliases", keys.party, key) for selector, key in meant.items()}
        snapshot = replace(snapshot, key_ids={selector: party.target for selector, party in parties.items() if party})
        if None in parties.values():
            return _Part(entry, live, None)
    part = _Part(entry, live, faults.attempt(path, plan_bucket, spec, snapshot))
    part.local_names = [_local_name(snapshot.key_ids[row.selector], row.alias) for row in local]
    if part.plan is None or spec.absent or entry.grants is None:
        return part
    bucket = Party(spec.name or next(iter(part.plan.after["aliases"]), None), live.id if live else Ref(spec.label, "id"))
    paths = [(f"{path}.grants[{index}]", grant) for index, grant in enumerate(entry.grants)]
    parties = [(where, grant, faults.attempt(f"{where}.{'key' if grant.key else 'key_id'}", keys.party, grant)) for where, grant in paths]
    faults.same_twice((where, key.id if key else None) for where, grant, key in parties)
    for where, grant, key in parties:
        plan = faults.attempt(where, plan_rights, grant, _rights(live, key.id), bucket, key) if key else None
        if plan is not None:
            part.grants.append((key, plan))
    named = {key.id for where, grant, key in parties if key} | keys.leaving
    others = [grant for grant in (live.grants if live else ()) if grant.key_id not in named and _rights(live, grant.key_id)]
    if entry.purge_grants:
        part.purged = [_purge(spec.label, bucket, grant, _rights(live, grant.key_id)) for grant in others]
    elif others:
        listed = ", ".join(f"{grant.key_name} ({grant.key_id}: {', '.join(in_order(_rights(live, grant.key_id)))})" for grant in others)
        part.notes = [f"{spec.label}: keys that are not declared have rights on it: {listed}; purge_grants: true takes them"]
    return part


def _local_name(key: str | Ref, alias: str) -> str:
    return f"the local alias {alias!r} of {key.name if isinstance(key, Ref) else f'access key {key}'}"


def _rights(bucket: Bucket | None, key_id: str | None) -> frozenset[str]:
    return rights_on(bucket, key_id) if bucket else frozenset()


def _purge(on: str, bucket: Party, grant: BucketGrant, have: frozenset[str]) -> Plan:
    key, to = Party(grant.key_name, grant.key_id), f"access key {grant.key_name} ({grant.key_id})"
    return Plan(f"grant of {to} on {on}", before=grant_result(bucket, key, have),
                calls=rights_calls(have, frozenset(), bucket, key, on=on, to=to))


def _bucket_result(part: _Part, leaving: set[str]) -> dict | None:
    """The bucket as it will be, with its grants as they will be."""
    if part.plan.after is None:
        return None
    grants = {grant.key_id: grant for grant in (part.live.grants if part.live else ()) if grant.key_id not in leaving}
    for plan in part.purged:
        del grants[plan.before["key_id"]]
    for key, plan in part.grants:
        grants[key.id or key.target] = BucketGrant(key.id, key.name, **{right: plan.after[right] for right in RIGHTS})
    rows = [{"key_id": grant.key_id, "key_name": grant.key_name, **{right: getattr(grant, right) for right in RIGHTS}} for grant in grants.values()]
    # A key that goes takes along the names it knew the bucket by.
    aliases = [row for row in part.plan.after["local_aliases"] if row["key_id"] not in leaving]
    rows.sort(key=lambda row: (row["key_id"] is None, row["key_id"] or row["key_name"]))
    return {**part.plan.after, "local_aliases": aliases, "grants": rows}
