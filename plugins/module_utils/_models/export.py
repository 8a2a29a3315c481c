# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a cluster holds, as the document that would declare it. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .._errors import InputError
from .._names import bucket_name_fault
from .._translate import cors_rule, lifecycle_rule, routing_rule
from .admin_token import AdminToken, TokenSpec
from .bucket import UNLIMITED, Bucket
from .grant import RIGHTS
from .key import NEVER, Key, wanted_expiration

# What the modules take for a CORS rule; the server takes any word (seen on 2.5.0).
_METHODS = frozenset(("GET", "PUT", "POST", "DELETE", "HEAD"))
# The document is read as variables, and what somebody wrote into the cluster must not be carried out there.
_TEMPLATE = ("{{", "{%", "{#")


@dataclass(frozen=True)
class Live:
    """All keys with their details, all buckets, and the admin tokens of the database (None when they could not be read). ``complete`` is False when the
    server may have left keys out."""

    keys: tuple[Key, ...] = ()
    buckets: tuple[Bucket, ...] = ()
    complete: bool = True
    tokens: tuple[AdminToken, ...] | None = ()


@dataclass(frozen=True)
class Export:
    """``document``: all of it as the module ``tenancy`` takes them. ``notes``: what it does not say, and why."""

    document: dict
    notes: tuple[str, ...] = ()


def export(live: Live, prefix: str = "") -> Export:
    """Keys, buckets and admin tokens as a document that changes nothing when it is applied. Ids pin what is meant; there is no secret in it.

    ``prefix`` takes only keys and tokens whose name, and buckets one of whose global aliases, begins with it. What cannot be declared without a
    change is left out, which leaves it alone, and noted.
    """
    notes: list[str] = []
    tell = _Selectors(live)
    keys = [_key(key, tell, notes) for key in live.keys if key.name.startswith(prefix)]
    buckets = [_Bucket(bucket, tell, notes).row() for bucket in live.buckets
               if not prefix or any(alias.startswith(prefix) for alias in bucket.aliases)]
    document = {"keys": _in_order(keys), "buckets": _in_order(buckets)}
    if live.tokens is not None:
        names = Counter(token.name for token in live.tokens)
        document["admin_tokens"] = _in_order(_token(token, names, notes) for token in live.tokens if token.name.startswith(prefix))
    return Export(document, tuple(notes))


def _in_order(rows: Iterable[dict]) -> list[dict]:
    return sorted(rows, key=lambda row: ("name" not in row, row.get("name", ""), row["id"]))


class _Selectors:
    """How a document tells each key: by its name where that is one, belongs to no other key and is no other key's id; else by its id."""

    def __init__(self, live: Live) -> None:
        self._complete = live.complete
        ids, names = {key.id for key in live.keys}, Counter(key.name for key in live.keys)
        self._names = {key.id: key.name if key.name and names[key.name] == 1 and key.name not in ids and not _is_template(key.name) else None
                       for key in live.keys}

    def name(self, key_id: str) -> str | None:
        return self._names.get(key_id)

    def key(self, key_id: str) -> dict | None:
        """``key`` or ``key_id`` of a grant; None for a key that does not exist."""
        if key_id not in self._names and self._complete:
            return None
        name = self.name(key_id)
        return {"key_id": key_id} if name is None else {"key": name}


def _key(key: Key, tell: _Selectors, notes: list[str]) -> dict:
    expiration = _expiration(f"access key {key.id}", key.expiration, notes)
    return _lean({"name": tell.name(key.id), "id": key.id, "expiration": expiration, "allow_create_bucket": key.allow_create_bucket})


def _token(token: AdminToken, names: Counter, notes: list[str]) -> dict:
    """There is no store in it: a token that exists is taken over without one. An empty scope is one, and stays."""
    named = token.name.strip() and names[token.name] == 1 and not _is_template(token.name)
    scope: list[str] | None = list(token.scope)
    try:
        TokenSpec.from_params({"id": token.id, "scope": scope})
    except InputError as error:
        notes.append(f"admin token {token.id}: the scope: left out, because {error.message}")
        scope = None
    expiration = _expiration(f"admin token {token.id}", token.expiration, notes)
    row = {"name": token.name if named else None, "id": token.id, "scope": scope, "expiration": expiration}
    return {name: value for name, value in row.items() if value is not None}


def _expiration(of: str, live: str | None, notes: list[str]) -> str | None:
    """As an option; None when it cannot be declared."""
    expiration, faults = live or NEVER, []
    if wanted_expiration(expiration, faults) == expiration:
        return expiration
    notes.append(f"{of}: the expiration: left out, because {'; '.join(faults)}")
    return None


class _Bucket:
    """One bucket on its way into the document."""

    def __init__(self, bucket: Bucket, tell: _Selectors, notes: list[str]) -> None:
        self._live = bucket
        self._tell = tell
        self._notes = notes

    def row(self) -> dict:
        """What is not set is left out, but for quotas, website and grants: a server before 2.3.0 has rules that it does not show, and an empty list
        would clear them one day."""
        live = self._live
        names = [alias for alias in live.aliases if self._is_name(alias, f"the alias {alias!r}")]
        return {
            **_lean({"name": names[0] if names else None, "id": live.id, "aliases": names[1:], "local_aliases": self._local_aliases()}),
            "quotas": {"max_size": _limit(live.max_size), "max_objects": _limit(live.max_objects)},
            "website": self._website(),
            **_lean({"cors_rules": self._rules("CORS rules", live.cors_rules, _cors_rule),
                     "lifecycle_rules": self._rules("lifecycle rules", live.lifecycle_rules, lifecycle_rule, unique="id")}),
            "grants": self._grants(),
        }

    def _website(self) -> dict:
        live = self._live.website
        if live is None:
            return {"enabled": False}
        documents = {"index_document": live.index_document, "error_document": live.error_document}
        return {
            "enabled": True,
            # An empty name is one the server takes and no module does.
            **{name: value for name, value in documents.items() if value and self._is_plain(value, name.replace("_", " "))},
            **_lean({"routing_rules": self._rules("routing rules", live.routing_rules, routing_rule)}),
        }

    def _rules(self, what: str, rules: tuple[dict, ...], normal: Callable[[dict], dict], unique: str | None = None) -> list[dict] | None:
        """The rules as options; None when some of them cannot be declared as they are."""
        rows = [_lean(rule) for rule in rules]
        if not self._is_plain(rows, what):
            return None
        try:
            same = [normal(row) for row in rows] == list(rules)
            reason = "the modules would write them in another form"
        except ValueError as error:
            same, reason = False, f"the modules refuse them: {error}"
        if unique and len({row.get(unique) for row in rows}) < len(rows):
            same, reason = False, f"several have one {unique}"
        return rows if same else self._left_out(what, reason)

    def _grants(self) -> list[dict]:
        parties = [(self._tell.key(grant.key_id), grant) for grant in self._live.grants]
        for party, grant in parties:
            if party is None:
                self._left_out(f"the grant of access key {grant.key_id}", "there is no such key")
        return [{**party, **{right: getattr(grant, right) for right in RIGHTS}} for party, grant in parties if party]

    def _local_aliases(self) -> list[dict]:
        rows = [(self._tell.key(key_id), alias) for key_id, alias in self._live.local_aliases]
        return [{**party, "alias": alias} for party, alias in rows if party and self._is_name(alias, f"the local alias {alias!r}")]

    def _is_name(self, alias: str, what: str) -> bool:
        fault = bucket_name_fault(alias)
        if fault:
            self._left_out(what, fault)
        return not fault

    def _is_plain(self, value: Any, what: str) -> bool:
        template = _is_template(value)
        if template:
            self._left_out(what, "Ansible would take a part of it for a template")
        return not template

    def _left_out(self, what: str, reason: str) -> None:
        self._notes.append(f"bucket {next(iter(self._live.aliases), self._live.id)}: {what}: left out, because {reason}")


def _limit(live: int | None) -> int | str:
    return UNLIMITED if live is None else live


def _cors_rule(rule: dict) -> dict:
    unknown = sorted({*rule.get("allowed_methods", ())} - _METHODS)
    if unknown:
        raise ValueError(f"allowed_methods: {', '.join(unknown)}")
    if not all(rule.get("allowed_origins", ())):
        raise ValueError("allowed_origins: an empty one")
    return cors_rule(rule)


def _lean(value: Any) -> Any:
    """A rule or a row without what is not set: None, empty lists and empty mappings, at any depth."""
    if isinstance(value, dict):
        return {name: _lean(item) for name, item in value.items() if item is not None and _lean(item) not in ([], {})}
    return [_lean(item) for item in value] if isinstance(value, list) else value


def _is_template(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_is_template(item) for item in value.values())
    if isinstance(value, list):
        return any(_is_template(item) for item in value)
    return isinstance(value, str) and any(mark in value for mark in _TEMPLATE)
