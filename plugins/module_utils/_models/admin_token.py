# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Admin tokens, as they are and as they are wanted. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from .._endpoints import ENDPOINTS
from .._errors import Ambiguous, InputError, PlanError
from .._plan import Secret
from .._units import normal_timestamp
from .key import wanted_expiration
from .store import Entry, StoreSpec
from .store_layout import token_key

EVERYTHING = "*"
# Who holds one of these can give himself all others.
SAME_AS_EVERYTHING = ("CreateAdminToken", "UpdateAdminToken")
# The server stores any word as a scope and lets it do nothing; only what the router knows by name, and Metrics, opens anything.
SCOPES = (*sorted(row.name for row in ENDPOINTS.values() if row.path.startswith("/v2/")), "Metrics", EVERYTHING)
# Garage lists at most this many tokens; nothing in the answer tells that some are missing.
LIST_CAP = 10_000
_ID = re.compile(r"[0-9a-f]{8,64}")
_TOKEN = re.compile(r"([0-9a-f]{8,64})\.[A-Za-z0-9_-]{16,256}")
_NONCE = re.compile(r"[0-9a-f]{16,64}")
_PENDING = re.compile(r".* \(pending [0-9a-f]{16,64}\)")


@dataclass(frozen=True)
class AdminToken:
    """An admin token as the server shows it. An ``id`` of None: it stands in the daemon's configuration. An ``expiration`` of None is never."""

    id: str | None
    name: str
    created: str | None = None
    expiration: str | None = None
    expired: bool = False
    scope: tuple[str, ...] = ()

    @classmethod
    def from_api(cls, info: Mapping) -> AdminToken:
        return cls(id=info.get("id"), name=info.get("name", ""), created=normal_timestamp(info.get("created")),
                   expiration=normal_timestamp(info.get("expiration")), expired=bool(info.get("expired")), scope=normal_scope(info.get("scope") or ()))

    @property
    def label(self) -> str:
        return f"admin token {self.name} ({self.id})"

    @property
    def in_the_making(self) -> bool:
        """Whether some run has made it and not given it its name yet, or broke off before that (TD-43)."""
        return _PENDING.fullmatch(self.name) is not None

    def to_result(self) -> dict:
        return {"id": self.id, "name": self.name, "created": self.created, "expiration": self.expiration, "expired": self.expired,
                "scope": list(self.scope)}


def normal_scope(names: Iterable[str]) -> tuple[str, ...]:
    """A scope in the form in which two are compared: its order means nothing."""
    return tuple(sorted(set(names)))


@dataclass(frozen=True)
class TokenDirectory:
    """All admin tokens, those of the configuration as well. ``complete`` is False when the server may have left some out."""

    tokens: tuple[AdminToken, ...] = ()
    complete: bool = True

    def by_id(self, token_id: str | None) -> AdminToken | None:
        return next((token for token in self.tokens if token_id is not None and token.id == token_id), None)

    def named(self, name: str) -> tuple[AdminToken, ...]:
        """Every token of the database with exactly this name."""
        return tuple(token for token in self.tokens if token.id is not None and token.name == name)

    def by_name(self, name: str) -> AdminToken | None:
        """The token with exactly this name. Raises Ambiguous when several have it (Garage does not keep names unique), and PlanError for a token of
        the configuration (GS-05), and when none is listed but the list may lack some."""
        found = self.named(name)
        if len(found) > 1:
            raise Ambiguous(f"{len(found)} admin tokens are called {name!r}: {', '.join(sorted(token.id for token in found)[:20])}",
                            hint="give the id instead of the name")
        if not found and any(token.name == name for token in self.tokens):
            raise PlanError(f"{name!r} stands in the configuration of the daemon and cannot be changed through the Admin API",
                            hint="change it where the daemon is configured")
        if not found and not self.complete:
            raise PlanError(f"there is no admin token {name!r} among the {len(self.tokens)} that the server lists, but it may have more",
                            hint="give the token's id instead of its name")
        return found[0] if found else None


@dataclass(frozen=True)
class StoredToken:
    """What the store holds. ``accepted`` tells whether the server takes it; None where that could not be asked, or need not be."""

    id: str
    secret: Secret
    accepted: bool | None = None

    @classmethod
    def from_text(cls, text: str | None, place: str) -> StoredToken | None:
        """From a text; None for none, and for an empty one. Raises PlanError, without the text, when it is something else."""
        text = (text or "").strip()
        if not text:
            return None
        found = _TOKEN.fullmatch(text)
        if not found:
            raise PlanError(f"{place} holds something that is no admin token of Garage; it is left as it is", hint="give another path, or move it away")
        return cls(found.group(1), Secret(text))

    @classmethod
    def from_entry(cls, entry: Entry | None, store: StoreSpec) -> StoredToken | None:
        """From what a store holds, also under another key than the one it shall have there. Raises as above."""
        if entry is None or entry.empty:
            return None
        text = entry.data.get(token_key(store))
        if text is None:
            like = [value for value in entry.data.values() if _TOKEN.fullmatch(value.strip())]
            text = like[0] if len(like) == 1 else "(no token)"
        return cls.from_text(text, store.place)


@dataclass(frozen=True)
class Intent:
    """What stands beside the store while a token is being made, so that the next run knows what an interrupted one left (TD-42).

    The token gets a ``pending_name`` with the ``nonce`` in it and keeps that until its secret is safe. ``replaces`` is the id of the token that
    goes when it is.
    """

    name: str
    nonce: str
    replaces: str | None = None

    @property
    def pending_name(self) -> str:
        return f"{self.name} (pending {self.nonce})"

    def to_text(self) -> str:
        return json.dumps({"name": self.name, "nonce": self.nonce, "replaces": self.replaces})

    @classmethod
    def from_text(cls, text: str | None, place: str) -> Intent | None:
        """From the text of a file; None for none. Raises PlanError when it was not written by this collection."""
        if text is None:
            return None
        try:
            data = json.loads(text)
            intent = cls(data["name"], data["nonce"], data["replaces"])
        except (ValueError, KeyError, TypeError):
            intent = None
        if not intent or not isinstance(intent.name, str) or not _NONCE.fullmatch(str(intent.nonce)):
            raise PlanError(f"{place} is not a note of this module about a token in the making; it is left as it is", hint="move it away, then run this"
                            " again")
        return intent


def interrupted(name: str, tokens: tuple[AdminToken, ...]) -> tuple[AdminToken, ...]:
    """The tokens that runs for ``name`` left before their secret was safe."""
    pending = re.compile(re.escape(name) + r" \(pending [0-9a-f]{16,64}\)")
    return tuple(token for token in tokens if token.id is not None and pending.fullmatch(token.name))


@dataclass(frozen=True)
class TokenSpec:
    """An admin token as it is wanted. None leaves a thing alone.

    ``expiration`` is a timestamp in its normal form, or "never". ``store`` is the place for the secret; ``delete_store`` removes it with an absent
    token. ``show_secret`` tells whether the result shall hold the secret.
    """

    name: str | None = None
    id: str | None = None
    absent: bool = False
    scope: tuple[str, ...] | None = None
    expiration: str | None = None
    store: StoreSpec | None = None
    rotate: bool = False
    delete_store: bool = False
    show_secret: bool = False

    @property
    def label(self) -> str:
        return f"admin token {self.name or self.id}"

    @property
    def place(self) -> str:
        """Where the secret is kept, in words."""
        return self.store.place if self.store else ""

    @classmethod
    def from_params(cls, params: Mapping, where: str = "") -> TokenSpec:
        """From module options; ``where`` is put before the name of a faulty option. Raises InputError with all faults."""
        faults: list[str] = []
        scope = params.get("scope")
        spec = cls(
            name=params.get("name"),
            id=params.get("id"),
            absent=params.get("state") == "absent",
            scope=None if scope is None else normal_scope(scope),
            expiration=wanted_expiration(params.get("expiration"), faults),
            store=StoreSpec.from_params(params.get("store"), faults, token=True),
            rotate=bool(params.get("rotate")),
            delete_store=params.get("credential_deletion_policy") == "delete",
            show_secret=bool(params.get("return_secret")),
        )
        if spec.name is None and spec.id is None:
            faults.append("name or id must be set")
        if spec.name is not None and not spec.name.strip():
            faults.append("name: must not be empty")
        # The value is not repeated: it may be a whole token that was given by mistake.
        if spec.id is not None and not _ID.fullmatch(spec.id):
            faults.append("id: is not the id of an admin token; wanted: the hexadecimal digits that stand before the dot in the token")
        faults += [*_scope_faults(spec.scope or ()), *_store_faults(spec)]
        if faults:
            raise InputError([where + fault for fault in faults])
        return spec


def _scope_faults(scope: tuple[str, ...]) -> list[str]:
    faults = []
    for name in scope:
        if name not in SCOPES:
            by_lower = {known.lower(): known for known in SCOPES}
            near = [by_lower[match] for match in get_close_matches(name.lower(), by_lower, 3)]
            faults.append(f"scope: {name!r} is not the name of an Admin API call"
                          + (f"; near it are {', '.join(near)}" if near else f"; wanted: names as ListBuckets, or Metrics, or {EVERYTHING!r}"))
    if EVERYTHING in scope and len(scope) > 1:
        faults.append(f"scope: {EVERYTHING!r} is everything already; give it alone, or leave it out")
    return faults


def _store_faults(spec: TokenSpec) -> list[str]:
    faults = []
    if spec.rotate and spec.absent:
        faults.append("rotate: cannot be asked of a token that shall be absent")
    elif spec.rotate and not spec.store and not spec.show_secret:
        faults.append("rotate: needs a place for the new secret: store, or return_secret")
    if spec.delete_store and not spec.store:
        faults.append("credential_deletion_policy: delete needs store, the place to delete from")
    return faults
