# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide what a bucket needs. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .._errors import NotDeclaredHere, PlanError, Unsupported
from .._models.bucket import UNLIMITED, Bucket, BucketSpec, LocalAlias, Website
from .._models.cluster import missing_features
from .._plan import Call, Plan, Ref
from .._translate import cors_to_api, lifecycle_to_api, routing_to_api


@dataclass(frozen=True)
class BucketSnapshot:
    """What the planner must know: the bucket (None = absent), which bucket id holds each wanted alias that the bucket itself
    lacks, and a bucket without any alias that a create of ours in doubt left behind (garage 2.5.0, CreateBucket is two writes: GS-07).

    ``server_version`` is asked for when something is wanted that not every server has. For local aliases also the id of each key by the name or id it
    was told by (a Ref for a key that is still to be made), and which bucket a key knows by which name.
    """

    bucket: Bucket | None = None
    alias_owners: Mapping[str, str] = field(default_factory=dict)
    orphan: Bucket | None = None
    key_ids: Mapping[str, str | Ref] = field(default_factory=dict)
    local_owners: Mapping[tuple[str, str], str] = field(default_factory=dict)
    server_version: tuple[int, int, int] | None = None


def plan_bucket(spec: BucketSpec, live: BucketSnapshot) -> Plan:
    """Raises PlanError when the live state forbids what is wanted; nothing is sent then."""
    if spec.absent:
        return _plan_absent(spec, live.bucket)
    if live.bucket is None and spec.id:
        raise NotDeclaredHere(f"{spec.label}: there is no bucket with this id", hint="a bucket cannot be made with a chosen id; leave id out to make"
                              " one by name")
    # Such a server ignores the field and answers 200 (seen on 2.2).
    if lacking := missing_features(spec.features, live.server_version):
        raise Unsupported(f"{spec.label}: {'; '.join(lacking)}; nothing was sent", hint="leave it out, or upgrade Garage")
    bucket = live.bucket or live.orphan
    calls: list[Call] = []
    if bucket is None:
        calls.append(Call("CreateBucket", f"create {spec.label}", body={"globalAlias": spec.name}, binds=spec.label))
        bucket = Bucket(id=None, aliases=(spec.name,))
    wanted = _aliases(spec, bucket)
    adding = tuple(alias for alias in wanted if alias not in bucket.aliases)
    _refuse_taken(spec, adding, live.alias_owners)
    add_local, remove_local = _local_changes(spec, bucket, live)
    settings, body = _settings(spec, bucket)
    after = replace(settings, aliases=wanted, local_aliases=_local_after(bucket, add_local, remove_local))
    if (bucket.aliases or bucket.local_aliases) and not wanted and not after.local_aliases:
        raise PlanError(f"{spec.label}: this would remove its last alias, and nobody could name it any more",
                        hint="keep one alias, or delete the bucket with state: absent")
    target = bucket.id or Ref(spec.label, "id")
    # Adding comes first: a bucket that loses its old name before the new one is refused would be lost to its users.
    calls += [_alias_call("AddBucketAlias", spec, target, alias) for alias in adding]
    calls += [_local_call("AddBucketAlias", spec, target, key_id, row.alias, row.selector) for key_id, row in add_local]
    if body:
        calls.append(Call("UpdateBucket", f"set {', '.join(_SETTING_WORDS[name] for name in body)} of {spec.label}", query={"id": target}, body=body))
    calls += [_alias_call("RemoveBucketAlias", spec, target, alias) for alias in bucket.aliases if alias not in wanted]
    calls += [_local_call("RemoveBucketAlias", spec, target, key_id, alias, key_id) for key_id, alias in remove_local]
    return Plan(spec.label, before=live.bucket.to_result() if live.bucket else None, after=after.to_result(), calls=tuple(calls))


_SETTING_WORDS = {"websiteAccess": "website", "quotas": "quotas", "corsRules": "CORS rules", "lifecycleRules": "lifecycle rules"}


def _plan_absent(spec: BucketSpec, bucket: Bucket | None) -> Plan:
    if bucket is None:
        return Plan(spec.label)
    if spec.id and spec.name and spec.name not in bucket.aliases:
        raise PlanError(f"{spec.label}: the bucket with id {spec.id} is not called {spec.name!r} but {', '.join(bucket.aliases) or 'nothing'};"
                        " nothing was deleted", hint="leave out the name or the id")
    if bucket.usage.get("objects"):
        raise PlanError(f"{spec.label}: it holds {bucket.usage['objects']} objects ({bucket.usage.get('bytes', 0)} bytes) and was not deleted; its"
                        " grants are still there", hint="empty it with an S3 client and a key that may write, then run this again")
    call = Call("DeleteBucket", f"delete {spec.label}", query={"id": bucket.id})
    return Plan(spec.label, before=bucket.to_result(), after=None, calls=(call,))


def _aliases(spec: BucketSpec, bucket: Bucket) -> tuple[str, ...]:
    kept = () if spec.purge_aliases and (spec.aliases is not None or spec.name) else bucket.aliases
    return tuple(sorted({*kept, *spec.wanted_aliases}))


def _refuse_taken(spec: BucketSpec, adding: tuple[str, ...], owners: Mapping[str, str]) -> None:
    taken = [f"the alias {alias!r} belongs to bucket {owners[alias]}" for alias in adding if alias in owners]
    if taken:
        raise PlanError(f"{spec.label}: {'; '.join(taken)}; it was not moved", hint="choose another alias, or remove it from that bucket first")


def _alias_call(endpoint: str, spec: BucketSpec, target: object, alias: str) -> Call:
    verb = "add" if endpoint == "AddBucketAlias" else "remove"
    return Call(endpoint, f"{verb} alias {alias} of {spec.label}", body={"bucketId": target, "globalAlias": alias})


def _local_changes(spec: BucketSpec, bucket: Bucket, live: BucketSnapshot) -> tuple[list[tuple[str | Ref, LocalAlias]], list[tuple[str, str]]]:
    """The local aliases to add, each with its key's id, and those to remove. Raises NotDeclaredHere or PlanError."""
    rows = [(live.key_ids.get(row.selector), row) for row in spec.local_aliases or ()]
    unknown = sorted({row.selector for key_id, row in rows if key_id is None})
    if unknown:
        raise NotDeclaredHere(f"{spec.label}: there is no access key {', '.join(map(repr, unknown))} to have a local alias", hint="declare the key first")
    taken = [f"{row.alias!r} of key {row.selector!r} names bucket {live.local_owners[key_id, row.alias]}" for key_id, row in rows
             if live.local_owners.get((key_id, row.alias), bucket.id) != bucket.id]
    if taken:
        raise PlanError(f"{spec.label}: the local alias {'; '.join(taken)}; it was not moved", hint="choose another alias, or remove that one first")
    # A key may be declared by its name and by its id.
    wanted = {(key_id, row.alias): (key_id, row) for key_id, row in rows}
    purges = spec.purge_local_aliases and spec.local_aliases is not None
    return ([row for pair, row in wanted.items() if pair not in bucket.local_aliases],
            [pair for pair in bucket.local_aliases if purges and pair not in wanted])


def _local_after(bucket: Bucket, added: list, removed: list) -> tuple[tuple[str | None, str], ...]:
    kept = [pair for pair in bucket.local_aliases if pair not in removed]
    new = [(key_id if isinstance(key_id, str) else key_id.known, row.alias) for key_id, row in added]
    return tuple(sorted([*kept, *new], key=lambda pair: (pair[0] or "", pair[1])))


def _local_call(endpoint: str, spec: BucketSpec, target: object, key_id: object, alias: str, key: str) -> Call:
    verb = "add" if endpoint == "AddBucketAlias" else "remove"
    return Call(endpoint, f"{verb} local alias {alias} of key {key} for {spec.label}",
                body={"bucketId": target, "localAlias": alias, "accessKeyId": key_id})


def _settings(spec: BucketSpec, bucket: Bucket) -> tuple[Bucket, dict]:
    """The bucket with the wanted settings, and the body of the one UpdateBucket that makes them so ({} when all are there)."""
    after = replace(
        bucket,
        max_size=_limit(spec.max_size, bucket.max_size),
        max_objects=_limit(spec.max_objects, bucket.max_objects),
        website=_website(spec, bucket.website),
        cors_rules=bucket.cors_rules if spec.cors_rules is None else spec.cors_rules,
        lifecycle_rules=bucket.lifecycle_rules if spec.lifecycle_rules is None else spec.lifecycle_rules,
    )
    body: dict = {}
    if after.website != bucket.website:
        body["websiteAccess"] = _website_body(after.website, bucket.website)
    if (after.max_size, after.max_objects) != (bucket.max_size, bucket.max_objects):
        # The pair is replaced as a whole: a member left out would become unlimited (GS-10).
        body["quotas"] = {"maxSize": after.max_size, "maxObjects": after.max_objects}
    if after.cors_rules != bucket.cors_rules:
        body["corsRules"] = [cors_to_api(rule) for rule in after.cors_rules]
    if after.lifecycle_rules != bucket.lifecycle_rules:
        body["lifecycleRules"] = [lifecycle_to_api(rule) for rule in after.lifecycle_rules]
    return after, body


def _limit(wanted: int | str | None, live: int | None) -> int | None:
    if wanted is None:
        return live
    return None if wanted == UNLIMITED else wanted


def _website(spec: BucketSpec, live: Website | None) -> Website | None:
    wanted = spec.website
    if wanted is None:
        return live
    if not wanted["enabled"]:
        return None
    index = wanted.get("index_document") or (live.index_document if live else None)
    if index is None:
        raise PlanError(f"{spec.label}: website.index_document must be set to switch a website on", hint="for example index.html")
    error, rules = wanted.get("error_document"), wanted.get("routing_rules")
    return Website(
        index_document=index,
        error_document=(live.error_document if live else None) if error is None else error or None,
        routing_rules=(live.routing_rules if live else ()) if rules is None else tuple(rules),
    )


def _website_body(website: Website | None, live: Website | None) -> dict:
    if website is None:
        return {"enabled": False}
    # An error document that is left out is reset by the server, so the merged one is always sent. Rules that are left out stay, and must when they are
    # not to change: the server gives back rules that it would not take again (a protocol without a host has the code 302 then: 2.5.0).
    body = {"enabled": True, "indexDocument": website.index_document, "errorDocument": website.error_document}
    if website.routing_rules != (live.routing_rules if live else ()):
        body["routingRules"] = [routing_to_api(rule) for rule in website.routing_rules]
    return body
