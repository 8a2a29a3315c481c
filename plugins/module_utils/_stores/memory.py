# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""No place at all. Private: not for use outside of the collection."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from .._models.store import Entry


class MemoryStore:
    """For a credential that is only returned: kept as long as the run lasts."""

    place = ""

    def __init__(self) -> None:
        self._entry: Entry | None = None

    def read(self) -> Entry | None:
        return self._entry

    def create(self, entry: Entry) -> None:
        self._entry = entry

    def replace(self, entry: Entry, held: Entry) -> None:
        self._entry = entry

    def delete(self, held: Entry) -> None:
        self._entry = None

    def refuse_unwritable(self, held: Entry | None) -> None:
        """It can always be written to."""

    def beside(self, name: str) -> MemoryStore:
        return MemoryStore()

    def lock(self) -> AbstractContextManager[None]:
        return nullcontext()

    def exposed(self) -> bool:
        return False
