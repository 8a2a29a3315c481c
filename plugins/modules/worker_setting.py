#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: worker_setting
short_description: Declare the speed of background workers of Garage nodes
version_added: 0.1.0
description:
  - Sets the worker variables of each node and reads them back. What is left unset is left alone.
  - The values are kept by each node, also over a restart.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes
  - s3ops.garage.nodes
options:
  resync_worker_count:
    description:
      - How many resync workers run at the same time, 1 to 8.
    type: int
  resync_tranquility:
    description:
      - How long a resync worker rests between blocks, as a multiple of the time a block took; 0 is as fast as it can.
    type: int
  scrub_tranquility:
    description:
      - The same for the scrub worker.
    type: int
seealso:
  - module: s3ops.garage.worker_info
"""

EXAMPLES = r"""
- name: Resync as fast as the disks allow
  s3ops.garage.worker_setting:
    resync_worker_count: 8
    resync_tranquility: 0
"""

RETURN = r"""
nodes:
  description: One entry for each node that answered, ordered by id, with the variables that were declared.
  returned: success
  type: list
  elements: dict
  sample:
    - id: 563e1ac825ee3323aa441e72c26d1030d6d4414aeb3dd25287c531e7fc2bc95d
      variables: {resync-tranquility: "0", resync-worker-count: "8"}
actions:
  description: What was done, in order; in check mode, what would be done.
  returned: success
  type: list
  elements: str
  sample: [set resync-tranquility to 0 on node 563e1ac825ee3323]
error:
  description: What went wrong, for plays to branch on.
  returned: failure
  type: dict
  sample: {kind: node_errors, status: null, code: null, endpoint: null}
"""

from ansible_collections.s3ops.garage.plugins.module_utils._argspec import node_spec
from ansible_collections.s3ops.garage.plugins.module_utils._operation_job import set_variables
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_job


def main():
    names = ("resync_worker_count", "resync_tranquility", "scrub_tranquility")
    run_job({**node_spec(), **{name: {"type": "int"} for name in names}}, set_variables, required_one_of=[names])


if __name__ == "__main__":
    main()
