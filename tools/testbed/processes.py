# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Signals that only ever reach the process that was started."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from tools.testbed.waiting import PAUSE_SECONDS

# States of proc(5).
STOPPED = "T"
GONE = "X"
ENDED = (GONE, "Z")


@dataclass(frozen=True)
class ProcessRef:
    """A process by its id and its start time (clock ticks since boot), as a process id alone is used again later."""

    pid: int
    start_time: int

    @classmethod
    def of(cls, pid: int) -> ProcessRef:
        """The process that has this id now. Raises ProcessLookupError when there is none."""
        found = _state_and_start(pid)
        if found is None:
            raise ProcessLookupError(f"no process {pid}")
        return cls(pid, found[1])

    def is_alive(self) -> bool:
        """False when it has ended, also when nobody has collected its exit status yet."""
        return self._state() not in ENDED

    def is_stopped(self) -> bool:
        """Whether SIGSTOP has reached it."""
        return self._state() == STOPPED

    def signal(self, number: signal.Signals) -> bool:
        """Send a signal; False when the process has ended."""
        if not self.is_alive():
            return False
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            return False
        return True

    def wait_gone(self, limit: float) -> bool:
        """Wait until it has ended; False when it still runs after `limit` seconds."""
        deadline = time.monotonic() + limit
        while self.is_alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(PAUSE_SECONDS)
        return True

    def _state(self) -> str:
        found = _state_and_start(self.pid)
        return found[0] if found and found[1] == self.start_time else GONE


def _state_and_start(pid: int) -> tuple[str, int] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # proc(5): the command name is in parentheses and may hold anything; the state is field 3, the start time field 22.
    fields = text.rpartition(")")[2].split()
    return fields[0], int(fields[19])
