# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A loopback server with the part of the Kubernetes API that stores of credentials use: Secrets, with its rules about ``resourceVersion``.

Written from the API conventions of Kubernetes: a create of what is there is 409 AlreadyExists, a replace or delete that names another version than
the present one is 409 Conflict, ``dryRun=All`` checks and keeps nothing, and ``creationTimestamp`` is the server's.
"""

from __future__ import annotations

import base64
import json
import re
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

_PATH = re.compile(r"/api/v1/namespaces/([^/]+)/secrets(?:/([^/]+))?")


class SecretsApi:
    """``secrets`` by (namespace, name) as the API shows them; ``refuse`` is a set of verbs that the account may not use; ``now`` is its clock.

    ``before`` is called with the verb of each request that changes something, before it is done.
    """

    def __init__(self) -> None:
        self.secrets: dict[tuple[str, str], dict] = {}
        self.requests: list[str] = []
        self.refuse: set[str] = set()
        self.now = datetime(2026, 1, 1, tzinfo=timezone.utc)
        self.before: Any = lambda verb: None
        self._version = 100
        self._lock = Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> SecretsApi:
        Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *dummy: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def kubeconfig(self, folder: Any) -> str:
        """A file by which a client finds this server."""
        path = folder / "kubeconfig"
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "here",
            "clusters": [{"name": "here", "cluster": {"server": self.url}}], "users": [{"name": "me", "user": {"token": "account-token"}}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}]}))
        return str(path)

    def clear(self) -> None:
        self.secrets.clear()

    def data(self, namespace: str, name: str) -> dict[str, str]:
        """The texts of a Secret."""
        return {key: base64.b64decode(value).decode() for key, value in self.secrets[namespace, name]["data"].items()}

    def put(self, namespace: str, name: str, data: dict[str, str], **meta: Any) -> None:
        """A Secret that somebody else makes or changes."""
        self._store(namespace, name, {"metadata": meta, "data": {key: base64.b64encode(text.encode()).decode() for key, text in data.items()}})

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def handle(self, method: str, target: str, body: dict | None) -> tuple[int, dict]:
        namespace, name = _PATH.fullmatch(urlsplit(target).path).groups()
        dry = dict(parse_qsl(urlsplit(target).query)).get("dryRun") == "All"
        verb = {"GET": "get", "POST": "create", "PUT": "update", "DELETE": "delete"}[method]
        if verb != "get" and not dry:
            self.before(verb)
        with self._lock:
            self.requests.append(f"{verb} {name or body['metadata']['name']}{' (dry)' if dry else ''}")
            if verb in self.refuse:
                return _status(403, "Forbidden", f'secrets is forbidden: User "me" cannot {verb} resource "secrets"')
            return getattr(self, f"_{verb}")(namespace, name, body or {}, dry)

    def _get(self, namespace: str, name: str, dummy: dict, dry: bool) -> tuple[int, dict]:
        found = self.secrets.get((namespace, name))
        return (200, found) if found else _status(404, "NotFound", f'secrets "{name}" not found')

    def _create(self, namespace: str, dummy: None, body: dict, dry: bool) -> tuple[int, dict]:
        name = body["metadata"]["name"]
        if (namespace, name) in self.secrets:
            return _status(409, "AlreadyExists", f'secrets "{name}" already exists')
        return 201, body if dry else self._store(namespace, name, body)

    def _update(self, namespace: str, name: str, body: dict, dry: bool) -> tuple[int, dict]:
        found = self.secrets.get((namespace, name))
        if found is None:
            return _status(404, "NotFound", f'secrets "{name}" not found')
        if body["metadata"].get("resourceVersion") not in (None, found["metadata"]["resourceVersion"]):
            return _status(409, "Conflict", f'Operation cannot be fulfilled on secrets "{name}": the object has been modified')
        return 200, body if dry else self._store(namespace, name, body)

    def _delete(self, namespace: str, name: str, body: dict, dry: bool) -> tuple[int, dict]:
        found = self.secrets.get((namespace, name))
        if found is None:
            return _status(404, "NotFound", f'secrets "{name}" not found')
        if (body.get("preconditions") or {}).get("resourceVersion") not in (None, found["metadata"]["resourceVersion"]):
            return _status(409, "Conflict", f'Operation cannot be fulfilled on secrets "{name}": the object has been modified')
        del self.secrets[namespace, name]
        return 200, {"kind": "Status", "status": "Success"}

    def _store(self, namespace: str, name: str, body: dict) -> dict:
        self._version += 1
        old = self.secrets.get((namespace, name))
        created = old["metadata"]["creationTimestamp"] if old else self.now.strftime("%Y-%m-%dT%H:%M:%SZ")
        meta = {**body["metadata"], "namespace": namespace, "name": name, "resourceVersion": str(self._version), "creationTimestamp": created}
        self.secrets[namespace, name] = {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", **body, "metadata": meta}
        return self.secrets[namespace, name]


def _status(code: int, reason: str, message: str) -> tuple[int, dict]:
    return code, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message, "code": code}


def _handler(api: Any) -> type[BaseHTTPRequestHandler]:
    """Answers by ``api.handle(method, target, body)``, by the clock of ``api``."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body in one packet, or each answer takes 40 ms.
        wbufsize = -1
        disable_nagle_algorithm = True

        def answer(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            text = self.rfile.read(size)
            status, body = api.handle(self.command, self.path, json.loads(text) if text else None)
            content = json.dumps(body).encode() if body is not None else b""
            self.send_response_only(status)
            self.send_header("Date", format_datetime(api.now, usegmt=True))
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = answer

        def log_message(self, *dummy: object) -> None:
            """Nothing: a request may hold a secret."""

    return Handler
