# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: workload_plan
short_description: Decide how the Kubernetes objects of a site become what they shall be
version_added: 0.1.0
description:
  - Compares the objects of P(s3ops.garage.workload_objects#filter) with what is there and says what to make at once, what to change node by node,
    what to patch, hold, or remove.
  - Refuses what cannot be done to live volumes and nodes. Nothing is sent anywhere.
author:
  - The s3ops.garage contributors (@s3ops)
positional: live, changed, removable, major_upgrade
options:
  _input:
    description:
      - The objects that are wanted.
    type: dict
    required: true
  live:
    description:
      - What carries the labels of the site, as M(kubernetes.core.k8s_info) returns it, in the lists C(statefulsets), C(claims), C(pods), and
        C(objects) for all other kinds.
    type: dict
    required: true
  changed:
    description:
      - Names of the StatefulSets that a dry run would change.
    type: list
    elements: str
    default: []
  removable:
    description:
      - Names of the pods whose nodes the cluster does not need any more, such as those of C(removable) of M(s3ops.garage.layout_info).
    type: list
    elements: str
    default: []
  major_upgrade:
    description:
      - Whether Garage may become one of another major version, whose release notes say what to do before.
    type: bool
    default: false
seealso:
  - plugin: s3ops.garage.workload_objects
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Stop before anything is applied that cannot be
  ansible.builtin.assert:
    that: (wanted | s3ops.garage.workload_plan(live)).faults == []
"""

RETURN = r"""
_value:
  description: The plan.
  type: dict
  contains:
    faults:
      description: Why the site cannot become what is wanted; with any of them nothing must be applied.
      type: list
      elements: str
      sample: ["claim data-paris-storage-0-0 has 100Gi, the site file says 10Gi: a claim never shrinks; set size: 100Gi"]
    warnings:
      description: What to know before.
      type: list
      elements: str
      sample: []
    create:
      description: Entries of C(nodes) that are not there, to make at once.
      type: list
      elements: dict
      sample: []
    roll:
      description: Entries of C(nodes) to apply one after the other, each when the one before is back.
      type: list
      elements: dict
      sample: []
    same:
      description: Names of nodes whose StatefulSet is as it shall be.
      type: list
      elements: str
      sample: [paris-storage-0]
    patch_claims:
      description: Patches for claims, before anything else is applied.
      type: list
      elements: dict
      sample: []
    recreate:
      description: StatefulSets to delete with C(propagationPolicy=Orphan) just before they are applied again, as their claim templates change.
      type: list
      elements: str
      sample: []
    hold:
      description: Nodes that are not wanted any more but still needed, with C(name), C(pods) and C(reason).
      type: list
      elements: dict
      sample: []
    remove:
      description: Objects to delete, in that order, with C(apiVersion), C(kind) and C(metadata).
      type: list
      elements: dict
      sample: []
    claims_left:
      description: Names of claims that no node of the site has any more. They hold data and are never removed unasked.
      type: list
      elements: str
      sample: []
    pending_claims:
      description: Claims that wait, with C(name), C(source) and C(text).
      type: list
      elements: dict
      sample: []
"""

from ansible_collections.s3ops.garage.plugins.module_utils._planners.workload import plan_workload


class FilterModule:
    """One filter."""

    def filters(self):
        return {"workload_plan": plan_workload}
