# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide what the Secret of a site holds. Pure. What goes in and out are secrets; faults and ``actions`` hold none.

Private: not for use outside of the collection.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Collection, Mapping
from typing import Any

RPC, ADMIN, METRICS = "rpc-secret", "admin-token", "metrics-token"
KEYS = (RPC, ADMIN, METRICS)
_MANAGED = ("app.kubernetes.io/managed-by", "s3ops.garage")


def plan_credentials(provided: Mapping[str, str], live: Mapping | None, generated: Mapping[str, str], in_use: bool, rotate: Collection[str] = ()) -> dict:
    """The Secret as it shall be.

    ``provided``: values of the site file by data key. ``live``: the Secret object, None when there is none. ``generated``: a fresh value for
    each key. ``in_use``: the site has claims, so nodes may run, or may come back, with what the Secret held. ``rotate``: keys that get another value,
    that of the site file where it gives one; whoever asks for it of the RPC secret has stopped all nodes (OP-005).

    The result: ``values`` by key, ``data`` as the Secret holds them, ``faults``, ``actions`` (create, set <key>), ``rotated`` (keys with another value
    than before), ``hash`` and ``rpc_hash``, which tell nothing of the values.
    """
    name = (live or {}).get("metadata", {}).get("name", "")
    found, faults = _live_values(live)
    values, actions = {}, [] if live else ["create"]
    faults += [f"{key}: there is nothing to rotate, " + (f"the Secret {name} has no such key" if live else "the site has no Secret") + "; run the playbook"
               " s3ops.garage.site first" for key in rotate if key not in found]
    for key in KEYS:
        wanted, held = provided.get(key), found.get(key)
        if key == RPC and wanted and held and wanted != held and in_use and key not in rotate:
            faults.append(f"{key}: the site file gives another value than the Secret {name} holds. Nodes with different RPC secrets do not talk to one"
                          " another, so the site's alone cannot change: put the former one back, or change it at all its sites by the playbook"
                          " s3ops.garage.rotate_rpc_secret")
        if not wanted and not held and in_use and key != METRICS:
            faults.append(f"{key}: " + (f"the Secret {name} has no such key" if live else "the Secret of the site is gone") + ", and the claims of the site"
                          " are there, so its nodes know the former value. None is made up in its place: restore the Secret, or give the value in"
                          f" garage_site.credentials.{key.replace('-', '_')}")
        values[key] = wanted or (held if key not in rotate else None) or generated[key]
        faults += value_faults(key, values[key])
        if live and values[key] != held:
            actions.append(f"set {key}")
    if live and len(actions) > 0 and not is_ours(live):
        faults.append(f"the Secret {name} does not carry the label {'='.join(_MANAGED)}, so it is not changed ({', '.join(actions)}); bring it to what"
                      " the site file says, or leave the value out of the site file")
    rotated = [key for key in KEYS if key in rotate and values[key] != found.get(key)]
    return {"values": values, "data": {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}, "faults": faults,
            "actions": actions, "rotated": rotated, "hash": _hash(*(values[key] for key in KEYS)), "rpc_hash": _hash(values[RPC])}


def is_ours(live: Mapping) -> bool:
    """Whether a Secret was made by the role."""
    return (live["metadata"].get("labels") or {}).get(_MANAGED[0]) == _MANAGED[1]


def _live_values(live: Mapping | None) -> tuple[dict[str, str], list[str]]:
    values: dict[str, str] = {}
    faults = []
    for key, text in ((live or {}).get("data") or {}).items():
        if key in KEYS:
            try:
                values[key] = base64.b64decode(text or "").decode()
            except (binascii.Error, UnicodeDecodeError):
                faults.append(f"{key}: the Secret {live['metadata']['name']} holds something that is not text")
    return values, faults


def value_faults(key: str, value: Any) -> list[str]:
    """What is wrong with a value, which is not told (GS-03)."""
    # Garage takes values of the environment as they are, a line break at the end included.
    if value != value.strip():
        return [f"{key}: begins or ends with white space"]
    if key == RPC:
        return [] if re.fullmatch(r"[0-9a-fA-F]{64}", value) else [f"{key}: must be 64 hexadecimal digits"]
    if "." in value:
        return [f"{key}: must not contain a dot: Garage takes what stands before one for the id of a token of its own (GS-03)"]
    return [] if value.isascii() and value.isprintable() and " " not in value else [f"{key}: must be printable ASCII without spaces"]


def _hash(*values: str) -> str:
    # The RPC secret is among the values and cannot be guessed, so neither can a weak token be found out by its hash.
    return hashlib.sha256("\0".join(values).encode()).hexdigest()
