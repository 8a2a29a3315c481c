# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The front door: routes, bodies, queries, authorisation."""

from __future__ import annotations

import pytest

from tests.contract.server import Server

DENIED = (403, "AccessDenied", "Forbidden: Invalid bearer token")


def test_requests_are_parsed_before_anybody_asks_who_is_calling(server: Server) -> None:
    assert server.send("GET", "/v2/Nothing").refusal == (400, "InvalidRequest", "Bad request: Unknown API endpoint: GET /v2/Nothing")
    assert server.refusal("CreateBucket", body=b"{", token=None) == (400, "InvalidRequest", "Bad request: Invalid JSON")
    assert server.refusal("DeleteBucket", token=None) == (400, "InvalidRequest", "Bad request: Missing argument `id` for endpoint")
    assert server.refusal("GetKeyInfo", {"showSecretKey": True}, token=None) == (
        400, "InvalidRequest", "Bad request: Failed to parse query parameter")


@pytest.mark.requirement("GS-01")
@pytest.mark.parametrize(("header", "refusal"), [
    (None, (403, "AccessDenied", "Forbidden: Bearer token must be provided in Authorization header")),
    ("Bearer wrong", DENIED),
    ("Bearer wrong.token", DENIED),
    ("Bearer ", (403, "AccessDenied", "Forbidden: Invalid Authorization header")),
    ("bearer {token}", (403, "AccessDenied", "Forbidden: Invalid Authorization header")),
    ("Token {token}", (403, "AccessDenied", "Forbidden: Invalid Authorization header")),
    ("Bearer é", (400, "InvalidHeaderValue", "Invalid header value: failed to convert header to a str")),
])
def test_every_wrong_token_gets_the_same_403(server: Server, header: str | None, refusal: tuple) -> None:
    authorization = header and header.format(token=server.token)
    assert server.send("GET", "/v2/ListBuckets", authorization=authorization).refusal == refusal


def test_since_2_5_a_token_is_not_trimmed(server: Server) -> None:
    answer = server.send("GET", "/v2/GetClusterHealth", authorization=f"Bearer  {server.token}")
    assert answer.status == (403 if server.since(2, 5) else 200)


def test_errors_have_four_fields(server: Server) -> None:
    answer = server.call("DeleteBucket", {"id": "x"})
    assert answer.data == {"code": "InvalidRequest", "message": "Bad request: Invalid bucket id: Odd number of digits", "region": "garage",
                           "path": "/v2/DeleteBucket"}


@pytest.mark.parametrize(("method", "path"), [("POST", "/v2/GetClusterHealth"), ("GET", "/v2/CreateBucket"), ("GET", "/"),
                                              ("DELETE", "/v2/DeleteKey"), ("GET", "/v1/nothing"), ("GET", "/v2/getclusterhealth")])
def test_another_method_or_path_is_unknown(server: Server, method: str, path: str) -> None:
    assert server.send(method, path).refusal == (400, "InvalidRequest", f"Bad request: Unknown API endpoint: {method} {path}")


def test_a_little_of_v1_is_left(server: Server) -> None:
    assert server.send("GET", "/v1/health", authorization=f"Bearer {server.token}").data == server.ok("GetClusterHealth")
    assert server.send("GET", "/v1/status").refusal == (400, "InvalidRequest", "Bad request: v1/ endpoint is no longer supported: GetClusterStatus")


def test_health_needs_no_token(server: Server) -> None:
    answer = server.send("GET", "/health")
    assert answer.status == 200
    assert answer.data.startswith("Garage is fully operational\n")


def test_an_empty_parameter_is_none_and_a_repeated_one_is_refused(server: Server) -> None:
    bucket = server.make_bucket()
    assert server.call("GetBucketInfo", {"id": bucket["id"], "globalAlias": ""}).data["id"] == bucket["id"]
    assert server.call("GetBucketInfo", {"id": bucket["id"], "unknown": "x"}).data["id"] == bucket["id"]
    refusal = server.refusal("GetBucketInfo", {"id": [bucket["id"], bucket["id"]]})
    assert refusal == (400, "InvalidRequest", "Bad request: Query parameter repeated: 'id'")


def test_an_unknown_field_is_ignored(server: Server) -> None:
    alias = server.name("unknown")
    assert server.ok("CreateBucket", body={"globalAlias": alias, "nonsense": 1})["globalAliases"] == [alias]


@pytest.mark.parametrize("body", [None, b"nonsense", b"null", "text", 3, {"globalAlias": 3}, {"globalAlias": []}, {"localAlias": {}},
                                  {"localAlias": {"accessKeyId": "x", "alias": "abc", "allow": None}}])
def test_a_body_of_another_shape_is_refused(server: Server, body: object) -> None:
    assert server.refusal("CreateBucket", body=body) == (400, "InvalidRequest", "Bad request: Invalid JSON")


def test_new_endpoints_are_unknown_to_old_servers(server: Server) -> None:
    answers = {name: server.call(name, {"limit": 1}).status for name in ("ListBucketsInfo", "ListKeysInfo")}
    expected = 200 if server.since(2, 5) else 400
    assert answers == {"ListBucketsInfo": expected, "ListKeysInfo": expected}
