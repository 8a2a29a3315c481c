# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nodes as hosts of an inventory. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections import Counter

from .cluster import ClusterStatus, Node

SHORT = 16  # digits of an id; as many as Garage itself prints
# There whether or not a node is in them, so that a play may name them.
GROUPS = ("storage", "gateway", "no_role", "up", "down")


def inventory(status: ClusterStatus) -> dict[str, dict]:
    """``{host: {"vars": {...}, "groups": [...]}}`` in JSON's own types. The names of groups are as in Garage, not yet made safe for Ansible.

    A host is named by its node's hostname where no other node has it, else by the beginning of its id.
    """
    hostnames = Counter(node.hostname for node in status.nodes)
    shorts = Counter(node.id[:SHORT] for node in status.nodes)
    hosts = {}
    for node in status.nodes:
        short = node.id[:SHORT] if shorts[node.id[:SHORT]] == 1 else node.id
        unique = node.hostname and hostnames[node.hostname] == 1 and node.hostname not in shorts
        hosts[node.hostname if unique else short] = {"vars": _variables(node), "groups": _groups(node)}
    return hosts


def _variables(node: Node) -> dict:
    values = node.to_result()
    values["version"] = values.pop("garage_version")
    return {f"garage_node_{name}": value for name, value in values.items()}


def _groups(node: Node) -> list[str]:
    kind = "storage" if node.storage else "gateway" if node.gateway else "no_role"
    zone = [f"zone_{node.zone}"] if node.zone is not None else []
    return [kind, "up" if node.up else "down", *zone, *(f"tag_{tag}" for tag in node.tags)]
