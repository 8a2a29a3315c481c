# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """Options of modules that ask or tell single nodes."""

    DOCUMENTATION = r"""
options:
  node:
    description:
      - Which nodes. V(*) for all that are in the layout or connected, V(self) for the node that is asked, or a node id or a unique beginning of one.
      - A node that hangs holds up the answer of all. When that takes longer than the O(timeout), reading modules ask each node for itself and name the
        one that gives no answer.
    type: str
    default: "*"
  tolerate_node_errors:
    description:
      - Whether nodes that cannot be reached or refuse are a warning rather than a failure. When no node did it, the task fails all the same.
    type: bool
    default: false
"""
