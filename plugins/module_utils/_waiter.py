# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Wait for a state, with a limit. Private: not for use outside of the collection."""

from __future__ import annotations

import time
from collections.abc import Callable

from ._errors import WaitTimeout


def wait_until(look: Callable[[], str | None], what: str, timeout: float, sleep: float) -> None:
    """Call ``look`` until it returns None; what it returns else says what is still missing.

    Looks at least once, and once more at the very end. Raises WaitTimeout that names ``what`` and what was missing last.
    """
    end = time.monotonic() + timeout
    while (missing := look()) is not None:
        left = end - time.monotonic()
        if left <= 0:
            raise WaitTimeout(f"{what}: not reached within {timeout:g} s; {missing}", hint="a longer wait_timeout may help; running this again goes on"
                              " waiting")
        time.sleep(min(sleep, left))
