# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A local cluster begins, ends, and leaves nothing, however its end came. Beside the one that the other tests use."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kubernetes.machine import descendants, seen
from tests.kubernetes.namespaces import Namespace, claim, pod
from tools.check.paths import ROOT
from tools.cluster import local, provider
from tools.cluster.faults import kill_api_server
from tools.cluster.state import Cluster
from tools.testbed.processes import ProcessRef
from tools.testbed.waiting import wait_until

LIMIT_SECONDS = 180.0
# etcd, containerd, five of Kubernetes, CoreDNS.
DAEMONS = 8


def run_something(cluster: Cluster) -> None:
    """A pod with a volume, so that there is a sandbox, mounts, a veth pair, and a Service's rules."""
    namespace = Namespace(cluster, "default")
    namespace.create(claim("data", cluster.storage_class))
    namespace.create(pod("garage", cluster.image, ["/garage", "-c", "/data/none", "server"], {"data": "/data"}))
    namespace.wait_pod("garage", "Failed")
    pause = pod("pause", "s3ops.garage.test/pause:1", ["/pause"], {"data": "/data"})
    namespace.create(pause)
    namespace.wait_pod("pause", "Ready")


def restart_api_server(cluster: Cluster) -> None:
    before = local.daemon_process(cluster.record, "kube-apiserver")
    kill_api_server(cluster)
    wait_until("the API server", lambda: provider.missing(cluster), LIMIT_SECONDS, pause=0.5)
    assert local.daemon_process(cluster.record, "kube-apiserver") not in (None, before)


def processes(cluster: Cluster) -> list[ProcessRef]:
    assert cluster.storage_process
    return [*descendants(ProcessRef(**cluster.record["process"])), ProcessRef(**cluster.storage_process)]


def test_nothing_is_left_after_down(home: Path) -> None:
    before = seen()
    cluster = provider.up(keep=True, home=home)
    run_something(cluster)
    running = processes(cluster)
    assert len(running) > DAEMONS
    assert {line.split()[0] for line in seen() - before} >= {"address", "route", "control"}
    restart_api_server(cluster)
    running += processes(cluster)

    assert provider.down(home)
    assert [process for process in running if process.is_alive()] == []
    assert seen() - before == set()
    assert not home.exists()
    assert not provider.down(home)


def test_what_a_killed_cluster_left_is_cleaned_by_the_next(home: Path) -> None:
    before = seen()
    cluster = provider.up(keep=True, home=home)
    old = processes(cluster)
    old[0].signal(signal.SIGKILL)
    assert old[0].wait_gone(LIMIT_SECONDS)

    again = provider.up(keep=True, home=home)
    assert again.identity != cluster.identity
    assert [process for process in old if process.is_alive()] == []
    provider.down(home)
    assert seen() - before == set()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_start_that_is_cut_off_leaves_nothing(home: Path, number: signal.Signals) -> None:
    before = seen()
    starting = subprocess.Popen(
        [sys.executable, "-m", "tools.cluster", "up", "--home", str(home)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A run in the background of a shell ignores Ctrl-C, and so would what it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    # Not at its beginning, when there is nothing to leave yet.
    wait_until("the node's first process", lambda: _not_begun(home), LIMIT_SECONDS)
    starting.send_signal(number)
    assert starting.wait(LIMIT_SECONDS) != 0
    if number == signal.SIGKILL:
        assert provider.down(home)
    assert seen() - before == set()
    assert not home.exists()


def test_a_cluster_ends_with_the_last_run_that_uses_it_unless_a_person_started_it(home: Path) -> None:
    started = provider.up(keep=True, home=home)
    with provider.used(home) as found:
        assert found.identity == started.identity
    assert provider.missing(started) is None

    found.keep = False
    found.save()
    with provider.used(home), provider.used(home) as inner:
        assert inner.identity == started.identity
    assert Cluster.find(home) is None


def _not_begun(home: Path) -> str | None:
    found = Cluster.find(home)
    return None if found and "first_process" in found.record else "no process yet"
