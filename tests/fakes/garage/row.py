# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""One endpoint of the Admin API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.garage.bodies import Malformed, Query, Shape, decode
from tests.fakes.garage.errors import bad_request
from tests.fakes.garage.state import State

Reader = Callable[[Query, str], Any]


@dataclass(frozen=True)
class Row:
    """How a request is taken apart (``query`` by name, ``body`` when there is one) and what is done with it."""

    name: str
    method: str
    handle: Callable[[State, dict], Any]
    body: Shape | None = None
    query: Mapping[str, Reader] = field(default_factory=dict)
    since: tuple[int, ...] = (2, 0)

    def parse(self, query: Query, body: Any) -> dict:
        """The arguments of ``handle``: the body under "body", the query by its names. Raises a Refusal."""
        arguments = {}
        if self.body is not None:
            try:
                arguments["body"] = self.body(decode(body))
            except Malformed as error:
                raise bad_request(f"Invalid JSON: {error}") from None
        for name, read in self.query.items():
            arguments[name] = read(query, name)
        return arguments


ID = {"id": Query.needed}
PAGE = {"offset": Query.optional, "limit": Query.number}
