# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""A site's workload as Kubernetes objects, in plain data. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .accounts import accounts
from .budget import budgets
from .monitoring import dashboards, monitors
from .names import units
from .nodes import node
from .services import services


def objects(workload: Mapping, namespace: str, secret_hash: str, peers: Sequence[str] = ()) -> dict:
    """All objects of a site: ``shared`` ones, those of ``monitoring``, whose kinds not every cluster has, and ``nodes`` with the ConfigMap and
    StatefulSet of each.

    ``workload``: the key of that name in a site in normal form. ``secret_hash``: changes with the content of the site's Secret, and says
    nothing about it. ``peers``: nodes as ``id@host:port`` that each node tries to find after a start.
    """
    return {
        "shared": [*accounts(workload, namespace), *services(workload, namespace), *budgets(workload, namespace), *dashboards(workload, namespace)],
        "monitoring": monitors(workload, namespace),
        "nodes": [node(workload, unit, namespace, secret_hash, peers) for unit in units(workload)],
    }
