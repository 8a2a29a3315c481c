# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Access keys that follow from the RPC secret of a cluster. Pure. Private: not for use outside of the collection.

The scheme is the one of the Kubernetes operator garage-operator, so that a key made by it is found again here, and the same at every site of a
federation, which all have one RPC secret.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from .._errors import InputError, PlanError
from .._plan import Secret

_HEX64 = re.compile(r"[0-9a-fA-F]{64}")
# A Kubernetes namespace and name, in which no NUL and no second slash can stand: the marker below is never part of a context.
_CONTEXT = re.compile(r"[^/\x00\s]+/[^/\x00\s]+")
_MARKER = "\x00replacement\x00"


@dataclass(frozen=True)
class DerivedKey:
    """Id and secret of a key, and the fingerprint of the RPC secret they follow from."""

    id: str
    secret: Secret
    fingerprint: str


@dataclass(frozen=True)
class Derivation:
    """What an access key is derived from. ``rpc_secret`` is None where only its file is known, as when a document is looked at beforehand.
    ``given``: whether the nonce was given, and so is not to be chosen."""

    context: str
    rpc_secret: Secret | None
    nonce: str | None = None
    given: bool = False

    @property
    def name(self) -> str:
        """What the key is called where nothing else is said: the name in its context."""
        return self.context.partition("/")[2]

    @property
    def key(self) -> DerivedKey:
        return derive_key(self.rpc_secret.value, self.context, self.nonce)

    @property
    def note(self) -> dict[str, str]:
        """What is recorded of it beside the credentials: never a secret."""
        return {"rpc_fingerprint": self.key.fingerprint, **({"nonce": self.nonce} if self.nonce else {})}

    @property
    def result(self) -> dict:
        """As a user sees it."""
        return {"context": self.context, "nonce": self.nonce, "rpc_fingerprint": self.key.fingerprint}

    def settled(self, note: Mapping[str, str], place: str) -> Derivation:
        """With the nonce that is recorded at ``place``, unless another one was given. Raises PlanError when the key there was derived from another
        RPC secret (MH-22, MH-24)."""
        pinned = note.get("rpc_fingerprint")
        if pinned not in (None, self.key.fingerprint):
            raise PlanError(f"{place} holds a key that was derived from another RPC secret: its fingerprint is {pinned}, that of the one given is"
                            f" {self.key.fingerprint}", hint="give the RPC secret of this cluster; where it was changed for good, its derived keys are"
                            " others: give them places of their own")
        return replace(self, nonce=self.nonce or note.get("nonce"))

    @classmethod
    def from_params(cls, params: Mapping, faults: list[str]) -> Derivation | None:
        """From the options ``derive``, ``rpc_secret``, ``rpc_secret_file``, ``derive_nonce`` and ``rpc_fingerprint``; what is wrong with them is added to
        ``faults``, and is never the secret."""
        context, secret, path = (params.get(name) for name in ("derive", "rpc_secret", "rpc_secret_file"))
        if context is None:
            faults += [f"{name}: is for derive" for name in _ONLY_DERIVED if params.get(name) is not None]
            return None
        found = [f"derive: needs no {name}, since both follow from the RPC secret" for name in ("id", "secret_access_key") if params.get(name) is not None]
        found += [f"{name}: a derived key is what it is; another derive_nonce gives another key" for name in ("rotate", "remove_replaced")
                  if params.get(name)]
        if secret is not None and path is not None:
            found.append("rpc_secret: give either this or rpc_secret_file")
        elif secret is None and path is None:
            found.append("derive: needs rpc_secret or rpc_secret_file, the RPC secret of the cluster as its nodes have it; none is ever made up. A key that"
                         " exists elsewhere is imported with id and secret_access_key")
        given = cls(context, None if secret is None else Secret(secret), params.get("derive_nonce"), params.get("derive_nonce") is not None)
        try:
            fingerprint_now = (derive_key(_ANY if secret is None else secret, context, given.nonce)).fingerprint
        except InputError as error:
            found += error.faults
        else:
            pinned = params.get("rpc_fingerprint")
            if secret is not None and pinned not in (None, fingerprint_now):
                found.append(f"rpc_fingerprint: {pinned!r} is that of another RPC secret; the one given has {fingerprint_now}")
        faults += found
        return None if found else given


# Stands in for a secret that is not known yet, where only the rest is looked at; never used for a key.
_ANY = "0" * 64
_ONLY_DERIVED = ("rpc_secret", "rpc_secret_file", "derive_nonce", "rpc_fingerprint")


def derive_key(rpc_secret: str, context: str, nonce: str | None = None) -> DerivedKey:
    """The key of ``context``, which is ``namespace/name``.

    ``nonce`` gives another key of the same context: Garage never takes the id of a deleted key again (GS-06). Raises InputError, which never
    holds the secret.
    """
    faults = []
    if not _HEX64.fullmatch(rpc_secret):
        faults.append("rpc_secret: must be 64 hexadecimal digits, as Garage's rpc_secret is")
    if not _CONTEXT.fullmatch(context):
        faults.append(f"derive: {context[:80]!r} must be namespace/name, two words with one slash")
    if nonce is not None and not re.fullmatch(r"[A-Za-z0-9_-]+", nonce):
        faults.append("derive_nonce: must consist of letters, digits, hyphen and underscore")
    if faults:
        raise InputError(faults)
    key = bytes.fromhex(rpc_secret)
    message = context if nonce is None else f"{context}{_MARKER}{nonce}"
    return DerivedKey(f"GK{_hmac(key, f'ak:{message}')[:24]}", Secret(_hmac(key, f"sk:{message}")), fingerprint(rpc_secret))


def fingerprint(rpc_secret: str) -> str:
    """What tells one RPC secret from another without telling the secret: 16 digits, of a use that no key is derived with."""
    return _hmac(bytes.fromhex(rpc_secret), "s3ops.garage fingerprint")[:16]


def _hmac(key: bytes, message: str) -> str:
    return hmac.new(key, message.encode(), hashlib.sha256).hexdigest()
