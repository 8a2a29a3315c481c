# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""One run at a time on one file. Private: not for use outside of the collection."""

from __future__ import annotations

import errno
import fcntl
import os
import time

from .._errors import StoreFault

_PATIENCE_SECONDS = 120.0
_LOOK_EVERY_SECONDS = 0.1


class FileLock:
    """Held by a process as long as it lives, so that one that was killed leaves no lock, only an empty file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._handle: int | None = None

    def __enter__(self) -> bool:
        """Whether there is a lock: none where nothing can be written."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while not self._taken():
            if time.monotonic() > end:
                raise StoreFault(f"{self._path}: another run holds this lock for more than {_PATIENCE_SECONDS:g} s", hint="see what it waits for")
            time.sleep(_LOOK_EVERY_SECONDS)
        return self._handle is not None

    def __exit__(self, *dummy: object) -> None:
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        try:
            # Removed while it is held: whoever opened it before finds that its name is gone, and opens a new one.
            os.unlink(self._path)
        except OSError as error:
            raise StoreFault(f"{self._path}: {error.strerror}", hint="see the file and its folder") from None
        finally:
            os.close(handle)

    def _taken(self) -> bool:
        """Whether there is nothing more to wait for."""
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            # Where nothing can be written nothing has to be kept apart; what is there can still be adopted.
            if error.errno in (errno.EACCES, errno.EROFS, errno.ENOENT, errno.EPERM):
                return True
            raise StoreFault(f"{self._path}: {error.strerror}", hint="see the file and its folder") from None
        if self._locked(handle):
            self._handle = handle
            return True
        os.close(handle)
        return False

    def _locked(self, handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            os.close(handle)
            raise StoreFault(f"{self._path}: {error.strerror}", hint="the file system of the folder must know locks") from None
        return self._is_named(handle)

    def _is_named(self, handle: int) -> bool:
        """Whether the locked file still is the one that others would open."""
        try:
            there = os.stat(self._path)
        except FileNotFoundError:
            return False
        return (there.st_dev, there.st_ino) == (os.fstat(handle).st_dev, os.fstat(handle).st_ino)
