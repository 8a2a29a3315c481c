# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The official release binary, taken only when its checksum is known beforehand."""

from __future__ import annotations

import hashlib
import os
import platform
import threading
import urllib.error
import urllib.request
from pathlib import Path

from tools.testbed.cache import Say, binary_place, place
from tools.testbed.errors import SetupError

BASE_URL = "https://garagehq.deuxfleurs.fr/_releases"
# Static binaries, which run on every Linux of the architecture.
TARGETS = {
    "x86_64": "x86_64-unknown-linux-musl",
    "aarch64": "aarch64-unknown-linux-musl",
    "i686": "i686-unknown-linux-musl",
}
CONNECT_SECONDS = 3.0
READ_SECONDS = 30.0
CHUNK_BYTES = 1 << 16
CHECKSUM_VARIABLE = "GARAGE_SHA256"


def download(version: str, say: Say) -> Path | None:
    """The binary in its place, or None, with the reason said, when it is not to be had here."""
    checksum = os.environ.get(CHECKSUM_VARIABLE, "").strip().lower()
    target = TARGETS.get(platform.machine())
    if not checksum:
        say(f"official release: not taken, as the checksum is not known ({CHECKSUM_VARIABLE} would name it)")
        return None
    if not target or platform.system() != "Linux":
        say(f"official release: there is none for {platform.system()} on {platform.machine()}")
        return None
    url = f"{BASE_URL}/v{version}/{target}/garage"
    if not _reachable(url):
        say(f"official release: {url} cannot be had within {CONNECT_SECONDS:g} s")
        return None
    say(f"official release: downloading {url}")
    fresh = binary_place(version).with_name(f".garage.{os.getpid()}.part")
    try:
        return _checked(url, fresh, version, checksum)
    except (OSError, SetupError) as failed:
        say(f"official release: not taken: {failed}")
        return None
    finally:
        fresh.unlink(missing_ok=True)


def _reachable(url: str) -> bool:
    # In a thread, as no time-out of a socket covers the name server's.
    answers: list[bool] = []

    def ask() -> None:
        try:
            with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=CONNECT_SECONDS):
                answers.append(True)
        except OSError:
            answers.append(False)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(CONNECT_SECONDS + 1)
    return answers == [True]


def _checked(url: str, fresh: Path, version: str, checksum: str) -> Path:
    fresh.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with urllib.request.urlopen(url, timeout=READ_SECONDS) as answer, open(fresh, "wb") as file:
        while chunk := answer.read(CHUNK_BYTES):
            digest.update(chunk)
            file.write(chunk)
    if digest.hexdigest() != checksum:
        raise SetupError(f"its SHA-256 is {digest.hexdigest()}, expected {checksum}")
    return place(fresh, version)
