# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Argument specs that several modules share. Private: not for use outside of the collection."""

from __future__ import annotations

from ._argspec_derive import derive_spec
from ._argspec_store import key_store_spec, token_store_spec


def connection_spec() -> dict:
    """Options of the doc fragment ``s3ops.garage.connection``; a test holds the two equal."""
    return {
        "api_url": {"type": "str", "aliases": ["url"]},
        "api_token": {"type": "str", "no_log": True, "aliases": ["token"]},
        "api_token_file": {"type": "path", "no_log": False},
        "validate_certs": {"type": "bool", "default": True},
        "ca_path": {"type": "path", "aliases": ["ca_cert"]},
        "client_cert": {"type": "path"},
        "client_key": {"type": "path", "no_log": False},
        "timeout": {"type": "float", "default": 60.0},
        "retries": {"type": "int", "default": 3},
        "retry_delay": {"type": "float", "default": 1.0},
        "site_role": {"type": "str", "choices": ["writer", "follower"]},
        "transport": {"type": "str", "choices": ["http", "exec", "auto"]},
        "kubernetes": {"type": "dict", "options": {
            "namespace": {"type": "str", "required": True},
            "pod": {"type": "str"},
            "label_selector": {"type": "str"},
            "container": {"type": "str", "default": "garage"},
            "config_path": {"type": "str", "default": "/etc/garage/garage.toml"},
            "garage_path": {"type": "str", "default": "/garage"},
            "kubeconfig": {"type": "path"},
            "context": {"type": "str"},
        }},
    }


def state_spec() -> dict:
    """``state`` of everything that is declared."""
    return {"state": {"type": "str", "choices": ["present", "absent"], "default": "present"}}


def wait_spec(timeout: int = 120) -> dict:
    """Options of the doc fragment ``s3ops.garage.wait``."""
    return {
        "wait": {"type": "bool", "default": False},
        "wait_timeout": {"type": "int", "default": timeout},
        "wait_sleep": {"type": "float", "default": 2.0},
    }


def bucket_settings_spec() -> dict:
    """What can be set on a bucket; the same in the modules ``bucket`` and ``tenancy``."""
    return {
        "aliases": {"type": "list", "elements": "str"},
        "purge_aliases": {"type": "bool", "default": False},
        "local_aliases": {"type": "list", "elements": "dict", "options": {
            "key": {"type": "str", "no_log": False},
            "key_id": {"type": "str", "no_log": False},
            "alias": {"type": "str", "required": True},
        }},
        "purge_local_aliases": {"type": "bool", "default": False},
        "quotas": {"type": "dict", "options": {"max_size": {"type": "str"}, "max_objects": {"type": "str"}}},
        "website": {"type": "dict", "options": {
            "enabled": {"type": "bool", "required": True},
            "index_document": {"type": "str"},
            "error_document": {"type": "str"},
            "routing_rules": {"type": "list", "elements": "dict", "options": _ROUTING_RULE},
        }},
        "cors_rules": {"type": "list", "elements": "dict", "options": _CORS_RULE},
        "lifecycle_rules": {"type": "list", "elements": "dict", "options": _LIFECYCLE_RULE},
    }


def key_spec() -> dict:
    """What can be set on an access key; the same in the modules ``key`` and ``tenancy``."""
    return {
        "name": {"type": "str"},
        "id": {"type": "str", "aliases": ["access_key_id"]},
        "secret_access_key": {"type": "str", "no_log": True},
        "expiration": {"type": "str"},
        "allow_create_bucket": {"type": "bool"},
    }


def admin_token_spec() -> dict:
    """What can be set on an admin token, and where its secret is kept; the same in the modules ``admin_token`` and ``tenancy``."""
    return {
        "name": {"type": "str"},
        "id": {"type": "str"},
        "scope": {"type": "list", "elements": "str"},
        "expiration": {"type": "str"},
        **token_store_spec(),
    }


def return_secret_spec() -> dict:
    """``return_secret``; the runner refuses it in a task without no_log."""
    return {"return_secret": {"type": "bool", "default": False, "no_log": False}}


def grant_spec() -> dict:
    """Which key, and what it may do; the same in the modules ``grant`` and ``tenancy``."""
    return {
        "key": {"type": "str", "no_log": False},
        "key_id": {"type": "str", "no_log": False},
        "read": {"type": "bool"},
        "write": {"type": "bool"},
        "owner": {"type": "bool"},
    }


def tenancy_spec() -> dict:
    """The document of the module ``tenancy``. What is required of each item is checked with all other faults, not here."""
    bucket = {"name": {"type": "str"}, "id": {"type": "str"}, **state_spec(), **bucket_settings_spec(),
              "grants": {"type": "list", "elements": "dict", "options": grant_spec()}, "purge_grants": {"type": "bool", "default": False}}
    return {
        "keys": {"type": "list", "elements": "dict", "no_log": False, "options": {**key_spec(), **derive_spec(), **key_store_spec(), **state_spec()}},
        "buckets": {"type": "list", "elements": "dict", "options": bucket},
        "admin_tokens": {"type": "list", "elements": "dict", "no_log": False, "options": {**admin_token_spec(), **state_spec()}},
        "owner": {"type": "dict", "options": {"prefix": {"type": "str", "required": True}}},
        "purge_keys": {"type": "bool", "default": False, "no_log": False},
        "purge_buckets": {"type": "bool", "default": False},
        "purge_admin_tokens": {"type": "bool", "default": False, "no_log": False},
        "on_error": {"type": "str", "choices": ["stop", "continue"], "default": "stop"},
        "max_in_flight": {"type": "int", "default": 4},
    }


_ROUTING_RULE = {
    "condition": {"type": "dict", "options": {"key_prefix_equals": {"type": "str", "no_log": False},
                                              "http_error_code_returned_equals": {"type": "int"}}},
    "redirect": {"type": "dict", "required": True, "options": {
        "host_name": {"type": "str"},
        "protocol": {"type": "str", "choices": ["http", "https"]},
        "http_redirect_code": {"type": "int"},
        "replace_key_prefix_with": {"type": "str", "no_log": False},
        "replace_key_with": {"type": "str", "no_log": False},
    }},
}

_CORS_RULE = {
    "id": {"type": "str"},
    "allowed_origins": {"type": "list", "elements": "str", "required": True},
    "allowed_methods": {"type": "list", "elements": "str", "required": True, "choices": ["GET", "PUT", "POST", "DELETE", "HEAD"]},
    "allowed_headers": {"type": "list", "elements": "str"},
    "expose_headers": {"type": "list", "elements": "str"},
    "max_age_seconds": {"type": "int"},
}

_LIFECYCLE_RULE = {
    "id": {"type": "str", "required": True},
    "status": {"type": "str", "choices": ["enabled", "disabled"], "default": "enabled"},
    "prefix": {"type": "str"},
    "object_size_greater_than": {"type": "str"},
    "object_size_less_than": {"type": "str"},
    "expiration_days": {"type": "int"},
    "expiration_date": {"type": "str"},
    "abort_incomplete_multipart_upload_days": {"type": "int"},
}


def layout_spec() -> dict:
    """Options of the module ``layout`` beside the shared ones."""
    return {
        "roles": {"type": "list", "elements": "dict", "options": {
            "node": {"type": "str", "required": True},
            **state_spec(),
            "zone": {"type": "str"},
            "capacity": {"type": "str"},
            "gateway": {"type": "bool"},
            "tags": {"type": "list", "elements": "str"},
        }},
        "zone_redundancy": {"type": "str"},
        "replication_factor": {"type": "int"},
        "purge_roles": {"type": "bool", "default": False},
        "owner": {"type": "dict", "options": {"zones": {"type": "list", "elements": "str"}, "tag": {"type": "str"}}},
        "apply": {"type": "bool", "default": True},
        "foreign_staged": {"type": "str", "choices": ["fail", "discard", "include"], "default": "fail"},
        "preview": {"type": "bool", "default": False},
        "allow_unseen_nodes": {"type": "bool", "default": False},
        "require_settled": {"type": "bool", "default": True},
        "consistency_mode": {"type": "str", "choices": ["consistent", "degraded", "dangerous"]},
        "assume_peers_consistent": {"type": "bool"},
        "fail_when_awaiting": {"type": "bool", "default": False},
        "expected_plan": {"type": "str"},
        **record_spec(),
    }


def record_spec() -> dict:
    """What the layout writer has left in force; the same in the modules ``layout`` and ``layout_info``."""
    return {"record": {"type": "dict"}}


def node_spec() -> dict:
    """Options of the doc fragment ``s3ops.garage.nodes``."""
    return {"node": {"type": "str", "default": "*"}, "tolerate_node_errors": {"type": "bool", "default": False}}
