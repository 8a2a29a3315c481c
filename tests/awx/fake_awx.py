# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""As much of AWX's API as the modules of awx.awx ask for: objects by kind, found by their fields, and the links between them."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

ROOT = "/api/v2"
VERSION = "24.6.1"
KINDS = ("organizations", "execution_environments", "credential_types", "credentials", "projects", "inventories", "inventory_sources", "job_templates",
         "workflow_job_templates", "workflow_job_template_nodes", "workflow_approval_templates")
Item = dict[str, Any]


class Refused(Exception):
    """An answer that is no success: its status and what is said."""


class FakeAwx:
    """A context manager; what was made is in ``objects``, by kind and id, and ``links`` by (kind, id, association)."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[int, Item]] = {kind: {} for kind in KINDS}
        self.links: dict[tuple[str, int, str], list[int]] = {}
        self.surveys: dict[int, Item] = {}
        self.writes: list[str] = []
        self.create("organizations", {"name": "Default"})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> FakeAwx:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def named(self, kind: str, name: str) -> Item:
        """The one object of that name."""
        (found,) = (item for item in self.objects[kind].values() if item["name"] == name)
        return found

    def linked(self, kind: str, number: int, association: str) -> list[int]:
        return self.links.get((kind, number, association), [])

    def create(self, kind: str, fields: Item) -> Item:
        number = sum(map(len, self.objects.values())) + 1
        place = f"{ROOT}/{kind}/{number}/"
        self.objects[kind][number] = item = {"id": number, "url": place, "type": kind.removesuffix("s"), "related": {}, **fields}
        if kind in ("job_templates", "workflow_job_templates"):
            item["related"]["survey_spec"] = f"{place}survey_spec/"
        return item

    def answer(self, method: str, path: str, query: Item, body: Item) -> tuple[int, Any]:
        """Status and document for one request. Raises Refused."""
        if method != "GET":
            self.writes.append(f"{method} {path}")
        if match := re.fullmatch(rf"{ROOT}/(\w+)/", path):
            return self._list(match[1], query) if method == "GET" else (201, self.create(self._known(match[1]), body))
        match = re.fullmatch(rf"{ROOT}/(\w+)/(\d+)/(?:(\w+)/)?", path)
        if not match or int(match[2]) not in self.objects.get(match[1], {}):
            raise Refused(404, {"detail": "Not found."})
        kind, number, below = match[1], int(match[2]), match[3]
        if below == "survey_spec":
            return self._survey(method, number, body)
        if below == "create_approval_template":
            return 201, self._approval(number, body)
        if below:
            return self._association(method, (kind, number, below), body)
        if method == "PATCH":
            self.objects[kind][number].update(body)
        return 200, self.objects[kind][number]

    def _known(self, kind: str) -> str:
        if kind not in KINDS:
            raise Refused(404, {"detail": "Not found."})
        return kind

    def _list(self, kind: str, query: Item) -> tuple[int, Item]:
        items = self.objects["job_templates"] if kind == "unified_job_templates" else self.objects[self._known(kind)]
        found = [item for item in items.values() if all(str(item.get(field)) == value for field, value in query.items())]
        return 200, {"count": len(found), "next": None, "results": found}

    def _survey(self, method: str, number: int, body: Item) -> tuple[int, Item]:
        if method == "POST":
            self.surveys[number] = body
        return 200, self.surveys.get(number, {})

    def _approval(self, number: int, body: Item) -> Item:
        made = self.create("workflow_approval_templates", body)
        node = self.objects["workflow_job_template_nodes"][number]
        node["unified_job_template"], node["related"] = made["id"], {**node["related"], "unified_job_template": made["url"]}
        return made

    def _association(self, method: str, link: tuple[str, int, str], body: Item) -> tuple[int, Any]:
        ids = self.links.setdefault(link, [])
        if method == "GET":
            return 200, {"count": len(ids), "next": None, "results": [{"id": each} for each in ids]}
        (ids.remove if body.get("disassociate") else ids.append)(body["id"])
        return 204, None


def _handler(awx: FakeAwx) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _any(self) -> None:
            split = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else {}
            try:
                status, document = awx.answer(self.command, split.path, dict(parse_qsl(split.query)), body)
            except Refused as refused:
                status, document = refused.args
            content = b"" if document is None else json.dumps(document).encode()
            self.send_response(status)
            self.send_header("X-API-Product-Name", "AWX")
            self.send_header("X-API-Product-Version", VERSION)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = _any

        def log_message(self, *_arguments: Any) -> None:
            """Nothing is logged: a test tells what it saw."""

    return Handler
