# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a Garage cluster remembers: the tables, the nodes, the clock."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, TypeVar

from tests.fakes.garage.errors import bad_request, internal, no_such_bucket, no_such_key

if TYPE_CHECKING:
    from tests.fakes.garage.layout import LayoutState

Item = TypeVar("Item")
_VARIABLES = {"resync-worker-count": "1", "resync-tranquility": "2", "scrub-tranquility": "4", "scrub-corruptions_detected": "0",
              "scrub-last-completed": "never", "scrub-next-run": "2026-02-01T00:00:00Z", "lifecycle-last-completed": "2026-01-01"}
# A few of the some fifty that a real node has.
_WORKERS = ("Block resync worker #1", "Block scrub worker", "object sync", "key sync")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Clock:
    """A clock that only moves when it is told to."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=timezone.utc)) -> None:
        self.now = start

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    @property
    def milliseconds(self) -> int:
        return (self.now - _EPOCH) // timedelta(milliseconds=1)


def show_time(milliseconds: int | None) -> str | None:
    """As the server prints it: UTC, with three digits of a second only when they are not zero."""
    if milliseconds is None:
        return None
    stamp = (_EPOCH + timedelta(milliseconds=milliseconds)).strftime("%Y-%m-%dT%H:%M:%S")
    rest = milliseconds % 1000
    return f"{stamp}.{rest:03d}Z" if rest else stamp + "Z"


@dataclass
class BucketRow:
    """``grants`` maps key ids to flags, also of keys whose flags are all false again; ``named_by`` are the keys that ever had a local alias.
    ``cors`` and ``lifecycle`` are None when unset."""

    id: str
    created: int
    aliases: set[str] = field(default_factory=set)
    local_aliases: set[tuple[str, str]] = field(default_factory=set)
    named_by: set[str] = field(default_factory=set)
    grants: dict[str, dict[str, bool]] = field(default_factory=dict)
    website: dict | None = None
    quotas: dict = field(default_factory=lambda: {"maxSize": None, "maxObjects": None})
    cors: list[dict] | None = None
    lifecycle: list[dict] | None = None
    objects: dict[str, int] = field(default_factory=dict)
    uploads: dict[str, int] = field(default_factory=dict)


@dataclass
class KeyRow:
    """A key; a deleted one stays for ever. ``local_aliases`` keeps removed names with None."""

    id: str
    secret: str
    name: str
    created: int
    expiration: int | None = None
    create_bucket: bool = False
    local_aliases: dict[str, str | None] = field(default_factory=dict)
    deleted: bool = False


@dataclass
class TokenRow:
    """An admin token from the database; ``secret`` is the whole of it, prefix included."""

    id: str
    secret: str
    name: str
    created: int
    expiration: int | None = None
    scope: list[str] = field(default_factory=lambda: ["*"])


@dataclass
class NodeRow:
    """A node that this one has met, or could meet (``known`` false) when told its address.

    ``workers`` are told by their number, from 1 on. ``snapshots``, ``repairs`` and ``retried`` say what was done so far.
    """

    id: str
    hostname: str
    addr: str
    up: bool = True
    known: bool = True
    version: str = "2.5.0"
    disk: tuple[int, int] = (50 * 2**30, 100 * 2**30)
    variables: dict[str, str] = field(default_factory=lambda: dict(_VARIABLES))
    workers: list[str] = field(default_factory=lambda: list(_WORKERS))
    seen_workers: int = 0
    snapshots: int = 0
    repairs: list[str] = field(default_factory=list)
    errored_blocks: set[str] = field(default_factory=set)
    retried: list[str] = field(default_factory=list)


@dataclass
class State:
    """Everything. ``version`` is the Garage version that is played; ids are the same for the same ``seed`` and the same requests."""

    version: tuple[int, int, int]
    clock: Clock
    layout: LayoutState
    admin_token: str | None
    metrics_token: str | None = None
    region: str = "garage"
    seed: int = 0
    nodes: list[NodeRow] = field(default_factory=list)
    buckets: dict[str, BucketRow] = field(default_factory=dict)
    keys: dict[str, KeyRow] = field(default_factory=dict)
    tokens: dict[str, TokenRow] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._made = 0
        self._random = random.Random(self.seed)

    def since(self, *version: int) -> bool:
        """Whether the played version is at least this one."""
        return self.version >= version

    def make_hex(self, digits: int) -> str:
        """The next id or secret."""
        self._made += 1
        return hashlib.sha256(f"{self.seed}:{self._made}".encode()).hexdigest()[:digits]

    def shuffled(self, items: list[Item]) -> list[Item]:
        """Another order at each call, as where the server walks a hash map."""
        return self._random.sample(items, len(items))

    def known_nodes(self) -> list[NodeRow]:
        return [node for node in self.nodes if node.known]

    def up_ids(self) -> list[str]:
        return [node.id for node in self.known_nodes() if node.up]

    def settle(self) -> None:
        """Let the nodes that are up do what they do after a change of the layout."""
        self.layout.settle(self.up_ids())

    def tables(self) -> None:
        """The tables can only be used once there is a layout."""
        if self.layout.current.version == 0:
            raise internal("Layout not ready")

    def expired(self, expiration: int | None) -> bool:
        # A date before 1970 wraps to a huge unsigned number, so it never comes (2.5.0).
        return expiration is not None and self.clock.milliseconds >= expiration % 2**64

    def bucket(self, bucket_id: str) -> BucketRow:
        """A bucket by its id, any case. Raises 400 and 404 as the server does."""
        wanted = parse_id(bucket_id, "Invalid bucket id")
        self.tables()
        if wanted not in self.buckets:
            raise no_such_bucket(wanted)
        return self.buckets[wanted]

    def bucket_of_alias(self, alias: str) -> BucketRow | None:
        self.tables()
        return next((bucket for bucket in self.buckets.values() if alias in bucket.aliases), None)

    def key(self, key_id: str) -> KeyRow:
        """A key that was not deleted. Raises 404."""
        self.tables()
        row = self.keys.get(key_id)
        if row is None or row.deleted:
            raise no_such_key(key_id)
        return row

    def live_keys(self) -> list[KeyRow]:
        self.tables()
        return sorted((key for key in self.keys.values() if not key.deleted), key=lambda key: key.id)


def parse_id(value: str, complaint: str) -> str:
    """64 hexadecimal digits, lower-cased."""
    for position, char in enumerate(value):
        if len(value) % 2:
            raise bad_request(f"{complaint}: Odd number of digits")
        if char not in "0123456789abcdefABCDEF":
            raise bad_request(f"{complaint}: Invalid character {char!r} at position {position}")
    if len(value) != 64:
        raise bad_request(complaint)
    return value.lower()


def page(rows: list[Item], ids: list[Any], offset: Any, limit: int) -> list[Item]:
    """The rows from the first id that is not below ``offset``; ``rows`` and ``ids`` are sorted."""
    return [row for row, row_id in zip(rows, ids, strict=True) if offset is None or row_id >= offset][:limit]
