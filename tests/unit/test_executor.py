# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The executor over a loopback server: what is sent under every fault of a write, what is read again, and what an error tells."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from datetime import datetime, timezone

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils import _executor
from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._errors import (
    Conflict,
    Denied,
    GateClosed,
    NotFound,
    PlanError,
    ServerFault,
    StaleVersion,
    TransportError,
    Unavailable,
    VerifyMismatch,
)
from ansible_collections.s3ops.garage.plugins.module_utils._executor import Task, converge, send
from ansible_collections.s3ops.garage.plugins.module_utils._plan import Call, Plan, Ref, Secret, combine
from ansible_collections.s3ops.garage.plugins.module_utils._transport import Connection, HttpTransport
from tests.fakes import loopback
from tests.fakes.loopback import Loopback, answer, error

ABSENT = error(404, "NoSuchBucket", "Bucket not found: media")
BUCKET = {"id": "b" * 64, "quota": None}
LIMITED = {**BUCKET, "quota": 7}
LATE = {"Date": "Thu, 01 Jan 2026 00:10:00 GMT"}


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    loopback.clean_environment(monkeypatch)


@pytest.fixture
def connect():
    made = []

    def make(url, **options):
        made.append(Client(HttpTransport(Connection(url, "token", "option api_token", timeout=20.0)), **{"retry_delay": 0, "retries": 0, **options}))
        return made[-1]

    yield make
    for client in made:
        client.close()


@dataclass
class Bucket:
    """A bucket that must exist with a quota of 7: at most two writes. Notes what its reader was told and how often it was planned."""

    undo: Call | None = None
    check: object = None
    conflict: str | None = None

    def __post_init__(self):
        self.doubts, self.plans = [], 0

    @property
    def task(self):
        return Task(read=self.read, plan=self.plan, show=lambda live: {"shown": live})

    def read(self, client, doubts):
        self.doubts.append(doubts)
        try:
            return client.call("GetBucketInfo", {"globalAlias": "media"})
        except NotFound:
            return None

    def plan(self, live):
        self.plans += 1
        calls = []
        if live is None:
            calls.append(Call("CreateBucket", "create bucket media", body={"globalAlias": "media"}, binds="media", check=self.check,
                              conflict=self.conflict))
        if live is None or live["quota"] != 7:
            calls.append(Call("UpdateBucket", "set quotas of bucket media", query={"id": live["id"] if live else Ref("media", "id")},
                              body={"quotas": {"maxSize": 7}}))
        return Plan("bucket media", before=live, after={**(live or {"id": None}), "quota": 7}, calls=tuple(calls), undo=self.undo)


def fails(kind, task, client, **options):
    with pytest.raises(kind) as caught:
        converge(task, client, **options)
    return caught.value


# the straight way

def test_what_is_there_is_left_alone(connect):
    with Loopback(answer(LIMITED)) as server:
        outcome = converge(Bucket().task, connect(server.url))
    assert (outcome.plan.changed, outcome.result, outcome.done) == (False, LIMITED, ())
    assert server.endpoints == ["GetBucketInfo"]


def test_a_plan_is_sent_in_order_with_its_references_and_read_back(connect):
    with Loopback(ABSENT, answer(BUCKET), answer(LIMITED), answer(LIMITED)) as server:
        outcome = converge(Bucket().task, connect(server.url))
    assert server.endpoints == ["GetBucketInfo", "CreateBucket", "UpdateBucket", "GetBucketInfo"]
    assert server.requests[1].json == {"globalAlias": "media"}
    assert server.requests[2].query == {"id": "b" * 64}
    assert server.requests[2].json == {"quotas": {"maxSize": 7}}
    assert outcome.result == {"shown": LIMITED}
    assert outcome.done == ("create bucket media", "set quotas of bucket media")
    assert outcome.answers == {"media": BUCKET}
    assert outcome.plan.before is None


@pytest.mark.parametrize("live", [ABSENT, answer(BUCKET)])
def test_check_mode_reads_and_sends_nothing(connect, live):
    with Loopback(live) as server:
        outcome = converge(Bucket().task, connect(server.url), check=True)
    assert outcome.plan.changed
    assert outcome.result["quota"] == 7
    assert server.endpoints == ["GetBucketInfo"]


def test_secrets_go_out_and_stay_out_of_sight(connect):
    task = Task(read=lambda client, doubts: client.call("GetKeyInfo", {"id": "GK1"}), show=lambda live: live,
                plan=lambda live: Plan("key", calls=(Call("ImportKey", "import key", body={"deep": [{"secretAccessKey": Secret("s3cr3t")}]}),)))
    with Loopback(answer({}), error(400, "InvalidRequest", "Invalid key format: s3cr3t")) as server:
        found = fails(Exception, task, connect(server.url))
    assert server.requests[1].json == {"deep": [{"secretAccessKey": "s3cr3t"}]}
    assert "s3cr3t" not in str(found)


# a write of unknown fate

UNKNOWN = {
    "cut before": loopback.cut_before,
    "cut during": loopback.cut_during,
    "cut after": loopback.cut_after,
    "closed": loopback.closed_after,
    "truncated": loopback.truncated,
    "html": loopback.html,
    "502": lambda: loopback.html(502),
    "503": lambda: error(503, "ServiceUnavailable", "Could not reach quorum"),
    "redirect": lambda: loopback.redirect("/login"),
}


@pytest.mark.requirement("FC-032", "FC-088", "OP-120")
@pytest.mark.parametrize("fault", UNKNOWN)
def test_a_create_that_happened_is_not_repeated(connect, fault):
    bucket = Bucket()
    with Loopback(ABSENT, UNKNOWN[fault](), answer(BUCKET), answer(LIMITED), answer(LIMITED)) as server:
        client = connect(server.url)
        outcome = converge(bucket.task, client)
    sent = ["GetBucketInfo", "CreateBucket", "GetBucketInfo", "UpdateBucket", "GetBucketInfo"]
    assert server.endpoints == [name for name in sent if fault != "cut before" or name != "CreateBucket"]
    assert outcome.result == {"shown": LIMITED}
    assert outcome.done == ("create bucket media", "set quotas of bucket media")
    assert len(client.warnings) == 1
    assert client.warnings[0].endswith("; reading the state again before anything else is sent")
    assert bucket.plans == 3


@pytest.mark.requirement("FC-032", "FC-088")
@pytest.mark.parametrize("fault", UNKNOWN)
def test_a_create_that_did_not_happen_is_sent_a_second_time_and_no_more(connect, fault):
    """One reading and one decision between the two."""
    bucket = Bucket()
    with Loopback(ABSENT, UNKNOWN[fault](), ABSENT, UNKNOWN[fault]()) as server:
        found = fails((TransportError, Unavailable), bucket.task, connect(server.url))
    assert [name for name in server.endpoints if name == "GetBucketInfo"] == ["GetBucketInfo"] * 2
    assert server.endpoints.count("CreateBucket") == (0 if fault == "cut before" else 2)
    assert bucket.plans == 2
    assert "it is not known whether this was done: create bucket media" in found.message
    assert (found.done, found.left) == ((), ())


@pytest.mark.requirement("FC-088")
def test_a_create_that_timed_out_is_looked_up_first(connect):
    class Impatient(HttpTransport):
        """The time-out must not meet the reads on a slow machine."""

        def send(self, method, path, query, body, label):
            self.connection = replace(self.connection, timeout=0.3 if label == "CreateBucket" else 20.0)
            return super().send(method, path, query, body, label)

    with Loopback(ABSENT, loopback.stall(), answer(LIMITED), answer(LIMITED)) as server:
        client = connect(server.url)
        client.transport = Impatient(client.transport.connection)
        outcome = converge(Bucket().task, client)
    assert server.endpoints.count("CreateBucket") == 1
    assert outcome.result == {"shown": LIMITED}


def test_the_reader_is_told_of_the_call_in_doubt_and_of_the_clock_before_it(connect):
    """The clock that comes with a 503 is minutes late: by it, what the call left behind would be too old to be ours."""
    bucket = Bucket()
    early = {"Date": "Thu, 01 Jan 2026 00:00:00 GMT"}
    refusal = error(503, "ServiceUnavailable", "Could not reach quorum", headers=LATE)
    with Loopback(answer(BUCKET, headers=early), refusal, answer(LIMITED), answer(LIMITED)) as server:
        converge(bucket.task, connect(server.url))
    first, second, last = bucket.doubts
    assert (first, last) == ((), ())
    assert [doubt.call.endpoint for doubt in second] == ["UpdateBucket"]
    assert second[0].since == datetime(2026, 1, 1, tzinfo=timezone.utc)


def test_of_several_calls_of_one_kind_the_right_one_is_in_doubt(connect):
    seen = []

    def read(client, doubts):
        seen.append(doubts)
        return client.call("GetBucketInfo", {"id": "1"})

    def plan(live):
        missing = [name for name in ("a", "b", "c") if name not in live]
        return Plan("bucket", calls=tuple(Call("AddBucketAlias", f"add alias {name}", body={"globalAlias": name}) for name in missing))

    with Loopback(answer([]), answer({}), loopback.cut_after(), answer(["a", "b"]), answer({}), answer(["a", "b", "c"])) as server:
        outcome = converge(Task(read, plan, lambda live: live), connect(server.url))
    assert [doubt.call.body for doubt in seen[1]] == [{"globalAlias": "b"}]
    assert [request.json["globalAlias"] for request in server.requests if request.endpoint == "AddBucketAlias"] == ["a", "b", "c"]
    assert outcome.done == ("add alias a", "add alias b", "add alias c")


def test_what_certainly_was_not_sent_is_not_in_doubt(connect):
    bucket = Bucket()
    with Loopback(ABSENT) as server:
        client = connect(server.url, retries=0)
        read = bucket.read

        def read_and_go(client, doubts):
            live = read(client, doubts)
            # From here on nobody listens.
            client.transport.close()
            client.transport.url = "http://127.0.0.1:1"
            return live

        bucket.read = read_and_go
        found = fails(TransportError, bucket.task, client)
    assert server.endpoints == ["GetBucketInfo"]
    assert bucket.doubts == [(), ()]
    assert "not known" not in found.message


def test_when_the_state_cannot_be_read_again_the_doubt_is_said(connect):
    with Loopback(ABSENT, loopback.cut_after(), error(403, "AccessDenied", "x")) as server:
        found = fails(Denied, Bucket().task, connect(server.url))
    assert found.message.endswith("; it is not known whether this was done: create bucket media")


def test_what_came_before_the_doubt_is_done(connect):
    with Loopback(ABSENT, answer(BUCKET), loopback.cut_after(), error(403, "AccessDenied", "x")) as server:
        found = fails(Denied, Bucket().task, connect(server.url))
    assert found.done == ("create bucket media",)
    assert found.left == ("set quotas of bucket media",)
    assert "not known whether this was done: set quotas of bucket media" in found.message


def test_after_a_doubt_the_state_may_forbid_to_go_on(connect):
    bucket = Bucket()

    def read(client, doubts):
        if doubts:
            raise PlanError("two buckets without a name appeared meanwhile")
        return None

    with Loopback(loopback.cut_after()) as server:
        found = fails(PlanError, Task(read, bucket.plan, bucket.task.show), connect(server.url))
    assert server.endpoints == ["CreateBucket"]
    assert "two buckets" in found.message


def test_the_pause_before_reading_again_is_the_one_that_was_asked_for(connect, monkeypatch):
    slept = []
    monkeypatch.setattr(_executor.time, "sleep", slept.append)
    with Loopback(answer(BUCKET), loopback.cut_after(), answer(LIMITED), answer(LIMITED)) as server:
        converge(Bucket().task, connect(server.url, retry_delay=2.5))
    assert slept == [2.5]


# a refusal

@pytest.mark.requirement("TD-41")
@pytest.mark.parametrize(("step", "kind"), [
    (error(409, "BucketAlreadyExists", "x"), Conflict),
    (error(500, "InternalError", "disk full"), ServerFault),
    (error(403, "AccessDenied", "x"), Denied),
    (error(404, "NoSuchBucket", "x"), NotFound),
])
def test_a_refused_write_is_the_end(connect, step, kind):
    with Loopback(ABSENT, answer(BUCKET), step) as server:
        found = fails(kind, Bucket().task, connect(server.url))
    assert server.endpoints == ["GetBucketInfo", "CreateBucket", "UpdateBucket"]
    assert found.done == ("create bucket media",)
    assert found.left == ("set quotas of bucket media",)


def test_what_a_conflict_means_is_said_in_the_words_of_the_call(connect):
    with Loopback(ABSENT, error(409, "BucketAlreadyExists", "x")) as server:
        found = fails(Conflict, Bucket(conflict="somebody else made it").task, connect(server.url))
    assert found.message == "somebody else made it"


UNDO = Call("DeleteBucket", "it was deleted again", query={"id": Ref("media", "id")})


def test_a_refusal_half_way_is_put_back(connect):
    with Loopback(ABSENT, answer(BUCKET), error(500, "InternalError", "no"), answer(None)) as server:
        found = fails(ServerFault, Bucket(undo=UNDO).task, connect(server.url))
    assert server.endpoints[-1] == "DeleteBucket"
    assert found.message.endswith("; it was deleted again")
    assert (found.done, found.left) == ((), ())


def test_when_putting_back_fails_too_both_are_told(connect):
    with Loopback(ABSENT, answer(BUCKET), error(500, "InternalError", "first"), loopback.cut_after()) as server:
        found = fails(ServerFault, Bucket(undo=UNDO).task, connect(server.url))
    assert "first" in found.message
    assert "putting it back failed as well: DeleteBucket at" in found.message
    assert found.done == ("create bucket media",)
    assert found.left == ("set quotas of bucket media",)


def test_nothing_done_is_nothing_to_put_back(connect):
    with Loopback(ABSENT, error(500, "InternalError", "no")) as server:
        fails(ServerFault, Bucket(undo=UNDO).task, connect(server.url))
    assert server.endpoints == ["GetBucketInfo", "CreateBucket"]


# a layout version that moved

STALE = error(500, "InternalError", "Internal error: Invalid new layout version")


def apply_task(seen):
    def read(client, doubts):
        seen.append(doubts)
        return client.call("GetClusterLayout")

    def plan(live):
        calls = () if live["settled"] else (Call("ApplyClusterLayout", "apply", body={"version": live["version"] + 1}),)
        return Plan("layout", calls=calls)

    return Task(read, plan, lambda live: live)


@pytest.mark.requirement("OP-109", "FC-008")
def test_a_stale_version_is_read_again_and_tried_once_more(connect):
    seen = []
    layouts = [answer({"version": version, "settled": settled}) for version, settled in ((1, False), (2, False), (3, True))]
    with Loopback(layouts[0], STALE, layouts[1], answer({}), layouts[2]) as server:
        converge(apply_task(seen), connect(server.url))
    assert [request.json for request in server.requests if request.endpoint == "ApplyClusterLayout"] == [{"version": 2}, {"version": 3}]
    assert seen == [(), (), ()]


@pytest.mark.requirement("OP-109", "FC-008")
def test_a_version_that_is_stale_twice_is_the_end(connect):
    layout = answer({"version": 1, "settled": False})
    with Loopback(layout, STALE, layout, STALE) as server:
        found = fails(StaleVersion, apply_task([]), connect(server.url))
    assert server.endpoints == ["GetClusterLayout", "ApplyClusterLayout"] * 2
    assert "not known" not in found.message


@pytest.mark.requirement("OP-109", "FC-008")
def test_when_the_other_writer_wanted_the_same_nothing_more_is_sent(connect):
    done = answer({"version": 2, "settled": True})
    with Loopback(answer({"version": 1, "settled": False}), STALE, done, done) as server:
        outcome = converge(apply_task([]), connect(server.url))
    assert server.endpoints.count("ApplyClusterLayout") == 1
    assert outcome.plan.changed


@pytest.mark.requirement("LW-13", "LW-16")
def test_a_closed_gate_is_no_doubt(connect):
    with Loopback(answer({"version": 1, "settled": False})) as server:
        found = fails(GateClosed, apply_task([]), connect(server.url, site_role="follower"))
    assert server.endpoints == ["GetClusterLayout"]
    assert (found.done, found.left) == ((), ())


# what the answers show

@pytest.mark.requirement("OP-107")
def test_an_answer_that_is_not_as_it_must_be_stops_the_run(connect):
    bucket = Bucket(check=lambda found: None if found["quota"] == 3 else f"its answer shows a quota of {found['quota']}")
    with Loopback(ABSENT, answer(BUCKET)) as server:
        found = fails(VerifyMismatch, bucket.task, connect(server.url))
    assert server.endpoints == ["GetBucketInfo", "CreateBucket"]
    assert "CreateBucket was accepted, but its answer shows a quota of None" in found.message
    assert found.done == ("create bucket media",)
    assert found.left == ("set quotas of bucket media",)


def test_a_change_that_is_accepted_but_not_shown_fails(connect):
    with Loopback(answer(BUCKET), answer(BUCKET), answer(BUCKET)) as server:
        found = fails(VerifyMismatch, Bucket().task, connect(server.url))
    assert server.endpoints == ["GetBucketInfo", "UpdateBucket", "GetBucketInfo"]
    assert "quota is None, wanted 7" in found.message
    assert found.fields == ("quota",)
    assert found.done == found.left == ("set quotas of bucket media",)
    assert found.data()["kind"] == "not_reflected"


def test_when_the_reading_back_fails_everything_is_done(connect):
    with Loopback(answer(BUCKET), answer(BUCKET), error(403, "AccessDenied", "x")) as server:
        found = fails(Denied, Bucket().task, connect(server.url))
    assert (found.done, found.left) == (("set quotas of bucket media",), ())


def test_a_single_call_is_noted_and_its_answer_kept(connect):
    answers, done = {"x": {"y": 1}}, []
    with Loopback(answer(BUCKET)) as server:
        send(connect(server.url), Call("CreateBucket", "create", body={"a": Ref("x", "y")}, binds="made"), answers, done)
    assert server.requests[0].json == {"a": 1}
    assert answers == {"x": {"y": 1}, "made": BUCKET}
    assert done == ["create"]


# several subjects at a time

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
