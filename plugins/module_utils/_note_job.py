# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The note beside a store that tells what a run is about to make. Private: not for use outside of the collection.

It serves two ends: the next run knows what an interrupted one left, and of two runs at once the one that writes it first makes the credential.
"""

from __future__ import annotations

from ._errors import StoreChanged
from ._models.store import Entry
from ._models.store_layout import CONTENT
from ._stores.interface import INTENT, Store
from ._waiter import wait_until

# So young a note, in a store without locks, is that of a run which may be at work still.
_AT_WORK_SECONDS = 60.0
# How often a run starts anew because another one was at work on the same credential.
ATTEMPTS = 3


class Note:
    """The note beside ``store``; ``patient`` runs wait for the end of another one that may be at work."""

    def __init__(self, store: Store, patient: bool) -> None:
        self._store = store
        self._beside = store.beside(INTENT)
        self._patient = patient
        self._held: Entry | None = None
        self._own: str | None = None

    @property
    def place(self) -> str:
        return self._beside.place

    def read(self) -> str | None:
        """The text, None when there is none."""
        def look() -> str | None:
            self._held = self._beside.read()
            young = self._held and self._held.age is not None and self._held.age < _AT_WORK_SECONDS
            return "another run is at work" if young and self._held.content != self._own else None

        if self._patient:
            wait_until(look, f"the note {self.place}", 2 * _AT_WORK_SECONDS, 1.0)
        else:
            look()
        return self._held.content if self._held else None

    def write(self, text: str, seen: Entry | None) -> None:
        """Before something is made. Raises StoreChanged, and leaves no note, when somebody else was faster: the note is there, or the store does not
        hold what was ``seen`` there."""
        if self._held:
            # Made anew and not replaced: its age tells how long this run is at work.
            self._beside.delete(self._held)
        self._beside.create(Entry({CONTENT: text}))
        self._own = text
        self._held = self._beside.read()
        found = self._store.read()
        if (found.version if found else None) != (seen.version if seen else None):
            self.clear()
            raise StoreChanged(f"{self._store.place} was written by somebody else while this ran; it is left as it is", hint="run this again")

    def clear(self) -> None:
        """When all is as it should be."""
        if self._held:
            self._beside.delete(self._held)
            self._held = None
