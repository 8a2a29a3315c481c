# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The transport against a loopback server that cuts, stalls and lies, with proxies and netrc files around it."""

from __future__ import annotations

import re
import socket

import pytest
import requests
from ansible_collections.s3ops.garage.plugins.module_utils._errors import NotAdminApi, TransportError
from ansible_collections.s3ops.garage.plugins.module_utils._transport import HIDDEN, Connection, HttpTransport, Response, url_faults
from tests.fakes import loopback
from tests.fakes.certificates import Authority
from tests.fakes.clients import TOKEN, failure, read, transports, write
from tests.fakes.loopback import Loopback, answer


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    loopback.clean_environment(monkeypatch)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def served(authority):
    return authority.issue("127.0.0.1")


@pytest.fixture
def connect():
    with transports() as make:
        yield make


def unused_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


# what goes out

def test_a_request_carries_the_token_the_query_and_the_body(connect):
    with Loopback(answer({}), answer({})) as server:
        transport = connect(server.url + "/garage/")
        transport.send("GET", "/v2/GetKeyInfo", {"search": "é&=+ x", "id": None, "showSecretKey": "true"}, None, "GetKeyInfo")
        write(transport, {"globalAlias": "médiä", "quotas": {"maxSize": None}, "list": []})
    first, second = server.requests
    assert (first.method, first.path) == ("GET", "/garage/v2/GetKeyInfo")
    assert first.query == {"search": "é&=+ x", "showSecretKey": "true"}
    assert first.body == b""
    assert first.headers["authorization"] == f"Bearer {TOKEN}"
    assert first.headers["accept"] == "application/json"
    assert first.headers["user-agent"] == "s3ops.garage"
    assert (second.method, second.path, second.query) == ("POST", "/garage/v2/CreateBucket", {})
    assert second.json == {"globalAlias": "médiä", "quotas": {"maxSize": None}, "list": []}
    assert second.headers["content-type"] == "application/json"


@pytest.mark.parametrize("body", [[], {}, False, 0])
def test_an_empty_body_is_still_a_body(connect, body):
    with Loopback(answer([])) as server:
        write(connect(server.url), body)
    assert server.requests[0].json == body


def test_one_connection_serves_many_requests(connect):
    with Loopback(answer({}), loopback.error(404, "NoSuchBucket", "no"), answer(None), answer({})) as server:
        transport = connect(server.url)
        for _each in range(4):
            read(transport)
    assert server.connections == 1


def test_close_lets_go_of_the_connection(connect):
    """A daemon that stops waits ten seconds for each connection that is kept alive."""
    with Loopback(default=answer({})) as server:
        transport = connect(server.url)
        read(transport)
        transport.close()
        assert server.ended.wait(loopback.PATIENCE)


def test_utf8_is_read_whatever_the_header_says(connect):
    with Loopback(*(answer(text='{"name": "médiä 日本"}', media_type=kind) for kind in ("application/json", "text/plain", ""))) as server:
        transport = connect(server.url)
        assert [read(transport).text for _each in range(3)] == ['{"name": "médiä 日本"}'] * 3


def test_a_response_does_not_show_its_text():
    """The answer to CreateKey holds the secret that is shown once."""
    assert "s3cr3t" not in repr(Response(200, "application/json", '{"secretAccessKey": "s3cr3t"}'))


def test_a_connection_does_not_show_its_token():
    assert TOKEN not in repr(Connection("http://x", TOKEN, "option api_token"))


def test_status_type_text_and_date_come_back(connect):
    with Loopback(answer({"a": 1}, 418, media_type="Application/JSON; charset=utf-8", headers={"Date": "Thu, 01 Jan 2026 00:00:00 GMT"})) as server:
        assert read(connect(server.url)) == Response(418, "application/json", '{"a": 1}', "Thu, 01 Jan 2026 00:00:00 GMT")


# what may have been sent

@pytest.mark.requirement("FC-088", "OP-120")
@pytest.mark.parametrize(("step", "words"), [
    # Which of these a cut shows as depends on how far the client had come.
    (loopback.cut_before(), "reset|closed|broken pipe"),
    (loopback.cut_during(), "reset|closed|broken pipe"),
    (loopback.cut_after(), "reset|closed"),
    (loopback.closed_after(), "closed"),
    (loopback.truncated(), "broke off"),
    (loopback.truncated(chunked=True), "broke off"),
    (loopback.garbage(), "rpc"),
    (loopback.answer(text="not gzip", headers={"Content-Encoding": "gzip"}), "broke off"),
], ids=["cut before", "cut during", "cut after", "closed", "truncated", "chunks truncated", "garbage", "not gzip"])
def test_a_request_that_left_may_have_been_carried_out(connect, step, words):
    with Loopback(step) as server:
        error = failure(write, connect(server.url))
        assert error.sent is True
        assert re.search(words, error.message.lower())
        assert error.message.startswith(f"CreateBucket at {server.url}: ")
        assert error.data() == {"kind": "unreachable", "status": None, "code": None, "endpoint": "CreateBucket"}
        assert len(server.requests) <= 1


@pytest.mark.requirement("FC-088", "OP-119", "OP-120")
@pytest.mark.parametrize("midway", [False, True])
def test_an_answer_that_does_not_come_in_time(connect, midway):
    with Loopback(loopback.stall(midway)) as server:
        error = failure(write, connect(server.url, timeout=0.3))
    assert error.sent is True
    assert "no answer within 0.3 s" in error.message
    assert "rpc_timeout_msec" in error.hint
    assert len(server.requests) == 1


@pytest.mark.requirement("OP-120")
def test_a_refused_connection_was_not_sent(connect):
    error = failure(write, connect(f"http://127.0.0.1:{unused_port()}"))
    assert error.sent is False
    assert "refused" in error.message


@pytest.mark.requirement("OP-120")
def test_a_name_that_does_not_resolve_was_not_sent(connect):
    error = failure(write, connect("http://garage.invalid:3903"))
    assert error.sent is False
    assert "garage.invalid" in error.message


def test_a_connection_that_does_not_come_about_was_not_sent(connect):
    """A full backlog leaves the SYN unanswered."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = [socket.socket() for _each in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(listener.getsockname())
        error = failure(write, connect(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=0.3))
        for each in waiting:
            each.close()
    assert error.sent is False
    assert "no connection within 0.3 s" in error.message


@pytest.mark.requirement("FC-088")
def test_a_kept_connection_that_the_server_dropped(connect):
    """Either the drop was noticed and a new connection was made, or the write is in doubt; it is never sent twice."""
    with Loopback(answer({}, then_close=True), default=answer({"id": "1"})) as server:
        transport = connect(server.url)
        read(transport)
        try:
            write(transport)
        except TransportError as error:
            assert error.sent is True
        assert server.endpoints.count("CreateBucket") <= 1


@pytest.mark.requirement("FC-088")
@pytest.mark.parametrize("step", [loopback.cut_after(), loopback.closed_after(), loopback.error(503, "ServiceUnavailable", "quorum"),
                                  loopback.html(502), loopback.redirect("/elsewhere")])
def test_nothing_is_sent_twice_by_the_transport(connect, step):
    with Loopback(step, default=answer({})) as server:
        try:
            write(connect(server.url))
        except TransportError:
            pass
    assert server.endpoints == ["CreateBucket"]


# bounds

@pytest.mark.requirement("OP-119")
@pytest.mark.parametrize("zipped", [False, True])
def test_an_answer_without_end_is_given_up(connect, monkeypatch, zipped):
    monkeypatch.setattr(HttpTransport, "max_answer", 10_000)
    step = loopback.zipped([0] * 100_000) if zipped else answer([0] * 100_000)
    with Loopback(answer([0] * 1000), step) as server:
        transport = connect(server.url)
        assert len(read(transport).text) == 3000
        error = failure(read, transport, kind=NotAdminApi)
    assert "larger than" in error.message


def test_the_bound_leaves_room_for_the_largest_cluster():
    assert HttpTransport.max_answer >= 64 * 2**20


# redirects, netrc, proxies

@pytest.mark.requirement("MH-15", "FC-082")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_the_token_does_not_travel_to_a_redirect_target(connect, status):
    with Loopback() as elsewhere, Loopback(loopback.redirect(f"{elsewhere.url}/?token={TOKEN}", status)) as server:
        error = failure(read, connect(server.url), kind=NotAdminApi)
    assert (error.status, error.endpoint) == (status, "GetClusterHealth")
    assert elsewhere.url in error.message
    assert HIDDEN in error.message
    assert elsewhere.connections == 0


def test_the_password_in_a_redirect_target_is_not_repeated(connect):
    with Loopback(loopback.redirect("http://me:hunter2@elsewhere.example/x")) as server:
        message = failure(read, connect(server.url), kind=NotAdminApi).message
    assert "http://elsewhere.example/x" in message
    assert "hunter2" not in message


def test_a_redirect_without_or_with_an_endless_target(connect):
    with Loopback(answer(text="", status=302), loopback.redirect("http://x/" + "y" * 5000)) as server:
        transport = connect(server.url)
        assert "nowhere" in failure(read, transport).message
        assert len(failure(read, transport).message) < 1000


def test_netrc_does_not_replace_the_token(connect, tmp_path, monkeypatch):
    (tmp_path / ".netrc").write_text("machine 127.0.0.1\nlogin somebody\npassword else\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    with Loopback(answer({})) as server:
        # Without this the test would show nothing: the file is one that requests follows.
        assert requests.utils.get_netrc_auth(server.url) == ("somebody", "else")
        read(connect(server.url))
    assert server.requests[0].headers["authorization"] == f"Bearer {TOKEN}"


def test_http_goes_through_a_proxy_unless_it_is_told_not_to(connect, monkeypatch):
    with Loopback(answer({"by": "proxy"})) as proxy, Loopback(answer({"by": "server"})) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("http_proxy", proxy.url)
        assert "proxy" in read(connect(server.url)).text
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        assert "server" in read(connect(server.url)).text
    assert proxy.requests[0].target == f"{server.url}/v2/GetClusterHealth"


def test_a_proxy_of_https_sees_neither_token_nor_request(connect, monkeypatch, authority, served):
    with Loopback(loopback.tunnel()) as proxy, Loopback(answer({"by": "server"}), served=served) as server:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url.replace("//", "//someone:pass@"))
        transport = connect(server.url, verify=authority.path)
        assert "server" in read(transport).text
        transport.close()
    seen = proxy.requests[0]
    assert (seen.method, seen.target) == ("CONNECT", f"127.0.0.1:{server.port}")
    assert TOKEN not in str(seen.headers)
    assert "proxy-authorization" in seen.headers
    assert server.requests[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert "proxy-authorization" not in server.requests[0].headers


@pytest.mark.parametrize(("proxy", "words"), [
    ("http://someone:hunter2@127.0.0.1:{closed}", "the proxy failed: Connection refused"),
    ("http://someone:hunter2@127.0.0.1:{refusing}", "407"),
    ("http://someone:hunter2@[127.0.0.1", "127.0.0.1"),
    ("http://someone:hunter2@127.0.0.1:99x", "127.0.0.1"),
])
def test_a_proxy_that_fails_is_named_without_its_password(connect, monkeypatch, served, proxy, words):
    with Loopback(default=answer(text="", status=407)) as refusing:
        monkeypatch.setenv("HTTPS_PROXY", proxy.format(closed=unused_port(), refusing=refusing.port))
        error = failure(write, connect("https://127.0.0.1:1"))
    assert error.sent is False
    assert words in error.message
    assert "hunter2" not in error.message


def test_a_proxy_that_cuts_a_write_leaves_it_in_doubt(connect, monkeypatch):
    with Loopback(loopback.cut_after()) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        assert failure(write, connect("http://127.0.0.1:1")).sent is True


# addresses

@pytest.mark.parametrize("url", ["http://127.0.0.1:3903", "https://garage.example.org", "http://[::1]:3903/", "https://x/garage/admin/", "HTTP://x:1"])
def test_usable_addresses(url):
    assert url_faults(url) == []


@pytest.mark.requirement("MH-10")
@pytest.mark.parametrize(("url", "words"), [
    ("127.0.0.1:3903", "must be http://host:port"),
    ("garage", "must be http://host:port"),
    ("ftp://x", "must be http://host:port"),
    ("http://", "must be http://host:port"),
    ("http://x:0", "port"),
    ("http://x:65536", "Port out of range"),
    ("http://x:y", "Port could not"),
    ("http://[::1", "not a URL"),
    ("http://x/?a=b", "must end after"),
    ("http://x/#a", "must end after"),
    ("http://x/v2", "'/v2'"),
    ("http://x/garage/v1/", "'/v1'"),
    ("http://x:3903\n", "white space"),
    (" http://x:3903", "white space"),
    ("http://x y/", "white space"),
])
def test_addresses_that_cannot_be_meant(url, words):
    faults = url_faults(url)
    assert len(faults) == 1
    assert faults[0].startswith("api_url: ")
    assert words in faults[0]


@pytest.mark.parametrize("url", ["http://me:hunter2@x", "http://me:hunter2@x:99999", "ftp://me:hunter2@x", "http://me:hunter2@[::1", "me:hunter2@x",
                                 "http://me:hunter2@x/?a", "http://me:hunter2@x y"])
def test_a_password_in_an_address_is_refused_and_not_repeated(url):
    faults = url_faults(url)
    assert faults
    assert not any("hunter2" in fault for fault in faults)


def test_an_address_no_client_can_use_is_said_in_words(connect):
    error = failure(write, connect("http://" + "x" * 70 + ".example:3903"))
    assert error.sent is False
