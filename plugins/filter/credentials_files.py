# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: credentials_files
short_description: Decide on the credentials in files of a Garage
version_added: 0.1.0
description:
  - Says, for all hosts of a cluster together, which of the files with RPC secret, admin token and metrics token have to be written, and what with.
  - Of the files only hashes are compared. The input may hold values that are provided; use it in tasks with C(no_log).
author:
  - The s3ops.garage contributors (@s3ops)
positional: seen, in_use, folder
options:
  _input:
    description:
      - Values that are provided, by the name of the file (C(rpc_secret), C(admin_token), C(metrics_token)).
    type: dict
    required: true
  seen:
    description:
      - By host the SHA-256 of each file, null where there is none.
    type: dict
    required: true
  in_use:
    description:
      - Hosts that have a node already. A fresh RPC secret or admin token is never made then.
    type: list
    elements: str
    required: true
  folder:
    description:
      - Where the files are, for the messages.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Decide
  ansible.builtin.set_fact:
    plan: "{{ {'rpc_secret': ''} | s3ops.garage.credentials_files({'one': {'rpc_secret': none}}, [], '/etc/garage') }}"
  no_log: true
"""

RETURN = r"""
_value:
  description: The decision.
  type: dict
  contains:
    faults:
      description: Why it cannot be so; holds no secret.
      type: list
      elements: str
      sample: []
    from:
      description: By file the host to take it from, or C(provided), or C(fresh).
      type: dict
      sample: {rpc_secret: fresh}
    write:
      description: By host the files to write.
      type: dict
      sample: {one: [rpc_secret]}
"""

from ansible_collections.s3ops.garage.plugins.module_utils._planners.credentials_files import plan_files


class FilterModule:
    """One filter."""

    def filters(self):
        return {"credentials_files": plan_files}
