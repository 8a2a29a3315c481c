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
from dataclasses import dataclass

from .._errors import InputError
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
