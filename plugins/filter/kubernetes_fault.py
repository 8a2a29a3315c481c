# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: kubernetes_fault
short_description: Say in words what a Kubernetes API refused
version_added: 0.1.0
description:
  - Takes the message of a failed task of C(kubernetes.core) and says what matters in it. A missing right is named as a rule of a Role says it, a
    field that another field manager owns with its owner.
  - Any other text is returned as it is.
author:
  - The s3ops.garage contributors (@s3ops)
options:
  _input:
    description:
      - The message.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Look, and say what is missing when that is refused
  block:
    - name: Read the StatefulSets
      kubernetes.core.k8s_info:
        api_version: apps/v1
        kind: StatefulSet
        namespace: garage
  rescue:
    - name: Say it
      ansible.builtin.fail:
        msg: "{{ ansible_failed_result.msg | s3ops.garage.kubernetes_fault }}"
"""

RETURN = r"""
_value:
  description: The message in words.
  type: str
  sample: >-
    system:serviceaccount:awx:garage lacks a right in the namespace garage: apiGroups: ["apps"], resources: [statefulsets], verbs: [list]
"""

from ansible_collections.s3ops.garage.plugins.module_utils._planners.kubernetes_faults import explain


class FilterModule:
    """One filter."""

    def filters(self):
        return {"kubernetes_fault": explain}
