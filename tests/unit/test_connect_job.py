# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connecting nodes and sites, on nodes in memory."""

from __future__ import annotations

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils import _connect_job
from ansible_collections.s3ops.garage.plugins.module_utils._connect_job import run_connect
from ansible_collections.s3ops.garage.plugins.module_utils._connection import resolve_connection
from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError, NotConnected, TransportError
from tests.fakes.mesh import DENIED, Mesh, node_id

TOKEN = "token-of-the-other-site"


class Context:
    """What run_connect uses of the runner's Context. Remotes are told apart by the host in their ``api_url``."""

    def __init__(self, mesh, check=False):
        self.mesh = mesh
        self.check = check
        self.warnings = []

    def client(self, params=None, where=""):
        if params is None:
            return self.mesh.client("a")
        resolve_connection(params, {}, lambda path: TOKEN, where)
        return self.mesh.client(params["api_url"][len("http://"):-len(":3903")], retries=params["retries"], site_role=params["site_role"])

    def warn(self, text):
        self.warnings.append(text)


@pytest.fixture(autouse=True)
def no_patience(monkeypatch):
    monkeypatch.setattr(_connect_job, "SEEN_WITHIN_SECONDS", 0.0)


def remote(letter, **changes):
    return {"name": f"site-{letter}", "api_url": f"http://{letter}:3903", "api_token": TOKEN, "timeout": 5.0, **changes}


def run(mesh, nodes=None, remotes=None, strict=True, check=False):
    context = Context(mesh, check)
    return run_connect({"nodes": nodes, "remotes": remotes, "fail_on_unreachable": strict}, context), context


def test_nodes_are_connected_in_one_call_and_then_left_alone():
    mesh = Mesh("a", "b", "c")
    nodes = [mesh["b"].text, mesh["c"].text]
    result, _context = run(mesh, nodes)
    assert mesh.connects() == [("a", nodes)]
    assert result["changed"]
    assert result["connections"] == {"connected": [node_id("b"), node_id("c")], "failed": [], "unreachable": []}
    again, _context = run(mesh, nodes)
    assert len(mesh.connects()) == 1
    assert (again["changed"], again["actions"], again["diff"]) == (False, [], {"before": {}, "after": {}})
    assert again["connections"] == result["connections"]


def test_check_mode_predicts_and_sends_nothing():
    mesh = Mesh("a", "b", "c")
    arguments = {"nodes": [mesh["b"].text], "remotes": [remote("c")]}
    predicted, _context = run(mesh, check=True, **arguments)
    assert mesh.connects() == []
    done, _context = run(mesh, **arguments)
    assert predicted == done


@pytest.mark.requirement("FC-023", "GS-14")
def test_each_entry_of_the_answer_is_judged():
    mesh = Mesh("a", "b", "c")
    mesh["a"].blocked.add("c")
    with pytest.raises(NotConnected) as failed:
        run(mesh, [mesh["b"].text, mesh["c"].text])
    assert mesh["c"].address in failed.value.message
    assert mesh["b"].address not in failed.value.message
    assert "IO error: refused" in failed.value.message
    assert failed.value.result["connections"]["connected"] == [node_id("b")]
    assert failed.value.done == (f"connected {mesh['b'].text} to our node",)


@pytest.mark.requirement("FC-023")
def test_a_failure_that_is_tolerated_is_a_warning():
    mesh = Mesh("a", "b", "c")
    mesh["a"].blocked.add("c")
    result, context = run(mesh, [mesh["b"].text, mesh["c"].text], strict=False)
    assert result["changed"]
    assert [entry["node"] for entry in result["connections"]["failed"]] == [mesh["c"].text]
    assert len(context.warnings) == 1 and mesh["c"].text in context.warnings[0] and "\n" not in context.warnings[0]
    again, _context = run(mesh, [mesh["b"].text, mesh["c"].text], strict=False)
    assert not again["changed"]


def test_success_that_cannot_be_seen_is_a_failure():
    mesh = Mesh("a", "b")
    mesh["a"].faults["ConnectClusterNodes"] = [(200, [{"success": True, "error": None}])]
    with pytest.raises(NotConnected, match="not seen as up"):
        run(mesh, [mesh["b"].text])


def test_an_answer_that_is_too_short_is_a_failure():
    mesh = Mesh("a", "b", "c")
    mesh["a"].faults["ConnectClusterNodes"] = [(200, [])]
    with pytest.raises(NotConnected, match="did not say"):
        run(mesh, [mesh["b"].text, mesh["c"].text])


@pytest.mark.requirement("OP-116")
def test_two_sites_are_connected_in_both_directions():
    mesh = Mesh("a", "b", "c", "d")
    mesh.link("a", "b")
    mesh.link("c", "d")
    result, _context = run(mesh, remotes=[remote("c")])
    assert mesh.connects() == [("a", [mesh["c"].text, mesh["d"].text]), ("c", [mesh["a"].text, mesh["b"].text])]
    assert result["connections"]["connected"] == [node_id("c"), node_id("d")]
    again, _context = run(mesh, remotes=[remote("c")])
    assert (again["changed"], len(mesh.connects())) == (False, 2)


@pytest.mark.requirement("OP-116")
def test_one_direction_is_enough():
    mesh = Mesh("a", "c")
    mesh["a"].blocked.add("c")
    result, context = run(mesh, remotes=[remote("c")])
    assert result["connections"] == {"connected": [node_id("c")], "failed": [], "unreachable": []}
    assert context.warnings == []


@pytest.mark.requirement("OP-116")
def test_the_declared_address_is_used_in_both_directions():
    mesh = Mesh("a", "c")
    mesh["a"].role = {"zone": "p", "tags": ["rpc-address:paris.example.org:4901"], "capacity": 1}
    mesh["c"].role = {"zone": "l", "tags": ["rpc-address:[fd00::c]:4901"], "capacity": 1}
    run(mesh, remotes=[remote("c")], strict=False)
    assert mesh.connects() == [("a", [f"{node_id('c')}@[fd00::c]:4901"]), ("c", [f"{node_id('a')}@paris.example.org:4901"])]


@pytest.mark.requirement("FC-119", "OP-115")
def test_a_remote_that_is_down_hinders_nobody():
    mesh = Mesh("a", "b", "c", "d")
    mesh["c"].faults["GetClusterStatus"] = [TransportError("GetClusterStatus at http://c:3903: Connection refused")]
    arguments = {"nodes": [mesh["b"].text], "remotes": [remote("c"), remote("d")]}
    with pytest.raises(NotConnected) as failed:
        run(mesh, **arguments)
    assert failed.value.result["connections"] == {
        "connected": [node_id("b"), node_id("d")], "failed": [],
        "unreachable": [{"name": "site-c", "error": "GetClusterStatus at http://c:3903: Connection refused"}]}
    assert "site-c is unreachable" in failed.value.message
    assert sorted(mesh["a"].sees) == ["b", "d"]


@pytest.mark.requirement("FC-119")
def test_a_remote_that_is_down_may_be_a_warning():
    mesh = Mesh("a", "c")
    mesh["c"].faults["GetClusterStatus"] = [DENIED]
    result, context = run(mesh, remotes=[remote("c")], strict=False)
    assert (result["changed"], [entry["name"] for entry in result["connections"]["unreachable"]]) == (False, ["site-c"])
    assert len(context.warnings) == 1


def test_a_remote_that_may_only_read_is_connected_from_our_side():
    mesh = Mesh("a", "b", "c")
    mesh.link("a", "b")
    mesh["c"].faults["ConnectClusterNodes"] = [DENIED]
    result, context = run(mesh, remotes=[remote("c")], strict=False)
    assert result["connections"]["connected"] == [node_id("c")]
    assert {entry["remote"] for entry in result["connections"]["failed"]} == {"site-c"}
    assert all("403" in text for text in context.warnings)


@pytest.mark.parametrize("fault", [
    TransportError("cut", sent=True),
    TransportError("refused", sent=False),
    (503, {"code": "ServiceUnavailable", "message": "timeout"}),
])
def test_a_call_of_unknown_fate_is_looked_at_and_sent_once_more(fault):
    mesh = Mesh("a", "b")
    mesh["a"].faults["ConnectClusterNodes"] = [fault]
    result, _context = run(mesh, [mesh["b"].text])
    assert result["connections"]["connected"] == [node_id("b")]
    assert [endpoint for _letter, endpoint, _body in mesh.asked] == ["GetClusterStatus", "ConnectClusterNodes"] * 2 + ["GetClusterStatus"]


def test_a_call_of_unknown_fate_is_not_sent_a_third_time():
    mesh = Mesh("a", "b")
    mesh["a"].faults["ConnectClusterNodes"] = [TransportError("cut", sent=True), TransportError("cut", sent=True)]
    with pytest.raises(NotConnected, match="cut"):
        run(mesh, [mesh["b"].text])
    assert len(mesh.connects()) == 2


def test_a_call_that_was_cut_but_worked_is_not_repeated():
    mesh = Mesh("a", "b")

    def cut():
        mesh.link("a", "b")
        raise TransportError("cut", sent=True)

    mesh["a"].faults["ConnectClusterNodes"] = [cut]
    result, _context = run(mesh, [mesh["b"].text])
    assert (result["changed"], result["connections"]["connected"]) == (True, [node_id("b")])
    assert len(mesh.connects()) == 1


@pytest.mark.requirement("OP-116")
def test_all_faults_are_named_before_anything_is_sent():
    mesh = Mesh("a", "c")
    with pytest.raises(InputError) as refused:
        run(mesh, ["nonsense"], [remote("c", api_token=None), remote("c", api_url="ftp://c"), remote("d", api_token="two words")])
    assert mesh.asked == []
    text = "\n".join(refused.value.faults)
    for part in ("nodes[0]:", "set remotes[0].api_token or remotes[0].api_token_file", "remotes[1].name: 'site-c' is given twice",
                 "remotes[1].api_url:", "option remotes[2].api_token holds a token with spaces"):
        assert part in text
    assert "GARAGE_ADMIN" not in text and "two words" not in text


@pytest.mark.requirement("LW-20")
def test_no_layout_can_be_written_at_a_remote():
    mesh = Mesh("a", "c")
    made = []
    context = Context(mesh)
    make = context.client
    context.client = lambda *arguments: made.append(make(*arguments)) or made[-1]
    run_connect({"nodes": None, "remotes": [remote("c")], "fail_on_unreachable": True}, context)
    assert [client.site_role for client in made] == [None, "follower"]
    assert made[1].retries == 0
