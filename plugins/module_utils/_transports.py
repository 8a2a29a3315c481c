# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""From a connection to a transport. Private: not for use outside of the collection."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

from ._client import Client, Transport
from ._connection import AnyConnection, EitherConnection
from ._errors import ApiError, TransportError, Unavailable
from ._pods import PodConnection, Pods
from ._transport import Connection, HttpTransport, Response
from ._transport_exec import ExecTransport

_PROBE_SECONDS = 5.0  # an address that cannot be reached from here costs this in every task


def open_transport(connection: AnyConnection) -> Transport:
    """A transport that has sent nothing yet."""
    if isinstance(connection, EitherConnection):
        return AutoTransport(connection)
    return ExecTransport(Pods(connection)) if isinstance(connection, PodConnection) else HttpTransport(connection)


class AutoTransport:
    """HTTP where an Admin API answers, else commands in a pod. Decided by a read before the first request, and never again: two writes never go
    different ways."""

    def __init__(self, connection: EitherConnection) -> None:
        self._either = connection
        self._lock = threading.Lock()
        self._inner: Transport | None = None
        self._why: str | None = None

    @property
    def decision(self) -> str | None:
        """What was chosen and why; None before."""
        if self._inner is None:
            return None
        return f"exec in {self._inner.url}, because {self._why}" if isinstance(self._inner, ExecTransport) else f"http to {self._inner.url}"

    @property
    def connection(self) -> Any:
        return self._inner.connection if self._inner else self._either

    @property
    def url(self) -> str:
        return self._inner.url if self._inner else self._either.place

    def send(self, method: str, path: str, query: dict | None, body: Any, label: str) -> Response:
        """One request, as the transport that was chosen sends it."""
        return self._chosen().send(method, path, query, body, label)

    def bearing(self, token: str, source: str) -> Transport:
        return self._chosen().bearing(token, source)

    def close(self) -> None:
        if self._inner:
            self._inner.close()

    def _chosen(self) -> Transport:
        with self._lock:
            if self._inner is None:
                http, pod = self._either.http, self._either.pod
                self._why = self._either.why or (_no_answer(http) if pod else None)
                self._inner = open_transport(pod if self._why else http)
            return self._inner


def _no_answer(http: Connection) -> str | None:
    """Why an Admin API does not answer; None when one does, whatever it thinks of the token."""
    client = Client(HttpTransport(replace(http, timeout=min(http.timeout, _PROBE_SECONDS))), retries=0)
    try:
        client.call("GetClusterHealth")
    except (TransportError, Unavailable) as error:
        return error.message
    except ApiError:
        return None
    finally:
        client.close()
    return None
