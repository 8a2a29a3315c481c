# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Snapshots of grants. Private: not for use outside of the collection."""

from __future__ import annotations

from .._client import Client
from .._models.bucket import Bucket
from .._models.grant import GrantSpec
from .._models.key import Key
from .._planners.grant import GrantSnapshot
from .bucket import find_bucket
from .key import find_key, read_directory


def read_grant(client: Client, spec: GrantSpec) -> GrantSnapshot:
    """One request for the bucket with all of its grants, and one for the key where the bucket does not show it. Raises Ambiguous."""
    bucket = find_bucket(client, id=spec.bucket_id) if spec.bucket_id else find_bucket(client, globalAlias=spec.bucket)
    if bucket is None and spec.absent:
        return GrantSnapshot()
    if spec.key is not None:
        return GrantSnapshot(bucket, read_directory(client).by_name(spec.key))
    return GrantSnapshot(bucket, _shown_by(bucket, spec.key_id) or find_key(client, spec.key_id))


def _shown_by(bucket: Bucket | None, key_id: str) -> Key | None:
    grants = bucket.grants if bucket else ()
    return next((Key(grant.key_id, grant.key_name) for grant in grants if grant.key_id == key_id), None)
