# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Keys, buckets, grants and admin tokens of a site in one document, as they are wanted. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .._errors import InputError
from .admin_token import TokenSpec
from .bucket import BucketSpec
from .grant import GrantSpec
from .key import KeySpec
from .store import StoreSpec

PURGES = ("purge_keys", "purge_buckets", "purge_admin_tokens")


@dataclass(frozen=True)
class BucketEntry:
    """A bucket of the document with its grants (None leaves them alone). ``purge_grants`` takes the rights of all other keys on it."""

    spec: BucketSpec
    grants: tuple[GrantSpec, ...] | None = None
    purge_grants: bool = False


@dataclass(frozen=True)
class TenancySpec:
    """The whole document, in the order it was written in.

    What is named with ``owner_prefix`` belongs to it: with ``purge_keys``, ``purge_buckets`` and ``purge_admin_tokens`` such things that are not
    declared go.
    """

    keys: tuple[KeySpec, ...] = ()
    buckets: tuple[BucketEntry, ...] = ()
    owner_prefix: str = ""
    purge_keys: bool = False
    purge_buckets: bool = False
    admin_tokens: tuple[TokenSpec, ...] = ()
    purge_admin_tokens: bool = False

    @property
    def names_tokens(self) -> bool:
        """Whether anything is said of admin tokens."""
        return bool(self.admin_tokens) or self.purge_admin_tokens

    @property
    def grants(self) -> tuple[GrantSpec, ...]:
        """All declared grants of buckets that shall be there; the others go with their bucket."""
        return tuple(grant for entry in self.buckets if not entry.spec.absent for grant in entry.grants or ())

    @property
    def names_keys(self) -> bool:
        """Whether a bucket's local aliases name keys."""
        return any(entry.spec.local_aliases for entry in self.buckets)

    @classmethod
    def from_params(cls, params: Mapping, where: str = "") -> TenancySpec:
        """From module options; ``where`` is put before every path. Raises InputError with all faults, each with its path."""
        keys, buckets, tokens = (params.get(name) or [] for name in ("keys", "buckets", "admin_tokens"))
        faults: list[str] = []
        prefix = (params.get("owner") or {}).get("prefix") or ""
        spec = cls(tuple(_attempt(faults, KeySpec.from_params, item, f"keys[{index}].") for index, item in enumerate(keys)),
                   tuple(_bucket(faults, item, f"buckets[{index}].") for index, item in enumerate(buckets)),
                   prefix, bool(params.get("purge_keys")), bool(params.get("purge_buckets")),
                   tuple(_attempt(faults, TokenSpec.from_params, item, f"admin_tokens[{index}].") for index, item in enumerate(tokens)),
                   bool(params.get("purge_admin_tokens")))
        faults += [f"{name}: needs owner.prefix, so that it never touches what belongs to others" for name in PURGES
                   if params.get(name) and not prefix]
        if params.get("max_in_flight") is not None and params["max_in_flight"] < 1:
            faults.append(f"max_in_flight: {params['max_in_flight']} must be 1 or more")
        faults += [*_keys_twice(keys), *_buckets_twice(buckets), *_tokens_twice(tokens), *_stores_twice(keys, tokens)]
        declared = _DeclaredKeys(keys)
        for index, item in enumerate(buckets):
            if item.get("state") != "absent":
                faults += _grant_faults(item.get("grants") or [], f"buckets[{index}].grants", declared)
                faults += _of_the_absent(item.get("local_aliases") or [], f"buckets[{index}].local_aliases", declared)
        if faults:
            raise InputError([where + fault for fault in faults])
        return spec


def _attempt(faults: list[str], make: Callable, params: Mapping, where: str, **context: object) -> Any:
    try:
        return make(params, where=where, **context)
    except InputError as error:
        faults += error.faults
        return None


def _bucket(faults: list[str], item: Mapping, where: str) -> BucketEntry:
    spec = _attempt(faults, BucketSpec.from_params, item, where)
    rows = item.get("grants")
    grants = [_attempt(faults, GrantSpec.from_params, row, f"{where}grants[{index}].", bucket=spec or BucketSpec())
              for index, row in enumerate(rows or ())]
    if item.get("purge_grants") and rows is None:
        faults.append(f"{where}purge_grants: needs grants, the ones to keep; write grants: [] to keep none")
    return BucketEntry(spec, None if rows is None else tuple(grants), bool(item.get("purge_grants")))


def _keys_twice(keys: list[Mapping]) -> list[str]:
    return [*_twice((key.get("name"), f"keys[{index}].name") for index, key in enumerate(keys)),
            *_twice((key.get("id"), f"keys[{index}].id") for index, key in enumerate(keys))]


def _buckets_twice(buckets: list[Mapping]) -> list[str]:
    named = [(f"buckets[{index}]", bucket) for index, bucket in enumerate(buckets)]
    names = [(bucket.get("name"), f"{path}.name") for path, bucket in named]
    aliases = [(alias, f"{path}.aliases") for path, bucket in named if bucket.get("state") != "absent"
               for alias in dict.fromkeys(bucket.get("aliases") or ()) if alias != bucket.get("name")]
    return [*_twice([*names, *aliases]), *_twice((bucket.get("id"), f"{path}.id") for path, bucket in named)]


def _tokens_twice(tokens: list[Mapping]) -> list[str]:
    named = [(f"admin_tokens[{index}]", token) for index, token in enumerate(tokens)]
    return [*_twice((token.get("name"), f"{path}.name") for path, token in named),
            *_twice((token.get("id"), f"{path}.id") for path, token in named)]


def _stores_twice(keys: list[Mapping], tokens: list[Mapping]) -> list[str]:
    """Credentials of several things in one place, of whichever kind they are."""
    stores = [(f"{kind}[{index}].store", item.get("store")) for kind, items in (("keys", keys), ("admin_tokens", tokens))
              for index, item in enumerate(items)]
    # Faults of the stores themselves are told where they stand.
    return _twice((StoreSpec.from_params(store, []).place, f"{path}.path" if store.get("path") else path) for path, store in stores if store)


class _DeclaredKeys:
    """What the grants of every bucket are held against, made once: a document has as many buckets as keys."""

    def __init__(self, keys: list[Mapping]) -> None:
        # A key that is declared with a name and an id is one key, whichever of the two a grant gives.
        self.ids = {key["name"]: key["id"] for key in keys if key.get("name") is not None and key.get("id") is not None}
        self.gone = {(option, key.get(name)) for key in keys if key.get("state") == "absent" for option, name in (("key", "name"), ("key_id", "id"))}


def _grant_faults(grants: list[Mapping], path: str, keys: _DeclaredKeys) -> list[str]:
    """What is wrong with the grants of one bucket as seen from the declared keys."""
    return [*_twice((keys.ids.get(value, value) if option == "key" else value, where) for value, option, where in _named_keys(grants, path)),
            *_of_the_absent(grants, path, keys)]


def _of_the_absent(rows: list[Mapping], path: str, keys: _DeclaredKeys) -> list[str]:
    """Those of ``rows`` (grants, local aliases) that are for a key that shall be gone."""
    return [f"{where}: {value!r} is declared absent" for value, option, where in _named_keys(rows, path)
            if value is not None and (option, value) in keys.gone]


def _named_keys(rows: list[Mapping], path: str) -> list[tuple[str | None, str, str]]:
    return [(row.get(option), option, f"{path}[{index}].{option}") for index, row in enumerate(rows) for option in ("key", "key_id")]


def _twice(values: Iterable[tuple[str | None, str]]) -> list[str]:
    first: dict[str, str] = {}
    faults = []
    for value, path in values:
        if value is None:
            continue
        if value in first:
            faults.append(f"{path}: {value!r} is already declared at {first[value]}")
        first.setdefault(value, path)
    return faults
