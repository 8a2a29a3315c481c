# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the files with credentials beside a Garage hold: the same on all hosts, made once, never in the place of what nodes know."""

from __future__ import annotations

import hashlib

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils._planners.credentials_files import plan_files

FILES = ["rpc_secret", "admin_token", "metrics_token"]
NONE = dict.fromkeys(FILES)


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


HELD = {"rpc_secret": sha("a" * 64), "admin_token": sha("admin"), "metrics_token": sha("metrics")}


def plan(seen: dict, provided: dict | None = None, in_use: tuple[str, ...] = ()) -> dict:
    return plan_files(provided or {}, seen, in_use, "/etc/garage")


@pytest.mark.requirement("FC-100")
def test_they_are_made_once_and_then_left() -> None:
    first = plan({"one": NONE, "two": NONE})
    assert (first["faults"], first["from"]) == ([], dict.fromkeys(FILES, "fresh"))
    assert first["write"] == {"one": FILES, "two": FILES}
    again = plan({"one": HELD, "two": HELD}, in_use=("one", "two"))
    assert (again["faults"], again["write"]) == ([], {"one": [], "two": []})


@pytest.mark.requirement("TD-38", "TD-40")
def test_a_new_host_gets_what_the_others_have() -> None:
    found = plan({"new": NONE, "one": HELD}, in_use=("one",))
    assert (found["faults"], found["from"], found["write"]) == ([], dict.fromkeys(FILES, "one"), {"new": FILES, "one": []})


@pytest.mark.requirement("TD-38", "TD-47")
def test_what_is_given_is_taken_with_or_without_a_line_break() -> None:
    given = {"rpc_secret": "a" * 64, "admin_token": "other"}
    found = plan({"one": HELD | {"rpc_secret": sha("a" * 64 + "\n")}}, given, in_use=("one",))
    assert (found["faults"], found["write"], found["from"]["admin_token"]) == ([], {"one": ["admin_token"]}, "provided")


@pytest.mark.requirement("OP-005", "TD-09", "GS-03")
@pytest.mark.parametrize(("seen", "given", "in_use", "fault"), [
    ({"one": HELD}, {"rpc_secret": "b" * 64}, ("one",), "rpc_secret: /etc/garage/rpc_secret on one holds another value than the one given"),
    ({"one": HELD, "two": HELD | {"rpc_secret": sha("x")}}, {}, (), "rpc_secret: /etc/garage/rpc_secret on two holds another value than on one"),
    ({"one": HELD, "two": HELD | {"admin_token": sha("x")}}, {}, (), "admin_token: /etc/garage/admin_token on two holds another value than on one"),
    ({"one": HELD | {"rpc_secret": None}}, {}, ("one",), "rpc_secret: no host has /etc/garage/rpc_secret, and the nodes on one"),
    ({"one": HELD | {"admin_token": None}}, {}, ("one",), "admin_token: no host has /etc/garage/admin_token, and the nodes on one"),
    ({"one": NONE}, {"admin_token": "with.dot"}, (), "admin_token: must not contain a dot"),
    ({"one": NONE}, {"metrics_token": "with.dot"}, (), "metrics_token: must not contain a dot"),
    ({"one": NONE}, {"rpc_secret": "short"}, (), "rpc_secret: must be 64 hexadecimal digits"),
])
def test_what_cannot_be_is_told_without_a_secret(seen: dict, given: dict, in_use: tuple[str, ...], fault: str) -> None:
    (told,) = plan(seen, given, in_use)["faults"]
    assert told.startswith(fault)
    assert not any(value in told for value in given.values())


def test_a_lost_metrics_token_is_made_again_and_an_rpc_secret_without_nodes_may_be_exchanged() -> None:
    assert plan({"one": HELD | {"metrics_token": None}}, in_use=("one",))["write"] == {"one": ["metrics_token"]}
    assert plan({"one": HELD}, {"rpc_secret": "b" * 64})["write"] == {"one": ["rpc_secret"]}
