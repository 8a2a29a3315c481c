# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What every place for a secret can do: read, create, replace, delete. Private: not for use outside of the collection."""

from __future__ import annotations

from typing import Protocol


class Store(Protocol):
    """What holds one text. All raise StoreFault."""

    def read(self) -> str | None:
        """The text, or None when there is none."""

    def create(self, text: str) -> None:
        """Put the text where there is none."""

    def replace(self, text: str) -> None:
        """Put the text in the place of what is there, if anything."""

    def delete(self) -> None:
        """Remove it, if it is there."""
