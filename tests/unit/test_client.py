# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client against a loopback server: typed errors, retries of reads, writes that are sent once, the guard of layout writes."""

from __future__ import annotations

import json
from datetime import datetime, timezone

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils import _client, _errors
from ansible_collections.s3ops.garage.plugins.module_utils._connection import resolve_site_role
from ansible_collections.s3ops.garage.plugins.module_utils._endpoints import ENDPOINTS, LAYOUT_WRITES
from ansible_collections.s3ops.garage.plugins.module_utils._errors import NotAdminApi, NotFound, TransportError, Unavailable
from ansible_collections.s3ops.garage.plugins.module_utils._transport import HIDDEN
from tests.fakes import loopback
from tests.fakes.certificates import Authority
from tests.fakes.clients import TOKEN, clients
from tests.fakes.loopback import Loopback, answer, error


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    loopback.clean_environment(monkeypatch)


@pytest.fixture
def connect():
    with clients("file /etc/token (option api_token_file)") as make:
        yield make


def refused(client, endpoint, kind, **options):
    """The error a call ends in, of exactly this kind, which does not show the token."""
    with pytest.raises(_errors.GarageError) as caught:
        client.call(endpoint, **options)
    found = caught.value
    assert found.__class__ is kind
    assert TOKEN not in f"{found!r} {found.message} {found.hint} {found.data()} {getattr(found, 'server_message', '')} {client.warnings}"
    return found


# answers

@pytest.mark.parametrize("data", [[], {}, [{"id": "1"}], {"name": "médiä"}])
def test_data_comes_back(connect, data):
    with Loopback(answer(data)) as server:
        assert connect(server.url).call("ListBuckets") == data


def test_a_write_without_content(connect):
    with Loopback(answer(None), answer(text="", status=204)) as server:
        client = connect(server.url)
        assert client.call("DeleteBucket", {"id": "1"}) is None
        assert client.call("DeleteBucket", {"id": "1"}) is None


@pytest.mark.requirement("FC-082", "FC-032")
@pytest.mark.parametrize("endpoint", ["GetBucketInfo", "DeleteBucket"])
@pytest.mark.parametrize(("step", "words"), [
    (loopback.html(), "HTTP 200 with text/html content"),
    (loopback.html(404), "HTTP 404 with text/html content"),
    (loopback.html(500), "HTTP 500 with text/html content"),
    (answer(text="<?xml version='1.0'?><Error/>", status=403, media_type="application/xml"), "HTTP 403 with application/xml content"),
    (answer(text="", media_type=""), "HTTP 200 with no content"),
    (answer(text='{"id": "1'), "HTTP 200 with application/json content"),
    (answer(text="", status=401), "HTTP 401"),
    # A Kubernetes API server, and gateways: their 404 must not be taken for an absent bucket.
    (answer({"kind": "Status", "code": 404, "message": "not found"}, 404), "HTTP 404"),
    (answer({"code": "NOT_FOUND", "message": "no route"}, 404), "HTTP 404"),
    (answer({"message": "no Route matched with those values"}, 404), "HTTP 404"),
    (answer([], 404), "HTTP 404"),
    (answer({"code": 7, "message": None}, 400), "HTTP 400"),
])
def test_what_is_not_an_admin_api_is_called_that(connect, endpoint, step, words):
    with Loopback(step) as server:
        found = refused(connect(server.url), endpoint, NotAdminApi)
        assert len(server.requests) == 1
    assert words in found.message
    assert server.url in found.message
    assert "port 3903" in found.hint
    assert found.data()["kind"] == "not_admin_api"
    assert found.data()["endpoint"] == endpoint
    assert found.sent is True


@pytest.mark.requirement("FC-032")
@pytest.mark.parametrize("data", [None, 0, "", "ok", True])
def test_a_read_that_gives_nothing_is_no_answer(connect, data):
    with Loopback(answer(data)) as server:
        refused(connect(server.url), "ListBuckets", NotAdminApi)


@pytest.mark.parametrize("endpoint", ["Health", "Metrics", "CheckDomain"])
def test_what_lies_outside_of_v2_is_text(connect, endpoint):
    with Loopback(answer(text="Garage is fully operational\n", media_type="text/plain")) as server:
        assert connect(server.url).call(endpoint) == "Garage is fully operational\n"
    assert server.requests[0].path == ENDPOINTS[endpoint].path


@pytest.mark.requirement("FC-089")
def test_a_health_check_that_says_no_is_unavailable(connect):
    with Loopback(answer(text="Quorum is not available", status=503, media_type="text/plain")) as server:
        assert refused(connect(server.url, retries=0), "Health", Unavailable).status == 503


@pytest.mark.parametrize("text", ["Unknown API endpoint: GET /v2/GetBucketInfo", "Bad request: Unknown API endpoint: GET /v2/GetBucketInfo"])
def test_an_older_server_is_explained(connect, text):
    with Loopback(error(400, "InvalidRequest", text)) as server:
        found = refused(connect(server.url), "ListBucketsInfo", NotAdminApi)
    assert "2.5.0" in found.hint
    assert "Garage 1.x" in found.hint
    assert found.data()["status"] == 400


# errors of the server

@pytest.mark.requirement("TD-41", "OP-112", "OP-109", "FC-058")
@pytest.mark.parametrize(("endpoint", "status", "code", "message", "kind"), [
    ("GetBucketInfo", 404, "NoSuchBucket", "Bucket not found: x", "NotFound"),
    ("GetKeyInfo", 404, "NoSuchAccessKey", "Access key not found: Layout not ready", "NotFound"),
    ("GetAdminTokenInfo", 404, "NoSuchAdminToken", "x", "NotFound"),
    ("GetKeyInfo", 400, "InvalidRequest", "2 matching keys", "Invalid"),
    ("GetAdminTokenInfo", 400, "InvalidRequest", "0 matching admin tokens", "Invalid"),
    ("CreateBucket", 409, "BucketAlreadyExists", "x", "Conflict"),
    ("ListBuckets", 403, "AccessDenied", "Forbidden: Invalid bearer token", "Denied"),
    ("ListBuckets", 401, "AccessDenied", "x", "Denied"),
    ("CreateBucket", 418, "Teapot", "x", "Invalid"),
    ("CreateBucket", 500, "InternalError", "Internal error: Layout not ready", "LayoutNotReady"),
    ("CreateBucket", 500, "InternalError", "Internal error: disk full", "ServerFault"),
    ("CreateBucket", 501, "NotImplemented", "x", "ServerFault"),
    ("CreateBucket", 503, "ServiceUnavailable", "Could not reach quorum", "Unavailable"),
    ("CreateBucket", 502, "x", "x", "Unavailable"),
    ("CreateBucket", 504, "x", "x", "Unavailable"),
    ("ApplyClusterLayout", 500, "InternalError", "Internal error: Invalid new layout version", "StaleVersion"),
    ("ApplyClusterLayout", 500, "InternalError", "The number of nodes with positive capacity (1) is smaller than the replication factor (2).",
     "Constraint"),
    ("UpdateClusterLayout", 400, "InvalidRequest", "The number of zones with non-gateway nodes (1) is smaller than the redundancy parameter (2)",
     "Constraint"),
    ("ApplyClusterLayout", 500, "InternalError", "Internal error: disk full", "ServerFault"),
    ("CreateBucket", 500, "InternalError", "the replication factor", "ServerFault"),
    ("CreateBucket", 500, "InternalError", "Internal error: Invalid new layout version", "ServerFault"),
])
def test_errors_are_told_apart(connect, endpoint, status, code, message, kind):
    with Loopback(error(status, code, message)) as server:
        found = refused(connect(server.url, retries=0), endpoint, getattr(_errors, kind))
        assert found.message == f"{endpoint} at {server.url}: HTTP {status} {code}: {message}"
    assert found.data() == {"kind": getattr(_errors, kind).kind, "status": status, "code": code, "endpoint": endpoint}
    assert found.server_message == message


@pytest.mark.requirement("FC-086")
def test_a_refused_token_says_where_it_came_from(connect):
    with Loopback(error(403, "AccessDenied", "Forbidden: Invalid bearer token")) as server:
        found = refused(connect(server.url), "ListBuckets", _errors.Denied)
        assert len(server.requests) == 1
    assert "file /etc/token (option api_token_file)" in found.hint
    assert "ListBuckets" in found.hint


@pytest.mark.requirement("OP-119")
def test_a_long_text_is_cut(connect):
    with Loopback(error(400, "C" * 5000, "x" * 100_000)) as server:
        found = refused(connect(server.url), "CreateBucket", _errors.Invalid)
    assert found.server_message == "x" * 500
    assert len(found.message) < 800


def test_what_the_server_repeats_of_secrets_is_struck_before_it_is_cut(connect):
    secret = "5" * 64
    with Loopback(error(400, f"Bad{TOKEN}", f"{'x' * 480} {secret} {TOKEN}")) as server:
        client = connect(server.url)
        client.secrets.append(secret)
        client.secrets.append("")
        found = refused(client, "ImportKey", _errors.Invalid, body={"secretAccessKey": secret})
    assert "5555" not in found.message
    assert f"Bad{HIDDEN}" in found.message
    assert found.server_message == f"{'x' * 480} {HIDDEN} {HIDDEN}"


# reads are repeated

FLEETING = {
    "cut before": loopback.cut_before,
    "cut after": loopback.cut_after,
    "closed": loopback.closed_after,
    "truncated": loopback.truncated,
    "garbage": loopback.garbage,
    "502": lambda: loopback.html(502),
    "503": lambda: error(503, "ServiceUnavailable", "Could not reach quorum"),
    "504": lambda: loopback.html(504),
}


@pytest.mark.requirement("FC-032", "OP-120")
@pytest.mark.parametrize("fault", FLEETING)
@pytest.mark.parametrize("endpoint", ["ListBuckets", "PreviewClusterLayoutChanges"])
def test_a_read_is_repeated(connect, fault, endpoint):
    with Loopback(FLEETING[fault](), FLEETING[fault](), answer([1])) as server:
        client = connect(server.url)
        assert client.call(endpoint) == [1]
    assert len(client.warnings) == 2
    assert client.warnings[0].startswith(f"{endpoint} at {server.url}: ")
    assert client.warnings[0].endswith("; trying again (1 of 3)")
    assert client.warnings[1].endswith("; trying again (2 of 3)")


@pytest.mark.requirement("FC-088")
def test_a_read_that_timed_out_is_repeated(connect):
    with Loopback(loopback.stall(), default=answer([1])) as server:
        client = connect(server.url, timeout=2.0)
        assert client.call("ListBuckets") == [1]
    assert len(server.requests) >= 2
    assert "no answer within 2 s" in client.warnings[0]


@pytest.mark.requirement("FC-032", "OP-119")
@pytest.mark.parametrize("retries", [0, 1, 3])
def test_retries_are_bounded(connect, retries):
    with Loopback(*[error(503, "ServiceUnavailable", "Could not reach quorum")] * (retries + 1)) as server:
        client = connect(server.url, retries=retries)
        found = refused(client, "GetBucketInfo", Unavailable)
    assert len(server.requests) == retries + 1
    assert len(client.warnings) == retries
    assert "cluster_info" in found.hint


@pytest.mark.parametrize("step", [loopback.html(), loopback.redirect("http://x/"), error(400, "InvalidRequest", "x"), error(403, "AccessDenied", "x"),
                                  error(404, "NoSuchBucket", "x"), error(500, "InternalError", "x"), answer(text="{")])
def test_what_does_not_pass_is_not_repeated(connect, step):
    with Loopback(step) as server:
        client = connect(server.url)
        with pytest.raises(_errors.GarageError):
            client.call("GetBucketInfo", {"id": "1"})
        assert len(server.requests) == 1
    assert client.warnings == []


def test_a_connection_that_is_set_up_wrongly_is_not_tried_again(connect, tmp_path):
    with Loopback(served=Authority(tmp_path).issue("127.0.0.1")) as server:
        client = connect(server.url)
        with pytest.raises(TransportError):
            client.call("ListBuckets")
        assert server.connections == 1
    assert client.warnings == []


@pytest.mark.requirement("OP-119")
@pytest.mark.parametrize(("delay", "expected"), [(1.0, [1, 2, 4, 8, 16, 30, 30, 30]), (0.0, [0] * 8), (45.0, [45] * 8)])
def test_pauses_double_up_to_a_bound(connect, monkeypatch, delay, expected):
    slept = []
    monkeypatch.setattr(_client.time, "sleep", slept.append)
    with Loopback(default=loopback.html(502)) as server:
        with pytest.raises(Unavailable):
            connect(server.url, retries=8, retry_delay=delay).call("ListBuckets")
    assert len(slept) == 8
    assert all(0.75 * wanted <= found <= 1.25 * wanted for found, wanted in zip(slept, expected, strict=True))


def test_very_many_tries_are_no_overflow(connect, monkeypatch):
    monkeypatch.setattr(_client.time, "sleep", lambda seconds: None)
    with Loopback(default=loopback.html(502)) as server:
        with pytest.raises(Unavailable):
            connect(server.url, retries=1100, retry_delay=0.001).call("ListBuckets")
        assert len(server.requests) == 1101


@pytest.mark.requirement("FC-089", "LW-13")
def test_a_client_that_tries_once_is_otherwise_the_same(connect):
    with Loopback(loopback.html(502), error(400, "InvalidRequest", "s3cr3t"), loopback.html(502), answer([1])) as server:
        client = connect(server.url, site_role="follower")
        once = client.once()
        once.secrets.append("s3cr3t")
        assert refused(once, "ListBuckets", Unavailable).status == 502
        assert "s3cr3t" not in refused(client, "CreateBucket", _errors.Invalid).message
        refused(once, "ApplyClusterLayout", _errors.GateClosed)
        assert client.call("ListBuckets") == [1]
    assert len(client.warnings) == 1
    assert once.warnings is client.warnings


# writes are not

WRITES = [name for name, row in ENDPOINTS.items() if not row.read_only]


@pytest.mark.requirement("FC-088", "FC-032")
@pytest.mark.parametrize("fault", [*FLEETING, "500", "html", "redirect", "404"])
def test_a_write_is_sent_once_whatever_happens(connect, fault):
    step = FLEETING.get(fault) or {"500": lambda: error(500, "InternalError", "x"), "html": loopback.html, "redirect": lambda: loopback.redirect("/x"),
                                   "404": lambda: error(404, "NoSuchBucket", "x")}[fault]
    # One request too many would find nothing scripted, which fails the test at the end of each block.
    for endpoint in WRITES:
        with Loopback(step()) as server:
            client = connect(server.url)
            with pytest.raises(_errors.GarageError):
                client.call(endpoint, body={"globalAlias": "media"})
            assert server.endpoints in ([endpoint], [] if fault == "cut before" else [endpoint])
            assert server.connections == 1
            assert client.warnings == []


def test_there_are_writes():
    assert {"CreateBucket", "CreateKey", "ApplyClusterLayout", "PurgeBlocks"} <= set(WRITES)


# the server's clock

@pytest.mark.parametrize(("header", "expected"), [
    ("Thu, 01 Jan 2026 00:00:07 GMT", datetime(2026, 1, 1, 0, 0, 7, tzinfo=timezone.utc)),
    ("Thu, 01 Jan 2026 00:00:07 -0000", datetime(2026, 1, 1, 0, 0, 7, tzinfo=timezone.utc)),
    ("Thu, 01 Jan 2026 02:00:07 +0200", datetime(2026, 1, 1, 0, 0, 7, tzinfo=timezone.utc)),
    ("yesterday", None),
    ("Thu, 41 Jan 2026 00:00:07 GMT", None),
])
def test_the_servers_clock_is_read_from_its_answers(connect, header, expected):
    with Loopback(answer([], headers={"Date": header})) as server:
        client = connect(server.url)
        assert client.server_time is None
        client.call("ListBuckets")
    assert client.server_time == expected
    assert expected is None or client.server_time.tzinfo is not None


def test_the_servers_clock_is_read_from_errors_and_kept(connect):
    first = {"Date": "Thu, 01 Jan 2026 00:00:07 GMT"}
    with Loopback(error(404, "NoSuchBucket", "x", headers=first), answer([]), answer([], headers={"Date": "?"})) as server:
        client = connect(server.url)
        refused(client, "GetBucketInfo", NotFound)
        client.call("ListBuckets")
        client.call("ListBuckets")
    assert client.server_time == datetime(2026, 1, 1, 0, 0, 7, tzinfo=timezone.utc)


# the guard

FOUR = {"UpdateClusterLayout", "ApplyClusterLayout", "RevertClusterLayout", "ClusterLayoutSkipDeadNodes"}
ROLES = [  # option, environment
    pytest.param("follower", None, id="follower"),
    pytest.param(None, "follower", id="profile"),
    pytest.param("writer", "follower", id="writer on a follower's profile", marks=pytest.mark.requirement("LW-15")),
    pytest.param("follower", "writer", id="follower on a writer's profile"),
]


def role(option, environment):
    return resolve_site_role({"site_role": option}, {} if environment is None else {"GARAGE_SITE_ROLE": environment})


def test_four_calls_write_the_layout():
    assert LAYOUT_WRITES == FOUR


@pytest.mark.requirement("LW-13", "LW-15")
@pytest.mark.parametrize("endpoint", sorted(FOUR))
@pytest.mark.parametrize(("option", "environment"), ROLES)
def test_a_follower_sends_not_one_byte_of_a_layout_write(connect, endpoint, option, environment):
    with Loopback() as server:
        found = refused(connect(server.url, site_role=role(option, environment)), endpoint, _errors.GateClosed, body={"version": 2})
        assert server.connections == 0
    assert endpoint in found.message
    assert "nothing was sent" in found.message
    assert found.data()["kind"] == "layout_writer_only"


@pytest.mark.requirement("LW-13")
def test_a_follower_may_do_everything_else(connect):
    with Loopback(default=answer({})) as server:
        client = connect(server.url, site_role="follower")
        for endpoint in sorted(set(ENDPOINTS) - FOUR):
            client.call(endpoint)
        assert server.endpoints == [ENDPOINTS[endpoint].path.rpartition("/")[2] for endpoint in sorted(set(ENDPOINTS) - FOUR)]


@pytest.mark.requirement("LW-03", "LW-14")
@pytest.mark.parametrize("endpoint", sorted(FOUR))
def test_unset_and_writer_send_the_same(connect, endpoint):
    body = {"version": 3, "roles": [{"id": "a" * 64, "zone": "paris", "capacity": 1024, "tags": []}]}
    sent = []
    for given in (role(None, None), role("writer", None), role(None, "writer")):
        with Loopback(answer({"version": 3})) as server:
            assert connect(server.url, site_role=given).call(endpoint, body=body) == {"version": 3}
        request = server.requests[0]
        sent.append((request.method, request.target, json.loads(request.body), request.headers["authorization"]))
    assert sent[0] == sent[1] == sent[2]
    assert sent[0][:3] == ("POST", f"/v2/{endpoint}", body)
