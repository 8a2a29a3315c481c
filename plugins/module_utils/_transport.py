# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""HTTP to one Garage node, over one ``requests.Session``. The only file that knows sockets. Private: not for use outside of the collection."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ._errors import NotAdminApi, TransportError

try:
    import requests
except ImportError:
    requests = None
    REQUESTS_ERROR = traceback.format_exc()
else:
    REQUESTS_ERROR = None

HIDDEN = "********"


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
    """An answer: HTTP status, lower-case media type, text."""

    status: int
    media_type: str
    text: str
    date: str | None = None


class HttpTransport:
    """Sends single requests; never repeats one, never follows a redirect."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.url = connection.api_url.rstrip("/")
        self._session = requests.Session()
        # A token in session.headers would be replaced by `Basic …` for a host that has a netrc entry; an auth object is not.
        self._session.auth = self._authorise
        self._session.headers.update({"User-Agent": "s3ops.garage", "Accept": "application/json"})
        # REQUESTS_CA_BUNDLE beats session.verify, so `verify` is given with each request instead.
        self._session.cert = connection.client_cert

    def _authorise(self, request: Any) -> Any:
        request.headers["Authorization"] = f"Bearer {self.connection.token}"
        return request

    def send(self, method: str, path: str, query: dict | None, body: Any, label: str) -> Response:
        """One request. Raises TransportError; its ``sent`` tells whether the server may have seen the request."""
        timeout = self.connection.timeout
        options = {"params": query or None, "timeout": (min(timeout, 10.0), timeout), "allow_redirects": False}
        if self.url.startswith("https:") and self.connection.verify is not True:
            options["verify"] = self.connection.verify
        try:
            answer = self._session.request(method, self.url + path, json=body, **options)
        except requests.exceptions.SSLError as error:
            raise self._tls_failure(error, label) from None
        except requests.exceptions.ConnectTimeout:
            raise self._failure(label, f"no connection within {min(timeout, 10.0):g} s", sent=False) from None
        except requests.exceptions.ReadTimeout:
            raise self._failure(label, f"no answer within {timeout:g} s", sent=True, hint="a longer `timeout` may help; a hung peer makes"
                                " Garage wait for its rpc_timeout_msec (300 s by default)") from None
        except requests.exceptions.ProxyError as error:
            raise self._failure(label, f"the proxy failed: {_reason(error)}", sent=False,
                                hint="set no_proxy for this host, or unset the proxy variables") from None
        except requests.exceptions.ConnectionError as error:
            raise self._failure(label, _reason(error), sent=not _never_connected(error)) from None
        except (requests.exceptions.RequestException, OSError, ValueError) as error:
            # OSError: a CA or client certificate file that does not exist; ValueError: a URL no client can use.
            raise self._failure(label, self._clean(str(error)), sent=False) from None
        if 300 <= answer.status_code < 400:
            target = answer.headers.get("Location", "nowhere")
            raise NotAdminApi(f"{label} at {self.url}: redirected to {target}; not followed, because the token must not travel",
                              hint="set api_url to the address of the Admin API itself", endpoint=label, status=answer.status_code)
        media_type = answer.headers.get("Content-Type", "").split(";")[0].strip().lower()
        return Response(answer.status_code, media_type, answer.text, answer.headers.get("Date"))

    def close(self) -> None:
        # Garage waits up to 10 s at shutdown for connections that are kept alive (seen on 2.5.0).
        self._session.close()

    def _failure(self, label: str, reason: str, sent: bool, hint: str | None = None) -> TransportError:
        return TransportError(f"{label} at {self.url}: {reason}", hint=hint, sent=sent, endpoint=label)

    def _tls_failure(self, error: Exception, label: str) -> TransportError:
        text = _reason(error)
        hint = "check the certificate of the server"
        if "certificate verify failed" in text.lower():
            hint = "give the CA that signed it as `ca_path`, or set `validate_certs: false`"
        elif "wrong version number" in text.lower() or "record layer" in text.lower():
            hint = "the server speaks plain HTTP here; use http:// in api_url"
        return self._failure(label, f"TLS failed: {text}", sent=False, hint=hint)

    def _clean(self, text: str) -> str:
        return text.replace(self.connection.token, HIDDEN) if self.connection.token else text


def url_faults(url: str) -> list[str]:
    """What is wrong with an ``api_url``, in words; empty when it is usable."""
    try:
        parts = urlsplit(url)
        port_ok = parts.port is None or parts.port > 0
    except ValueError as error:
        return [f"api_url: {url!r} is not a URL ({error})"]
    faults = []
    if parts.scheme not in ("http", "https") or not parts.hostname:
        faults.append(f"api_url: {url!r} must be http://host:port or https://host:port")
    elif parts.username or parts.password:
        faults.append("api_url: must not contain a user name or password; the token is set by api_token or api_token_file")
    elif parts.query or parts.fragment or not port_ok:
        faults.append(f"api_url: {url!r} must end after the host, the port and perhaps a path")
    elif parts.path.rstrip("/").endswith(("/v0", "/v1", "/v2")):
        faults.append(f"api_url: {url!r} must not name the API version; leave out {parts.path.rstrip('/')[-3:]!r}")
    return faults


def _reason(error: BaseException) -> str:
    """The innermost cause in words: requests wraps urllib3 wraps the socket's error."""
    seen = error
    while True:
        inner = getattr(seen, "reason", None) or (seen.args[0] if seen.args and isinstance(seen.args[0], BaseException) else None)
        inner = inner if isinstance(inner, BaseException) else seen.__cause__ or seen.__context__
        if inner is None or inner is seen:
            break
        seen = inner
    text = str(getattr(seen, "strerror", None) or seen)
    return text[:300]


def _never_connected(error: BaseException) -> bool:
    """True when the request cannot have left: refused, unresolvable, unreachable."""
    seen: BaseException | None = error
    while seen is not None:
        if type(seen).__name__ in ("NewConnectionError", "ConnectTimeoutError", "NameResolutionError"):
            return True
        inner = getattr(seen, "reason", None)
        seen = inner if isinstance(inner, BaseException) else (
            seen.args[0] if seen.args and isinstance(seen.args[0], BaseException) else None)
    return False
