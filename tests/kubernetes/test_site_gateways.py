# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gateways beside storage, edge gateways for the same cluster, and a handle on it. The tests share the sites and follow one another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.garage.guide_run import Guide
from tests.garage.playbook_run import Run, run_playbook
from tests.kubernetes.site_driver import PLAYBOOK, POD_TIMEOUT, Site, fitted
from tools.cluster.state import Cluster
from tools.testbed.waiting import wait_until

STORAGE = {f"paris-storage-{number}" for number in range(3)}


class Sites:
    """Two sites of one inventory."""

    def __init__(self, paris: Site, edge: Site) -> None:
        self.paris = paris
        self.edge = edge
        volume = {"size": "100Mi", "storage_class": paris.cluster.storage_class}
        paris.change({"gateway": {"replicas": 1, "metadata": volume}})
        # A zone of gateways alone would count for zone_redundancy: maximum, and the layout could not be computed.
        edge.change({"zone": "paris", "storage": None, "replication": None, "gateway": {"replicas": 2, "metadata": volume}, "connect_to": {"site": "paris"}})

    def run(self, *options: str) -> Run:
        return run_playbook(PLAYBOOK, self.inventory(), *options)

    def inventory(self) -> dict[str, Any]:
        found = self.paris.inventory()
        found["all"]["hosts"] |= self.edge.inventory()["all"]["hosts"]
        return found


@pytest.fixture(scope="module")
def sites(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    paris = Site(cluster, Path(tmp_path_factory.mktemp("paris")))
    edge = Site(cluster, Path(tmp_path_factory.mktemp("edge")), "edge")
    yield Sites(paris, edge)
    paris.close()
    edge.close()


@pytest.mark.requirement("OP-103", "VG-09")
def test_gateways_beside_storage_have_a_role_and_keep_their_identity(sites: Sites) -> None:
    run = sites.paris.run()
    assert run.rc == 0, run.output
    assert "4 of 4 nodes up, healthy" in run.output
    assert sites.paris.names("StatefulSet") == STORAGE | {"paris-gateway-0"}
    assert set(sites.paris.claims()) >= {"metadata-paris-gateway-0-0"}
    (layout,) = run.results("paris", "layout")
    assert sorted(role["gateway"] for role in layout["layout"]["roles"]) == [False, False, False, True]
    endpoints = sites.paris.namespace.core.read_namespaced_service("paris-s3", sites.paris.namespace.name)
    assert endpoints.spec.selector["app.kubernetes.io/component"] == "gateway"


@pytest.mark.requirement("VG-17")
def test_a_gateway_whose_pod_was_replaced_comes_back(sites: Sites) -> None:
    space = sites.paris.namespace
    before = sites.paris.uids()["paris-gateway-0-0"]
    space.core.delete_namespaced_pod("paris-gateway-0-0", space.name)

    def missing() -> str | None:
        return "the old one" if sites.paris.uids().get("paris-gateway-0-0", before) == before else None

    wait_until("another pod", missing, POD_TIMEOUT, pause=0.5)
    space.wait_pod("paris-gateway-0-0", "Ready")
    run = sites.paris.run()
    assert (run.rc, run.results("paris", "layout")[-1]["changed"]) == (0, False), run.output


@pytest.mark.requirement("OP-103", "VG-09", "TD-13")
def test_edge_gateways_join_the_cluster_of_a_site(sites: Sites) -> None:
    run = sites.run()
    assert run.rc == 0, run.output
    assert run.stats["paris"]["changed"] == 0
    assert "edge: layout version 2, 6 of 6 nodes up, healthy" in run.output
    assert set(sites.edge.uids()) == {"edge-gateway-0", "edge-gateway-1"}
    assert set(sites.edge.claims()) == {"metadata-edge-gateway-0", "metadata-edge-gateway-1"}
    again = sites.run()
    assert (again.rc, again.changed) == (0, 0), again.output


@pytest.mark.guide("docs/site-file.md", "Edge gateways")
@pytest.mark.requirement("OP-103")
def test_the_same_gateways_by_the_address_of_the_cluster_alone(sites: Sites, guide: Guide) -> None:
    service = sites.paris.namespace.core.read_namespaced_service("paris-admin", sites.paris.namespace.name)
    guide.places = {"https://garage-admin.paris.example.org": f"http://{service.spec.cluster_ip}:3903", "/etc/garage": str(guide.folder),
                    "namespace: edge": f"namespace: {sites.edge.namespace.name}", **fitted(sites.edge.cluster)}
    guide.write("token", sites.paris.secret_values()["admin-token"])
    guide.write("rpc-secret", sites.paris.secret_values()["rpc-secret"])
    [shown] = guide.yaml("Edge gateways")
    run = run_playbook(PLAYBOOK, sites.edge.inventory(shown["garage_site"]), env={"K8S_AUTH_KUBECONFIG": str(sites.edge.proxy.kubeconfig)})
    assert (run.rc, run.changed) == (0, 0), run.output
    assert "edge: layout version 2, 6 of 6 nodes up, healthy" in run.output


@pytest.mark.requirement("TD-38", "TD-40")
def test_all_nodes_of_a_cluster_have_one_rpc_secret(sites: Sites) -> None:
    paris, edge = sites.paris.secret_values(), sites.edge.secret_values()
    assert paris["rpc-secret"] == edge["rpc-secret"]
    assert paris["admin-token"] != edge["admin-token"]


@pytest.mark.requirement("MH-06", "MH-16", "MH-20")
def test_a_handle_on_the_same_cluster_touches_nothing_of_kubernetes(sites: Sites) -> None:
    token = sites.paris.secret_values()["admin-token"]
    reach = {"api_url": sites.paris.namespace.admin_url("paris-storage-0-0"), "api_token": token}
    handle = {"name": "handle", "zone": "paris", "connect_to": reach, "tenancy": {"buckets": [{"name": "by-handle"}]}}
    sites.paris.proxy.take()
    inventory = sites.paris.inventory(handle)
    inventory["all"]["hosts"] = {"handle": inventory["all"]["hosts"]["paris"]}
    run = run_playbook(PLAYBOOK, inventory)
    assert run.rc == 0, run.output
    assert "declared buckets: 1" in run.output
    assert sites.paris.proxy.take() == []
    assert token not in run.output


@pytest.mark.requirement("LW-25", "LW-46", "OP-112")
def test_a_node_goes_when_the_layout_needs_it_no_more(sites: Sites) -> None:
    sites.paris.change({"gateway": {"replicas": 0}})
    run = sites.paris.run()
    assert run.rc == 0, run.output
    left = sites.paris.names("StatefulSet")
    if left != STORAGE:
        assert "may still hold a role or data" in run.output
        run = sites.paris.run()
        assert run.rc == 0, run.output
    assert sites.paris.names("StatefulSet") == STORAGE
    assert "metadata-paris-gateway-0-0" in sites.paris.claims()
    assert "no node has these claims any more" in run.output
    deleted = sites.paris.run("-e", "garage_delete_claims=true")
    assert deleted.rc == 0, deleted.output
    assert "metadata-paris-gateway-0-0" not in sites.paris.claims()
    again = sites.paris.run()
    assert (again.rc, again.changed) == (0, 0), again.output


@pytest.mark.requirement("LW-46", "OP-111")
def test_edge_gateways_that_are_retired_leave_no_roles_behind(sites: Sites) -> None:
    pods, claims = sites.edge.uids(), set(sites.edge.claims())

    def left() -> str | None:
        run = run_playbook("s3ops.garage.retire", sites.inventory(), "-e", "garage_retire=edge")
        assert run.rc == 0, run.output
        if names := sites.edge.names("StatefulSet"):
            assert sites.edge.uids() == pods
            assert "edge keeps running; run the same command again later" in run.output
        return ", ".join(names) or None

    wait_until("the end of the gateways", left, POD_TIMEOUT, pause=2)
    assert (sites.edge.pods(), set(sites.edge.claims())) == ({}, claims)
    run = sites.paris.run()
    assert (run.rc, run.changed) == (0, 0), run.output
    assert [role["gateway"] for role in run.results("paris", "layout")[-1]["layout"]["roles"]] == [False] * 3
    again = run_playbook("s3ops.garage.retire", sites.inventory(), "-e", "garage_retire=edge")
    assert (again.rc, again.changed) == (0, 0), again.output
