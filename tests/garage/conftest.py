# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Garage for the tests: its binary, one node, three nodes, or any cluster."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

from tools.testbed.garage_binary import obtain
from tools.testbed.nodes import Cluster, Site

MakeCluster = Callable[..., Cluster]


@pytest.fixture(scope="session", autouse=True)
def end_like_ctrl_c() -> Iterator[None]:
    """A terminated test run stops its nodes, as an interrupted one does."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture(scope="session")
def garage_binary() -> Path:
    """A Garage binary of the default version; an error, never a skip, when there is none."""
    return obtain()


@pytest.fixture(scope="session")
def make_cluster(garage_binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeCluster]:
    """A factory: `make_cluster(Site("paris", "paris", 2), replication_factor=2)`.

    The nodes answer, and know nothing of each other yet. They are stopped and removed at the end of the session, or
    earlier by `stop()` and `remove()`.
    """
    with contextlib.ExitStack() as running:

        def make(*sites: Site, replication_factor: int) -> Cluster:
            folder = tmp_path_factory.mktemp("garage")
            return running.enter_context(Cluster(garage_binary, folder, list(sites), replication_factor))

        yield make


@pytest.fixture(scope="session")
def single_node(make_cluster: MakeCluster) -> Cluster:
    """One healthy node with a layout, shared by all tests: name what you make so that no other test finds it."""
    cluster = make_cluster(Site("paris", "paris", 1), replication_factor=1)
    cluster.make_ready()
    return cluster


@pytest.fixture
def three_nodes(make_cluster: MakeCluster) -> Iterator[Cluster]:
    """Two nodes in paris, one in lyon, factor 3; they see each other, and there is no layout. Fresh for each test."""
    cluster = make_cluster(Site("paris", "paris", 2), Site("lyon", "lyon", 1), replication_factor=3)
    cluster.connect_all()
    cluster.wait_mesh()
    yield cluster
    cluster.stop()
    cluster.remove()
