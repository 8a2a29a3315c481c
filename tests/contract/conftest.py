# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each test runs twice: on the fake Garage and on a real node of the same version, and must find the same.

GARAGE_CONTRACT_VERSION chooses another version than the default one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.server import InMemory, OverHttp, Server, Version, description_of
from tools.testbed.garage_binary import obtain
from tools.testbed.nodes import Cluster, Site
from tools.testbed.versions import DEFAULT_VERSION, version_of

KINDS = ("fake", "real")


@pytest.fixture(scope="session")
def binary() -> Path:
    return obtain(os.environ.get("GARAGE_CONTRACT_VERSION", DEFAULT_VERSION))


@pytest.fixture(scope="session")
def version(binary: Path) -> Version:
    return version_of(binary)


@pytest.fixture(scope="session")
def description(binary: Path) -> dict:
    return description_of(binary)


@pytest.fixture(scope="session")
def real_node(binary: Path, version: Version, description: dict, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OverHttp]:
    """One node with a layout, shared by all tests."""
    with Cluster(binary, tmp_path_factory.mktemp("contract"), [Site("paris", "dc1", 1)], replication_factor=1) as cluster:
        cluster.make_ready()
        server = OverHttp(version, description, cluster)
        yield server
        server.close()


@pytest.fixture(params=KINDS)
def server(request: pytest.FixtureRequest, version: Version, description: dict) -> Server:
    """A node with a layout, which other tests use too: only look for what you made."""
    if request.param == "fake":
        return InMemory(version, description)
    return request.getfixturevalue("real_node")


@pytest.fixture(scope="session")
def real_bare_node(binary: Path, version: Version, description: dict, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OverHttp]:
    """One node that never gets a layout, with replication factor 2."""
    with _bare(binary, tmp_path_factory.mktemp("bare")) as cluster:
        server = OverHttp(version, description, cluster)
        yield server
        server.close()


@pytest.fixture(params=KINDS)
def bare_server(request: pytest.FixtureRequest, version: Version, description: dict) -> Server:
    """A node without a layout and with nothing staged, replication factor 2: for tests that apply nothing."""
    if request.param == "fake":
        return InMemory(version, description, layout=False, replication_factor=2)
    server = request.getfixturevalue("real_bare_node")
    server.ok("RevertClusterLayout")
    return server


@pytest.fixture(params=KINDS)
def fresh_server(request: pytest.FixtureRequest, version: Version, description: dict, binary: Path, tmp_path: Path) -> Iterator[Server]:
    """A node that was just started, replication factor 2: for tests that apply a layout."""
    if request.param == "fake":
        yield InMemory(version, description, layout=False, replication_factor=2)
        return
    with _bare(binary, tmp_path / "cluster") as cluster:
        server = OverHttp(version, description, cluster)
        yield server
        server.close()


def _bare(binary: Path, folder: Path) -> Cluster:
    return Cluster(binary, folder, [Site("paris", "dc1", 1)], replication_factor=2)
