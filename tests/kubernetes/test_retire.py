# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A site of a federation ends: the others take over what it stores, and only then its pods go."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.garage.guide_run import Guide, changed
from tests.garage.playbook_run import Run, run_playbook
from tests.kubernetes.federated_sites import Sites
from tests.kubernetes.site_driver import POD_TIMEOUT, Site
from tests.kubernetes.test_rotation import LOUD
from tests.kubernetes.test_site_restore import ask, s3
from tools.cluster.state import Cluster
from tools.testbed.waiting import wait_until

pytestmark = pytest.mark.long
KINDS = ("StatefulSet", "ConfigMap", "Service", "PodDisruptionBudget")
OBJECTS = {f"object-{size}": secrets.token_bytes(size) for size in (1000, 3 * 2**20 + 17)}


@pytest.fixture
def sites(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    """Both sites, joined, with objects of which each site has a copy."""
    paris = Site(cluster, Path(tmp_path_factory.mktemp("paris")))
    lyon = Site(cluster, Path(tmp_path_factory.mktemp("lyon")), "lyon")
    made = Sites(paris, lyon)
    grants = [{"key": "app", "read": True, "write": True}]
    # As long as nobody has said it, nothing is drained.
    paris.change({"layout": {"assume_peers_consistent": None}})
    paris.change({"tenancy": {"keys": [{"name": "app"}], "buckets": [{"name": "media", "grants": grants}]}})
    for site in (paris, lyon):
        # A block waits twice as long before it is copied; the default is five minutes.
        site.change({"config": {"rpc_timeout_msec": 5000}, "storage": {"disruption_budget": {}}})
    yield made
    paris.close()
    lyon.close()


def retire(sites: Sites, *options: str) -> Run:
    """One run, as loud as can be: no secret is in what it says."""
    run = run_playbook("s3ops.garage.retire", sites.inventory(), "-e", "garage_retire=lyon", *LOUD, *options)
    assert [secret for secret in (*sites.tokens.values(), sites.lyon.file["credentials"]["rpc_secret"]) if secret in run.output] == []
    return run


def drain(sites: Sites, *options: str) -> Run:
    return retire(sites, "-e", "garage_deletion_policy=drain", *options)


@pytest.mark.guide("docs/federation.md", "Retiring a site")
@pytest.mark.requirement("OP-017", "OP-018", "LW-25", "LW-46", "LW-51", "FC-085")
def test_a_follower_is_drained_by_the_writer_and_goes_once_the_others_have_what_it_stores(sites: Sites, guide: Guide) -> None:
    alone = sites.paris.run()
    assert alone.rc == 0, alone.output
    sites.join(sites.lyon, sites.paris)
    sites.run()
    for name, content in OBJECTS.items():
        s3(sites.paris).put_object(Bucket="media", Key=name, Body=content)
    pods, claims = sites.lyon.uids(), set(sites.lyon.claims())
    objects = {kind: sites.lyon.names(kind) for kind in KINDS}
    version = ask(sites.paris, "GetClusterLayout")["version"]

    unsaid = retire(sites)
    assert unsaid.rc != 0 and "garage_deletion_policy is drain (the other sites take over" in unsaid.output, unsaid.output
    unstated = drain(sites)
    assert unstated.rc != 0 and "nobody has said that all sites run with consistency_mode consistent" in unstated.output, unstated.output
    sites.paris.change({"layout": {"assume_peers_consistent": True}})
    foretold = drain(sites, "--check")
    assert foretold.rc == 0, foretold.output
    assert [row["changed"] for row in foretold.results("paris", "layout")] == [True]
    assert foretold.stats["lyon"]["changed"] > 0
    assert (sites.lyon.uids(), {kind: sites.lyon.names(kind) for kind in KINDS}) == (pods, objects)
    assert ask(sites.paris, "GetClusterLayout")["version"] == version

    runs: list[Run] = []

    def left() -> str | None:
        runs.append(drain(sites))
        assert runs[-1].rc == 0, runs[-1].output
        if names := sites.lyon.names("StatefulSet"):
            assert sites.lyon.uids() == pods
            assert "lyon keeps running; run the same command again later" in runs[-1].output
        return ", ".join(names) or None

    wait_until("the drain of lyon", left, POD_TIMEOUT, pause=5)
    assert "lyon is gone; its claims and its Secret stay" in runs[-1].output
    assert "remotes: take lyon out" not in runs[-1].output
    assert [row["changed"] for run in runs for row in run.results("paris", "layout")] == [True]
    assert [row for run in runs for row in run.results("lyon", "layout")] == []
    layout = ask(sites.paris, "GetClusterLayout")
    assert ({role["zone"] for role in layout["roles"]}, layout["version"]) == ({"paris"}, version + 1)
    assert sites.record(sites.paris)["version"] == version + 1
    assert {kind: sites.lyon.names(kind) for kind in KINDS} == {kind: set() for kind in KINDS}
    assert sites.lyon.pods() == {}
    assert (set(sites.lyon.claims()), sites.lyon.names("Secret")) == (claims, {"lyon-garage"})
    for name, content in OBJECTS.items():
        assert s3(sites.paris).get_object(Bucket="media", Key=name)["Body"].read() == content

    # The command of the guide, once more.
    guide.write("inventory.yml", sites.inventory())
    [again] = guide.run()
    assert changed(again) == [0, 0], again
    assert "lyon was gone already, nothing is left to do" in again
