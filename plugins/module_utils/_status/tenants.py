# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Buckets against their quotas, what expires, blocks that are missing. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from .._units import parse_server_time, parse_timestamp
from .cluster import first
from .seen import Seen
from .words import percent, short


def buckets(sites: Sequence[Seen], near: int) -> dict | None:
    """``limited``: buckets with a quota, the fullest first; ``others``: how many have none, and their bytes. None when no site tells.

    ``level`` is full, near (from ``near`` percent on) or ok.
    """
    found = first(sites, "buckets")
    if found is None:
        return None
    limited = [_limited(bucket, near) for bucket in found if any(limit is not None for limit in bucket["quotas"].values())]
    others = [bucket for bucket in found if all(limit is None for limit in bucket["quotas"].values())]
    return {
        "limited": sorted(limited, key=lambda bucket: (-bucket["percent"], bucket["name"])),
        "others": {"buckets": len(others), **{name: sum(bucket[name] or 0 for bucket in others) for name in ("bytes", "objects")}},
    }


def _limited(bucket: Mapping, near: int) -> dict:
    quotas, used = bucket["quotas"], {"max_size": bucket["bytes"] or 0, "max_objects": bucket["objects"] or 0}
    shares = {name: None if quotas[name] is None else percent(used[name], quotas[name]) for name in used}
    most = max(share for share in shares.values() if share is not None)
    return {
        "name": bucket_name(bucket),
        "id": bucket["id"],
        "bytes": used["max_size"],
        "max_size": quotas["max_size"],
        "size_percent": shares["max_size"],
        "objects": used["max_objects"],
        "max_objects": quotas["max_objects"],
        "objects_percent": shares["max_objects"],
        "percent": most,
        "level": "full" if most >= 100 else "near" if most >= near else "ok",
    }


def bucket_name(bucket: Mapping) -> str:
    if bucket["aliases"]:
        return bucket["aliases"][0]
    return bucket["local_aliases"][0]["alias"] if bucket["local_aliases"] else short(bucket["id"])


def expiring(sites: Sequence[Seen], now: str, days: int) -> list[dict]:
    """Keys and admin tokens that have expired at ``now`` (RFC 3339) or will within ``days``, the earliest first."""
    until = parse_timestamp(now) + timedelta(days=days)
    found = []
    for kind, part in (("access key", "keys"), ("admin token", "tokens")):
        for row in first(sites, part) or ():
            moment = parse_server_time(row["expiration"])
            if moment and moment <= until:
                found.append({"kind": kind, "name": row["name"] or row["id"] or "", "id": row["id"], "expiration": row["expiration"],
                              "expired": moment <= parse_timestamp(now)})
    return sorted(found, key=lambda row: (row["expiration"], row["kind"], row["name"]))


def block_errors(sites: Sequence[Seen], names: Mapping[str, str]) -> list[dict] | None:
    """By node: how many blocks could not be resynced, and the most tries for one of them. None when no site tells."""
    found = first(sites, "blocks")
    if found is None:
        return None
    rows = [_blocks(node["block_errors"], names.get(node["id"], short(node["id"]))) for node in found if node["block_errors"]]
    return sorted(rows, key=lambda row: (-row["blocks"], row["node"]))


def _blocks(errors: Iterable[Mapping], name: str) -> dict:
    counts = [error["error_count"] for error in errors]
    return {"node": name, "blocks": len(counts), "most_tries": max(counts)}
