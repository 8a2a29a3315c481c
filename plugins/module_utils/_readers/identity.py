# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which cluster this is. Private: not for use outside of the collection."""

from __future__ import annotations

from .._client import Client
from .._errors import Denied


class ClusterIdentity:
    """The nodes of a cluster, asked for once, and only when somebody wants to know: Garage has no id of its own for a cluster."""

    def __init__(self) -> None:
        self._nodes: tuple[str, ...] | None = None
        self._asked = False

    def nodes(self, client: Client) -> tuple[str, ...] | None:
        """Their ids; None when the token may not ask."""
        if not self._asked:
            self._asked = True
            try:
                self._nodes = tuple(node["id"] for node in client.call("GetClusterStatus")["nodes"])
            except Denied:
                client.warnings.append("the token may not call GetClusterStatus, so it is not noted in the store to which cluster the credential belongs")
        return self._nodes
