# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The story of a site with storage nodes, from an empty namespace on. The tests share the site and follow one another."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kubernetes import client

from tests.garage.playbook_run import run_playbook
from tests.kubernetes.site_driver import Site, is_ready, merged
from tools.cluster.state import Cluster

NODES = {"paris-storage-0", "paris-storage-1", "paris-storage-2"}
PODS = {f"{node}-0" for node in NODES}
TENANCY = {
    "keys": [{"name": "app"}],
    "buckets": [{"name": "media", "quotas": {"max_size": "40GB"}, "grants": [{"key": "app", "read": True, "write": True}]}],
}


@pytest.fixture(scope="module")
def site(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = Site(cluster, Path(tmp_path_factory.mktemp("site")))
    made.change({"tenancy": TENANCY, "storage": {"disruption_budget": {"max_unavailable": 1}}})
    yield made
    made.close()


def written(site: Site) -> list[str]:
    """What was asked to be changed in earnest since the last question."""
    return [f"{request.method} {request.path}" for request in site.proxy.take() if request.is_write and not request.is_dry_run]


@pytest.mark.requirement("OP-046")
def test_a_check_before_the_first_run_predicts_it_and_sends_nothing(site: Site) -> None:
    run = site.run("--check", "--diff")
    assert run.rc == 0, run.output
    assert run.changed > 0
    for name in ("Namespace", "StatefulSet paris-storage-2", "Service paris-s3", "PodDisruptionBudget paris-storage", "1 keys and 1 buckets"):
        assert name in run.output or name == "Namespace"
    assert written(site) == []
    names = [item.metadata.name for item in client.CoreV1Api(site.cluster.api()).list_namespace().items]
    assert site.namespace.name not in names


@pytest.mark.requirement("OP-104", "TD-45", "FC-002")
def test_the_first_run_ends_with_a_healthy_site_and_its_tenants(site: Site) -> None:
    started = time.monotonic()
    run = site.run()
    print(f"from an empty namespace to a healthy site with its tenancy: {time.monotonic() - started:.1f} s")
    assert run.rc == 0, run.output
    assert "paris: layout version 1, 3 of 3 nodes up, healthy; declared buckets: 1, keys: 1" in run.output
    assert set(site.uids()) == PODS
    assert all(is_ready(pod) for pod in site.pods().values())
    assert site.names("StatefulSet") == NODES
    assert site.names("PodDisruptionBudget") == {"paris-storage"}
    assert set(site.claims()) == {f"{volume}-{pod}" for volume in ("metadata", "data") for pod in PODS}


@pytest.mark.requirement("FC-100", "LW-21")
def test_again_changes_nothing_and_restarts_no_pod(site: Site) -> None:
    site.proxy.take()
    before = site.uids()
    started = time.monotonic()
    run = site.run()
    print(f"an unchanged run: {time.monotonic() - started:.1f} s")
    assert (run.rc, run.changed) == (0, 0), run.output
    assert site.uids() == before
    check = site.run("--check", "--diff")
    assert (check.rc, check.changed) == (0, 0), check.output


def test_the_status_tells_how_the_layout_differs(site: Site) -> None:
    same = run_playbook("s3ops.garage.status", site.inventory())
    assert same.rc == 0, same.output
    assert [row["actions"] for row in same.results("paris", "layout")] == [[]]
    other = run_playbook("s3ops.garage.status", site.inventory(merged(site.file, {"storage": {"tags": ["ssd"]}})))
    assert other.rc == 0, other.output
    (plan,) = other.results("paris", "layout")
    staged, _applied = plan["actions"]
    assert staged.count("set the role of") == len(NODES)


@pytest.mark.requirement("TD-20")
def test_what_a_change_does_not_depend_on_stays(site: Site) -> None:
    before = site.uids()
    site.change({"storage": {"disruption_budget": None, "service": {"annotations": {"example.org/team": "red"}}}})
    run = site.run()
    assert run.rc == 0, run.output
    assert site.names("PodDisruptionBudget") == set()
    service = site.namespace.core.read_namespaced_service("paris-s3", site.namespace.name)
    assert service.metadata.annotations["example.org/team"] == "red"
    assert site.uids() == before


@pytest.mark.requirement("FC-112", "TD-13", "TD-47")
def test_a_change_of_the_configuration_rolls_node_by_node(site: Site) -> None:
    site.change({"config": {"block_size": "2MiB"}})
    site.proxy.take()
    before = site.uids()
    check = site.run("--check", "--diff")
    assert check.rc == 0, check.output
    assert check.changed == 1
    assert "block_size" in check.output
    assert written(site) == []
    assert site.uids() == before
    with site.watch() as watch:
        run = site.run()
    assert run.rc == 0, run.output
    assert watch.replaced == sorted(PODS)
    assert watch.most_down == 1
    assert "layout version 1, 3 of 3 nodes up, healthy" in run.output
    again = site.run()
    assert (again.rc, again.changed) == (0, 0), again.output


@pytest.mark.requirement("FC-112")
def test_a_node_that_does_not_come_back_stops_the_change(site: Site) -> None:
    site.change({"storage": {"pod": {"annotations": {"example.org/try": "1"}}}, "image": {"repository": "docker.io/example/nowhere"}})
    before = site.uids()
    run = site.run()
    assert run.rc != 0
    assert "pod paris-storage-0-0, container garage: ImagePullBackOff" in run.output
    assert "The other nodes were left as they are" in run.output
    after = site.uids()
    assert after.pop("paris-storage-0-0") != before.pop("paris-storage-0-0")
    assert after == before
    site.change({"image": {"repository": None}})
    with site.watch() as watch:
        mended = site.run()
    assert mended.rc == 0, mended.output
    assert watch.replaced == sorted(PODS)
    assert "layout version 1, 3 of 3 nodes up, healthy" in mended.output


@pytest.mark.requirement("FC-101", "OP-102")
def test_volumes_grow_without_a_restart(site: Site) -> None:
    before = site.uids()
    site.change({"storage": {"data": {"size": "2Gi"}}})
    run = site.run()
    assert run.rc == 0, run.output
    assert site.uids() == before
    sizes = {claim.spec.resources.requests["storage"] for name, claim in site.claims().items() if name.startswith("data-")}
    assert sizes == {"2Gi"}
    (layout,) = [row for row in run.results("paris", "layout") if row["changed"]]
    assert {role["capacity"] for role in layout["layout"]["roles"]} == {2 * 2**30}
    again = site.run()
    assert (again.rc, again.changed) == (0, 0), again.output


@pytest.mark.requirement("OP-014")
def test_what_a_volume_cannot_do_is_refused_before_anything_is_applied(site: Site) -> None:
    good = site.file
    site.change({"storage": {"data": {"size": "1Gi"}, "metadata": {"size": "50Mi"}}, "config": {"block_size": "4MiB"}})
    site.proxy.take()
    run = site.run()
    assert run.rc != 0
    for pod in PODS:
        assert f"claim data-{pod} has 2Gi, the site file says 1Gi: a claim never shrinks" in run.output
        assert f"claim metadata-{pod} has 100Mi" in run.output
    assert written(site) == []
    site.file = good
