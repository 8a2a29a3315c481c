# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Admin API by commands in a pod: which pod, what a command is given, and what its end means to the client."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._endpoints import LAYOUT_WRITES
from ansible_collections.s3ops.garage.plugins.module_utils._errors import (
    ApiError,
    Conflict,
    Constraint,
    GateClosed,
    Invalid,
    LayoutNotReady,
    NotAdminApi,
    NotFound,
    SetupError,
    StaleVersion,
    TransportError,
    Unavailable,
)
from ansible_collections.s3ops.garage.plugins.module_utils._executor import Task, converge
from ansible_collections.s3ops.garage.plugins.module_utils._models.pod import Pod
from ansible_collections.s3ops.garage.plugins.module_utils._plan import Call, Plan
from ansible_collections.s3ops.garage.plugins.module_utils._pods import PodConnection, Ran
from ansible_collections.s3ops.garage.plugins.module_utils._readers.admin_token import is_accepted
from ansible_collections.s3ops.garage.plugins.module_utils._transport_exec import ExecTransport, payload

COMMAND = ("/garage", "-c", "/etc/garage/garage.toml", "json-api")


def a_pod(name, ready=True, running=True):
    return Pod(name, f"uid-{name}", "Running", ready, running, None if running else "container garage waits: CrashLoopBackOff: back-off", name,
               "10.0.0.1", ("garage",))


class StubPods:
    """What a transport needs of Pods. Each command takes the next of ``ends``: how it ended, or a function that raises; the last one is for all that follow."""

    def __init__(self, *ends, pods=None, connection=None):
        self.connection = connection or PodConnection("garage", label_selector="app=garage")
        self.ends, self.pods = list(ends) or [Ran(0, "{}", "")], [[a_pod("garage-0")]] if pods is None else pods
        self.ran, self.looked, self.server_date = [], 0, "Thu, 01 Jan 2026 00:00:00 GMT"

    def found(self, label):
        self.looked += 1
        return self.pods.pop(0) if len(self.pods) > 1 else self.pods[0]

    def at(self, pod):
        self.connection = replace(self.connection, pod=pod, label_selector=None)
        return self

    def run(self, label, command, stdin=None, argument=False):
        self.ran.append((self.connection.pod, tuple(command), stdin, argument))
        end = self.ends.pop(0) if len(self.ends) > 1 else self.ends[0]
        return end() if callable(end) else end


def client(*ends, **options):
    pods = StubPods(*ends, **options)
    return Client(ExecTransport(pods), retry_delay=0, retries=2), pods


def failed(text, code=1):
    return Ran(code, "", text)


# what a command is given

@pytest.mark.parametrize(("query", "body", "expected"), [
    (None, None, None),
    ({}, None, None),
    ({"id": None}, None, None),
    ({"limit": 5, "offset": None}, None, {"limit": 5}),
    ({"id": "k", "showSecretKey": True}, None, {"id": "k", "showSecretKey": True}),
    (None, {"globalAlias": "x"}, {"globalAlias": "x"}),
    (None, {}, {}),
    (None, ["a@b:1"], ["a@b:1"]),
    ({"id": "b"}, {"quotas": {}}, {"id": "b", "body": {"quotas": {}}}),
    ({"node": "self"}, None, {"node": "self", "body": None}),
    ({"node": "*"}, {}, {"node": "*", "body": {}}),
])
def test_a_request_as_one_document(query, body, expected):
    assert payload(query, body) == expected


def test_a_command_has_the_paths_that_were_given_and_no_more_than_the_call():
    spot = PodConnection("garage", pod="garage-0", container="c", config_path="/c.toml", garage_path="/bin/garage")
    plain, pods = client(connection=spot)
    plain.call("GetKeyInfo", {"id": "GK1", "showSecretKey": True})
    plain.call("ListBuckets")
    assert pods.ran == [("garage-0", ("/bin/garage", "-c", "/c.toml", "json-api", "GetKeyInfo"), '{"id": "GK1", "showSecretKey": true}', True),
                        ("garage-0", ("/bin/garage", "-c", "/c.toml", "json-api", "ListBuckets"), None, True)]


@pytest.mark.requirement("FC-085")
def test_a_secret_may_never_become_an_argument():
    plain, pods = client()
    plain.call("ImportKey", None, {"accessKeyId": "GK1", "secretAccessKey": "s3cr3t"})
    plain.call("CreateKey", None, {"name": "x"})
    assert [argument for _pod, _command, _stdin, argument in pods.ran] == [False, True]


def test_a_command_that_knows_no_fields_of_a_call_is_given_none():
    """Before 2.5.0; over HTTP the fields are passed over."""
    old = failed("Error: JSON error: invalid type: map, expected unit struct ListKeysRequest")
    plain, pods = client(old, Ran(0, "[]", ""))
    assert plain.call("ListKeys", {"limit": 1000}) == []
    assert [stdin for _pod, _command, stdin, _argument in pods.ran] == ['{"limit": 1000}', None]


# which pod

@pytest.mark.requirement("MH-15")
def test_the_first_ready_pod_is_taken_and_kept():
    plain, pods = client(pods=[[a_pod("garage-0", running=False), a_pod("garage-1", ready=False), a_pod("garage-3"), a_pod("garage-2")], []])
    plain.call("CreateBucket", None, {})
    plain.call("CreateBucket", None, {})
    assert {pod for pod, *_rest in pods.ran} == {"garage-2"} and pods.looked == 1
    assert plain.transport.url == "pod garage/garage-2"


def test_one_that_runs_will_do_when_none_is_ready():
    plain, pods = client(pods=[[a_pod("garage-0", running=False), a_pod("garage-1", ready=False)]])
    plain.call("ListBuckets")
    assert pods.ran[0][0] == "garage-1"


@pytest.mark.parametrize(("found", "words"), [
    ([], "there is no such pod"),
    ([a_pod("garage-0", running=False)], "garage-0: container garage waits: CrashLoop"),
])
def test_no_pod_is_looked_for_again_by_reads(found, words):
    plain, pods = client(pods=[found])
    with pytest.raises(TransportError, match=words) as caught:
        plain.call("ListBuckets")
    assert (pods.looked, pods.ran, caught.value.sent) == (3, [], False)
    assert "label_selector" in caught.value.hint
    later, pods = client(pods=[found, [a_pod("garage-0")]])
    assert later.call("GetClusterHealth") == {} and "trying again" in later.warnings[0]


# how it ended

@pytest.mark.parametrize(("endpoint", "text", "kind", "status", "code"), [
    ("GetBucketInfo", "NoSuchBucket (404): Bucket not found: x", NotFound, 404, "NoSuchBucket"),
    ("GetKeyInfo", "NoSuchAccessKey (404): Access key not found: GK1", NotFound, 404, "NoSuchAccessKey"),
    ("CreateBucket", "BucketAlreadyExists (409): Bucket x already exists", Conflict, 409, "BucketAlreadyExists"),
    ("CreateBucket", "InvalidRequest (400): Bad request: X", Invalid, 400, "InvalidRequest"),
    ("ListBuckets", "InternalError (500): Internal error: Layout not ready", LayoutNotReady, 500, "InternalError"),
    ("ApplyClusterLayout", "InternalError (500): Internal error: Invalid new layout version", StaleVersion, 500, "InternalError"),
    ("ApplyClusterLayout", "InvalidRequest (400): Bad request:\nThe number of nodes (1) is smaller than the replication factor", Constraint, 400,
     "InvalidRequest"),
    ("CreateBucket", "ServiceUnavailable (503): Internal error: Could not reach quorum of 2", Unavailable, 503, "ServiceUnavailable"),
])
def test_errors_of_the_daemon_are_those_of_http(endpoint, text, kind, status, code):
    noise = "\x1b[33m2026-01-01 WARN\x1b[0m garage: Error: not this one\n"
    plain, _pods = client(failed(f"{noise}Error: {text}\n"))
    with pytest.raises(ApiError) as caught:
        plain.call(endpoint)
    assert (type(caught.value), caught.value.status, caught.value.code) == (kind, status, code)
    assert f"{endpoint} at pod garage/garage-0: HTTP {status} {code}" in caught.value.message


def test_a_call_that_the_server_does_not_know_is_told_as_over_http():
    plain, _pods = client(failed("Error: JSON error: unknown variant `ListKeysInfo`, expected one of `Options`, `GetClusterStatus`"))
    with pytest.raises(NotAdminApi, match="Unknown API endpoint") as caught:
        plain.call("ListKeysInfo")
    assert caught.value.status == 400 and "since 2.5.0" in caught.value.hint


@pytest.mark.parametrize(("end", "kind", "sent", "words"), [
    (failed("Error: Unable to connect to destination RPC host. Please check that you are using the value of rpc_secret"), TransportError, False,
     "exit code 1: Unable to connect"),
    (failed("Error: Unable to read configuration file /etc/garage/garage.toml. …"), SetupError, False, "Unable to read configuration"),
    (failed("Error: Timeout"), TransportError, True, "exit code 1: Timeout"),
    (failed("", 137), TransportError, True, "exit code 137: it said nothing"),
    (failed("======== PANIC (internal Garage error) ========", 134), TransportError, True, "exit code 134: ======== PANIC"),
    (failed('exec: "/garage": not found', 127), SetupError, False, "not found"),
    (failed("error: Found argument 'json-api' which wasn't expected", 1), NotAdminApi, True, "has no json-api"),
    (Ran(0, '{"id": "tru', ""), NotAdminApi, True, "11 characters came that are not"),
    (Ran(0, "hello", ""), NotAdminApi, True, "5 characters"),
])
def test_a_command_that_brings_no_answer(end, kind, sent, words):
    plain, pods = client(end)
    with pytest.raises(TransportError, match=words) as caught:
        plain.call("CreateBucket", None, {"globalAlias": "x"})
    assert (type(caught.value), caught.value.sent, len(pods.ran)) == (kind, sent, 1)


def test_an_input_that_was_cut_has_done_nothing():
    plain, _pods = client(failed("Error: JSON error: EOF while parsing a value at line 1 column 0"))
    with pytest.raises(TransportError) as caught:
        plain.call("CreateBucket", None, {})
    assert not caught.value.sent


def test_what_is_served_by_http_alone_is_refused():
    plain, pods = client()
    for endpoint in ("Metrics", "Health", "CheckDomain"):
        with pytest.raises(SetupError, match="cannot be asked by a command in a pod"):
            plain.call(endpoint)
    assert pods.ran == []


@pytest.mark.requirement("TD-08")
def test_no_token_is_ever_sent():
    """Servers before 2.5.0 crash over the question; none is told a token. It is left open, as with a server that cannot answer."""
    plain, pods = client()
    bearer = Client(plain.transport.bearing("t0ken", "the store"), retries=0)
    assert is_accepted(bearer, "t0ken") is None
    assert pods.ran == []
    assert bearer.transport.connection.token == ""


# what holds above it

@pytest.mark.requirement("LW-13")
@pytest.mark.parametrize("endpoint", sorted(LAYOUT_WRITES))
def test_a_follower_runs_no_command_that_writes_the_layout(endpoint):
    pods = StubPods()
    with pytest.raises(GateClosed):
        Client(ExecTransport(pods), site_role="follower").call(endpoint, None, {})
    assert (pods.ran, pods.looked) == ([], 0)


def cut():
    raise TransportError("the connection broke off", sent=True)


FATES = {"cut": cut, "killed": failed("", 137), "late": failed("Error: Timeout")}


@pytest.mark.parametrize("fate", FATES.values(), ids=FATES)
def test_a_write_of_unknown_fate_is_looked_for_and_not_repeated(fate):
    """The pod vanished in the middle, and the bucket had been made."""
    plain, pods = client(Ran(0, "[]", ""), fate, Ran(0, '["x"]', ""))
    doubts = []

    def read(client, pending):
        doubts.append(pending)
        return client.call("ListBuckets")

    def plan(live):
        calls = () if live else (Call("CreateBucket", "create x", body={"globalAlias": "x"}),)
        return Plan("x", before=live, after=["x"], calls=calls)

    outcome = converge(Task(read, plan, lambda live: live), plain)
    assert [command[-1] for _pod, command, *_rest in pods.ran].count("CreateBucket") == 1
    assert outcome.done == ("create x",)
    assert doubts[1][0].call.endpoint == "CreateBucket" and doubts[1][0].since.year == 2026


def test_the_clock_is_that_of_the_kubernetes_api():
    plain, _pods = client()
    plain.call("ListBuckets")
    assert plain.server_time.isoformat().startswith("2026-01-01T00:0")
    for date in (None, "nonsense"):
        plain, pods = client()
        pods.server_date = date
        plain.call("ListBuckets")
        assert plain.server_time is None
