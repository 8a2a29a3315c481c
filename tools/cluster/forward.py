# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ports of pods on loopback, for clusters whose pods this machine does not reach."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Any

from kubernetes import client
from kubernetes.stream import portforward

CHUNK_BYTES = 1 << 16


class Forwards:
    """Listening sockets, one for each port of a pod that was asked for; each connection is carried by the API server."""

    def __init__(self, api: client.ApiClient) -> None:
        self._configuration = api.configuration
        self._listening: dict[tuple[str, str, int], socket.socket] = {}

    def to(self, namespace: str, pod: str, port: int) -> int:
        """The loopback port that leads there."""
        place = (namespace, pod, port)
        if place not in self._listening:
            self._listening[place] = socket.create_server(("127.0.0.1", 0))
            threading.Thread(target=self._accept, args=(self._listening[place], place), daemon=True).start()
        return self._listening[place].getsockname()[1]

    def close(self) -> None:
        while self._listening:
            _place, listening = self._listening.popitem()
            # Wakes the thread that accepts.
            with contextlib.suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            listening.close()

    def _accept(self, listening: socket.socket, place: tuple[str, str, int]) -> None:
        while True:
            try:
                near, _address = listening.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._carry, args=(near, place), daemon=True).start()

    def _carry(self, near: socket.socket, place: tuple[str, str, int]) -> None:
        namespace, pod, port = place
        core = client.CoreV1Api(client.ApiClient(self._configuration))
        with near:
            try:
                forward = portforward(core.connect_get_namespaced_pod_portforward, pod, namespace, ports=str(port))
            except client.ApiException:  # the pod is gone: the caller sees a closed connection
                return
            far = forward.socket(port)
            far.setblocking(True)
            with contextlib.closing(far):
                back = threading.Thread(target=_pump, args=(far, near), daemon=True)
                back.start()
                _pump(near, far)
                back.join()


def _pump(source: Any, target: Any) -> None:
    """Carry bytes until one side closes."""
    with contextlib.suppress(OSError):
        while chunk := source.recv(CHUNK_BYTES):
            target.sendall(chunk)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
