# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Website, CORS and lifecycle of a bucket: checked and normalised as the server does it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from tests.fakes.garage.bodies import integer, many, struct, text
from tests.fakes.garage.errors import Refusal, bad_request

# What HTTP calls a token; the server takes any as a method or as a header's name.
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_REDIRECTS = (301, 302, 303, 307, 308)

ROUTING_RULE = struct(
    required={"Redirect": struct(optional={"HostName": text, "Protocol": text, "HttpRedirectCode": integer, "ReplaceKeyPrefixWith": text,
                                           "ReplaceKeyWith": text})},
    optional={"Condition": struct(optional={"HttpErrorCodeReturnedEquals": integer, "KeyPrefixEquals": text})},
)
CORS_RULE = struct(
    required={"AllowedOrigin": many(text), "AllowedMethod": many(text)},
    optional={"ID": text, "MaxAgeSeconds": integer},
    defaulted={"AllowedHeader": (many(text), []), "ExposeHeader": (many(text), [])},
)
_CONDITIONS = {"Prefix": text, "ObjectSizeGreaterThan": integer, "ObjectSizeLessThan": integer}
LIFECYCLE_RULE = struct(
    required={"Status": text},
    optional={
        "ID": text,
        "Filter": struct(optional={"And": struct(optional={**_CONDITIONS, "And": struct(optional=_CONDITIONS)}), **_CONDITIONS}),
        "Expiration": struct(optional={"Days": integer, "Date": text}),
        "AbortIncompleteMultipartUpload": struct(required={"DaysAfterInitiation": integer}),
    },
)


def keep_routing_rules(rules: list[dict]) -> list[dict]:
    """The rules as they are read back. Raises a Refusal."""
    for rule in rules:
        _check_condition(rule["Condition"] or {})
        _check_redirect(rule["Redirect"])
    return [{"Condition": None if rule["Condition"] is None else _set_only(rule["Condition"]),
             "Redirect": {"HttpRedirectCode": 302, **_set_only(rule["Redirect"])}} for rule in rules]


def keep_cors_rules(rules: list[dict]) -> list[dict] | None:
    """The rules as they are read back; None when the list is empty. Raises a Refusal."""
    for rule in rules:
        if not all(_TOKEN.fullmatch(method) for method in rule["AllowedMethod"]):
            raise bad_request("Invalid CORSRule method: invalid HTTP method")
        if not all(_TOKEN.fullmatch(header) for header in rule["AllowedHeader"] + rule["ExposeHeader"]):
            raise bad_request("Invalid HTTP header name: invalid HTTP header name")
    return [_set_only(rule) for rule in rules] or None


def keep_lifecycle_rules(rules: list[dict]) -> list[dict] | None:
    """The rules as they are read back; None when the list is empty. Raises a Refusal."""
    return [_lifecycle_rule(rule) for rule in rules] or None


def _check_condition(condition: Mapping) -> None:
    if condition.get("HttpErrorCodeReturnedEquals") not in (None, 404):
        raise bad_request("Bad XML: HttpErrorCodeReturnedEquals must be 404 or absent")


def _check_redirect(redirect: Mapping) -> None:
    host, protocol, code = redirect["HostName"], redirect["Protocol"], redirect["HttpRedirectCode"]
    if redirect["ReplaceKeyPrefixWith"] is not None and redirect["ReplaceKeyWith"] is not None:
        raise bad_request("Bad XML: both ReplaceKeyPrefixWith and ReplaceKeyWith are set")
    if protocol not in (None, "http", "https"):
        raise bad_request("Bad XML: invalid protocol")
    if code in _REDIRECTS and host is None and protocol is not None:
        raise bad_request("Bad XML: HostName must be set if Protocol is set")
    if code in (200, 404) and (host is not None or protocol is not None):
        raise bad_request("Bad XML: an HttpRedirectCode of 200 is not acceptable alongside HostName or Protocol")
    if code not in (None, 200, 404, *_REDIRECTS):
        raise bad_request("Bad XML: invalid HttpRedirectCode")


def _lifecycle_rule(rule: Mapping) -> dict:
    if rule["Status"] not in ("Enabled", "Disabled"):
        raise _bad_lifecycle("invalid value for <Status>")
    conditions = _filter(rule["Filter"] or {})
    if rule["Expiration"] is not None:
        _check_expiration(rule["Expiration"])
    return _set_only({
        **rule,
        "Filter": {"And": conditions} if len(conditions) > 1 else conditions or None,
        "Expiration": None if rule["Expiration"] is None else _set_only(rule["Expiration"]),
    })


def _filter(given: Mapping) -> dict:
    bare = _set_only({name: given.get(name) for name in _CONDITIONS})
    together = given.get("And")
    if together is None:
        if len(bare) > 1:
            raise _bad_lifecycle("Multiple Filter conditions must be wrapped in an <And> tag")
        return bare
    if bare:
        raise _bad_lifecycle("Filter tag cannot contain both <And> and another condition")
    if together["And"] is not None:
        raise _bad_lifecycle("Nested <And> tags")
    return _set_only(together)


def _check_expiration(expiration: Mapping) -> None:
    days, day = expiration["Days"], expiration["Date"]
    if days is not None and day is not None:
        raise _bad_lifecycle("cannot have both <Days> and <Date> in <Expiration>")
    if days is None and day is None:
        raise _bad_lifecycle("<Expiration> must contain either <Days> or <Date>")
    if day is not None:
        _check_day(day)


def _check_day(day: str) -> None:
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)Z)?", day)
    try:
        date.fromisoformat(found.group(1) if found else day)
    except ValueError:
        raise _bad_lifecycle("date has invalid format") from None
    if found and found.group(2) not in (None, "00:00:00"):
        raise _bad_lifecycle("date must be at midnight")


def _bad_lifecycle(reason: str) -> Refusal:
    return bad_request(f"Invalid lifecycle configuration: {reason}")


def _set_only(values: Mapping) -> dict:
    return {name: value for name, value in values.items() if value is not None}
