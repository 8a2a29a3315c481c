# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two sites of one cluster in two namespaces: the follower's nodes get their roles from the writer, and leave only after it has taken these away.

The tests share the sites and follow one another.
"""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.garage.guide_run import Guide
from tests.garage.playbook_run import Run, run_playbook
from tests.kubernetes.site_driver import PLAYBOOK, POD_TIMEOUT, Site
from tools.cluster.state import Cluster
from tools.testbed.waiting import wait_until

pytestmark = pytest.mark.long


class Sites:
    """paris writes the layout, lyon follows. They share the RPC secret, and reach each other's Admin API by the address of its Service."""

    def __init__(self, paris: Site, lyon: Site) -> None:
        self.paris, self.lyon = paris, lyon
        self.tokens = {site.name: secrets.token_hex(32) for site in (paris, lyon)}
        rpc_secret = secrets.token_hex(32)
        for site in (paris, lyon):
            site.change({"credentials": {"rpc_secret": rpc_secret, "admin_token": self.tokens[site.name]}, "replication": {"factor": 2},
                         "storage": {"replicas": 2}})
        paris.change({"layout": {"site_role": "writer", "assume_peers_consistent": True}})
        lyon.change({"layout": {"site_role": "follower", "purge": True}})

    def join(self, site: Site, other: Site) -> None:
        """Name ``other``, which runs already, as a remote of ``site``."""
        service = other.namespace.core.read_namespaced_service(f"{other.name}-admin", other.namespace.name)
        way = {"api_url": f"http://{service.spec.cluster_ip}:3903", "api_token": self.tokens[other.name]}
        site.change({"remotes": [{"name": other.name, "zone": other.name, **way}]})

    def inventory(self) -> dict[str, Any]:
        found = self.paris.inventory()
        found["all"]["hosts"] |= self.lyon.inventory()["all"]["hosts"]
        return found

    def run(self, *options: str) -> Run:
        run = run_playbook(PLAYBOOK, self.inventory(), *options)
        assert run.rc == 0, run.output
        return run

    def record(self, site: Site) -> dict[str, Any]:
        """What the site has kept of what the writer has left."""
        kept = site.namespace.core.read_namespaced_config_map(f"{site.name}-layout", site.namespace.name)
        return json.loads(kept.data["record"])


def follower(run: Run) -> dict[str, Any]:
    """What the follower's run said of the layout; none of its tasks changed it."""
    results = run.results("lyon", "layout")
    assert [result["changed"] for result in results] == [False] * len(results)
    assert {result["layout_writer"] for result in results} == {False}
    return results[-1]


@pytest.fixture(scope="module")
def sites(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    paris = Site(cluster, Path(tmp_path_factory.mktemp("paris")))
    lyon = Site(cluster, Path(tmp_path_factory.mktemp("lyon")), "lyon")
    yield Sites(paris, lyon)
    paris.close()
    lyon.close()


@pytest.mark.requirement("LW-21", "LW-30", "LW-36", "LW-51")
def test_a_follower_joins_and_the_writer_gives_its_pods_their_roles(sites: Sites) -> None:
    alone = sites.paris.run()
    assert alone.rc == 0, alone.output
    assert sites.record(sites.paris)["version"] == 1
    sites.join(sites.lyon, sites.paris)
    joined = sites.run()
    result = follower(joined)
    assert (result["layout"]["version"], result["pending"]) == (2, False)
    assert sorted(role["zone"] for role in result["layout"]["roles"]) == ["lyon", "lyon", "paris", "paris"]
    assert "lyon: layout version 2, 4 of 4 nodes up, healthy" in joined.output
    assert sites.record(sites.paris)["version"] == sites.record(sites.lyon)["version"] == 2


@pytest.mark.requirement("LW-25", "LW-46", "LW-51")
def test_a_follower_that_shrinks_keeps_the_pod_until_the_writer_has_taken_its_role_away(sites: Sites) -> None:
    before = sites.lyon.uids()
    sites.lyon.change({"storage": {"replicas": 1}})
    waits = follower(sites.run("--limit", "lyon"))
    assert (waits["awaiting"]["reason"], len(waits["awaiting"]["nodes"])) == ("pending_role_removal", 1)
    assert sites.lyon.uids() == before
    (kept,) = set(before) - {"lyon-storage-0-0"}
    assert kept == "lyon-storage-1-0"
    result = follower(sites.run())
    assert (result["layout"]["version"], result["pending"]) == (3, False)
    assert sorted(role["zone"] for role in result["layout"]["roles"]) == ["lyon", "paris", "paris"]
    # Whatever of the site is still there is what was there before: nothing was made anew.
    assert sites.lyon.uids().items() <= before.items()

    # Once the node has drained, a run of the follower alone takes its workload away, and keeps its volumes.
    claims = set(sites.lyon.claims())

    def kept_still() -> str | None:
        follower(sites.run("--limit", "lyon"))
        return ", ".join(set(sites.lyon.pods()) - {"lyon-storage-0-0"}) or None

    wait_until("the node to drain and its pod to go", kept_still, POD_TIMEOUT)
    assert sites.lyon.uids() == {name: uid for name, uid in before.items() if name != kept}
    assert sites.lyon.names("StatefulSet") == {"lyon-storage-0"}
    assert set(sites.lyon.claims()) == claims
    again = sites.run("--limit", "lyon")
    assert follower(again)["awaiting"]["reason"] == "nothing_pending"
    assert again.stats["lyon"]["changed"] == 0


def rpc_secret(site: Site) -> str:
    kept = site.namespace.core.read_namespaced_secret(f"{site.name}-garage", site.namespace.name)
    return base64.b64decode(kept.data["rpc-secret"]).decode()


@pytest.mark.guide("docs/credentials.md", "What stands in the configuration of the nodes")
@pytest.mark.requirement("TD-31")
def test_the_rpc_secret_of_both_sites_changes_as_the_guide_says(sites: Sites, guide: Guide) -> None:
    new = secrets.token_hex(32)
    assert rpc_secret(sites.paris) == rpc_secret(sites.lyon) != new
    for site in (sites.paris, sites.lyon):
        site.change({"credentials": {"rpc_secret": new}})
    guide.write("inventory.yml", sites.inventory())
    [printed] = guide.run()
    assert new not in printed
    assert rpc_secret(sites.paris) == rpc_secret(sites.lyon) == new
    again = sites.run()
    assert again.changed == 0, again.output
    assert "paris: layout version 3, 3 of 3 nodes up, healthy" in again.output
