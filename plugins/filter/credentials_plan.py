# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: credentials_plan
short_description: Decide what the Secret of a site holds
version_added: 0.1.0
description:
  - Takes the values of the site file, else those of the Secret, else fresh ones, and says why they cannot be taken where that is so.
  - A fresh RPC secret or admin token is never made for a site that has claims.
  - Both the input and the result hold secrets; use it in tasks with C(no_log) only.
author:
  - The s3ops.garage contributors (@s3ops)
positional: live, generated, in_use, rotate
options:
  _input:
    description:
      - Values of the site file by the names of the keys in the Secret (C(rpc-secret), C(admin-token), C(metrics-token)).
    type: dict
    required: true
  live:
    description:
      - The Secret as the Kubernetes API gives it; null when there is none.
    type: dict
  generated:
    description:
      - A fresh value for each key.
    type: dict
    required: true
  in_use:
    description:
      - Whether the site has claims.
    type: bool
    required: true
  rotate:
    description:
      - Keys that get another value, that of the site file where it gives one, else the fresh one. For the RPC secret all nodes must have been stopped.
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: Decide
  ansible.builtin.set_fact:
    plan: "{{ {'rpc-secret': rpc_secret} | s3ops.garage.credentials_plan(secrets.resources | first | default(none), fresh, claims.resources | length > 0) }}"
  no_log: true
"""

RETURN = r"""
_value:
  description: The decision.
  type: dict
  contains:
    values:
      description: The values by key.
      type: dict
      sample: {}
    data:
      description: The same as the data of a Secret.
      type: dict
      sample: {}
    faults:
      description: Why it cannot be so; holds no secret.
      type: list
      elements: str
      sample: []
    actions:
      description: What has to be done to the Secret; empty when nothing has.
      type: list
      elements: str
      sample: [create]
    rotated:
      description: The keys of O(rotate) that get another value than the Secret holds; a value of the site file may be there already.
      type: list
      elements: str
      sample: []
    hash:
      description: Changes with any of the values and tells nothing about them.
      type: str
      sample: 3f0a
    rpc_hash:
      description: The same for the RPC secret alone.
      type: str
      sample: 9b1c
"""

from ansible_collections.s3ops.garage.plugins.module_utils._planners.credentials import plan_credentials


class FilterModule:
    """One filter."""

    def filters(self):
        return {"credentials_plan": plan_credentials}
