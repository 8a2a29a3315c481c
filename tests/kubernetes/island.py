# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A network of a command's own, with nothing but loopback, where one port leads to the same port of this machine's loopback.

``python -m tests.kubernetes.island SOCKET PORT COMMAND …`` is what runs in it.
"""

from __future__ import annotations

import contextlib
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

CHUNK_BYTES = 1 << 16


@contextlib.contextmanager
def island(path: Path, port: int) -> Iterator[list[str]]:
    """What to put before a command so that it runs there. ``path`` is the socket by which the port is reached from inside."""
    with _served(socketserver.ThreadingUnixStreamServer, str(path), lambda: socket.create_connection(("127.0.0.1", port))):
        yield ["unshare", "--net", "--map-root-user", sys.executable, "-m", __name__, str(path), str(port)]


@contextlib.contextmanager
def _served(kind: type[socketserver.BaseServer], address: object, connect: Callable[[], socket.socket]) -> Iterator[None]:
    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with connect() as far:
                back = threading.Thread(target=_pump, args=(far, self.request), daemon=True)
                back.start()
                _pump(self.request, far)
                back.join()

    with kind(address, Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while chunk := source.recv(CHUNK_BYTES):
            target.sendall(chunk)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _inside(path: str, port: int, command: list[str]) -> int:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)

    def connect() -> socket.socket:
        far = socket.socket(socket.AF_UNIX)
        far.connect(path)
        return far

    with _served(socketserver.ThreadingTCPServer, ("127.0.0.1", port), connect):
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(_inside(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
