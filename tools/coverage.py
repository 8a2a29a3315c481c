# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which option of which module reaches each request field of the Admin API (``python -m tools.coverage`` writes docs/api-coverage.md).

The calls and their fields come from what the Garage binary prints (``garage admin-api-schema``), never from a copy. A value here is
``module: option`` (dots for suboptions), or a reason in parentheses why a field needs no option.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "api-coverage.md"
ID = "(read first; the option is a name or an id)"
SEARCH = "(never used: it also finds parts of names; names are looked up exactly)"
PAGING = "(set by the readers, so that lists are complete)"

# Calls without fields of their own: the modules that make them, or who serves them instead.
SERVED: dict[str, str] = {
    "CheckDomain": "(for the TLS front end of a web server, which asks it for each new domain; `bucket_info` shows what is served)",
    "Health": "(for probes and load balancers; `cluster_info` returns more)",
    "Metrics": "(for Prometheus, with the metrics token)",
    "GetClusterStatus": "cluster_info, layout_info, cluster_connect",
    "GetClusterHealth": "cluster_info",
    "GetClusterStatistics": "cluster_info",
    "ConnectClusterNodes": "cluster_connect",
    "GetClusterLayout": "layout_info, layout",
    "GetClusterLayoutHistory": "layout_info, layout",
    "PreviewClusterLayoutChanges": "layout_info, layout",
    "UpdateClusterLayout": "layout",
    "ApplyClusterLayout": "layout",
    "RevertClusterLayout": "layout_recovery, layout",
    "ClusterLayoutSkipDeadNodes": "layout_recovery",
    "ListAdminTokens": "admin_token_info, admin_token, tenancy, tenancy_info",
    "GetAdminTokenInfo": "admin_token_info, admin_token, tenancy",
    "GetCurrentAdminTokenInfo": "admin_token, tenancy",
    "CreateAdminToken": "admin_token, tenancy",
    "UpdateAdminToken": "admin_token, tenancy",
    "DeleteAdminToken": "admin_token, tenancy",
    "ListKeys": "key_info, key, tenancy",
    "ListKeysInfo": "tenancy, tenancy_info",
    "GetKeyInfo": "key_info, key",
    "CreateKey": "key, tenancy",
    "ImportKey": "key, tenancy",
    "UpdateKey": "key, tenancy",
    "DeleteKey": "key, tenancy",
    "ListBuckets": "bucket_info, bucket",
    "ListBucketsInfo": "tenancy, tenancy_info",
    "GetBucketInfo": "bucket_info, bucket",
    "InspectObject": "object_info",
    "CreateBucket": "bucket, tenancy",
    "UpdateBucket": "bucket, tenancy",
    "DeleteBucket": "bucket, tenancy",
    "CleanupIncompleteUploads": "bucket_uploads",
    "AllowBucketKey": "grant, tenancy",
    "DenyBucketKey": "grant, tenancy",
    "AddBucketAlias": "bucket, tenancy",
    "RemoveBucketAlias": "bucket, tenancy",
    "GetNodeInfo": "node_info, cluster_info, kubernetes_node_info, kubernetes_workload_info",
    "GetNodeStatistics": "node_info",
    "CreateMetadataSnapshot": "metadata_snapshot",
    "LaunchRepairOperation": "repair, drain",
    "ListWorkers": "worker_info, drain",
    "GetWorkerInfo": "worker_info",
    "GetWorkerVariable": "worker_info",
    "SetWorkerVariable": "worker_setting",
    "ListBlockErrors": "block_info",
    "GetBlockInfo": "block_info",
    "RetryBlockResync": "block_action",
    "PurgeBlocks": "block_action",
}

_ALIAS = {"bucketId": ID, "globalAlias": "bucket: aliases", "localAlias": "bucket: local_aliases.alias", "accessKeyId": "bucket: local_aliases.key"}
_RIGHTS = {"bucketId": "grant: bucket_id", "accessKeyId": "grant: key_id",
           **{f"permissions.{right}": f"grant: {right}" for right in ("read", "write", "owner")}}
_KEY = {"name": "key: name", "expiration": "key: expiration", "neverExpires": "key: expiration", "allow.createBucket": "key: allow_create_bucket",
        "deny.createBucket": "key: allow_create_bucket"}
_TOKEN = {"name": "admin_token: name", "scope": "admin_token: scope", "expiration": "admin_token: expiration", "neverExpires": "admin_token: expiration"}
_RULE, _ROUTE = "bucket: lifecycle_rules.", "bucket: website.routing_rules."
_CREATED_WITH = "(a bucket is created with a global alias; local aliases and grants are added by their own calls, which a removed one does not block)"

FIELDS: dict[str, dict[str, str]] = {
    "CheckDomain": {"domain": "(see above)"},
    "ConnectClusterNodes": {"[]": "cluster_connect: nodes"},
    "UpdateClusterLayout": {
        "roles[].id": "layout: roles.node", "roles[].zone": "layout: roles.zone", "roles[].capacity": "layout: roles.capacity",
        "roles[].tags": "layout: roles.tags", "roles[].remove": "layout: roles.state", "parameters.zoneRedundancy": "layout: zone_redundancy",
        "parameters.zoneRedundancy.atLeast": "layout: zone_redundancy",
    },
    "ApplyClusterLayout": {"version": "(always the next one)"},
    "ClusterLayoutSkipDeadNodes": {"version": "layout_recovery: version", "allowMissingData": "layout_recovery: allow_missing_data"},
    "GetAdminTokenInfo": {"id": "admin_token_info: id", "search": SEARCH},
    "CreateAdminToken": _TOKEN,
    "UpdateAdminToken": {"id": "admin_token: id", **_TOKEN},
    "DeleteAdminToken": {"id": "admin_token: id"},
    "ListKeys": {"offset": PAGING, "limit": PAGING},
    "ListKeysInfo": {"offset": PAGING, "limit": PAGING},
    "GetKeyInfo": {"id": "key_info: id", "search": SEARCH, "showSecretKey": "key_info: return_secret"},
    "CreateKey": _KEY,
    "ImportKey": {"accessKeyId": "key: id", "secretAccessKey": "key: secret_access_key", "name": "key: name"},
    "UpdateKey": {"id": "key: id", **_KEY},
    "DeleteKey": {"id": "key: id"},
    "ListBuckets": {"offset": PAGING, "limit": PAGING},
    "ListBucketsInfo": {"offset": PAGING, "limit": PAGING},
    "GetBucketInfo": {"id": "bucket_info: id", "globalAlias": "bucket_info: name", "search": SEARCH},
    "InspectObject": {"bucketId": "object_info: bucket_id", "key": "object_info: key"},
    "CreateBucket": {
        "globalAlias": "bucket: name", "localAlias.accessKeyId": _CREATED_WITH, "localAlias.alias": _CREATED_WITH,
        **{f"localAlias.allow.{right}": _CREATED_WITH for right in ("read", "write", "owner")},
    },
    "UpdateBucket": {
        "id": "bucket: id",
        "quotas.maxSize": "bucket: quotas.max_size", "quotas.maxObjects": "bucket: quotas.max_objects",
        "websiteAccess.enabled": "bucket: website.enabled", "websiteAccess.indexDocument": "bucket: website.index_document",
        "websiteAccess.errorDocument": "bucket: website.error_document",
        "websiteAccess.routingRules[].Condition.HttpErrorCodeReturnedEquals": _ROUTE + "condition.http_error_code_returned_equals",
        "websiteAccess.routingRules[].Condition.KeyPrefixEquals": _ROUTE + "condition.key_prefix_equals",
        "websiteAccess.routingRules[].Redirect.HostName": _ROUTE + "redirect.host_name",
        "websiteAccess.routingRules[].Redirect.Protocol": _ROUTE + "redirect.protocol",
        "websiteAccess.routingRules[].Redirect.HttpRedirectCode": _ROUTE + "redirect.http_redirect_code",
        "websiteAccess.routingRules[].Redirect.ReplaceKeyPrefixWith": _ROUTE + "redirect.replace_key_prefix_with",
        "websiteAccess.routingRules[].Redirect.ReplaceKeyWith": _ROUTE + "redirect.replace_key_with",
        "corsRules[].ID": "bucket: cors_rules.id", "corsRules[].AllowedOrigin": "bucket: cors_rules.allowed_origins",
        "corsRules[].AllowedMethod": "bucket: cors_rules.allowed_methods", "corsRules[].AllowedHeader": "bucket: cors_rules.allowed_headers",
        "corsRules[].ExposeHeader": "bucket: cors_rules.expose_headers", "corsRules[].MaxAgeSeconds": "bucket: cors_rules.max_age_seconds",
        "lifecycleRules[].ID": _RULE + "id", "lifecycleRules[].Status": _RULE + "status", "lifecycleRules[].Filter.Prefix": _RULE + "prefix",
        "lifecycleRules[].Filter.And": "(written when there are several conditions)",
        "lifecycleRules[].Filter.ObjectSizeGreaterThan": _RULE + "object_size_greater_than",
        "lifecycleRules[].Filter.ObjectSizeLessThan": _RULE + "object_size_less_than",
        "lifecycleRules[].Expiration.Days": _RULE + "expiration_days", "lifecycleRules[].Expiration.Date": _RULE + "expiration_date",
        "lifecycleRules[].AbortIncompleteMultipartUpload.DaysAfterInitiation": _RULE + "abort_incomplete_multipart_upload_days",
    },
    "DeleteBucket": {"id": "bucket: id"},
    "CleanupIncompleteUploads": {"bucketId": "bucket_uploads: id", "olderThanSecs": "bucket_uploads: older_than"},
    "AllowBucketKey": _RIGHTS,
    "DenyBucketKey": _RIGHTS,
    "AddBucketAlias": _ALIAS,
    "RemoveBucketAlias": _ALIAS,
    "GetNodeInfo": {"node": "node_info: node"},
    "GetNodeStatistics": {"node": "node_info: node"},
    "CreateMetadataSnapshot": {"node": "metadata_snapshot: node"},
    "LaunchRepairOperation": {"node": "repair: node", "repairType": "repair: operation", "repairType.scrub": "repair: scrub_command"},
    "ListWorkers": {"node": "worker_info: node", "busyOnly": "worker_info: busy_only", "errorOnly": "worker_info: error_only"},
    "GetWorkerInfo": {"node": "worker_info: node", "id": "worker_info: worker_id"},
    "GetWorkerVariable": {"node": "worker_info: node", "variable": "(all variables are read at once)"},
    "SetWorkerVariable": {"node": "worker_setting: node", "variable": "worker_setting: resync_worker_count", "value": "worker_setting: resync_worker_count"},
    "ListBlockErrors": {"node": "block_info: node"},
    "GetBlockInfo": {"node": "block_info: node", "blockHash": "block_info: block"},
    "RetryBlockResync": {"node": "block_action: node", "all": "block_action: all", "blockHashes": "block_action: blocks"},
    "PurgeBlocks": {"node": "block_action: node", "[]": "block_action: blocks"},
}


def printed_calls(binary: Path) -> dict[str, list[str]]:
    """Each call of the binary's own OpenAPI document with its request fields: query parameters, then the body's, nested ones with dots."""
    ended = subprocess.run([str(binary), "admin-api-schema"], capture_output=True, check=True)
    document = json.loads(ended.stdout)
    schemas = document["components"]["schemas"]
    calls = {}
    special = {"/check": "CheckDomain", "/health": "Health", "/metrics": "Metrics"}
    for path, methods in document["paths"].items():
        for method in methods.values():
            body = method.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            query = [parameter["name"] for parameter in method.get("parameters", ())]
            fields = dict.fromkeys([*query, *(_fields(body, schemas, "") if body else ())])
            calls[special.get(path, path.rpartition("/")[2])] = [field for field in fields if field]
    return dict(sorted(calls.items()))


def _fields(schema: Mapping, schemas: Mapping, at: str) -> Iterator[str]:
    if "$ref" in schema:
        yield from _fields(schemas[schema["$ref"].rpartition("/")[2]], schemas, at)
    elif "items" in schema:
        yield from _fields(schema["items"], schemas, f"{at}[]")
    elif "properties" in schema:
        for name, inner in schema["properties"].items():
            # The filter of a lifecycle rule holds a filter again; the inner one has the same fields.
            yield from [f"{at}.And"] if name == "And" else _fields(inner, schemas, f"{at}.{name}" if at else name)
    elif choices := [choice for kind in ("oneOf", "allOf", "anyOf") for choice in schema.get(kind, ())]:
        for choice in choices:
            yield from _fields(choice, schemas, at) if choice.get("type") != "null" else ()
    else:
        yield at.removesuffix("[]") or "[]"


def page(calls: Mapping[str, list[str]]) -> str:
    """The page, from the calls the binary prints and the tables above. Raises KeyError for a call or a field that has no line."""
    lines = ["<!--", "SPDX-FileCopyrightText: 2026 s3ops.garage contributors", "SPDX-License-Identifier: GPL-3.0-or-later", "-->",
             "# The Admin API, call by call", "",
             f"All {len(calls)} calls that Garage 2.5.0 knows, and where each of their request fields is set. Written by `python -m tools.coverage` from",
             "what the binary prints of itself; a test fails when a call or a field has no line here.", "",
             "| call | modules | request fields |", "|---|---|---|"]
    for name, fields in calls.items():
        told = "<br>".join(f"`{field}`: {FIELDS[name][field]}" for field in fields) or "none"
        lines.append(f"| `{name}` | {SERVED[name]} | {told} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    from tools.testbed.garage_binary import obtain

    PAGE.write_text(page(printed_calls(obtain())), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
