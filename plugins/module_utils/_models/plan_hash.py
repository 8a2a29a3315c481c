# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a person approves of a layout change, in one line that can be compared later. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .layout import Layout

_TEXT = re.compile(r"v(0|[1-9][0-9]*)-([0-9a-f]{16})-([0-9a-f]{16})(?:-([0-9a-f]{16}))?")


@dataclass(frozen=True)
class PlanHash:
    """``v<version>-<live>-<wanted>[-<moves>]``: the version in force, digests of the roles and zone redundancy in force and of those that are to be
    in force, and, where the server was asked for a preview, of how many partitions each node would hold and how many would move.

    What is staged already, whether this run applies or only stages, and how the nodes were named does not go in: the same change has the same
    hash in check mode, when it is staged, in layout_info and when it is applied.
    """

    version: int
    live: str
    wanted: str
    moves: str | None = None

    @classmethod
    def of(cls, live: Layout, after: Layout, preview: Mapping | None = None) -> PlanHash:
        """``preview`` is the server's answer to a preview or an apply, None where it was not asked."""
        return cls(live.version, layout_digest(live), layout_digest(after), moves_digest(preview))

    @classmethod
    def parse(cls, text: str) -> PlanHash:
        """Raises ValueError."""
        found = _TEXT.fullmatch(text.strip())
        if not found:
            raise ValueError(f"{text[:80]!r} is no plan hash; take plan_hash from the result of layout in check mode, or of layout_info")
        return cls(int(found[1]), found[2], found[3], found[4])

    def __str__(self) -> str:
        return "-".join(part for part in (f"v{self.version}", self.live, self.wanted, self.moves) if part)

    def changed_since(self, approved: PlanHash) -> list[str]:
        """What is not as it was when ``approved`` was made. What only one of the two knows of moves is not compared."""
        changes = []
        if self.version != approved.version:
            changes.append(f"the layout in force is version {self.version}, it was version {approved.version}")
        elif self.live != approved.live:
            changes.append(f"version {self.version} of the layout has other roles or another zone redundancy than it had")
        if self.wanted != approved.wanted:
            changes.append("other roles or another zone redundancy would come into force")
        if self.moves and approved.moves and self.moves != approved.moves:
            changes.append("the server would move other partitions")
        return changes


def moves_digest(answer: Mapping | None) -> str | None:
    """Of the answer to a preview or an apply; None for no answer, and for one that says that the layout cannot be computed."""
    layout = answer and (answer.get("newLayout") or answer.get("layout"))
    if not layout:
        return None
    # The number is told since Garage 2.4.0.
    moved = (answer.get("statistics") or {}).get("totalMovedPartitions")
    return _digest({"moved": moved, "partitions": {role["id"]: role.get("storedPartitions") for role in layout["roles"]}})


def layout_digest(layout: Layout) -> str:
    """Of the roles and the zone redundancy in force."""
    return _digest({"roles": {id: [role.zone, role.capacity, sorted(role.tags)] for id, role in layout.roles.items()},
                    "zone_redundancy": layout.redundancy})


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:16]
