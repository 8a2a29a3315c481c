# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What every module that can write the layout says of the site role: one form, one place (LW-38). Pure. Private: not for use outside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

from .._errors import GateClosed
from .._plan import Plan


def writer_result(site_role: str | None, plan: Plan) -> dict:
    """Who writes here, and what waits for the writer (LW-08 to LW-12). ``site_role`` is null when it was not set (LW-03)."""
    blocked = plan.awaiting
    return {
        "site_role": site_role,
        "layout_writer": site_role != "follower",
        "reason": "FollowerSite" if site_role == "follower" else "WriterSite",
        "pending": bool(blocked and blocked.operations),
        "awaiting": {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(blocked).items()} if blocked else None,
    }


def awaiting_note(plan: Plan) -> str | None:
    """The warning of a follower with work that only the writer may do."""
    blocked = plan.awaiting
    if not blocked or not blocked.operations:
        return None
    return (f"this site is a follower and waits for the layout writer ({blocked.reason})"
            + (f": node {', '.join(id[:16] for id in blocked.nodes)}" if blocked.nodes else "") + "; the lines its site file needs are in `awaiting`")


def refuse_when_awaiting(plan: Plan, params: Mapping) -> None:
    """Raises GateClosed when something waits and ``fail_when_awaiting`` asks for that."""
    note = awaiting_note(plan)
    if note and params["fail_when_awaiting"]:
        raise GateClosed(note, hint=f"declare this at the writer's site and run it there, then run this again: {json.dumps(plan.awaiting.lines)}")
