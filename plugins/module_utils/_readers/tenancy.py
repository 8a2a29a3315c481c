# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Snapshots of a whole tenancy. Private: not for use outside of the collection."""

from __future__ import annotations

from dataclasses import replace

from .._client import Client
from .._executor import Doubt
from .._models.key import Key, KeyDirectory, KeySpec
from .._models.tenancy import TenancySpec
from .._planners.tenancy import TenancySnapshot
from .bucket import read_bucket
from .key import find_key, read_directory


def read_tenancy(client: Client, spec: TenancySpec, doubt: Doubt | None = None) -> TenancySnapshot:
    """One request for all keys, one for each key of which more is declared than its list row shows, and those of each bucket."""
    client.secrets.extend(key.secret.value for key in spec.keys if key.secret is not None)
    directory = _directory(client, spec) if spec.keys or spec.grants else KeyDirectory()
    # What a lost answer left behind belongs to the bucket that was being made, not to every bucket that is missing.
    buckets = tuple(read_bucket(client, entry.spec, doubt if doubt and doubt.call.binds == entry.spec.label else None) for entry in spec.buckets)
    return TenancySnapshot(directory, buckets, client.server_time)


def _directory(client: Client, spec: TenancySpec) -> KeyDirectory:
    listed = read_directory(client)
    known = {key.id: key for key in listed.keys}
    for key_id, secret in _lookups(spec, listed).items():
        found = find_key(client, key_id, secret)
        known.update({key_id: found} if found else {})
    return replace(listed, keys=tuple(known.values()))


def _lookups(spec: TenancySpec, listed: KeyDirectory) -> dict[str, bool]:
    """The ids of the keys to look at one by one, each with whether its secret is needed.

    These are keys of which more is declared than a list shows, and keys that a cut list lacks, since by its id a key is found nevertheless.
    """
    wanted: dict[str, bool] = {}
    for key in spec.keys:
        key_id = key.id if key.id is not None else _only(listed.listed(key.name))
        if key_id is not None and (_needs_more(key) if listed.by_id(key_id) else not listed.complete):
            wanted[key_id] = key.secret is not None
    for grant in spec.grants:
        if grant.key_id is not None and not listed.complete and not listed.by_id(grant.key_id):
            wanted.setdefault(grant.key_id, False)
    return wanted


def _only(keys: tuple[Key, ...]) -> str | None:
    """The id of the one key of a name. For none and for several there is nothing to look at: the planner tells of both."""
    return keys[0].id if len(keys) == 1 else None


def _needs_more(spec: KeySpec) -> bool:
    return not spec.absent and (spec.allow_create_bucket is not None or spec.secret is not None)
