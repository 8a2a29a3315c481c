# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two sites of one cluster in two namespaces: the follower's nodes get their roles from the writer, and leave only after it has taken these away.

The tests share the sites and follow one another.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.garage.playbook_run import Run
from tests.kubernetes.federated_sites import Sites
from tests.kubernetes.site_driver import POD_TIMEOUT, Site, is_ready
from tools.testbed.waiting import wait_until

pytestmark = pytest.mark.long


def follower(run: Run) -> dict[str, Any]:
    """What the follower's run said of the layout; none of its tasks changed it."""
    results = run.results("lyon", "layout")
    assert [result["changed"] for result in results] == [False] * len(results)
    assert {result["layout_writer"] for result in results} == {False}
    return results[-1]


@pytest.mark.requirement("LW-21", "LW-30", "LW-36", "LW-51")
def test_a_follower_joins_and_the_writer_gives_its_pods_their_roles(federation: Sites) -> None:
    alone = federation.paris.run()
    assert alone.rc == 0, alone.output
    assert federation.record(federation.paris)["version"] == 1
    federation.join(federation.lyon, federation.paris)
    joined = federation.run()
    result = follower(joined)
    assert (result["layout"]["version"], result["pending"]) == (2, False)
    assert sorted(role["zone"] for role in result["layout"]["roles"]) == ["lyon", "lyon", "paris", "paris"]
    assert "lyon: layout version 2, 4 of 4 nodes up, healthy" in joined.output
    assert federation.record(federation.paris)["version"] == federation.record(federation.lyon)["version"] == 2


@pytest.mark.requirement("LW-25", "LW-46", "LW-51")
def test_a_follower_that_shrinks_keeps_the_pod_until_the_writer_has_taken_its_role_away(federation: Sites) -> None:
    before = federation.lyon.uids()
    federation.lyon.change({"storage": {"replicas": 1}})
    waits = follower(federation.run("--limit", "lyon"))
    assert (waits["awaiting"]["reason"], len(waits["awaiting"]["nodes"])) == ("pending_role_removal", 1)
    assert federation.lyon.uids() == before
    (kept,) = set(before) - {"lyon-storage-0-0"}
    assert kept == "lyon-storage-1-0"
    result = follower(federation.run())
    assert (result["layout"]["version"], result["pending"]) == (3, False)
    assert sorted(role["zone"] for role in result["layout"]["roles"]) == ["lyon", "paris", "paris"]
    # Whatever of the site is still there is what was there before: nothing was made anew.
    assert federation.lyon.uids().items() <= before.items()

    # Once the node has drained, a run of the follower alone takes its workload away, and keeps its volumes.
    claims = set(federation.lyon.claims())

    def kept_still() -> str | None:
        follower(federation.run("--limit", "lyon"))
        return ", ".join(set(federation.lyon.pods()) - {"lyon-storage-0-0"}) or None

    wait_until("the node to drain and its pod to go", kept_still, POD_TIMEOUT)
    assert federation.lyon.uids() == {name: uid for name, uid in before.items() if name != kept}
    assert federation.lyon.names("StatefulSet") == {"lyon-storage-0"}
    assert set(federation.lyon.claims()) == claims
    again = federation.run("--limit", "lyon")
    assert follower(again)["awaiting"]["reason"] == "nothing_pending"
    assert again.stats["lyon"]["changed"] == 0


@pytest.mark.requirement("OP-116", "FC-112", "FC-118")
def test_sites_that_were_all_away_at_once_find_one_another_before_a_node_is_changed(federation: Sites) -> None:
    both = (federation.paris, federation.lyon)
    before = {site.name: site.uids() for site in both}
    for site in both:
        for name in site.pods():
            site.namespace.core.delete_namespaced_pod(name, site.namespace.name)
        site.change({"storage": {"pod": {"annotations": {"example.org/try": "1"}}}})
    for site in both:
        wait_until("the next pods", lambda site=site: missing(site, before[site.name]), POD_TIMEOUT, pause=0.5)
    run = federation.run()
    for site in both:
        assert f"{site.name}: layout version 3, 3 of 3 nodes up, healthy" in run.output


def missing(site: Site, before: dict[str, str]) -> str | None:
    """Which pods are not yet followed by others that are ready."""
    now = {name for name, pod in site.pods().items() if is_ready(pod) and pod.metadata.uid != before[name]}
    return ", ".join(before.keys() - now) or None
