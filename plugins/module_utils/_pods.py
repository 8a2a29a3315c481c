# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods by the Kubernetes API: find them, run a command in one. Private: not for use outside of the collection.

The web socket of a command is opened here and not by the library's own ``stream``, which changes a shared client while it connects (writes may be
in flight together), has no time-out for connecting, decodes each frame by itself (a letter cut in two is lost), and in releases before 36 cannot end
the command's standard input.
"""

from __future__ import annotations

import copy
import json
import re
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from ._errors import NotAdminApi, SetupError, TransportError
from ._kubernetes import KUBERNETES_ERROR, kubernetes_configuration
from ._models.pod import Pod

try:
    import certifi
    import urllib3
    import websocket
    from kubernetes import client as kubernetes_client
    from kubernetes import config as kubernetes_config
    from kubernetes.stream import ws_client
except ImportError:
    # _kubernetes says so to the user: these come with that library.
    kubernetes_client = None

STDIN, STDOUT, STDERR, STATUS, CLOSE = 0, 1, 2, 3, 255  # channels of the sub-protocol
V5, V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"
_CONNECT_TIMEOUT = 10.0  # seconds
_SEE = "see kubernetes.kubeconfig and kubernetes.context, and whether the pod runs"
_AFTER_STATUS = 5.0  # seconds; nothing comes after the status but the end of the connection
_NOT_STARTED = re.compile(r"container not found|error dialing backend|unable to upgrade connection", re.I)
_NO_PROGRAM = re.compile(r"no such file or directory|executable file not found|permission denied", re.I)


@dataclass(frozen=True)
class PodConnection:
    """Which pod, and how its cluster is reached. One of ``pod`` and ``label_selector`` is set. ``timeout`` is in seconds.

    ``token`` and ``token_source`` are those of a connection to an Admin API; none is needed here.
    """

    namespace: str
    pod: str | None = None
    label_selector: str | None = None
    container: str = "garage"
    config_path: str = "/etc/garage/garage.toml"
    garage_path: str = "/garage"
    kubeconfig: str | None = None
    context: str | None = None
    timeout: float = 60.0
    token: str = field(default="", repr=False)
    token_source: str = "nowhere: a command in a pod needs none"

    @property
    def place(self) -> str:
        """In words, for messages."""
        return f"pod {self.namespace}/{self.pod}" if self.pod else f"pods {self.label_selector} in {self.namespace}"


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str = field(repr=False)
    err: str


class Pods:
    """One cluster with one set of credentials. Every method raises TransportError; ``label`` is what it is done for. Safe for several threads."""

    max_answer = 128 * 2**20  # bytes; as over HTTP (OP-119)

    def __init__(self, connection: PodConnection) -> None:
        self.connection = connection
        self._configuration: Any = None
        self._api: Any = None
        self.server_date: str | None = None

    def at(self, pod: str) -> Pods:
        """The same for one pod, by its name."""
        other = copy.copy(self)
        other.connection = replace(self.connection, pod=pod, label_selector=None)
        return other

    def found(self, label: str) -> list[Pod]:
        """The pods that the connection names, ordered by name."""
        spot = self.connection
        query = {"fieldSelector": f"metadata.name={spot.pod}"} if spot.pod else {"labelSelector": spot.label_selector}
        with self._failures(label, sent=False):
            items = json.loads(self._asked(f"/api/v1/namespaces/{spot.namespace}/pods", query))["items"]
        return sorted((Pod.from_api(item, spot.container) for item in items), key=lambda pod: pod.name)

    def get(self, label: str, path: str, query: Mapping[str, Any] | None = None) -> bytes | None:
        """What the API answers to a GET of ``path``; None when it has no such thing."""
        with self._failures(label, sent=False):
            try:
                return self._asked(path, query or {})
            except kubernetes_client.ApiException as error:
                if error.status != 404:
                    raise
        return None

    def run(self, label: str, command: list[str], stdin: str | None = None, argument: bool = False) -> Ran:
        """Run ``command`` in the pod of that name, with ``stdin`` and its end when it is not None.

        A server that cannot tell the end of standard input (some before Kubernetes 1.30) is given it as a last argument, when that may be seen
        (``argument``). Raises NotAdminApi when the answer is too large.
        """
        with self._failures(label, sent=stdin is None):
            socket = self._connect(command if stdin is None else [*command, "-"], stdin is not None)
            try:
                if stdin is None or socket.subprotocol == V5:
                    return self._talk(label, socket, stdin)
            finally:
                socket.shutdown()
        if not argument:
            raise SetupError(f"{label} at {self.connection.place}: this Kubernetes cannot end the standard input of a command, and a secret must not"
                             " be an argument, where it could be read; nothing was sent", hint="use transport: http for this task, or Kubernetes 1.30"
                             " or newer", endpoint=label)
        with self._failures(label, sent=True):
            socket = self._connect([*command, stdin], False)
            try:
                return self._talk(label, socket, None)
            finally:
                socket.shutdown()

    def _asked(self, path: str, query: Mapping[str, Any]) -> bytes:
        """As JSON or text: the library's models refuse what a newer Kubernetes says."""
        configuration = self._configured()
        self._api = self._api or kubernetes_client.ApiClient(configuration)
        limits = min(self.connection.timeout, _CONNECT_TIMEOUT), self.connection.timeout
        answer = self._api.call_api(path, "GET", query_params=list(query.items()), header_params={"Accept": "application/json"},
                                    auth_settings=["BearerToken"], _preload_content=False, _request_timeout=limits)
        self.server_date = answer.headers.get("Date")
        return answer.data

    def _configured(self) -> Any:
        if self._configuration is None:
            if KUBERNETES_ERROR:
                raise _Setup("the Python library kubernetes is needed where this runs, and cannot be imported; install it: pip install kubernetes")
            self._configuration = kubernetes_configuration(self.connection.kubeconfig, self.connection.context)
        return self._configuration

    def _connect(self, command: list[str], stdin: bool) -> Any:
        """An open web socket to a command that runs."""
        configuration = self._configured()
        api = kubernetes_client.ApiClient(configuration)
        api.request = self._open
        try:
            return kubernetes_client.CoreV1Api(api).connect_get_namespaced_pod_exec(
                self.connection.pod, self.connection.namespace, command=command, container=self.connection.container, stdin=stdin, stdout=True,
                stderr=True, tty=False, _preload_content=False)
        finally:
            api.close()

    def _open(self, dummy_method: str, url: str, query_params: Any = None, headers: Mapping | None = None, **dummy: Any) -> Any:
        """In the place of ApiClient.request."""
        configuration = self._configuration
        options = {"header": [f"{name}: {value}" for name, value in (headers or {}).items() if name.lower() == "authorization"],
                   "subprotocols": [V5, V4], "timeout": min(self.connection.timeout, _CONNECT_TIMEOUT), "redirect_limit": 0}
        if configuration.proxy or configuration.proxy_headers:
            options = ws_client.websocket_proxycare(options, configuration, url, headers)
        socket = websocket.WebSocket(sslopt=_tls(configuration), skip_utf8_validation=True)
        socket.connect(ws_client.get_websocket_url(url, query_params), **options)
        return socket

    def _talk(self, label: str, socket: Any, stdin: str | None) -> Ran:
        """Send what the command is to read, and take what it says until the connection ends."""
        streams = {STDOUT: bytearray(), STDERR: bytearray(), STATUS: bytearray()}
        try:
            if stdin is not None:
                socket.send(bytes([STDIN]) + stdin.encode(), opcode=websocket.ABNF.OPCODE_BINARY)
                socket.send(bytes([CLOSE, STDIN]), opcode=websocket.ABNF.OPCODE_BINARY)
            for channel, data in self._frames(socket, streams):
                streams[channel] += data
                if sum(map(len, streams.values())) > self.max_answer:
                    raise NotAdminApi(f"{label} at {self.connection.place}: the answer is larger than {self.max_answer} bytes and was given up",
                                      hint="see what garage_path runs in the container", endpoint=label)
        except websocket.WebSocketTimeoutException:
            if not streams[STATUS]:
                raise self._failure(label, f"no answer within {self.connection.timeout:g} s", sent=True, hint="a longer `timeout` may help; a hung"
                                    " peer makes Garage wait for its rpc_timeout_msec (300 s by default)") from None
        except (websocket.WebSocketException, OSError) as error:
            if not streams[STATUS]:
                raise self._failure(label, f"the connection broke off before the command had ended: {str(error)[:300]}", sent=True,
                                    hint="see whether the pod is still there") from None
        return self._ended(label, *(streams[channel].decode("utf-8", "replace") for channel in (STDOUT, STDERR, STATUS)))

    def _frames(self, socket: Any, streams: Mapping[int, bytearray]) -> Iterator[tuple[int, bytes]]:
        """Channel and data of each frame. What is not data (pings) does not put off the time-out."""
        deadline = time.monotonic() + self.connection.timeout
        while True:
            if (left := deadline - time.monotonic()) <= 0:
                raise websocket.WebSocketTimeoutException("too late")
            socket.settimeout(left)
            opcode, frame = socket.recv_data_frame(True)
            if opcode == websocket.ABNF.OPCODE_CLOSE:
                return
            data = bytes(frame.data or b"")
            if opcode in (websocket.ABNF.OPCODE_BINARY, websocket.ABNF.OPCODE_TEXT) and data and data[0] in streams:
                deadline = time.monotonic() + (_AFTER_STATUS if data[0] == STATUS else self.connection.timeout)
                yield data[0], data[1:]

    def _ended(self, label: str, out: str, err: str, status: str) -> Ran:
        """What the status means. Raises TransportError unless the command itself came to an end."""
        try:
            data = json.loads(status)
        except ValueError:
            raise self._failure(label, "the connection ended before the command had", sent=True, hint="see whether the pod is still there") from None
        if data.get("status") == "Success":
            return Ran(0, out, err)
        causes = (data.get("details") or {}).get("causes") or []
        code = next((each.get("message") for each in causes if each.get("reason") == "ExitCode"), None)
        if code is not None:
            return Ran(int(code), out, err)
        text = " ".join(str(data.get("message") or data.get("reason")).split())[:500]
        if _NO_PROGRAM.search(text):
            raise self._failure(label, text, sent=False, kind=SetupError, hint="see garage_path")
        raise self._failure(label, text, sent=not _NOT_STARTED.search(text))

    @contextmanager
    def _failures(self, label: str, sent: bool) -> Iterator[None]:
        """What libraries raise before a command runs, as TransportError. ``sent``: whether the command may run without anything more from us."""
        try:
            yield
        except _Setup as error:
            raise self._failure(label, str(error), sent=False, kind=SetupError) from None
        except kubernetes_config.ConfigException as error:
            raise self._failure(label, f"the Kubernetes configuration cannot be used: {error}", sent=False, kind=SetupError,
                                hint="set kubernetes.kubeconfig and kubernetes.context, or KUBECONFIG") from None
        except kubernetes_client.ApiException as error:
            raise self._refusal(label, error.status, error.body or error.reason) from None
        except websocket.WebSocketBadStatusException as error:
            raise self._refusal(label, error.status_code, getattr(error, "resp_body", None) or str(error).partition(" -+-+-")[0]) from None
        except websocket.WebSocketTimeoutException:
            raise self._failure(label, "the Kubernetes API did not answer in time", sent=sent) from None
        except (websocket.WebSocketException, urllib3.exceptions.HTTPError, OSError, ValueError, KeyError) as error:
            never = isinstance(error, (ConnectionRefusedError, websocket.WebSocketAddressException))
            reason = getattr(error, "reason", None) or error
            raise self._failure(label, f"the Kubernetes API cannot be used: {str(reason)[:300]}", sent=sent and not never) from None

    def _refusal(self, label: str, status: int, body: Any) -> TransportError:
        """An error answer of the Kubernetes API, which came before anything ran."""
        text = _message(body)
        if status == 401:
            return self._failure(label, "the Kubernetes API does not accept these credentials", sent=False, kind=SetupError,
                                 hint="see kubernetes.kubeconfig and kubernetes.context, or renew the credentials")
        if status == 403:
            return self._failure(label, f"the Kubernetes API forbids it: {text}", sent=False, kind=SetupError, hint=_missing_right(text))
        return self._failure(label, f"the Kubernetes API answers {status}: {text}", sent=False)

    def _failure(self, label: str, reason: str, sent: bool, hint: str = _SEE, kind: type[TransportError] = TransportError) -> TransportError:
        return kind(f"{label} at {self.connection.place}: {reason}", hint=hint, sent=sent, endpoint=label)


class _Setup(Exception):
    """Something that no try can mend."""


def _tls(configuration: Any) -> dict:
    """The options of TLS, as the library's own web socket has them."""
    options: dict[str, Any] = {"cert_reqs": ssl.CERT_REQUIRED if configuration.verify_ssl else ssl.CERT_NONE}
    if configuration.verify_ssl:
        options["ca_certs"] = configuration.ssl_ca_cert or certifi.where()
    if not configuration.verify_ssl or configuration.assert_hostname is not None:
        options["check_hostname"] = bool(configuration.verify_ssl and configuration.assert_hostname)
    names = (("certfile", "cert_file"), ("keyfile", "key_file"), ("server_hostname", "tls_server_name"))
    return {**options, **{name: value for name, source in names if (value := getattr(configuration, source, None))}}


def _message(body: Any) -> str:
    """What a Status of the Kubernetes API says, or the text of an answer that is none."""
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else str(body)
    try:
        text = json.loads(text)["message"]
    except (ValueError, KeyError, TypeError):
        pass
    return " ".join(str(text).split())[:500]


def _missing_right(text: str) -> str:
    """Kubernetes says of a request what it lacks: cannot create resource "pods/exec" in API group "" in the namespace "garage"."""
    found = re.search(r'cannot (\w+) resource "([^"]+)"', text)
    lacks = f"it lacks the verb {found[1]} on {found[2]}; " if found else ""
    return f"{lacks}give this account a Role in the namespace with list on pods, and get and create on pods/exec"
