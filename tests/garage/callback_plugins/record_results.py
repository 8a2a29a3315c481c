# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An Ansible callback that writes each task's result and the recap to a file, for tests to look at."""

from __future__ import annotations

import json
import os
from typing import Any

from ansible.plugins.callback import CallbackBase


class CallbackModule(CallbackBase):
    """One JSON value a line, in the file that the environment names."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "record_results"
    CALLBACK_NEEDS_ENABLED = True

    def v2_runner_on_ok(self, result: Any) -> None:
        self._task(result, "ok")

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._task(result, "failed")

    def v2_runner_on_skipped(self, result: Any) -> None:
        self._task(result, "skipped")

    def v2_playbook_on_stats(self, stats: Any) -> None:
        self._write({"stats": {host: stats.summarize(host) for host in stats.processed}})

    def _task(self, result: Any, state: str) -> None:
        self._write({"host": result.host.get_name(), "action": result.task.action, "state": state, "result": result.result})

    def _write(self, value: Any) -> None:
        with open(os.environ["RECORD_RESULTS_FILE"], "a", encoding="utf-8") as file:
            file.write(json.dumps(value, default=str) + "\n")
