# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Numbers and ids in words, for people. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Iterable

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB", "EB")
_AGES = ((86400, "day"), (3600, "hour"))


def size(number: int | None) -> str:
    """Bytes with three digits that count: ``1.50 TB``."""
    if number is None:
        return "unknown"
    value, unit = float(number), 0
    # 999.5 would be printed as 1000.
    while value >= 999.5 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    digits = 0 if unit == 0 or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {_UNITS[unit]}"


def percent(used: int, limit: int) -> int:
    """How much of a limit is used, rounded down, so that 100 is said of nothing that has room. A limit of 0 is always used up."""
    return used * 100 // limit if limit else 100


def age(seconds: int | None) -> str:
    """How long ago, coarsely: a page about the same state is the same page when it is made again."""
    if seconds is None:
        return "never seen"
    for length, name in _AGES:
        if seconds >= length:
            return f"seen {counted(seconds // length, name)} ago"
    return "seen within the hour"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def short(id: str) -> str:
    """As Garage itself prints ids."""
    return id[:16]


def node_name(node: dict) -> str:
    return f"{node['hostname']} ({short(node['id'])})" if node.get("hostname") else short(node["id"])


def listed(texts: Iterable[str]) -> str:
    return ", ".join(texts)
