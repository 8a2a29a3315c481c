# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that see and connect one another, in memory: a transport for each, and a log of what was asked.

    mesh = Mesh("a", "b", "c")
    client = mesh.client("a")          # GetClusterStatus, GetClusterHealth, GetNodeInfo, GetClusterStatistics, ConnectClusterNodes
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._transport import Connection, Response

DENIED = (403, {"code": "AccessDenied", "message": "Forbidden: Invalid bearer token"})
PARTITIONS = 256


def node_id(letter: str) -> str:
    return letter * 64


@dataclass
class FakeNode:
    """A node by its letter. ``faults`` says what becomes of the next calls of an endpoint: a (status, body), an exception to
    raise, or a function that does either."""

    letter: str
    number: int
    sees: set[str] = field(default_factory=set)
    blocked: set[str] = field(default_factory=set)  # whom it cannot reach
    role: dict | None = None
    faults: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"10.0.0.{self.number}:3901"

    @property
    def text(self) -> str:
        return f"{node_id(self.letter)}@{self.address}"


class Mesh:
    """``asked`` holds (letter, endpoint, body) of every request."""

    def __init__(self, *letters: str) -> None:
        self.nodes = {letter: FakeNode(letter, number) for number, letter in enumerate(letters, 1)}
        self.asked: list[tuple[str, str, Any]] = []
        self.layout_version = 0

    def __getitem__(self, letter: str) -> FakeNode:
        return self.nodes[letter]

    def link(self, *letters: str) -> None:
        """Have them see one another."""
        for letter in letters:
            self[letter].sees |= set(letters) - {letter}

    def client(self, letter: str, **options: Any) -> Client:
        return Client(FakeTransport(self, self[letter]), **{"retries": 0, "retry_delay": 0.0, **options})

    def connects(self) -> list[tuple[str, list[str]]]:
        """Who was told of whom, in order."""
        return [(letter, body) for letter, endpoint, body in self.asked if endpoint == "ConnectClusterNodes"]

    def answer(self, node: FakeNode, endpoint: str, body: Any) -> tuple[int, Any]:
        self.asked.append((node.letter, endpoint, body))
        if node.faults.get(endpoint):
            fault = node.faults[endpoint].pop(0)
            if isinstance(fault, Exception):
                raise fault
            return fault() if callable(fault) else fault
        answers: dict[str, Callable[[], Any]] = {
            "GetClusterStatus": lambda: self._status(node),
            "GetClusterHealth": lambda: self._health(node),
            "GetNodeInfo": lambda: {"success": {node_id(node.letter): {"garageVersion": "cargo:2.5.0"}}, "error": {}},
            "GetClusterStatistics": lambda: {"freeform": "text", "bucketCount": 2},
            "ConnectClusterNodes": lambda: [self._connect(node, entry) for entry in body],
        }
        return 200, answers[endpoint]()

    def _status(self, node: FakeNode) -> dict:
        known = [other for other in self.nodes.values() if other is node or other.letter in node.sees or other.role]
        return {"layoutVersion": self.layout_version, "nodes": [self._entry(node, other) for other in known]}

    def _entry(self, node: FakeNode, other: FakeNode) -> dict:
        up = other is node or other.letter in node.sees
        return {"id": node_id(other.letter), "addr": other.address if up else None, "isUp": up, "draining": False, "role": other.role,
                "lastSeenSecsAgo": 1 if up and other is not node else None}

    def _health(self, node: FakeNode) -> dict:
        stores = [other for other in self.nodes.values() if other.role]
        up = [other for other in stores if other is node or other.letter in node.sees]
        partitions = PARTITIONS if self.layout_version else 0
        quorum = partitions if 2 * len(up) > len(stores) else 0
        status = "healthy" if stores and up == stores else "degraded" if quorum else "unavailable"
        return {"status": status, "knownNodes": len(node.sees) + 1, "connectedNodes": len(node.sees) + 1, "storageNodes": len(stores),
                "storageNodesUp": len(up), "partitions": partitions, "partitionsQuorum": quorum,
                "partitionsAllOk": partitions if up == stores else 0}

    def _connect(self, node: FakeNode, entry: str) -> dict:
        id, _at, address = entry.partition("@")
        found = [other for other in self.nodes.values() if node_id(other.letter) == id and other.address == address]
        if not found or found[0].letter in node.blocked:
            return {"success": False, "error": f"Error establishing RPC connection to remote node: {entry}.\nIO error: refused"}
        if found[0] is not node:
            self.link(node.letter, found[0].letter)
        return {"success": True, "error": None}


class FakeTransport:
    """What a Client needs of a transport."""

    def __init__(self, mesh: Mesh, node: FakeNode) -> None:
        self.mesh = mesh
        self.node = node
        self.url = f"http://{node.letter}:3903"
        self.connection = Connection(self.url, "token-of-" + node.letter, "option api_token")

    def send(self, _method: str, _path: str, _query: dict | None, body: Any, label: str) -> Response:
        status, data = self.mesh.answer(self.node, label, body)
        return Response(status, "application/json", json.dumps(data))

    def close(self) -> None:
        pass
