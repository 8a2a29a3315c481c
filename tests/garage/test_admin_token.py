# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""admin_token on real nodes, as a user runs it: its secret is in the file and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.garage.ansible_run import run_module
from tools.testbed.node import Node
from tools.testbed.nodes import GIB, Cluster, Site


def at(node: Node) -> dict[str, Any]:
    return {"api_url": node.api_url, "api_token_file": str(node.spec.token_file)}


@pytest.fixture
def node(single_node: Cluster) -> Node:
    return single_node.nodes[0]


@pytest.fixture
def half_roled(make_cluster: Any) -> Iterator[Cluster]:
    """Two nodes that know each other, of which the first alone has a role."""
    cluster = make_cluster(Site("paris", "paris", 2), replication_factor=1)
    cluster.connect_all()
    cluster.wait_mesh()
    first = cluster.nodes[0]
    first.admin.post("UpdateClusterLayout", {"roles": [{"id": first.node_id, "zone": "paris", "capacity": GIB, "tags": []}]})
    first.admin.post("ApplyClusterLayout", {"version": 1})
    yield cluster
    cluster.stop()
    cluster.remove()


@pytest.mark.requirement("FC-079", "FC-085", "TD-26", "TD-31")
def test_the_secret_is_shown_nowhere_and_narrow(node: Node, tmp_path: Path) -> None:
    store = tmp_path / "token"
    wanted = {"name": "live", "scope": ["GetClusterHealth"], "store": {"path": str(store)}}
    outputs, secrets = [], []
    for more in ({}, {}, {"scope": ["GetClusterStatus"]}, {"rotate": True}, {"state": "absent", "rotate": False}):
        result = run_module("admin_token", {**wanted, **more}, at(node), diff=True, verbosity=4)
        assert result["rc"] == 0, result["msg"]
        outputs.append(result["output"])
        secrets.append(store.read_text(encoding="ascii").strip())
        if more == {"rotate": True}:
            store.write_text(secrets[-1] + "\n", encoding="ascii")
            refused = run_module("key_info", {"api_url": node.api_url}, env={"GARAGE_ADMIN_TOKEN_FILE": str(store)}, verbosity=4)
            outputs.append(refused["output"])
            assert refused["error"]["kind"] == "denied"
            assert "ListKeys" in refused["msg"]
            assert str(store) in refused["msg"]
    assert len(set(secrets)) == 2
    for secret in (*secrets, node.spec.token_file.read_text(encoding="ascii").strip()):
        # The part before a dot is the id, which is shown.
        assert all(secret.rpartition(".")[2] not in output for output in outputs)
    assert node.admin.get("ListAdminTokens")[0]["id"] is None
    assert not [row for row in node.admin.get("ListAdminTokens") if row["name"].startswith("live")]


@pytest.mark.requirement("TD-42", "TD-43")
def test_a_run_goes_on_where_another_broke_off(node: Node, tmp_path: Path) -> None:
    store, nonce = tmp_path / "token", "a" * 32
    made = node.admin.post("CreateAdminToken", {"name": f"broken (pending {nonce})", "scope": ["Metrics"]})
    store.write_text(made["secretToken"], encoding="ascii")
    store.chmod(0o600)
    note = tmp_path / "token.intent"
    note.write_text(f'{{"name": "broken", "nonce": "{nonce}", "replaces": null}}', encoding="ascii")
    wanted = {"name": "broken", "scope": ["Metrics"], "store": {"path": str(store)}}

    result = run_module("admin_token", wanted, at(node))
    assert (result["changed"], result["adopted"], result["admin_token"]["id"]) == (True, True, made["id"])
    assert not note.exists()
    assert [row["id"] for row in node.admin.get("ListAdminTokens") if row["name"].startswith("broken")] == [made["id"]]
    again = run_module("admin_token", wanted, at(node))
    assert (again["changed"], again["admin_token"]) == (False, result["admin_token"])


@pytest.mark.requirement("GS-04", "GS-01", "GS-02", "TD-09")
def test_a_node_without_a_role_cannot_tell_and_costs_nothing(half_roled: Cluster, tmp_path: Path) -> None:
    roled, roleless = half_roled.nodes
    store = tmp_path / "token"
    wanted = {"name": "ci", "scope": ["Metrics"], "store": {"path": str(store)}}
    made = run_module("admin_token", wanted, at(roleless))
    assert made["error"]["kind"] == "not_reflected", made
    assert "without a role" in made["msg"]
    secret = store.read_text(encoding="ascii")

    # What was begun there goes on at a node that knows.
    finished = run_module("admin_token", wanted, at(roled))
    assert (finished["rc"], finished["changed"], finished["adopted"]) == (0, True, True)
    lost = run_module("admin_token", wanted, at(roleless))
    assert lost["error"]["kind"] == "credential_lost"
    assert "has no role" in lost["msg"]
    assert store.read_text(encoding="ascii") == secret
    assert [row["name"] for row in roled.admin.get("ListAdminTokens")[1:]] == ["ci"]
