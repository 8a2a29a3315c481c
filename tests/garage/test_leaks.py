# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every module and the site playbook, loud and failing: no secret is in what is printed, logged, started or left behind."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.garage.playbook_run import run_playbook
from tests.garage.scenarios import SCENARIOS, SECRET, Options, World
from tools.quickstart import s3_client
from tools.testbed.node import Node
from tools.testbed.nodes import Cluster

WRONG_TOKEN = "a-wrong-token-that-nobody-may-see"
LOUD = ("-vvvv", "--diff")


@contextlib.contextmanager
def watching_processes() -> Iterator[set[str]]:
    """The arguments of every process that is seen meanwhile."""
    seen: set[str] = set()
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(0.05):
            for folder in Path("/proc").iterdir():
                if folder.name.isdecimal():
                    with contextlib.suppress(OSError):
                        seen.add((folder / "cmdline").read_bytes().decode("utf-8", "replace").replace("\0", " "))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        stop.set()
        watcher.join()


def texts_in(folder: Path, besides: set[Path]) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file() and path not in besides:
            yield path.read_bytes().decode("utf-8", "replace")


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
    folders = {name: tmp_path / name for name in ("stores", "temporary", "home")}
    for folder in folders.values():
        folder.mkdir()
    ground = world(node, folders["stores"])
    here = {"api_url": node.api_url, "api_token_file": str(node.spec.token_file)}
    tasks = []
    for module, scenario in SCENARIOS.items():
        steps = scenario(ground)
        tasks += [{f"s3ops.garage.{module}": args} for args in [*failing(steps[0], node), *({**step, **here} for step in steps)]]
    tasks.append({"s3ops.garage.key_info": {**here, "name": "leaks", "return_secret": True}, "no_log": True})
    # A fresh secret stays in its store, where it shall be; the last task of admin_token has deleted the token.
    tasks.append({"s3ops.garage.admin_token": {**here, "name": "kept", "scope": ["Metrics"], "store": {"path": str(folders["stores"] / "kept")}}})
    playbook = tmp_path / "play.json"
    playbook.write_text(json.dumps(play(tasks)), encoding="utf-8")
    log = tmp_path / "log"
    env = {"ANSIBLE_LOG_PATH": str(log), "TMPDIR": str(folders["temporary"]), "HOME": str(folders["home"])}
    with watching_processes() as started:
        run = run_playbook(playbook, {"all": {"hosts": {"localhost": {"ansible_python_interpreter": sys.executable}}}}, *LOUD, env=env)
    assert run.rc == 0, run.output[-4000:]
    failed = [row for row in run.rows if row["state"] == "failed"]
    meant = [row for row in failed if row["result"].get("error", {}).get("kind") in ("denied", "unreachable")]
    # Nobody listens at the peer of the scenario either.
    others = [row["result"] for row in failed if row not in meant]
    assert [result["msg"].partition("@")[0] for result in others] == ["ab" * 32], others
    assert len(meant) == 2 * len(SCENARIOS)
    keys = [node.admin.get("GetKeyInfo", id=row["id"], showSecretKey="true")["secretAccessKey"] for row in node.admin.get("ListKeys")]
    kept = (folders["stores"] / "kept").read_text(encoding="ascii").strip().partition(".")[2]
    config = node.config_file.read_text(encoding="utf-8")
    rpc_secret = next(line.split('"')[1] for line in config.splitlines() if line.startswith("rpc_secret"))
    secrets = {SECRET, WRONG_TOKEN, kept, rpc_secret, node.spec.token_file.read_text(encoding="ascii").strip(), *keys}
    assert kept and SECRET in keys and len(secrets) >= 6
    places = {
        "what is printed": [run.output],
        "the log": [log.read_text(encoding="utf-8")],
        "the arguments of processes": started,
        "temporary files": list(texts_in(folders["temporary"], set())) + list(texts_in(folders["home"], set())),
        "the logs of Garage": [node.log_file.read_text(encoding="utf-8")],
        "what is beside the stores": list(texts_in(folders["stores"], {folders["stores"] / "kept"})),
    }
    told = {place for place, texts in places.items() for text in texts for secret in secrets if secret in text}
    assert not told
    assert any("ansible-playbook" in line for line in started)
