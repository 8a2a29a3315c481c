# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two sites from two site files on a real Garage: who writes the layout, and who never does."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest

from tests.garage.conftest import MakeCluster
from tests.garage.federation_driver import Federation, federation_of, layout_writes, posts, role, succeeded
from tools.testbed.nodes import Site


@pytest.fixture
def federation(make_cluster: MakeCluster) -> Iterator[Federation]:
    """Two nodes in paris, two in lyon of which one has a place in the site files; they know nothing of each other, and there is no layout."""
    cluster = make_cluster(Site("paris", "paris", 2), Site("lyon", "lyon", 2), replication_factor=3)
    with federation_of(cluster, paris=2, lyon=1) as found:
        found.files["paris"]["tenancy"] = {
            "keys": [{"name": "app"}],
            "buckets": [{"name": "media", "quotas": {"max_size": "1GB"}, "grants": [{"key": "app", "read": True, "write": True}]}],
        }
        found.files["lyon"]["tenancy"] = {"buckets": [{"name": "backup", "grants": [{"key": "app", "read": True}]}]}
        yield found


@pytest.mark.requirement("MH-08", "LW-05")
def test_a_fault_at_one_site_stops_all_before_anything_is_sent(federation: Federation) -> None:
    files = copy.deepcopy(federation.files)
    files["lyon"]["remotes"] = []
    files["lyon"]["layout"]["nodes"][0]["capacity"] = "10X"
    run = federation.run(files=files)
    assert run.rc != 0
    assert "garage_site.remotes: a follower needs at least one remote" in run.output
    assert "garage_site.layout.nodes[0].capacity: '10X'" in run.output
    assert federation.take("paris") == federation.take("lyon") == []


@pytest.mark.requirement("LW-01", "LW-09", "LW-13", "LW-20", "LW-23", "LW-24", "LW-29", "LW-30", "MH-03")
def test_a_federation_from_nothing_to_a_second_run(federation: Federation) -> None:
    checked = federation.run("--check", "--diff")
    assert succeeded(checked) and checked.changed > 0
    assert posts(federation.take("paris")) == posts(federation.take("lyon")) == []
    (predicted,) = checked.results("paris", "layout")
    assert predicted["layout"]["version"] == 1 and len(predicted["layout"]["roles"]) == 3
    assert federation.layout_version() == 0

    first = federation.run()
    assert succeeded(first)
    assert layout_writes(federation.take("paris")) == ["UpdateClusterLayout", "ApplyClusterLayout"]
    assert layout_writes(federation.take("lyon")) == []
    assert federation.layout_version() == 1
    dummy, follower = first.results("lyon", "layout")
    assert (follower["changed"], follower["layout_writer"], follower["reason"]) == (False, False, "FollowerSite")
    assert (follower["layout"]["version"], follower["pending"]) == (1, False)
    assert [bucket["aliases"] for bucket in first.results("paris", "tenancy")[0]["tenancy"]["buckets"]] == [["media"]]

    for options in ((), ("--check",)):
        again = federation.run(*options)
        assert succeeded(again) and again.changed == 0
        assert posts(federation.take("paris")) == posts(federation.take("lyon")) == []

    # A second node at lyon, which only lyon's site file knows of.
    new = federation.cluster.site("lyon").nodes[1]
    files = copy.deepcopy(federation.files)
    files["lyon"]["layout"]["nodes"].append(role(new))
    for options in (("--check",), ()):
        grown = federation.run("--limit", "lyon", *options, files=files)
        assert succeeded(grown)
        assert layout_writes(federation.take("paris")) == layout_writes(federation.take("lyon")) == []
        dummy, follower = grown.results("lyon", "layout")
        assert (follower["pending"], follower["awaiting"]["reason"]) == (True, "nodes_without_role")
        assert follower["awaiting"]["nodes"] == [new.node_id]
        assert new.node_id in grown.output
    assert federation.layout_version() == 1

    # What the follower showed is what the writer's site file needs (LW-30).
    files["paris"]["layout"]["external_nodes"] += follower["awaiting"]["lines"]
    settled = federation.run(files=files)
    assert succeeded(settled)
    assert layout_writes(federation.take("paris")) == ["UpdateClusterLayout", "ApplyClusterLayout"]
    assert layout_writes(federation.take("lyon")) == []
    dummy, follower = settled.results("lyon", "layout")
    assert (follower["layout"]["version"], follower["pending"]) == (2, False)


@pytest.mark.requirement("LW-11", "LW-22")
def test_a_follower_alone_on_a_cluster_without_layout(federation: Federation) -> None:
    alone = federation.run("--limit", "lyon")
    assert succeeded(alone)
    passed = federation.take("lyon")
    assert set(posts(passed)) == {"ConnectClusterNodes"}
    assert alone.results("lyon", "cluster_connect")[0]["connections"]["connected"]
    published, follower = alone.results("lyon", "layout")
    assert published["declared"] == follower["awaiting"]["lines"]
    assert (follower["changed"], follower["pending"], follower["awaiting"]["reason"]) == (False, True, "nodes_without_role")
    assert "The cluster has no layout yet" in alone.output and alone.results("lyon", "tenancy") == []
    assert federation.layout_version() == 0

    strict = federation.run("--limit", "lyon", "-e", "garage_fail_when_awaiting=true")
    assert strict.rc != 0
    assert layout_writes(federation.take("lyon")) == []
    assert strict.results("lyon", "layout", "failed")[0]["error"]["kind"] == "layout_writer_only"


@pytest.mark.requirement("FC-119", "MH-27")
def test_a_site_that_is_down_hinders_no_other(federation: Federation) -> None:
    tokens = federation.write_tokens_into_the_files()
    first = federation.run("-vvvv", "--diff")
    assert succeeded(first)
    assert not [token for token in tokens if token in first.output or token in str(first.rows)]
    lyon = federation.cluster.site("lyon")
    for node in lyon.nodes:
        node.kill()
    roles = federation.cluster.nodes[0].admin.get("GetClusterLayout")["roles"]
    # Buckets that are taken out of the site file stay where they are.
    federation.files["paris"]["tenancy"]["buckets"] = [{"name": "photos"}]

    run = federation.run()
    assert run.rc != 0 and run.stats["lyon"]["failures"] == 1
    assert run.stats["paris"]["failures"] == 0
    (connected,) = run.results("paris", "cluster_connect")
    assert [remote["name"] for remote in connected["connections"]["unreachable"]] == ["lyon"]
    assert "lyon" in " ".join(connected["warnings"])
    (tenancy,) = run.results("paris", "tenancy")
    assert tenancy["changed"] and tenancy["tenancy"]["buckets"][0]["aliases"] == ["photos"]
    assert layout_writes(federation.take("paris")) == []
    admin = federation.cluster.nodes[0].admin
    assert admin.get("GetClusterLayout")["roles"] == roles
    assert {alias for bucket in admin.get("ListBuckets") for alias in bucket["globalAliases"]} == {"media", "backup", "photos"}

    for node in lyon.nodes:
        node.start()
    back = federation.run()
    assert succeeded(back)
    assert layout_writes(federation.take("paris")) == layout_writes(federation.take("lyon")) == []
