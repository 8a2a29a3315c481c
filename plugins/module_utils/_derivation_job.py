# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Derived access keys: the RPC secret from its file, and imports of one key by several sites. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._client import Client
from ._errors import Conflict, InputError
from ._executor import send
from ._models.key import KeySpec
from ._plan import Call
from ._readers.key import find_key
from ._stores.opener import open_store

# An RPC secret is 64 digits; a file that is much longer is another one, and not to be read into memory.
_LARGEST = 1024


def with_rpc_secret(params: Mapping, where: str = "") -> dict:
    """The options of a key, with the RPC secret in the place of the file that holds it. Raises InputError, which never holds what is in the file."""
    path = params.get("rpc_secret_file")
    if path is None or params.get("derive") is None or params.get("rpc_secret") is not None:
        return dict(params)
    try:
        with open(path, encoding="utf-8") as handle:
            text = handle.read(_LARGEST).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{where}rpc_secret_file: {path} cannot be read ({getattr(error, 'strerror', 'it is not text')})") from None
    return {**params, "rpc_secret": text, "rpc_secret_file": None}


def with_rpc_secrets(params: Mapping) -> dict:
    """The same for all keys of a document. Raises InputError with all faults."""
    keys, faults = [], []
    for index, key in enumerate(params.get("keys") or ()):
        try:
            keys.append(with_rpc_secret(key, f"keys[{index}]."))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return {**params, "keys": keys}


def settled(spec: KeySpec) -> KeySpec:
    """With the nonce that its store has. Raises PlanError when the key there was derived from another RPC secret, before anything is written (MH-23)."""
    if spec.derivation is None or spec.store is None:
        return spec
    store = open_store(spec.store)
    entry = store.read()
    return spec.derived(spec.derivation.settled(entry.derivation, store.place)) if entry else spec


def send_import(client: Client, call: Call, answers: dict[str, Any], done: list[str]) -> None:
    """An ImportKey, of which another site may be a moment faster with the very same key. Raises Conflict when its id was deleted before (GS-06).

    Whether the key that is there has the same secret, the state that is read back tells.
    """
    try:
        send(client, call, answers, done)
    except Conflict:
        if find_key(client, call.body["accessKeyId"]) is None:
            raise
        answers[call.binds] = {"accessKeyId": call.body["accessKeyId"]}
