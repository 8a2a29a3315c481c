# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A way to the Kubernetes API that notes each request, and that can be blocked, as an API server that is started again is."""

from __future__ import annotations

import json
import re
import select
import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tools.cluster.state import Cluster

WRITES = {"POST", "PUT", "PATCH", "DELETE"}
# Questions that are asked by a POST.
QUESTIONS = re.compile(r"/exec$|/selfsubject\w+reviews$")
LARGEST_HEAD = 65536
CHUNK = 65536


@dataclass(frozen=True)
class Request:
    """One request to the API."""

    method: str
    target: str

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def is_write(self) -> bool:
        """Whether it asks for a change, in earnest or not."""
        return self.method in WRITES and not QUESTIONS.search(self.path)

    @property
    def is_dry_run(self) -> bool:
        return parse_qs(urlsplit(self.target).query).get("dryRun") == ["All"]


class ApiProxy:
    """Listens on loopback without TLS and adds the credentials of the cluster. `kubeconfig` is the file that leads to it."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        configuration = cluster.api().configuration
        self.upstream = urlsplit(configuration.host)
        self.context = ssl.create_default_context(cafile=configuration.ssl_ca_cert)
        if configuration.cert_file:
            self.context.load_cert_chain(configuration.cert_file, configuration.key_file)
        self.token = configuration.api_key.get("authorization", "")
        self.requests: list[Request] = []
        self.blocked = ""
        self.seen = threading.Condition()
        proxy = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                proxy.serve(self.request)

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        self.kubeconfig = folder / "through-proxy.kubeconfig"
        self.kubeconfig.write_text(json.dumps(self._kubeconfig()), encoding="utf-8")

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def take(self) -> list[Request]:
        """What was asked since it was last asked for."""
        with self.seen:
            taken, self.requests = self.requests, []
        return taken

    def wait_for(self, pattern: str, limit: float) -> None:
        """Wait until a request that fits `METHOD path` has come."""
        with self.seen:
            came = self.seen.wait_for(lambda: any(re.search(pattern, f"{r.method} {r.path}") for r in self.requests), limit)
        assert came, f"no request {pattern} came within {limit} s"

    @contextmanager
    def outage(self, pattern: str = ".") -> Iterator[None]:
        """Nobody answers meanwhile, or nobody answers requests that fit `METHOD target`."""
        self.blocked = pattern
        try:
            yield
        finally:
            self.blocked = ""

    def serve(self, near: socket.socket) -> None:
        """One connection, which carries one request."""
        head, _end, rest = self._read_head(near).partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        if not head or (self.blocked and re.search(self.blocked, lines[0])):
            return
        method, target, _version = lines[0].split(" ", 2)
        with self.seen:
            self.requests.append(Request(method, target))
            self.seen.notify_all()
        host, port = self.upstream.hostname or "", self.upstream.port or 443
        with closing(self.context.wrap_socket(socket.create_connection((host, port)), server_hostname=host)) as far:
            far.sendall("\r\n".join([lines[0], *self._headers(lines[1:])]).encode("latin-1") + b"\r\n\r\n" + rest)
            _relay(near, far)

    def _headers(self, lines: list[str]) -> list[str]:
        own = {"host", *(["authorization"] if self.token else [])}
        upgrade = any(line.lower().startswith("upgrade:") for line in lines)
        own |= set() if upgrade else {"connection"}
        kept = [line for line in lines if line.split(":", 1)[0].lower() not in own]
        added = [f"Host: {self.upstream.netloc}", *([f"Authorization: {self.token}"] if self.token else [])]
        return [*kept, *added, *([] if upgrade else ["Connection: close"])]

    @staticmethod
    def _read_head(near: socket.socket) -> bytes:
        data = b""
        while b"\r\n\r\n" not in data and len(data) < LARGEST_HEAD:
            chunk = near.recv(CHUNK)
            if not chunk:
                return b""
            data += chunk
        return data

    def _kubeconfig(self) -> dict[str, object]:
        address = f"http://127.0.0.1:{self.server.server_address[1]}"
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "proxy",
            "clusters": [{"name": "proxy", "cluster": {"server": address}}],
            "users": [{"name": "proxy", "user": {}}],
            "contexts": [{"name": "proxy", "context": {"cluster": "proxy", "user": "proxy"}}],
        }


def _relay(near: socket.socket, far: ssl.SSLSocket) -> None:
    """What each side says to the other, until the far one ends. In one thread: a TLS socket is not for two."""
    listening: list[socket.socket] = [near, far]
    try:
        while True:
            readable = [far] if far.pending() else select.select(listening, [], [])[0]
            for source in readable:
                data = _received(source)
                if data is None:
                    continue
                if data:
                    (near if source is far else far).sendall(data)
                elif source is far:
                    return
                else:
                    listening.remove(near)
    except OSError:
        # The one that asked has gone away.
        return


def _received(source: socket.socket) -> bytes | None:
    """What has come; None when it was only something of TLS itself, such as the tickets that a server sends after its greeting."""
    source.setblocking(False)
    try:
        return source.recv(CHUNK)
    except (ssl.SSLWantReadError, BlockingIOError):
        return None
    finally:
        source.setblocking(True)
