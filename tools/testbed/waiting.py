# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for a state by looking for it, never by sleeping a fixed time."""

from __future__ import annotations

import time
from collections.abc import Callable

from tools.testbed.errors import SetupError

# A state that takes a second on an idle machine may take many on a loaded one; nothing is gained by a small limit.
LIMIT_SECONDS = 60.0
PAUSE_SECONDS = 0.02


def wait_until(
    what: str, missing: Callable[[], str | None], limit: float = LIMIT_SECONDS, pause: float = PAUSE_SECONDS
) -> None:
    """Call `missing` until it returns None; it returns what is still missing otherwise.

    Raises SetupError with the last answer after `limit` seconds.
    """
    deadline = time.monotonic() + limit
    while (seen := missing()) is not None:
        if time.monotonic() > deadline:
            raise SetupError(f"{what}: not reached within {limit:g} s ({seen})")
        time.sleep(pause)
