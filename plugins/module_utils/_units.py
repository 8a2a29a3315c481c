# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sizes, durations and timestamps. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

_DECIMAL = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15, "e": 10**18}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40, "pi": 2**50, "ei": 2**60}
# Bounded, so that neither 1e999999999 nor a thousand digits is worked out.
_SIZE = re.compile(r"\s*([0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE]\+?[0-9]{1,2})?)\s*([A-Za-z]*)\s*")
_DURATION = re.compile(r"\s*([0-9]{1,9})\s*(s|m|h|d|w|)\s*")
# What RFC 3339 says, with the seconds left out if need be; fromisoformat alone takes week dates, and each Python others.
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?([Zz]|[+-][0-9]{2}:[0-9]{2})")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_MAX = 2**64 - 1  # Garage holds sizes as unsigned 64-bit numbers

SIZE_RULE = "a number of bytes with an optional unit: k, M, G, T, P (powers of 1000) or Ki, Mi, Gi, Ti, Pi (powers of 1024), with or without B"
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def parse_size(value: str | int, milli: bool = False) -> int:
    """Bytes of ``40GB``, ``1Gi``, ``1e3`` or a bare number; fractions are floored. Raises ValueError with the rule.

    With ``milli`` a Kubernetes quantity is read: ``500m`` is half a byte, rounded up to 1. Elsewhere a lower-case ``m`` is refused,
    because who writes ``500m`` for a quota means megabytes and would get one byte.
    """
    match = _SIZE.fullmatch(str(value)) if not isinstance(value, bool) else None
    if not match:
        raise ValueError(f"{value!r} is not a size; wanted: {SIZE_RULE}")
    number, unit = Decimal(match.group(1)), match.group(2)
    if unit == "m":
        if not milli:
            raise ValueError(f"{value!r}: a lower-case m means a thousandth; write M for 1000*1000 bytes or Mi for 1024*1024")
        return int((number / 1000).to_integral_value(ROUND_CEILING))
    unit = unit.lower()
    if unit.endswith("b"):
        unit = unit[:-1]
    factor = _DECIMAL.get(unit, _BINARY.get(unit))
    if factor is None:
        raise ValueError(f"{value!r}: unknown unit {match.group(2)!r}; wanted: {SIZE_RULE}")
    size = int((number * factor).to_integral_value(ROUND_FLOOR))
    if size > _MAX:
        raise ValueError(f"{value!r} is larger than Garage can hold ({_MAX} bytes)")
    return size


def parse_duration(value: str | int) -> int:
    """Seconds of ``90``, ``30m``, ``24h``, ``7d`` or ``2w``. Raises ValueError with the rule."""
    match = _DURATION.fullmatch(str(value)) if not isinstance(value, bool) else None
    if not match:
        raise ValueError(f"{value!r} is not a duration; wanted: whole seconds, or a number with s, m, h, d or w")
    return int(match.group(1)) * _SECONDS[match.group(2)]


def parse_timestamp(value: str) -> datetime:
    """An RFC 3339 date and time with a zone, in UTC and whole milliseconds (what Garage keeps). Raises ValueError.

    Dates before 1970 are refused: Garage 2.5.0 stores them as a huge unsigned number, so the thing would never expire.
    """
    text = str(value).strip()
    moment = parse_server_time(text) if _TIMESTAMP.fullmatch(text) else None
    if moment is None:
        raise ValueError(f"{value!r} is not a date and time with a zone; wanted RFC 3339, as 2030-01-01T00:00:00Z")
    if moment < EPOCH:
        raise ValueError(f"{value!r} lies before 1970; Garage would store it as a date that never comes")
    return moment


def format_timestamp(moment: datetime) -> str:
    """RFC 3339 in UTC with Z; milliseconds only when there are any."""
    moment = moment.astimezone(timezone.utc)
    text = moment.strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{moment.microsecond // 1000:03d}Z" if moment.microsecond else text + "Z"


def normal_timestamp(value: str | None) -> str | None:
    """The one form in which timestamps are compared and returned; None stays None. Server values are never refused."""
    moment = parse_server_time(value)
    return value if moment is None else format_timestamp(moment)


def parse_server_time(value: str | None) -> datetime | None:
    """A timestamp that the server gave, in UTC and whole milliseconds; None when there is none or it is unreadable."""
    # Servers print any number of fraction digits; fromisoformat of Python 3.10 takes three or six.
    text = re.sub(r"\.([0-9]+)", lambda found: "." + found.group(1)[:6].ljust(6, "0"), (value or "").strip())
    try:
        moment = datetime.fromisoformat(text[:-1] + "+00:00" if text[-1:] in ("Z", "z") else text)
        if moment.tzinfo is None:
            return None
        moment = moment.astimezone(timezone.utc)
    except (ValueError, OverflowError):  # OverflowError: a zone that leads out of the years 1 to 9999
        return None
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def seconds_before(moment: datetime, seconds: int) -> datetime:
    """``moment`` less ``seconds``."""
    return moment - timedelta(seconds=seconds)


def seconds_after(moment: datetime, seconds: int) -> datetime:
    """``moment`` and ``seconds`` more."""
    return moment + timedelta(seconds=seconds)
