# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The forms that a credential can have in a store. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .store import StoreSpec

CONTENT = "content"
TOKEN = "token"
CREDENTIALS = "credentials"
_NAMES = {
    "keys": {"access_key_id": "access-key-id", "secret_access_key": "secret-access-key", "endpoint": "endpoint", "host": "host", "scheme": "scheme",
             "region": "region", "bucket": "bucket", "website_url": "website-url"},
    "env": {"access_key_id": "AWS_ACCESS_KEY_ID", "secret_access_key": "AWS_SECRET_ACCESS_KEY", "endpoint": "AWS_ENDPOINT_URL",
            "region": "AWS_DEFAULT_REGION", "bucket": "BUCKET_NAME", "website_url": "WEBSITE_URL"},
    "aws_credentials": {"access_key_id": "aws_access_key_id", "secret_access_key": "aws_secret_access_key", "endpoint": "endpoint_url",
                        "region": "region"},
}
FIELDS = tuple(_NAMES["keys"])
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_URL = re.compile(r"(?P<scheme>https?)://(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?P<port>:[0-9]{1,5})?(/[^\s?#]*)?")
# What all that read a credentials file take as the name of a section.
_PROFILE = re.compile(r"[A-Za-z0-9_.@:/+-]+")
# What no shell, systemd or container engine reads as anything but itself.
_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+=,-]+")


def key_data(spec: StoreSpec, key_id: str, secret: str) -> dict[str, str]:
    """The data of an entry for an access key."""
    url = _URL.fullmatch(spec.endpoint or "")
    values = {"access_key_id": key_id, "secret_access_key": secret, "endpoint": spec.endpoint,
              "host": url["host"] + (url["port"] or "") if url else None, "scheme": url["scheme"] if url else None,
              "region": spec.region, "bucket": spec.bucket, "website_url": spec.website_url}
    named = {name: values[field] for field, name in field_names(spec).items() if values[field] is not None}
    if spec.format == "aws_credentials":
        text = f"[{spec.profile or 'default'}]\n" + "".join(f"{name} = {value}\n" for name, value in named.items())
        return {CONTENT: text} if spec.is_text else {spec.data_keys.get(CREDENTIALS, CREDENTIALS): text, **spec.extra_data}
    data = {**named, **spec.extra_data}
    if not spec.is_text:
        return data
    if spec.format == "env":
        return {CONTENT: "".join(f"{name}={_quoted(value)}\n" for name, value in data.items())}
    return {CONTENT: json.dumps(data, indent=2) + "\n"}


def token_data(spec: StoreSpec, token: str) -> dict[str, str]:
    """The data of an entry for an admin token."""
    return {CONTENT: token + "\n"} if spec.is_text else {token_key(spec): token, **spec.extra_data}


def token_key(spec: StoreSpec) -> str:
    """The key of the data under which the token stands."""
    return CONTENT if spec.is_text else spec.data_keys.get(TOKEN, TOKEN)


def stored_pair(spec: StoreSpec, data: Mapping[str, str]) -> tuple[str, str] | None:
    """The id and the secret of an access key that an entry of this form holds, or None."""
    names = field_names(spec)
    wanted = (names.get("access_key_id"), names.get("secret_access_key"))
    if spec.format == "aws_credentials":
        found = _assignments(data.get(CONTENT if spec.is_text else spec.data_keys.get(CREDENTIALS, CREDENTIALS), ""), " = ")
    elif not spec.is_text:
        found = dict(data)
    elif spec.format == "env":
        found = _assignments(data.get(CONTENT, ""), "=")
    else:
        found = _from_json(data.get(CONTENT, ""))
    pair = tuple(found.get(name) for name in wanted)
    return pair if all(isinstance(text, str) and text for text in pair) else None


def field_names(spec: StoreSpec) -> dict[str, str]:
    """The name of each field in the entry; those that have none are left out."""
    names = {**_NAMES[spec.format], **{field: name for field, name in spec.data_keys.items() if field in FIELDS}}
    return {field: name for field, name in names.items() if name}


def layout_faults(spec: StoreSpec, token: bool) -> list[str]:
    """What is wrong with the form, each fault with the option that it is about."""
    known = (TOKEN,) if token else (CREDENTIALS,) if spec.format == "aws_credentials" else FIELDS
    faults = [f"data_keys: {name!r} is no field of such a credential; there are {', '.join(known)}" for name in spec.data_keys if name not in known]
    if token:
        faults += [f"{name}: a plain file holds the token and nothing else" for name in ("data_keys", "extra_data")
                   if spec.is_text and getattr(spec, name)]
    names = [token_key(spec)] if token else list(field_names(spec).values())
    names += list(spec.extra_data)
    faults += [f"data_keys: two values would be called {name!r}" for name in sorted({name for name in names if names.count(name) > 1})]
    if not token and not {"access_key_id", "secret_access_key"} <= field_names(spec).keys():
        faults.append("data_keys: access_key_id and secret_access_key must have a name")
    if spec.is_text and spec.format == "aws_credentials" and spec.extra_data:
        faults.append("extra_data: has no place in a credentials file")
    if spec.format == "env":
        faults += [f"data_keys: {name!r} is no name of a variable" for name in names if not _VARIABLE.fullmatch(name)]
    faults += [f"{name}: {url!r} is no address as https://{example}.example.org" for name, url, example in (
        ("endpoint", spec.endpoint, "s3"), ("website_url", spec.website_url, "media.web")) if url is not None and not _URL.fullmatch(url)]
    if spec.profile is not None and spec.format != "aws_credentials":
        faults.append("profile: is for format: aws_credentials")
    elif spec.profile is not None and not _PROFILE.fullmatch(spec.profile):
        faults.append(f"profile: {spec.profile!r} must be of letters, digits and _ . @ : / + -")
    flat = {**spec.extra_data, "region": spec.region or "", "bucket": spec.bucket or ""} if spec.format != "keys" else {}
    faults += [f"{'extra_data.' if name in spec.extra_data else ''}{name}: must be one line" for name, value in flat.items() if "\n" in value]
    return faults


def _quoted(value: str) -> str:
    return value if not value or _PLAIN.fullmatch(value) else "'" + value.replace("'", "'\\''") + "'"


def _assignments(text: str, between: str) -> dict[str, str]:
    pairs = [line.partition(between) for line in text.splitlines() if between in line]
    return {name: _unquoted(value) for name, dummy, value in pairs}


def _unquoted(value: str) -> str:
    try:
        return "".join(shlex.split(value)) if value.startswith("'") else value
    except ValueError:
        return value


def _from_json(text: str) -> dict:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
