# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""From options and environment to a connection; all faults at once. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Union

from ._errors import InputError
from ._pods import PodConnection
from ._transport import Connection, url_faults

ENVIRONMENT = {"api_url": "GARAGE_ADMIN_URL", "api_token": "GARAGE_ADMIN_TOKEN", "api_token_file": "GARAGE_ADMIN_TOKEN_FILE",
               "ca_path": "GARAGE_CA_PATH", "site_role": "GARAGE_SITE_ROLE", "transport": "GARAGE_TRANSPORT"}
TRANSPORTS = ("http", "exec", "auto")
# What a socket and a patient user can bear (OP-119); a time-out of nought would not even connect.
_BOUNDS = {"timeout": (0.001, 86400), "retries": (0, 100), "retry_delay": (0, 3600)}


@dataclass(frozen=True)
class EitherConnection:
    """Two ways to the same cluster, of which one may be missing. ``why`` says why HTTP is out of the question from the start."""

    http: Connection | None
    pod: PodConnection | None
    why: str | None = None

    @property
    def token(self) -> str:
        return self.http.token if self.http else ""

    @property
    def place(self) -> str:
        return self.http.api_url if self.http else self.pod.place


AnyConnection = Union[Connection, PodConnection, EitherConnection]


def resolve_connection(params: Mapping, environ: Mapping[str, str], read_file: Callable[[str], str], where: str = "") -> AnyConnection:
    """The connection that ``params`` and ``environ`` mean; an option always beats the environment. Raises InputError.

    There is no default for ``api_url``: a task that forgot it must not reach some other Garage on localhost (MH-15). For the same reason an
    option that is empty, as a variable that was not filled in leaves it, is a fault and does not fall back to the environment.
    ``where`` (``remotes[0].``) stands before each option in a fault; with it, the environment is neither used nor named.
    """
    environ = {} if where else environ
    faults: list[str] = []
    transport = params.get("transport") or environ.get(ENVIRONMENT["transport"]) or "http"
    if transport not in TRANSPORTS:
        faults.append(f"{where}transport: {transport!r} is none of {', '.join(TRANSPORTS)}")
    pod = http = None
    if transport == "exec" or (transport == "auto" and params.get("kubernetes") is not None):
        pod = _pod(params, faults)
    why = _no_http(params, environ) if transport == "auto" and pod else None
    if transport == "http" or (transport == "auto" and not why):
        http = _http(params, environ, read_file, faults, where)
    for name, (least, most) in _BOUNDS.items():
        value = params.get(name)
        if value is not None and not least <= value <= most:
            faults.append(f"{where}{name}: {value:g} must be from {least:g} to {most:g}")
    if params.get("client_key") and not params.get("client_cert"):
        faults.append(f"{where}client_key is set without client_cert")
    if faults:
        raise InputError(faults)
    return EitherConnection(http, pod, why) if transport == "auto" else pod or http


def resolve_pods(params: Mapping) -> PodConnection:
    """The pods that the option ``kubernetes`` means. Raises InputError."""
    faults: list[str] = []
    pod = _pod(params, faults)
    if faults:
        raise InputError(faults)
    return pod


def resolve_site_role(params: Mapping, environ: Mapping[str, str]) -> str | None:
    """``writer``, ``follower`` or None (unset, behaves as writer: LW-03). A profile that says follower is never overruled (LW-15)."""
    profile = environ.get(ENVIRONMENT["site_role"]) or None
    if profile not in (None, "writer", "follower"):
        raise InputError(f"GARAGE_SITE_ROLE: {profile!r} is neither writer nor follower")
    option = params.get("site_role")
    return "follower" if "follower" in (profile, option) else option or profile


def together(*makers: Callable[[], Any]) -> tuple:
    """What each of ``makers`` gives; when some of them raise InputError, one that holds the faults of all."""
    made, faults, hint = [], [], None
    for make in makers:
        try:
            made.append(make())
        except InputError as error:
            faults += error.faults
            hint = hint or error.hint
    if faults:
        raise InputError(faults, hint)
    return tuple(made)


def _no_http(params: Mapping, environ: Mapping[str, str]) -> str | None:
    """Why there is no way by HTTP to try, when nothing was set that would be one."""
    for words, names in (("no api_url is set", ("api_url",)), ("no admin token is set", ("api_token", "api_token_file"))):
        if all(params.get(name) is None and not environ.get(ENVIRONMENT[name]) for name in names):
            return words
    return None


def _http(params: Mapping, environ: Mapping[str, str], read_file: Callable[[str], str], faults: list[str], where: str) -> Connection:
    url = params.get("api_url")
    if url is None:
        url = environ.get(ENVIRONMENT["api_url"]) or None
    if url == "":
        faults.append(f"{where}api_url is empty; leave it out to use another source")
    elif url is None:
        faults.append(f"{where}api_url is not set: give the option{'' if where else ', or GARAGE_ADMIN_URL in the environment'}")
    else:
        faults += [where + fault for fault in url_faults(url)]
    token, source = _token(params, environ, read_file, faults, where)
    cert, key = params.get("client_cert"), params.get("client_key")
    return Connection(api_url=url or "", token=token, token_source=source, verify=_verify(params, environ), client_cert=(cert, key) if key else cert,
                      timeout=params.get("timeout") or 60.0)


def _pod(params: Mapping, faults: list[str]) -> PodConnection | None:
    given = params.get("kubernetes")
    if not isinstance(given, Mapping):
        faults.append("kubernetes is not set: say in which pod to run commands, as kubernetes: {namespace: …, label_selector: …}")
        return None
    given = {name: value for name, value in given.items() if value is not None}
    known = {each.name for each in fields(PodConnection)} - {"timeout", "token", "token_source"}
    found = [f"kubernetes.{name}: there is no such option" for name in sorted(set(given) - known)]
    found += [f"kubernetes.{name} must be a text that is not empty" for name in sorted(set(given) & known)
              if not isinstance(given[name], str) or not given[name].strip()]
    if "namespace" not in given:
        found.append("kubernetes.namespace is not set")
    if len({"pod", "label_selector"} & set(given)) != 1:
        found.append("kubernetes: set one of pod and label_selector")
    faults += found
    return None if found else PodConnection(**given, timeout=params.get("timeout") or 60.0)


def _token(params: Mapping, environ: Mapping[str, str], read_file: Callable[[str], str], faults: list[str], where: str) -> tuple[str, str]:
    given = [(params.get("api_token"), params.get("api_token_file"), f"option {where}api_token", f"option {where}api_token_file"),
             (environ.get(ENVIRONMENT["api_token"]) or None, environ.get(ENVIRONMENT["api_token_file"]) or None,
              "environment variable GARAGE_ADMIN_TOKEN", "environment variable GARAGE_ADMIN_TOKEN_FILE")]
    for inline, path, inline_source, path_source in given:
        if inline is not None and path is not None:
            faults.append(f"{inline_source} and {path_source} are both set; only one of the two may be")
        if inline is not None:
            return _usable(inline, inline_source, faults), inline_source
        if path == "":
            faults.append(f"{path_source} is empty; leave it out to use another source")
            return "", path_source
        if path is not None:
            source = f"file {path} ({path_source})"
            try:
                return _usable(read_file(path), source, faults), source
            except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a path that no file can have
                faults.append(f"{source} cannot be read: {getattr(error, 'strerror', None) or 'it is not text'}")
                return "", source
    faults.append(f"no admin token: set {where}api_token or {where}api_token_file"
                  + ("" if where else ", or GARAGE_ADMIN_TOKEN or GARAGE_ADMIN_TOKEN_FILE in the environment"))
    return "", ""


def _usable(token: str, source: str, faults: list[str]) -> str:
    # Files made by hand end in a newline; a token with one would be refused as wrong.
    token = token.strip()
    if not token:
        faults.append(f"the {source} is empty")
    elif not token.isascii() or any(char.isspace() or not char.isprintable() for char in token):
        faults.append(f"the {source} holds a token with spaces, line breaks or non-ASCII characters; no such token can be sent")
    return token


def _verify(params: Mapping, environ: Mapping[str, str]) -> bool | str:
    if params.get("validate_certs") is False:
        return False
    path = params.get("ca_path")
    return (environ.get(ENVIRONMENT["ca_path"]) if path is None else path) or True
