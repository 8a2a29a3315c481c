#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: worker_info
short_description: Look at the background workers of Garage nodes
version_added: 0.1.0
description:
  - Returns the workers of each node, what they are doing, their errors, and the worker variables.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes.info
  - s3ops.garage.nodes
options:
  busy_only:
    description:
      - Only workers that are busy.
    type: bool
    default: false
  error_only:
    description:
      - Only workers whose last run failed.
    type: bool
    default: false
  worker_id:
    description:
      - Only the worker with this number. Numbers are those of one node, so set O(node) to one node as well.
    type: int
seealso:
  - module: s3ops.garage.worker_setting
  - module: s3ops.garage.repair
"""

EXAMPLES = r"""
- name: Workers that failed
  s3ops.garage.worker_info:
    error_only: true
  register: result
"""

RETURN = r"""
nodes:
  description: One entry for each node that answered, ordered by id, with its workers and worker variables.
  returned: success
  type: list
  elements: dict
  sample:
    - id: 563e1ac825ee3323aa441e72c26d1030d6d4414aeb3dd25287c531e7fc2bc95d
      workers:
        - id: 10
          name: Block scrub worker
          state: idle
          throttled_seconds: null
          errors: 0
          consecutive_errors: 0
          last_error: null
          tranquility: 4
          progress: null
          queue_length: null
          persistent_errors: 0
          freeform: []
      variables: {resync-tranquility: "2", resync-worker-count: "1", scrub-tranquility: "4"}
"""

from ansible_collections.s3ops.garage.plugins.module_utils._argspec import node_spec
from ansible_collections.s3ops.garage.plugins.module_utils._readers.nodes import read_workers
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_info


def main():
    spec = {"busy_only": {"type": "bool", "default": False}, "error_only": {"type": "bool", "default": False}, "worker_id": {"type": "int"}}
    run_info("nodes", {**node_spec(), **spec}, read_workers)


if __name__ == "__main__":
    main()
