# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Secrets in files. Private: not for use outside of the collection."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Callable

from .._errors import StoreFault

# No secret is longer; what is, is something else and not to be read into memory.
_LARGEST = 65536
_PRIVATE = 0o600
# A text on its way to its file: hidden, and called by the name of the file, eight characters of chance, and this.
_DRAFT = ".draft"


class FileStore:
    """A file that only its owner may read. It holds the old text or the new one, never a part, whatever happens meanwhile."""

    def __init__(self, path: str) -> None:
        self.path = path

    def read(self) -> str | None:
        return self._guarded(self._read)

    def create(self, text: str) -> None:
        # A link, unlike a rename, fails where something is already.
        self._guarded(lambda: self._write(text, os.link))

    def replace(self, text: str) -> None:
        self._guarded(lambda: self._write(text, os.replace))

    def delete(self) -> None:
        self._guarded(self._delete)

    def sweep(self) -> None:
        """Remove what runs that were killed left of a text on its way here. Only for who keeps all others away from the file."""
        self._guarded(self._sweep)

    def exposed(self) -> bool:
        """Whether others than the owner may read or write the file."""
        return bool(self._guarded(lambda: os.path.lexists(self.path) and os.lstat(self.path).st_mode & 0o077))

    def refuse_bad_folder(self) -> None:
        """Raises StoreFault when nothing can be put here."""
        if not os.path.isdir(self._folder) or not os.access(self._folder, os.W_OK | os.X_OK):
            raise StoreFault(f"{self.path}: the folder {self._folder} does not exist or cannot be written to", hint="make the folder first")

    @property
    def _folder(self) -> str:
        return os.path.dirname(self.path)

    def _guarded(self, do: Callable) -> object:
        try:
            return do()
        except OSError as error:
            raise StoreFault(f"{self.path}: {error.strerror}", hint="see the file and its folder") from None

    def _read(self) -> str | None:
        if not os.path.lexists(self.path):
            return None
        # A link would be read from one place and replaced in another; a pipe would hold the run up.
        if not stat.S_ISREG(os.lstat(self.path).st_mode):
            raise StoreFault(f"{self.path} is not a regular file", hint="give the path of a file of its own")
        with open(self.path, "rb") as handle:
            content = handle.read(_LARGEST + 1)
        try:
            return content[:_LARGEST].decode("utf-8") if len(content) <= _LARGEST else "(too large)"
        except UnicodeDecodeError:
            return "(not text)"

    def _write(self, text: str, put: Callable[[str, str], None]) -> None:
        handle, name = tempfile.mkstemp(_DRAFT, f".{os.path.basename(self.path)}.", self._folder)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                os.fchmod(file.fileno(), _PRIVATE)
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            put(name, self.path)
        finally:
            if os.path.lexists(name):
                os.unlink(name)
        self._sync_folder()

    def _sweep(self) -> None:
        drafts = re.compile(rf"\.{re.escape(os.path.basename(self.path))}\.[a-z0-9_]{{8}}{re.escape(_DRAFT)}")
        for name in filter(drafts.fullmatch, os.listdir(self._folder)):
            os.unlink(os.path.join(self._folder, name))

    def _delete(self) -> None:
        if os.path.lexists(self.path):
            os.unlink(self.path)
            self._sync_folder()

    def _sync_folder(self) -> None:
        """The name of a new file is safe only when its folder is."""
        handle = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
