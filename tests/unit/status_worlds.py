# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the role `status` has seen of sites, as it leaves it at their hosts: for the tests of the summary and of the page."""

from __future__ import annotations

import copy
from typing import Any

NOW = "2026-06-01T12:00:00Z"
TB = 10**12
PARIS_1, PARIS_2, LYON_1, LYON_2, NICE_1 = ("1a" * 32, "2b" * 32, "3c" * 32, "4d" * 32, "5e" * 32)
PLACES = {PARIS_1: ("paris-1", "paris"), PARIS_2: ("paris-2", "paris"), LYON_1: ("lyon-1", "lyon"), LYON_2: ("lyon-2", "lyon"),
          NICE_1: ("nice-1", "nice")}


def node(id: str, **more: Any) -> dict[str, Any]:
    """An entry of `cluster.nodes` of `cluster_info`."""
    hostname, zone = PLACES.get(id, (None, None))
    return {"id": id, "hostname": hostname, "addr": "10.0.0.1:3901", "garage_version": "2.5.0", "up": True, "last_seen_seconds": None,
            "draining": False,
            "has_role": zone is not None, "zone": zone, "capacity": 2 * TB if zone else None, "tags": [], "gateway": False, "self": False,
            "data_partition": {"available": 1500 * 10**9, "total": 3 * TB} if zone else None,
            "metadata_partition": None, "resync_queue_length": 0, **more}


def down(id: str, seconds: int | None = 7300) -> dict[str, Any]:
    return node(id, up=False, last_seen_seconds=seconds, data_partition=None, garage_version=None)


def cluster(nodes: list[dict], **more: Any) -> dict[str, Any]:
    """A result of `cluster_info`."""
    all_up = all(one["up"] for one in nodes)
    health = {"status": "healthy" if all_up else "degraded", "partitions": 256, "partitions_quorum": 256, "partitions_all_ok": 256 if all_up else 100}
    return {"changed": False, "cluster": {"reachable": True, "message": None, "garage_version": "2.5.0", "layout_version": 4, "health": health,
                                          "nodes": nodes, **more}}


def unreachable(message: str = "GetClusterStatus at http://10.0.0.9:3903: Connection refused") -> dict[str, Any]:
    return {"changed": False, "cluster": {"reachable": False, "message": message, "garage_version": None, "layout_version": None,
                                          "health": None, "nodes": []}}


def layout(nodes: list[dict], **more: Any) -> dict[str, Any]:
    """A result of `layout_info`."""
    roles = [{"id": one["id"], "zone": one["zone"], "capacity": one["capacity"], "gateway": one["gateway"], "tags": [], "stored_partitions": 256,
              "usable_capacity": one["capacity"]} for one in nodes if one["has_role"]]
    return {"changed": False, "layout": {
        "version": 4, "roles": roles, "zone_redundancy": "maximum", "staged": {"roles": [], "zone_redundancy": None}, "partition_size": TB // 256,
        "history": {"current_version": 4, "settled": True, "versions": [{"version": 4, "status": "current"}], "lagging": {}},
        "nodes_without_role": [one["id"] for one in nodes if not one["has_role"]], "awaiting": None, **more}}


def bucket(name: str, size: int = 0, objects: int = 0, max_size: int | None = None, max_objects: int | None = None) -> dict[str, Any]:
    return {"id": (name.encode().hex() * 64)[:64], "aliases": [name], "local_aliases": [],
            "quotas": {"max_size": max_size, "max_objects": max_objects}, "bytes": size, "objects": objects}


def key(name: str, expiration: str | None = None, **more: Any) -> dict[str, Any]:
    return {"id": "GK" + (name.encode().hex() * 24)[:24], "name": name, "expiration": expiration, "expired": False, "secret_access_key": None, **more}


def refused(message: str, kind: str = "denied") -> dict[str, Any]:
    """A result of a module that was not answered as it asked."""
    return {"changed": False, "msg": message, "error": {"kind": kind, "status": 403, "code": None, "endpoint": None}}


def seen(name: str, nodes: list[dict], site_role: str | None = None, remotes: tuple[str, ...] = (), **answers: Any) -> dict[str, Any]:
    """A site that answers everything, unless `answers` says otherwise."""
    return {"name": name, "zone": name, "site_role": site_role, "remotes": list(remotes), "declares_layout": site_role is not None, "answers": {
        "cluster": cluster(nodes), "layout": layout(nodes), "buckets": {"buckets": []}, "keys": {"access_keys": []}, "tokens": {"admin_tokens": []},
        "blocks": {"nodes": [{"id": one["id"], "block_errors": [], "block": None} for one in nodes if one["up"]]},
        "plan_layout": {"changed": False, "actions": [], "pending": False, "awaiting": None} if site_role else {"changed": False, "skipped": True},
        "plan_tenancy": {"changed": False, "actions": []}, **answers}}


def lost(name: str, site_role: str | None = None, remotes: tuple[str, ...] = ()) -> dict[str, Any]:
    """A site that does not answer."""
    skipped = {part: {"changed": False, "skipped": True} for part in ("layout", "buckets", "keys", "tokens", "blocks", "plan_layout", "plan_tenancy")}
    return seen(name, [], site_role, remotes, **{"cluster": unreachable(), **skipped})


def calm() -> list[dict[str, Any]]:
    """Two sites of one cluster, with nothing to see to."""
    nodes = [node(PARIS_1), node(PARIS_2), node(LYON_1)]
    return [seen("paris", nodes, "writer", ("lyon",)), seen("lyon", copy.deepcopy(nodes), "follower", ("paris",))]


def busy() -> list[dict[str, Any]]:
    """Two sites and a third that is lost, a node that is down, one that only paris sees, and something to tell in every part."""
    gateway = node(LYON_2, capacity=None, gateway=True, data_partition=None)
    mine = [node(PARIS_1), node(PARIS_2, draining=True), down(LYON_1), gateway, node("6f" * 32)]
    theirs = [node(PARIS_1), down(PARIS_2, 90000), down(LYON_1, None), gateway]
    staged = {"roles": [{"id": NICE_1, "zone": "nice", "capacity": TB, "gateway": False, "tags": [], "remove": False},
                        {"id": PARIS_2, "zone": None, "capacity": None, "gateway": None, "tags": None, "remove": True}], "zone_redundancy": 2}
    history = {"current_version": 4, "settled": False, "versions": [{"version": 4, "status": "current"}, {"version": 3, "status": "draining"}],
               "lagging": {LYON_1: {"ack": 3}}}
    awaiting = {"reason": "nodes_without_role", "nodes": ["6f" * 32], "operations": ["UpdateClusterLayout"], "lines": []}
    errors = [{"block_hash": "9d" * 32, "refcount": 1, "error_count": count, "last_try_secs_ago": 60, "next_try_in_secs": 300} for count in (3, 7)]
    return [
        seen("paris", mine, "writer", ("lyon", "nice"), layout=layout(mine, staged=staged, history=history),
             buckets={"buckets": [bucket("media", 95 * 10**9, 1200, 100 * 10**9), bucket("logs", 10**9, 1000, None, 1000),
                                  bucket("small", 10, 1, 10**9), bucket("free", 5 * 10**9, 77)]},
             keys={"access_keys": [key("app", "2026-06-20T00:00:00Z"), key("old", "2026-05-01T00:00:00Z"),
                                   key("later", "2027-01-01T00:00:00Z"), key("ever")]},
             tokens={"admin_tokens": [{"id": None, "name": "admin_token (from daemon configuration)", "expiration": None, "expired": False,
                                       "scope": ["*"]},
                                      {"id": "ab" * 12, "name": "ci", "expiration": "2026-06-02T00:00:00Z", "expired": False, "scope": ["*"]}]},
             blocks={"nodes": [{"id": PARIS_1, "block_errors": errors, "block": None}, {"id": PARIS_2, "block_errors": [], "block": None}]},
             plan_tenancy={"actions": ["create bucket photos", "set quotas of bucket media"]}),
        seen("lyon", theirs, "follower", ("paris",), tokens=refused("ListAdminTokens at http://10.0.0.2:3903: HTTP 403 AccessDenied"),
             plan_layout={"actions": [], "pending": True, "awaiting": awaiting}),
        lost("nice", "follower", ("paris",)),
    ]
