# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The settings of a bucket: quotas, website, CORS, lifecycle."""

from __future__ import annotations

import pytest

from tests.contract.server import Server

BAD = "Bad request: "


@pytest.mark.requirement("GS-10")
def test_quotas_are_replaced_as_a_whole(server: Server) -> None:
    bucket = server.make_bucket()
    assert server.update(bucket, quotas={"maxSize": 5, "maxObjects": 7})["quotas"] == {"maxSize": 5, "maxObjects": 7}
    assert server.update(bucket, quotas={"maxObjects": 8})["quotas"] == {"maxSize": None, "maxObjects": 8}
    assert server.update(bucket, quotas={"maxSize": 0, "maxObjects": None})["quotas"] == {"maxSize": 0, "maxObjects": None}
    assert server.update(bucket, quotas=None)["quotas"] == {"maxSize": 0, "maxObjects": None}
    assert server.update(bucket)["quotas"] == {"maxSize": 0, "maxObjects": None}
    assert server.update(bucket, quotas={})["quotas"] == {"maxSize": None, "maxObjects": None}


def test_quotas_are_unsigned_64_bit_numbers(server: Server) -> None:
    bucket = server.make_bucket()
    assert server.update(bucket, quotas={"maxSize": 2**64 - 1})["quotas"]["maxSize"] == 2**64 - 1
    for wrong in (2**64, -1, 1.5, "5", True):
        assert server.update_refusal(bucket, quotas={"maxSize": wrong}) == (400, "InvalidRequest", BAD + "Invalid JSON"), wrong


@pytest.mark.requirement("GS-09")
def test_a_website_is_overwritten_but_for_its_routing_rules(server: Server) -> None:
    bucket = server.make_bucket()
    rule = {"Redirect": {"HostName": "example.org"}}
    first = server.update(bucket, websiteAccess={"enabled": True, "indexDocument": "index.html", "errorDocument": "e.html", "routingRules": [rule]})
    kept = {"routingRules": [{"Condition": None, "Redirect": {"HostName": "example.org", "HttpRedirectCode": 302}}]} if server.since(2, 3) else {}
    assert first["websiteAccess"] is True
    assert first["websiteConfig"] == {"indexDocument": "index.html", "errorDocument": "e.html", **kept}
    second = server.update(bucket, websiteAccess={"enabled": True, "indexDocument": "i"})
    assert second["websiteConfig"] == {"indexDocument": "i", "errorDocument": None, **kept}
    third = server.update(bucket, websiteAccess={"enabled": True, "indexDocument": "i", "routingRules": []})
    assert third["websiteConfig"].get("routingRules", []) == []
    off = server.update(bucket, websiteAccess={"enabled": False})
    assert off["websiteAccess"] is False
    assert off.get("websiteConfig") is None


@pytest.mark.requirement("GS-09")
def test_a_website_needs_an_index_and_off_takes_none(server: Server) -> None:
    bucket = server.make_bucket()
    assert server.update_refusal(bucket, websiteAccess={"enabled": True}) == (
        400, "InvalidRequest", BAD + "Please specify indexDocument when enabling website access.")
    server.update(bucket, websiteAccess={"enabled": True, "indexDocument": "i"})
    assert server.update_refusal(bucket, websiteAccess={"enabled": True, "errorDocument": "e"})[:2] == (400, "InvalidRequest")
    for document in ({"indexDocument": "i"}, {"errorDocument": "e"}):
        assert server.update_refusal(bucket, websiteAccess={"enabled": False, **document}) == (
            400, "InvalidRequest", BAD + "Cannot specify indexDocument or errorDocument when disabling website access.")
    assert server.update_refusal(bucket, websiteAccess={}) == (400, "InvalidRequest", BAD + "Invalid JSON")
    assert server.update(bucket, websiteAccess={"enabled": False, "routingRules": []})["websiteAccess"] is False


def test_documents_are_not_looked_at(server: Server) -> None:
    bucket = server.make_bucket()
    shown = server.update(bucket, websiteAccess={"enabled": True, "indexDocument": "", "errorDocument": ""})
    assert {name: shown["websiteConfig"][name] for name in ("indexDocument", "errorDocument")} == {"indexDocument": "", "errorDocument": ""}
    assert server.update(bucket, websiteAccess={"enabled": True, "indexDocument": "a/b"})["websiteConfig"]["indexDocument"] == "a/b"


MISSING_UNDER_A = {"Condition": {"HttpErrorCodeReturnedEquals": 404, "KeyPrefixEquals": "a/"},
                   "Redirect": {"ReplaceKeyPrefixWith": "b/", "HttpRedirectCode": 200}}
ROUTING = [
    ({"Redirect": {}}, {"Condition": None, "Redirect": {"HttpRedirectCode": 302}}),
    ({"Condition": {}, "Redirect": {"HttpRedirectCode": 404}}, {"Condition": {}, "Redirect": {"HttpRedirectCode": 404}}),
    (MISSING_UNDER_A, MISSING_UNDER_A),
    ({"Redirect": {"HostName": "h", "Protocol": "https", "HttpRedirectCode": 301, "ReplaceKeyWith": ""}},
     {"Condition": None, "Redirect": {"HostName": "h", "Protocol": "https", "HttpRedirectCode": 301, "ReplaceKeyWith": ""}}),
    ({"Redirect": {"Protocol": "http"}}, {"Condition": None, "Redirect": {"Protocol": "http", "HttpRedirectCode": 302}}),
]


@pytest.mark.parametrize(("rule", "shown"), ROUTING)
def test_routing_rules_are_read_back(server: Server, rule: dict, shown: dict) -> None:
    bucket = server.make_bucket()
    website = server.update(bucket, websiteAccess={"enabled": True, "indexDocument": "i", "routingRules": [rule]})["websiteConfig"]
    assert website.get("routingRules") == ([shown] if server.since(2, 3) else None)


@pytest.mark.parametrize(("rule", "reason"), [
    ({"Redirect": {"ReplaceKeyWith": "a", "ReplaceKeyPrefixWith": "b"}}, "Bad XML: both ReplaceKeyPrefixWith and ReplaceKeyWith are set"),
    ({"Redirect": {"HttpRedirectCode": 300}}, "Bad XML: invalid HttpRedirectCode"),
    ({"Redirect": {"HttpRedirectCode": 301, "Protocol": "http"}}, "Bad XML: HostName must be set if Protocol is set"),
    ({"Redirect": {"HttpRedirectCode": 200, "HostName": "h"}},
     "Bad XML: an HttpRedirectCode of 200 is not acceptable alongside HostName or Protocol"),
    ({"Redirect": {"HttpRedirectCode": 404, "Protocol": "http"}},
     "Bad XML: an HttpRedirectCode of 200 is not acceptable alongside HostName or Protocol"),
    ({"Redirect": {"Protocol": "ftp", "HostName": "h"}}, "Bad XML: invalid protocol"),
    ({"Condition": {"HttpErrorCodeReturnedEquals": 500}, "Redirect": {}}, "Bad XML: HttpErrorCodeReturnedEquals must be 404 or absent"),
    ({}, "Invalid JSON"),
    ({"Redirect": None}, "Invalid JSON"),
    ({"Redirect": {"HttpRedirectCode": "301"}}, "Invalid JSON"),
])
def test_routing_rules_that_are_refused(server: Server, rule: dict, reason: str) -> None:
    bucket = server.make_bucket()
    if server.since(2, 3):
        website = {"enabled": True, "indexDocument": "i", "routingRules": [rule]}
        assert server.update_refusal(bucket, websiteAccess=website) == (400, "InvalidRequest", BAD + reason)
        assert server.bucket(bucket["id"])["websiteAccess"] is False


CORS = {"AllowedOrigin": ["*"], "AllowedMethod": ["GET"]}


@pytest.mark.requirement("GS-11")
def test_cors_rules_have_three_states(server: Server) -> None:
    bucket = server.make_bucket()
    kept = [{**CORS, "AllowedHeader": [], "ExposeHeader": []}] if server.since(2, 3) else None
    assert server.update(bucket, corsRules=[CORS]).get("corsRules") == kept
    assert server.update(bucket).get("corsRules") == kept
    assert server.update(bucket, corsRules=None).get("corsRules") == kept
    assert "corsRules" not in server.update(bucket, corsRules=[])


@pytest.mark.parametrize("rule", [
    {"ID": "r", "MaxAgeSeconds": 60, "AllowedOrigin": ["https://a", "https://b"], "AllowedMethod": ["PUT", "GET"], "AllowedHeader": ["*"],
     "ExposeHeader": ["ETag"]},
    {**CORS, "AllowedMethod": ["FLY", "get"], "AllowedHeader": [], "ExposeHeader": []},
    {**CORS, "AllowedOrigin": [], "AllowedMethod": [], "AllowedHeader": [], "ExposeHeader": []},
    {**CORS, "MaxAgeSeconds": -1, "AllowedHeader": [], "ExposeHeader": []},
    {**CORS, "ID": "", "AllowedHeader": ["X-A", "x-a"], "ExposeHeader": []},
])
def test_cors_rules_are_kept_as_they_are(server: Server, rule: dict) -> None:
    shown = server.update(server.make_bucket(), corsRules=[rule, rule])
    assert shown.get("corsRules") == ([rule, rule] if server.since(2, 3) else None)


@pytest.mark.parametrize(("rule", "reason"), [
    ({**CORS, "AllowedMethod": ["A B"]}, "Invalid CORSRule method: invalid HTTP method"),
    ({**CORS, "AllowedMethod": [""]}, "Invalid CORSRule method: invalid HTTP method"),
    ({**CORS, "AllowedHeader": ["x:y"]}, "Invalid HTTP header name: invalid HTTP header name"),
    ({**CORS, "ExposeHeader": [""]}, "Invalid HTTP header name: invalid HTTP header name"),
    ({"allowedOrigin": ["*"], "allowedMethod": ["GET"]}, "Invalid JSON"),
    ({**CORS, "AllowedOrigin": "*"}, "Invalid JSON"),
    ({**CORS, "AllowedHeader": None}, "Invalid JSON"),
    ({**CORS, "MaxAgeSeconds": "60"}, "Invalid JSON"),
])
def test_cors_rules_that_are_refused(server: Server, rule: dict, reason: str) -> None:
    bucket = server.make_bucket()
    if server.since(2, 3):
        assert server.update_refusal(bucket, quotas={"maxSize": 1}, corsRules=[CORS, rule]) == (400, "InvalidRequest", BAD + reason)
        # One bad rule and nothing of the request is kept.
        shown = server.bucket(bucket["id"])
        assert ("corsRules" in shown, shown["quotas"]["maxSize"]) == (False, None)


EXPIRE = {"ID": "e", "Status": "Enabled", "Expiration": {"Days": 30}}


@pytest.mark.requirement("GS-11")
def test_lifecycle_rules_have_three_states(server: Server) -> None:
    bucket = server.make_bucket()
    kept = [EXPIRE] if server.since(2, 3) else None
    assert server.update(bucket, lifecycleRules=[EXPIRE]).get("lifecycleRules") == kept
    assert server.update(bucket, lifecycleRules=None).get("lifecycleRules") == kept
    assert "lifecycleRules" not in server.update(bucket, lifecycleRules=[])


@pytest.mark.parametrize(("rule", "shown"), [
    (EXPIRE, EXPIRE),
    ({**EXPIRE, "Filter": {}}, EXPIRE),
    ({**EXPIRE, "Filter": {"And": {}}}, EXPIRE),
    ({**EXPIRE, "Filter": {"And": {"Prefix": "a"}}}, {**EXPIRE, "Filter": {"Prefix": "a"}}),
    ({**EXPIRE, "Filter": {"Prefix": ""}}, {**EXPIRE, "Filter": {"Prefix": ""}}),
    ({**EXPIRE, "Filter": {"ObjectSizeGreaterThan": 0}}, {**EXPIRE, "Filter": {"ObjectSizeGreaterThan": 0}}),
    ({**EXPIRE, "Filter": {"And": {"Prefix": "a", "ObjectSizeLessThan": 5, "ObjectSizeGreaterThan": 9}}},
     {**EXPIRE, "Filter": {"And": {"Prefix": "a", "ObjectSizeLessThan": 5, "ObjectSizeGreaterThan": 9}}}),
    ({"Status": "Disabled"}, {"Status": "Disabled"}),
    ({"Status": "Enabled", "Expiration": {"Days": 0}}, {"Status": "Enabled", "Expiration": {"Days": 0}}),
    ({"Status": "Enabled", "Expiration": {"Days": -3}}, {"Status": "Enabled", "Expiration": {"Days": -3}}),
    ({"Status": "Enabled", "Expiration": {"Date": "2030-01-31"}}, {"Status": "Enabled", "Expiration": {"Date": "2030-01-31"}}),
    ({"Status": "Enabled", "Expiration": {"Date": "2030-01-31T00:00:00Z"}}, {"Status": "Enabled", "Expiration": {"Date": "2030-01-31T00:00:00Z"}}),
    ({"Status": "Enabled", "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7}},
     {"Status": "Enabled", "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7}}),
])
def test_lifecycle_rules_are_normalised(server: Server, rule: dict, shown: dict) -> None:
    answer = server.update(server.make_bucket(), lifecycleRules=[rule, rule])
    assert answer.get("lifecycleRules") == ([shown, shown] if server.since(2, 3) else None)


LIFECYCLE = "Invalid lifecycle configuration: "


@pytest.mark.parametrize(("rule", "reason"), [
    ({**EXPIRE, "Status": "enabled"}, LIFECYCLE + "invalid value for <Status>"),
    ({"ID": "x"}, "Invalid JSON"),
    ({**EXPIRE, "Filter": {"Prefix": "a", "ObjectSizeLessThan": 5}}, LIFECYCLE + "Multiple Filter conditions must be wrapped in an <And> tag"),
    ({**EXPIRE, "Filter": {"Prefix": "a", "And": {}}}, LIFECYCLE + "Filter tag cannot contain both <And> and another condition"),
    ({**EXPIRE, "Filter": {"And": {"And": {}}}}, LIFECYCLE + "Nested <And> tags"),
    ({**EXPIRE, "Expiration": {}}, LIFECYCLE + "<Expiration> must contain either <Days> or <Date>"),
    ({**EXPIRE, "Expiration": {"Days": 1, "Date": "2030-01-01"}}, LIFECYCLE + "cannot have both <Days> and <Date> in <Expiration>"),
    ({**EXPIRE, "Expiration": {"Date": "2030-02-30"}}, LIFECYCLE + "date has invalid format"),
    ({**EXPIRE, "Expiration": {"Date": "2030-01-01T12:00:00Z"}}, LIFECYCLE + "date must be at midnight"),
    ({**EXPIRE, "Expiration": {"Date": "2030-01-01T00:00:00+00:00"}}, LIFECYCLE + "date has invalid format"),
    ({**EXPIRE, "Expiration": {"Date": "2030-01-01T00:00:00.000Z"}}, LIFECYCLE + "date has invalid format"),
    ({**EXPIRE, "Expiration": {"Days": "30"}}, "Invalid JSON"),
    ({**EXPIRE, "AbortIncompleteMultipartUpload": {}}, "Invalid JSON"),
])
def test_lifecycle_rules_that_are_refused(server: Server, rule: dict, reason: str) -> None:
    bucket = server.make_bucket()
    if server.since(2, 3):
        assert server.update_refusal(bucket, lifecycleRules=[rule]) == (400, "InvalidRequest", BAD + reason)
        assert "lifecycleRules" not in server.bucket(bucket["id"])


def test_one_request_changes_all(server: Server) -> None:
    shown = server.update(server.make_bucket(), quotas={"maxSize": 1}, websiteAccess={"enabled": True, "indexDocument": "i"}, corsRules=[CORS],
                          lifecycleRules=[EXPIRE])
    assert (shown["quotas"]["maxSize"], shown["websiteAccess"]) == (1, True)
    assert ("corsRules" in shown, "lifecycleRules" in shown) == (server.since(2, 3), server.since(2, 3))
