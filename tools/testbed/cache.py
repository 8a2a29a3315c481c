# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where built and downloaded binaries are kept, and who may put one there."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tools.testbed.errors import SetupError
from tools.testbed.versions import as_text, parse_version, version_of

Say = Callable[[str], None]
WAIT_PAUSE_SECONDS = 0.2
WAIT_MESSAGE_SECONDS = 10.0


def cache_folder() -> Path:
    """Outside of the checkout, so that a fresh clone finds what an older one has built."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "s3ops-garage"


def binary_place(version: str) -> Path:
    return cache_folder() / "garage" / version / "garage"


def build_folder(version: str) -> Path:
    return cache_folder() / "build" / version


def place(fresh: Path, version: str) -> Path:
    """Check a fresh binary and move it to its place in one step. Raises SetupError when it is another version."""
    fresh.chmod(0o755)
    got = version_of(fresh)
    if got != parse_version(version):
        raise SetupError(f"{fresh} is Garage {as_text(got)}, not {version}")
    target = binary_place(version)
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(fresh, target)
    return target


def locked(version: str, say: Say) -> contextlib.AbstractContextManager[None]:
    """Held by the one process that gets this version of Garage."""
    return held(cache_folder() / "garage" / f"{version}.lock", f"Garage {version}", say)


@contextlib.contextmanager
def held(path: Path, what: str, say: Say) -> Iterator[None]:
    """A lock for the one process that gets something; the kernel frees it when that process ends, however it ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        next_message = time.monotonic()
        while not _try_lock(file.fileno()):
            if time.monotonic() >= next_message:
                say(f"another process is getting {what}; waiting for it")
                next_message = time.monotonic() + WAIT_MESSAGE_SECONDS
            time.sleep(WAIT_PAUSE_SECONDS)
        yield


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
