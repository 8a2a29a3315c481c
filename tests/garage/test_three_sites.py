# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Three sites on a real Garage: brought up in either order, nodes published by followers, a writer that is lost, and two writers by mistake."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._argspec import layout_spec, wait_spec
from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._connection import resolve_connection
from ansible_collections.s3ops.garage.plugins.module_utils._errors import GarageError
from ansible_collections.s3ops.garage.plugins.module_utils._layout_job import run_layout
from ansible_collections.s3ops.garage.plugins.module_utils._transport import HttpTransport
from tests.garage.conftest import MakeCluster
from tests.garage.federation_driver import Federation, federation_of, layout_writes, role, succeeded
from tests.garage.layout_driver import PATIENT, settle
from tools.testbed.node import Node
from tools.testbed.nodes import Site
from tools.testbed.waiting import wait_until

STAGE, APPLY = "UpdateClusterLayout", "ApplyClusterLayout"
# What a converged run of a follower may ask of its Admin API; docs/federation.md tells the number.
READS_OF_A_FOLLOWER = 17


def three(make_cluster: MakeCluster, lyon: int = 1) -> Any:
    return make_cluster(Site("paris", "paris", 1), Site("lyon", "lyon", lyon), Site("nice", "nice", 1), replication_factor=3)


def writes(federation: Federation) -> dict[str, list[str]]:
    return {name: layout_writes(federation.take(name)) for name in federation.proxies}


NOTHING: dict[str, list[str]] = {"paris": [], "lyon": [], "nice": []}


@pytest.mark.requirement("LW-22", "LW-30", "LW-51", "LW-53", "OP-115")
@pytest.mark.parametrize("order", [("lyon,nice", "paris"), ("paris", "lyon,nice")], ids=["followers first", "writer first"])
def test_from_nothing_in_either_order_the_layout_moves_once(make_cluster: MakeCluster, order: tuple[str, str]) -> None:
    with federation_of(three(make_cluster), paris=1, lyon=1, nice=1) as federation:
        for limit in order:
            run = federation.run("--limit", limit)
            assert succeeded(run)
            assert writes(federation) == {**NOTHING, **({"paris": [STAGE, APPLY]} if limit == "paris" else {})}
            for name in limit.split(","):
                result = run.results(name, "layout")[-1]
                assert result["pending"] == (limit != "paris" and order[0] == limit)
        assert federation.layout_version() == 1
        last = federation.run()
        assert succeeded(last) and last.changed == 0
        passed = {name: federation.take(name) for name in ("paris", "lyon", "nice")}
        assert [layout_writes(requests) for requests in passed.values()] == [[], [], []]
        print(f"requests of a converged run at each site: {({name: len(requests) for name, requests in passed.items()})}")
        # Beside the site's own run, its remotes ask it who its nodes are.
        assert len(passed["lyon"]) <= READS_OF_A_FOLLOWER, [request.endpoint for request in passed["lyon"]]


@pytest.fixture
def federation(make_cluster: MakeCluster, tmp_path: Path) -> Iterator[Federation]:
    """One node in paris, two in lyon of which one is declared, one in nice. The writer's file says nothing of the others' nodes."""
    with federation_of(three(make_cluster, lyon=2), paris=1, lyon=1, nice=1) as found:
        del found.files["paris"]["layout"]["external_nodes"]
        for file in found.files.values():
            file["layout"]["record_path"] = str(tmp_path / "layout.json")
        yield found


@pytest.mark.requirement("LW-30", "LW-31", "LW-32", "LW-33", "LW-36", "LW-41", "LW-44", "LW-51", "LW-04", "LW-27")
def test_from_published_nodes_to_a_writer_that_is_lost_and_returns(federation: Federation, tmp_path: Path) -> None:
    record = tmp_path / "layout.json"
    paris, lyon = federation.cluster.site("paris"), federation.cluster.site("lyon")

    # In one play the writer takes what the followers publish.
    first = federation.run()
    assert succeeded(first)
    assert writes(federation) == {**NOTHING, "paris": [STAGE, APPLY]}
    assert [run.results(name, "layout")[-1]["pending"] for run in [first] for name in NOTHING] == [False, False, False]
    assert json.loads(record.read_text())["version"] == federation.layout_version() == 1

    # Between jobs it travels as an artefact.
    new = lyon.nodes[1]
    federation.files["lyon"]["layout"]["nodes"].append(role(new))
    alone = federation.run("--limit", "lyon")
    assert succeeded(alone)
    assert writes(federation) == NOTHING
    artefact = alone.results("lyon", "ansible.builtin.set_stats")[0]["ansible_stats"]["data"]
    assert list(artefact) == ["garage_layout_nodes_lyon"] and len(artefact["garage_layout_nodes_lyon"]) == 2
    later = federation.run("--limit", "paris", "-e", json.dumps(artefact))
    assert succeeded(later)
    assert writes(federation) == {**NOTHING, "paris": [STAGE, APPLY]}
    assert json.loads(record.read_text())["version"] == federation.layout_version() == 2
    assert later.results("paris", "layout")[0]["foreign_writer"] is None

    # A staged change keeps the writer from being demoted, and so does a site that is lost.
    paris.nodes[0].admin.post("UpdateClusterLayout", {"roles": [{"id": new.node_id, "zone": "lyon", "capacity": 2 * 10**9, "tags": ["other"]}]})
    refused = federation.run("-e", "garage_demote=paris", playbook="s3ops.garage.demote")
    assert refused.rc != 0 and f"changes are staged and not applied: role of {new.node_id[:16]}" in refused.output
    # Somebody applies it who is no known writer.
    lyon.nodes[0].admin.post("ApplyClusterLayout", {"version": 3})
    settle(lyon.nodes[0])
    paris.nodes[0].kill()
    promoted = federation.run("-e", "garage_promote=lyon", playbook="s3ops.garage.promote")
    assert succeeded(promoted)
    assert writes(federation) == NOTHING
    lines = promoted.results("lyon", "ansible.builtin.set_fact") + promoted.results("paris", "ansible.builtin.set_fact")
    decision = next(row["ansible_facts"]["layout_decision"] for row in lines if "layout_decision" in row["ansible_facts"])
    assert "paris cannot be reached" in " ".join(decision["warnings"])
    assert decision["lines"]["paris"] == {"layout": {"site_role": "follower"}}

    # The lines are followed, and the lost node is taken out by the new writer.
    files = copy.deepcopy(federation.files)
    files["paris"]["layout"]["site_role"] = "follower"
    others = decision["lines"]["lyon"]["layout.external_nodes"]
    assert {node["node"] for node in others} == {paris.nodes[0].node_id, federation.cluster.site("nice").nodes[0].node_id}
    files["lyon"]["layout"] |= {"site_role": "writer", "external_nodes": [
        {"node": node["node"], "zone": node["zone"], "state": "absent"} if node["zone"] == "paris" else node for node in others]}
    files["lyon"]["replication"] = decision["lines"]["lyon"]["replication"]
    removed = federation.run("--limit", "lyon", files=files)
    assert succeeded(removed)
    assert writes(federation)["lyon"] == [STAGE, APPLY]
    result = removed.results("lyon", "layout")[-1]
    assert (result["layout"]["version"], [entry["zone"] for entry in result["layout"]["roles"]].count("paris")) == (4, 0)
    # The change that nobody known has made is pointed out, with what it was.
    foreign = result["foreign_writer"]
    assert (foreign["recorded_version"], foreign["live_version"]) == (2, 3)
    assert [line.partition(":")[0] for line in foreign["changes"]] == [f"node {new.node_id[:16]}"]
    held = federation.module("nice", "layout_recovery", {"action": "skip_dead_nodes", "confirm": True}, "follower")
    assert (held["changed"], held["blocked_operations"]) == (False, ["ClusterLayoutSkipDeadNodes"]) or held["awaiting"]["reason"] == "nothing_pending"
    federation.module("lyon", "layout_recovery", {"action": "skip_dead_nodes", "confirm": True}, "writer")
    wait_until("the copies to be whole again", lambda: whole(lyon.nodes[0]), limit=300)

    # The old writer comes back as a follower.
    paris.nodes[0].start()
    # It tells the layout of before its absence until another node has told it the new one.
    wait_until("the new layout to reach paris", lambda: disagreement([paris.nodes[0], lyon.nodes[0]]), limit=120)
    back = federation.run("--limit", "paris", files=files)
    assert succeeded(back)
    assert writes(federation) == NOTHING
    waits = back.results("paris", "layout")[-1]
    assert (waits["awaiting"]["reason"], waits["awaiting"]["nodes"]) == ("nodes_without_role", [paris.nodes[0].node_id])
    assert waits["layout"]["version"] == 4


def whole(node: Node) -> str | None:
    """Why not every partition is stored as often as asked for, by the nodes of the layout in force; None when each is."""
    layout, health = node.admin.get("GetClusterLayout"), node.admin.get("GetClusterHealth")
    copies = sum(entry["storedPartitions"] for entry in layout["roles"] if entry.get("capacity"))
    versions = node.admin.get("GetClusterLayoutHistory")["versions"]
    if any(row["status"] == "Draining" for row in versions):
        return "an older version drains"
    return None if copies == 3 * 256 and health["partitionsAllOk"] == 256 else f"{copies} copies, {health['partitionsAllOk']} partitions all ok"


@pytest.mark.requirement("LW-45", "LW-36", "FC-017")
def test_two_writers_by_mistake_lose_no_role_and_are_reported(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(Site("paris", "paris", 2), Site("lyon", "lyon", 2), replication_factor=2)
    cluster.connect_all()
    cluster.wait_mesh()
    with federation_of(cluster, paris=2, lyon=2) as federation:
        paris, lyon = cluster.site("paris"), cluster.site("lyon")
        base = [{**role(node), "zone": node.zone} for node in (paris.nodes[0], lyon.nodes[0])]
        first = federation.module("paris", "layout", {"roles": base, **PATIENT}, "writer")
        assert not first.get("failed"), first
        settle(lyon.nodes[0])
        start, applied = Barrier(2), []

        def play(name: str, node: Node, record: dict | None, together: bool) -> tuple[dict | None, str]:
            """What a writer's run says of others, and its failure, which a further run mends."""
            client = Client(Applies(federation.way(name), name, applied), "writer")
            if together:
                start.wait()
            try:
                dummy, beside = run_layout(client, options({**role(node), "zone": node.zone}, record), check=False)
            except GarageError as error:
                return None, error.message
            finally:
                client.close()
            return beside, ""

        with ThreadPoolExecutor(2) as plays:
            results = list(plays.map(lambda pair: play(*pair, first["record"], True), (("paris", paris.nodes[1]), ("lyon", lyon.nodes[1]))))
        settle(paris.nodes[0])
        # One record is kept for all, and whoever was last has written it. What no run noticed by itself is noticed by the next.
        said = [beside["foreign_writer"] for beside, dummy in results if beside] + [failure for dummy, failure in results if failure]
        kept = next((beside["record"] for beside, dummy in reversed(results) if beside), first["record"])
        for name, node in (("paris", paris.nodes[1]), ("lyon", lyon.nodes[1])):
            again, failure = play(name, node, kept, False)
            assert again is not None, failure
            said, kept = [*said, again["foreign_writer"]], again["record"]
            settle(cluster.site(name).nodes[0])
        assert any(said), (said, applied)
        wait_until("all nodes to agree", lambda: disagreement(cluster.nodes), limit=300)
        live = cluster.nodes[0].admin.get("GetClusterLayout")
        assert {entry["id"] for entry in live["roles"]} == {node.node_id for node in cluster.nodes}
        # A version that a site has made it never makes again.
        assert len(set(applied)) == len(applied) and {name for name, dummy in applied} <= {"paris", "lyon"}
        print(f"two writers at the same moment: {applied}, said: {[bool(each) for each in said]}")


@pytest.mark.requirement("LW-45", "LW-36", "FC-017")
def test_two_layouts_of_one_version_are_reported_and_replaced_by_one_with_the_roles_of_both(make_cluster: MakeCluster) -> None:
    """Each site writes while the other is away: what no lock of Garage prevents."""
    cluster = make_cluster(Site("paris", "paris", 2), Site("lyon", "lyon", 2), replication_factor=2)
    cluster.connect_all()
    cluster.wait_mesh()
    with federation_of(cluster, paris=2, lyon=2) as federation:
        paris, lyon = cluster.site("paris"), cluster.site("lyon")
        base = [{**role(node), "zone": node.zone} for node in (paris.nodes[0], lyon.nodes[0])]
        first = federation.module("paris", "layout", {"roles": base, **PATIENT}, "writer")
        assert not first.get("failed"), first
        wait_until("all nodes to agree", lambda: disagreement(cluster.nodes), limit=300)
        own = {"paris": {**role(paris.nodes[1]), "zone": "paris"}, "lyon": {**role(lyon.nodes[1]), "zone": "lyon"}}
        options: dict[str, Any] = {"allow_unseen_nodes": True, "require_settled": False}
        left = {}
        for site, other in ((paris, lyon), (lyon, paris)):
            for node in other.nodes:
                node.kill()
            for node in site.nodes:
                if not node.is_running:
                    node.start()
            run = federation.module(site.name, "layout", {"roles": [own[site.name]], "record": first["record"], **options}, "writer")
            assert (run["layout"]["version"], run["foreign_writer"]) == (2, None), run
            left[site.name] = run["record"]
        for node in paris.nodes:
            node.start()
        cluster.connect_all()

        # One record is kept for both; whoever runs next with the other's sees that there are two.
        told = federation.module("lyon", "layout_info", {"record": left["paris"]})["layout"]["foreign_writer"]
        assert (told["recorded_version"], told["live_version"], len(told["changes"])) == (2, 2, 2)
        mended = federation.module("lyon", "layout", {"roles": [own["lyon"]], "record": left["paris"], **options}, "writer")
        assert (mended["layout"]["version"], mended["foreign_writer"]) == (3, told), mended
        assert "two writers have made layout version 2" in str(mended["warnings"])
        wait_until("all nodes to agree", lambda: disagreement(cluster.nodes), limit=300)
        live = cluster.nodes[0].admin.get("GetClusterLayout")
        assert {entry["id"] for entry in live["roles"]} == {node.node_id for node in cluster.nodes}
        assert any("Inconsistent layout histories" in node.log_file.read_text(encoding="utf-8", errors="replace") for node in cluster.nodes)
        again = federation.module("paris", "layout", {"roles": [own["paris"]], "record": mended["record"]}, "writer")
        assert (again["changed"], again["foreign_writer"]) == (False, None)


def disagreement(nodes: list[Node]) -> str | None:
    layouts = [(live["version"], live["roles"]) for live in (node.admin.get("GetClusterLayout") for node in nodes)]
    return None if all(layout == layouts[0] for layout in layouts) else f"versions {[version for version, dummy in layouts]}"


class Applies(HttpTransport):
    """Notes which site has applied which version; what the server refused does not count."""

    def __init__(self, way: dict[str, Any], name: str, applied: list[tuple[str, int]]) -> None:
        super().__init__(resolve_connection(way, {}, lambda path: Path(path).read_text(encoding="ascii")))
        self.name, self.applied = name, applied

    def send(self, method: str, path: str, query: dict | None, body: Any, label: str) -> Any:
        answer = super().send(method, path, query, body, label)
        if label == APPLY and answer.status < 400:
            self.applied.append((self.name, body["version"]))
        return answer


def options(entry: dict[str, Any], record: dict | None) -> dict[str, Any]:
    """Options of the module layout for one role, beside what somebody else has staged."""
    suboptions = layout_spec()["roles"]["options"]
    params = {name: option.get("default") for name, option in {**layout_spec(), **wait_spec()}.items()}
    complete = {name: option.get("default") for name, option in suboptions.items()} | entry
    return {**params, **PATIENT, "roles": [complete], "record": record, "require_settled": False}
