# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Kubernetes for the tests, and a namespace for each."""

from __future__ import annotations

import secrets
import signal
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import urllib3
from kubernetes import client

from tests.kubernetes.federated_sites import Sites
from tests.kubernetes.namespaces import Namespace
from tests.kubernetes.site_driver import Site
from tools.cluster import local, namespaces, provider
from tools.cluster.state import Cluster
from tools.testbed.cache import cache_folder
from tools.testbed.waiting import wait_until

MakeNamespace = Callable[..., Namespace]
END_LIMIT_SECONDS = 180.0
# Of a local cluster there can be a second one beside the one in use, so that its beginning and end can be tested; and a network can be taken away.
_NO_LOCAL = local.unavailable()
collect_ignore = ["test_api_server_restart.py", "test_local_cluster.py", "test_no_admin_api.py"] if _NO_LOCAL else []
_NAMESPACES = pytest.StashKey[list[Namespace]]()


@pytest.fixture(scope="session", autouse=True)
def end_like_ctrl_c() -> Iterator[None]:
    """A terminated test run ends its cluster, as an interrupted one does."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A cluster that runs already, or one for this run; an error, never a skip, when there is none."""
    with provider.used() as found:
        yield found


@pytest.fixture(scope="session")
def _deleted(cluster: Cluster) -> Iterator[list[str]]:
    """Names of deleted namespaces. Their end takes seconds, so it is waited for only once, at the end of the run."""
    names: list[str] = []
    yield names
    core = client.CoreV1Api(cluster.api())

    def missing() -> str | None:
        left = {item.metadata.name for item in core.list_namespace().items} & set(names)
        return f"left are {sorted(left)}" if left else None

    wait_until("the end of the namespaces", missing, END_LIMIT_SECONDS, pause=0.5)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the state of a local cluster of the test's own lies; ended after it, if it is not yet."""
    monkeypatch.setenv(provider.KIND_VARIABLE, "local")
    monkeypatch.delenv(provider.KUBECONFIG_VARIABLE, raising=False)
    folder = cache_folder() / "cluster-of-tests"
    provider.down(folder)
    yield folder
    provider.down(folder)


@pytest.fixture
def site(cluster: Cluster, tmp_path: Path) -> Iterator[Site]:
    """A site of the test's own, in a namespace of its own; nothing of it is there yet."""
    made = Site(cluster, tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def federation(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    """Two sites of one cluster that the tests of a file share; nothing of them is there yet."""
    made = [Site(cluster, tmp_path_factory.mktemp(name), name) for name in ("paris", "lyon")]
    yield Sites(*made)
    for site in made:
        site.close()


@pytest.fixture
def make_namespace(cluster: Cluster, _deleted: list[str], request: pytest.FixtureRequest) -> Iterator[MakeNamespace]:
    """A factory: `make_namespace("paris", labels={…})`; the name gets a random end. Deleted after the test."""
    made: list[Namespace] = request.node.stash.setdefault(_NAMESPACES, [])
    core = client.CoreV1Api(cluster.api())

    def make(name: str = "test", labels: dict[str, str] | None = None) -> Namespace:
        full = f"{name}-{secrets.token_hex(3)}"
        metadata = {"name": full, "labels": {namespaces.LABEL: namespaces.owner()} | (labels or {})}
        core.create_namespace({"metadata": metadata})
        made.append(Namespace(cluster, full))
        return made[-1]

    yield make
    for namespace in made:
        _deleted.append(namespace.name)
        namespace.delete()


@pytest.fixture
def namespace(make_namespace: MakeNamespace) -> Namespace:
    """An empty namespace of this test alone."""
    return make_namespace()


def pytest_report_header() -> str | None:
    """What is not tested here, and why."""
    return f"beginning and end of a local cluster, and a play without a network: not tested here: {_NO_LOCAL}" if _NO_LOCAL else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    """A test that failed shows its namespaces, which are gone afterwards."""
    report = yield
    if report.when == "call" and report.failed:
        for namespace in item.stash.get(_NAMESPACES, []):
            report.sections.append((f"namespace {namespace.name}", _described(namespace)))
    return report


def _described(namespace: Namespace) -> str:
    try:
        return namespace.describe()
    except (client.ApiException, urllib3.exceptions.HTTPError) as broken:  # the test's own failure is to be shown
        return f"cannot be described: {type(broken).__name__}: {broken}"
