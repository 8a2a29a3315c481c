# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node is switched off once the others have its blocks, and not before. With one copy of each block, so that what is missed is lost."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.garage.ansible_run import run_module
from tests.garage.conftest import MakeCluster
from tools.quickstart import s3_client
from tools.testbed import config
from tools.testbed.node import Node
from tools.testbed.nodes import Site

MIB = 1 << 20
RPC_TIMEOUT_MSEC = 15_000


def stored(nodes: Iterable[Node]) -> dict[str, Path]:
    """The blocks on the disks of ``nodes`` by their hashes. Garage may compress them, and names them so."""
    files = [path for node in nodes for path in (node.spec.folder / "data").rglob("*")]
    return {path.name.removesuffix(".zst"): path for path in files if len(path.name.removesuffix(".zst")) == 64}


@pytest.fixture
def lazy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes that fetch a block half a minute after they know of it: twice their RPC timeout (2.5.0)."""
    short = config.render
    monkeypatch.setattr(config, "render", lambda *what: short(*what).replace("rpc_timeout_msec = 10000", f"rpc_timeout_msec = {RPC_TIMEOUT_MSEC}"))


@pytest.mark.requirement("FC-020", "OP-016", "OP-018")
def test_what_only_a_node_that_leaves_has_is_with_the_others_before_it_goes(make_cluster: MakeCluster, lazy: None, tmp_path: Path) -> None:
    cluster = make_cluster(Site("paris", "paris", 3), replication_factor=1)
    cluster.make_ready()
    first, second, third = cluster.nodes

    def run(module: str, args: dict[str, Any], **options: Any) -> dict[str, Any]:
        return run_module(module, args, {"api_url": first.api_url, "api_token_file": str(first.spec.token_file)}, **options)

    key = first.admin.post("CreateKey", {"name": "app"})
    bucket = first.admin.post("CreateBucket", {"globalAlias": "media"})["id"]
    first.admin.post("AllowBucketKey", {"bucketId": bucket, "accessKeyId": key["accessKeyId"], "permissions": {"read": True, "write": True}})
    s3 = s3_client(first.s3_url, {"aws_access_key_id": key["accessKeyId"], "aws_secret_access_key": key["secretAccessKey"]})
    objects = {f"object-{number}": random.Random(number).randbytes(4 * MIB) for number in range(5)}
    for name, content in objects.items():
        s3.put_object(Bucket="media", Key=name, Body=content)
    every = stored(cluster.nodes)
    # One block cannot be fetched for now: the only disk that has it does not give it.
    hidden = min(set(stored([third])) - set(stored([first, second])))
    place = stored([third])[hidden]
    place.rename(tmp_path / "block")

    early = run("drain", {"nodes": [third.node_id]})
    assert (early["rc"], early["error"]["kind"]) == (2, "refused") and "has a role in the layout" in early["msg"]
    gone = run("layout", {"roles": [{"node": third.node_id, "state": "absent"}], "wait": True, "wait_timeout": 300})
    # The layout has let go of the node.
    assert gone["changed"] and third.node_id in run("layout_info", {})["layout"]["removable"]

    drain = {"nodes": [third.node_id], "rpc_timeout_msec": RPC_TIMEOUT_MSEC, "wait_sleep": 0.5}
    foretold = run("drain", drain, check=True)
    assert (foretold["changed"], foretold["drain"]["drained"]) == (True, False)
    incomplete = run("drain", {**drain, "wait_timeout": 3 * RPC_TIMEOUT_MSEC // 1000})
    assert (incomplete["rc"], incomplete["error"]["kind"], incomplete["changed"]) == (2, "timeout", True)
    assert "could not get 1 blocks" in incomplete["msg"] and hidden not in stored([first, second])

    (tmp_path / "block").rename(place)
    run("block_action", {"action": "retry", "all": True})
    done = run("drain", {**drain, "wait_timeout": 300})
    assert (done.get("msg"), done["drain"]) == (None, {"nodes": [third.node_id], "drained": True})
    assert done["actions"] == foretold["actions"]
    assert set(every) <= set(stored([first, second]))
    third.kill()
    assert {name: s3.get_object(Bucket="media", Key=name)["Body"].read() for name in objects} == objects
