# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the writer has left in force, to be compared with what is in force later (LW-36). It detects, it does not lock. Pure. Private: not for use
outside of the collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._errors import InputError
from .layout import Layout, Role

FIELDS = ("version", "roles", "zone_redundancy")


def record_of(layout: Layout) -> dict:
    """The layout in force as plain data, small enough to keep: version, zone redundancy, and zone, capacity and tags by node id."""
    shown = layout.to_diff()
    return {name: shown[name] for name in FIELDS}


def read_record(value: Mapping | None) -> dict | None:
    """A record that was kept; None when there is none yet. Raises InputError for anything else."""
    if not value:
        return None
    roles = value.get("roles")
    sound = isinstance(value.get("version"), int) and isinstance(roles, Mapping) and all(isinstance(role, Mapping) for role in roles.values())
    if not sound or set(FIELDS) - set(value):
        raise InputError("record: is not what this collection keeps; give `record` of an earlier result as it was, or leave it out")
    return {name: value[name] for name in FIELDS}


def moved(record: Mapping | None, live: Mapping, during_run: bool = False) -> dict | None:
    """How the layout ``live`` (as record_of gives it) differs from the one that the writer has left; None when it does not, or without a record.

    Two layouts of one version differ when two writers have made the same version at two places.
    """
    if record is None or (record["version"] == live["version"] and not _changes(record, live)):
        return None
    return {"recorded_version": record["version"], "live_version": live["version"], "during_run": during_run, "changes": _changes(record, live)}


def lost(record: Mapping | None, layout: Layout) -> dict[str, Role]:
    """The roles, by node id, of another layout of the very same version that ``layout`` lacks.

    Two writers have made this version at two nodes at the same moment, and the nodes of the cluster do not agree until a further version replaces
    it ("Inconsistent layout histories" in their logs, seen on 2.5.0). The version that does must have the roles of both.
    """
    if record is None or record["version"] != layout.version:
        return {}
    return {id: Role(id, role["zone"], None if role["capacity"] == "gateway" else role["capacity"], tuple(role["tags"]))
            for id, role in record["roles"].items() if id not in layout.roles}


def moved_note(found: Mapping | None) -> str | None:
    """The warning."""
    if found is None:
        return None
    changes = "; ".join(found["changes"]) or "no role differs"
    if found["during_run"]:
        return f"somebody else has written the layout while this run was at work; it is at version {found['live_version']} now: {changes}; find out who"
    if found["recorded_version"] == found["live_version"]:
        return (f"two writers have made layout version {found['live_version']} at the same moment: {changes}; the nodes do not agree until a further version"
                " replaces it; find out who else writes, and have one site write the layout, with a change that is applied")
    return (f"the layout is at version {found['live_version']}, and the layout writer has left version {found['recorded_version']}: {changes}; somebody else"
            " has written it, or a run of the writer broke off before it was recorded; find out who")


def _changes(before: Mapping, after: Mapping) -> list[str]:
    lines = []
    for id in sorted({*before["roles"], *after["roles"]}):
        old, new = before["roles"].get(id), after["roles"].get(id)
        if _sorted(old) != _sorted(new):
            lines.append(f"node {id[:16]}: {_words(old)} became {_words(new)}")
    if str(before["zone_redundancy"]) != str(after["zone_redundancy"]):
        lines.append(f"zone redundancy: {before['zone_redundancy']} became {after['zone_redundancy']}")
    return lines


def _sorted(role: Mapping | None) -> Any:
    return role and (role.get("zone"), str(role.get("capacity")), sorted(role.get("tags") or ()))


def _words(role: Mapping | None) -> str:
    if role is None:
        return "no role"
    size = "gateway" if role.get("capacity") == "gateway" else f"capacity {role.get('capacity')}"
    return f"zone {role.get('zone')}, {size}, tags {', '.join(role.get('tags') or ()) or 'none'}"
