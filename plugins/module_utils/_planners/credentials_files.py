# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide on credentials in files beside a Garage that is not on Kubernetes. Pure; of files only hashes are known.

Private: not for use outside of the collection.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping

from .credentials import KEYS, METRICS, RPC, value_faults

PROVIDED, FRESH = "provided", "fresh"


def plan_files(provided: Mapping[str, str], seen: Mapping[str, Mapping[str, str | None]], in_use: Collection[str], folder: str) -> dict:
    """The files of all hosts of one cluster, which hold the same on each.

    ``provided``: values by the name of the file, empty where there is none. ``seen``: by host the SHA-256 of each file, None where there is no such file.
    ``in_use``: hosts that have a node already, which knows what the files held.

    The result: ``faults``, which hold no secret; ``from``: by file the host to take it from, or ``provided``, or ``fresh``; ``write``: by host the files
    to write.
    """
    faults: list[str] = []
    source, write = {}, {host: [] for host in seen}
    for key in KEYS:
        name = key.replace("-", "_")
        value = provided.get(name) or ""
        held = {host: files.get(name) for host, files in seen.items() if files.get(name)}
        good = _hashes(value) if value else set(list(held.values())[:1])
        others = sorted(host for host, checksum in held.items() if checksum not in good)
        faults += [f"{name}: {fault.partition(': ')[2]}" for fault in value_faults(key, value) if value]
        if others and value and key == RPC and in_use:
            faults.append(f"{name}: {folder}/{name} on {', '.join(others)} holds another value than the one given, and nodes know it. Nodes with different"
                          " RPC secrets do not talk to one another: leave it out, or stop all nodes and remove the files")
        elif others and not value:
            faults.append(f"{name}: {folder}/{name} on {', '.join(others)} holds another value than on {min(set(held) - set(others))};"
                          " all nodes of a cluster have the same: give the one that is in force")
        if not value and not held and in_use and key != METRICS:
            faults.append(f"{name}: no host has {folder}/{name}, and the nodes on {', '.join(sorted(in_use))} know the former value. None is made up in its"
                          " place: restore the file on one of them, or give the value")
        source[name] = PROVIDED if value else next(iter(held), FRESH)
        for host in seen:
            if held.get(host) is None or held[host] not in good:
                write[host].append(name)
    return {"faults": faults, "from": source, "write": write}


def _hashes(value: str) -> set[str]:
    # A line break at the end, which editors make, is none of the value: Garage leaves it out.
    return {hashlib.sha256(text.encode()).hexdigest() for text in (value, f"{value}\n")}
