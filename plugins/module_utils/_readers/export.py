# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""All keys, buckets and admin tokens of a cluster. Private: not for use outside of the collection."""

from __future__ import annotations

from dataclasses import replace

from .._client import Client
from .._errors import Denied
from .._models import admin_token
from .._models.admin_token import AdminToken
from .._models.bucket import Bucket
from .._models.export import Live
from .._models.key import LIST_CAP, Key
from .admin_token import read_directory as read_token_directory
from .bucket import find_bucket, list_buckets
from .bulk import at_once, list_bucket_infos, list_key_infos
from .key import find_key, read_directory


def read_all(client: Client) -> Live:
    """One request for each kind where the server can tell all at once, else lists and a few single reads at a time."""
    keys, complete = _keys(client)
    return Live(tuple(keys), tuple(_buckets(client)), complete, _tokens(client))


def _tokens(client: Client) -> tuple[AdminToken, ...] | None:
    """The tokens of the database; None when the token in use may read the rest and not these."""
    try:
        directory = read_token_directory(client)
    except Denied as error:
        client.warnings.append(f"admin tokens are left out, because they may not be listed: {error.message}")
        return None
    if not directory.complete:
        client.warnings.append(f"this server lists {admin_token.LIST_CAP} admin tokens at most; there may be more than the ones returned")
    return tuple(token for token in directory.tokens if token.id is not None)


def _keys(client: Client) -> tuple[list[Key], bool]:
    rows = list_key_infos(client)
    if rows is not None:
        return [Key.from_api(row) for row in rows], True
    directory = read_directory(client)
    if not directory.complete:
        client.warnings.append(f"this server lists {LIST_CAP} keys at most; there may be more than the ones returned")
    found = at_once(lambda key: find_key(client, key.id), directory.keys)
    return [key for key in found if key], directory.complete


def _buckets(client: Client) -> list[Bucket]:
    infos = list_bucket_infos(client)
    if infos is not None:
        return [Bucket.from_api(info) for info in infos]
    rows = list_buckets(client)
    if len(rows) == LIST_CAP:
        client.warnings.append(f"this server may list {LIST_CAP} buckets at most; there may be more than the ones returned")
    found = at_once(lambda row: find_bucket(client, id=row["id"]), rows)
    # Garage 2.1.0 to 2.3.0 tells of some local aliases in the list alone.
    local = {row["id"]: tuple(sorted((alias["accessKeyId"], alias["alias"]) for alias in row["localAliases"])) for row in rows}
    return [replace(bucket, local_aliases=local[bucket.id]) for bucket in found if bucket]
