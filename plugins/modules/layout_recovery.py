#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: layout_recovery
short_description: Get a Garage layout going again
version_added: 0.1.0
description:
  - Drops staged layout changes, or lets a layout version go on without nodes that are dead.
  - Both are layout writes. On a follower nothing is sent; what the layout writer has to run is returned in RV(awaiting).
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes
options:
  action:
    description:
      - V(revert) drops everything that is staged. V(skip_dead_nodes) counts dead nodes as having acknowledged a layout version.
    type: str
    required: true
    choices: [revert, skip_dead_nodes]
  version:
    description:
      - The layout version that dead nodes hold up. Only with O(action=skip_dead_nodes).
      - When left out it is the current one, and the task fails where that is the only one that is live, since no dead node holds up anything then. A
        version that is given and goes on already is unchanged.
    type: int
  allow_missing_data:
    description:
      - Whether to go on even though data that lies only on dead nodes is given up. Try without it first. Only with O(action=skip_dead_nodes).
    type: bool
    default: false
  confirm:
    description:
      - Must be V(true) with O(action=skip_dead_nodes), where nodes that are down for a while only are taken for dead as well.
    type: bool
    default: false
  fail_when_awaiting:
    description:
      - Whether a follower fails when something waits for the layout writer. Otherwise it warns.
    type: bool
    default: false
seealso:
  - module: s3ops.garage.layout
  - module: s3ops.garage.layout_info
"""

EXAMPLES = r"""
- name: Somebody staged something and went home
  s3ops.garage.layout_recovery:
    action: revert

- name: A node died while it drained
  s3ops.garage.layout_recovery:
    action: skip_dead_nodes
    confirm: true
"""

RETURN = r"""
recovery:
  description: For skipped dead nodes, the ids whose counters were raised.
  returned: success
  type: dict
  sample: {ack_updated: [], sync_updated: []}
layout_writer:
  description: Whether this site may write the layout.
  returned: success
  type: bool
site_role:
  description: The site role as it was set; null when it was not, which behaves as writer.
  returned: success
  type: str
reason:
  description: C(WriterSite) or C(FollowerSite).
  returned: success
  type: str
pending:
  description: Whether this site is a follower and the action waits for the layout writer.
  returned: success
  type: bool
awaiting:
  description:
    - On a follower, what waits for the layout writer; null elsewhere.
    - C(reason) is C(pending_recovery) or C(nothing_pending). C(nodes) are those with staged changes, or those that a version waits for; C(lines) are the
      options that this module needs at the writer.
  returned: success
  type: dict
  sample: {reason: pending_recovery, nodes: [86f0f26ae4afbd59], operations: [RevertClusterLayout], lines: [{action: revert}]}
blocked_operations:
  description: The calls that a follower did not send.
  returned: success
  type: list
  elements: str
  sample: [RevertClusterLayout]
actions:
  description: What was done, in order; in check mode, what would be done.
  returned: success
  type: list
  elements: str
  sample: [drop all staged layout changes]
error:
  description: What went wrong, for plays to branch on.
  returned: failure
  type: dict
  sample: {kind: node_errors, status: null, code: null, endpoint: null}
"""

from ansible_collections.s3ops.garage.plugins.module_utils._operation_job import recover_layout
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_job


def main():
    run_job({
        "action": {"type": "str", "required": True, "choices": ["revert", "skip_dead_nodes"]},
        "version": {"type": "int"},
        "allow_missing_data": {"type": "bool", "default": False},
        "confirm": {"type": "bool", "default": False},
        "fail_when_awaiting": {"type": "bool", "default": False},
    }, recover_layout)


if __name__ == "__main__":
    main()
