# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""A transport straight into a fake Garage: no sockets, every request noted, and any of them can be made to fail."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from email.utils import format_datetime
from enum import Enum
from typing import Any

from ansible_collections.s3ops.garage.plugins.module_utils._errors import TransportError
from ansible_collections.s3ops.garage.plugins.module_utils._transport import Connection, Response
from tests.fakes.garage.server import ADMIN_TOKEN, FakeGarage

URL = "http://fake.invalid:3903"


class Fault(Enum):
    """What goes wrong with a request; "before" and "after" tell whether the server had acted.

    CUT_HALFWAY is a CreateBucket that made the bucket but gave it no name (seen on 2.5.0); any other request it cuts before.
    """

    REFUSED = "refused"
    CUT_BEFORE = "cut_before"
    CUT_AFTER = "cut_after"
    CUT_HALFWAY = "cut_halfway"
    ERROR_500 = "error_500"
    UNAVAILABLE_BEFORE = "unavailable_before"
    UNAVAILABLE_AFTER = "unavailable_after"
    GARBAGE_BEFORE = "garbage_before"
    GARBAGE_AFTER = "garbage_after"
    TOO_SLOW_AFTER = "too_slow_after"

    @property
    def acts(self) -> bool:
        """Whether the server carries the request out all the same."""
        return self.value.endswith("_after")


@dataclass(frozen=True)
class Sent:
    """A request as the client asked for it."""

    method: str
    endpoint: str
    query: dict | None
    body: Any


class FakeTransport:
    """What ``_client.Client`` needs below itself.

    ``faults`` says which request fails how, counted from 0 over the life of the transport. ``before`` is called with the number of each
    request ahead of it, for tests in which somebody else writes in between.
    """

    def __init__(self, garage: FakeGarage, token: str = ADMIN_TOKEN, faults: Mapping[int, Fault] | None = None,
                 before: Callable[[int], None] | None = None) -> None:
        self.garage = garage
        self.url = URL
        self.connection = Connection(api_url=URL, token=token, token_source="option api_token")
        self.faults = dict(faults or {})
        self.before = before
        self.sent: list[Sent] = []
        self.closed = False
        self._lock = threading.Lock()

    @property
    def writes(self) -> list[Sent]:
        """The requests that change something: all POSTs but those that only ask."""
        return [sent for sent in self.sent if sent.method == "POST" and not sent.endpoint.startswith(("Get", "List", "Preview"))]

    def send(self, method: str, path: str, query: dict | None, body: Any, label: str) -> Response:
        """One request. Raises TransportError as the real transport does."""
        # Clients may have several requests in flight; they arrive one after the other.
        with self._lock:
            number = len(self.sent)
            if self.before:
                self.before(number)
            self.sent.append(Sent(method, label, query, body))
            fault = self.faults.get(number)
            if fault is not None:
                return self._fail(fault, method, path, query, body, label)
            return self._respond(*self._act(method, path, query, body))

    def bearing(self, token: str) -> FakeTransport:
        """The same wire with another token; all that is sent stands in one list."""
        other = copy.copy(self)
        other.connection = replace(self.connection, token=token)
        return other

    def close(self) -> None:
        self.closed = True

    def _act(self, method: str, path: str, query: dict | None, body: Any) -> tuple[int, Any]:
        # Through JSON, as on a wire: a value that cannot travel must not arrive.
        data = None if body is None else json.dumps(body).encode()
        query = {name: json.dumps(value) if isinstance(value, bool) else value for name, value in (query or {}).items()}
        return self.garage.handle(method, path, query, data, f"Bearer {self.connection.token}")

    def _fail(self, fault: Fault, method: str, path: str, query: dict | None, body: Any, label: str) -> Response:
        if fault.acts:
            self._act(method, path, query, body)
        if fault is Fault.CUT_HALFWAY and label == "CreateBucket":
            self._act(method, path, query, {})
        if fault is Fault.TOO_SLOW_AFTER:
            raise TransportError(f"{label} at {self.url}: no answer within 60 s", sent=True, endpoint=label)
        if fault is Fault.REFUSED:
            raise TransportError(f"{label} at {self.url}: Connection refused", sent=False, endpoint=label)
        if fault in (Fault.CUT_BEFORE, Fault.CUT_AFTER, Fault.CUT_HALFWAY):
            raise TransportError(f"{label} at {self.url}: connection closed without an answer", sent=True, endpoint=label)
        if fault is Fault.ERROR_500:
            return self._respond(500, self._error("InternalError", "Internal error: injected", path))
        if fault in (Fault.UNAVAILABLE_BEFORE, Fault.UNAVAILABLE_AFTER):
            return self._respond(503, self._error("ServiceUnavailable", "Internal error: Could not reach quorum of 2", path))
        return Response(200, "text/html", "<html>It works!</html>")

    def _error(self, code: str, message: str, path: str) -> dict:
        return {"code": code, "message": message, "region": self.garage.state.region, "path": path}

    def _respond(self, status: int, data: Any) -> Response:
        date = format_datetime(self.garage.clock.now, usegmt=True)
        if isinstance(data, str):
            return Response(status, "text/plain", data, date)
        return Response(status, "application/json", json.dumps(data), date)
