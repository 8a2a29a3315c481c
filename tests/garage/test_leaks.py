# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every module, loud and failing: no secret is in what is printed, logged, started or left behind."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.garage.leak_search import LOUD, Traces, secrets_of
from tests.garage.playbook_run import run_playbook
from tests.garage.scenarios import SCENARIOS, SECRET, Options, World
from tools.quickstart import s3_client
from tools.testbed.node import Node
from tools.testbed.nodes import Cluster

WRONG_TOKEN = "a-wrong-token-that-nobody-may-see"


def failing(options: Options, node: Node) -> list[Options]:
    """The same options with a token nobody takes, and to where nobody listens."""
    return [{**options, "api_url": node.api_url, "api_token": WRONG_TOKEN},
            {**options, "api_url": "http://127.0.0.1:1", "api_token": node.spec.token_file.read_text(encoding="ascii").strip(), "retries": 0}]


def play(tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    # A failure is caught, so that the next task runs.
    caught = [{"block": [task], "rescue": [{"name": "Go on", "ansible.builtin.meta": "noop"}]} for task in tasks]
    return [{"name": "All modules", "hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": caught}]


def world(node: Node, folder: Path) -> World:
    """A bucket with an object and a key, and the names of a run."""
    key = node.admin.post("CreateKey", {"name": "leaks"})
    bucket = node.admin.post("CreateBucket", {"globalAlias": "leaks"})["id"]
    node.admin.post("AllowBucketKey", {"bucketId": bucket, "accessKeyId": key["accessKeyId"],
                                       "permissions": {"read": True, "write": True, "owner": True}})
    s3 = s3_client(node.s3_url, {"aws_access_key_id": key["accessKeyId"], "aws_secret_access_key": key["secretAccessKey"]})
    s3.put_object(Bucket="leaks", Key="object", Body=b"x" * 100_000)
    block = node.admin.get("InspectObject", bucketId=bucket, key="object")["versions"][0]["blocks"][0]["hash"]
    return World("fade", "leaks", "leaks", block, node.node_id, f"{'ab' * 32}@127.0.0.1:1", folder)


@pytest.mark.requirement("FC-079", "FC-085", "TD-40")
def test_no_secret_is_told_by_any_module(single_node: Cluster, tmp_path: Path) -> None:
    node = single_node.nodes[0]
    traces = Traces(tmp_path)
    ground = world(node, traces.stores)
    here = {"api_url": node.api_url, "api_token_file": str(node.spec.token_file)}
    tasks = []
    for module, scenario in SCENARIOS.items():
        steps = scenario(ground)
        tasks += [{f"s3ops.garage.{module}": args} for args in [*failing(steps[0], node), *({**step, **here} for step in steps)]]
    tasks.append({"s3ops.garage.key_info": {**here, "name": "leaks", "return_secret": True}, "no_log": True})
    # A fresh secret stays in its store, where it shall be; the last task of admin_token has deleted the token.
    tasks.append({"s3ops.garage.admin_token": {**here, "name": "kept", "scope": ["Metrics"], "store": {"path": str(traces.stores / "kept")}}})
    playbook = tmp_path / "play.json"
    playbook.write_text(json.dumps(play(tasks)), encoding="utf-8")
    with traces.watching():
        run = run_playbook(playbook, {"all": {"hosts": {"localhost": {"ansible_python_interpreter": sys.executable}}}}, *LOUD, env=traces.env)
    assert run.rc == 0, run.output[-4000:]
    failed = [row for row in run.rows if row["state"] == "failed"]
    meant = [row for row in failed if row["result"].get("error", {}).get("kind") in ("denied", "unreachable")]
    # Nobody listens at the peer of the scenario either.
    others = [row["result"] for row in failed if row not in meant]
    assert [result["msg"].partition("@")[0] for result in others] == ["ab" * 32], others
    assert len(meant) == 2 * len(SCENARIOS)
    traces.printed.append(run.output)
    kept = traces.stores / "kept"
    secrets = {**secrets_of(node), "an imported secret": SECRET, "a wrong token": WRONG_TOKEN,
               "a fresh token": kept.read_text(encoding="ascii").strip().partition(".")[2]}
    assert SECRET in secrets_of(node).values()
    assert traces.found(secrets, [node], {kept}) == set()
