# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A key that follows from the RPC secret: the same at both sites of a cluster, accepted by S3, pinned, and another one after it was deleted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from tests.garage.ansible_run import run_module
from tests.garage.conftest import MakeCluster
from tools.testbed.config import REGION
from tools.testbed.nodes import RPC_SECRET_FILE, Cluster, Site


def run(cluster: Cluster, site: str, options: dict[str, Any]) -> dict[str, Any]:
    """The module, at the Admin API of one site."""
    connection = {"api_url": cluster.site(site).api_url, "api_token_file": str(cluster.site(site).token_file)}
    return run_module("key", options, connection)


@pytest.mark.requirement("MH-22", "MH-24", "GS-06")
def test_two_sites_with_one_rpc_secret_have_one_key(make_cluster: MakeCluster, tmp_path: Path) -> None:
    cluster = make_cluster(Site("paris", "paris", 1), Site("lyon", "lyon", 1), replication_factor=2)
    cluster.make_ready()
    rpc_secret = (cluster.folder / RPC_SECRET_FILE).read_text(encoding="utf-8").strip()
    secret = tmp_path / "rpc-secret"
    secret.write_text(rpc_secret, encoding="utf-8")
    store = tmp_path / "app.json"
    wanted = {"derive": "default/app", "rpc_secret_file": str(secret), "allow_create_bucket": True}

    first = run(cluster, "paris", {**wanted, "store": {"path": str(store)}})
    assert first["rc"] == 0, first["output"]
    second = run(cluster, "lyon", {**wanted, "rpc_fingerprint": first["key"]["derivation"]["rpc_fingerprint"]})
    assert (second["rc"], second["changed"], second["key"]["id"]) == (0, False, first["key"]["id"]), second["output"]
    held = json.loads(store.read_text(encoding="utf-8"))
    client = boto3.client("s3", endpoint_url=cluster.s3_url, region_name=REGION, aws_access_key_id=held["access-key-id"],
                          aws_secret_access_key=held["secret-access-key"], config=Config(s3={"addressing_style": "path"}, proxies={}))
    client.create_bucket(Bucket="made-by-a-derived-key")
    client.close()
    assert rpc_secret not in first["output"] + second["output"]

    secret.write_text("0" * 64, encoding="utf-8")
    other = run(cluster, "lyon", wanted)
    assert other["rc"] != 0
    assert "derived from another RPC secret" in other["msg"]
    secret.write_text(rpc_secret, encoding="utf-8")

    assert run(cluster, "lyon", {"id": first["key"]["id"], "state": "absent"})["changed"]
    refused = run(cluster, "lyon", wanted)
    assert refused["rc"] != 0
    assert "set derive_nonce" in refused["msg"]
    again = run(cluster, "paris", {**wanted, "store": {"path": str(store)}})
    assert again["rc"] == 0, again["output"]
    nonce = again["key"]["derivation"]["nonce"]
    assert again["key"]["id"] not in (None, first["key"]["id"])
    told = run(cluster, "lyon", {**wanted, "derive_nonce": nonce})
    assert (told["rc"], told["changed"], told["key"]["id"]) == (0, False, again["key"]["id"]), told["output"]
