# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions, nodes, health and addresses, on tables."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError
from ansible_collections.s3ops.garage.plugins.module_utils._models.cluster import (
    CAPABILITIES,
    Cluster,
    ClusterStatus,
    Health,
    Node,
    capabilities,
    missing_for,
    normal_version,
    parse_version,
    pending_result,
    unreachable_peers,
)
from ansible_collections.s3ops.garage.plugins.module_utils._models.peer import Peer, join_address, parse_peer, parse_peers, split_address

A, B, C = "a" * 64, "b" * 64, "c" * 64
HEALTH = {"status": "healthy", "knownNodes": 3, "connectedNodes": 3, "storageNodes": 3, "storageNodesUp": 3, "partitions": 256,
          "partitionsQuorum": 256, "partitionsAllOk": 256}


@pytest.mark.parametrize(("text", "version"), [
    ("cargo:2.5.0", (2, 5, 0)),
    ("v2.5.0", (2, 5, 0)),
    ("2.10.1", (2, 10, 1)),
    ("git:v2.3.0-41-gbbc1dc3d", (2, 3, 0)),
    ("v2.0.0-rc1", (2, 0, 0)),
    ("git:bbc1dc3d", None),
    ("unknown", None),
    ("", None),
    (None, None),
])
def test_version_is_the_first_three_numbers(text, version):
    assert parse_version(text) == version
    assert normal_version(text) == (".".join(map(str, version)) if version else None)


@pytest.mark.requirement("TD-51")
def test_capabilities_follow_the_version():
    assert capabilities("2.5.0") == dict.fromkeys(CAPABILITIES, True)
    assert capabilities("cargo:2.10.0")["bulk_reads"] is True
    older = capabilities("2.4.1")
    assert (older["bulk_reads"], older["layout_statistics"], older["cors_rules"]) == (False, True, True)
    assert capabilities("2.2.0")["lifecycle_rules"] is False


@pytest.mark.parametrize("text", [None, "unknown", "git:bbc1dc3d"])
def test_capabilities_of_an_unknown_version_are_not_guessed(text):
    assert set(capabilities(text).values()) == {None}


def node(id, **changes):
    return Node(id=id, **changes)


@pytest.mark.requirement("FC-028")
def test_node_from_the_answer():
    found = Node.from_api({
        "id": A, "garageVersion": "cargo:2.5.0", "addr": "10.0.0.1:3901", "hostname": "garage-0", "isUp": True, "lastSeenSecsAgo": 3,
        "role": {"zone": "paris", "tags": ["rack:2", "blue"], "capacity": 1000}, "draining": False,
        "dataPartition": {"available": 1, "total": 2}, "metadataPartition": {"available": 3, "total": 4}, "resyncQueueLen": 7})
    assert found.to_result() == {
        "id": A, "hostname": "garage-0", "addr": "10.0.0.1:3901", "garage_version": "2.5.0", "up": True, "last_seen_seconds": 3, "draining": False,
        "has_role": True, "zone": "paris", "capacity": 1000, "tags": ["rack:2", "blue"], "gateway": False,
        "data_partition": {"available": 1, "total": 2}, "metadata_partition": {"available": 3, "total": 4}, "resync_queue_length": 7}


def test_gateway_and_roleless_nodes_are_told_apart():
    gateway = Node.from_api({"id": A, "isUp": True, "draining": False, "role": {"zone": "z", "tags": [], "capacity": None}})
    roleless = Node.from_api({"id": B, "isUp": True, "draining": False, "role": None})
    assert (gateway.gateway, gateway.has_role, gateway.storage) == (True, True, False)
    assert (roleless.gateway, roleless.has_role, roleless.storage) == (False, False, False)


@pytest.mark.requirement("OP-113")
def test_asked_node_is_the_one_up_and_never_last_seen():
    assert ClusterStatus(1, (node(A, up=True, last_seen_seconds=4), node(B, up=True), node(C))).likely_self == B
    assert ClusterStatus(1, (node(A, up=True), node(B, up=True))).likely_self is None


STORAGE = {"has_role": True, "capacity": 1000}
PEERS = [
    ("up", node("1" * 64, up=True, last_seen_seconds=3, **STORAGE), False),
    ("storage down two minutes", node("2" * 64, last_seen_seconds=120, **STORAGE), False),
    ("storage down half an hour", node("3" * 64, last_seen_seconds=1800, **STORAGE), True),
    ("storage never seen", node("4" * 64, **STORAGE), True),
    ("roleless never seen", node("5" * 64), False),
    ("roleless down", node("6" * 64, last_seen_seconds=70000), False),
    ("draining roleless down half an hour", node("7" * 64, last_seen_seconds=1800, draining=True), True),
    ("gateway down half an hour", node("8" * 64, last_seen_seconds=1800, has_role=True), False),
]


@pytest.mark.parametrize(("peer", "missed"), [row[1:] for row in PEERS], ids=[row[0] for row in PEERS])
def test_which_peers_are_missed(peer, missed):
    assert unreachable_peers([peer]) == ((peer,) if missed else ())


def test_exactly_three_of_the_eight_are_missed():
    assert [peer.id[0] for peer in unreachable_peers(row[1] for row in PEERS)] == ["3", "4", "7"]


def test_health_of_either_spelling():
    old = {("storageNodesOk" if name == "storageNodesUp" else name): value for name, value in HEALTH.items()}
    assert Health.from_api(HEALTH) == Health.from_api(old)
    assert Health.from_api(old).storage_nodes_up == 3


def test_no_partitions_are_no_quorum_and_no_risk():
    nothing = Health("unavailable")
    assert (nothing.quorum, nothing.quorum_at_risk) == (False, False)
    some = Health("unavailable", partitions=256, partitions_quorum=255)
    assert (some.quorum, some.quorum_at_risk) == (False, True)
    assert Health("degraded", partitions=256, partitions_quorum=256).quorum


UP = ClusterStatus(1, (node(A, up=True), node(B, hostname="garage-1")))
NEW = ClusterStatus(0, (node(A, up=True),))
FULL = Health("healthy", partitions=256, partitions_quorum=256, storage_nodes=2, storage_nodes_up=2)
WEAK = Health("degraded", partitions=256, partitions_quorum=256, storage_nodes=2, storage_nodes_up=1)
LOST = Health("unavailable", partitions=256, partitions_quorum=3, storage_nodes=2, storage_nodes_up=1)


@pytest.mark.parametrize(("goal", "min_nodes", "status", "health", "said"), [
    ("reachable", 0, NEW, Health("unavailable"), []),
    ("reachable", 2, NEW, Health("unavailable"), ["1 of 2 nodes are up"]),
    ("layout", 0, NEW, Health("unavailable"), ["no layout"]),
    ("layout", 0, UP, LOST, []),
    ("quorum", 0, UP, LOST, ["3 of 256 partitions", "down: bbbbbbbbbbbbbbbb (garage-1)"]),
    ("quorum", 0, UP, WEAK, []),
    ("healthy", 0, UP, WEAK, ["degraded", "1 of 2 storage nodes", "garage-1"]),
    ("healthy", 0, UP, FULL, []),
    ("healthy", 3, UP, FULL, ["1 of 3 nodes are up", "garage-1"]),
    ("healthy", 0, NEW, Health("unavailable"), ["no layout"]),
])
@pytest.mark.requirement("FC-089")
def test_what_is_missing_is_named(goal, min_nodes, status, health, said):
    missing = missing_for(goal, min_nodes, status, health)
    assert (missing is None) == (not said)
    assert all(part in missing for part in said)


@pytest.mark.requirement("MH-18", "MH-19")
def test_the_keys_are_the_same_when_pending():
    running = Cluster(UP, FULL, A, "2.5.0", {"freeform": "x"}).to_result()
    pending = pending_result("refused", {"kind": "unreachable"})
    assert list(sorted(running)) == list(sorted(pending))
    assert (running["reachable"], running["phase"], running["message"]) == (True, "running", None)
    assert (pending["reachable"], pending["phase"], pending["message"]) == (False, "pending", "refused")


def test_what_may_not_be_read_is_null():
    result = Cluster(UP).to_result()
    assert (result["health"], result["quorum_at_risk"], result["statistics"], result["garage_version"]) == (None, None, None, None)
    assert [entry["self"] for entry in result["nodes"]] == [False, False]


@pytest.mark.parametrize(("text", "host", "port"), [
    (f"{A}@10.0.0.1:3901", "10.0.0.1", 3901),
    (f"{A}@garage-0.garage.example.org:3901", "garage-0.garage.example.org", 3901),
    (f"{A}@[fd00:7::3]:3901", "fd00:7::3", 3901),
    (f"{A}@fd00:7::3:3901", "fd00:7::3", 3901),
    (f" {A.upper()}@h:1\n", "h", 1),
])
@pytest.mark.requirement("OP-114", "FC-118")
def test_node_addresses_are_read(text, host, port):
    assert parse_peer(text) == Peer(A, host, port)


@pytest.mark.requirement("OP-114", "FC-118")
def test_ipv6_gets_its_brackets():
    assert parse_peer(f"{A}@fd00:7::3:3901").text == f"{A}@[fd00:7::3]:3901"
    assert Peer(A, "10.0.0.1", 3901).text == f"{A}@10.0.0.1:3901"


@pytest.mark.parametrize(("text", "said"), [
    ("10.0.0.1:3901", "no @"),
    (f"{A[:63]}@10.0.0.1:3901", "does not begin with a node id"),
    (f"{'g' * 64}@10.0.0.1:3901", "does not begin with a node id"),
    (f"{A}@10.0.0.1", "no port"),
    (f"{A}@10.0.0.1:0", "no port"),
    (f"{A}@10.0.0.1:65536", "no port"),
    (f"{A}@[fd00::1]", "no port"),
    (f"{A}@:3901", "no host"),
    (f"{A}@[10.0.0.1]:3901", "no host"),
    (f"{A}@fd00:::1:3901", "no host"),
    (f"{A}@two words:3901", "no host"),
    ("", "no @"),
])
def test_bad_node_addresses_are_refused(text, said):
    with pytest.raises(ValueError, match=said):
        parse_peer(text)


def test_all_bad_entries_are_named_at_once():
    with pytest.raises(InputError) as refused:
        parse_peers([f"{A}@h:1", "x", f"{B}@h"], "nodes")
    assert [fault.partition(":")[0] for fault in refused.value.faults] == ["nodes[1]", "nodes[2]"]


def test_an_entry_given_twice_counts_once():
    assert parse_peers([f"{A}@fd00::1:3901", f"{A}@[fd00::1]:3901"], "nodes") == (Peer(A, "fd00::1", 3901),)


HOSTS = st.one_of(st.ip_addresses().map(str), st.from_regex(r"[a-z][a-z0-9-]{0,20}(\.[a-z0-9]{1,9})?", fullmatch=True))


@given(host=HOSTS, port=st.integers(1, 65535))
@pytest.mark.requirement("OP-114")
def test_joined_addresses_are_read_back(host, port):
    assert split_address(join_address(host, port)) == (host, port)


@given(address=st.ip_addresses(v=6).map(str), port=st.integers(1, 65535))
def test_unbracketed_ipv6_means_the_same(address, port):
    host, found = split_address(f"{address}:{port}")
    assert (IPv6Address(host), found) == (IPv6Address(address), port)
