# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""No place at all. Private: not for use outside of the collection."""

from __future__ import annotations


class MemoryStore:
    """For a secret that is only returned: kept as long as the run lasts."""

    def __init__(self) -> None:
        self._text: str | None = None

    def read(self) -> str | None:
        return self._text

    def create(self, text: str) -> None:
        self._text = text

    def replace(self, text: str) -> None:
        self._text = text

    def delete(self) -> None:
        self._text = None
