# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Argument specs of the places where credentials are kept. Private: not for use outside of the collection."""

from __future__ import annotations


def token_store_spec() -> dict:
    """Options of the doc fragment ``s3ops.garage.store.token``."""
    return {"store": {"type": "dict", "options": _PLACE}, **_policy()}


def key_store_spec() -> dict:
    """Options of the doc fragment ``s3ops.garage.store``."""
    return {"store": {"type": "dict", "options": {
        **_PLACE,
        "format": {"type": "str", "choices": ["keys", "aws_credentials", "env"], "default": "keys"},
        "endpoint": {"type": "str"},
        "region": {"type": "str"},
        "bucket": {"type": "str"},
        "website_url": {"type": "str"},
        "profile": {"type": "str"},
    }}, **_policy()}


def _policy() -> dict:
    return {"credential_deletion_policy": {"type": "str", "choices": ["retain", "delete"], "default": "retain"}}


_PLACE = {
    "path": {"type": "path"},
    "vault_password": {"type": "str", "no_log": True},
    "vault_password_file": {"type": "path", "no_log": False},
    "secret": {"type": "str", "no_log": False},
    "namespace": {"type": "str"},
    "kubeconfig": {"type": "path"},
    "context": {"type": "str"},
    "hashi_vault": {"type": "dict", "options": {
        "url": {"type": "str", "required": True},
        "path": {"type": "str", "required": True},
        "mount_point": {"type": "str", "default": "secret"},
        "token": {"type": "str", "no_log": True},
        "namespace": {"type": "str"},
        "ca_path": {"type": "path"},
    }},
    "data_keys": {"type": "dict", "no_log": False},
    "extra_data": {"type": "dict"},
    "labels": {"type": "dict"},
    "annotations": {"type": "dict"},
    "take_over": {"type": "bool", "default": False},
}
