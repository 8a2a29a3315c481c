# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: awaited_pods
short_description: Tell which pods StatefulSets shall have, and in which revision
version_added: 0.1.0
description:
  - Says which pods P(s3ops.garage.pods_progress#filter) has to look for after StatefulSets were applied.
author:
  - The s3ops.garage contributors (@s3ops)
positional: units
options:
  _input:
    description:
      - StatefulSets, as C(resources) of M(kubernetes.core.k8s_info).
    type: list
    elements: dict
    required: true
  units:
    description:
      - Those to wait for, each with its C(name) and the names of its C(pods), as C(nodes) of P(s3ops.garage.workload_objects#filter).
    type: list
    elements: dict
    required: true
seealso:
  - plugin: s3ops.garage.pods_progress
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Wait until the controller knows the StatefulSets as they are
  kubernetes.core.k8s_info:
    api_version: apps/v1
    kind: StatefulSet
    namespace: garage
  register: sets
  until: sets.resources | s3ops.garage.awaited_pods(units) | rejectattr('revision') | length == 0
  vars:
    units: [{name: paris-storage-0, pods: [paris-storage-0-0]}]
"""

RETURN = r"""
_value:
  description: The pods; C(revision) is null when the controller has not seen the StatefulSet as it is.
  type: list
  elements: dict
  sample: [{pod: paris-storage-0-0, revision: paris-storage-0-6d5b8f}]
"""

from ansible_collections.s3ops.garage.plugins.module_utils._planners.rollout import awaited


class FilterModule:
    """One filter."""

    def filters(self):
        return {"awaited_pods": awaited}
