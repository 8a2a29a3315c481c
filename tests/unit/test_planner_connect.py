# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes a node is told of."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.s3ops.garage.plugins.module_utils._models.cluster import ClusterStatus, Node
from ansible_collections.s3ops.garage.plugins.module_utils._models.peer import Peer
from ansible_collections.s3ops.garage.plugins.module_utils._planners.connect import missing_peers, peers_of, plan_connect

A, B, C = (Node(letter * 64, addr=f"10.0.0.{number}:3901", up=True) for number, letter in enumerate("abc", 1))
PEER_A, PEER_B, PEER_C = (Peer(letter * 64, f"10.0.0.{number}", 3901) for number, letter in enumerate("abc", 1))


def seen(*nodes):
    return ClusterStatus(0, nodes)


def connect(subject, peers, status):
    return plan_connect(subject, missing_peers(peers, status))


def test_all_that_is_missing_goes_into_one_call():
    plan = connect("our node", [PEER_A, PEER_B, PEER_C], seen(A))
    assert [(call.endpoint, call.body) for call in plan.calls] == [("ConnectClusterNodes", [PEER_B.text, PEER_C.text])]
    assert plan.diff["before"] == {PEER_B.text: "down", PEER_C.text: "down"}
    assert plan.diff["after"] == {PEER_B.text: "up", PEER_C.text: "up"}


def test_nothing_is_sent_when_all_are_up():
    plan = connect("our node", [PEER_A, replace(PEER_B, host="elsewhere")], seen(A, B))
    assert (plan.changed, plan.calls, plan.diff) == (False, (), {"before": {}, "after": {}})


def test_a_known_node_that_is_down_is_connected():
    assert missing_peers([PEER_B], seen(A, replace(B, up=False))) == (PEER_B,)


def test_nothing_wanted_is_an_empty_plan():
    assert not connect("our node", [], seen(A)).changed


@pytest.mark.requirement("FC-023")
def test_what_it_does_names_the_addresses():
    assert connect("lyon", [PEER_B], seen(A)).would == ("connect lyon to bbbbbbbbbbbbbbbb at 10.0.0.2:3901",)


@pytest.mark.requirement("OP-116")
@pytest.mark.parametrize(("changes", "told"), [
    ({}, ("10.0.0.2", 3901)),
    ({"tags": ("paris", "rpc-address:vpn.example.org:4901")}, ("vpn.example.org", 4901)),
    ({"tags": ("rpc-address:[fd00::2]:4901",)}, ("fd00::2", 4901)),
    ({"tags": ("rpc-address:fd00::2:4901",), "addr": None}, ("fd00::2", 4901)),
    ({"tags": ("rpc-address:nothing",)}, ("10.0.0.2", 3901)),
    ({"addr": "[fd00::9]:3901"}, ("fd00::9", 3901)),
])
def test_declared_address_comes_first(changes, told):
    assert peers_of(seen(replace(B, **changes))) == (Peer(B.id, *told),)


@pytest.mark.parametrize("changes", [{"up": False}, {"addr": None}])
def test_nodes_that_are_down_or_have_no_address_are_not_told_of(changes):
    assert peers_of(seen(A, replace(B, **changes))) == (PEER_A,)


PEERS = st.lists(st.sampled_from([PEER_A, PEER_B, PEER_C, replace(PEER_C, port=4901)]))
STATUS = st.sets(st.sampled_from([A, B, C, replace(B, up=False)])).map(lambda nodes: seen(*nodes))


@given(peers=PEERS, status=STATUS)
def test_a_second_plan_is_empty(peers, status):
    missing = missing_peers(peers, status)
    after = seen(*status.nodes, *(Node(peer.id, addr=peer.address, up=True) for peer in missing))
    assert not connect("our node", peers, after).changed
