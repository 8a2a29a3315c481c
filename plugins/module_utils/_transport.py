# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""HTTP to one Garage node, over one ``requests.Session``. The only file that knows sockets. Private: not for use outside of the collection."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from ._errors import NotAdminApi, SetupError, TransportError

try:
    import requests
except ImportError:
    requests = None
    REQUESTS_ERROR = traceback.format_exc()
else:
    REQUESTS_ERROR = None

HIDDEN = "********"
_CONNECT_TIMEOUT = 10.0  # seconds; an address that does not answer must not cost the whole `timeout`
_SEE = "see api_url, and whether a Garage node runs there and can be reached from the host where this runs"
_CREDENTIALS = re.compile(r"[^/@\s'\"]*@")
# What TLS libraries say before the first byte of a request has left, and what to do; none of it passes by waiting.
_TLS_SETUP = (
    ("hostname mismatch", "api_url must use one of the names in its certificate"),
    ("ip address mismatch", "api_url must use one of the names in its certificate"),
    ("certificate has expired", "renew the certificate of the server"),
    ("certificate verify failed", "give the CA that signed it as `ca_path`, or set `validate_certs: false`"),
    ("wrong version number", "the server speaks plain HTTP here; use http:// in api_url"),
    ("record layer failure", "the server speaks plain HTTP here; use http:// in api_url"),
    ("no certificate or crl found", "`ca_path` must hold certificates in PEM format"),
    ("key values mismatch", "client_key is not the key of client_cert"),
)


@dataclass(frozen=True, repr=False)
class Connection:
    """Where and how to reach an Admin API.

    ``token_source`` names where the token came from (never its value), for the message of a refused one. ``timeout`` is in seconds,
    for connecting and for each read. ``verify`` is a bool or the path of a CA file; ``client_cert`` a path or a pair of paths.
    """

    api_url: str
    token: str
    token_source: str
    verify: bool | str = True
    client_cert: str | tuple[str, str] | None = None
    timeout: float = 60.0


@dataclass(frozen=True)
class Response:
    """An answer: HTTP status, lower-case media type, text (which may hold a secret that is shown once)."""

    status: int
    media_type: str
    text: str = field(repr=False)
    date: str | None = None


class HttpTransport:
    """Sends single requests; never repeats one, never follows a redirect."""

    # Ten thousand buckets with rules and grants are some 30 MB; what is much larger is no Garage and must not fill the memory (OP-119).
    max_answer = 128 * 2**20

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.url = connection.api_url.rstrip("/")
        self._session = requests.Session()
        # A token in session.headers would be replaced by `Basic …` for a host that has a netrc entry; an auth object is not.
        self._session.auth = self._authorise
        self._session.headers.update({"User-Agent": "s3ops.garage", "Accept": "application/json"})
        self._session.cert = connection.client_cert

    def _authorise(self, request: Any) -> Any:
        request.headers["Authorization"] = f"Bearer {self.connection.token}"
        return request

    def send(self, method: str, path: str, query: dict | None, body: Any, label: str) -> Response:
        """One request. Raises TransportError; its ``sent`` tells whether the server may have seen the request."""
        with self._begin(method, path, query, body, label) as answer:
            if 300 <= answer.status_code < 400:
                target = self._clean(answer.headers.get("Location", "nowhere"))[:200]
                raise NotAdminApi(f"{label} at {self.url}: redirected to {target}; not followed, because the token must not travel",
                                  hint="set api_url to the address of the Admin API itself", endpoint=label, status=answer.status_code)
            media_type = self._clean(answer.headers.get("Content-Type", "").split(";")[0].strip().lower())[:100]
            return Response(answer.status_code, media_type, self._text(answer, label), answer.headers.get("Date"))

    def _begin(self, method: str, path: str, query: dict | None, body: Any, label: str) -> Any:
        """Send the request and wait for the head of the answer."""
        timeout = self.connection.timeout
        patience = min(timeout, _CONNECT_TIMEOUT)
        try:
            # REQUESTS_CA_BUNDLE beats session.verify, but not a path or False that is given with the request.
            return self._session.request(method, self.url + path, params=_in_url(query), json=body, verify=self.connection.verify,
                                         timeout=(patience, timeout), allow_redirects=False, stream=True)
        except requests.exceptions.SSLError as error:
            raise self._tls_failure(error, label) from None
        except requests.exceptions.ConnectTimeout:
            raise self._failure(label, f"no connection within {patience:g} s", sent=False) from None
        except requests.exceptions.ReadTimeout:
            raise self._late(label) from None
        except requests.exceptions.ProxyError as error:
            raise self._failure(label, f"the proxy failed: {_reason(error)}", sent=not _never_connected(error),
                                hint="set no_proxy for this host, or unset the proxy variables") from None
        except requests.exceptions.ConnectionError as error:
            raise self._failure(label, _reason(error), sent=not _never_connected(error)) from None
        except (requests.exceptions.RequestException, OSError, ValueError) as error:
            # OSError: a CA or client certificate file that does not exist; ValueError: an address no client can use.
            raise self._failure(label, str(error), sent=False, kind=SetupError, hint="see api_url, ca_path, client_cert and client_key") from None

    def _text(self, answer: Any, label: str) -> str:
        """The body, which is UTF-8 whatever its header says. Whatever fails here, the request was seen."""
        content = bytearray()
        try:
            for piece in answer.iter_content(65536):
                content += piece
                if len(content) > self.max_answer:
                    raise NotAdminApi(f"{label} at {self.url}: the answer is larger than {self.max_answer} bytes and was given up",
                                      hint="see what api_url points to", endpoint=label, status=answer.status_code)
        except requests.exceptions.RequestException as error:
            if "ReadTimeoutError" in _chain(error):
                raise self._late(label) from None
            raise self._failure(label, f"the answer broke off: {_reason(error)}", sent=True) from None
        return content.decode("utf-8", "replace")

    def bearing(self, token: str, source: str) -> HttpTransport:
        """The same with another token, which comes from ``source``."""
        return HttpTransport(replace(self.connection, token=token, token_source=source))

    def close(self) -> None:
        # Garage waits up to 10 s at shutdown for connections that are kept alive (seen on 2.5.0).
        self._session.close()

    def _late(self, label: str) -> TransportError:
        return self._failure(label, f"no answer within {self.connection.timeout:g} s", sent=True, hint="a longer `timeout` may help; a hung peer"
                             " makes Garage wait for its rpc_timeout_msec (300 s by default)")

    def _tls_failure(self, error: Exception, label: str) -> TransportError:
        text = _reason(error)
        for words, hint in _TLS_SETUP:
            if words in text.lower().replace("_", " "):
                return self._failure(label, f"TLS failed: {text}", sent=False, hint=hint, kind=SetupError)
        # A server cuts, or refuses a client certificate, after the request has begun to leave.
        return self._failure(label, f"TLS failed: {text}", sent=True, hint="see whether the server wants a client certificate (client_cert)")

    def _failure(self, label: str, reason: str, sent: bool, hint: str = _SEE, kind: type[TransportError] = TransportError) -> TransportError:
        return kind(f"{label} at {self.url}: {self._clean(reason)}", hint=hint, sent=sent, endpoint=label)

    def _clean(self, text: str) -> str:
        """Without the token, and without the password of a proxy's or a redirect's address."""
        if self.connection.token:
            text = text.replace(self.connection.token, HIDDEN)
        return _without_credentials(text)


def _in_url(query: dict | None) -> dict | None:
    """Query parameters are JSON values; in a URL, true and false are words."""
    return {name: json.dumps(value) if isinstance(value, bool) else value for name, value in query.items()} if query else None


def url_faults(url: str) -> list[str]:
    """What is wrong with an ``api_url``, in words; empty when it is usable."""
    shown = repr(_without_credentials(url))
    if any(char.isspace() for char in url):
        return [f"api_url: {shown} must not contain white space"]
    try:
        parts = urlsplit(url)
        port_ok = parts.port != 0
    except ValueError as error:
        return [f"api_url: {shown} is not a URL ({_without_credentials(str(error))})"]
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return [f"api_url: {shown} must be http://host:port or https://host:port"]
    if parts.username or parts.password:
        return ["api_url: must not contain a user name or password; the token is set by api_token or api_token_file"]
    if not port_ok:
        return [f"api_url: {shown} must have a port from 1 to 65535"]
    if parts.query or parts.fragment:
        return [f"api_url: {shown} must end after the host, the port and perhaps a path"]
    if parts.path.rstrip("/").endswith(("/v0", "/v1", "/v2")):
        return [f"api_url: {shown} must not name the API version; leave out {parts.path.rstrip('/')[-3:]!r}"]
    return []


def _without_credentials(text: str) -> str:
    return _CREDENTIALS.sub("", text)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what it was made of: requests wraps urllib3 wraps the socket's error."""
    seen: list[BaseException] = []
    todo = [error]
    while todo:
        current = todo.pop(0)
        if current in seen:
            continue
        seen.append(current)
        yield current
        inner = [getattr(current, "reason", None), *current.args, current.__cause__, current.__context__]
        todo += [each for each in inner if isinstance(each, BaseException)]


def _reason(error: BaseException) -> str:
    """The innermost cause in words."""
    *_outer, innermost = _causes(error)
    return str(getattr(innermost, "strerror", None) or innermost)[:300]


def _chain(error: BaseException) -> set[str]:
    return {type(each).__name__ for each in _causes(error)}


def _never_connected(error: BaseException) -> bool:
    """True when the request cannot have left: refused, unresolvable, unreachable, or turned away by a proxy."""
    return bool(_chain(error) & {"NewConnectionError", "ConnectTimeoutError", "NameResolutionError"}) or any(
        str(each).startswith("Tunnel connection failed") for each in _causes(error))
