#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: block_info
short_description: Look at data blocks of Garage nodes
version_added: 0.1.0
description:
  - Returns the blocks that each node could not resync, or what refers to one block.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes.info
  - s3ops.garage.nodes
options:
  block:
    description:
      - Hash of the block to look at, or a unique beginning of it (4 digits or more). Without it, the blocks with errors are returned.
    type: str
seealso:
  - module: s3ops.garage.block_action
"""

EXAMPLES = r"""
- name: Blocks that cannot be resynced
  s3ops.garage.block_info:
  register: result

- name: Which objects use a block?
  s3ops.garage.block_info:
    block: 9d1f3a4b
"""

RETURN = r"""
nodes:
  description:
    - One entry for each node that answered, ordered by id. Either C(block_errors) or C(block) is set.
    - With O(block), only the nodes that know the block; none when there is no such block.
  returned: success
  type: list
  elements: dict
  sample:
    - id: 563e1ac825ee3323aa441e72c26d1030d6d4414aeb3dd25287c531e7fc2bc95d
      block_errors:
        - block_hash: 9d1f3a4b00000000000000000000000000000000000000000000000000000000
          refcount: 1
          error_count: 3
          last_try_secs_ago: 60
          next_try_in_secs: 300
      block: null
"""

from ansible_collections.s3ops.garage.plugins.module_utils._argspec import node_spec
from ansible_collections.s3ops.garage.plugins.module_utils._readers.nodes import read_blocks
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_info


def main():
    run_info("nodes", {**node_spec(), "block": {"type": "str"}}, read_blocks)


if __name__ == "__main__":
    main()
