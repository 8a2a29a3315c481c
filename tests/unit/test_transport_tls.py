# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The transport over TLS: authorities, client certificates, and connections that are cut inside of it."""

from __future__ import annotations

import datetime
import warnings

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._errors import SetupError
from tests.fakes import loopback
from tests.fakes.certificates import Authority
from tests.fakes.clients import failure, read, transports, write
from tests.fakes.loopback import Loopback, answer

pytestmark = pytest.mark.requirement("FC-083")


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    loopback.clean_environment(monkeypatch)


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


def test_an_unknown_authority_is_refused_with_what_to_do(connect, served):
    with Loopback(served=served) as server:
        error = failure(write, connect(server.url), kind=SetupError)
    assert error.sent is False
    assert "certificate verify failed" in error.message
    assert "ca_path" in error.hint
    assert "validate_certs" in error.hint
    assert server.requests == []


def test_ca_path(connect, authority, served):
    with Loopback(answer({}), served=served) as server:
        assert read(connect(server.url, verify=authority.path)).status == 200


@pytest.mark.parametrize("scheme", ["https", "HTTPS"])
@pytest.mark.parametrize("verify", ["authority", False])
def test_the_scheme_may_be_written_in_any_case(connect, authority, served, scheme, verify):
    with Loopback(answer({}), served=served) as server, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transport = connect(server.url.replace("https", scheme), verify=authority.path if verify else False)
        assert read(transport).status == 200


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_the_usual_variables(connect, monkeypatch, authority, served, variable):
    monkeypatch.setenv(variable, authority.path)
    with Loopback(answer({}), served=served) as server:
        assert read(connect(server.url)).status == 200


def test_ca_path_beats_the_variables(connect, monkeypatch, authority, served, tmp_path):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", Authority(tmp_path, "another").path)
    with Loopback(answer({}), served=served) as server:
        assert read(connect(server.url, verify=authority.path)).status == 200
        failure(read, connect(server.url), kind=SetupError)


def test_without_validation_the_variables_do_not_matter(connect, monkeypatch, served, tmp_path):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", Authority(tmp_path, "another").path)
    with Loopback(answer({}), served=served) as server, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert read(connect(server.url, verify=False)).status == 200


@pytest.mark.parametrize(("name", "valid", "hint"), [
    ("localhost", datetime.timedelta(days=1), "the names in its certificate"),
    ("127.0.0.1", -datetime.timedelta(days=1), "renew"),
])
def test_a_certificate_that_does_not_fit(connect, authority, name, valid, hint):
    with Loopback(served=authority.issue(name, valid)) as server:
        error = failure(read, connect(server.url, verify=authority.path), kind=SetupError)
    assert hint in error.hint
    assert "ca_path" not in error.hint


@pytest.mark.parametrize("variable", [False, True])
def test_a_ca_file_that_is_not_there(connect, monkeypatch, tmp_path, variable):
    path = str(tmp_path / "missing.pem")
    if variable:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", path)
    error = failure(write, connect("https://127.0.0.1:1", verify=True if variable else path), kind=SetupError)
    assert error.sent is False
    assert path in error.message


def test_a_ca_file_without_certificates(connect, tmp_path, served):
    (tmp_path / "ca.pem").write_text("nothing\n")
    with Loopback(served=served) as server:
        error = failure(write, connect(server.url, verify=str(tmp_path / "ca.pem")), kind=SetupError)
    assert error.sent is False
    assert "PEM" in error.hint


def test_a_client_certificate(connect, authority, served):
    client = authority.issue("someone")
    with Loopback(answer({}), served=served, client_ca=authority.path) as server:
        transport = connect(server.url, verify=authority.path, client_cert=(client.cert, client.key))
        assert read(transport).status == 200


def test_a_client_certificate_with_its_key_in_one_file(connect, authority, served, tmp_path):
    client = authority.issue("someone")
    both = tmp_path / "both.pem"
    both.write_bytes(b"".join(open(path, "rb").read() for path in (client.cert, client.key)))
    with Loopback(answer({}), served=served, client_ca=authority.path) as server:
        assert read(connect(server.url, verify=authority.path, client_cert=str(both))).status == 200


def test_a_client_certificate_that_is_wanted_and_missing(connect, authority, served):
    with Loopback(served=served, client_ca=authority.path) as server:
        error = failure(write, connect(server.url, verify=authority.path))
    # In TLS 1.3 the server refuses after the client has begun to send.
    assert error.sent is True
    assert server.requests == []


def test_a_client_certificate_whose_key_is_another(connect, authority, served):
    one, two = authority.issue("one"), authority.issue("two")
    with Loopback(served=served) as server:
        error = failure(write, connect(server.url, verify=authority.path, client_cert=(one.cert, two.key)), kind=SetupError)
    assert error.sent is False
    assert "client_key" in error.hint


@pytest.mark.parametrize("which", ["cert", "key"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_client_certificate_that_is_not_there(connect, authority, tmp_path, which, scheme):
    pair = authority.issue("someone")
    missing = str(tmp_path / "missing")
    client_cert = (missing, pair.key) if which == "cert" else (pair.cert, missing)
    error = failure(write, connect(f"{scheme}://127.0.0.1:1", client_cert=client_cert), kind=SetupError)
    assert error.sent is False
    assert missing in error.message


def test_plain_http_behind_https(connect):
    with Loopback(default=loopback.raw(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as server:
        error = failure(write, connect(server.url.replace("http:", "https:")), kind=SetupError)
    assert error.sent is False
    assert "use http://" in error.hint


@pytest.mark.parametrize("step", [loopback.cut_after(), loopback.closed_after(), loopback.truncated(), loopback.truncated(chunked=True)])
def test_a_cut_inside_of_tls_leaves_a_write_in_doubt(connect, authority, served, step):
    with Loopback(step, served=served) as server:
        error = failure(write, connect(server.url, verify=authority.path))
    assert error.sent is True
    assert not isinstance(error, SetupError)
    assert server.endpoints == ["CreateBucket"]
