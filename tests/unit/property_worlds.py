# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Live states for property tests: a fake Garage in which other people have done this and that.

A state is a list of moves, so that the same one can be built again, and a failing test can be made small. Names are few, so that things meet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.fakes.garage import GIB, FakeGarage
from tests.fakes.garage.partitions import Role

BUCKETS = ("media", "logs", "www.example.org", "backup")
KEYS = ("app", "ci", "backup tool")
TOKENS = ("ci", "metrics", "backup tool")
SCOPES = ([], ["Metrics"], ["ListBuckets", "ListKeys"], ["*"])
IMPORTED = tuple(f"GK{number:024x}" for number in range(3))
SECRETS = tuple(f"{number:02x}" * 32 for number in range(201, 204))
DATES = ("2001-01-01T00:00:00Z", "2040-06-01T12:00:00.5Z")
VERSIONS = ("2.5.0", "2.4.1", "2.3.0", "2.0.0")


@dataclass(frozen=True)
class Which:
    """The id of one of the live buckets, keys, admin tokens or nodes, whichever there are: a number counted round."""

    kind: str
    number: int

    def id(self, garage: FakeGarage) -> str:
        rows = getattr(garage.state, self.kind)
        ids = [row.id for row in (rows if isinstance(rows, list) else rows.values()) if not getattr(row, "deleted", False)]
        return ids[self.number % len(ids)] if ids else {"buckets": "0" * 64, "keys": "GKnobodyhasthis", "tokens": "0" * 24}[self.kind]


BUCKET = st.builds(Which, st.just("buckets"), st.integers(0, 3))
KEY = st.builds(Which, st.just("keys"), st.integers(0, 3))
TOKEN = st.builds(Which, st.just("tokens"), st.integers(0, 3))
NODES = 4
ZONES = ("dc1", "dc2")
TAGS = ((), ("a",), ("a", "b"), ("b", "a"))
FLAGS = st.fixed_dictionaries({}, optional=dict.fromkeys(("read", "write", "owner"), st.booleans()))

_WEBSITE = st.one_of(
    st.just({"enabled": False}),
    st.fixed_dictionaries({"enabled": st.just(True), "indexDocument": st.sampled_from(("index.html", "i"))},
                          optional={"errorDocument": st.sampled_from(("e.html", "")),
                                    "routingRules": st.sampled_from(([], [{"Redirect": {"HostName": "h"}}],
                                                                     [{"Condition": {"KeyPrefixEquals": "a/"}, "Redirect": {}}]))}))
_SETTINGS = st.fixed_dictionaries({}, optional={
    "quotas": st.fixed_dictionaries({}, optional={"maxSize": st.sampled_from((0, 2**30, 40 * 10**9)), "maxObjects": st.sampled_from((0, 5))}),
    "websiteAccess": _WEBSITE,
    "corsRules": st.sampled_from(([], [{"AllowedOrigin": ["b", "a"], "AllowedMethod": ["PUT", "GET"]}],
                                  [{"ID": "c", "AllowedOrigin": ["*"], "AllowedMethod": ["FLY"], "MaxAgeSeconds": 0}])),
    "lifecycleRules": st.sampled_from(([], [{"Status": "Enabled"}], [{"ID": "z", "Status": "Enabled", "Expiration": {"Days": 30}},
                                                                     {"ID": "a", "Status": "Disabled", "Filter": {"And": {"Prefix": "p"}},
                                                                      "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7}}])),
})
_MOVE = st.one_of(
    st.tuples(st.just("CreateBucket"), st.none(), st.fixed_dictionaries({}, optional={"globalAlias": st.sampled_from(BUCKETS)})),
    st.tuples(st.just("CreateKey"), st.none(), st.fixed_dictionaries({"name": st.sampled_from(KEYS)}, optional={
        "expiration": st.sampled_from(DATES), "allow": st.fixed_dictionaries({"createBucket": st.booleans()})})),
    st.tuples(st.just("ImportKey"), st.none(), st.fixed_dictionaries({
        "accessKeyId": st.sampled_from(IMPORTED), "secretAccessKey": st.sampled_from(SECRETS), "name": st.sampled_from(KEYS)})),
    st.tuples(st.just("UpdateBucket"), st.fixed_dictionaries({"id": BUCKET}), _SETTINGS),
    st.tuples(st.just("AddBucketAlias"), st.none(), st.fixed_dictionaries({"bucketId": BUCKET, "globalAlias": st.sampled_from(BUCKETS)})),
    st.tuples(st.just("AddBucketAlias"), st.none(), st.fixed_dictionaries({
        "bucketId": BUCKET, "localAlias": st.sampled_from(BUCKETS), "accessKeyId": KEY})),
    st.tuples(st.just("AllowBucketKey"), st.none(), st.fixed_dictionaries({"bucketId": BUCKET, "accessKeyId": KEY, "permissions": FLAGS})),
    st.tuples(st.just("RemoveBucketAlias"), st.none(), st.fixed_dictionaries({"bucketId": BUCKET, "globalAlias": st.sampled_from(BUCKETS)})),
    st.tuples(st.just("DeleteKey"), st.fixed_dictionaries({"id": KEY}), st.none()),
    st.tuples(st.just("CreateAdminToken"), st.none(), st.fixed_dictionaries({"name": st.sampled_from(TOKENS), "scope": st.sampled_from(SCOPES)},
                                                                            optional={"expiration": st.sampled_from(DATES)})),
    st.tuples(st.just("object"), BUCKET, st.none()),
)


@dataclass(frozen=True)
class World:
    """A version of Garage and what was done to it. Moves that the server refuses are part of life."""

    version: str
    moves: tuple[tuple, ...]

    def build(self) -> FakeGarage:
        garage = FakeGarage(version=self.version)
        for name, query, body in self.moves:
            if name == "object":
                if garage.state.buckets:
                    garage.put_object(query.id(garage), "object")
            else:
                garage.handle("POST", f"/v2/{name}", in_ids_of(garage, query), in_ids_of(garage, body))
        garage.clock.advance(3600)
        return garage


# Most worlds begin with something in them.
_SOMETHING = (("CreateBucket", None, {"globalAlias": "media"}), ("CreateKey", None, {"name": "app"}),
              ("CreateBucket", None, {"globalAlias": "backup"}), ("CreateKey", None, {"name": "backup tool"}),
              ("CreateAdminToken", None, {"name": "ci", "scope": ["ListBuckets"]}))


def worlds(versions: tuple[str, ...] = ("2.5.0",)) -> st.SearchStrategy[World]:
    moves = st.tuples(st.integers(0, len(_SOMETHING)), st.lists(_MOVE, max_size=12)).map(lambda drawn: (*_SOMETHING[:drawn[0]], *drawn[1]))
    return st.builds(World, st.sampled_from(versions), moves)


@dataclass(frozen=True)
class Nodes:
    """Four nodes, of which the first so many have a role, and what somebody has staged: a role or a removal by the node's number."""

    factor: int
    roles: int
    staged: tuple[tuple[int, Role | None], ...]
    staged_redundancy: int | str

    def build(self) -> FakeGarage:
        garage = FakeGarage(layout=False, replication_factor=self.factor)
        ids = [garage.node_id, *(garage.add_node() for dummy in range(NODES - 1))]
        layout = garage.state.layout
        if self.roles >= self.factor:
            layout.staged.update({node: Role(ZONES[number % 2], GIB, ()) for number, node in enumerate(ids[:self.roles])})
            layout.apply()
            garage.state.settle()
        layout.staged.update({ids[number]: role for number, role in self.staged})
        layout.staged_redundancy = self.staged_redundancy
        return garage


_ROLE = st.one_of(st.none(), st.builds(Role, st.sampled_from(ZONES), st.sampled_from((None, GIB, 2 * GIB)), st.sampled_from(TAGS)))
NODE_WORLDS = st.builds(Nodes, st.sampled_from((1, 2)), st.integers(0, NODES),
                        st.one_of(st.just(()), st.lists(st.tuples(st.integers(0, NODES - 1), _ROLE), max_size=2).map(tuple)),
                        st.sampled_from(("maximum", "maximum", 1)))


def in_ids_of(garage: FakeGarage, value: Any) -> Any:
    """``value`` with each Which replaced by the id it stands for."""
    if isinstance(value, Which):
        return value.id(garage)
    if isinstance(value, Mapping):
        return {name: in_ids_of(garage, item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [in_ids_of(garage, item) for item in value]
    return value


def secrets_of(garage: FakeGarage) -> set[str]:
    return {row.secret for rows in (garage.state.keys, garage.state.tokens) for row in rows.values()}


def visible(garage: FakeGarage) -> dict:
    """All that anybody could see of it, but for the times."""

    def get(name: str, **query: str) -> Any:
        status, data = garage.handle("GET", f"/v2/{name}", query)
        assert status == 200, data
        return data

    ready = garage.state.layout.current.version > 0
    buckets = [get("GetBucketInfo", id=row["id"]) for row in get("ListBuckets")] if ready else []
    keys = [get("GetKeyInfo", id=row["id"], showSecretKey="true") for row in get("ListKeys")] if ready else []
    for row in buckets:
        row["keys"].sort(key=lambda key: key["accessKeyId"])
    for row in keys:
        row["buckets"].sort(key=lambda bucket: bucket["id"])
    tokens = get("ListAdminTokens") if ready else []
    return {"buckets": _timeless(buckets), "keys": _timeless(keys), "tokens": _timeless(tokens), "layout": get("GetClusterLayout")}


def _timeless(rows: list[dict]) -> list[dict]:
    return [{name: value for name, value in row.items() if name != "created"} for row in rows]
