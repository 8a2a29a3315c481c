# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: workload_roles
short_description: Make layout roles of the nodes of a site
version_added: 0.1.0
description:
  - Gives each pod of a site that runs a Garage its role, as M(s3ops.garage.layout) takes it. Storage nodes get the capacity of the site file, or that
    of their data volumes less the reserve.
  - The name of the pod is among the tags, so that a layout tells which pod it speaks of.
  - A pod of the site that the site file does not have any more gets no role.
  - Two pods with the same node id are an error, because one of them runs on a copy of the other's disk.
author:
  - The s3ops.garage contributors (@s3ops)
positional: identities
options:
  _input:
    description:
      - The key C(workload) of a site in normal form, as P(s3ops.garage.site#filter) returns it.
    type: dict
    required: true
  identities:
    description:
      - For each pod its name C(pod) and the C(id) of its node, as M(s3ops.garage.kubernetes_node_info) returns them. Pods without an id are left out.
    type: list
    elements: dict
    required: true
seealso:
  - module: s3ops.garage.layout
  - module: s3ops.garage.kubernetes_node_info
"""

EXAMPLES = r"""
- name: Give the pods of a site their roles
  s3ops.garage.layout:
    roles: "{{ site.workload | s3ops.garage.workload_roles(found.nodes) }}"
"""

RETURN = r"""
_value:
  description: The option C(roles) of M(s3ops.garage.layout).
  type: list
  elements: dict
  sample:
    - node: 2f5a6c5e9b9c7a3b1d0e4f6a8b2c4d6e8f0a1b3c5d7e9f1a2b4c6d8e0f2a4b6c
      zone: paris
      capacity: 107374182400
      tags: [ssd, paris-storage-0-0]
"""

from ansible.errors import AnsibleFilterError

from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError
from ansible_collections.s3ops.garage.plugins.module_utils._planners.workload_roles import layout_roles


def workload_roles(workload, identities):
    try:
        return layout_roles(workload, identities)
    except InputError as error:
        raise AnsibleFilterError(f"{error.message}; {error.hint}") from None


class FilterModule:
    """One filter."""

    def filters(self):
        return {"workload_roles": workload_roles}
