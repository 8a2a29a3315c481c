# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where things are: the checkout, its virtual environment, and the cache outside the checkout."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Checks on another ansible-core have an environment, and results, of their own.
OTHER_VENV = "GARAGE_CHECK_VENV"
VENV = Path(os.environ.get(OTHER_VENV) or ROOT / ".venv")
RESULTS = ROOT / ".cache" / ("results" if VENV == ROOT / ".venv" else f"results-{VENV.name}")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "s3ops-garage"
# Copies of this checkout: each clone has a folder of its own, so that clones do not disturb each other.
STAGE = CACHE / "stage" / hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]


def environment(**variables: str) -> dict[str, str]:
    """The variables for a child process that finds the environment's tools before all others."""
    return os.environ | {"PATH": f"{VENV / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"} | variables
