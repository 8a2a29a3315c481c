# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Request bodies and query strings, taken apart as the server does it: unknown names ignored, wrong types refused.

A shape is a function from a decoded JSON value to the value a handler works with; it raises Malformed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timezone
from typing import Any
from urllib.parse import parse_qsl

from tests.fakes.garage.errors import bad_request

Shape = Callable[[Any], Any]

_MAX_UNSIGNED = 2**64 - 1
_QUERY_NAMES = ("node", "domain", "format", "id", "search", "globalAlias", "alias", "accessKeyId", "showSecretKey", "bucketId", "key",
                "offset", "limit")
_MOMENT = re.compile(r"^([+-]?\d{4,})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))? ?(Z|z|UTC|[+-]\d\d:?\d\d)$")
_MISSING = object()


class Malformed(Exception):
    """The body is not what the endpoint takes; becomes a 400 "Invalid JSON"."""


def decode(body: Any) -> Any:
    """The JSON value of a body: bytes are what came over the wire, None is no body, anything else is taken as decoded."""
    if body is None:
        raise Malformed("EOF while parsing a value at line 1 column 0")
    if not isinstance(body, bytes):
        return body
    try:
        return json.loads(body)
    except ValueError as error:
        raise Malformed(str(error)) from None


def text(value: Any) -> str:
    return _of_type(value, str, "a string")


def flag(value: Any) -> bool:
    return _of_type(value, bool, "a boolean")


def unsigned(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_UNSIGNED:
        raise Malformed(f"invalid value: {json.dumps(value)}, expected u64")
    return value


def integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise Malformed(f"invalid value: {json.dumps(value)}, expected i64")
    return value


def moment(value: Any) -> int:
    """Milliseconds since 1970 of a date with a time and a zone."""
    found = _MOMENT.match(text(value))
    if not found:
        raise Malformed("input contains invalid characters")
    *numbers, fraction, zone = found.groups()
    try:
        offset = "+00:00" if zone in ("Z", "z", "UTC") else zone if ":" in zone else f"{zone[:3]}:{zone[3:]}"
        parsed = datetime.fromisoformat("{}-{}-{}T{}:{}:{}".format(*numbers) + offset)
    except ValueError as error:
        raise Malformed(str(error)) from None
    whole = int((parsed - datetime(1970, 1, 1, tzinfo=timezone.utc)).total_seconds())
    return whole * 1000 + int((fraction or "0")[:3].ljust(3, "0"))


def many(shape: Shape) -> Shape:
    return lambda value: [shape(item) for item in _of_type(value, list, "a sequence")]


def struct(required: Mapping[str, Shape] | None = None, optional: Mapping[str, Shape] | None = None,
           defaulted: Mapping[str, tuple[Shape, Any]] | None = None) -> Shape:
    """An object. ``optional`` members may be null or missing (None then); ``defaulted`` ones may be missing but not null."""

    def parse(value: Any) -> dict:
        _of_type(value, dict, "a map")
        result = {}
        for name, shape in (required or {}).items():
            if name not in value:
                raise Malformed(f"missing field `{name}`")
            result[name] = shape(value[name])
        for name, shape in (optional or {}).items():
            result[name] = None if value.get(name) is None else shape(value[name])
        for name, (shape, default) in (defaulted or {}).items():
            result[name] = default if value.get(name, _MISSING) is _MISSING else shape(value[name])
        return result

    return parse


PERMISSIONS = struct(defaulted={"read": (flag, False), "write": (flag, False), "owner": (flag, False)})


class Query:
    """The query string: an empty value is an absent one, a name the server knows may occur once."""

    def __init__(self, source: Mapping[str, Any] | Iterable[tuple[str, Any]] | str | None) -> None:
        if isinstance(source, str):
            pairs = parse_qsl(source, keep_blank_values=True)
        else:
            pairs = list(source.items() if isinstance(source, Mapping) else source or ())
        self._values: dict[str, str] = {}
        for name, value in pairs:
            if name not in _QUERY_NAMES or value in (None, ""):
                continue
            if name in self._values:
                raise bad_request(f"Query parameter repeated: '{name}'")
            self._values[name] = str(value)

    def optional(self, name: str) -> str | None:
        return self._values.get(name)

    def needed(self, name: str) -> str:
        if name not in self._values:
            snake = re.sub(r"[A-Z]", lambda letter: "_" + letter.group().lower(), name)
            raise bad_request(f"Missing argument `{snake}` for endpoint")
        return self._values[name]

    def boolean(self, name: str) -> bool:
        value = self._values.get(name, "false")
        if value not in ("true", "false"):
            raise bad_request("Failed to parse query parameter")
        return value == "true"

    def number(self, name: str) -> int | None:
        value = self._values.get(name)
        if value is None:
            return None
        if not re.fullmatch(r"\+?[0-9]+", value) or int(value) > _MAX_UNSIGNED:
            raise bad_request("Failed to parse query parameter")
        return int(value)


def _of_type(value: Any, kind: type, words: str) -> Any:
    if not isinstance(value, kind):
        raise Malformed(f"invalid type: {json.dumps(value)[:80]}, expected {words}")
    return value
