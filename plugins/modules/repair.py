#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: repair
short_description: Launch a repair on Garage nodes
version_added: 0.1.0
description:
  - Starts one of the repairs of Garage, or tells the scrub worker to start, pause, resume or stop.
  - With O(wait=true), waits until the workers that the repair started are done.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes.action
  - s3ops.garage.nodes
  - s3ops.garage.wait
options:
  operation:
    description:
      - The repair, by the word the server uses. V(clearResyncQueue) needs Garage 2.1.0.
    type: str
    required: true
    choices: [tables, blocks, versions, multipartUploads, blockRefs, blockRc, rebalance, aliases, clearResyncQueue, scrub]
  scrub_command:
    description:
      - What to tell the scrub worker. Required with O(operation=scrub), and for nothing else. A pause lasts 24 hours.
    type: str
    choices: [start, pause, resume, cancel]
seealso:
  - module: s3ops.garage.worker_info
  - module: s3ops.garage.worker_setting
"""

EXAMPLES = r"""
- name: Repair the tables and wait
  s3ops.garage.repair:
    operation: tables
    wait: true
    wait_timeout: 3600

- name: No scrub for a day
  s3ops.garage.repair:
    operation: scrub
    scrub_command: pause
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
  sample: [launch repair tables on all nodes]
error:
  description: What went wrong, for plays to branch on.
  returned: failure
  type: dict
  sample: {kind: node_errors, status: null, code: null, endpoint: null}
"""

from ansible_collections.s3ops.garage.plugins.module_utils._argspec import node_spec, wait_spec
from ansible_collections.s3ops.garage.plugins.module_utils._operation_job import repair
from ansible_collections.s3ops.garage.plugins.module_utils._planners.operations import SCRUB_COMMANDS, plan_repair
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_job

OPERATIONS = ["tables", "blocks", "versions", "multipartUploads", "blockRefs", "blockRc", "rebalance", "aliases", "clearResyncQueue", "scrub"]


def main():
    spec = {"operation": {"type": "str", "required": True, "choices": OPERATIONS}, "scrub_command": {"type": "str", "choices": list(SCRUB_COMMANDS)}}
    run_job({**node_spec(), **wait_spec(), **spec}, lambda params, context: repair(plan_repair(params), params, context))


if __name__ == "__main__":
    main()
