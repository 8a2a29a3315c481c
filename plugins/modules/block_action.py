#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: block_action
short_description: Retry or purge data blocks of Garage nodes
version_added: 0.1.0
description:
  - Retries blocks that could not be resynced at once instead of later, or purges blocks that are lost.
  - Purging deletes every object, upload and version that uses one of the blocks.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes.action
  - s3ops.garage.nodes
options:
  action:
    description:
      - What to do.
    type: str
    required: true
    choices: [retry, purge]
  blocks:
    description:
      - Full hashes of the blocks.
    type: list
    elements: str
  all:
    description:
      - Retry all blocks with errors.
    type: bool
    default: false
  confirm:
    description:
      - Must be V(true) for O(action=purge).
    type: bool
    default: false
seealso:
  - module: s3ops.garage.block_info
"""

EXAMPLES = r"""
- name: Try all of them again now
  s3ops.garage.block_action:
    action: retry
    all: true
"""

RETURN = r"""
nodes:
  description: One entry for each node that answered, ordered by id, with the counts the server returns.
  returned: success
  type: list
  elements: dict
  sample:
    - id: 563e1ac825ee3323aa441e72c26d1030d6d4414aeb3dd25287c531e7fc2bc95d
      count: 3
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
  sample: [retry all blocks on all nodes]
error:
  description: What went wrong, for plays to branch on.
  returned: failure
  type: dict
  sample: {kind: node_errors, status: null, code: null, endpoint: null}
"""

from ansible_collections.s3ops.garage.plugins.module_utils._argspec import node_spec
from ansible_collections.s3ops.garage.plugins.module_utils._operation_job import on_nodes
from ansible_collections.s3ops.garage.plugins.module_utils._planners.operations import plan_blocks
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_job
from ansible_collections.s3ops.garage.plugins.module_utils._translate import snake_case


def main():
    spec = {"action": {"type": "str", "required": True, "choices": ["retry", "purge"]}, "blocks": {"type": "list", "elements": "str"},
            "all": {"type": "bool", "default": False}, "confirm": {"type": "bool", "default": False}}
    run_job({**node_spec(), **spec}, lambda params, context: on_nodes(plan_blocks(params), params, context, snake_case))


if __name__ == "__main__":
    main()
