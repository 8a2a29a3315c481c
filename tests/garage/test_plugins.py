# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory of nodes and the lookup of credentials on a real Garage, by the example that uses both."""

from __future__ import annotations

import json
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.garage.ansible_run import ANSIBLE_PLAYBOOK, LIMIT_SECONDS, clean_environment
from tests.garage.conftest import MakeCluster
from tests.garage.playbook_run import run_playbook
from tools.testbed.nodes import GIB, Cluster, Site
from tools.testbed.waiting import wait_until

EXAMPLES = Path(__file__).parents[2] / "examples"
INVENTORY = EXAMPLES / "inventory" / "cluster.garage_nodes.yml"


@pytest.fixture(scope="module")
def cluster(make_cluster: MakeCluster) -> Iterator[Cluster]:
    """Four nodes: a storage node and a gateway in paris, a storage node in lyon, and one without a role."""
    made = make_cluster(Site("paris", "paris", 2), Site("lyon", "lyon", 1), Site("new", "new", 1), replication_factor=2)
    made.connect_all()
    made.wait_mesh()
    one, two, three, _new = made.node_ids
    admin = made.nodes[0].admin
    admin.post("UpdateClusterLayout", {"roles": [
        {"id": one, "zone": "paris", "capacity": GIB, "tags": ["ssd", "rack 1"]}, {"id": two, "zone": "paris", "capacity": None, "tags": ["ssd"]},
        {"id": three, "zone": "lyon", "capacity": GIB, "tags": []}]})  # fmt: skip
    admin.post("ApplyClusterLayout", {"version": 1})
    made.wait_healthy()
    # Nodes tell each other their hostnames and versions every few seconds.
    wait_until("the hostnames", lambda: None if all(node["hostname"] for node in admin.get("GetClusterStatus")["nodes"]) else "some are not known")
    yield made
    made.stop()
    made.remove()


def environment(cluster: Cluster) -> dict[str, str]:
    return {"GARAGE_ADMIN_URL": cluster.api_url, "GARAGE_ADMIN_TOKEN_FILE": str(cluster.token_file)}


def inventory(cluster: Cluster, folder: Path, *options: str) -> str:
    (folder / "ansible.cfg").touch()
    command = [str(ANSIBLE_PLAYBOOK.with_name("ansible-inventory")), "-i", str(INVENTORY), *options]
    ended = subprocess.run(command, cwd=folder, env=clean_environment(str(folder), environment(cluster)), capture_output=True, text=True,
                           timeout=LIMIT_SECONDS, check=False)  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert cluster.token not in ended.stdout + ended.stderr
    return ended.stdout


def plain(value: dict[str, Any]) -> Any:
    return value.get("__ansible_unsafe", value)


def test_nodes_are_hosts_in_groups(cluster: Cluster, tmp_path: Path) -> None:
    found = json.loads(inventory(cluster, tmp_path, "--list"), object_hook=plain)
    # All nodes run on this machine and have its hostname, so that each is told by its id.
    one, two, three, new = [node_id[:16] for node_id in cluster.node_ids]
    version = cluster.nodes[0].admin.get("GetClusterStatus")["nodes"][0]["garageVersion"].rpartition(":")[2]
    groups = {name: set(group["hosts"]) for name, group in found.items() if "hosts" in group}
    assert groups == {
        "storage": {one, three}, "gateway": {two}, "no_role": {new}, "up": {one, two, three, new}, "zone_paris": {one, two}, "zone_lyon": {three},
        "tag_ssd": {one, two}, "tag_rack_1": {one}, f"garage_{version.replace('.', '_')}": {one, two, three, new},
        **({"nearly_full": groups["nearly_full"]} if "nearly_full" in groups else {}),
    }  # fmt: skip
    first = found["_meta"]["hostvars"][one]
    assert [first[f"garage_node_{name}"] for name in ("id", "zone", "capacity", "gateway", "tags", "up", "addr", "version")] == [
        cluster.node_ids[0], "paris", GIB, False, ["ssd", "rack 1"], True, cluster.nodes[0].rpc_address.partition("@")[2], version]  # fmt: skip
    assert first["ansible_host"] == "127.0.0.1"
    assert found["_meta"]["hostvars"][new]["garage_node_zone"] is None


def test_the_example_uses_both_and_shows_no_secret(cluster: Cluster, tmp_path: Path) -> None:
    key = cluster.nodes[0].admin.post("CreateKey", {"name": "plugins-app"})
    path = tmp_path / "app.env"
    variables = json.dumps({"garage_key": "plugins-app", "credentials_path": str(path)})
    done = run_playbook(EXAMPLES / "nodes_and_credentials.yml", INVENTORY, "-e", variables, "-vvv", "--diff", env=environment(cluster))
    assert done.rc == 0, done.output
    assert path.read_text(encoding="utf-8").splitlines() == [
        f"AWS_ACCESS_KEY_ID={key['accessKeyId']}", f"AWS_SECRET_ACCESS_KEY={key['secretAccessKey']}"]  # fmt: skip
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert f"{cluster.node_ids[2][:16]} in lyon: up, " in done.output
    assert key["secretAccessKey"] not in done.output
    assert cluster.token not in done.output


def test_a_node_that_is_stopped_is_down(cluster: Cluster, tmp_path: Path) -> None:
    last = cluster.nodes[2]
    last.stop()

    def seen() -> str | None:
        nodes = cluster.nodes[0].admin.get("GetClusterStatus")["nodes"]
        return next((f"{last.name} is up" for node in nodes if node["id"] == last.node_id and node["isUp"]), None)

    wait_until("the node to be missed", seen)
    graph = inventory(cluster, tmp_path, "--graph", "down")
    assert graph.split() == ["@down:", f"|--{cluster.node_ids[2][:16]}"]
    last.start()
