# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Credentials in stores on real nodes: rotated under a client's eyes, and found again by a server that was put back to an older state."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from tests.garage.ansible_run import run_module
from tools.testbed.config import REGION
from tools.testbed.nodes import Cluster, Site
from tools.testbed.waiting import wait_until


@pytest.fixture
def own_node(make_cluster: Any) -> Iterator[Cluster]:
    """A node whose state may be put back."""
    cluster = make_cluster(Site("paris", "paris", 1), replication_factor=1)
    cluster.make_ready()
    yield cluster
    cluster.stop()
    cluster.remove()


def run(cluster: Cluster, module: str, args: dict[str, Any], **options: Any) -> dict[str, Any]:
    result = run_module(module, args, {"api_url": cluster.api_url, "api_token_file": str(cluster.token_file)}, **options)
    assert result["rc"] == 0, result["msg"]
    return result


def variables(path: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in path.read_text(encoding="utf-8").splitlines())


def read_object(found: dict[str, str]) -> int:
    """The status of reading the object with the credentials of a file of variables."""
    config = Config(s3={"addressing_style": "path"}, proxies={}, retries={"total_max_attempts": 1})
    client = boto3.client("s3", endpoint_url=found["AWS_ENDPOINT_URL"], region_name=found["AWS_DEFAULT_REGION"], config=config,
                          aws_access_key_id=found["AWS_ACCESS_KEY_ID"], aws_secret_access_key=found["AWS_SECRET_ACCESS_KEY"])
    with contextlib.closing(client):
        try:
            client.put_object(Bucket=found["BUCKET_NAME"], Key="one", Body=b"1")
            return client.get_object(Bucket=found["BUCKET_NAME"], Key="one")["ResponseMetadata"]["HTTPStatusCode"]
        except ClientError as error:
            return error.response["ResponseMetadata"]["HTTPStatusCode"]


@pytest.mark.requirement("FC-068", "TD-31", "FC-108")
def test_a_client_never_loses_access_while_its_key_is_rotated(single_node: Cluster, tmp_path: Path) -> None:
    path = tmp_path / "app.env"
    wanted = {"name": "rotated", "store": {"path": str(path), "format": "env", "endpoint": single_node.s3_url, "region": REGION, "bucket": "rotated"}}
    run(single_node, "key", wanted)
    run(single_node, "bucket", {"name": "rotated"})
    run(single_node, "grant", {"bucket": "rotated", "key": "rotated", "read": True, "write": True})
    old = variables(path)
    assert read_object(old) == 200

    rotated = run(single_node, "key", {**wanted, "rotate": True}, diff=True, verbosity=4)
    new = variables(path)
    assert rotated["rotated"] and not rotated.get("warnings", [])[1:] and new["AWS_ACCESS_KEY_ID"] == rotated["key"]["id"] != old["AWS_ACCESS_KEY_ID"]
    assert new["AWS_SECRET_ACCESS_KEY"] not in rotated["output"]
    assert (read_object(new), read_object(old)) == (200, 200)
    assert not run(single_node, "key", wanted)["changed"]

    run(single_node, "key", {**wanted, "remove_replaced": True})
    assert (read_object(new), read_object(old)) == (200, 403)

    run(single_node, "key", {**wanted, "rotate": True, "rotate_grace": "1s"})
    newest = variables(path)
    wait_until("the end of the old key", lambda: None if read_object(new) == 403 else "it works")
    assert read_object(newest) == 200
    assert run(single_node, "key", wanted)["actions"] == [f"delete rotated (replaced) ({new['AWS_ACCESS_KEY_ID']})"]
    assert read_object(newest) == 200


@pytest.mark.requirement("TD-01", "TD-06", "TD-11", "TD-32")
def test_a_server_that_was_put_back_to_an_older_state_gets_its_keys_again(own_node: Cluster, tmp_path: Path) -> None:
    (node,) = own_node.nodes
    metadata, older = node.spec.folder / "metadata", tmp_path / "older"
    node.stop()
    shutil.copytree(metadata, older)
    node.start()
    stores = tmp_path / "stores"
    stores.mkdir()
    key = {"name": "app", "allow_create_bucket": True, "store": {"path": str(stores / "app")}}
    token = {"name": "ci", "scope": ["ListBuckets"], "store": {"path": str(stores / "ci")}}
    made, _token = run(own_node, "key", key), run(own_node, "admin_token", token)
    credentials, secret = (stores / "app").read_text(encoding="utf-8"), (stores / "ci").read_text(encoding="utf-8")

    node.stop()
    shutil.rmtree(metadata)
    shutil.copytree(older, metadata)
    node.start()
    again = run(own_node, "key", key)
    assert again["key"]["id"] == made["key"]["id"] and (stores / "app").read_text(encoding="utf-8") == credentials
    assert not run(own_node, "key", key)["changed"]
    # A token cannot be brought back; the old secret is kept aside.
    run(own_node, "admin_token", token)
    assert (stores / "ci").read_text(encoding="utf-8") != secret == (stores / "ci.old").read_text(encoding="utf-8")
    assert run(own_node, "admin_token", token)["adopted"]

    # What was deleted on purpose cannot come back under its id.
    run(own_node, "key", {**key, "state": "absent"})
    other = run(own_node, "key", key)
    assert other["key"]["id"] != made["key"]["id"] and any("never takes its id again" in text for text in other["warnings"])
    assert not run(own_node, "key", key)["changed"]
