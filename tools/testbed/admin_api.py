# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The few Admin API calls a starter of nodes needs."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from tools.testbed.errors import SetupError

# Nodes are on the loopback interface: a proxy from the environment would only be in the way.
# Each request closes its connection: Garage waits 10 s for open ones when it is stopped (seen on 2.5.0).
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
READ_TIMEOUT_SECONDS = 60.0


class AdminApiError(SetupError):
    """The node refused a call or cannot be reached; the text holds the answer, never the token."""


class AdminApi:
    """Calls to one node. The token is read from its file at each call."""

    def __init__(self, url: str, token_file: Path) -> None:
        self._url = url
        self._token_file = token_file

    def get(self, endpoint: str, **query: str) -> Any:
        """The decoded JSON answer. Raises AdminApiError."""
        return self._call("GET", endpoint, query, None)

    def post(self, endpoint: str, body: Any) -> Any:
        """The decoded JSON answer. Raises AdminApiError."""
        return self._call("POST", endpoint, {}, json.dumps(body).encode())

    def _call(self, method: str, endpoint: str, query: dict[str, str], body: bytes | None) -> Any:
        target = f"{self._url}/v2/{endpoint}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
        token = self._token_file.read_text(encoding="ascii").strip()
        request = urllib.request.Request(target, data=body, method=method, headers={"Authorization": f"Bearer {token}"})
        try:
            with _OPENER.open(request, timeout=READ_TIMEOUT_SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            with refused:
                raise AdminApiError(f"{endpoint} at {self._url}: {refused.code} {_message(refused)}") from None
        except (OSError, http.client.HTTPException, ValueError) as broken:
            raise AdminApiError(f"{endpoint} at {self._url}: {broken}") from broken


def _message(refused: urllib.error.HTTPError) -> str:
    text = refused.read(4096).decode("utf-8", "replace")
    try:
        return str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        return text
