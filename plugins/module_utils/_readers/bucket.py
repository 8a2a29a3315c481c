# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Snapshots of buckets. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from .._client import Client
from .._errors import InputError, NotDeclaredHere, NotFound, PlanError
from .._executor import Doubts
from .._models.bucket import Bucket, BucketSpec
from .._names import bucket_id_fault, bucket_name_fault
from .._planners.bucket import BucketSnapshot
from .._translate import snake_case
from .._units import parse_server_time, seconds_before
from .cluster import read_version
from .key import find_key, read_directory


def read_bucket(client: Client, spec: BucketSpec, doubts: Doubts = ()) -> BucketSnapshot:
    """One request for the bucket, one for each wanted alias it lacks. Only a 404 means absent; any other failure is raised."""
    bucket = find_bucket(client, id=spec.id) if spec.id else find_bucket(client, globalAlias=spec.name)
    if spec.absent:
        return BucketSnapshot(bucket)
    have = bucket.aliases if bucket else (spec.name,)
    owners = {}
    for alias in spec.wanted_aliases:
        if alias not in have and (owner := find_bucket(client, globalAlias=alias)):
            owners[alias] = owner.id
    orphans = find_orphans(client, doubts) if bucket is None else []
    snapshot = BucketSnapshot(bucket, owners, orphans[0] if orphans else None, server_version=read_version(client) if spec.features else None)
    return snapshot if spec.local_aliases is None else with_local_aliases(snapshot, list_buckets(client), key_ids(client, spec))


def key_ids(client: Client, spec: BucketSpec) -> dict[str, str]:
    """The ids of the keys that local aliases tell by name or id. Raises Ambiguous; what no key has is left out."""
    rows = spec.local_aliases or ()
    directory = read_directory(client) if any(row.key is not None for row in rows) else None
    found = {row.selector: find_key(client, row.key_id) if row.key is None else directory.by_name(row.key) for row in rows}
    return {selector: key.id for selector, key in found.items() if key}


def with_local_aliases(snapshot: BucketSnapshot, rows: list[dict], ids: Mapping) -> BucketSnapshot:
    """The snapshot with what it needs for local aliases; ``rows`` is a ListBuckets answer, the one place where every server tells all of them."""
    owners = {(local["accessKeyId"], local["alias"]): row["id"] for row in rows for local in row["localAliases"]}
    bucket = snapshot.bucket
    if bucket:
        bucket = replace(bucket, local_aliases=tuple(sorted(pair for pair, owner in owners.items() if owner == bucket.id)))
    return replace(snapshot, bucket=bucket, key_ids=ids, local_owners=owners)


def find_bucket(client: Client, **query: str) -> Bucket | None:
    """The bucket that ``id`` or ``globalAlias`` names, or None."""
    try:
        return Bucket.from_api(client.call("GetBucketInfo", query))
    except NotFound:
        return None


def existing_bucket(client: Client, params: Mapping, name: str = "name", id: str = "id") -> Bucket:
    """The bucket that one of the options ``name`` and ``id`` tells. Raises InputError for what can be neither, NotDeclaredHere where there is none."""
    option, find_fault, query = (name, bucket_name_fault, "globalAlias") if params[id] is None else (id, bucket_id_fault, "id")
    if fault := find_fault(params[option]):
        raise InputError(f"{option}: {fault}")
    bucket = find_bucket(client, **{query: params[option]})
    if bucket is None:
        raise NotDeclaredHere(f"bucket {params[option]}: there is no such bucket", hint="see s3ops.garage.bucket_info for those there are")
    return bucket


def read_buckets(client: Client, name: str | None = None, id: str | None = None) -> list[Bucket]:
    """The bucket that is called ``name`` or has ``id`` (none or one), or all buckets; ordered by id."""
    if name is not None or id is not None:
        found = find_bucket(client, id=id) if id is not None else find_bucket(client, globalAlias=name)
        return [found] if found else []
    every = (find_bucket(client, id=row["id"]) for row in list_buckets(client))
    return sorted((bucket for bucket in every if bucket), key=lambda bucket: bucket.id)


def list_buckets(client: Client) -> list[dict]:
    """All buckets as ListBuckets shows them: id, created, globalAliases, localAliases."""
    return client.call("ListBuckets")


def find_orphans(client: Client, doubts: Doubts) -> list[Bucket]:
    """The buckets without any alias that creates of unknown fate left behind; none of them is anybody's yet, so any may become any of those.

    Raises PlanError when there are more of them than creates in doubt: then some are not ours.
    """
    creates = [doubt for doubt in doubts if doubt.call.endpoint == "CreateBucket" and doubt.since]
    if not creates:
        return []
    # The server's clock is known to the second, from the Date header of its last answer.
    since = seconds_before(min(doubt.since for doubt in creates), 2)
    rows = [row for row in list_buckets(client) if not row["globalAliases"] and not row["localAliases"] and _made_after(row, since)]
    found = [bucket for row in rows if (bucket := find_bucket(client, id=row["id"])) and _is_untouched(bucket)]
    if len(found) > len(creates):
        raise PlanError(f"{'; '.join(doubt.call.why for doubt in creates)}: the answer was lost, and {len(found)} buckets without a name appeared"
                        f" meanwhile: {', '.join(bucket.id for bucket in found)}",
                        hint="see which one is yours with s3ops.garage.bucket_info, and name it by running this with id and name")
    return found


def _is_untouched(bucket: Bucket) -> bool:
    """Nothing was set, granted or stored: whoever does that has already taken the bucket for their own."""
    return bucket == Bucket(bucket.id, created=bucket.created, usage=bucket.usage) and not any(bucket.usage.values())


def _made_after(row: dict, since: datetime) -> bool:
    created = parse_server_time(row.get("created"))
    return created is not None and created >= since


def read_object(client: Client, params: Mapping) -> list[dict]:
    """The versions of one object; empty when there is none. Raises what ``existing_bucket`` raises."""
    bucket = existing_bucket(client, params, "bucket", "bucket_id")
    try:
        return snake_case(client.call("InspectObject", {"bucketId": bucket.id, "key": params["key"]})["versions"])
    except NotFound:
        return []
