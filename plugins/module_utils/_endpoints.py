# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of Admin API calls. Private: not for use outside of the collection.

Every path that ``garage admin-api-schema`` of 2.5.0 prints has a row; a test compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Endpoint:
    """One call: ``method`` and ``path``; ``read_only`` calls may be repeated and are sent in check mode, ``layout_write`` calls
    are for the layout writer only (LW-13), ``since`` is the first Garage version that has the call."""

    name: str
    method: str
    path: str
    read_only: bool = False
    layout_write: bool = False
    since: str = "2.0.0"


def _v2(name: str, method: str, read_only: bool = False, layout_write: bool = False, since: str = "2.0.0") -> Endpoint:
    return Endpoint(name, method, f"/v2/{name}", read_only, layout_write, since)


def _read(name: str, method: str = "GET", since: str = "2.0.0") -> Endpoint:
    return _v2(name, method, read_only=True, since=since)


def _write(name: str) -> Endpoint:
    return _v2(name, "POST")


def _layout(name: str) -> Endpoint:
    return _v2(name, "POST", layout_write=True)


_ROWS = (
    Endpoint("CheckDomain", "GET", "/check", read_only=True),
    Endpoint("Health", "GET", "/health", read_only=True),
    Endpoint("Metrics", "GET", "/metrics", read_only=True),
    # cluster
    _read("GetClusterStatus"),
    _read("GetClusterHealth"),
    _read("GetClusterStatistics"),
    _write("ConnectClusterNodes"),
    # layout
    _read("GetClusterLayout"),
    _read("GetClusterLayoutHistory"),
    _read("PreviewClusterLayoutChanges", "POST"),
    _layout("UpdateClusterLayout"),
    _layout("ApplyClusterLayout"),
    _layout("RevertClusterLayout"),
    _layout("ClusterLayoutSkipDeadNodes"),
    # admin tokens
    _read("ListAdminTokens"),
    _read("GetAdminTokenInfo"),
    _read("GetCurrentAdminTokenInfo", since="2.1.0"),
    _write("CreateAdminToken"),
    _write("UpdateAdminToken"),
    _write("DeleteAdminToken"),
    # access keys
    _read("ListKeys"),
    _read("ListKeysInfo", since="2.5.0"),
    _read("GetKeyInfo"),
    _write("CreateKey"),
    _write("ImportKey"),
    _write("UpdateKey"),
    _write("DeleteKey"),
    # buckets
    _read("ListBuckets"),
    _read("ListBucketsInfo", since="2.5.0"),
    _read("GetBucketInfo"),
    _read("InspectObject"),
    _write("CreateBucket"),
    _write("UpdateBucket"),
    _write("DeleteBucket"),
    _write("CleanupIncompleteUploads"),
    _write("AllowBucketKey"),
    _write("DenyBucketKey"),
    _write("AddBucketAlias"),
    _write("RemoveBucketAlias"),
    # nodes
    _read("GetNodeInfo"),
    _read("GetNodeStatistics"),
    _write("CreateMetadataSnapshot"),
    _write("LaunchRepairOperation"),
    # workers
    _read("ListWorkers", "POST"),
    _read("GetWorkerInfo", "POST"),
    _read("GetWorkerVariable", "POST"),
    _write("SetWorkerVariable"),
    # blocks
    _read("ListBlockErrors"),
    _read("GetBlockInfo", "POST"),
    _write("RetryBlockResync"),
    _write("PurgeBlocks"),
)

ENDPOINTS = {row.name: row for row in _ROWS}
LAYOUT_WRITES = frozenset(row.name for row in _ROWS if row.layout_write)
