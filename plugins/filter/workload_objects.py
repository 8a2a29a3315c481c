# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: workload_objects
short_description: Make the Kubernetes objects of a site
version_added: 0.1.0
description:
  - Makes plain data of the workload of a site, as P(s3ops.garage.site#filter) returns it. The same workload gives the same objects.
  - No secret is in them; the pods refer to the Secret of the site.
author:
  - The s3ops.garage contributors (@s3ops)
positional: namespace, secret_hash, peers
options:
  _input:
    description:
      - The key C(workload) of a site in normal form.
    type: dict
    required: true
  namespace:
    description:
      - Namespace of the objects.
    type: str
    required: true
  secret_hash:
    description:
      - A text that changes with the content of the site's Secret and does not tell it. When it changes, the nodes start again.
    type: str
    required: true
  peers:
    description:
      - Nodes, as C(<node id>@host:port), that each node tries to find after a start. They reach the configuration without a restart.
    type: list
    elements: str
    default: []
seealso:
  - plugin: s3ops.garage.site
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show what would be applied
  ansible.builtin.debug:
    msg: "{{ (garage_site | s3ops.garage.site(hostvars)).workload | s3ops.garage.workload_objects('garage', 'none') }}"
"""

RETURN = r"""
_value:
  description: The objects.
  type: dict
  contains:
    shared:
      description: ServiceAccount, Services, disruption budgets, dashboard.
      type: list
      elements: dict
      sample: []
    monitoring:
      description: ServiceMonitor and PrometheusRule, whose kinds not every cluster has.
      type: list
      elements: dict
      sample: []
    nodes:
      description: For each StatefulSet its C(name), C(component), C(ordinal) (null for edge gateways), C(pods), C(claims), C(objects).
      type: list
      elements: dict
      sample: []
"""

from ansible_collections.s3ops.garage.plugins.module_utils._manifests.objects import objects


class FilterModule:
    """One filter."""

    def filters(self):
        return {"workload_objects": objects}
