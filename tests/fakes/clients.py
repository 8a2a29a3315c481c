# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Transports and clients for tests over a loopback server, closed at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._errors import TransportError
from ansible_collections.s3ops.garage.plugins.module_utils._transport import Connection, HttpTransport, Response

TOKEN = "prefix.0123456789abcdefTOKEN"


@contextlib.contextmanager
def transports(token_source: str = "option api_token") -> Iterator[Callable[..., HttpTransport]]:
    """make(url, …) -> HttpTransport; further options are those of Connection."""
    with contextlib.ExitStack() as opened:

        def make(url: str, **options: object) -> HttpTransport:
            transport = HttpTransport(Connection(**{"api_url": url, "token": TOKEN, "token_source": token_source, "timeout": 20.0, **options}))
            opened.callback(transport.close)
            return transport

        yield make


@contextlib.contextmanager
def clients(token_source: str = "option api_token", **defaults: object) -> Iterator[Callable[..., Client]]:
    """make(url, timeout=…, …) -> Client that does not pause between tries; further options are those of Client."""
    with transports(token_source) as connect:

        def make(url: str, timeout: float = 20.0, **options: object) -> Client:
            return Client(connect(url, timeout=timeout), **{"retry_delay": 0, **defaults, **options})

        yield make


def read(transport: HttpTransport) -> Response:
    return transport.send("GET", "/v2/GetClusterHealth", None, None, "GetClusterHealth")


def write(transport: HttpTransport, body: Any = None) -> Response:
    return transport.send("POST", "/v2/CreateBucket", None, {"globalAlias": "media"} if body is None else body, "CreateBucket")


def failure(run: Callable, *arguments: object, kind: type[TransportError] = TransportError) -> TransportError:
    """The error that ``run`` ends in, which does not show the token."""
    with pytest.raises(kind) as caught:
        run(*arguments)
    error = caught.value
    assert TOKEN not in f"{error!r} {error.message} {error.hint} {error.data()}"
    return error
