# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The starter of local nodes with a real Garage."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tools.testbed.admin_api import AdminApiError
from tools.testbed.errors import SetupError
from tools.testbed.node import PortTaken
from tools.testbed.nodes import DESCRIPTION_FILE, Cluster, Site
from tools.testbed.ports import HOST
from tools.testbed.processes import ProcessRef
from tools.testbed.versions import DEFAULT_VERSION

CHECKOUT = Path(__file__).parents[2]
PARIS_AND_LYON = ["--site", "paris:2", "--site", "lyon:1"]
MakeCluster = Callable[..., Cluster]


@pytest.fixture
def program(garage_binary: Path, tmp_path: Path) -> Iterator[Callable[..., subprocess.CompletedProcess[str]]]:
    """Runs the command of the test bed in a process of its own, on a folder that has no running nodes at the end."""
    folder = tmp_path / "cluster"

    def run(action: str, *options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "tools.testbed", action, "--folder", str(folder), *options],
            cwd=CHECKOUT,
            env=os.environ | {"GARAGE_BIN": str(garage_binary), "http_proxy": "http://127.0.0.1:1"},
            capture_output=True,
            text=True,
            check=False,
        )

    yield run
    run("down")


def processes_of(cluster: Cluster) -> list[ProcessRef]:
    return [node.process for node in cluster.nodes if node.process]


def test_three_nodes_become_healthy_and_leave_nothing(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(Site("paris", "paris", 2), Site("lyon", "lyon", 1), replication_factor=3)
    cluster.make_ready()
    for node in cluster.nodes:
        health = node.admin.get("GetClusterHealth")
        assert (health["status"], health["connectedNodes"], health["partitionsAllOk"]) == ("healthy", 3, 256)
    roles = cluster.nodes[2].admin.get("GetClusterLayout")["roles"]
    assert {role["id"]: (role["zone"], role["tags"]) for role in roles} == {
        cluster.node_ids[0]: ("paris", ["paris"]),
        cluster.node_ids[1]: ("paris", ["paris"]),
        cluster.node_ids[2]: ("lyon", ["lyon"]),
    }
    processes = processes_of(cluster)
    cluster.stop()
    cluster.remove()
    assert len(processes) == 3
    assert not any(process.is_alive() for process in processes)
    assert not cluster.folder.exists()


def test_three_nodes_see_each_other_without_a_layout(three_nodes: Cluster) -> None:
    for node in three_nodes.nodes:
        assert node.admin.get("GetClusterHealth")["connectedNodes"] == 3
        assert node.admin.get("GetClusterLayout")["version"] == 0
    paris, lyon = three_nodes.sites
    assert three_nodes.site("lyon") is lyon
    assert (len(paris.node_ids), len(lyon.node_ids)) == (2, 1)
    assert len(set(three_nodes.node_ids)) == 3
    assert len({node.api_url for node in three_nodes.nodes}) == 3
    assert paris.token != lyon.token
    assert (three_nodes.api_url, three_nodes.token_file) == (paris.api_url, paris.token_file)


def test_single_node_is_ready_and_runs_the_wanted_garage(single_node: Cluster) -> None:
    health = single_node.nodes[0].admin.get("GetClusterHealth")
    assert (health["status"], health["storageNodes"]) == ("healthy", 1)
    answer = single_node.nodes[0].admin.get("GetNodeInfo", node="self")
    (node_id,) = single_node.node_ids
    assert answer["success"][node_id]["dbEngine"].startswith("LMDB")
    if "GARAGE_BIN" not in os.environ:
        assert DEFAULT_VERSION in answer["success"][node_id]["garageVersion"]


def test_token_of_another_site_is_refused(three_nodes: Cluster) -> None:
    paris, lyon = three_nodes.sites
    lyon.token_file.write_text(paris.token, encoding="ascii")
    with pytest.raises(AdminApiError, match="403") as refused:
        lyon.nodes[0].admin.get("GetClusterHealth")
    assert paris.token not in str(refused.value)


def test_secrets_are_only_in_their_files(three_nodes: Cluster) -> None:
    secret_files = {three_nodes.folder / "rpc_secret", *(site.token_file for site in three_nodes.sites)}
    secrets = [path.read_bytes() for path in secret_files]
    for path in three_nodes.folder.rglob("*"):
        if path.is_file() and path not in secret_files:
            assert not any(secret in path.read_bytes() for secret in secrets), path
    for path in [*secret_files, three_nodes.folder / DESCRIPTION_FILE, three_nodes.nodes[0].config_file]:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for process in processes_of(three_nodes):
        shown = Path(f"/proc/{process.pid}/cmdline").read_bytes() + Path(f"/proc/{process.pid}/environ").read_bytes()
        assert not any(secret in shown for secret in secrets)


@pytest.mark.parametrize("kind", ["rpc", "admin", "s3", "web"])
def test_port_taken_by_another_process_is_replaced(kind: str, garage_binary: Path, tmp_path: Path) -> None:
    cluster = Cluster(garage_binary, tmp_path / "cluster", [Site("paris", "paris", 1)], 1)
    picked = cluster.nodes[0].ports
    with socket.create_server((HOST, getattr(picked, kind))), cluster:
        assert cluster.nodes[0].ports != picked
        cluster.make_ready()


def test_port_taken_while_a_known_node_was_stopped_is_an_error(garage_binary: Path, tmp_path: Path) -> None:
    with Cluster(garage_binary, tmp_path / "cluster", [Site("paris", "paris", 1)], 1) as cluster:
        node = cluster.nodes[0]
        known = node.ports
        node.stop()
        with socket.create_server((HOST, known.s3)), pytest.raises(PortTaken):
            node.start()
        assert not node.is_running
        assert node.ports == known
        node.start()


def test_node_hangs_resumes_ends_and_comes_back_as_itself(three_nodes: Cluster) -> None:
    node = three_nodes.nodes[1]
    process, node_id = node.process, node.node_id
    assert process
    node.pause()
    assert process.is_stopped()
    node.resume()
    assert not process.is_stopped()
    assert node.admin.get("GetClusterHealth")["connectedNodes"] == 3
    for end in (node.stop, node.kill):
        before = node.process
        end()
        assert before
        assert not before.is_alive()
        assert not node.is_running
        with pytest.raises(SetupError, match="does not run"):
            node.pause()
        node.start()
        assert node.process != before
    assert node.node_id == node_id
    assert node.admin.get("GetNodeInfo", node="self")["success"].keys() == {node_id}


def test_paused_node_can_be_stopped(three_nodes: Cluster) -> None:
    node = three_nodes.nodes[2]
    node.pause()
    node.stop()
    assert not node.is_running


def test_other_processes_take_part_through_the_folder(
    program: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    started = program("up", *PARIS_AND_LYON, "--layout")
    assert started.returncode == 0, started.stderr
    description = json.loads(started.stdout)
    assert description == json.loads((tmp_path / "cluster" / DESCRIPTION_FILE).read_text(encoding="utf-8"))
    shown = program("status")
    assert shown.returncode == 0
    assert [line.split()[0] for line in shown.stdout.splitlines()] == ["paris-1", "paris-2", "lyon-1"]
    assert shown.stdout.count("running, healthy, connected to 3 of 3") == 3
    cluster = Cluster.load(tmp_path / "cluster")
    assert cluster.describe() == description
    processes = processes_of(cluster)
    ended = program("down")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert len(processes) == 3
    assert not any(process.is_alive() for process in processes)
    assert not (tmp_path / "cluster").exists()


def test_stopped_cluster_is_started_again_as_it_was(
    program: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    first = program("up", *PARIS_AND_LYON, "--layout")
    assert program("down", "--keep").returncode == 0
    stopped = program("status")
    assert (stopped.returncode, stopped.stdout.count("stopped")) == (1, 3)
    again = program("up", *PARIS_AND_LYON, "--layout")
    assert again.stdout == first.stdout
    assert program("status").stdout.count("running, healthy, connected to 3 of 3") == 3
    assert program("up", *PARIS_AND_LYON).stdout == first.stdout


def test_another_cluster_in_the_folder_is_left_alone(
    program: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    program("up", "--site", "paris:1", "--factor", "1")
    other = program("up", "--site", "lyon:1", "--factor", "1")
    assert other.returncode == 1
    assert "another cluster is in" in other.stderr
    assert program("status").returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_test_run_stops_its_nodes(number: signal.Signals, garage_binary: Path, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").symlink_to(Path(__file__).with_name("conftest.py"))
    (tmp_path / "test_long.py").write_text(
        "import json, time\n"
        "def test_long(three_nodes):\n"
        "    print('\\n' + json.dumps([vars(node.process) for node in three_nodes.nodes]), flush=True)\n"
        "    time.sleep(600)\n",
        encoding="utf-8",
    )
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'temp'}", str(tmp_path)],
        cwd=CHECKOUT,
        env=os.environ | {"GARAGE_BIN": str(garage_binary)},
        stdout=subprocess.PIPE,
        text=True,
        # A run in the background of a shell ignores Ctrl-C, and so would what it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as run:
        assert run.stdout
        line = next(line for line in run.stdout if line.startswith("["))
        processes = [ProcessRef(**record) for record in json.loads(line)]
        assert all(process.is_alive() for process in processes)
        run.send_signal(number)
        run.communicate()
    assert len(processes) == 3
    assert not any(process.is_alive() for process in processes)
