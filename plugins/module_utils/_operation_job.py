# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Do an operation: always when run, never in check mode. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ._client import Client
from ._errors import GarageError, WaitTimeout
from ._executor import Run, after_writing
from ._models.node_answers import NodeAnswers
from ._plan import Plan
from ._planners._gate import awaiting_note, refuse_when_awaiting, writer_result
from ._planners.operations import ANSWER, check_recovery, older_than, plan_recovery, plan_uploads, plan_variables, wanted_variables
from ._readers.bucket import existing_bucket
from ._readers.layout import read_history, read_layout
from ._readers.nodes import ask_nodes, judge, read_variables
from ._waiter import wait_until

_REPAIR_WORKERS = ("repair worker", "rebalance worker")


def act(plan: Plan, client: Client, check: bool) -> dict[str, Any]:
    """The answers of the plan's calls by their ``binds``; none in check mode, or when there is nothing to do."""
    run = Run(client)
    if check:
        return run.answers
    try:
        run.perform(plan)
    except GarageError as error:
        run.account(error, plan)
        raise
    return run.answers


@contextmanager
def launched_once() -> Iterator[None]:
    """A run that waits for what it launched must not be told to be run again: that would launch it again."""
    try:
        yield
    except WaitTimeout as error:
        error.hint = "see s3ops.garage.worker_info for how far it is; running this again launches it again"
        raise


def on_nodes(plan: Plan, params: Mapping, context: Any, show: Any = lambda answer: {"answer": answer}) -> dict:
    """The result of an operation on nodes: a row for each, and the nodes that did not do it (failed unless tolerated)."""
    client = context.client()
    answer = act(plan, client, context.check).get(ANSWER)
    answers = NodeAnswers.from_api(answer) if answer else NodeAnswers({}, {})
    judge(client, answers, plan.would[0], params["tolerate_node_errors"], done=[f"{plan.subject} on node {id[:16]}" for id in answers.success])
    return {"changed": plan.changed, "nodes": answers.rows(show), "errors": answers.error_rows(), "actions": list(plan.would)}


def repair(plan: Plan, params: Mapping, context: Any) -> dict:
    """Launch a repair; with ``wait`` until the workers it started on each node are done without an error."""
    client = context.client()
    waits = params["wait"] and not context.check
    newest = newest_workers(client, params) if waits else {}
    result = on_nodes(plan, params, context, lambda answer: {})
    if waits:
        with after_writing(plan.would), launched_once():
            wait_until(lambda: unfinished(client, params, newest), plan.would[0], params["wait_timeout"], params["wait_sleep"])
    return result


def clean_uploads(params: Mapping, context: Any) -> dict:
    """Delete unfinished uploads of one bucket; changed when any was deleted, in check mode when there are any."""
    seconds = older_than(params)
    client = context.client()
    bucket = existing_bucket(client, params)
    plan = plan_uploads(params, seconds, bucket)
    answer = act(plan, client, context.check).get(ANSWER)
    deleted = answer["uploadsDeleted"] if answer else 0
    return {"changed": bool(deleted) if answer else plan.changed, "uploads": {"bucket_id": bucket.id, "deleted": deleted}, "actions": list(plan.would)}


def set_variables(params: Mapping, context: Any) -> dict:
    """Give worker variables the wanted values on each node, and read them back. A node that refuses does not hinder the others."""
    wanted = wanted_variables(params)
    client = context.client()
    plan = plan_variables(wanted, read_variables(client, params).success)
    answers = {why: NodeAnswers.from_api(answer) for why, answer in act(plan, client, context.check).items()}
    done = [why for why, answer in answers.items() if not answer.errors]
    said = NodeAnswers({id: None for answer in answers.values() for id in answer.success},
                       {id: text for answer in answers.values() for id, text in answer.errors.items()})
    judge(client, said, "set worker variables", params["tolerate_node_errors"], done)
    shown = plan.after
    if plan.calls and not context.check:
        with after_writing(done):
            shown = {id: {name: have[name] for name in wanted} for id, have in read_variables(client, params).success.items()}
    return {"changed": plan.changed if context.check else bool(done), "nodes": [{"id": id, "variables": values} for id, values in shown.items()],
            "diff": plan.diff, "actions": list(plan.would)}


def recover_layout(params: Mapping, context: Any) -> dict:
    """Revert, or skip dead nodes. On a follower nothing is sent and the result is pending (LW-27)."""
    check_recovery(params)
    client = context.client()
    plan = plan_recovery(params, read_layout(client).layout, read_history(client), client.site_role == "follower")
    refuse_when_awaiting(plan, params)
    if note := awaiting_note(plan):
        context.warn(note)
    answer = act(plan, client, context.check).get(ANSWER)
    raised = {"ack_updated": sorted(answer["ackUpdated"]), "sync_updated": sorted(answer["syncUpdated"])} if answer else \
        {"ack_updated": [], "sync_updated": []}
    return {
        # A skip that raised no counter changed nothing: no node that is down held the version up.
        "changed": any(raised.values()) if answer else plan.changed,
        "recovery": raised,
        **writer_result(client.site_role, plan),
        "blocked_operations": list(plan.awaiting.operations) if plan.awaiting else [],
        "diff": plan.diff,
        "actions": list(plan.would),
    }


def newest_workers(client: Client, params: Mapping) -> dict[str, int]:
    listed = ask_nodes(client, "ListWorkers", params, {"busyOnly": False, "errorOnly": False}).success
    return {id: max((worker["id"] for worker in workers), default=0) for id, workers in listed.items()}


def unfinished(client: Client, params: Mapping, newest: Mapping[str, int]) -> str | None:
    """What still runs of a repair. Table repairs start no worker of their own; they make the tables' sync workers busy."""
    listed = ask_nodes(client, "ListWorkers", params, {"busyOnly": False, "errorOnly": False}).success
    running = []
    for id, workers in listed.items():
        for worker in workers:
            started = worker["id"] > newest.get(id, 0) and worker["name"].endswith(_REPAIR_WORKERS)
            if started and worker["errors"]:
                raise WaitTimeout(f"node {id[:16]}: {worker['name']} met {worker['errors']} errors", hint="see s3ops.garage.worker_info")
            syncing = params["operation"] == "tables" and worker["name"].endswith(" sync") and (worker["state"] != "idle" or worker.get("queueLength"))
            if (started and worker["state"] != "done") or syncing:
                running.append(f"node {id[:16]}: {worker['name']} ({worker.get('progress') or 'busy'})")
    return "; ".join(running) or None
