# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The executor with several subjects at a time."""

from __future__ import annotations

import threading

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._errors import PlanError, TransportError
from ansible_collections.s3ops.garage.plugins.module_utils._executor import Task, converge
from ansible_collections.s3ops.garage.plugins.module_utils._plan import Call, Plan, Ref, combine


class Wire:
    """A client whose calls meet at a barrier, or fail by their endpoint and name; notes how many were in flight together."""

    retry_delay = 0

    def __init__(self, fails=None, meet=0):
        self.fails, self.sent, self.warnings, self.secrets, self.server_time = fails or {}, [], [], [], None
        self.barrier = threading.Barrier(meet) if meet else None
        self.now, self.most, self.lock = 0, 0, threading.Lock()

    def call(self, endpoint, query=None, body=None):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.sent.append((endpoint, (body or {}).get("name")))
        try:
            if self.barrier:
                # Breaks, and so fails the test, when the lanes are not in flight together.
                self.barrier.wait(timeout=60)
            if error := self.fails.pop((endpoint, (body or {}).get("name")), None):
                raise error
            return {"id": f"{endpoint} {(body or {}).get('name')}"}
        finally:
            with self.lock:
                self.now -= 1


def lanes(*stages):
    return combine("tenancy", [[Plan(f"thing {name}", after={"made": True}, calls=tuple(calls)) for name, calls in stage.items()] for stage in stages])


def make(name, **options):
    return Call("CreateKey", f"create {name}", body={"name": name}, binds=name, **options)


def tune(name, needs):
    return Call("UpdateKey", f"tune {name}", query={"id": Ref(needs, "id")}, body={"name": name})


def staged(plan, **options):
    """A task that has ``plan`` to do, and nothing when it is looked at again."""
    plans = iter([plan, Plan("tenancy"), Plan("tenancy")])
    return Task(read=lambda client, doubts: doubts, plan=lambda live: next(plans), show=lambda live: "shown", **options)


def test_subjects_of_one_stage_are_in_flight_together_and_never_more_than_allowed():
    plan = lanes({name: [make(name)] for name in "abcdefgh"})
    wire = Wire(meet=4)
    converge(staged(plan, in_flight=4), wire)
    assert wire.most == 4 and len(wire.sent) == 8


def test_the_calls_of_a_subject_stay_in_order_and_a_stage_waits_for_the_one_before():
    plan = lanes({name: [make(name), tune(name, name)] for name in "abcd"}, {"late": [tune("late", "d")]})
    wire = Wire()
    outcome = converge(staged(plan, in_flight=4), wire)
    for name in "abcd":
        assert wire.sent.index(("CreateKey", name)) < wire.sent.index(("UpdateKey", name)) < wire.sent.index(("UpdateKey", "late"))
    assert sorted(outcome.done) == sorted(plan.would)


def test_one_at_a_time_unless_more_is_allowed():
    wire = Wire()
    converge(staged(lanes({name: [make(name)] for name in "abcd"})), wire)
    assert wire.most == 1 and [name for endpoint, name in wire.sent] == list("abcd")


def test_an_error_stops_the_lanes_beside_it_and_the_stages_after_it():
    plan = lanes({name: [make(name)] for name in "abcd"}, {"late": [tune("late", "d")]})
    wire = Wire(fails={("CreateKey", "b"): PlanError("no")})
    with pytest.raises(PlanError) as caught:
        converge(staged(plan), wire)
    assert wire.sent == [("CreateKey", "a"), ("CreateKey", "b")]
    assert caught.value.done == ("create a",) and caught.value.left == ("create b", "create c", "create d", "tune late")


def test_going_on_tries_the_others_but_not_what_needs_the_failed_one():
    plan = lanes({name: [make(name)] for name in "abc"}, {"on b": [tune("on b", "b")], "on c": [tune("on c", "c")]})
    wire = Wire(fails={("CreateKey", "b"): PlanError("no")})
    outcome = converge(staged(plan, go_on=True), wire)
    assert outcome.done == ("create a", "create c", "tune on c") and outcome.result == "shown"
    assert {subject: error.message for subject, error in outcome.failed.items()} == {
        "thing b": "no", "thing on b": "tune on b: not tried, because b could not be made"}


def test_several_writes_may_be_in_doubt_at_once():
    seen = []
    plans = iter([lanes({name: [make(name)] for name in "ab"}), lanes({"b": [make("b")]}), Plan("tenancy")])
    wire = Wire(fails={("CreateKey", name): TransportError("cut", sent=True, endpoint="CreateKey") for name in "ab"}, meet=2)

    def read(client, doubts):
        seen.append(doubts)
        if doubts:
            wire.barrier = None

    outcome = converge(Task(read, plan=lambda live: next(plans), show=lambda live: None, in_flight=2), wire)
    assert [sorted(doubt.call.why for doubt in doubts) for doubts in seen] == [[], ["create a", "create b"], []]
    # What is not wanted any more after a new look has happened.
    assert sorted(outcome.done) == ["create a", "create b"] and outcome.failed == {}


def test_a_fault_that_a_new_look_may_mend_comes_before_one_it_cannot():
    plans = iter([lanes({name: [make(name)] for name in "ab"}), Plan("tenancy"), Plan("tenancy")])
    wire = Wire(fails={("CreateKey", "a"): PlanError("no"), ("CreateKey", "b"): TransportError("cut", sent=True, endpoint="CreateKey")}, meet=2)
    task = Task(read=lambda client, doubts: None, plan=lambda live: next(plans), show=lambda live: "read again", in_flight=2)
    assert converge(task, wire).result == "read again"
