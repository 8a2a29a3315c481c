# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The executor over a loopback server: what is sent under every fault of a write, what is read again, and what an error tells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timezone

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils import _executor
from ansible_collections.s3ops.garage.plugins.module_utils._errors import (
    Conflict,
    Denied,
    NotFound,
    PlanError,
    ServerFault,
    TransportError,
    Unavailable,
    VerifyMismatch,
)
from ansible_collections.s3ops.garage.plugins.module_utils._executor import Task, converge, send
from ansible_collections.s3ops.garage.plugins.module_utils._plan import Call, Plan, Ref, Secret
from ansible_collections.s3ops.garage.plugins.module_utils._transport import HttpTransport
from tests.fakes import loopback
from tests.fakes.clients import clients
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
    with clients(retries=0) as make:
        yield make


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
