# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Kubernetes API on loopback that lists pods and runs commands "in" them: as processes here, or as a test says.

    with FakeKubernetes(pod("garage-0")) as cluster:
        ...                            # cluster.kubeconfig(folder), cluster.ran

The real one is in tests/kubernetes; this one can be made to forbid, cut, stall and speak the older protocol.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

V4, V5 = "v4.channel.k8s.io", "v5.channel.k8s.io"
TOKEN = "t0ken-of-the-kubeconfig"
PATIENCE = 30.0  # seconds
_MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

Execute = Callable[[list[str], bytes | None], tuple[int, bytes, bytes]]


def pod(name: str, container: str = "garage", ready: bool = True, state: dict | None = None, last: dict | None = None, **status: Any) -> dict:
    """A Pod in Kubernetes' JSON; it runs unless ``state`` says otherwise."""
    running = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
    own = {"name": container, "state": state or running, "lastState": {"terminated": last} if last else {}, "ready": ready and state is None}
    return {"metadata": {"name": name, "namespace": "garage", "uid": f"uid-of-{name}"}, "spec": {"containers": [{"name": container}]},
            "status": {"phase": "Running" if state is None else "Pending", "podIP": "10.0.0.7", "containerStatuses": [own],
                       "conditions": [{"type": "Ready", "status": "True" if ready and state is None else "False"}], **status}}


@dataclass(frozen=True)
class Command:
    """What was run: in which pod, with which arguments and standard input (None: it had none)."""

    pod: str
    argv: tuple[str, ...]
    stdin: bytes | None


@dataclass(frozen=True)
class Refusal:
    """Answer with a Status of the API instead of running."""

    code: int
    message: str


@dataclass(frozen=True)
class Failure:
    """Run nothing, and say why in the status that ends a command."""

    message: str


CUT = "cut"  # the connection is cut after the command has read its input
STALL = "stall"  # nothing is said until the other side goes


def run_process(argv: list[str], stdin: bytes | None) -> tuple[int, bytes, bytes]:
    done = subprocess.run(argv, input=stdin if stdin is not None else b"", capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


class FakeKubernetes:
    """``faults`` says what becomes of the n-th command instead: a Refusal, a Failure, CUT or STALL. ``piece`` is how many bytes a frame carries.
    ``objects``: what other paths answer, a Refusal, or a function that says it."""

    def __init__(self, *pods: dict, execute: Execute = run_process, protocol: str = V5, faults: dict[int, Any] | None = None, listing: Any = None,
                 piece: int = 65536, pings: int = 0, objects: dict[str, Any] | None = None) -> None:
        self.pods, self.execute, self.protocol, self.faults = list(pods), execute, protocol, dict(faults or {})
        self.listing, self.piece, self.pings, self.objects = listing, piece, pings, dict(objects or {})
        self.ran: list[Command] = []
        self.asked: list[str] = []
        self.authorizations: set[str | None] = set()
        self.stopping = threading.Event()
        self.lock = threading.Lock()

    def __enter__(self) -> FakeKubernetes:
        fake = self

        class Handler(_Handler):
            cluster = fake

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()
        return self

    def __exit__(self, *dummy: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def kubeconfig(self, folder: Path) -> str:
        path = folder / "kubeconfig"
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "fake", "clusters": [{"name": "fake", "cluster": {"server": self.url}}],
            "users": [{"name": "fake", "user": {"token": TOKEN}}], "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "fake"}}]}))
        return str(path)


class _Handler(BaseHTTPRequestHandler):
    cluster: FakeKubernetes
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE

    def log_message(self, *dummy: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        parts, cluster = urlsplit(self.path), self.cluster
        query = parse_qs(parts.query)
        if cluster.stopping.is_set():
            # A connection that was kept open ends with the server.
            self.close_connection = True
            return None
        cluster.authorizations.add(self.headers.get("Authorization"))
        cluster.asked.append(self.path)
        if parts.path == "/api/v1/namespaces/garage/pods":
            if isinstance(cluster.listing, Refusal):
                return self._refuse(cluster.listing)
            return self._json(200, {"kind": "PodList", "items": [each for each in cluster.pods if _fits(each, query)]})
        if not parts.path.endswith("/exec"):
            found = cluster.objects.get(parts.path, Refusal(404, "the server could not find the requested resource"))
            found = found() if callable(found) else found
            return self._refuse(found) if isinstance(found, Refusal) else self._json(200, found)
        name = parts.path.removeprefix("/api/v1/namespaces/garage/pods/").removesuffix("/exec")
        if not any(each["metadata"]["name"] == name for each in cluster.pods):
            return self._refuse(Refusal(404, f'pods "{name}" not found'))
        return self._exec(name, query)

    def _exec(self, name: str, query: dict[str, list[str]]) -> None:
        cluster = self.cluster
        with cluster.lock:
            number = len(cluster.ran)
            cluster.ran.append(Command(name, tuple(query["command"]), None))
        fault = cluster.faults.get(number)
        if isinstance(fault, Refusal):
            return self._refuse(fault)
        self._upgrade()
        wants = query.get("stdin") == ["True"] or query.get("stdin") == ["true"]
        stdin = self._input() if wants else None
        if wants and stdin is None:
            return None
        cluster.ran[number] = Command(name, tuple(query["command"]), stdin)
        if fault == CUT:
            return None
        if fault == STALL:
            for _each in range(cluster.pings):
                self._frame(0x9, b"")
                cluster.stopping.wait(0.05)
            self.rfile.read(1)
            return None
        if isinstance(fault, Failure):
            return self._end({"status": "Failure", "reason": "InternalError", "message": fault.message})
        code, out, err = cluster.execute(list(query["command"]), stdin)
        for channel, data in ((1, out), (2, err)):
            for start in range(0, len(data), cluster.piece):
                self._frame(0x2, bytes([channel]) + data[start:start + cluster.piece])
        if code == 0:
            return self._end({"status": "Success"})
        return self._end({"status": "Failure", "reason": "NonZeroExitCode", "message": f"command terminated with exit code {code}",
                          "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]}})

    def _upgrade(self) -> None:
        self.close_connection = True
        accept = base64.b64encode(hashlib.sha1((self.headers["Sec-WebSocket-Key"] + _MAGIC).encode()).digest()).decode()
        assert self.cluster.protocol in self.headers["Sec-WebSocket-Protocol"]
        self.send_response(101)
        for name, value in (("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accept),
                            ("Sec-WebSocket-Protocol", self.cluster.protocol)):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.flush()

    def _input(self) -> bytes | None:
        """Standard input up to its end; None when the other side goes before."""
        data = b""
        while frame := self._read_frame():
            opcode, content = frame
            if opcode == 0x8:
                return None
            if content[:2] == b"\xff\x00":
                return data
            if opcode in (0x1, 0x2) and content[:1] == b"\x00":
                data += content[1:]
        return None

    def _read_frame(self) -> tuple[int, bytes] | None:
        head = self.rfile.read(2)
        if len(head) < 2:
            return None
        length = head[1] & 0x7F
        if length > 125:
            length = int.from_bytes(self.rfile.read(2 if length == 126 else 8), "big")
        mask = self.rfile.read(4)
        return head[0] & 0x0F, bytes(byte ^ mask[index % 4] for index, byte in enumerate(self.rfile.read(length)))

    def _frame(self, opcode: int, data: bytes) -> None:
        size = len(data)
        length = struct.pack("!B", size) if size < 126 else struct.pack("!BH", 126, size) if size < 65536 else struct.pack("!BQ", 127, size)
        self.wfile.write(bytes([0x80 | opcode]) + length + data)

    def _end(self, status: dict) -> None:
        self._frame(0x2, b"\x03" + json.dumps({"kind": "Status", **status}).encode())
        self._frame(0x8, struct.pack("!H", 1000))

    def _refuse(self, refusal: Refusal) -> None:
        self._json(refusal.code, {"kind": "Status", "status": "Failure", "message": refusal.message, "code": refusal.code})

    def _json(self, code: int, data: dict) -> None:
        body = json.dumps(data).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _fits(item: dict, query: dict[str, list[str]]) -> bool:
    fields = dict(part.split("=") for part in query.get("fieldSelector", [""])[0].split(",") if part)
    labels = dict(part.split("=") for part in query.get("labelSelector", [""])[0].split(",") if part)
    own = item["metadata"].get("labels", {"app": "garage"})
    return fields.get("metadata.name") in (None, item["metadata"]["name"]) and labels.items() <= own.items()
