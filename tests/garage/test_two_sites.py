# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two sites from two site files on a real Garage: who writes the layout, and who never does."""

from __future__ import annotations

import contextlib
import copy
import sys
from collections.abc import Iterator
from typing import Any, Protocol

import pytest

from tests.fakes.recording_proxy import Passed, RecordingProxy
from tests.garage.playbook_run import Run, run_playbook
from tools.testbed.node import Node
from tools.testbed.nodes import Cluster, Site

LAYOUT_WRITES = {"UpdateClusterLayout", "ApplyClusterLayout", "RevertClusterLayout", "ClusterLayoutSkipDeadNodes"}


class MakeCluster(Protocol):
    def __call__(self, *sites: Site, replication_factor: int) -> Cluster: ...


class Federation:
    """A cluster with a recording proxy before each site's Admin API, and the site files of paris (writer) and lyon (follower)."""

    def __init__(self, cluster: Cluster, proxies: dict[str, RecordingProxy]) -> None:
        self.cluster = cluster
        self.proxies = proxies
        paris, lyon = cluster.site("paris"), cluster.site("lyon")
        self.files: dict[str, dict[str, Any]] = {
            "paris": {
                "name": "paris",
                "zone": "paris",
                "connect_to": {**self._way("paris"), "peers": [node.rpc_address for node in paris.nodes]},
                "replication": {"factor": 3, "zone_redundancy": "maximum"},
                "layout": {
                    "site_role": "writer",
                    "nodes": [_role(node) for node in paris.nodes],
                    "external_nodes": [{**_role(lyon.nodes[0]), "zone": "lyon"}],
                },
                "remotes": [{"name": "lyon", "zone": "lyon", **self._way("lyon")}],
                "tenancy": {
                    "keys": [{"name": "app"}],
                    "buckets": [{"name": "media", "quotas": {"max_size": "1GB"}, "grants": [{"key": "app", "read": True, "write": True}]}],
                },
            },
            "lyon": {
                "name": "lyon",
                "zone": "lyon",
                "connect_to": {**self._way("lyon"), "peers": [node.rpc_address for node in lyon.nodes]},
                "layout": {"site_role": "follower", "nodes": [_role(lyon.nodes[0])]},
                "remotes": [{"name": "paris", "zone": "paris", **self._way("paris")}],
                "tenancy": {"buckets": [{"name": "backup", "grants": [{"key": "app", "read": True}]}]},
            },
        }

    def run(self, *options: str, files: dict[str, dict[str, Any]] | None = None) -> Run:
        """The per-site playbook on both sites. What passed the proxies before is forgotten."""
        for proxy in self.proxies.values():
            proxy.take()
        hosts = {
            name: {"garage_site": site, "ansible_connection": "local", "ansible_python_interpreter": sys.executable}
            for name, site in (files or self.files).items()
        }
        return run_playbook("s3ops.garage.site", {"all": {"hosts": hosts}}, *options)

    def take(self, name: str) -> list[Passed]:
        """What has passed the site's proxy since the last run began."""
        return self.proxies[name].take()

    def write_tokens_into_the_files(self) -> list[str]:
        """In place of the names of the token files; returns the tokens."""
        tokens = {site.name: site.token for site in self.cluster.sites}
        for name, site in self.files.items():
            for place, target in ((site["connect_to"], name), *((remote, remote["name"]) for remote in site["remotes"])):
                del place["api_token_file"]
                place["api_token"] = tokens[target]
        return list(tokens.values())

    def layout_version(self) -> int:
        return self.cluster.nodes[0].admin.get("GetClusterLayout")["version"]

    def _way(self, name: str) -> dict[str, Any]:
        return {"api_url": self.proxies[name].url, "api_token_file": str(self.cluster.site(name).token_file)}


def _role(node: Node) -> dict[str, Any]:
    return {"node": node.node_id, "capacity": "1GB", "tags": [node.spec.site]}


def layout_writes(passed: list[Passed]) -> list[str]:
    return [request.endpoint for request in passed if request.endpoint in LAYOUT_WRITES]


def posts(passed: list[Passed]) -> list[str]:
    return [request.endpoint for request in passed if request.method != "GET"]


def succeeded(run: Run) -> bool:
    """For an assertion that shows all that was printed when it fails."""
    assert run.rc == 0, run.output
    return True


@pytest.fixture
def federation(make_cluster: MakeCluster) -> Iterator[Federation]:
    """Two nodes in paris, two in lyon of which one has a place in the site files; they know nothing of each other, and there is no layout."""
    cluster = make_cluster(Site("paris", "paris", 2), Site("lyon", "lyon", 2), replication_factor=3)
    with contextlib.ExitStack() as stack:
        proxies = {site.name: stack.enter_context(RecordingProxy(site.api_url)) for site in cluster.sites}
        yield Federation(cluster, proxies)
    cluster.stop()
    cluster.remove()


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
    (follower,) = first.results("lyon", "layout")
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
    files["lyon"]["layout"]["nodes"].append(_role(new))
    for options in (("--check",), ()):
        grown = federation.run(*options, files=files)
        assert succeeded(grown)
        assert layout_writes(federation.take("paris")) == layout_writes(federation.take("lyon")) == []
        (follower,) = grown.results("lyon", "layout")
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
    (follower,) = settled.results("lyon", "layout")
    assert (follower["layout"]["version"], follower["pending"]) == (2, False)


@pytest.mark.requirement("LW-11", "LW-22")
def test_a_follower_alone_on_a_cluster_without_layout(federation: Federation) -> None:
    federation.files["lyon"].pop("tenancy")
    alone = federation.run("--limit", "lyon")
    assert succeeded(alone)
    passed = federation.take("lyon")
    assert set(posts(passed)) == {"ConnectClusterNodes"}
    assert alone.results("lyon", "cluster_connect")[0]["connections"]["connected"]
    (follower,) = alone.results("lyon", "layout")
    assert (follower["changed"], follower["pending"], follower["awaiting"]["reason"]) == (False, True, "nodes_without_role")
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
