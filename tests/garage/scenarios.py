# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""For each module, options that take it through all it does on a lone node with a layout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Options = dict[str, Any]
SECRET = "a-secret-of-sixteen-and-more"


@dataclass(frozen=True)
class World:
    """What the scenarios of one run may use: a tag for names that nobody else has, and what is there already."""

    tag: str
    bucket: str
    key: str
    block: str
    node: str
    peer: str
    folder: Path


def _bucket(world: World) -> list[Options]:
    name = f"b{world.tag}"
    return [{"name": name, "quotas": {"max_size": "1GB"}, "aliases": [f"{name}-too"], "local_aliases": [{"key": world.key, "alias": f"mine{world.tag}"}]},
            {"name": name, "quotas": {"max_size": "2GB"}, "aliases": [], "purge_aliases": True},
            {"name": name, "state": "absent"}]


def _key(world: World) -> list[Options]:
    name = f"k{world.tag}"
    return [{"name": name}, {"name": name, "allow_create_bucket": True}, {"name": name, "state": "absent"},
            {"name": name, "id": f"imported-{world.tag}", "secret_access_key": SECRET}]


def _grant(world: World) -> list[Options]:
    to = {"bucket": world.bucket, "key": world.key}
    return [{**to, "read": True}, {**to, "read": False, "write": True}, {**to, "state": "absent"}]


def _tenancy(world: World) -> list[Options]:
    bucket, key, imported = f"tb{world.tag}", f"tk{world.tag}", f"imported-t{world.tag}"
    return [{"keys": [{"name": key}, {"name": imported, "id": imported, "secret_access_key": SECRET}],
             "buckets": [{"name": bucket, "aliases": [f"{bucket}-too"], "grants": [{"key": key, "read": True}]}]},
            {"keys": [{"name": key, "allow_create_bucket": True}],
             "buckets": [{"name": bucket, "quotas": {"max_size": "1GB"}, "grants": [{"key": key, "read": False, "write": True}]}]},
            {"buckets": [{"name": bucket, "aliases": [], "purge_aliases": True}]},
            {"keys": [{"name": key, "state": "absent"}], "buckets": [{"name": bucket, "state": "absent"}]},
            {"buckets": [], "owner": {"prefix": bucket}, "purge_buckets": True}, {"keys": [], "owner": {"prefix": key}, "purge_keys": True}]


def _admin_token(world: World) -> list[Options]:
    token = {"name": f"t{world.tag}", "scope": ["GetClusterHealth"], "store": {"path": str(world.folder / f"token-{world.tag}")}}
    return [token, {**token, "scope": ["GetClusterStatus"]}, {**token, "state": "absent"}]


def _layout(world: World) -> list[Options]:
    role = {"node": world.node, "zone": "paris", "capacity": "2GB"}
    return [{"roles": [{**role, "tags": [f"t{world.tag}"]}]}, {"roles": [{**role, "tags": [f"u{world.tag}"]}], "apply": False},
            {"roles": [{**role, "tags": [f"v{world.tag}"]}], "foreign_staged": "discard"}]


def _named(name: str) -> Callable[[World], list[Options]]:
    return lambda world: [{}, {"name": getattr(world, name)}]


SCENARIOS: dict[str, Callable[[World], list[Options]]] = {
    "admin_token": _admin_token,
    "admin_token_info": lambda world: [{}, {"name": "no such token"}],
    "block_action": lambda world: [{"action": "retry", "all": True}, {"action": "purge", "blocks": ["00" * 32], "confirm": True}],
    "block_info": lambda world: [{}, {"block": world.block}],
    "bucket": _bucket,
    "bucket_info": _named("bucket"),
    "bucket_uploads": lambda world: [{"name": world.bucket, "older_than": "0s"}],
    "cluster_connect": lambda world: [{"nodes": [world.peer]}],
    "cluster_info": lambda world: [{}],
    "drain": lambda world: [{"nodes": ["00" * 32], "wait_sleep": 0.2}],
    "grant": _grant,
    "key": _key,
    "key_info": _named("key"),
    "layout": _layout,
    "layout_info": lambda world: [{}],
    "layout_recovery": lambda world: [{"action": "revert"}],
    "metadata_snapshot": lambda world: [{}],
    "node_info": lambda world: [{"statistics": True}],
    "object_info": lambda world: [{"bucket": world.bucket, "key": "object"}],
    "repair": lambda world: [{"operation": "aliases"}],
    "tenancy": _tenancy,
    "tenancy_info": lambda world: [{}],
    "worker_info": lambda world: [{}, {"worker_id": 1}],
    "worker_setting": lambda world: [{"resync_tranquility": 1 + int(world.tag, 16) % 7}],
}
