# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""A fake Garage over loopback HTTP, for what can only be shown through a socket."""

from __future__ import annotations

import json
import threading
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import urlsplit

from tests.fakes.garage.server import FakeGarage


class FakeServer:
    """``with FakeServer(garage) as server: server.url``. Requests are handled one at a time."""

    def __init__(self, garage: FakeGarage) -> None:
        self.garage = garage
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FakeServer:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, method: str, target: str, body: bytes | None, authorization: str | None) -> tuple[int, str, bytes, str]:
        """Status, media type, body and date of one request."""
        parts = urlsplit(target)
        with self._lock:
            status, data = self.garage.handle(method, parts.path, parts.query, body, authorization)
            date = format_datetime(self.garage.clock.now, usegmt=True)
        if isinstance(data, str):
            return status, "text/plain", data.encode(), date
        return status, "application/json", json.dumps(data, indent=2).encode(), date


def _handler(server: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length) if length else None
            status, media_type, data, date = server.answer(self.command, self.path, body, self.headers.get("Authorization"))
            self.send_response_only(status)
            for name, value in (("Content-Type", media_type), ("Content-Length", str(len(data))), ("Date", date)):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_DELETE = do_OPTIONS = _serve

        def log_message(self, format: str, *args: object) -> None:
            """Tests read what the garage saw, not a log."""

    return Handler
