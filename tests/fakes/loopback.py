# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A loopback HTTP(S) server that does to each request what its script says: answer, lie, stall, or cut the connection.

    with Loopback(cut_after(), answer([])) as server:
        ...                            # server.url, server.requests

A step is a function of an :class:`Exchange`. Each request takes the next step; the step ``default`` serves all that come after the script. A
request that nothing was scripted for fails the test when the server stops, so ``requests`` is exactly what was sent.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.fakes.certificates import Pair

VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NETRC", "GARAGE_ADMIN_URL",
             "GARAGE_ADMIN_TOKEN", "GARAGE_ADMIN_TOKEN_FILE", "GARAGE_CA_PATH", "GARAGE_SITE_ROLE",
             "GARAGE_TRANSPORT")
TICK = 0.1  # seconds between two looks at whether the server stops
PATIENCE = 30.0  # seconds after which a peer that does nothing is given up


def clean_environment(monkeypatch: Any) -> None:
    """Take away every variable that a client would follow, so that a test means the same on every machine."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@dataclass
class Request:
    """What arrived: ``target`` as on the request line, header names in lower case, the body as it was sent."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes = b""

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def endpoint(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))

    @property
    def json(self) -> Any:
        return json.loads(self.body) if self.body else None


class Hangup(Exception):
    """The connection ended."""


@dataclass
class Exchange:
    """The requests of one connection, one after the other; ``open`` until ``reset`` or ``close``."""

    server: Loopback
    connection: socket.socket
    buffer: bytearray = field(default_factory=bytearray)
    open: bool = True

    def read(self, body: bool = True) -> Request:
        """Take the request off the wire and note it. Without ``body`` only its head is taken."""
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        head, dummy, rest = bytes(self.buffer).partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _version = first.split(" ", 2)
        request = Request(method, target, {name.strip().lower(): value.strip() for name, dummy, value in (line.partition(":") for line in lines)})
        self.server.requests.append(request)
        self.buffer[:] = rest
        length = int(request.headers.get("content-length", 0)) if body else 0
        while len(self.buffer) < length:
            self._more()
        request.body = bytes(self.buffer[:length])
        del self.buffer[:length]
        return request

    def wait(self) -> None:
        """Until the first byte of a request is there, which stays unread."""
        if not self.buffer:
            self._more()

    def send(self, data: bytes) -> None:
        self.connection.settimeout(PATIENCE)
        with contextlib.suppress(OSError):
            self.connection.sendall(data)
        self.connection.settimeout(TICK)

    def reset(self) -> None:
        """Cut with RST, as a crashed process or a firewall does."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self) -> None:
        self.open = False
        self.connection.close()

    def stall(self) -> None:
        """Say nothing (more) until the client goes away or the server stops."""
        while not self.server.stopping.is_set():
            try:
                self._more()
            except Hangup:
                break
        self.close()

    def _more(self) -> None:
        while not self.server.stopping.is_set():
            try:
                piece = self.connection.recv(65536)
            except TimeoutError:
                continue
            except OSError:
                raise Hangup from None
            if not piece:
                raise Hangup
            self.buffer += piece
            return
        raise Hangup


Step = Callable[[Exchange], None]


class Loopback:
    """The server; see the top of this file. ``served`` gives its certificate (then it speaks TLS), ``client_ca`` demands one of clients."""

    def __init__(self, *script: Step, default: Step | None = None, served: Pair | None = None,
                 client_ca: str | None = None) -> None:
        self.requests: list[Request] = []
        self.connections = 0
        self.stopping = threading.Event()
        self.ended = threading.Event()  # set when a client has ended its connection
        self._script, self._default = list(script), default
        self._surplus: list[str] = []
        self._served: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._tls = _tls(served, client_ca) if served else None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"{'https' if served else 'http'}://127.0.0.1:{self.port}"

    def __enter__(self) -> Loopback:
        self._spawn(self._accept)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.stopping.set()
        with contextlib.suppress(OSError):
            # A close alone does not wake a thread that waits in accept.
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._served:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(PATIENCE)
        if kind is None:
            assert not self._surplus, f"requests that nothing was scripted for: {self._surplus}"

    @property
    def endpoints(self) -> list[str]:
        """The endpoints that were asked for, in order."""
        return [request.endpoint for request in self.requests]

    def _spawn(self, run: Callable, *arguments: object) -> None:
        thread = threading.Thread(target=run, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self.stopping.is_set():
            try:
                connection, _address = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._spawn(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        try:
            connection.settimeout(PATIENCE)
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
        except OSError:
            connection.close()
            return
        connection.settimeout(TICK)
        self._served.append(connection)
        exchange = Exchange(self, connection)
        try:
            while exchange.open:
                exchange.wait()
                self._next()(exchange)
        except (Hangup, OSError):
            self.ended.set()
        exchange.close()

    def _next(self) -> Step:
        with self._lock:
            if self._script:
                return self._script.pop(0)
        return self._default or self._unscripted

    def _unscripted(self, exchange: Exchange) -> None:
        request = exchange.read()
        self._surplus.append(f"{request.method} {request.path}")
        exchange.reset()


def _tls(served: Pair, client_ca: str | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(served.cert, served.key)
    if client_ca:
        context.load_verify_locations(client_ca)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


# steps

def answer(data: Any = None, status: int = 200, text: str | None = None, media_type: str = "application/json",
           headers: Mapping[str, str] | None = None, then_close: bool = False) -> Step:
    """JSON of ``data``, or ``text``. With ``then_close`` the connection ends afterwards without having said so (a stale keep-alive)."""
    body = (json.dumps(data) if text is None else text).encode()

    def step(exchange: Exchange) -> None:
        exchange.read()
        exchange.send(_head(status, {"Content-Type": media_type, "Content-Length": str(len(body)), **(headers or {})}) + body)
        if then_close:
            exchange.close()

    return step


def error(status: int, code: str, message: str, **more: Any) -> Step:
    """An error answer as Garage gives it."""
    return answer({"code": code, "message": message, "region": "garage", "path": "/"}, status, **more)


def zipped(data: Any) -> Step:
    """JSON of ``data``, compressed."""
    body = gzip.compress(json.dumps(data).encode())

    def step(exchange: Exchange) -> None:
        exchange.read()
        exchange.send(_head(200, {"Content-Type": "application/json", "Content-Encoding": "gzip", "Content-Length": str(len(body))}) + body)

    return step


def html(status: int = 200) -> Step:
    """A proxy's page."""
    return answer(text="<html><body>It works</body></html>", status=status, media_type="text/html; charset=utf-8")


def redirect(target: str, status: int = 302) -> Step:
    return answer(text="", status=status, headers={"Location": target})


def cut_before() -> Step:
    """Reset once a request has come, before any of it was read."""
    return lambda exchange: exchange.reset()


def cut_during() -> Step:
    """Reset when only the head of a request was read."""

    def step(exchange: Exchange) -> None:
        exchange.read(body=False)
        exchange.reset()

    return step


def cut_after() -> Step:
    """Reset after the whole request was read: it may have been carried out."""

    def step(exchange: Exchange) -> None:
        exchange.read()
        exchange.reset()

    return step


def closed_after() -> Step:
    """End the connection properly after the whole request was read, without an answer."""

    def step(exchange: Exchange) -> None:
        exchange.read()
        exchange.close()

    return step


def truncated(chunked: bool = False) -> Step:
    """A 200 whose body ends too early."""

    def step(exchange: Exchange) -> None:
        exchange.read()
        framing = {"Transfer-Encoding": "chunked"} if chunked else {"Content-Length": "1000"}
        exchange.send(_head(200, {"Content-Type": "application/json", **framing}) + (b'10\r\n{"id": "1234567,' if chunked else b'{"id": "1'))
        exchange.close()

    return step


def stall(midway: bool = False) -> Step:
    """No answer; with ``midway`` half of one."""

    def step(exchange: Exchange) -> None:
        exchange.read()
        if midway:
            exchange.send(_head(200, {"Content-Type": "application/json", "Content-Length": "1000"}) + b'{"id": "1')
        exchange.stall()

    return step


def garbage(data: bytes = b"\x00\x01RPC\xff not http\r\n\r\n") -> Step:
    """Something that is no HTTP."""

    def step(exchange: Exchange) -> None:
        exchange.read()
        exchange.send(data)
        exchange.close()

    return step


def raw(data: bytes) -> Step:
    """``data`` as the answer to whatever came, which stays unread."""

    def step(exchange: Exchange) -> None:
        exchange.send(data)
        exchange.stall()

    return step


def tunnel() -> Step:
    """What a proxy does with CONNECT: pass bytes both ways until either side ends."""

    def step(exchange: Exchange) -> None:
        host, dummy, port = exchange.read().target.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as upstream:
            exchange.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=_pump, args=(upstream, exchange.connection), daemon=True)
            back.start()
            with contextlib.suppress(Hangup, OSError):
                while True:
                    exchange.wait()
                    upstream.sendall(bytes(exchange.buffer))
                    exchange.buffer.clear()
            with contextlib.suppress(OSError):
                upstream.shutdown(socket.SHUT_RDWR)
            back.join(PATIENCE)
        exchange.close()

    return step


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            sink.sendall(piece)


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} Scripted\r\n{lines}\r\n".encode("latin-1")
