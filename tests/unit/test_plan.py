# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans: what is read off them, how they are joined, and that no secret can be read off them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._plan import Call, Plan, Ref, Secret, combine, difference, masked, resolve, secrets_in
from hypothesis import given
from hypothesis import strategies as st

CREATE = Call("CreateBucket", "create bucket media", body={"globalAlias": "media"}, binds="media")
LIMIT = Call("UpdateBucket", "set quotas of bucket media", query={"id": Ref("media", "id")})

LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5))
TREES = st.recursive(LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)), max_leaves=10)
MAPPINGS = st.dictionaries(st.text(max_size=3), TREES, max_size=4)
# A word that occurs nowhere else, at any depth among other things.
HIDDEN_WORD = "s3cr3t-w0rd"
SECRET_TREES = st.recursive(st.one_of(LEAVES, st.just(Secret(HIDDEN_WORD))),
                            lambda inner: st.one_of(st.lists(inner, max_size=3), st.tuples(inner, inner),
                                                    st.dictionaries(st.text(max_size=3), inner, max_size=3)), max_leaves=10)


def test_a_plan_without_calls_changes_nothing():
    plan = Plan("bucket media", before={"a": 1}, after={"a": 2})
    assert (plan.changed, plan.would, plan.diff) == (False, (), {"before": {}, "after": {}})


def test_everything_is_read_off_the_calls():
    plan = Plan("bucket media", before=None, after={"id": None, "quota": 7}, calls=(CREATE, LIMIT))
    assert plan.changed
    assert plan.would == ("create bucket media", "set quotas of bucket media")
    assert plan.diff == {"before": {}, "after": {"id": None, "quota": 7}, "before_header": "bucket media", "after_header": "bucket media"}
    assert plan.prediction == {"id": None, "quota": 7}
    assert replace(plan, predicted=[1]).prediction == [1]
    assert replace(plan, predicted=[]).prediction == []


@pytest.mark.parametrize(("before", "after", "expected"), [
    ({"a": 1, "b": 2}, {"a": 1, "b": 3}, ({"b": 2}, {"b": 3})),
    ({"q": {"size": 1, "objects": 2}}, {"q": {"size": 1, "objects": 3}}, ({"q": {"objects": 2}}, {"q": {"objects": 3}})),
    ({"l": [1, 2]}, {"l": [1, 3]}, ({"l": [1, 2]}, {"l": [1, 3]})),
    ({"a": 0}, {"a": None}, ({"a": 0}, {"a": None})),
    ({"a": 1}, {}, ({"a": 1}, {"a": None})),
    ({"a": None}, {}, ({}, {})),
    (None, {"a": 1}, ({}, {"a": 1})),
    ({"a": 1}, None, ({"a": 1}, {})),
    (None, None, ({}, {})),
    ([1], [2], ([1], [2])),
    ({"w": {"x": 1}}, {"w": None}, ({"w": {"x": 1}}, {"w": None})),
])
def test_only_what_differs_is_in_a_diff(before, after, expected):
    assert difference(before, after) == expected


@given(MAPPINGS, MAPPINGS)
def test_a_diff_is_all_of_the_change(before, after):
    left, right = difference(before, after)
    assert left.keys() == right.keys()
    assert difference(before, before) == ({}, {})
    assert all(before.get(name) != after.get(name) for name in left)
    assert all(before.get(name) == after.get(name) for name in {*before, *after} - left.keys())


def test_plans_are_joined_in_order():
    one = Plan("key app", before=None, after={"n": 1}, calls=(replace(CREATE, why="one"),), notes=("a",))
    none = Plan("key idle", before={"n": 2}, after={"n": 2}, notes=("b",))
    two = Plan("bucket media", before={"n": 3}, after={"n": 4}, calls=(replace(CREATE, why="two"), LIMIT), notes=("c",))
    plan = combine("tenancy", [[one, none], [], [two]])
    assert plan.subject == "tenancy"
    assert plan.would == ("one", "two", "set quotas of bucket media")
    assert plan.notes == ("a", "b", "c")
    assert plan.stages == ((one,), (), (two,))
    assert plan.before == {"key app": None, "bucket media": {"n": 3}}
    assert plan.after == {"key app": {"n": 1}, "bucket media": {"n": 4}}
    assert not combine("tenancy", [[none]]).changed
    assert not combine("tenancy", []).changed


def test_references_and_secrets_are_opened_at_any_depth():
    value = {"a": [Ref("media", "id"), {"b": Secret("s")}], "c": (1, Ref("key", "name")), "d": None, "e": 0, "f": "x"}
    assert resolve(value, {"media": {"id": "1"}, "key": {"name": "app"}}) == {"a": ["1", {"b": "s"}], "c": [1, "app"], "d": None, "e": 0, "f": "x"}


@given(TREES)
def test_what_holds_neither_goes_out_as_it_is(value):
    assert resolve(value, {}) == value
    assert masked(value) == value
    assert list(secrets_in(value)) == []


@given(SECRET_TREES)
def test_no_secret_can_be_read_off_a_plan(value):
    holds = HIDDEN_WORD in json.dumps(resolve(value, {}))
    assert (HIDDEN_WORD in secrets_in(value)) is holds
    call = Call("ImportKey", "import key", body=value, query={"q": value})
    plan = Plan("key", before={"x": 0}, after={"x": value}, calls=(call,), predicted=value, undo=call)
    shown = [repr(plan), str(plan), f"{plan}", repr(value), f"{value}", json.dumps(masked(value)), json.dumps(plan.diff), repr(combine("all", [[plan]]))]
    assert not any(HIDDEN_WORD in text for text in shown)


@pytest.mark.parametrize("show", [repr, str, "{}".format, "{!r}".format, "%s".__mod__])
def test_a_secret_shows_nothing(show):
    assert HIDDEN_WORD not in show(Secret(HIDDEN_WORD))


def test_a_secret_cannot_be_printed_by_accident():
    with pytest.raises(TypeError):
        json.dumps({"secret": Secret(HIDDEN_WORD)})


def test_secrets_are_equal_by_value():
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert difference({"s": Secret("a")}, {"s": Secret("a")}) == ({}, {})
    assert masked(difference({"s": Secret("a")}, {"s": Secret("b")})[1]) == {"s": "********"}
