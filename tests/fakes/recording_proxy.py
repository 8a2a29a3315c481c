# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A reverse proxy on the loopback interface that notes which requests passed through it."""

from __future__ import annotations

import http.client
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import urlsplit

HOST = "127.0.0.1"
UPSTREAM_SECONDS = 120


@dataclass(frozen=True)
class Passed:
    """One request; the query is left out, because it may hold a secret."""

    method: str
    path: str

    @property
    def endpoint(self) -> str:
        """`GetClusterStatus` of `/v2/GetClusterStatus`."""
        return self.path.rpartition("/")[2]


class RecordingProxy:
    """Passes requests on to `target_url` and answers back; 502 when nobody listens there. A context manager."""

    def __init__(self, target_url: str) -> None:
        self.passed: list[Passed] = []
        self._server = ThreadingHTTPServer((HOST, 0), _handler(urlsplit(target_url).netloc, self.passed))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._server.server_port}"

    def take(self) -> list[Passed]:
        """What has passed since the last call."""
        taken = list(self.passed)
        del self.passed[: len(taken)]
        return taken

    def __enter__(self) -> RecordingProxy:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(target: str, passed: list[Passed]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:  # noqa: N802, the base class names it
            self._pass_on()

        def do_POST(self) -> None:  # noqa: N802
            self._pass_on()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing on standard error."""

        def _pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            passed.append(Passed(self.command, urlsplit(self.path).path))
            headers = {name: self.headers[name] for name in ("Authorization", "Content-Type", "Accept") if name in self.headers}
            # A connection of its own for each request: a node that is stopped waits for those that are kept alive.
            upstream = http.client.HTTPConnection(target, timeout=UPSTREAM_SECONDS)
            try:
                upstream.request(self.command, self.path, body or None, headers)
                answer = upstream.getresponse()
                self._answer(answer.status, answer.headers.get("Content-Type", "text/plain"), answer.read())
            except OSError as broken:
                self._answer(502, "text/plain", f"nobody listens there: {broken}".encode())
            finally:
                upstream.close()

        def _answer(self, status: int, kind: str, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Handler
