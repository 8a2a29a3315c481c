# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Access keys, as they are and as they are wanted. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from .._errors import Ambiguous, InputError, PlanError
from .._names import key_id_fault, secret_key_fault
from .._plan import Secret
from .._units import format_timestamp, normal_timestamp, parse_duration, parse_timestamp
from .derivation import Derivation
from .store import StoreSpec

NEVER = "never"
KNOWN_AFTER = "(known after the run)"
# Every Garage lists at most this many keys; from 2.5.0 on a `limit` in the query lifts that. Nothing in the answer tells that rows are missing.
LIST_CAP = 10_000


@dataclass(frozen=True)
class KeyBucket:
    """What a key may do with one bucket, and the names that this key alone knows it by."""

    id: str
    aliases: tuple[str, ...] = ()
    local_aliases: tuple[str, ...] = ()
    read: bool = False
    write: bool = False
    owner: bool = False


@dataclass(frozen=True)
class Key:
    """An access key as the server shows it. An ``expiration`` of None is never.

    ``allow_create_bucket`` and ``buckets`` are None where they were not read (a row of ListKeys does not have them). ``secret`` is None
    where it was not asked for, and KNOWN_AFTER in a key that is still to be made.
    """

    id: str | None
    name: str
    created: str | None = None
    expiration: str | None = None
    expired: bool = False
    allow_create_bucket: bool | None = None
    buckets: tuple[KeyBucket, ...] | None = None
    secret: Secret | str | None = None

    @classmethod
    def from_api(cls, info: Mapping) -> Key:
        """From a GetKeyInfo answer; buckets, which the server gives in random order, are sorted by id."""
        secret = info.get("secretAccessKey")
        return cls(
            id=info["accessKeyId"],
            name=info.get("name", ""),
            created=normal_timestamp(info.get("created")),
            expiration=normal_timestamp(info.get("expiration")),
            expired=bool(info.get("expired")),
            allow_create_bucket=bool((info.get("permissions") or {}).get("createBucket")),
            buckets=tuple(sorted((_bucket(bucket) for bucket in info.get("buckets") or ()), key=lambda bucket: bucket.id)),
            secret=None if secret is None else Secret(secret),
        )

    @classmethod
    def from_row(cls, row: Mapping) -> Key:
        """From a row of a ListKeys answer."""
        return cls(id=row["id"], name=row.get("name", ""), created=normal_timestamp(row.get("created")),
                   expiration=normal_timestamp(row.get("expiration")), expired=bool(row.get("expired")))

    def to_result(self, show_secret: bool = False) -> dict:
        """The key as a user sees it; the secret only where it was asked for, and then still as a Secret."""
        return {
            "id": self.id,
            "name": self.name,
            "created": self.created,
            "expiration": self.expiration,
            "expired": self.expired,
            "allow_create_bucket": self.allow_create_bucket,
            "buckets": None if self.buckets is None else [_bucket_result(bucket) for bucket in self.buckets],
            "secret_access_key": self.secret if show_secret else None,
        }


@dataclass(frozen=True)
class KeyDirectory:
    """All keys, as ListKeys shows them. ``complete`` is False when the server may have left some out."""

    keys: tuple[Key, ...] = ()
    complete: bool = True

    @classmethod
    def from_api(cls, rows: list) -> KeyDirectory:
        return cls(tuple(Key.from_row(row) for row in rows), complete=len(rows) != LIST_CAP)

    def by_id(self, key_id: str) -> Key | None:
        return self._ids.get(key_id)

    def listed(self, name: str) -> tuple[Key, ...]:
        """Every listed key with exactly this name."""
        return tuple(self._names.get(name, ()))

    def all_by_name(self, name: str) -> tuple[Key, ...]:
        """Every key with exactly this name. Raises PlanError when none is listed but the list may lack some: that is not absence."""
        found = self.listed(name)
        if not found and not self.complete:
            raise PlanError(f"there is no access key {name!r} among the {len(self.keys)} that the server lists, but it may have more",
                            hint="give the key's id instead of its name; from 2.5.0 on Garage lists all keys")
        return found

    def by_name(self, name: str) -> Key | None:
        """The key with exactly this name. Raises Ambiguous when several have it (Garage does not keep names unique), and PlanError as above."""
        found = self.all_by_name(name)
        if len(found) > 1:
            ids = [key.id for key in found]
            more = f" and {len(ids) - 20} more" if len(ids) > 20 else ""
            raise Ambiguous(f"{len(ids)} access keys are called {name!r}: {', '.join(sorted(ids)[:20])}{more}",
                            hint="give the id instead of the name")
        return found[0] if found else None

    @cached_property
    def _ids(self) -> dict[str, Key]:
        return {key.id: key for key in self.keys}

    @cached_property
    def _names(self) -> dict[str, list[Key]]:
        names: dict[str, list[Key]] = {}
        for key in self.keys:
            names.setdefault(key.name, []).append(key)
        return names


@dataclass(frozen=True)
class KeySpec:
    """An access key as it is wanted. None leaves a thing alone.

    ``expiration`` is a timestamp in its normal form, or "never". ``secret`` is for importing (with ``id``). ``show_secret`` tells whether
    the result shall hold the secret. ``store`` is the place for the credentials; ``delete_store`` removes them with an absent key. ``grace`` are the
    seconds for which a key that was rotated out goes on, None is until ``remove_replaced`` asks for its removal. ``derivation`` is what ``id`` and
    ``secret`` follow from, of a derived key.
    """

    name: str | None = None
    id: str | None = None
    secret: Secret | None = None
    absent: bool = False
    expiration: str | None = None
    allow_create_bucket: bool | None = None
    show_secret: bool = False
    store: StoreSpec | None = None
    delete_store: bool = False
    rotate: bool = False
    grace: int | None = None
    remove_replaced: bool = False
    derivation: Derivation | None = None

    @property
    def label(self) -> str:
        return f"access key {self.name or (self.derivation.context if self.derivation else self.id)}"

    @property
    def needs_secret(self) -> bool:
        """Whether the secret of a key that is there matters."""
        return not self.absent and (self.show_secret or self.secret is not None or self.store is not None)

    @property
    def derived_name(self) -> str:
        """What a derived key is called when it is made."""
        return self.name or self.derivation.name

    def derived(self, derivation: Derivation) -> KeySpec:
        """With the id and the secret that follow from ``derivation``, where its RPC secret is known."""
        if derivation.rpc_secret is None:
            return replace(self, derivation=derivation)
        return replace(self, derivation=derivation, id=derivation.key.id, secret=derivation.key.secret)

    @property
    def rotating_name(self) -> str:
        """What a key is called that is to take the place of the one of this name, until it does."""
        return f"{self.name} (rotating)"

    @property
    def replaced_name(self) -> str:
        """What a key is called whose place another one of this name has taken."""
        return f"{self.name} (replaced)"

    @classmethod
    def from_params(cls, params: Mapping, where: str = "") -> KeySpec:
        """From module options; ``where`` is put before the name of a faulty option. Raises InputError with all faults, none with the secret."""
        faults: list[str] = []
        secret = params.get("secret_access_key")
        derivation = Derivation.from_params(params, faults)
        spec = cls(
            name=params.get("name"),
            id=params.get("id"),
            secret=None if secret is None else Secret(secret),
            absent=params.get("state") == "absent",
            expiration=wanted_expiration(params.get("expiration"), faults),
            allow_create_bucket=params.get("allow_create_bucket"),
            show_secret=bool(params.get("return_secret")),
            store=StoreSpec.from_params(params.get("store"), faults),
            delete_store=params.get("credential_deletion_policy") == "delete",
            rotate=bool(params.get("rotate")),
            grace=_grace(params.get("rotate_grace"), faults),
            remove_replaced=bool(params.get("remove_replaced")),
        )
        faults += _rotation_faults(spec)
        if spec.name is None and spec.id is None and params.get("derive") is None:
            faults.append("name or id must be set")
        if spec.name == "":
            faults.append("name: must not be empty")
        if spec.id is not None and (fault := key_id_fault(spec.id)):
            faults.append(f"id: {fault}")
        if secret is not None and spec.id is None:
            faults.append("secret_access_key: needs id, since it is only for importing a key that exists elsewhere; Garage makes up the others")
        if secret is not None and (fault := secret_key_fault(secret)):
            faults.append(f"secret_access_key: {fault}")
        if faults:
            raise InputError([where + fault for fault in faults])
        return spec.derived(derivation) if derivation else spec


def _grace(value: str | None, faults: list[str]) -> int | None:
    try:
        return None if value is None else parse_duration(value)
    except ValueError as error:
        faults.append(f"rotate_grace: {error}")
        return None


def _rotation_faults(spec: KeySpec) -> list[str]:
    faults = []
    if spec.delete_store and not spec.store:
        faults.append("credential_deletion_policy: delete needs store, the place to delete from")
    asked = [name for name, value in (("rotate", spec.rotate), ("remove_replaced", spec.remove_replaced)) if value]
    if asked and (spec.id is not None or spec.name is None):
        faults.append(f"{asked[0]}: needs name, and no id: the new key has another one")
    if asked and spec.absent:
        faults.append(f"{asked[0]}: cannot be asked of a key that shall be absent")
    if len(asked) == 2:
        faults.append("remove_replaced: is for a later run than rotate, when nobody uses the old key any more")
    if spec.rotate and not spec.store and not spec.show_secret:
        faults.append("rotate: needs a place for the new credentials: store, or return_secret")
    if spec.grace is not None and not spec.rotate:
        faults.append("rotate_grace: is for rotate")
    return faults


def wanted_expiration(value: str | None, faults: list[str]) -> str | None:
    """The option ``expiration`` in its normal form: a timestamp, "never", or None when it is unset or faulty."""
    if value is None or value == NEVER:
        return value
    try:
        return format_timestamp(parse_timestamp(value))
    except ValueError as error:
        faults.append(f"expiration: {error}; or {NEVER!r}")
        return None


def _bucket(bucket: Mapping) -> KeyBucket:
    rights = bucket.get("permissions") or {}
    return KeyBucket(id=bucket["id"], aliases=tuple(sorted(bucket.get("globalAliases") or ())),
                     local_aliases=tuple(sorted(bucket.get("localAliases") or ())), read=bool(rights.get("read")),
                     write=bool(rights.get("write")), owner=bool(rights.get("owner")))


def _bucket_result(bucket: KeyBucket) -> dict:
    return {"id": bucket.id, "aliases": list(bucket.aliases), "local_aliases": list(bucket.local_aliases), "read": bucket.read,
            "write": bucket.write, "owner": bucket.owner}
