#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: metadata_snapshot
short_description: Take a snapshot of the metadata of Garage nodes
version_added: 0.1.0
description:
  - Makes each node write a snapshot of its metadata database. Garage keeps the newest two.
  - The server answers when the snapshot is written, so a large O(timeout) may be needed.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes.action
  - s3ops.garage.nodes
seealso:
  - module: s3ops.garage.node_info
"""

EXAMPLES = r"""
- name: Before a backup
  s3ops.garage.metadata_snapshot:
    timeout: 600
"""

RETURN = r"""
nodes:
  description: One entry for each node that answered, ordered by id.
  returned: success
  type: list
  elements: dict
  sample:
    - id: 563e1ac825ee3323aa441e72c26d1030d6d4414aeb3dd25287c531e7fc2bc95d
errors:
  description: The nodes that did not do it, each with C(id) and C(error).
  returned: success
  type: list
  elements: dict
  sample: []
actions:
  description: What was done, in order; in check mode, what would be done.
  returned: success
  type: list
  elements: str
  sample: [take a metadata snapshot on all nodes]
error:
  description: What went wrong, for plays to branch on.
  returned: failure
  type: dict
  sample: {kind: node_errors, status: null, code: null, endpoint: null}
"""

from ansible_collections.s3ops.garage.plugins.module_utils._argspec import node_spec
from ansible_collections.s3ops.garage.plugins.module_utils._operation_job import on_nodes
from ansible_collections.s3ops.garage.plugins.module_utils._planners.operations import plan_snapshot
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_job


def main():
    run_job(node_spec(), lambda params, context: on_nodes(plan_snapshot(params), params, context, lambda answer: {}))


if __name__ == "__main__":
    main()
