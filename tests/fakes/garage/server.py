# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""A model of Garage's Admin API in memory, held to the real server by tests/contract.

It answers as one node of a Garage of a given version would: the same status, codes, words, and surprises. What a faster or luckier server
would do differently each time (ids, times, the order of keys) comes out of a seed and a clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.fakes.garage import buckets, keys, layout_calls, nodes, operations, ties, tokens
from tests.fakes.garage.bodies import Query
from tests.fakes.garage.errors import Refusal, bad_request
from tests.fakes.garage.layout import LayoutState
from tests.fakes.garage.partitions import Role
from tests.fakes.garage.row import Row
from tests.fakes.garage.state import BucketRow, Clock, NodeRow, State

ADMIN_TOKEN = "fake-admin-token"
GIB = 2**30
# What the fake does not play though a real server of the version would; asking for it is a mistake of the test.
NOT_PLAYED = frozenset({"InspectObject"})

_ROWS = {row.name: row for module in (buckets, keys, layout_calls, nodes, operations, ties, tokens)
         for row in module.ROWS}
_HEALTH = {
    "healthy": "Garage is fully operational",
    "degraded": "Garage is operational but some storage nodes are unavailable",
    "unavailable": "Quorum is not available for some/all partitions, reads and writes will fail",
}
_V1_GONE = {("GET", "/v1/status"): "GetClusterStatus", ("POST", "/v1/layout"): "UpdateClusterLayout", ("DELETE", "/v1/key"): "DeleteKey",
            ("DELETE", "/v1/bucket"): "DeleteBucket"}


class FakeGarage:
    """One node's Admin API.

    ``layout=False`` is a node that was just started; otherwise it has the only role, in zone dc1 with 1 GiB. ``state`` may be looked at and
    changed by tests.
    """

    def __init__(self, version: str = "2.5.0", layout: bool = True, replication_factor: int = 1, admin_token: str | None = ADMIN_TOKEN,
                 metrics_token: str | None = None, clock: Clock | None = None, seed: int = 0) -> None:
        major, minor, patch = (int(part) for part in version.split("."))
        self.version = version
        self.clock = clock or Clock()
        self.state = State(version=(major, minor, patch), clock=self.clock, layout=LayoutState(replication_factor), admin_token=admin_token,
                           metrics_token=metrics_token, seed=seed)
        self.add_node()
        if layout:
            self.give_layout()

    @property
    def node_id(self) -> str:
        """The id of the node that answers."""
        return self.state.nodes[0].id

    def handle(self, method: str, path: str, query: Mapping[str, Any] | Iterable[tuple[str, Any]] | str | None = None, body: Any = None,
               authorization: str | None = f"Bearer {ADMIN_TOKEN}") -> tuple[int, Any]:
        """The status and the decoded answer of one request; a str is text that is not JSON.

        ``body`` is a JSON value, or bytes as they came over the wire; None is no body.
        """
        self.clock.advance(0.001)
        try:
            return self._answer(method, path, query, body, authorization)
        except Refusal as refusal:
            return refusal.status, {"code": refusal.code, "message": refusal.message, "region": self.state.region, "path": path}

    def add_node(self, hostname: str | None = None, known: bool = True, up: bool = True) -> str:
        """Another node, and its id; one that is not ``known`` waits for ConnectClusterNodes."""
        number = len(self.state.nodes)
        node = NodeRow(id=self.state.make_hex(64), hostname=hostname or f"node{number}", addr=f"127.0.0.1:{3901 + 10 * number}", up=up, known=known,
                       version=self.version)
        self.state.nodes.append(node)
        return node.id

    def give_layout(self, zone: str = "dc1", capacity: int = GIB) -> None:
        """A layout in which each known node has a storage role."""
        self.state.layout.staged.update({node.id: Role(zone, capacity, ()) for node in self.state.known_nodes()})
        self.state.layout.apply()
        self.state.settle()

    def put_object(self, bucket_id: str, key: str, size: int = 1) -> None:
        """An object, as an S3 client would have written it."""
        self.state.buckets[bucket_id].objects[key] = size

    def begin_upload(self, bucket_id: str, key: str) -> None:
        """A multipart upload that was begun now and not finished."""
        self.state.buckets[bucket_id].uploads[key] = self.clock.milliseconds

    def bucket(self, alias: str) -> BucketRow | None:
        """The bucket with this global alias."""
        return self.state.bucket_of_alias(alias)

    def _answer(self, method: str, path: str, query: Any, body: Any, authorization: str | None) -> tuple[int, Any]:
        # Blanks around a header's value are no part of it.
        authorization = authorization and authorization.strip()
        parameters = Query(query)
        special = self._special(method, path, parameters)
        if special is not None:
            return special
        # Both the query and the body are taken apart before anybody asks who is calling.
        row = self._row(method, path)
        args = row.parse(parameters, body)
        if row.name == "GetCurrentAdminTokenInfo":
            args["token"] = tokens.bearer(authorization)
        tokens.authorise(self.state, authorization, row.name)
        return 200, row.handle(self.state, args)

    def _special(self, method: str, path: str, query: Query) -> tuple[int, Any] | None:
        if method == "OPTIONS":
            return 200, ""
        if (method, path) == ("GET", "/health"):
            status = nodes.health(self.state)["status"]
            return (503 if status == "unavailable" else 200,
                    f"{_HEALTH[status]}\nConsult the full health check API endpoint at /v2/GetClusterHealth for more details\n")
        if (method, path) == ("GET", "/metrics"):
            return 200, "# HELP garage_build_info Garage build info\n"
        if (method, path) == ("GET", "/check"):
            domain = query.needed("domain")
            bucket = self.state.bucket_of_alias(domain)
            if bucket and bucket.website:
                return 200, f"Domain '{domain}' is managed by Garage"
            raise bad_request(f"Domain '{domain}' is not managed by Garage")
        return None

    def _row(self, method: str, path: str) -> Row:
        unknown = bad_request(f"Unknown API endpoint: {method} {path}")
        if (method, path) in _V1_GONE:
            raise bad_request(f"v1/ endpoint is no longer supported: {_V1_GONE[method, path]}")
        if (method, path) == ("GET", "/v1/health"):
            return _ROWS["GetClusterHealth"]
        name = path.removeprefix("/v2/") if path.startswith("/v2/") else ""
        if name in NOT_PLAYED and self.state.since(2, 0):
            raise LookupError(f"the fake Garage does not play {name}")
        row = _ROWS.get(name)
        if row is None or row.method != method or not self.state.since(*row.since):
            raise unknown
        return row
