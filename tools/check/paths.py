# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where things are: the checkout, its virtual environment, and the cache outside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
RESULTS = ROOT / ".cache" / "results"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "s3ops-garage"


def environment(path: str = os.environ.get("PATH", os.defpath), **variables: str) -> dict[str, str]:
    """The variables for a child process that finds the environment's tools before those on ``path``."""
    return os.environ | {"PATH": f"{VENV / 'bin'}{os.pathsep}{path}"} | variables
