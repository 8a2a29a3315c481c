#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: drain
short_description: Make sure that Garage nodes can be switched off for good
version_added: 0.1.0
description:
  - For nodes whose role in the layout was taken away. Waits until no version of the layout needs them, has all nodes look for the blocks that they should
    have, and waits until those that stay have all of theirs.
  - The layout tracks how far metadata has moved, and nothing of blocks, so a settled layout alone is no reason to delete a disk.
  - Changes nothing of the layout. When it succeeds, the nodes hold nothing that the others lack.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes.action
options:
  nodes:
    description:
      - The nodes that are to be switched off, each by its id, C(id@host:port), a unique prefix of the id (4 digits or more) or its host name.
      - They have to run until this has succeeded, since the others fetch blocks from them. A node that is lost already is no hindrance by itself; blocks that
        only it had keep the task from succeeding.
    type: list
    elements: str
    required: true
  rpc_timeout_msec:
    description:
      - The C(rpc_timeout_msec) of the nodes' configuration. It cannot be read from a server.
      - A node fetches a block that is new to it after twice this time, and nothing brings that forward, so this takes ten minutes with Garage's default,
        unless nothing was to be fetched.
    type: int
    default: 300000
  wait_timeout:
    description:
      - Seconds to wait at the most, for each of the three steps. Has to be more than twice O(rpc_timeout_msec).
      - A wait that fails leaves everything as it is; running the task again looks anew.
    type: int
    default: 3600
  wait_sleep:
    description:
      - Seconds between two looks.
    type: float
    default: 2
seealso:
  - module: s3ops.garage.layout
  - module: s3ops.garage.repair
  - module: s3ops.garage.block_info
"""

EXAMPLES = r"""
- name: Take the node's role away
  s3ops.garage.layout:
    roles:
      - {node: garage-2.example.org, state: absent}

- name: Let it go once the others have all that it had
  s3ops.garage.drain:
    nodes: [garage-2.example.org]
"""

RETURN = r"""
drain:
  description: The ids of the nodes, and whether they can be switched off now; that is not known in check mode.
  returned: success
  type: dict
  sample:
    nodes: [563e1ac825ee3323aa441e72c26d1030d6d4414aeb3dd25287c531e7fc2bc95d]
    drained: true
actions:
  description: What was done, in order; in check mode, what would be done.
  returned: success
  type: list
  elements: str
  sample: [launch repair blocks on all nodes]
error:
  description: What went wrong, for plays to branch on.
  returned: failure
  type: dict
  sample: {kind: timeout, status: null, code: null, endpoint: null}
"""

from ansible_collections.s3ops.garage.plugins.module_utils._drain_job import drain
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_job


def main():
    spec = {
        "nodes": {"type": "list", "elements": "str", "required": True},
        "rpc_timeout_msec": {"type": "int", "default": 300000},
        "wait_timeout": {"type": "int", "default": 3600},
        "wait_sleep": {"type": "float", "default": 2},
    }
    run_job(spec, drain)


if __name__ == "__main__":
    main()
