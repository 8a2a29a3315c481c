# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rules for names and ids. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import re
from ipaddress import ip_address

_HEX64 = re.compile(r"[0-9a-f]{64}")
_KEY_ID = re.compile(r"[A-Za-z0-9._-]{8,}")
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]*[a-z0-9]")

BUCKET_NAME_RULE = ("3 to 63 characters of a-z, 0-9, dot and hyphen, beginning and ending with a letter or digit, not an IP address, not ending in"
                    " -s3alias")


def bucket_name_fault(name: str) -> str | None:
    """Why Garage would refuse ``name`` for a bucket, or None (its own rule of 2.5.0).

    Punycode labels (``xn--``) are left to the server, whose ``allow_punycode`` decides.
    """
    if _HEX64.fullmatch(name):
        return f"{name!r} is a bucket id, not a name; give it as id"
    if not 3 <= len(name) <= 63 or not _BUCKET.fullmatch(name) or name.endswith("-s3alias") or _is_address(name):
        return f"{name[:80]!r} is not a bucket name Garage takes: {BUCKET_NAME_RULE}"
    return None


def bucket_id_fault(value: str) -> str | None:
    """Why ``value`` is not a bucket id, or None."""
    return None if _HEX64.fullmatch(value) else f"{value[:80]!r} is not a bucket id; wanted: 64 lower-case hexadecimal digits"


def key_id_fault(value: str) -> str | None:
    """Why ``value`` can be no access key's id, or None. Garage before 2.3.0 takes less (GK and 24 hexadecimal digits), and says so itself."""
    return None if _KEY_ID.fullmatch(value) else f"{value[:80]!r} is not an access key id; wanted: at least 8 characters of A-Z, a-z, 0-9, dot, _ and -"


def secret_key_fault(value: str) -> str | None:
    """Why ``value`` can be no secret access key, or None; the value itself is never in the answer."""
    if re.fullmatch(r"[!-~]{16,}", value):
        return None
    return "is not a secret access key Garage takes; wanted: at least 16 printable ASCII characters without spaces"


def is_node_id(value: str) -> bool:
    """True for a full node id (64 lower-case hexadecimal digits)."""
    return bool(_HEX64.fullmatch(value))


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
