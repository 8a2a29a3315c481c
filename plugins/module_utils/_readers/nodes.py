# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What single nodes answer: versions, statistics, workers, blocks. Private: not for use outside of the collection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from .._client import Client
from .._errors import InputError, NotAdminApi, SetupError, TransportError, Unavailable
from .._models.cluster import normal_version
from .._models.node_answers import NodeAnswers, check_node, worker_result
from .._translate import snake_case
from .bulk import at_once
from .cluster import read_status

_BLOCK = re.compile(r"[0-9a-f]{4,64}")
# How a node says that it holds nothing of a block.
_NO_SUCH_BLOCK = "NoSuchBlock (404)"


def ask_nodes(client: Client, endpoint: str, params: Mapping, body: Any = None, absent: str | None = None) -> NodeAnswers:
    """One node-scoped read. Raises NodeErrors for nodes that did not answer, unless they are tolerated; then a warning names them.

    ``absent`` is how an error begins by which a node says that it does not hold what was asked for: such a node is left out.
    """
    check_node(params)
    answers = _answers(client, endpoint, params["node"], body)
    if absent:
        answers = replace(answers, errors={id: text for id, text in answers.errors.items() if not text.startswith(absent)})
    judge(client, answers, endpoint, params["tolerate_node_errors"])
    return answers


def _answers(client: Client, endpoint: str, node: str, body: Any) -> NodeAnswers:
    """One request for all nodes. Where a node hangs that one takes as long as its peers wait for it (300 s unless configured otherwise), and says
    nothing of the others; so each node is asked for itself then, and the one that hangs is known."""
    if node != "*":
        return NodeAnswers.from_api(client.call(endpoint, {"node": node}, body))
    try:
        return NodeAnswers.from_api(client.once().call(endpoint, {"node": node}, body))
    except (NotAdminApi, SetupError):
        raise
    except (TransportError, Unavailable) as error:
        if not getattr(error, "sent", True):
            return NodeAnswers.from_api(client.call(endpoint, {"node": node}, body))
        client.warnings.append(f"{error.message}; asking each node for itself")
    ids = [known.id for known in read_status(client).nodes if known.up or known.has_role or known.draining]
    each = at_once(lambda id: _answer(client, endpoint, id, body), ids)
    return NodeAnswers.from_api({side: {id: said for one in each for id, said in getattr(one, field).items()}
                                 for side, field in (("success", "success"), ("error", "errors"))})


def _answer(client: Client, endpoint: str, id: str, body: Any) -> NodeAnswers:
    try:
        return NodeAnswers.from_api(client.once().call(endpoint, {"node": id}, body))
    except (TransportError, Unavailable) as error:
        return NodeAnswers({}, {id: error.message})


def judge(client: Client, answers: NodeAnswers, what: str, tolerate: bool, done: Iterable[str] = ()) -> None:
    """Raise for the nodes in the error map, or warn about them when they are tolerated. ``done`` is what a write did on the others."""
    if error := answers.fault(what, tolerate):
        error.result = {"errors": answers.error_rows()}
        error.done = tuple(done)
        raise error
    client.warnings.extend(f"{what}: node {id[:16]}: {text}" for id, text in answers.errors.items())


def read_node_info(client: Client, params: Mapping) -> list[dict]:
    """Each node's version, engine, address and disks; with ``statistics`` its tables and block manager as well."""
    rows = ask_nodes(client, "GetNodeInfo", params).rows(_node_info)
    if not params["statistics"]:
        return [{**row, "statistics": None} for row in rows]
    statistics = ask_nodes(client, "GetNodeStatistics", params).success
    return [{**row, "statistics": snake_case(statistics.get(row["id"]))} for row in rows]


def read_workers(client: Client, params: Mapping) -> list[dict]:
    """Each node's background workers, ordered by id, and its worker variables."""
    if params["worker_id"] is not None:
        if params["busy_only"] or params["error_only"]:
            raise InputError("worker_id: names one worker; busy_only and error_only choose among all")
        found = ask_nodes(client, "GetWorkerInfo", params, {"id": params["worker_id"]})
        workers = {id: [worker_result(worker)] for id, worker in found.success.items()}
    else:
        found = ask_nodes(client, "ListWorkers", params, {"busyOnly": params["busy_only"], "errorOnly": params["error_only"]})
        workers = {id: [worker_result(worker) for worker in sorted(listed, key=lambda worker: worker["id"])] for id, listed in found.success.items()}
    variables = read_variables(client, params).success
    return [{"id": id, "workers": listed, "variables": variables.get(id)} for id, listed in workers.items()]


def read_variables(client: Client, params: Mapping) -> NodeAnswers:
    """Worker variables by node; all values are strings, as the server keeps them."""
    return ask_nodes(client, "GetWorkerVariable", params, {})


def read_blocks(client: Client, params: Mapping) -> list[dict]:
    """Each node's block errors, or what refers to one block on the nodes that know it."""
    if params["block"] is None:
        return ask_nodes(client, "ListBlockErrors", params).rows(lambda errors: {"block_errors": snake_case(errors), "block": None})
    if not _BLOCK.fullmatch(params["block"]):
        raise InputError(f"block: {params['block']!r} must be a block hash (64 hexadecimal digits) or at least its first 4 digits")
    return ask_nodes(client, "GetBlockInfo", params, {"blockHash": params["block"]}, absent=_NO_SUCH_BLOCK).rows(
        lambda block: {"block_errors": None, "block": snake_case(block)})


def _node_info(info: Mapping) -> dict:
    shown = snake_case({name: value for name, value in info.items() if name != "nodeId"})
    # Keys that older servers do not have (hostname 2.3.0, address and disks 2.4.0, connection parameters 2.5.0) are null.
    return {**dict.fromkeys(_NODE_INFO), **shown, "garage_version": normal_version(info.get("garageVersion"))}


_NODE_INFO = ("garage_version", "garage_features", "rust_version", "db_engine", "hostname", "addr", "is_up", "role", "draining", "data_partition",
              "metadata_partition", "connection_parameters")
