# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Garage a binary is."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tools.testbed.errors import SetupError

Version = tuple[int, int, int]

DEFAULT_VERSION = "2.5.0"
# The first release with the Admin API v2.
OLDEST_VERSION: Version = (2, 0, 0)
_NUMBER = re.compile(r"\d+\.\d+\.\d+")
ANSWER_LIMIT_SECONDS = 60


def parse_version(text: str) -> Version:
    """The first `x.y.z` of a text such as `garage cargo:2.5.0 [features: …]` or `garage v2.5.0`. Raises SetupError."""
    found = _NUMBER.search(text)
    if not found:
        raise SetupError(f"no version x.y.z in {text.strip()[:200]!r}")
    major, minor, patch = (int(part) for part in found.group().split("."))
    return major, minor, patch


def version_of(binary: Path) -> Version:
    """What `garage --version` answers. Raises SetupError when it does not run or is no Garage."""
    try:
        done = subprocess.run(
            [binary, "--version"], capture_output=True, text=True, timeout=ANSWER_LIMIT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as broken:
        raise SetupError(f"{binary} does not run: {broken}") from None
    if done.returncode != 0 or not done.stdout.startswith("garage "):
        told = (done.stdout + done.stderr).strip()[:200]
        raise SetupError(f"{binary} is not a working Garage: --version ended with {done.returncode}: {told!r}")
    return parse_version(done.stdout)


def as_text(version: Version) -> str:
    """`2.5.0`."""
    return ".".join(str(part) for part in version)
