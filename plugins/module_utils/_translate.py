# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Garage's JSON names and ours, in both directions; ordering and defaults. Pure. Private: not for use outside of the collection.

Rules inside buckets keep S3's PascalCase on the wire (``AllowedOrigin``); users write and read snake_case. Each kind has three functions:
``…_rule`` checks and normalises what a user wrote, ``…_to_api`` and ``…_from_api`` translate. The normal form is what is compared, so
a rule that only differs in the order of its lists, or in a default the server fills in, is equal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ._units import parse_size

_DAY = r"YYYY-MM-DD"


def present_only(pairs: Mapping[str, Any]) -> dict:
    """The mapping without its None values: what a body holds of optional fields."""
    return {name: value for name, value in pairs.items() if value is not None}


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def snake_case(value: Any) -> Any:
    """An answer with every field name as users read it (``lastTrySecsAgo`` is ``last_try_secs_ago``); values are left as they are."""
    if isinstance(value, Mapping):
        return {_HUMP.sub("_", name).lower(): snake_case(item) for name, item in value.items()}
    return [snake_case(item) for item in value] if isinstance(value, (list, tuple)) else value


# CORS

def cors_rule(rule: Mapping) -> dict:
    """Normal form of a CORS rule. Raises ValueError."""
    for name in ("allowed_origins", "allowed_methods"):
        if not rule.get(name):
            raise ValueError(f"{name} must not be empty")
    age = rule.get("max_age_seconds")
    if age is not None and age < 0:
        raise ValueError("max_age_seconds must be 0 or more")
    return {
        "id": rule.get("id"),
        "allowed_origins": sorted(rule["allowed_origins"]),
        "allowed_methods": sorted(method.upper() for method in rule["allowed_methods"]),
        "allowed_headers": sorted(rule.get("allowed_headers") or ()),
        "expose_headers": sorted(rule.get("expose_headers") or ()),
        "max_age_seconds": age,
    }


def cors_to_api(rule: Mapping) -> dict:
    return present_only({
        "ID": rule["id"],
        "AllowedOrigin": rule["allowed_origins"],
        "AllowedMethod": rule["allowed_methods"],
        "AllowedHeader": rule["allowed_headers"],
        "ExposeHeader": rule["expose_headers"],
        "MaxAgeSeconds": rule["max_age_seconds"],
    })


def cors_from_api(rule: Mapping) -> dict:
    return {
        "id": rule.get("ID"),
        "allowed_origins": sorted(rule.get("AllowedOrigin") or ()),
        "allowed_methods": sorted(rule.get("AllowedMethod") or ()),
        "allowed_headers": sorted(rule.get("AllowedHeader") or ()),
        "expose_headers": sorted(rule.get("ExposeHeader") or ()),
        "max_age_seconds": rule.get("MaxAgeSeconds"),
    }


# lifecycle

def lifecycle_rule(rule: Mapping) -> dict:
    """Normal form of a lifecycle rule. Raises ValueError.

    Garage 2.5.0 accepts a rule without any action and zero days; both are refused here, since neither can be meant.
    """
    days, date = rule.get("expiration_days"), rule.get("expiration_date")
    abort = rule.get("abort_incomplete_multipart_upload_days")
    greater, less = _size(rule, "object_size_greater_than"), _size(rule, "object_size_less_than")
    if not rule.get("id"):
        raise ValueError("id must be set; it is how rules are told apart")
    if days is not None and date is not None:
        raise ValueError("expiration_days and expiration_date exclude one another")
    if days is None and date is None and abort is None:
        raise ValueError("has no action: set expiration_days, expiration_date or abort_incomplete_multipart_upload_days")
    for name, value in (("expiration_days", days), ("abort_incomplete_multipart_upload_days", abort)):
        if value is not None and value < 1:
            raise ValueError(f"{name}: {value} must be 1 or more")
    if greater is not None and less is not None and greater >= less:
        raise ValueError("object_size_greater_than must be smaller than object_size_less_than")
    return {
        "id": rule["id"],
        "status": rule.get("status") or "enabled",
        "prefix": rule.get("prefix") or None,
        "object_size_greater_than": greater,
        "object_size_less_than": less,
        "expiration_days": days,
        "expiration_date": _date(date) if date is not None else None,
        "abort_incomplete_multipart_upload_days": abort,
    }


def lifecycle_to_api(rule: Mapping) -> dict:
    conditions = present_only({
        "Prefix": rule["prefix"],
        "ObjectSizeGreaterThan": rule["object_size_greater_than"],
        "ObjectSizeLessThan": rule["object_size_less_than"],
    })
    # Several conditions are refused outside of And; one condition inside of And is taken out of it again by the server.
    shape = {"And": conditions} if len(conditions) > 1 else conditions or None
    expiration = present_only({"Days": rule["expiration_days"], "Date": rule["expiration_date"]})
    abort = rule["abort_incomplete_multipart_upload_days"]
    return present_only({
        "ID": rule["id"],
        "Status": rule["status"].capitalize(),
        "Filter": shape,
        "Expiration": expiration or None,
        "AbortIncompleteMultipartUpload": None if abort is None else {"DaysAfterInitiation": abort},
    })


def lifecycle_from_api(rule: Mapping) -> dict:
    shape = rule.get("Filter") or {}
    shape = shape.get("And") or shape
    expiration = rule.get("Expiration") or {}
    date = expiration.get("Date")
    return {
        "id": rule.get("ID"),
        "status": str(rule.get("Status", "Enabled")).lower(),
        "prefix": shape.get("Prefix") or None,
        "object_size_greater_than": shape.get("ObjectSizeGreaterThan"),
        "object_size_less_than": shape.get("ObjectSizeLessThan"),
        "expiration_days": expiration.get("Days"),
        "expiration_date": date[:10] if date else None,
        "abort_incomplete_multipart_upload_days": (rule.get("AbortIncompleteMultipartUpload") or {}).get("DaysAfterInitiation"),
    }


def _size(rule: Mapping, name: str) -> int | None:
    value = rule.get(name)
    try:
        return None if value is None else parse_size(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _date(value: Any) -> str:
    """A day, also when written with a time, which must then be midnight UTC (S3's rule)."""
    from datetime import date

    text = str(value).strip()
    day, separator, rest = text.partition("T") if "T" in text else text.partition(" ")
    try:
        date.fromisoformat(day)
    except ValueError:
        raise ValueError(f"expiration_date: {value!r} is not a date; wanted {_DAY}") from None
    if separator and rest.replace(".000", "") not in ("00:00:00Z", "00:00:00+00:00", "00:00Z"):
        raise ValueError(f"expiration_date: {value!r} must be midnight UTC; write {day}")
    return day


# website routing

def routing_rule(rule: Mapping) -> dict:
    """Normal form of a website routing rule. Raises ValueError."""
    condition = rule.get("condition") or {}
    redirect = rule.get("redirect") or {}
    with_prefix, with_key = redirect.get("replace_key_prefix_with"), redirect.get("replace_key_with")
    if with_prefix is not None and with_key is not None:
        raise ValueError("redirect: replace_key_prefix_with and replace_key_with exclude one another")
    host = redirect.get("host_name") or None
    if redirect.get("protocol") and not host:
        raise ValueError("redirect: protocol needs host_name")
    error_code = condition.get("http_error_code_returned_equals")
    if error_code not in (None, 404):
        raise ValueError(f"condition: http_error_code_returned_equals: {error_code} is not supported by Garage; only 404 is")
    code = redirect.get("http_redirect_code")
    allowed = (200, 301, 302, 303, 307, 308, 404) if not host else (301, 302, 303, 307, 308)
    if code is not None and code not in allowed:
        raise ValueError(f"redirect: http_redirect_code: {code} must be one of {', '.join(map(str, allowed))}")
    return _routing(condition.get("key_prefix_equals"), error_code, host, redirect.get("protocol"), code or 302,
                    with_prefix, with_key)


def routing_to_api(rule: Mapping) -> dict:
    condition, redirect = rule["condition"], rule["redirect"]
    return present_only({
        "Condition": present_only({
            "KeyPrefixEquals": condition["key_prefix_equals"],
            "HttpErrorCodeReturnedEquals": condition["http_error_code_returned_equals"],
        }) or None,
        "Redirect": present_only({
            "HostName": redirect["host_name"],
            "Protocol": redirect["protocol"],
            "HttpRedirectCode": redirect["http_redirect_code"],
            "ReplaceKeyPrefixWith": redirect["replace_key_prefix_with"],
            "ReplaceKeyWith": redirect["replace_key_with"],
        }),
    })


def routing_from_api(rule: Mapping) -> dict:
    condition, redirect = rule.get("Condition") or {}, rule.get("Redirect") or {}
    return _routing(condition.get("KeyPrefixEquals"), condition.get("HttpErrorCodeReturnedEquals"), redirect.get("HostName"),
                    redirect.get("Protocol"), redirect.get("HttpRedirectCode") or 302, redirect.get("ReplaceKeyPrefixWith"),
                    redirect.get("ReplaceKeyWith"))


def _routing(prefix: Any, error_code: Any, host: Any, protocol: Any, code: Any, with_prefix: Any, with_key: Any) -> dict:
    return {
        "condition": {"key_prefix_equals": prefix, "http_error_code_returned_equals": error_code},
        "redirect": {"host_name": host, "protocol": protocol, "http_redirect_code": code, "replace_key_prefix_with": with_prefix,
                     "replace_key_with": with_key},
    }
