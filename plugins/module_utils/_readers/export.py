# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""All keys and buckets of a cluster. Private: not for use outside of the collection."""

from __future__ import annotations

from dataclasses import replace

from .._client import Client
from .._models.bucket import Bucket
from .._models.export import Live
from .._models.key import LIST_CAP, Key
from .bucket import find_bucket, list_buckets
from .bulk import at_once, list_bucket_infos, list_key_infos
from .key import find_key, read_directory


def read_all(client: Client) -> Live:
    """Two requests where the server can tell all at once, else two lists and a few single reads at a time."""
    keys, complete = _keys(client)
    return Live(tuple(keys), tuple(_buckets(client)), complete)


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
