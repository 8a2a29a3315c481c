# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From options and environment to a connection: which source wins, what is refused, and that all faults come at once."""

from __future__ import annotations

import inspect

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._argspec import connection_spec
from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._connection import (
    ENVIRONMENT,
    resolve_connection,
    resolve_site_role,
    together,
)
from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError
from ansible_collections.s3ops.garage.plugins.module_utils._transport import Connection

ENVIRON = {"GARAGE_ADMIN_URL": "http://environment:3903", "GARAGE_ADMIN_TOKEN": "environment-token"}
BOTH = {"api_url": "http://option:3903", "api_token": "option-token"}
FILES = {"/good": "  file-token\n", "/empty": "\n", "/two": "s3cr3t\ns3cr3t\n", "/wide": "s3cr3t-tökén\n", "/control": "s3cr3t\x07b"}


def read_file(path):
    if path not in FILES:
        raise FileNotFoundError(2, "No such file or directory", path)
    return FILES[path]


def no_file(path):
    raise AssertionError(f"{path} was read")


def resolve(params, environ=None, where=""):
    return resolve_connection(params, environ or {}, read_file, where)


def faults(params, environ=None, where=""):
    with pytest.raises(InputError) as caught:
        resolve(params, environ, where)
    assert caught.value.message == "; ".join(caught.value.faults)
    return list(caught.value.faults)


# where it comes from

@pytest.mark.requirement("MH-14", "FC-091")
def test_options_beat_the_environment():
    made = resolve_connection(BOTH, {**ENVIRON, "GARAGE_ADMIN_TOKEN_FILE": "/good"}, no_file)
    assert (made.api_url, made.token, made.token_source) == ("http://option:3903", "option-token", "option api_token")


@pytest.mark.requirement("FC-085", "FC-092")
def test_the_environment_alone_is_enough():
    made = resolve({}, ENVIRON)
    assert (made.api_url, made.token, made.token_source) == ("http://environment:3903", "environment-token",
                                                             "environment variable GARAGE_ADMIN_TOKEN")


@pytest.mark.requirement("FC-085", "FC-086")
@pytest.mark.parametrize(("params", "environ", "source"), [
    ({"api_token_file": "/good"}, ENVIRON, "file /good (option api_token_file)"),
    ({}, {"GARAGE_ADMIN_URL": "http://x", "GARAGE_ADMIN_TOKEN_FILE": "/good"}, "file /good (environment variable GARAGE_ADMIN_TOKEN_FILE)"),
])
def test_a_token_file_is_read_and_trimmed(params, environ, source):
    made = resolve(params, environ)
    assert (made.token, made.token_source) == ("file-token", source)


@pytest.mark.requirement("FC-085")
@pytest.mark.parametrize("token", ["t\n", "t\r\n", " t ", "\tt"])
def test_a_token_is_trimmed_wherever_it_comes_from(token):
    assert resolve({**BOTH, "api_token": token}).token == "t"
    assert resolve({}, {**ENVIRON, "GARAGE_ADMIN_TOKEN": token}).token == "t"


def test_empty_variables_are_unset():
    empty = dict.fromkeys(ENVIRONMENT.values(), "")
    made = resolve(BOTH, empty)
    assert made == resolve(BOTH)
    assert resolve_site_role({}, empty) is None
    assert len(faults({}, empty)) == 2


@pytest.mark.requirement("MH-10", "MH-15", "TD-52")
@pytest.mark.parametrize(("params", "named"), [
    ({}, ["api_url", "api_token"]),
    ({"api_url": "http://x"}, ["api_token"]),
    ({"api_token": "t"}, ["api_url"]),
    ({"api_token_file": "/good"}, ["api_url"]),
])
def test_half_a_connection_is_refused_and_there_is_no_default(params, named):
    found = faults(params)
    assert len(found) == len(named)
    for name, fault in zip(named, found, strict=True):
        assert f"{name} " in fault
        assert "GARAGE_ADMIN_" in fault


@pytest.mark.requirement("MH-15")
@pytest.mark.parametrize(("params", "words"), [
    ({"api_url": "", "api_token": "t"}, "api_url is empty"),
    ({"api_url": "http://x", "api_token": ""}, "the option api_token is empty"),
    ({"api_url": "http://x", "api_token": " "}, "the option api_token is empty"),
    ({"api_url": "http://x", "api_token_file": ""}, "option api_token_file is empty"),
])
def test_an_option_that_was_not_filled_in_does_not_lead_elsewhere(params, words):
    found = faults(params, ENVIRON)
    assert len(found) == 1
    assert words in found[0]


@pytest.mark.requirement("MH-15")
def test_the_address_is_kept_as_it_was_given():
    assert resolve({**BOTH, "api_url": "https://garage.example.org/admin/"}, ENVIRON).api_url == "https://garage.example.org/admin/"


# tokens that cannot be used

@pytest.mark.requirement("FC-085")
@pytest.mark.parametrize(("path", "words"), [
    ("/missing", "cannot be read: No such file or directory"),
    ("/empty", "is empty"),
    ("/two", "spaces, line breaks or non-ASCII"),
    ("/wide", "spaces, line breaks or non-ASCII"),
    ("/control", "spaces, line breaks or non-ASCII"),
])
def test_a_token_file_that_cannot_be_used_is_named_without_what_it_holds(path, words):
    found = faults({"api_url": "http://x", "api_token_file": path})
    assert len(found) == 1
    assert f"file {path} (option api_token_file)" in found[0]
    assert words in found[0]
    assert "s3cr3t" not in found[0]


@pytest.mark.parametrize("path", ["bytes", "a\0b", "."])
def test_a_path_that_no_token_can_be_read_from(tmp_path, path):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    given = path if "\0" in path else str(tmp_path / path)

    def read(name):
        with open(name, encoding="utf-8") as handle:
            return handle.read()

    with pytest.raises(InputError) as caught:
        resolve_connection({"api_url": "http://x", "api_token_file": given}, {}, read)
    assert "cannot be read" in caught.value.message


@pytest.mark.parametrize(("params", "environ", "names"), [
    ({"api_token": "a", "api_token_file": "/good"}, {}, ("option api_token", "option api_token_file")),
    ({}, {"GARAGE_ADMIN_TOKEN": "a", "GARAGE_ADMIN_TOKEN_FILE": "/good"}, ("GARAGE_ADMIN_TOKEN", "GARAGE_ADMIN_TOKEN_FILE")),
])
def test_two_tokens_of_one_kind_are_refused(params, environ, names):
    found = faults({"api_url": "http://x", **params}, environ)
    assert len(found) == 1
    assert "both set" in found[0]
    assert all(name in found[0] for name in names)


# all at once

EVERYTHING_WRONG = {"api_url": "ftp://x", "api_token": "a b", "api_token_file": "/good", "timeout": 0.0, "retries": -1, "retry_delay": -0.5,
                    "client_key": "/key"}


@pytest.mark.requirement("MH-10")
def test_all_faults_come_at_once():
    found = faults(EVERYTHING_WRONG, ENVIRON)
    assert [fault.split(":")[0].split(" ")[0] for fault in found] == ["api_url", "option", "the", "timeout", "retries", "retry_delay", "client_key"]


def test_faults_say_where():
    found = faults({**EVERYTHING_WRONG, "api_url": None}, ENVIRON, "remotes[1].")
    assert len(found) == 7
    assert all("remotes[1]." in fault for fault in found)
    assert not any("GARAGE_" in fault for fault in found)


def test_a_place_of_its_own_takes_nothing_from_the_environment():
    assert len(faults({}, ENVIRON, "remotes[1].")) == 2


@pytest.mark.requirement("OP-119")
@pytest.mark.parametrize(("name", "bad", "good"), [
    ("timeout", [0.0, -1.0, 1e9, float("inf"), float("nan")], [0.1, 60.0, 3600.0]),
    ("retries", [-1, 101], [0, 100]),
    ("retry_delay", [-0.1, 3601.0, float("nan"), float("inf")], [0.0, 3600.0]),
])
def test_numbers_are_bounded(name, bad, good):
    for value in bad:
        found = faults({**BOTH, name: value})
        assert len(found) == 1
        assert found[0].startswith(f"{name}: ")
    for value in good:
        resolve({**BOTH, name: value})


def test_together_gathers_the_faults_of_all():
    def wrong(*words, hint=None):
        raise InputError(words, hint)

    assert together(lambda: 1, lambda: None) == (1, None)
    with pytest.raises(InputError) as caught:
        together(lambda: wrong("a", "b"), lambda: 1, lambda: wrong("c", hint="do it"), lambda: wrong("d", hint="or not"))
    assert caught.value.faults == ("a", "b", "c", "d")
    assert caught.value.message == "a; b; c; d"
    assert caught.value.hint == "do it"


def test_together_lets_other_errors_through():
    with pytest.raises(ZeroDivisionError):
        together(lambda: 1 / 0)


# certificates and numbers

@pytest.mark.requirement("FC-083")
@pytest.mark.parametrize(("params", "environ", "verify"), [
    ({}, {}, True),
    ({"validate_certs": True}, {}, True),
    ({"validate_certs": None}, {}, True),
    ({"validate_certs": False}, {}, False),
    ({"validate_certs": False, "ca_path": "/ca"}, {"GARAGE_CA_PATH": "/env"}, False),
    ({"validate_certs": True, "ca_path": "/ca"}, {"GARAGE_CA_PATH": "/env"}, "/ca"),
    ({"validate_certs": True}, {"GARAGE_CA_PATH": "/env"}, "/env"),
    ({"ca_path": ""}, {"GARAGE_CA_PATH": "/env"}, True),
])
def test_what_is_validated(params, environ, verify):
    assert resolve({**BOTH, **params}, environ).verify == verify


@pytest.mark.parametrize(("cert", "key", "expected"), [(None, None, None), ("/c", None, "/c"), ("/c", "/k", ("/c", "/k"))])
def test_client_certificates(cert, key, expected):
    assert resolve({**BOTH, "client_cert": cert, "client_key": key}).client_cert == expected


@pytest.mark.requirement("OP-119")
def test_defaults_are_those_that_are_documented():
    spec, client = connection_spec(), inspect.signature(Client).parameters
    assert resolve(BOTH).timeout == resolve({**BOTH, "timeout": None}).timeout == spec["timeout"]["default"]
    assert Connection("http://x", "t", "s").timeout == spec["timeout"]["default"]
    assert Connection("http://x", "t", "s").verify is resolve(BOTH).verify is spec["validate_certs"]["default"]
    assert client["retries"].default == spec["retries"]["default"]
    assert client["retry_delay"].default == spec["retry_delay"]["default"]


# the role of the site

@pytest.mark.requirement("LW-03", "LW-15")
@pytest.mark.parametrize(("option", "profile", "expected"), [
    (None, None, None),
    (None, "", None),
    ("writer", None, "writer"),
    ("follower", None, "follower"),
    (None, "writer", "writer"),
    (None, "follower", "follower"),
    ("writer", "writer", "writer"),
    ("writer", "follower", "follower"),
    ("follower", "writer", "follower"),
    ("follower", "follower", "follower"),
])
def test_the_role_of_the_site(option, profile, expected):
    environ = {} if profile is None else {"GARAGE_SITE_ROLE": profile}
    assert resolve_site_role({"site_role": option}, environ) == expected
    if option is None:
        assert resolve_site_role({}, environ) == expected


@pytest.mark.requirement("LW-02")
@pytest.mark.parametrize("profile", ["Leader", "Follower", "WRITER", "follower ", "none"])
@pytest.mark.parametrize("option", [None, "writer", "follower"])
def test_a_role_that_is_neither_is_refused(option, profile):
    with pytest.raises(InputError) as caught:
        resolve_site_role({"site_role": option}, {"GARAGE_SITE_ROLE": profile})
    assert "GARAGE_SITE_ROLE" in caught.value.message
    assert repr(profile) in caught.value.message


@pytest.mark.requirement("LW-02", "LW-03", "LW-52")
def test_the_option_is_pinned():
    assert connection_spec()["site_role"] == {"type": "str", "choices": ["writer", "follower"]}
