# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Snapshots of a whole tenancy. Private: not for use outside of the collection."""

from __future__ import annotations

from dataclasses import replace

from .._client import Client
from .._executor import Doubts
from .._models.bucket import Bucket, BucketSpec
from .._models.key import LIST_CAP, Key, KeyDirectory, KeySpec
from .._models.tenancy import TenancySpec
from .._planners.bucket import BucketSnapshot
from .._planners.tenancy import TenancySnapshot
from .bucket import find_bucket, find_orphans, list_buckets, read_bucket, with_local_aliases
from .bulk import at_once, list_bucket_infos, list_key_infos
from .cluster import read_version
from .key import find_key, read_directory

# From this many single reads on, the two bulk reads are tried first: a single read takes the server some 40 ms, all of 1,000 buckets 150 ms.
_BULK_FROM = 8


def read_tenancy(client: Client, spec: TenancySpec, doubts: Doubts = ()) -> TenancySnapshot:
    """All keys and the declared buckets: two requests where the server can tell all at once and enough is declared, else one for all keys and a few
    at a time for the rest."""
    client.secrets.extend(key.secret.value for key in spec.keys if key.secret is not None)
    directory = _directory(client, spec) if spec.keys or spec.grants or spec.names_keys or spec.purge_keys else KeyDirectory()
    specs = [entry.spec for entry in spec.buckets]
    rows = list_bucket_infos(client) if len(specs) >= _BULK_FROM or spec.purge_buckets else None
    every = None if rows is None else [Bucket.from_api(row) for row in rows]
    owned = _owned(client, every, spec.owner_prefix) if spec.purge_buckets else ()
    return TenancySnapshot(directory, _buckets(client, specs, every, doubts), client.server_time, owned)


def _owned(client: Client, every: list[Bucket] | None, prefix: str) -> tuple[Bucket, ...] | None:
    """The buckets all of whose names begin with the prefix; None when the server may not have listed all buckets."""
    if every is None:
        rows = list_buckets(client)
        if len(rows) == LIST_CAP:
            return None
        named = [row["id"] for row in rows if row["globalAliases"] and all(alias.startswith(prefix) for alias in row["globalAliases"])]
        found = at_once(lambda id: find_bucket(client, id=id), named)
        every = [with_local_aliases(BucketSnapshot(bucket), rows, {}).bucket for bucket in found if bucket]
    return tuple(bucket for bucket in every if bucket.aliases and all(alias.startswith(prefix) for alias in bucket.aliases))


def _buckets(client: Client, specs: list[BucketSpec], every: list[Bucket] | None, doubts: Doubts) -> tuple[BucketSnapshot, ...]:
    snapshots = at_once(lambda spec: read_bucket(client, _alone(spec)), specs) if every is None else _looked_up(specs, every)
    version = read_version(client) if any(spec.features for spec in specs) else None
    # Several creates in doubt at once are told apart by nothing, and need not be: what they left is empty and nameless.
    if any(spec.local_aliases is not None for spec in specs):
        rows = list_buckets(client)
        snapshots = [snapshot if spec.local_aliases is None else with_local_aliases(snapshot, rows, {})
                     for spec, snapshot in zip(specs, snapshots, strict=True)]
    made = {doubt.call.binds for doubt in doubts}
    missing = [spec.label for spec, snapshot in zip(specs, snapshots, strict=True) if snapshot.bucket is None and spec.label in made]
    orphans = dict(zip(missing, find_orphans(client, doubts) if missing else ()))
    return tuple(replace(snapshot, orphan=orphans.get(spec.label), server_version=version) for spec, snapshot in zip(specs, snapshots, strict=True))


def _alone(spec: BucketSpec) -> BucketSpec:
    """The spec without what is read once for all buckets."""
    return replace(spec, local_aliases=None, cors_rules=None, lifecycle_rules=None, website=None)


def _looked_up(specs: list[BucketSpec], buckets: list[Bucket]) -> list[BucketSnapshot]:
    by_id = {bucket.id: bucket for bucket in buckets}
    by_alias = {alias: bucket for bucket in buckets for alias in bucket.aliases}
    snapshots = []
    for spec in specs:
        bucket = by_id.get(spec.id) if spec.id else by_alias.get(spec.name)
        have = bucket.aliases if bucket else (spec.name,)
        owners = {alias: by_alias[alias].id for alias in spec.wanted_aliases if alias not in have and alias in by_alias}
        snapshots.append(BucketSnapshot(bucket, {} if spec.absent else owners))
    return snapshots


def _directory(client: Client, spec: TenancySpec) -> KeyDirectory:
    if sum(_needs_more(key) for key in spec.keys) >= _BULK_FROM and (rows := list_key_infos(client)) is not None:
        listed = KeyDirectory(tuple(Key.from_api(row) for row in rows))
        found = {_listed_id(key, listed): key for key in spec.keys if key.needs_secret}
        lookups = {key_id: True for key_id in found if key_id is not None and listed.by_id(key_id)}
    else:
        listed = read_directory(client)
        lookups = _lookups(spec, listed)
    known = {key.id: key for key in listed.keys}
    for key_id, found in zip(lookups, at_once(lambda item: find_key(client, *item), lookups.items()), strict=True):
        known.update({key_id: found} if found else {})
    return replace(listed, keys=tuple(known.values()))


def _lookups(spec: TenancySpec, listed: KeyDirectory) -> dict[str, bool]:
    """The ids of the keys to look at one by one, each with whether its secret is needed: those of which more is declared than a list shows, and, since
    by its id a key is found even when the list was cut, those that a cut list lacks."""
    wanted: dict[str, bool] = {}
    for key in spec.keys:
        key_id = _listed_id(key, listed)
        if key_id is not None and (_needs_more(key) if listed.by_id(key_id) else not listed.complete):
            wanted[key_id] = key.needs_secret
    aliases = [row for entry in spec.buckets for row in entry.spec.local_aliases or ()]
    for row in (*spec.grants, *aliases):
        if row.key_id is not None and not listed.complete and not listed.by_id(row.key_id):
            wanted.setdefault(row.key_id, False)
    return wanted


def _listed_id(spec: KeySpec, listed: KeyDirectory) -> str | None:
    """The id of the key that is meant, also where a rotation has taken its name away and not given it back yet."""
    if spec.id is not None:
        return spec.id
    return _only(listed.listed(spec.name) or listed.listed(spec.rotating_name))


def _only(keys: tuple[Key, ...]) -> str | None:
    """The id of the one key of a name. For none and for several there is nothing to look at: the planner tells of both."""
    return keys[0].id if len(keys) == 1 else None


def _needs_more(spec: KeySpec) -> bool:
    return not spec.absent and (spec.allow_create_bucket is not None or spec.needs_secret)
