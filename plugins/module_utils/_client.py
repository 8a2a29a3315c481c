# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Calls of the Admin API: endpoint in, data out, typed errors. Private: not for use outside of the collection."""

from __future__ import annotations

import copy
import json
import random
import re
import time
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Protocol

from ._endpoints import ENDPOINTS, Endpoint
from ._errors import (
    ApiError,
    Conflict,
    Constraint,
    Denied,
    GateClosed,
    Invalid,
    LayoutNotReady,
    NotAdminApi,
    NotFound,
    ServerFault,
    SetupError,
    StaleVersion,
    TransportError,
    Unavailable,
)
from ._transport import HIDDEN, Response

_LONGEST_PAUSE = 30.0  # seconds between two tries of a read (OP-119)
_CONSTRAINT = re.compile(r"replication factor|positive capacity|zone.?redundancy|redundancy parameter|non-gateway nodes", re.I)
_BY_STATUS: dict[int, type[ApiError]] = {400: Invalid, 401: Denied, 403: Denied, 404: NotFound, 409: Conflict,
                                         502: Unavailable, 503: Unavailable, 504: Unavailable}
# What to do about each error answer.
HINTS: dict[type[ApiError], str] = {
    NotFound: "see whether it was deleted meanwhile, then run this again",
    Denied: "the token from {source} is wrong, expired, or its scope lacks {call}; Garage gives the same answer for all three",
    Conflict: "choose another name, or remove what has this one",
    Invalid: "correct what the server names",
    Constraint: "change the roles, their capacities or zone_redundancy so that this rule of the layout holds",
    StaleVersion: "another layout was applied meanwhile: run this again",
    ServerFault: "see the log of the node at api_url",
    LayoutNotReady: "apply a first cluster layout (s3ops.garage.layout), then run this again",
    Unavailable: "see s3ops.garage.cluster_info for the nodes that are down; run this again when the quorum is back",
}


class Transport(Protocol):
    """What a client needs below itself."""

    url: str
    connection: Any

    def send(self, method: str, path: str, query: dict | None, body: Any, label: str) -> Response:
        """One request, one answer."""

    def bearing(self, token: str, source: str) -> Transport:
        """One to the same place with another token, which comes from ``source``."""

    def close(self) -> None:
        """Let go of connections."""


class Client:
    """One node's Admin API.

    ``site_role`` is the role of this connection: on a follower every layout write is refused here, before anything is sent. Reads are
    repeated up to ``retries`` times after a failure to connect or a 502, 503 or 504, unless trying again cannot help; writes never.
    ``warnings`` collects what the user should hear about; ``secrets`` are struck from every error text.
    """

    def __init__(self, transport: Transport, site_role: str | None = None, retries: int = 3, retry_delay: float = 1.0) -> None:
        self.transport = transport
        self.site_role = site_role
        self.retries = retries
        self.retry_delay = retry_delay
        self.warnings: list[str] = []
        self.secrets: list[str] = []
        self.server_time: datetime | None = None

    def call(self, endpoint: str, query: dict | None = None, body: Any = None) -> Any:
        """The decoded answer of one endpoint (None for writes without content, text for what lies outside of /v2).

        Raises GateClosed, TransportError, NotAdminApi, ApiError and its kinds. NotFound is the only one that means absent.
        """
        guard_layout_write(ENDPOINTS[endpoint], self.site_role)
        row = ENDPOINTS[endpoint]
        attempts = 1 + (self.retries if row.read_only else 0)
        for attempt in range(1, attempts + 1):
            try:
                return self._once(row, query, body)
            except (TransportError, Unavailable) as error:
                if attempt == attempts or isinstance(error, (NotAdminApi, SetupError)):
                    raise
                self.warnings.append(f"{error.message}; trying again ({attempt} of {attempts - 1})")
                time.sleep(self._pause(attempt))
        raise AssertionError("unreachable")

    def once(self) -> Client:
        """This client, except that reads are tried once. The site role holds for it, and warnings and secrets are those of this one."""
        other = copy.copy(self)
        other.retries = 0
        return other

    def close(self) -> None:
        self.transport.close()

    def _pause(self, attempt: int) -> float:
        longest = max(self.retry_delay, _LONGEST_PAUSE)
        # The exponent is bounded as well: 2 to the power of a thousand is no float.
        return min(self.retry_delay * 2 ** min(attempt - 1, 16), longest) * random.uniform(0.75, 1.25)

    def _once(self, row: Endpoint, query: dict | None, body: Any) -> Any:
        answer = self.transport.send(row.method, row.path, query, body, row.name)
        if answer.date:
            self.server_time = _http_date(answer.date) or self.server_time
        if answer.status < 400 and not row.path.startswith("/v2/"):
            return answer.text
        data = _decode(answer)
        if answer.status >= 400:
            raise self._error(row, answer, data)
        # Every read gives an object or a list. Nothing, or a bare word, must not be taken for an empty list or an absent thing.
        if data is _NOT_JSON or (row.read_only and not isinstance(data, (dict, list))):
            raise self._not_ours(row, answer)
        return data

    def _error(self, row: Endpoint, answer: Response, data: Any) -> Exception:
        if not _is_garage_error(answer.status, data):
            if answer.status in (502, 503, 504):
                return Unavailable(f"{row.name} at {self.transport.url}: HTTP {answer.status} with {answer.media_type or 'no'} content, perhaps from"
                                   " something in between", hint=HINTS[Unavailable], status=answer.status, endpoint=row.name)
            return self._not_ours(row, answer)
        text, code = self._clean(data["message"])[:500], self._clean(data["code"])[:100]
        if answer.status == 400 and "Unknown API endpoint" in text:
            return NotAdminApi(f"{row.name} at {self.transport.url}: {text}", endpoint=row.name, status=400,
                               hint=f"Garage 1.x and S3 ports answer so; this collection needs the Admin API v2 (Garage 2.0.0 or newer, {row.name}"
                               f" since {row.since})")
        kind = _BY_STATUS.get(answer.status, ServerFault if answer.status >= 500 else Invalid)
        if answer.status >= 500 and "Layout not ready" in text:
            kind = LayoutNotReady
        elif row.layout_write and "Invalid new layout version" in text:
            kind = StaleVersion
        elif row.layout_write and answer.status in (400, 500) and _CONSTRAINT.search(text):
            kind = Constraint
        return kind(f"{row.name} at {self.transport.url}: HTTP {answer.status} {code}: {text}", status=answer.status, code=code, endpoint=row.name,
                    hint=HINTS[kind].format(source=self.transport.connection.token_source, call=row.name), server_message=text)

    def _not_ours(self, row: Endpoint, answer: Response) -> NotAdminApi:
        return NotAdminApi(f"{row.name} at {self.transport.url}: HTTP {answer.status} with {answer.media_type or 'no'} content, not the JSON of a"
                           " Garage Admin API", hint="api_url must be the Admin API (port 3903 by convention), not the S3, web or RPC port, and not a"
                           " proxy's page", endpoint=row.name, status=answer.status)

    def _clean(self, text: str) -> str:
        for secret in (self.transport.connection.token, *self.secrets):
            if secret:
                text = text.replace(secret, HIDDEN)
        return text


def guard_layout_write(row: Endpoint, site_role: str | None) -> None:
    """Refuse a layout write on a follower (LW-13)."""
    if row.layout_write and site_role == "follower":
        raise GateClosed(f"{row.name}: this site is a follower; only the layout writer's site changes the layout; nothing was sent",
                         hint="run this at the writer's site, or promote this one after the writer was demoted")


_NOT_JSON = object()


def _is_garage_error(status: int, data: Any) -> bool:
    """Whether an error answer has Garage's own form. A 404 counts only with one of its codes (NoSuchBucket, NoSuchAccessKey, …): the 404 of
    some other API, or of a proxy that does not know the path, must never mean "absent"."""
    if not isinstance(data, dict) or not isinstance(data.get("code"), str) or not isinstance(data.get("message"), str):
        return False
    return status != 404 or data["code"].startswith("NoSuch")


def _decode(answer: Response) -> Any:
    if answer.status == 204:
        return None
    try:
        return json.loads(answer.text)
    except ValueError:
        return _NOT_JSON


def _http_date(value: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    # A zone of -0000 gives a time without one, which cannot be compared.
    return moment.replace(tzinfo=timezone.utc) if moment.tzinfo is None else moment
