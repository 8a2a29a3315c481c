# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Snapshots of access keys. Private: not for use outside of the collection."""

from __future__ import annotations

from .._client import Client
from .._errors import NotFound
from .._models.key import LIST_CAP, Key, KeyDirectory, KeySpec
from .._planners.key import KeySnapshot

# Far above the cap of the servers that know no `limit`, and without an upper bound on those that do.
_LIMIT = 1_000_000


def read_key(client: Client, spec: KeySpec) -> KeySnapshot:
    """One request by id; by name one for the list and one for the key.

    A name is looked up in the list of all keys, exactly: the server's own search also finds parts of names and ids, and answers 400 as
    well for none as for several. Raises Ambiguous. A create whose answer was lost is found by its name too.
    """
    if spec.secret is not None:
        client.secrets.append(spec.secret.value)
    if spec.id is not None:
        key = find_key(client, spec.id, secret=spec.needs_secret)
        namesakes = read_directory(client).listed(spec.derived_name) if spec.derivation and key is None and not spec.absent else ()
        return KeySnapshot(key, client.server_time, namesakes=namesakes)
    directory = read_directory(client)
    listed = directory.by_name(spec.name)
    key = find_key(client, listed.id, secret=spec.needs_secret) if listed else None
    # Names that only a rotation gives.
    rotating = directory.by_name(spec.rotating_name) if directory.listed(spec.rotating_name) else None
    new = find_key(client, rotating.id, secret=spec.needs_secret) if rotating else None
    return KeySnapshot(key, client.server_time, rotating=new, replaced=directory.listed(spec.replaced_name))


def find_key(client: Client, key_id: str, secret: bool = False) -> Key | None:
    """The key with this id, or None; with its secret if that is asked for."""
    # Garage takes the literal `true` alone; Python's True on the wire would be a 400.
    query = {"id": key_id, "showSecretKey": True} if secret else {"id": key_id}
    try:
        key = Key.from_api(client.call("GetKeyInfo", query))
    except NotFound:
        return None
    if key.secret is not None:
        client.secrets.append(key.secret.value)
    return key


def read_directory(client: Client) -> KeyDirectory:
    """All keys with their names."""
    return KeyDirectory.from_api(client.call("ListKeys", {"limit": _LIMIT}))


def read_keys(client: Client, name: str | None = None, key_id: str | None = None, secret: bool = False) -> list[Key]:
    """The keys that are called ``name``, the one that has ``key_id``, or all; ordered by id."""
    if key_id is not None:
        ids = [key_id]
    else:
        directory = read_directory(client)
        if not directory.complete:
            client.warnings.append(f"this server lists {LIST_CAP} keys at most; there may be more than the ones returned")
        ids = sorted(key.id for key in (directory.keys if name is None else directory.all_by_name(name)))
    return [key for key in (find_key(client, listed, secret) for listed in ids) if key]
