#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: layout_info
short_description: Look at the layout of a Garage cluster
version_added: 0.1.0
description:
  - Returns the layout in force, what is staged and what applying it would do, the versions that still drain, and the nodes without a role.
  - Works before the first layout.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes.info
options:
  record:
    description:
      - What the layout writer has left in force, RV(s3ops.garage.layout#module:record) of its last run. When something else is in force now,
        C(foreign_writer) of the result says what changed.
    type: dict
seealso:
  - module: s3ops.garage.layout
"""

EXAMPLES = r"""
- name: The layout
  s3ops.garage.layout_info:
  register: result

- name: No node may still drain
  ansible.builtin.assert:
    that: result.layout.history.settled
"""

RETURN = r"""
layout:
  description:
    - The layout, with the same keys as C(layout) of M(s3ops.garage.layout), and beside them
      C(history) (the versions alive, and by node id the counters that lag behind),
      C(preview) (what applying the staged changes would do; null when nothing is staged, or when the token may not ask),
      C(plan_hash) (of applying the staged changes, for O(s3ops.garage.layout#module:expected_plan); of changing nothing when nothing is staged),
      C(nodes) (every node the cluster knows, with its host name, address, role, free space and when it was last seen),
      C(nodes_without_role) (ids of the nodes that are connected but have none),
      C(removable) (ids of the nodes that may be switched off for good, because they have no role, none is staged, and no older version needs them; a
      node that the cluster knows no more at all is in neither list),
      C(foreign_writer) (how the layout differs from O(record), in the form of C(foreign_writer) of M(s3ops.garage.layout)) and
      C(awaiting) (on a follower, the nodes that wait for a role from the layout writer, in the form of C(awaiting) of
      M(s3ops.garage.layout); null elsewhere).
  returned: success
  type: dict
  sample:
    version: 1
    roles: []
    zone_redundancy: maximum
    staged: {roles: [], zone_redundancy: null}
    partition_size: 3906250000
    history: {current_version: 1, settled: true, versions: [{version: 1, status: current, storage_nodes: 3, gateway_nodes: 0}], lagging: {}}
    preview: null
    plan_hash: v1-9d2f6c1ab8e0475d-9d2f6c1ab8e0475d
    nodes: []
    nodes_without_role: []
    removable: []
    foreign_writer: null
    awaiting: null
"""

from ansible_collections.s3ops.garage.plugins.module_utils._argspec import record_spec
from ansible_collections.s3ops.garage.plugins.module_utils._readers.layout import read_layout_info
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_info


def main():
    run_info("layout", record_spec(), lambda client, params: read_layout_info(client, params["record"]))


if __name__ == "__main__":
    main()
