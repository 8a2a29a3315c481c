# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Admin API by ``garage json-api`` in a pod: no port to reach, no admin token. Private: not for use outside of the collection."""

from __future__ import annotations

import json
import re
import threading
import time
from datetime import datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any

from ._errors import NotAdminApi, SetupError, TransportError
from ._models.pod import choose_pod
from ._pods import PodConnection, Pods, Ran
from ._transport import Response

# Bodies with a secret in them; they never become an argument, which others could read.
SECRET_CALLS = frozenset({"ImportKey"})
# Asked by a token about itself, and no token is sent here. Servers before 2.5.0 crash when it is asked without one.
_BY_TOKEN = "GetCurrentAdminTokenInfo"
_ERROR = re.compile(r"^Error: (.*)", re.M | re.S)
_API_ERROR = re.compile(r"([A-Za-z]+) \((\d{3})[^)]*\): (.*)", re.S)
# What the command says before it has sent anything to the daemon; the first line is about the container's files.
_SETUP = re.compile(r"Unable to read configuration|No RPC secret|Invalid RPC secret|Permission denied")
_NOT_SENT = re.compile(r"Unable to connect to destination RPC host|JSON error|TOML|node_key|public key")


class ExecTransport:
    """Runs one command for each request, in one pod, which is chosen at the first request and never changed: writes go to one node.

    Never repeats a request that may have been carried out.
    """

    def __init__(self, pods: Pods, chosen: bool = False) -> None:
        self._pods = pods
        self._is_chosen = chosen
        self._lock = threading.Lock()
        # What the clock of the Kubernetes API showed when the monotonic one was at nought.
        self._started: datetime | None = None

    @property
    def url(self) -> str:
        """Where it runs, for messages."""
        return self.connection.place

    @property
    def connection(self) -> PodConnection:
        return self._pods.connection

    def send(self, method: str, path: str, query: dict | None, body: Any, label: str) -> Response:
        """One request. Raises TransportError; its ``sent`` tells whether the daemon may have seen the request."""
        if not path.startswith("/v2/"):
            raise SetupError(f"{label} at {self.url}: cannot be asked by a command in a pod", hint="use transport: http", endpoint=label)
        if label == _BY_TOKEN:
            raise NotAdminApi(f"{label} at {self.url}: a command in a pod sends no token", hint="use transport: http", endpoint=label, status=400)
        self._choose(label)
        request = payload(query, body)
        ran = self._run(request, label)
        if request is not None and "expected unit struct" in ran.err:
            # A command before 2.5.0 knows no fields of this call, and over HTTP the server of that age passes over them; nothing was sent.
            ran = self._run(None, label)
        return self._answer(ran, label)

    def bearing(self, dummy_token: str, dummy_source: str) -> ExecTransport:
        """No token is sent here, whichever it is."""
        return self

    def close(self) -> None:
        """Nothing stays open between two commands."""

    def _run(self, request: Any, label: str) -> Ran:
        command = [self.connection.garage_path, "-c", self.connection.config_path, "json-api", label]
        stdin = None if request is None else json.dumps(request)
        return self._pods.run(label, command, stdin, argument=label not in SECRET_CALLS)

    def _choose(self, label: str) -> None:
        """Find the pod; looked for until one runs, and then no more. Raises TransportError."""
        with self._lock:
            if self._is_chosen:
                return
            pods = self._pods.found(label)
            pod = choose_pod(pods)
            if pod is None:
                states = "; ".join(f"{each.name}: {each.reason}" for each in pods) or "there is no such pod"
                raise TransportError(f"{label} at {self.url}: no container {self.connection.container!r} runs: {states}",
                                     hint="see namespace, pod or label_selector, and container", endpoint=label)
            self._started = _started(self._pods.server_date)
            self._pods, self._is_chosen = self._pods.at(pod.name), True

    def _answer(self, ran: Ran, label: str) -> Response:
        """What the Admin API would have answered over HTTP."""
        if ran.code == 0:
            return Response(200, "application/json", self._whole(ran.out, label), self._date())
        told = _ERROR.search(ran.err)
        text = told[1].strip() if told else ""
        if known := _API_ERROR.match(text):
            return _error(int(known[2]), known[1], known[3], self._date())
        if "unknown variant" in text:
            return _error(400, "InvalidRequest", f"Unknown API endpoint: {label}", self._date())
        if text.startswith("JSON error: ") and "EOF" not in text:
            return _error(400, "InvalidRequest", text, self._date())
        raise self._failure(ran, text, label)

    def _whole(self, out: str, label: str) -> str:
        """A stream may lose its end on the way, or something else than Garage may speak in it."""
        try:
            json.loads(out)
        except ValueError:
            raise NotAdminApi(f"{label} at {self.url}: {len(out)} characters came that are not, or not all of, the JSON of a Garage",
                              hint="see what garage_path runs in the container, and run this again", endpoint=label) from None
        return out

    def _failure(self, ran: Ran, text: str, label: str) -> TransportError:
        """A command that ended without an answer of the daemon."""
        last = " ".join((text or ran.err.strip()[-300:]).split())[:500] or "it said nothing"
        where = f"{label} at {self.url}: "
        if ran.code in (126, 127):
            return SetupError(f"{where}{last}", hint="see garage_path", endpoint=label)
        if "json-api" in ran.err and not text:
            return NotAdminApi(f"{where}this Garage has no json-api: {last}", hint="this collection needs Garage 2.0.0 or newer", endpoint=label)
        if _SETUP.search(text):
            return SetupError(f"{where}{last}", hint="see config_path, and whether the container has the RPC secret", endpoint=label)
        return TransportError(f"{where}the command ended with exit code {ran.code}: {last}", sent=not _NOT_SENT.search(text),
                              hint="see the log of the pod", endpoint=label)

    def _date(self) -> str | None:
        """The time by the clock of the Kubernetes API, which stands in for the one of Garage, that a command does not tell."""
        if self._started is None:
            return None
        return format_datetime(self._started + timedelta(seconds=time.monotonic()), usegmt=True)


def payload(query: dict | None, body: Any) -> Any:
    """What ``json-api`` takes for a request. Query parameters are fields; beside them the body is one as well. None: the call has no input, and must
    be given none (the form of nothing differs between versions)."""
    fields = {name: value for name, value in (query or {}).items() if value is not None}
    if "node" in fields or (fields and body is not None):
        return {**fields, "body": body}
    return fields or body


def _error(status: int, code: str, message: str, date: str | None) -> Response:
    return Response(status, "application/json", json.dumps({"code": code, "message": message}), date)


def _started(date: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(date or "")
    except (TypeError, ValueError):
        return None
    return moment - timedelta(seconds=time.monotonic()) if moment.tzinfo else None
