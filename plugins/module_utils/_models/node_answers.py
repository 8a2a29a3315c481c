# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Answers that come from several nodes at once, and what can be asked of nodes. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .._errors import GarageError, InputError
from .._translate import snake_case

_SELECTOR = re.compile(r"self|\*|[0-9a-f]{1,64}")


class NodeErrors(GarageError):
    """Some nodes refused or could not be reached, although the HTTP answer was 200."""

    kind = "node_errors"


@dataclass(frozen=True)
class NodeAnswers:
    """The two maps of a node-scoped answer: what each node answered, and why others did not (``CODE (http): message``), by node id."""

    success: Mapping[str, Any]
    errors: Mapping[str, str]

    @classmethod
    def from_api(cls, answer: Mapping) -> NodeAnswers:
        return cls(dict(sorted(answer["success"].items())), dict(sorted(answer["error"].items())))

    def rows(self, show: Callable[[Any], Mapping]) -> list[dict]:
        """One dictionary a node, ordered by id: ``id`` and what ``show`` makes of its answer."""
        return [{"id": id, **show(answer)} for id, answer in self.success.items()]

    def error_rows(self) -> list[dict]:
        return [{"id": id, "error": text} for id, text in self.errors.items()]

    def fault(self, what: str, tolerate: bool) -> NodeErrors | None:
        """The error for nodes that did not do ``what``; with ``tolerate`` only when no node did it at all (FC-098)."""
        if not self.errors or (tolerate and self.success):
            return None
        named = "; ".join(f"node {id[:16]}: {text}" for id, text in self.errors.items())
        return NodeErrors(f"{what}: {named}", hint="see s3ops.garage.cluster_info for the nodes that are down; tolerate_node_errors: true lets"
                          " the others count")


def node_fault(selector: str) -> str | None:
    """Why a ``node`` option names no node, or None."""
    return None if _SELECTOR.fullmatch(selector) else f"node: {selector!r} must be self, * for all, or a node id or a unique beginning of one"


def check_node(params: Mapping) -> None:
    """Raises InputError for a ``node`` option that names no node."""
    if fault := node_fault(params["node"]):
        raise InputError(fault)


def worker_result(worker: Mapping) -> dict:
    """A background worker as a user sees it. ``state`` is a word also when the server gives an object (throttled)."""
    state = worker["state"]
    throttled = state["throttled"]["durationSecs"] if isinstance(state, Mapping) else None
    return {**snake_case({**worker, "state": "throttled" if isinstance(state, Mapping) else state}), "throttled_seconds": throttled}
