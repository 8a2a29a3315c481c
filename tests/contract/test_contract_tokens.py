# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Admin tokens."""

from __future__ import annotations

import re

import pytest

from tests.contract.server import Server

DENIED = (403, "AccessDenied", "Forbidden: Invalid bearer token")
CONFIGURED = {"id": None, "created": None, "name": "admin_token (from daemon configuration)", "expiration": None, "expired": False, "scope": ["*"]}


def make(server: Server, **body: object) -> dict:
    return server.ok("CreateAdminToken", body={"name": server.name("token"), **body})


@pytest.mark.requirement("FC-079")
def test_a_new_token_shows_its_secret_once_and_may_do_all(server: Server) -> None:
    made = make(server)
    secret = made.pop("secretToken")
    assert re.fullmatch(r"[0-9a-f]{24}\.[A-Za-z0-9_-]{43}", secret)
    assert secret.startswith(made["id"] + ".")
    assert (made["expiration"], made["expired"], made["scope"]) == (None, False, ["*"])
    assert server.ok("GetAdminTokenInfo", {"id": made["id"]}) == made
    assert made in server.ok("ListAdminTokens")
    assert server.ok("ListBuckets", token=secret) is not None


def test_a_name_defaults_to_the_minute(server: Server) -> None:
    assert re.fullmatch(r"token_\d{8}_\d{4}", server.ok("CreateAdminToken", body={})["name"])


@pytest.mark.requirement("GS-05")
def test_the_configured_token_comes_first_and_has_no_id(server: Server) -> None:
    rows = server.ok("ListAdminTokens")
    assert rows[0] == CONFIGURED
    assert [row["id"] for row in rows[1:]] == sorted(row["id"] for row in rows[1:])


@pytest.mark.requirement("GS-02")
def test_a_token_may_ask_about_itself_whatever_its_scope(server: Server) -> None:
    if server.since(2, 1):
        made = make(server, scope=[])
        secret = made.pop("secretToken")
        assert server.ok("GetCurrentAdminTokenInfo", token=secret) == made
        assert server.refusal("ListBuckets", token=secret) == DENIED
        assert server.ok("GetCurrentAdminTokenInfo") == CONFIGURED
        assert server.refusal("GetCurrentAdminTokenInfo", token=None) == (400, "InvalidRequest", "Bad request: Missing Authorization header")
        assert server.refusal("GetCurrentAdminTokenInfo", token="wrong") == DENIED


@pytest.mark.requirement("GS-01")
def test_wrong_expired_too_narrow_and_deleted_are_all_the_same(server: Server) -> None:
    narrow, expired, deleted = make(server, scope=["ListBuckets", "TypoEndpoint"]), make(server, expiration="2001-01-01T00:00:00Z"), make(server)
    server.ok("DeleteAdminToken", {"id": deleted["id"]})
    assert narrow["scope"] == ["ListBuckets", "TypoEndpoint"]
    assert server.call("ListBuckets", token=narrow["secretToken"]).status == 200
    assert server.refusal("ListKeys", token=narrow["secretToken"]) == DENIED
    assert server.refusal("ListBuckets", token=expired["secretToken"]) == DENIED
    assert server.refusal("ListBuckets", token=deleted["secretToken"]) == DENIED
    assert server.refusal("ListBuckets", token=narrow["secretToken"][:-1]) == DENIED
    if server.since(2, 5):
        assert server.refusal("ListBucketsInfo", token=narrow["secretToken"]) == DENIED


def test_an_update_keeps_what_it_does_not_name(server: Server) -> None:
    made, date = make(server, scope=["ListBuckets"]), "2031-01-01T00:00:00Z"
    query = {"id": made["id"]}
    assert server.ok("UpdateAdminToken", query, {"expiration": date})["scope"] == ["ListBuckets"]
    changed = server.ok("UpdateAdminToken", query, {"name": "renamed", "scope": ["ListKeys", "ListKeys"]})
    assert changed == {"id": made["id"], "created": made["created"], "name": "renamed", "expiration": date, "expired": False,
                       "scope": ["ListKeys", "ListKeys"]}
    assert server.ok("UpdateAdminToken", query, {"neverExpires": True})["expiration"] is None
    assert server.ok("UpdateAdminToken", query, {"scope": None})["scope"] == ["ListKeys", "ListKeys"]
    for endpoint, place in (("UpdateAdminToken", query), ("CreateAdminToken", None)):
        assert server.refusal(endpoint, place, {"expiration": date, "neverExpires": True}) == (
            400, "InvalidRequest", "Bad request: cannot specify `expiration` and `never_expires`")
        assert server.refusal(endpoint, place, {"scope": "ListKeys"}) == (400, "InvalidRequest", "Bad request: Invalid JSON")


@pytest.mark.requirement("FC-080")
def test_a_search_that_fits_none_or_several_is_a_400(server: Server) -> None:
    name = server.name("double")
    one = make(server, name=name)
    make(server, name=name)
    assert server.refusal("GetAdminTokenInfo", {"search": name}) == (400, "InvalidRequest", "Bad request: 2 matching admin tokens")
    assert server.refusal("GetAdminTokenInfo", {"search": "nobody-has-this"}) == (400, "InvalidRequest", "Bad request: 0 matching admin tokens")
    assert server.ok("GetAdminTokenInfo", {"search": one["id"][:20].upper()})["id"] == one["id"]
    unique = make(server)
    assert server.ok("GetAdminTokenInfo", {"search": unique["name"].upper()})["id"] == unique["id"]
    for query in ({}, {"id": one["id"], "search": "x"}):
        assert server.refusal("GetAdminTokenInfo", query) == (
            400, "InvalidRequest", "Bad request: Either id or search must be provided (but not both)")


def test_a_token_that_is_not_there(server: Server) -> None:
    made = make(server)
    assert server.ok("DeleteAdminToken", {"id": made["id"]}) is None
    gone = (404, "NoSuchAdminToken", f"Admin token not found: {made['id']}")
    assert server.refusal("DeleteAdminToken", {"id": made["id"]}) == gone
    assert server.refusal("UpdateAdminToken", {"id": made["id"]}, {}) == gone
    assert server.refusal("GetAdminTokenInfo", {"id": made["id"]}) == gone
    assert made["id"] not in {row["id"] for row in server.ok("ListAdminTokens")}
