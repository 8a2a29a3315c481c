# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Local nodes: what needs no real Garage."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.testbed import __main__ as command
from tools.testbed import ports, waiting
from tools.testbed.config import render
from tools.testbed.errors import SetupError
from tools.testbed.node import PortTaken
from tools.testbed.nodes import STATE_FILE, Cluster, Site
from tools.testbed.ports import Ports, pick_ports
from tools.testbed.processes import ProcessRef

PARIS = Site("paris", "paris", 1)


def program(path: Path, body: str) -> Path:
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def test_ports_differ_and_lie_below_the_ephemeral_range() -> None:
    for _round in range(20):
        numbers = set(vars(pick_ports()).values())
        assert len(numbers) == 4
        assert min(numbers) >= ports.LOWEST
        assert max(numbers) < ports._ephemeral_start()


def test_port_in_use_is_not_picked(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as listening:
        listening.bind((ports.HOST, 0))
        listening.listen()
        taken = listening.getsockname()[1]
        free = list(vars(pick_ports()).values())
        monkeypatch.setattr(ports.random, "sample", lambda _range, k: [taken, *free][:k])
        assert list(vars(pick_ports()).values()) == free
        monkeypatch.setattr(ports.random, "sample", lambda _range, k: [taken][:k])
        with pytest.raises(SetupError, match="no four free TCP ports"):
            pick_ports()


def test_listening_is_told_by_process(sleeper: subprocess.Popen[bytes]) -> None:
    with socket.create_server((ports.HOST, 0)) as ours, socket.socket() as silent:
        silent.bind((ports.HOST, 0))
        port = ours.getsockname()[1]
        own, foreign = ports.listening_ports(os.getpid())
        assert port in own
        assert port not in foreign
        own, foreign = ports.listening_ports(sleeper.pid)
        assert port in foreign
        assert own == set()
        assert silent.getsockname()[1] not in foreign


def test_process_is_signalled_only_while_it_is_the_same(sleeper: subprocess.Popen[bytes]) -> None:
    ours = ProcessRef.of(sleeper.pid)
    used_again = ProcessRef(sleeper.pid, ours.start_time - 1)
    assert not used_again.is_alive()
    assert not used_again.signal(signal.SIGKILL)
    assert ours.is_alive()
    assert ours.signal(signal.SIGTERM)
    assert ours.wait_gone(60)


def test_ended_process_is_gone_before_anybody_collects_it(sleeper: subprocess.Popen[bytes]) -> None:
    ours = ProcessRef.of(sleeper.pid)
    sleeper.kill()
    assert ours.wait_gone(60)
    assert sleeper.returncode is None
    assert not ours.signal(signal.SIGTERM)


def test_running_process_is_not_gone(sleeper: subprocess.Popen[bytes]) -> None:
    assert not ProcessRef.of(sleeper.pid).wait_gone(0.05)


def test_process_name_may_hold_anything(tmp_path: Path) -> None:
    odd = tmp_path / ") S 1 ("
    odd.symlink_to("/bin/sleep")
    with subprocess.Popen([odd, "600"]) as process:
        found = ProcessRef.of(process.pid)
        assert found.is_alive()
        assert found.start_time > 0
        process.kill()


def test_waiting_tells_what_was_missing_at_last() -> None:
    given: list[str] = []

    def missing() -> str:
        given.append(f"answer {len(given)}")
        return given[-1]

    with pytest.raises(SetupError) as failed:
        waiting.wait_until("the moon", missing, limit=0.1)
    assert str(failed.value) == f"the moon: not reached within 0.1 s ({given[-1]})"
    waiting.wait_until("the moon", lambda: None, limit=0)


def test_configuration_names_secrets_by_file_and_binds_to_loopback_only(tmp_path: Path) -> None:
    odd = tmp_path / 'with "quotes" and \\ and é'
    made = tomllib.loads(render(odd, Ports(1, 2, 3, 4), 2, odd / "rpc", odd / "token"))
    assert made["metadata_dir"] == str(odd / "metadata")
    assert made["replication_factor"] == 2
    assert made["rpc_secret_file"] == str(odd / "rpc")
    assert made["admin"] == {"api_bind_addr": "127.0.0.1:2", "admin_token_file": str(odd / "token")}
    assert made["s3_api"]["s3_region"] == "garage"
    assert made["rpc_timeout_msec"] == 10000
    binds = [made["rpc_bind_addr"], made["s3_api"]["api_bind_addr"], made["s3_web"]["bind_addr"]]
    assert binds == ["127.0.0.1:1", "127.0.0.1:3", "127.0.0.1:4"]


def test_node_that_ends_is_reported_with_the_end_of_its_log(tmp_path: Path) -> None:
    fails = program(tmp_path / "garage", "echo 'Error: no space left'; exit 1")
    cluster = Cluster(fails, tmp_path / "cluster", [PARIS], 1)
    with pytest.raises(SetupError, match="node paris-1 ended while starting; the end of its log:\nError: no space left"):
        cluster.start()


def test_failed_start_ends_the_nodes_that_run(tmp_path: Path) -> None:
    half = program(tmp_path / "garage", 'case "$2" in */lyon/*) exit 1;; esac; exec sleep 600')
    cluster = Cluster(half, tmp_path / "cluster", [Site("lyon", "lyon", 1), PARIS], 1)
    started: list[ProcessRef] = []
    stop = cluster.stop

    def note_and_stop() -> None:
        started.extend(node.process for node in cluster.nodes if node.process)
        stop()

    cluster.stop = note_and_stop  # type: ignore[method-assign]
    with pytest.raises(SetupError, match="node lyon-1 ended"):
        cluster.start()
    assert len(started) == 2
    assert not any(process.is_alive() for process in started)


def test_node_takes_other_ports_until_it_gives_up(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    unlucky = program(
        tmp_path / "garage",
        f'grep ^rpc_bind_addr "$2" >> {seen}; echo "Address already in use (os error 98)"; exit 134',
    )
    cluster = Cluster(unlucky, tmp_path / "cluster", [PARIS], 1)
    with pytest.raises(PortTaken, match="ended while starting.*\nAddress already in use"):
        cluster.start()
    assert len(set(seen.read_text(encoding="utf-8").splitlines())) == 5
    assert not cluster.nodes[0].is_running


def test_missing_binary_is_reported(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / "none", tmp_path / "cluster", [PARIS], 1)
    with pytest.raises(SetupError, match="none cannot be started"):
        cluster.start()


def test_settings_of_the_caller_do_not_reach_the_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GARAGE_RPC_SECRET", "of another cluster")
    prints = program(tmp_path / "garage", "env; exit 1")
    cluster = Cluster(prints, tmp_path / "cluster", [PARIS], 1)
    with pytest.raises(SetupError):
        cluster.start()
    log = cluster.nodes[0].log_file.read_text(encoding="utf-8")
    assert "MALLOC_MMAP_THRESHOLD_=1000000" in log
    assert "GARAGE_" not in log


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    cluster = Cluster(program(tmp_path / "garage", "exit 1"), tmp_path / "cluster", [PARIS], 1)
    with pytest.raises(SetupError):
        cluster.start()
    made = [cluster.folder, *cluster.folder.rglob("*")]
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_file()} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_dir()} == {0o700}


def test_each_site_has_a_token_of_its_own_without_a_dot(tmp_path: Path) -> None:
    cluster = Cluster(program(tmp_path / "garage", "exit 1"), tmp_path / "c", [PARIS, Site("lyon", "lyon", 1)], 1)
    with pytest.raises(SetupError):
        cluster.start()
    tokens = [site.token for site in cluster.sites]
    assert len(set(tokens)) == 2
    assert not any("." in token for token in tokens)
    assert all(len(token) == 64 for token in tokens)


def test_other_things_in_the_folder_are_neither_mixed_with_nor_removed(tmp_path: Path) -> None:
    folder = tmp_path / "cluster"
    folder.mkdir()
    (folder / "mine").write_text("precious", encoding="utf-8")
    cluster = Cluster(program(tmp_path / "garage", "exit 1"), folder, [PARIS], 1)
    with pytest.raises(SetupError, match="holds other things"):
        cluster.start()
    assert [path.name for path in folder.iterdir()] == ["mine"]
    (folder / "mine").unlink()
    with pytest.raises(SetupError, match="ended while starting"):
        cluster.start()
    (folder / "mine").write_text("precious", encoding="utf-8")
    cluster.remove()
    assert [path.name for path in folder.iterdir()] == ["mine"]


def test_state_names_the_processes_for_another_program(tmp_path: Path) -> None:
    cluster = Cluster(program(tmp_path / "garage", "exec sleep 600"), tmp_path / "cluster", [PARIS], 1)
    cluster._prepare_folder()
    cluster.nodes[0].spawn()
    found = Cluster.load(cluster.folder)
    assert found.nodes[0].process == cluster.nodes[0].process
    assert found.nodes[0].ports == cluster.nodes[0].ports
    with pytest.raises(SetupError, match="stop them first"):
        found.remove()
    found.stop()
    assert not cluster.nodes[0].is_running
    state = json.loads((cluster.folder / STATE_FILE).read_text(encoding="utf-8"))
    assert state["nodes"][0]["process"] is None
    found.remove()
    assert not cluster.folder.exists()


@pytest.mark.parametrize(
    ("sites", "factor", "reason"),
    [
        ([], 1, "need names"),
        ([PARIS, PARIS], 1, "names that differ"),
        ([Site("../etc", "z", 1)], 1, "lower-case letters"),
        ([Site("paris", "paris", 0)], 1, "at least one node"),
        ([PARIS], 0, "replication factor 0"),
    ],
)
def test_impossible_clusters_are_refused(sites: list[Site], factor: int, reason: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=reason):
        Cluster(tmp_path / "garage", tmp_path / "cluster", sites, factor)


@pytest.mark.parametrize("action", ["down", "status"])
def test_command_on_a_folder_without_cluster_says_so(
    action: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main([action, "--folder", str(tmp_path)]) == 1
    assert f"no cluster was started in {tmp_path}" in capsys.readouterr().err


def test_command_explains_how_a_site_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["up", "--folder", str(tmp_path), "--site", "paris"])
    assert "'paris' is not NAME:NODES" in capsys.readouterr().err
