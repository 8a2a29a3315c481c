#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: node_info
short_description: Look at the nodes of a Garage cluster one by one
version_added: 0.1.0
description:
  - Returns what each node says of itself, its version, metadata engine, address and disks, and on request its statistics.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes.info
  - s3ops.garage.nodes
options:
  statistics:
    description:
      - Whether to return each node's table and block statistics as well.
    type: bool
    default: false
seealso:
  - module: s3ops.garage.cluster_info
  - module: s3ops.garage.worker_info
"""

EXAMPLES = r"""
- name: Versions of all nodes
  s3ops.garage.node_info:
  register: result

- name: One node with its tables
  s3ops.garage.node_info:
    node: 563e1ac825ee3323
    statistics: true
"""

RETURN = r"""
nodes:
  description:
    - One entry for each node that answered, ordered by id. What an older server does not tell is null.
    - C(statistics) is null unless it was asked for; its tables need Garage 2.3.0.
  returned: success
  type: list
  elements: dict
  sample:
    - id: 563e1ac825ee3323aa441e72c26d1030d6d4414aeb3dd25287c531e7fc2bc95d
      garage_version: "2.5.0"
      garage_features: [lmdb, sqlite]
      rust_version: 1.91.0
      db_engine: LMDB
      hostname: garage-1
      addr: 192.0.2.1:3901
      is_up: true
      role: {zone: paris, tags: [], capacity: 1000000000000}
      draining: false
      data_partition: {available: 900000000000, total: 1000000000000}
      metadata_partition: {available: 9000000000, total: 10000000000}
      connection_parameters: null
      statistics: null
"""

from ansible_collections.s3ops.garage.plugins.module_utils._argspec import node_spec
from ansible_collections.s3ops.garage.plugins.module_utils._readers.nodes import read_node_info
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_info


def main():
    run_info("nodes", {**node_spec(), "statistics": {"type": "bool", "default": False}}, read_node_info)


if __name__ == "__main__":
    main()
