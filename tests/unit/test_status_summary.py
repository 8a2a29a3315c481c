# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was seen of sites, put together: who shares a cluster, how it is, what needs a look."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.s3ops.garage.plugins.filter.status_summary import status_summary
from ansible_collections.s3ops.garage.plugins.module_utils._status.summary import summarize
from ansible_collections.s3ops.garage.plugins.module_utils._status.words import age, percent, size
from tests.unit.status_worlds import (
    LYON_1,
    LYON_2,
    NOW,
    PARIS_1,
    PARIS_2,
    TB,
    bucket,
    busy,
    calm,
    cluster,
    down,
    key,
    layout,
    lost,
    node,
    refused,
    seen,
    unreachable,
)


def one(facts: list[dict], **options: Any) -> dict[str, Any]:
    """The only cluster of a summary."""
    (found,) = summarize(facts, NOW, **options)["clusters"]
    return found


def needs(facts: list[dict], **options: Any) -> list[tuple[str, str]]:
    return [(need["level"], need["text"]) for need in summarize(facts, NOW, **options)["attention"]]


def alone(**answers: Any) -> list[dict]:
    return [seen("paris", [node(PARIS_1)], "writer", **answers)]


def test_nothing_needs_a_look_where_all_is_well() -> None:
    found = summarize(calm(), NOW)
    assert found["attention"] == []
    assert found["lines"] == [
        "SITE   ROLE      GARAGE  LAYOUT  NODES UP  HEALTH   SITE FILE",
        "paris  writer    2.5.0   4       3 of 3    healthy  as declared",
        "lyon   follower  2.5.0   4       3 of 3    healthy  as declared",
    ]
    assert found["brief"]["lyon"] == {"reachable": True, "message": None, "site_role": "follower", "garage_version": "2.5.0", "layout_version": 4,
                                      "health": "healthy", "nodes": 3, "nodes_up": 3, "drift": {"layout": "same", "tenancy": "same"}}


def test_a_summary_is_plain_data_and_looks_only() -> None:
    facts = busy()
    before = copy.deepcopy(facts)
    found = summarize(facts, NOW)
    assert json.loads(json.dumps(found)) == found
    assert facts == before


@pytest.mark.requirement("FC-119", "MH-19")
def test_a_site_that_cannot_be_reached_is_a_row_that_says_so() -> None:
    found = summarize([*calm(), lost("nice", "follower", ("paris",))], NOW)
    assert found["lines"][3] == "nice   follower                            unreachable"
    assert found["attention"] == [{"level": "bad", "cluster": "paris, lyon, nice", "text":
                                   "nice cannot be reached: GetClusterStatus at http://10.0.0.9:3903: Connection refused"}]
    (cluster_found,) = found["clusters"]
    assert [zone["zone"] for zone in cluster_found["zones"]] == ["lyon", "nice", "paris"]
    assert "nice" not in cluster_found["nodes"][0]["views"]


def test_all_sites_may_be_lost() -> None:
    found = one([lost("paris", "writer", ("lyon",)), lost("lyon", "follower", ("paris",))])
    assert (found["nodes"], found["layout"], found["buckets"], found["block_errors"], found["expiring"]) == ([], None, None, None, [])


# who shares a cluster

def test_sites_that_see_the_same_nodes_share_a_cluster() -> None:
    found = summarize([seen("a", [node(PARIS_1)]), seen("b", [node(LYON_1)]), seen("c", [node(PARIS_1), node(PARIS_2)])], NOW)
    assert [[site["name"] for site in group["sites"]] for group in found["clusters"]] == [["a", "c"], ["b"]]


def test_a_lost_site_belongs_where_remotes_say() -> None:
    found = summarize([lost("nice", "follower", ("lyon",)), seen("backup", [node(LYON_2)]), seen("lyon", [node(LYON_1)], "writer")], NOW)
    assert [group["name"] for group in found["clusters"]] == ["nice, lyon", "backup"]


@pytest.mark.requirement("LW-10")
@pytest.mark.parametrize(("roles", "writers"), [
    (("writer", "follower"), ["paris"]),
    ((None, "follower"), ["paris"]),
    ((None, "writer"), ["lyon"]),
    (("follower", "follower"), []),
    (("writer", "writer"), ["paris", "lyon"]),
])
def test_who_writes_the_layout(roles: tuple[str | None, str | None], writers: list[str]) -> None:
    facts = [seen(name, [node(PARIS_1)], role) | {"declares_layout": True} for name, role in zip(("paris", "lyon"), roles, strict=True)]
    assert one(facts)["writers"] == writers
    assert any(text.startswith("more than one site may write") for _level, text in needs(facts)) is (len(writers) > 1)
    assert ("note", "the site that writes the layout is not among these sites") in needs(facts) or writers


def test_a_site_that_says_nothing_of_the_layout_does_not_write_it() -> None:
    found = summarize([seen("handle", [node(PARIS_1)])], NOW)
    assert found["clusters"][0]["writers"] == []
    assert found["lines"][1].split()[1] == "-"
    assert summarize([seen("handle", [node(PARIS_1)]) | {"declares_layout": True}], NOW)["lines"][1].split()[1:3] == ["writer", "(unset)"]


# nodes and zones

def test_a_node_is_shown_as_each_site_sees_it() -> None:
    found = {row["id"]: row for row in one(busy())["nodes"]}
    assert found[PARIS_1]["views"] == {"paris": "up", "lyon": "up"} and found[PARIS_1]["state"] == "up"
    assert found[PARIS_2]["views"] == {"paris": "up", "lyon": "down, seen 1 day ago"} and found[PARIS_2]["state"] == "disputed"
    assert found[LYON_1]["views"] == {"paris": "down, seen 2 hours ago", "lyon": "down, never seen"} and found[LYON_1]["state"] == "down"
    assert found["6f" * 32]["views"] == {"paris": "up", "lyon": "not known"}
    # What a node that is down does not tell, another view does.
    assert found[PARIS_2]["garage_version"] == "2.5.0"


def test_capacity_and_use_by_zone() -> None:
    zones = {zone["zone"]: zone for zone in one(busy())["zones"]}
    assert list(zones) == ["lyon", "nice", "paris", None]
    assert zones["paris"] == {"zone": "paris", "sites": ["paris"], "nodes": 2, "up": 1, "storage": 2, "gateways": 0, "capacity": 4 * TB,
                              "usable_capacity": 4 * TB, "disk_total": 6 * TB, "disk_used": 3 * TB, "disks_unknown": 0}
    assert (zones["lyon"]["gateways"], zones["lyon"]["disk_total"], zones["lyon"]["disks_unknown"]) == (1, None, 1)
    assert (zones["nice"]["nodes"], zones["nice"]["sites"]) == (0, ["nice"])
    assert zones[None]["nodes"] == 1


def test_several_versions_of_garage_are_a_note() -> None:
    nodes = [node(PARIS_1), node(PARIS_2, garage_version="2.4.1")]
    assert needs([seen("paris", nodes, "writer")]) == [("note", "nodes run different versions of Garage: 2.4.1, 2.5.0")]


# health and layout

@pytest.mark.parametrize(("cluster_more", "expected"), [
    ({"health": {"status": "unavailable", "partitions": 256, "partitions_quorum": 200, "partitions_all_ok": 100}},
     [("bad", "paris: 56 of 256 partitions cannot be written")]),
    ({"health": {"status": "degraded", "partitions": 256, "partitions_quorum": 256, "partitions_all_ok": 0}},
     [("warn", "paris: the cluster is degraded")]),
    ({"health": None}, []),
    ({"layout_version": 0}, [("warn", "paris: the cluster has no layout yet")]),
])
def test_the_health_of_a_site(cluster_more: dict, expected: list) -> None:
    assert needs(alone(cluster=cluster([node(PARIS_1)], **cluster_more))) == expected


def test_what_all_sites_say_is_said_once() -> None:
    facts = calm()
    for fact in facts:
        fact["answers"]["cluster"]["cluster"]["health"]["status"] = "degraded"
    assert needs(facts) == [("warn", "paris, lyon: the cluster is degraded")]


def test_what_is_staged_drains_or_waits() -> None:
    found = one(busy())["layout"]
    assert found["staged"] == ["give 5e5e5e5e5e5e5e5e zone nice, 1.00 TB", "remove the role of 2b2b2b2b2b2b2b2b", "set the zone redundancy to 2"]
    assert (found["draining"], found["lagging"]) == ([3], ["3c3c3c3c3c3c3c3c"])
    assert found["without_role"] == ["6f6f6f6f6f6f6f6f"]
    assert found["awaiting"] == {"lyon": ["nodes without role: 6f6f6f6f6f6f6f6f"]}


def test_a_follower_that_declares_nothing_waits_for_what_it_sees() -> None:
    awaiting = {"reason": "nodes_without_role", "nodes": [LYON_1], "operations": [], "lines": []}
    facts = [seen("lyon", [node(LYON_1)], "follower", layout=layout([node(LYON_1)], awaiting=awaiting), plan_layout={"skipped": True})]
    assert one(facts)["layout"]["awaiting"] == {"lyon": ["nodes without role: 3c3c3c3c3c3c3c3c"]}
    idle = {**awaiting, "reason": "nothing_pending", "nodes": []}
    facts = [seen("lyon", [node(LYON_1)], "follower", layout=layout([node(LYON_1)], awaiting=idle), plan_layout={"skipped": True})]
    assert one(facts)["layout"]["awaiting"] == {}


@pytest.mark.requirement("OP-110")
def test_what_drains_by_name_only_does_not_drain() -> None:
    history = {"current_version": 4, "settled": True, "versions": [{"version": 4, "status": "current"}, {"version": 3, "status": "draining"}],
               "lagging": {PARIS_1: {"ack": 3}}}
    found = one(alone(layout=layout([node(PARIS_1)], history=history)))["layout"]
    assert (found["draining"], found["lagging"]) == ([], [])


def test_sites_that_know_different_layouts_need_a_look() -> None:
    facts = calm()
    facts[1]["answers"]["cluster"]["cluster"]["layout_version"] = 3
    assert needs(facts) == [("warn", "the sites know different layout versions: paris 4, lyon 3")]


# buckets, keys, tokens, blocks

@pytest.mark.parametrize(("row", "share", "level"), [
    (bucket("b", 899, 0, 1000), 89, "ok"),
    (bucket("b", 900, 0, 1000), 90, "near"),
    (bucket("b", 999, 0, 1000), 99, "near"),
    (bucket("b", 1000, 0, 1000), 100, "full"),
    (bucket("b", 0, 0, 0), 100, "full"),
    (bucket("b", 10, 95, 1000, 100), 95, "near"),
    (bucket("b", None, None, 1000), 0, "ok"),
])
def test_a_bucket_against_its_quota(row: dict, share: int, level: str) -> None:
    (found,) = one(alone(buckets={"buckets": [row]}))["buckets"]["limited"]
    assert (found["percent"], found["level"]) == (share, level)


def test_the_fullest_bucket_comes_first_and_those_without_quota_are_counted() -> None:
    found = one(busy())["buckets"]
    assert [row["name"] for row in found["limited"]] == ["logs", "media", "small"]
    assert found["others"] == {"buckets": 1, "bytes": 5 * 10**9, "objects": 77}
    assert ("bad", "bucket logs has used 100 % of its quota (1000 of 1000 objects)") in needs(busy())
    assert ("warn", "bucket media has used 95 % of its quota (95.0 GB of 100 GB)") in needs(busy())
    assert not any("bucket media" in text for _level, text in needs(busy(), quota_percent=96))


def test_a_bucket_without_global_name_has_another() -> None:
    local = {**bucket("b", 1, 1, 10), "aliases": [], "local_aliases": [{"key_id": "GK1", "alias": "mine"}]}
    nameless = {**local, "local_aliases": [], "id": "ab" * 32, "bytes": 0}
    found = one(alone(buckets={"buckets": [local, nameless]}))["buckets"]["limited"]
    assert [row["name"] for row in found] == ["mine", "abababababababab"]


def test_what_expires_within_the_days_given() -> None:
    rows = [(row["kind"], row["name"], row["expired"]) for row in one(busy())["expiring"]]
    assert rows == [("access key", "old", True), ("admin token", "ci", False), ("access key", "app", False)]
    assert [row["name"] for row in one(busy(), expiry_days=0)["expiring"]] == ["old"]
    assert [row["name"] for row in one(busy(), expiry_days=400)["expiring"]] == ["old", "ci", "app", "later"]


def test_what_expires_now_has_expired() -> None:
    facts = alone(keys={"access_keys": [key("k", "2026-06-01T12:00:00Z"), {**key("", "2026-06-01T12:00:00.5Z"), "name": ""}]})
    assert [(row["name"], row["expired"]) for row in one(facts)["expiring"]] == [("GK", False), ("k", True)]


def test_blocks_that_could_not_be_resynced() -> None:
    assert one(busy())["block_errors"] == [{"node": "paris-1 (1a1a1a1a1a1a1a1a)", "blocks": 2, "most_tries": 7}]


def test_another_site_tells_what_the_writer_may_not() -> None:
    facts = calm()
    facts[0]["answers"]["buckets"] = refused("HTTP 403")
    facts[1]["answers"]["buckets"] = {"buckets": [bucket("b", 1, 1, 10)]}
    assert [row["name"] for row in one(facts)["buckets"]["limited"]] == ["b"]
    assert needs(facts) == [("note", "paris: buckets could not be read: HTTP 403")]


# site files

@pytest.mark.parametrize(("plan", "state", "text"), [
    ({"actions": []}, "same", "as declared"),
    ({"actions": ["create bucket x"]}, "differs", "tenancy differs"),
    (refused("bad", "refused"), "unknown", "tenancy unknown"),
    ({"msg": "nobody knows"}, "unknown", "tenancy unknown"),
    ({"skipped": True}, "undeclared", "-"),
    ({}, "undeclared", "-"),
])
def test_a_site_file_against_what_is_there(plan: dict, state: str, text: str) -> None:
    facts = [seen("paris", [node(PARIS_1)], plan_tenancy=plan)]
    found = summarize(facts, NOW)
    assert found["clusters"][0]["sites"][0]["drift"]["tenancy"]["state"] == state
    assert found["lines"][1].endswith(text)


def test_an_answer_that_failed_is_a_site_that_cannot_be_reached() -> None:
    found = one(alone(cluster=refused("the token is refused")))
    assert (found["sites"][0]["reachable"], found["sites"][0]["message"]) == (False, "the token is refused")
    assert needs(alone(cluster=unreachable("no route"))) == [("bad", "paris cannot be reached: no route")]


def test_the_worst_comes_first() -> None:
    levels = [level for level, _text in needs(busy())]
    assert levels == sorted(levels, key=("bad", "warn", "note").index)
    assert set(levels) == {"bad", "warn", "note"}


# words

@pytest.mark.parametrize(("number", "text"), [(None, "unknown"), (0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (9995, "10.0 kB"), (99950, "100 kB"),
                                              (999_500, "1.00 MB"), (950_000, "950 kB"), (2**64 - 1, "18.4 EB"), (10**22, "10000 EB")])
def test_sizes_have_three_digits(number: int | None, text: str) -> None:
    assert size(number) == text


@pytest.mark.parametrize(("seconds", "text"), [(None, "never seen"), (0, "seen within the hour"), (3599, "seen within the hour"),
                                               (3600, "seen 1 hour ago"), (7300, "seen 2 hours ago"), (86400, "seen 1 day ago"),
                                               (200000, "seen 2 days ago")])
def test_ages_are_coarse(seconds: int | None, text: str) -> None:
    assert age(seconds) == text


def test_a_share_is_rounded_down() -> None:
    assert [percent(999, 1000), percent(1000, 1000), percent(1, 0), percent(0, 10)] == [99, 100, 100, 0]


def test_the_filter_refuses_what_is_no_time() -> None:
    assert status_summary(calm(), NOW, "90", "30")["attention"] == []
    with pytest.raises(AnsibleFilterError, match="'soon' is not a date"):
        status_summary(calm(), "soon")


def test_a_node_that_is_down_needs_a_look() -> None:
    facts = [seen("paris", [node(PARIS_1), down(PARIS_2)], "writer")]
    assert needs(facts) == [("warn", "paris: the cluster is degraded"), ("warn", "node paris-2 (2b2b2b2b2b2b2b2b) in paris is down")]
