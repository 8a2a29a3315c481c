# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Prove that nodes can be switched off for good. Private: not for use outside of the collection."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ._executor import after_writing
from ._models.node_answers import NodeAnswers
from ._operation_job import act, launched_once, newest_workers, unfinished
from ._planners.drain import leaving_nodes, plan_drain, uncopied
from ._planners.operations import ANSWER
from ._readers.layout import read_layout, wait_settled
from ._readers.nodes import ask_nodes, judge
from ._waiter import wait_until

# Nodes that leave may be down already, and one that stays and does not answer is told of by what is waited for.
_ALL = {"node": "*", "tolerate_node_errors": True, "operation": "blocks"}


def drain(params: Mapping, context: Any) -> dict:
    """Wait until the layout needs the nodes no more; have all others look for the blocks that they should have, and wait until they have them.

    The layout tracks how far metadata has moved and nothing of blocks. A repair puts every block that a node should have into its resync queue; so
    a resync worker that has looked at all of them, and has none that it could not get, is the proof (OP-016, OP-018).
    """
    client = context.client()
    live = read_layout(client)
    leaving = leaving_nodes(params["nodes"], live)
    plan = plan_drain(leaving, live.layout)
    result = {"changed": plan.changed, "drain": {"nodes": leaving, "drained": not context.check}, "actions": list(plan.would)}
    if context.check:
        return result
    wait_settled(client, params["wait_timeout"], params["wait_sleep"])
    staying = sorted(role.id for role in live.layout.storage)
    newest = newest_workers(client, _ALL)
    answers = NodeAnswers.from_api(act(plan, client, check=False)[ANSWER])
    judge(client, NodeAnswers(answers.success, {id: text for id, text in answers.errors.items() if id not in leaving}), plan.would[0], tolerate=False)
    with after_writing(plan.would), launched_once():
        wait_until(lambda: unfinished(client, _ALL, newest), plan.would[0], params["wait_timeout"], params["wait_sleep"])
        repaired = time.monotonic()
        wait_until(lambda: uncopied(ask_nodes(client, "ListWorkers", _ALL, {"busyOnly": False, "errorOnly": False}).success, staying,
                                    time.monotonic() - repaired, params["rpc_timeout_msec"] / 1000),
                   "blocks of the nodes that leave", params["wait_timeout"], params["wait_sleep"])
    return result
