# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""HTML and SVG from plain values: what is not Markup is text, and is escaped. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Union

VOID = frozenset({"meta", "br"})
Content = Union[str, int, None, Iterable["Content"]]


class Markup(str):
    """Text that is markup already. Made by ``tag`` and ``raw`` alone."""


def raw(text: str) -> Markup:
    """What the collection itself has written, such as a style sheet."""
    return Markup(text)


def escape(value: Content) -> Markup:
    """Names come from people. Characters that show nothing, or turn the direction of what follows, are shown as a replacement character."""
    if value is None:
        return Markup("")
    if isinstance(value, Markup):
        return value
    if isinstance(value, (str, int)):
        return Markup(html.escape("".join(map(_visible, str(value))), quote=True))
    return Markup("".join(map(escape, value)))


def _visible(character: str) -> str:
    if character in "\t\n\r":
        return " "
    # Cc, Cf, Cs: controls, marks of direction, halves of characters. Co, Cn are shown by fonts as they like.
    return "\ufffd" if unicodedata.category(character) in ("Cc", "Cf", "Cs") else character


def tag(name: str, attributes: Mapping[str, Content] | None = None, *children: Content) -> Markup:
    """An element. Attributes that are None are left out; names of elements and attributes are the collection's own."""
    opening = "".join(f' {key}="{escape(value)}"' for key, value in (attributes or {}).items() if value is not None)
    return Markup(f"<{name}{opening}>") if name in VOID else Markup(f"<{name}{opening}>{escape(children)}</{name}>")
