# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""A long walk of random calls on both at once: each answer of the fake must be the real server's, ids and times apart.

The other tests say what is known to matter; this one looks for what nobody thought of.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

from tests.contract.server import Answer, InMemory, OverHttp, Version

STEPS = 120
NAMES = ("walk-a", "walk-b", "walk-c", "walk-d", "walk-e", "walk-f", "Walk_G")
TIME = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


class Walker:
    """Makes the same call on both, in the ids of each; a thing is named by the number of the call that made it."""

    def __init__(self, fake: InMemory, real: OverHttp) -> None:
        self.servers = (fake, real)
        self.buckets: list[tuple[str, str]] = [("0" * 64, "0" * 64)]
        self.keys: list[tuple[str, str]] = [("GKnone", "GKnone")]
        self.names: tuple[dict[str, str], dict[str, str]] = ({}, {})

    def call(self, endpoint: str, query: dict | None = None, body: Any = None) -> str | None:
        """Call both; says what differs."""
        answers = [server.call(endpoint, self._pick(query, side), self._pick(body, side)) for side, server in enumerate(self.servers)]
        if answers[0].status == answers[1].status == 200:
            self._learn(endpoint, *(answer.data for answer in answers))
        shown = [self._show(answer, side) for side, answer in enumerate(answers)]
        return None if shown[0] == shown[1] else f"{endpoint} {query} {body}\n  fake: {shown[0]}\n  real: {shown[1]}"

    def aliases(self, bucket: tuple[str, str]) -> list[dict]:
        """The live aliases of a bucket, as bodies name them."""
        row = self.servers[0].garage.state.buckets.get(bucket[0])
        keys = {pair[0]: pair for pair in self.keys}
        return [] if row is None else [{"globalAlias": alias} for alias in sorted(row.aliases)] + [
            {"localAlias": alias, "accessKeyId": keys[owner]} for owner, alias in sorted(row.local_aliases)]

    def _pick(self, value: Any, side: int) -> Any:
        if isinstance(value, tuple):
            return value[side]
        if isinstance(value, dict):
            return {name: self._pick(item, side) for name, item in value.items()}
        return value

    def _learn(self, endpoint: str, fake: Any, real: Any) -> None:
        if endpoint in ("CreateBucket", "CreateKey"):
            field, things = ("id", self.buckets) if endpoint == "CreateBucket" else ("accessKeyId", self.keys)
            things.append((fake[field], real[field]))
            for side, made in enumerate((fake, real)):
                self.names[side][made[field]] = f"{field} {len(things)}"
                if "secretAccessKey" in made:
                    self.names[side][made["secretAccessKey"]] = f"secret {len(things)}"

    def _show(self, answer: Answer, side: int) -> tuple[int, Any]:
        return (answer.status, self._neutral(answer.data, side)) if answer.status == 200 else (answer.status, self._neutral(answer.refusal, side))

    def _neutral(self, value: Any, side: int) -> Any:
        if isinstance(value, dict):
            return {name: self._neutral(item, side) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            # Lists that name things come in an order of the server's own.
            return sorted((self._neutral(item, side) for item in value), key=repr)
        if isinstance(value, str):
            for thing, name in self.names[side].items():
                value = value.replace(thing, name).replace(thing[:16], name)
            return TIME.sub("a time", value)
        return value


def steps(choose: random.Random, walker: Walker) -> list[Callable[[], str | None]]:
    """What may happen next. The latest things are the likeliest, so that calls meet what other calls have made."""

    def one(things: Any) -> Any:
        return choose.choice(things[-4:])

    def flags() -> dict:
        return {name: choose.choice((True, False)) for name in choose.sample(("read", "write", "owner"), 2)}

    def alias() -> dict:
        local = {"localAlias": choose.choice(NAMES), "accessKeyId": one(walker.keys)}
        return choose.choice(({"globalAlias": choose.choice(NAMES)}, local))

    def tied() -> dict:
        """A bucket with one of its aliases, when there is any: guessed pairs hardly ever belong together."""
        pairs = [{"bucketId": bucket, **name} for bucket in walker.buckets for name in walker.aliases(bucket)]
        return choose.choice(pairs) if pairs else {"bucketId": one(walker.buckets), **alias()}

    def grant() -> dict:
        return {"bucketId": one(walker.buckets), "accessKeyId": one(walker.keys), "permissions": flags()}

    def settings() -> dict:
        every = {
            "quotas": choose.choice((None, {}, {"maxSize": choose.randrange(3)}, {"maxObjects": choose.randrange(3)})),
            "websiteAccess": choose.choice(({"enabled": False}, {"enabled": True}, {"enabled": True, "indexDocument": "i"},
                                            {"enabled": True, "indexDocument": "i", "errorDocument": "e", "routingRules": [{"Redirect": {}}]})),
            "corsRules": choose.choice(([], None, [{"AllowedOrigin": ["*"], "AllowedMethod": ["GET"]}], [{}])),
            "lifecycleRules": choose.choice(([], [{"Status": "Enabled", "Filter": {"And": {"Prefix": "a"}}}], [{"Status": "on"}])),
        }
        return {name: every[name] for name in choose.sample(sorted(every), 2)}

    def create() -> dict:
        local = {"alias": choose.choice(NAMES), "accessKeyId": one(walker.keys), "allow": flags()}
        return choose.choice(({}, {"globalAlias": choose.choice(NAMES)}, {"localAlias": local}))

    key_changes = ({"name": choose.choice(NAMES)}, {"neverExpires": True}, {"expiration": "2040-01-01T00:00:00Z"}, {"allow": {"createBucket": True}},
                   {"deny": {"createBucket": True}}, {"expiration": "2001-01-01T00:00:00Z", "neverExpires": True})
    return [
        *[lambda: walker.call("CreateBucket", None, create())] * 3,
        *[lambda: walker.call("CreateKey", None, choose.choice(key_changes))] * 2,
        lambda: walker.call("UpdateKey", {"id": one(walker.keys)}, choose.choice(key_changes)),
        lambda: walker.call("GetKeyInfo", {"id": one(walker.keys)}),
        lambda: walker.call("DeleteKey", {"id": one(walker.keys)}),
        lambda: walker.call("GetBucketInfo", {"id": one(walker.buckets)}),
        lambda: walker.call("GetBucketInfo", {choose.choice(("globalAlias", "search")): choose.choice(NAMES)}),
        lambda: walker.call("UpdateBucket", {"id": one(walker.buckets)}, settings()),
        lambda: walker.call("DeleteBucket", {"id": one(walker.buckets)}),
        *[lambda: walker.call("AddBucketAlias", None, {"bucketId": one(walker.buckets), **alias()})] * 3,
        *[lambda: walker.call("RemoveBucketAlias", None, tied())] * 3,
        lambda: walker.call("RemoveBucketAlias", None, {"bucketId": one(walker.buckets), **alias()}),
        *[lambda: walker.call("AllowBucketKey", None, grant())] * 2,
        lambda: walker.call("DenyBucketKey", None, grant()),
    ]


def test_a_long_walk_shows_no_difference(real_node: OverHttp, version: Version, description: dict) -> None:
    choose = random.Random(1)
    walker = Walker(InMemory(version, description), real_node)
    differences = []
    for dummy in range(STEPS):
        differences.append(choose.choice(steps(choose, walker))())
    for bucket in walker.buckets:
        differences.append(walker.call("GetBucketInfo", {"id": bucket}))
    for key in walker.keys:
        differences.append(walker.call("GetKeyInfo", {"id": key}))
    assert [difference for difference in differences if difference] == []
    assert len(walker.buckets) > 5
    assert len(walker.keys) > 5
