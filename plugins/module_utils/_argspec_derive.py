# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Argument spec of access keys that follow from the RPC secret. Private: not for use outside of the collection."""

from __future__ import annotations


def derive_spec() -> dict:
    """What a key is derived from; the same in the modules ``key`` and ``tenancy``."""
    return {
        "derive": {"type": "str"},
        "derive_nonce": {"type": "str"},
        "rpc_secret": {"type": "str", "no_log": True},
        "rpc_secret_file": {"type": "path", "no_log": False},
        "rpc_fingerprint": {"type": "str"},
    }
