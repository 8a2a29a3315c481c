# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A status page, read as a browser would: its elements, its headed tables, its text."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br"}


@dataclass
class Element:
    """``text`` is all text inside, also that of inner elements."""

    tag: str
    attributes: dict[str, str | None]
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> list[Element]:
        found = [child for child in self.children if child.tag == tag]
        return found + [inner for child in self.children for inner in child.all(tag)]


class Page(HTMLParser):
    """Raises AssertionError when an element is not closed where it should be."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self._open = self.root
        self.feed(text)
        self.close()
        assert self._open is self.root, f"<{self._open.tag}> is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"<{tag}> has an attribute twice"
        element = Element(tag, dict(attrs), self._open)
        self._open.children.append(element)
        if tag not in VOID:
            self._open = element

    def handle_endtag(self, tag: str) -> None:
        assert self._open.tag == tag, f"</{tag}> closes <{self._open.tag}>"
        assert self._open.parent is not None
        self._open = self._open.parent

    def handle_data(self, data: str) -> None:
        element: Element | None = self._open
        while element is not None:
            element.text += data
            element = element.parent

    @property
    def text(self) -> str:
        return self.root.text

    def rows(self, head: str) -> list[dict[str, str]]:
        """The rows of the table below the first heading ``head``, by the heads of their columns."""
        heading = next(found for level in ("h2", "h3") for found in self.root.all(level) if found.text == head)
        assert heading.parent is not None
        beside = heading.parent.children[heading.parent.children.index(heading) + 1:]
        tables = [table for element in beside for table in element.all("table")]
        return [{str(cell.attributes["data-label"]): cell.text for cell in row.all("td")} for row in tables[0].all("tr")[1:]]

    def cell(self, head: str, has: str, column: str) -> str:
        """One cell of the first row in which a cell begins with, or ends in brackets with, ``has``."""
        row = next(row for row in self.rows(head) if any(text.startswith(has) or text.endswith(f"({has})") for text in row.values()))
        return row[column]
