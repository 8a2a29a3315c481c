# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What was seen of a site: the results of the modules that asked it. Pure. Private: not for use outside of the collection.

``Seen.of`` takes the fact that the role ``status`` leaves at a host: the site's ``name``, ``zone``, ``site_role``, ``remotes`` (names) and
``declares_layout``, and ``answers``: registered results by what was asked for (``cluster``, ``layout``, ``buckets``, ``keys``, ``tokens``,
``blocks``, ``plan_layout``, ``plan_tenancy``). An answer may be missing, skipped, or failed with ``msg`` and ``error``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# What was asked for, and the key of the result that answers it.
PARTS = {"layout": "layout", "buckets": "buckets", "keys": "access_keys", "tokens": "admin_tokens", "blocks": "nodes"}
TOLD = {"layout": "the layout", "buckets": "buckets", "keys": "access keys", "tokens": "admin tokens", "blocks": "block errors"}


@dataclass(frozen=True)
class Seen:
    """One site. ``site_role`` is writer, follower, or None, which behaves as writer."""

    name: str
    zone: str | None = None
    site_role: str | None = None
    remotes: tuple[str, ...] = ()
    declares_layout: bool = False
    answers: Mapping[str, Mapping] = field(default_factory=dict)

    @classmethod
    def of(cls, fact: Mapping) -> Seen:
        return cls(str(fact["name"]), fact.get("zone"), fact.get("site_role"), tuple(fact.get("remotes") or ()), bool(fact.get("declares_layout")),
                   fact.get("answers") or {})

    @property
    def cluster(self) -> Mapping:
        found = self.answers.get("cluster", {}).get("cluster")
        return found or {"reachable": False, "message": self.fault("cluster") or "was not asked", "nodes": []}

    @property
    def reachable(self) -> bool:
        return bool(self.cluster["reachable"])

    @property
    def nodes(self) -> list[Mapping]:
        return list(self.cluster["nodes"])

    def part(self, name: str) -> Any:
        """The answer to one of PARTS; None when there is none."""
        return self.answers.get(name, {}).get(PARTS[name])

    def fault(self, name: str) -> str | None:
        """Why there is no answer, in the words of the module."""
        found = self.answers.get(name, {})
        return found.get("msg") if found.get("error") else None

    def plan(self, name: str) -> dict:
        """How the site's file differs from what is there: ``state`` is same, differs, awaiting (the layout writer), unknown or undeclared."""
        found = self.answers.get(f"plan_{name}", {})
        state, actions, message = "undeclared", [], None
        if fault := self.fault(f"plan_{name}"):
            state, message = "unknown", fault
        elif found.get("pending"):
            state, actions = "awaiting", awaited(found.get("awaiting") or {})
        elif "actions" in found:
            actions = [str(action) for action in found["actions"]]
            state = "differs" if actions else "same"
        elif found.get("msg"):
            state, message = "unknown", found["msg"]
        return {"state": state, "actions": actions, "message": message}


def awaited(awaiting: Mapping) -> list[str]:
    """What waits for the layout writer, a line for each node."""
    reason = str(awaiting.get("reason") or "unknown").replace("_", " ")
    return [f"{reason}: {id[:16]}" for id in awaiting.get("nodes") or ()] or [reason]
