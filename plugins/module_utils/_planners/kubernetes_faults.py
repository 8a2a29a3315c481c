# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a Kubernetes API said, in words for the person who runs a play. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping

# The modules of kubernetes.core put the body of an answer into their message, as text or as Python writes bytes.
_BYTES = re.compile(r"""b'\{.*\}(?:\\n)?'|b"\{.*\}(?:\\n)?\"""", re.DOTALL)
_TEXT = re.compile(r"\{.*\}", re.DOTALL)
_FORBIDDEN = re.compile(r'User "(?P<user>[^"]*)" cannot (?P<verb>\w+) resource "(?P<resource>[^"]*)" in API group "(?P<group>[^"]*)"'
                        r'(?: in the namespace "(?P<namespace>[^"]*)")?')
_UNREACHABLE = re.compile(r"HTTPS?ConnectionPool\(host='([^']+)', port=(\d+)\).*?(?:Failed to establish a new connection|Caused by )(?P<why>.*)", re.DOTALL)


def explain(message: object) -> str:
    """What a failed task of kubernetes.core says, without the wrapping; a missing right and a field of another owner with what to do about it."""
    text = str(message)
    status = _status(text)
    said = status.get("message") or text
    if found := _FORBIDDEN.search(said):
        where = f"in the namespace {found['namespace']}" if found["namespace"] else "in the whole cluster"
        return (f"{found['user']} lacks a right {where}: apiGroups: [{json.dumps(found['group'])}], resources: [{found['resource']}],"
                f" verbs: [{found['verb']}]")
    if owned := _owned_fields(status):
        return (f"{owned}, and the site file sets them as well: leave them out on one side, or take them over once with garage_force_conflicts: true;"
                f" {said}")
    if not status and (found := _UNREACHABLE.search(text)):
        return f"the Kubernetes API at {found[1]}:{found[2]} does not answer: {found['why'].strip(': )')}"
    return said


def _status(text: str) -> Mapping:
    """The Status object of the API inside of the message, or nothing."""
    written, plain = _BYTES.search(text), _TEXT.search(text)
    try:
        status = json.loads(ast.literal_eval(written[0]) if written else plain[0] if plain else "{}")
    except (SyntaxError, ValueError):
        return {}
    return status if isinstance(status, dict) else {}


def _owned_fields(status: Mapping) -> str:
    """Who owns which fields, when that is why an apply was refused."""
    causes = [cause for cause in (status.get("details") or {}).get("causes") or () if cause.get("reason") == "FieldManagerConflict"]
    rows = [f"{re.sub('^conflict with ', '', cause.get('message', ''))} owns {cause.get('field', '')}" for cause in causes]
    return "the field manager " + ", ".join(rows) if rows else ""
