# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each kind of layout work at a follower and at the writer of two real sites; what passed is told by a proxy before each Admin API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils._transport import HttpTransport
from tests.garage.conftest import MakeCluster
from tests.garage.federation_driver import Federation, federation_of, layout_writes, posts
from tests.garage.layout_driver import GB, PATIENT, settle
from tools.testbed.nodes import Site

STAGE, APPLY, REVERT = "UpdateClusterLayout", "ApplyClusterLayout", "RevertClusterLayout"
Options = dict[str, Any]


class Sites:
    """Two nodes of paris and two of lyon, one of these a gateway, in the layout; a third of lyon without a role."""

    def __init__(self, federation: Federation) -> None:
        self.federation = federation
        self.paris = [node.node_id for node in federation.cluster.site("paris").nodes]
        self.lyon = [node.node_id for node in federation.cluster.site("lyon").nodes]

    @property
    def declared(self) -> list[Options]:
        return [*({"node": id, "zone": "paris", "capacity": "1GB"} for id in self.paris),
                {"node": self.lyon[0], "zone": "lyon", "capacity": "1GB"}, {"node": self.lyon[1], "zone": "lyon", "gateway": True}]

    def follower(self, module: str, options: Options, check: bool = False) -> Options:
        """Run at lyon; nothing that writes the layout may pass."""
        self.federation.forget()
        result = self.federation.module("lyon", module, options, "follower", check)
        assert layout_writes(self.federation.take("lyon")) == []
        return result

    def writer(self, module: str, options: Options, check: bool = False) -> tuple[Options, list[str]]:
        """Run at paris: the result, and the layout writes that passed."""
        self.federation.forget()
        result = self.federation.module("paris", module, options, "writer", check)
        assert not result.get("failed"), result
        return result, layout_writes(self.federation.take("paris"))


@pytest.fixture(scope="module")
def sites(make_cluster: MakeCluster) -> Iterator[Sites]:
    """Brought up by both: the follower first, which waits, then the writer."""
    cluster = make_cluster(Site("paris", "paris", 2), Site("lyon", "lyon", 3), replication_factor=2)
    cluster.connect_all()
    cluster.wait_mesh()
    with federation_of(cluster, paris=2, lyon=1) as federation:
        sites = Sites(federation)
        for check in (True, False):
            waits = sites.follower("layout", {"roles": sites.declared}, check)
            assert (waits["changed"], waits["pending"], waits["layout"]["version"]) == (False, True, 0)
            assert (waits["awaiting"]["reason"], waits["awaiting"]["nodes"]) == ("nodes_without_role", sorted([*sites.paris, *sites.lyon[:2]]))
        predicted, writes = sites.writer("layout", {"roles": waits["awaiting"]["lines"], "preview": True, **PATIENT}, check=True)
        # A preview has no other way than to stage and to revert.
        assert writes == [STAGE, REVERT]
        done, writes = sites.writer("layout", {"roles": waits["awaiting"]["lines"], "expected_plan": predicted["plan_hash"], **PATIENT})
        assert (done["layout"]["version"], writes) == (1, [STAGE, APPLY])
        assert done["plan_hash"] == predicted["plan_hash"] and done["plan_hash"].count("-") == 3
        yield sites


def line(node: str, **options: Any) -> Options:
    return {"node": node, "zone": "lyon", **options}


# What lyon declares, why it waits, for which of its nodes, and what the writer has to be told.
MATRIX: dict[str, tuple[Callable[[Sites], Options], str, Callable[[Sites], list[str]], Callable[[Sites], list[Options]]]] = {
    "nothing": (lambda at: {"roles": at.declared}, "nothing_pending", lambda at: [], lambda at: []),
    "new node": (lambda at: {"roles": [line(at.lyon[2], capacity="1GB", tags=["new"])]}, "nodes_without_role", lambda at: [at.lyon[2]],
                 lambda at: [line(at.lyon[2], capacity=GB, tags=["new"])]),
    "new gateway": (lambda at: {"roles": [line(at.lyon[2], gateway=True)]}, "nodes_without_role", lambda at: [at.lyon[2]],
                    lambda at: [line(at.lyon[2], gateway=True, tags=[])]),
    "scale-down": (lambda at: {"roles": [line(at.lyon[0], state="absent")]}, "pending_role_removal", lambda at: [at.lyon[0]],
                   lambda at: [line(at.lyon[0], state="absent")]),
    "purge": (lambda at: {"roles": [line(at.lyon[1])], "purge_roles": True, "owner": {"zones": ["lyon"]}}, "pending_role_removal",
              lambda at: [at.lyon[0]], lambda at: [line(at.lyon[0], state="absent")]),
    "changed role": (lambda at: {"roles": [line(at.lyon[0], capacity="2GB")]}, "pending_role_change", lambda at: [at.lyon[0]],
                     lambda at: [line(at.lyon[0], capacity=2 * GB, tags=[])]),
    "gateway tombstone": (lambda at: {"roles": [line(at.lyon[1], state="absent")]}, "pending_tombstones", lambda at: [at.lyon[1]],
                          lambda at: [line(at.lyon[1], state="absent")]),
    "replication change": (lambda at: {"zone_redundancy": "2", "replication_factor": 2}, "replication_change", lambda at: [],
                           lambda at: [{"zone_redundancy": 2}]),
}


@pytest.mark.requirement("LW-10", "LW-12", "LW-19", "LW-22", "LW-23", "LW-25", "LW-26", "LW-28", "LW-29", "LW-34", "LW-35", "LW-49", "LW-51")
@pytest.mark.parametrize("case", MATRIX)
def test_each_kind_of_work_waits_at_the_follower_and_is_the_writers(sites: Sites, case: str) -> None:
    options, reason, nodes, lines = (part(sites) if callable(part) else part for part in MATRIX[case])
    before = sites.federation.cluster.nodes[0].admin.get("GetClusterLayout")
    results = [sites.follower("layout", {**options, **more}, check)
               for more, check in (({}, False), ({}, True), ({"apply": False}, False), ({"preview": True}, True), ({"wait": True}, False))]
    for result in results:
        waits = result["awaiting"]
        assert (result["changed"], result["pending"], result["layout_writer"], result["reason"]) == (False, bool(lines), False, "FollowerSite")
        assert (waits["reason"], waits["nodes"], waits["lines"]) == (reason, nodes, lines)
        assert (result["actions"], result["preview"], result["plan_hash"], result["site_role"]) == ([], None, None, "follower")
        assert bool(result.get("warnings")) == bool(lines)
    strict = sites.follower("layout", {**options, "fail_when_awaiting": True})
    assert bool(strict.get("failed")) == bool(lines)
    assert not lines or (strict["error"]["kind"], strict["changed"], strict["pending"]) == ("layout_writer_only", False, True)
    assert sites.federation.cluster.nodes[0].admin.get("GetClusterLayout") == before

    writer, writes = sites.writer("layout", options, check=True)
    assert writes == []
    assert (writer["changed"], writer["awaiting"], writer["pending"], writer["layout_writer"]) == (bool(lines), None, False, True)
    assert results[0]["awaiting"]["operations"] == ([STAGE, APPLY] if lines else [])


@pytest.mark.requirement("LW-27", "LW-49")
def test_what_the_writer_has_staged_a_follower_does_not_drop(sites: Sites) -> None:
    staged, writes = sites.writer("layout", {"roles": [line(sites.lyon[2], capacity="1GB")], "apply": False})
    assert writes == [STAGE] and [role["id"] for role in staged["layout"]["staged"]["roles"]] == [sites.lyon[2]]
    for check in (True, False):
        held = sites.follower("layout_recovery", {"action": "revert"}, check)
        assert (held["changed"], held["pending"], held["blocked_operations"]) == (False, True, [REVERT])
        assert (held["awaiting"]["reason"], held["awaiting"]["lines"]) == ("pending_recovery", [{"action": "revert"}])
    assert sites.follower("layout_recovery", {"action": "revert", "fail_when_awaiting": True})["error"]["kind"] == "layout_writer_only"
    # Not a change of a follower either, whatever it is told of the changes of others.
    for mode in ("discard", "include"):
        other = sites.follower("layout", {"roles": [line(sites.lyon[0])], "foreign_staged": mode})
        assert (other["changed"], other["awaiting"]["reason"], len(other["layout"]["staged"]["roles"])) == (False, "nothing_pending", 1)
    dummy, writes = sites.writer("layout_recovery", held["awaiting"]["lines"][0])
    assert writes == [REVERT]
    assert sites.follower("layout_recovery", {"action": "revert"})["awaiting"]["reason"] == "nothing_pending"


@pytest.mark.requirement("LW-01", "LW-20", "LW-24")
def test_all_else_goes_on_at_a_follower(sites: Sites) -> None:
    peers = [node.rpc_address for node in sites.federation.cluster.nodes]
    remote = {"name": "paris", **sites.federation.way("paris")}
    connected = sites.follower("cluster_connect", {"nodes": peers, "remotes": [remote]})
    assert len(connected["connections"]["connected"]) == len(peers) - 1
    assert sites.follower("cluster_info", {"wait_for": "reachable"})["cluster"]["layout_version"] == 1
    assert sites.follower("layout_info", {})["layout"]["nodes_without_role"] == [sites.lyon[2]]
    for module, options in (("key", {"name": "lyon-app"}), ("bucket", {"name": "lyon-media", "quotas": {"max_size": "1GB"}}),
                            ("grant", {"bucket": "lyon-media", "key": "lyon-app", "read": True}),
                            ("tenancy", {"keys": [{"name": "lyon-more"}], "buckets": [{"name": "lyon-more"}]})):
        made = sites.follower(module, options)
        assert made["changed"] and not made.get("failed"), made
        assert not sites.follower(module, options)["changed"]


def test_a_follower_with_nothing_to_do_costs_a_handful_of_reads(sites: Sites) -> None:
    sites.federation.forget()
    result = sites.federation.module("lyon", "layout", {"roles": sites.declared}, "follower")
    assert (result["changed"], result["pending"]) == (False, False)
    passed = sites.federation.take("lyon")
    assert sorted(request.endpoint for request in passed) == ["GetClusterLayout", "GetClusterLayoutHistory", "GetClusterStatus"]


def hundred(sites: Sites) -> list[tuple[str, Options, bool]]:
    """A hundred runs over every module that could write the layout, and those around it, in check mode and for real."""
    runs: list[tuple[str, Options]] = [("layout", options(sites)) for options, *dummy in MATRIX.values()]
    runs += [("layout", {"roles": sites.declared, "purge_roles": True, "owner": {"zones": ["paris", "lyon"]}, "foreign_staged": mode})
             for mode in ("discard", "include")]
    runs += [("layout_recovery", {"action": "revert"}), ("layout_recovery", {"action": "skip_dead_nodes", "confirm": True}),
             ("layout_recovery", {"action": "skip_dead_nodes", "allow_missing_data": True, "confirm": True}), ("layout_info", {}),
             ("cluster_connect", {"nodes": [node.rpc_address for node in sites.federation.cluster.nodes]})]
    return [(*runs[number // 2 % len(runs)], bool(number % 2)) for number in range(100)]


@pytest.mark.requirement("LW-13", "LW-51")
def test_a_hundred_runs_of_a_follower_send_no_layout_write(sites: Sites) -> None:
    sites.federation.forget()
    for module, options, check in hundred(sites):
        result = sites.federation.module("lyon", module, options, "follower", check)
        assert not result.get("failed"), result
        assert not result["changed"] or module == "cluster_connect"
    passed = sites.federation.take("lyon")
    assert layout_writes(passed) == []
    assert set(posts(passed)) <= {"ConnectClusterNodes", "PreviewClusterLayoutChanges"}
    assert len(passed) > 250
    assert sites.federation.layout_version() == 1


@pytest.mark.requirement("LW-15", "LW-13")
@pytest.mark.parametrize("module", ["layout", "layout_recovery"])
def test_a_task_that_calls_itself_writer_on_a_followers_profile_is_refused(sites: Sites, monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    dummy, writes = sites.writer("layout", {"roles": [line(sites.lyon[2], capacity="1GB")], "apply": False})
    options = {"roles": [line(sites.lyon[2], capacity="1GB")]} if module == "layout" else {"action": "revert"}
    try:
        sites.federation.forget()
        result = sites.federation.module("lyon", module, options, "writer", profile="follower")
        assert layout_writes(sites.federation.take("lyon")) == []
        assert (result["changed"], result["pending"], result["site_role"], result["layout_writer"]) == (False, True, "follower", False)
        assert "site_role: writer is refused" in str(result["warnings"])
    finally:
        sites.writer("layout_recovery", {"action": "revert"})


@pytest.mark.requirement("LW-50", "LW-23")
def test_the_writer_sends_the_same_with_the_word_and_without(sites: Sites, monkeypatch: pytest.MonkeyPatch) -> None:
    send, sent = HttpTransport.send, []
    monkeypatch.setattr(HttpTransport, "send", lambda self, *request: (sent.append(request), send(self, *request))[1])
    for site_role in ("writer", None):
        for module, options in (("layout", {"roles": [line(sites.lyon[2], capacity="1GB")], "apply": False}),
                                ("layout_recovery", {"action": "revert"}), ("layout", {"roles": sites.declared, "preview": True})):
            result = sites.federation.module("paris", module, options, site_role)
            assert not result.get("failed"), result
    half = len(sent) // 2
    assert sent[:half] == sent[half:]
    assert {"UpdateClusterLayout", "RevertClusterLayout"} <= {label for *_rest, label in sent}


@pytest.mark.requirement("LW-25", "LW-46", "LW-51", "FC-020")
def test_what_a_follower_gives_up_goes_once_the_writer_has_removed_it_and_it_has_drained(sites: Sites) -> None:
    """Last in this file: it changes the layout."""
    gone = sites.lyon[1]

    def removable() -> list[str]:
        return sites.follower("layout_info", {})["layout"]["removable"]

    assert removable() == [sites.lyon[2]]
    held = sites.follower("layout", {"roles": [line(gone, state="absent")]})
    assert held["pending"] and removable() == [sites.lyon[2]]
    done, writes = sites.writer("layout", {"roles": held["awaiting"]["lines"], **PATIENT})
    assert writes == [STAGE, APPLY]
    settle(sites.federation.cluster.site("lyon").nodes[0])
    assert sites.follower("layout", {"roles": [line(gone, state="absent")]})["awaiting"]["reason"] == "nothing_pending"
    assert removable() == sorted([gone, sites.lyon[2]])
