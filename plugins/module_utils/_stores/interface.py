# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What every place for a credential can do. Private: not for use outside of the collection.

A new kind of place is a class with these methods, a line in ``open_store`` and the options that lead to it.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from .._models.store import Entry

# What stands beside an entry: the note of what a run is about to make, and what the entry was before another one took its place.
INTENT, OLD = "intent", "old"


class Store(Protocol):
    """Holds one entry at ``place``. All methods raise StoreFault, and StoreChanged where somebody else was faster; nothing is changed then."""

    place: str

    def read(self) -> Entry | None:
        """The entry, or None when there is none."""

    def create(self, entry: Entry) -> None:
        """Put the entry where there is none."""

    def replace(self, entry: Entry, held: Entry) -> None:
        """Put the entry in the place of ``held``, which was read here. Refused when it is not ours."""

    def delete(self, held: Entry) -> None:
        """Remove ``held``, which was read here. Refused when it is not ours."""

    def refuse_unwritable(self, held: Entry | None) -> None:
        """Raise StoreFault when it can be told beforehand that an entry cannot be put in the place of ``held``, or where there is none."""

    def beside(self, name: str) -> Store:
        """Another entry, INTENT or OLD, which belongs to this one."""

    def lock(self) -> AbstractContextManager[None]:
        """Keep other runs away, where the place has a lock; where it has none, entries have an ``age``, and writes are conditional."""

    def exposed(self) -> bool:
        """Whether others than the owner may read it, as far as can be told."""


def put(store: Store, entry: Entry, held: Entry | None) -> None:
    """Put the entry in the place of ``held``, or where there is none."""
    if held is None:
        store.create(entry)
    else:
        store.replace(entry, held)
