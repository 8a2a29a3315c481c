# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Secret of a site shall hold."""

from __future__ import annotations

import base64

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._planners.credentials import KEYS, plan_credentials

OLD = {"rpc-secret": "a" * 64, "admin-token": "old-admin", "metrics-token": "old-metrics"}
FRESH = {"rpc-secret": "f" * 64, "admin-token": "fresh-admin", "metrics-token": "fresh-metrics"}
OURS = {"app.kubernetes.io/managed-by": "s3ops.garage"}


def secret(values: dict[str, str], labels: dict[str, str] | None = None) -> dict:
    data = {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
    return {"metadata": {"name": "paris-garage", "labels": labels}, "data": data}


def test_a_first_run_makes_what_is_not_given() -> None:
    plan = plan_credentials({"admin-token": "given", "rpc-secret": ""}, None, FRESH, False)
    assert plan["values"] == FRESH | {"admin-token": "given"}
    assert (plan["actions"], plan["faults"]) == (["create"], [])
    assert base64.b64decode(plan["data"]["admin-token"]) == b"given"


@pytest.mark.requirement("FC-100", "TD-05")
@pytest.mark.parametrize("labels", [OURS, None])
@pytest.mark.parametrize("in_use", [True, False])
def test_what_is_there_is_kept_whoever_made_it(labels: dict | None, in_use: bool) -> None:
    plan = plan_credentials({"rpc-secret": "a" * 64}, secret(OLD, labels), FRESH, in_use)
    assert plan["values"] == OLD
    assert (plan["actions"], plan["faults"]) == ([], [])


@pytest.mark.requirement("TD-09", "TD-12")
@pytest.mark.parametrize("key", ["rpc-secret", "admin-token"])
def test_a_value_that_got_lost_is_not_made_up_while_the_site_has_claims(key: str) -> None:
    live = secret({name: value for name, value in OLD.items() if name != key}, OURS)
    (fault,) = plan_credentials({}, live, FRESH, True)["faults"]
    assert fault.startswith(f"{key}: the Secret paris-garage has no such key")
    assert plan_credentials({key: OLD[key]}, live, FRESH, True)["faults"] == []
    assert plan_credentials({}, live, FRESH, False)["actions"] == [f"set {key}"]


@pytest.mark.requirement("TD-09")
def test_a_secret_that_got_lost_is_not_made_up_while_the_site_has_claims() -> None:
    plan = plan_credentials({}, None, FRESH, True)
    assert [fault.split(":")[0] for fault in plan["faults"]] == ["rpc-secret", "admin-token"]


def test_a_metrics_token_may_be_made_again() -> None:
    plan = plan_credentials({}, secret({key: OLD[key] for key in KEYS[:2]}, OURS), FRESH, True)
    assert (plan["actions"], plan["faults"]) == (["set metrics-token"], [])


@pytest.mark.requirement("OP-004", "OP-005")
def test_the_rpc_secret_of_a_site_with_claims_stays() -> None:
    given = {"rpc-secret": "b" * 64}
    assert plan_credentials(given, secret(OLD, OURS), FRESH, False)["actions"] == ["set rpc-secret"]
    (fault,) = plan_credentials(given, secret(OLD, OURS), FRESH, True)["faults"]
    assert fault.startswith("rpc-secret: the site file gives another value")


def test_a_token_may_change() -> None:
    plan = plan_credentials({"admin-token": "new"}, secret(OLD, OURS), FRESH, True)
    assert (plan["actions"], plan["faults"]) == (["set admin-token"], [])


def test_a_secret_that_is_not_ours_is_not_changed() -> None:
    (fault,) = plan_credentials({"admin-token": "new"}, secret(OLD), FRESH, True)["faults"]
    assert "is not changed (set admin-token)" in fault


@pytest.mark.requirement("GS-03")
@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("admin-token", "with.dot", "must not contain a dot"),
        ("metrics-token", "with.dot", "must not contain a dot"),
        ("rpc-secret", "a" * 63, "must be 64 hexadecimal digits"),
        ("admin-token", "ends\n", "begins or ends with white space"),
        ("admin-token", "a b", "must be printable ASCII without spaces"),
        ("admin-token", "\u00e9", "must be printable ASCII without spaces"),
    ],
)
def test_values_that_garage_cannot_use(key: str, value: str, words: str) -> None:
    for plan in (plan_credentials({key: value}, None, FRESH, False), plan_credentials({}, secret(OLD | {key: value}), FRESH, False)):
        (fault,) = plan["faults"]
        assert fault.startswith(f"{key}: {words}")
        assert value not in fault


def test_what_is_not_text() -> None:
    live = secret(OLD, OURS)
    live["data"]["admin-token"] = base64.b64encode(b"\xff").decode()
    assert plan_credentials({}, live, FRESH, False)["faults"] == ["admin-token: the Secret paris-garage holds something that is not text"]


def test_hashes_tell_values_apart_and_nothing_of_them() -> None:
    plan, other = plan_credentials({}, secret(OLD), FRESH, True), plan_credentials({"admin-token": "x"}, secret(OLD, OURS), FRESH, True)
    assert plan["hash"] != other["hash"]
    assert plan["rpc_hash"] == other["rpc_hash"]
    assert not any(value in plan["hash"] + plan["rpc_hash"] + str(plan["faults"]) + str(plan["actions"]) for value in OLD.values())


@pytest.mark.requirement("TD-31", "TD-38")
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("given", [None, "9" * 64])
def test_a_rotated_value_is_that_of_the_site_file_or_a_fresh_one(key: str, given: str | None) -> None:
    plan = plan_credentials({key: given} if given else {}, secret(OLD, OURS), FRESH, True, [key])
    assert plan["values"] == OLD | {key: given or FRESH[key]}
    assert (plan["actions"], plan["faults"], plan["rotated"]) == ([f"set {key}"], [], [key])


@pytest.mark.requirement("TD-31")
def test_a_value_of_the_site_file_that_is_in_force_already_is_not_replaced_by_another() -> None:
    plan = plan_credentials({"metrics-token": "old-metrics"}, secret(OLD, OURS), FRESH, True, ["metrics-token"])
    assert (plan["actions"], plan["faults"], plan["rotated"]) == ([], [], [])


@pytest.mark.requirement("TD-09", "TD-31")
@pytest.mark.parametrize("live", [None, secret({}, OURS)])
def test_what_is_lost_is_not_rotated(live: dict | None) -> None:
    faults = plan_credentials({}, live, FRESH, True, ["admin-token"])["faults"]
    assert any("there is nothing to rotate" in fault for fault in faults)


@pytest.mark.requirement("TD-31")
def test_a_secret_of_somebody_else_is_not_rotated() -> None:
    (fault,) = plan_credentials({}, secret(OLD), FRESH, True, ["admin-token"])["faults"]
    assert "does not carry the label" in fault
