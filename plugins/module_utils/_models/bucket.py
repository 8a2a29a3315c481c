# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Buckets, as they are and as they are wanted. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .._errors import InputError
from .._names import bucket_id_fault, bucket_name_fault
from .._translate import (
    cors_from_api,
    cors_rule,
    lifecycle_from_api,
    lifecycle_rule,
    routing_from_api,
    routing_rule,
)
from .._units import parse_size

UNLIMITED = "unlimited"


@dataclass(frozen=True)
class Website:
    """Website access of a bucket; None instead of one means off."""

    index_document: str
    error_document: str | None = None
    routing_rules: tuple[dict, ...] = ()


@dataclass(frozen=True)
class BucketGrant:
    """What one key may do with a bucket; at least one of the three."""

    key_id: str
    key_name: str
    read: bool = False
    write: bool = False
    owner: bool = False


@dataclass(frozen=True)
class LocalAlias:
    """A name by which one key alone knows a bucket. The key is told by its name or its id."""

    alias: str
    key: str | None = None
    key_id: str | None = None

    @property
    def selector(self) -> str:
        return self.key_id or self.key or ""


@dataclass(frozen=True)
class Bucket:
    """A bucket as the server shows it. Sizes are bytes; a quota of None is no limit, 0 is a limit of nothing.

    ``local_aliases`` are pairs of key id and alias. Garage 2.1.0 to 2.3.0 hides those of keys without rights here (not in ListBuckets).
    """

    id: str | None
    aliases: tuple[str, ...] = ()
    created: str | None = None
    website: Website | None = None
    max_size: int | None = None
    max_objects: int | None = None
    cors_rules: tuple[dict, ...] = ()
    lifecycle_rules: tuple[dict, ...] = ()
    grants: tuple[BucketGrant, ...] = ()
    local_aliases: tuple[tuple[str | None, str], ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_api(cls, info: Mapping) -> Bucket:
        """From a GetBucketInfo answer; lists that the server gives in random order are sorted."""
        quotas = info.get("quotas") or {}
        website = info.get("websiteConfig") if info.get("websiteAccess") else None
        return cls(
            id=info["id"],
            created=info.get("created"),
            aliases=tuple(sorted(info.get("globalAliases") or ())),
            website=None if website is None else Website(
                index_document=website["indexDocument"], error_document=website.get("errorDocument"),
                routing_rules=tuple(routing_from_api(rule) for rule in website.get("routingRules") or ())),
            max_size=quotas.get("maxSize"),
            max_objects=quotas.get("maxObjects"),
            cors_rules=tuple(cors_from_api(rule) for rule in info.get("corsRules") or ()),
            lifecycle_rules=by_id(lifecycle_from_api(rule) for rule in info.get("lifecycleRules") or ()),
            grants=tuple(sorted((_grant(key) for key in info.get("keys") or () if any(key["permissions"].values())), key=lambda grant: grant.key_id)),
            local_aliases=tuple(sorted((key["accessKeyId"], alias) for key in info.get("keys") or () for alias in key.get("bucketLocalAliases") or ())),
            usage={ours: info.get(theirs, 0) for ours, theirs in _USAGE.items()},
        )

    def to_result(self) -> dict:
        """The bucket as a user sees it."""
        return {
            "id": self.id,
            "aliases": list(self.aliases),
            "local_aliases": [{"key_id": key_id, "alias": alias} for key_id, alias in self.local_aliases],
            "created": self.created,
            "quotas": {"max_size": self.max_size, "max_objects": self.max_objects},
            "website": {
                "enabled": self.website is not None,
                "index_document": self.website.index_document if self.website else None,
                "error_document": self.website.error_document if self.website else None,
                "routing_rules": list(self.website.routing_rules) if self.website else [],
            },
            "cors_rules": list(self.cors_rules),
            "lifecycle_rules": list(self.lifecycle_rules),
            "grants": [{"key_id": grant.key_id, "key_name": grant.key_name, "read": grant.read, "write": grant.write, "owner": grant.owner}
                       for grant in self.grants],
            **{name: self.usage.get(name, 0) for name in _USAGE},
        }


_USAGE = {
    "objects": "objects",
    "bytes": "bytes",
    "unfinished_uploads": "unfinishedUploads",
    "unfinished_multipart_uploads": "unfinishedMultipartUploads",
    "unfinished_multipart_upload_parts": "unfinishedMultipartUploadParts",
    "unfinished_multipart_upload_bytes": "unfinishedMultipartUploadBytes",
}


@dataclass(frozen=True)
class BucketSpec:
    """A bucket as it is wanted. None leaves a thing alone, an empty tuple clears it.

    ``max_size`` and ``max_objects`` are a number or "unlimited". ``website`` is the user's dictionary (enabled, index_document,
    error_document, routing_rules), because what it leaves out is merged with the live one.
    """

    name: str | None = None
    id: str | None = None
    absent: bool = False
    aliases: tuple[str, ...] | None = None
    purge_aliases: bool = False
    local_aliases: tuple[LocalAlias, ...] | None = None
    purge_local_aliases: bool = False
    max_size: int | str | None = None
    max_objects: int | str | None = None
    website: Mapping | None = None
    cors_rules: tuple[dict, ...] | None = None
    lifecycle_rules: tuple[dict, ...] | None = None

    @property
    def label(self) -> str:
        return f"bucket {self.name or self.id}"

    @property
    def features(self) -> tuple[str, ...]:
        """What this needs that not every server has, by the names of the capability table."""
        wanted = {"cors_rules": self.cors_rules, "lifecycle_rules": self.lifecycle_rules, "routing_rules": (self.website or {}).get("routing_rules")}
        return tuple(name for name, rules in wanted.items() if rules)

    @property
    def wanted_aliases(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*([self.name] if self.name else []), *(self.aliases or ())]))

    @classmethod
    def from_params(cls, params: Mapping, where: str = "") -> BucketSpec:
        """From module options; ``where`` is put before the name of a faulty option. Raises InputError with all faults."""
        faults: list[str] = []
        quotas = params.get("quotas") or {}
        spec = cls(
            name=params.get("name"),
            id=params.get("id"),
            absent=params.get("state") == "absent",
            aliases=None if params.get("aliases") is None else tuple(params["aliases"]),
            purge_aliases=bool(params.get("purge_aliases")),
            local_aliases=_local_aliases(params.get("local_aliases"), faults),
            purge_local_aliases=bool(params.get("purge_local_aliases")),
            max_size=_limit(quotas.get("max_size"), parse_size, "quotas.max_size", faults),
            max_objects=_limit(quotas.get("max_objects"), _count, "quotas.max_objects", faults),
            website=_website(params.get("website"), faults),
            cors_rules=_rules(params.get("cors_rules"), cors_rule, "cors_rules", faults),
            lifecycle_rules=_lifecycle(params.get("lifecycle_rules"), faults),
        )
        if not spec.name and not spec.id:
            faults.append("name or id must be set")
        if spec.id and (fault := bucket_id_fault(spec.id)):
            faults.append(f"id: {fault}")
        for option, names in (("name", [spec.name] if spec.name else []), ("aliases", spec.aliases or ())):
            faults += [f"{option}: {fault}" for name in names if (fault := bucket_name_fault(name))]
        if faults:
            raise InputError([where + fault for fault in faults])
        return spec


def by_id(rules: object) -> tuple[dict, ...]:
    """Lifecycle rules in the one order they are compared in."""
    return tuple(sorted(rules, key=lambda rule: rule["id"] or ""))


def _grant(key: Mapping) -> BucketGrant:
    permissions = key.get("permissions") or {}
    return BucketGrant(key_id=key["accessKeyId"], key_name=key.get("name", ""), read=bool(permissions.get("read")),
                       write=bool(permissions.get("write")), owner=bool(permissions.get("owner")))


def _local_aliases(rows: list | None, faults: list[str]) -> tuple[LocalAlias, ...] | None:
    if rows is None:
        return None
    aliases = [LocalAlias(row["alias"], row.get("key"), row.get("key_id")) for row in rows]
    for index, row in enumerate(aliases):
        if fault := bucket_name_fault(row.alias):
            faults.append(f"local_aliases[{index}].alias: {fault}")
        if (row.key is None) == (row.key_id is None):
            faults.append(f"local_aliases[{index}]: set either key or key_id")
        if row in aliases[:index]:
            faults.append(f"local_aliases[{index}]: {row.alias!r} of key {row.selector!r} is declared more than once")
    return tuple(aliases)


def _limit(value: object, parse: Callable, option: str, faults: list[str]) -> int | str | None:
    if value is None or value == UNLIMITED:
        return value
    try:
        return parse(value)
    except ValueError as error:
        faults.append(f"{option}: {error}; or {UNLIMITED!r}")
        return None


def _count(value: object) -> int:
    if not str(value).strip().isdigit():
        raise ValueError(f"{value!r} is not a whole number of 0 or more")
    return int(str(value))


def _website(website: Mapping | None, faults: list[str]) -> dict | None:
    if website is None:
        return None
    documents = [name for name in ("index_document", "error_document", "routing_rules") if website.get(name) is not None]
    if not website.get("enabled") and documents:
        faults.append(f"website: enabled is false, but {', '.join(documents)} is set; leave the documents out to switch a website off")
    if website.get("index_document") == "":
        faults.append("website.index_document: must not be empty")
    return {**website, "routing_rules": _rules(website.get("routing_rules"), routing_rule, "website.routing_rules", faults)}


def _lifecycle(rules: list | None, faults: list[str]) -> tuple[dict, ...] | None:
    normal = _rules(rules, lifecycle_rule, "lifecycle_rules", faults)
    if normal is None:
        return None
    ids = [rule["id"] for rule in normal]
    faults += [f"lifecycle_rules: the id {name!r} is used more than once" for name in sorted({name for name in ids if ids.count(name) > 1})]
    return by_id(normal)


def _rules(rules: list | None, normal: Callable, option: str, faults: list[str]) -> tuple[dict, ...] | None:
    if rules is None:
        return None
    result = []
    for index, rule in enumerate(rules):
        try:
            result.append(normal(rule))
        except ValueError as error:
            faults.append(f"{option}[{index}]: {error}")
    return tuple(result)
