# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A loopback server with the KV engine, version 2, of HashiCorp Vault, and beside it one of version 1.

A write with ``cas`` of another version than the present one is a 400 that speaks of check-and-set; a version that was deleted or destroyed answers 404
with its metadata; without the right token all is 403. The same tests run against a real Vault, see kv_server.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from http.server import ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from tests.fakes.secrets_api import _handler

_PATH = re.compile(r"/v1/([^/]+)/(data|metadata)/(.+)")
_ENGINE = re.compile(r"/v1/sys/internal/ui/mounts/(.+)")
TOKEN = "hvs.kv-token-of-the-tests"


class KvApi:
    """``secrets`` by path: data (None when deleted) and metadata; ``read_only`` refuses every write; ``now`` is its clock."""

    def __init__(self) -> None:
        self.mount, self.mount_1, self.token = "secret", "kv", TOKEN
        self.secrets_1: dict[str, dict] = {}
        self.secrets: dict[str, dict] = {}
        self.requests: list[str] = []
        self.read_only = False
        self.now = datetime(2026, 1, 1, tzinfo=timezone.utc)
        self._lock = Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> KvApi:
        Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *dummy: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def names(self) -> list[str]:
        return list(self.secrets)

    def clear(self) -> None:
        self.secrets.clear()

    def data(self, path: str) -> dict[str, Any]:
        return self.secrets[path]["data"]

    def put(self, path: str, data: dict | None) -> None:
        """What somebody else writes; None deletes the last version."""
        version = self.secrets[path]["metadata"]["version"] if path in self.secrets else 0
        stamp = self.now.strftime("%Y-%m-%dT%H:%M:%S.123456789Z")
        if data is None:
            self.secrets[path]["data"] = None
            self.secrets[path]["metadata"]["deletion_time"] = stamp
        else:
            meta = {"version": version + 1, "created_time": stamp, "custom_metadata": None, "deletion_time": "", "destroyed": False}
            self.secrets[path] = {"data": data, "metadata": meta}

    def destroy(self, path: str) -> None:
        """Somebody else destroys the last version."""
        self.secrets[path]["data"] = None
        self.secrets[path]["metadata"]["destroyed"] = True

    def handle(self, method: str, target: str, body: dict | None) -> tuple[int, dict | None]:
        engine = _ENGINE.fullmatch(target)
        if engine:
            return 200, {"data": {"type": "kv", "options": {"version": "2" if engine[1] == self.mount else "1"}}}
        mount, kind, path = _PATH.fullmatch(target).groups()
        with self._lock:
            if mount == self.mount_1:
                return self._version_1(method, path, body)
            self.requests.append(f"{method} {kind} {path}")
            if self.read_only and method != "GET":
                return 403, {"errors": ["1 error occurred:\n\t* permission denied\n\n"]}
            if method == "DELETE":
                self.secrets.pop(path, None)
                return 204, None
            return self._read(path) if method == "GET" else self._write(path, body)

    def _version_1(self, method: str, path: str, body: dict | None) -> tuple[int, dict | None]:
        """It takes all for data, what is meant for the other version as well."""
        if method == "GET":
            return (200, {"data": self.secrets_1[path]}) if path in self.secrets_1 else (404, {"errors": []})
        self.secrets_1[path] = body
        return 204, None

    def _read(self, path: str) -> tuple[int, dict]:
        found = self.secrets.get(path)
        if found is None:
            return 404, {"errors": []}
        return (200 if found["data"] is not None else 404), {"data": found}

    def _write(self, path: str, body: dict) -> tuple[int, dict]:
        version = self.secrets[path]["metadata"]["version"] if path in self.secrets else 0
        if body["options"].get("cas") not in (None, version):
            return 400, {"errors": ["check-and-set parameter did not match the current version"]}
        self.put(path, body["data"])
        return 200, {"data": self.secrets[path]["metadata"]}
