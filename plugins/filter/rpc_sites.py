# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: rpc_sites
short_description: Say which sites share an RPC secret
version_added: 0.1.0
description:
  - Finds all sites of the inventory whose nodes have the same RPC secret as those of a run, by their remotes and C(connect_to.site), and says whether
    one is missing in that run. Nothing is sent anywhere.
author:
  - The s3ops.garage contributors (@s3ops)
positional: play_hosts
options:
  _input:
    description:
      - Variables by host; C(hostvars) in a play.
    type: dict
    required: true
  play_hosts:
    description:
      - The hosts of the run.
    type: list
    elements: str
    required: true
"""

EXAMPLES = r"""
- name: See that all of them are there
  ansible.builtin.assert:
    that: (hostvars | s3ops.garage.rpc_sites(ansible_play_hosts)).faults == []
"""

RETURN = r"""
_value:
  description: The sites, and what is missing.
  type: dict
  contains:
    sites:
      description: Names of the sites with nodes of their own, in their order.
      type: list
      elements: str
      sample: [lyon, paris]
    faults:
      description: Why the RPC secret cannot be changed for all of them in that run.
      type: list
      elements: str
      sample: []
"""

from ansible_collections.s3ops.garage.plugins.module_utils._site.rotation import rpc_sites


class FilterModule:
    """One filter."""

    def filters(self):
        return {"rpc_sites": rpc_sites}
