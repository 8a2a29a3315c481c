# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Snapshots of the cluster's nodes. Private: not for use outside of the collection."""

from __future__ import annotations

from .._client import Client
from .._models.cluster import ClusterStatus


def read_status(client: Client) -> ClusterStatus:
    """The nodes as the asked node sees them. One request; works before the first layout."""
    return ClusterStatus.from_api(client.call("GetClusterStatus"))
