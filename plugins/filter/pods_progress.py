# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: pods_progress
short_description: Tell how far pods are
version_added: 0.1.0
description:
  - Says of the pods that shall be there which are ready, which still may become so, and which never will without a change.
  - Made for C(until) of a task that reads pods with M(kubernetes.core.k8s_info), so that a wrong image is told at once and not after the whole time.
author:
  - The s3ops.garage contributors (@s3ops)
positional: wanted
options:
  _input:
    description:
      - Pods, as C(resources) of M(kubernetes.core.k8s_info).
    type: list
    elements: dict
    required: true
  wanted:
    description:
      - The pods that shall be ready, each with its name as C(pod) and, where an older one must not count, the revision of its StatefulSet as
        C(revision).
    type: list
    elements: dict
    required: true
seealso:
  - plugin: s3ops.garage.pods_account
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Wait for three pods
  kubernetes.core.k8s_info:
    kind: Pod
    namespace: garage
    label_selectors: [app.kubernetes.io/instance=paris]
  register: pods
  until: (pods.resources | s3ops.garage.pods_progress(wanted)).done
  vars:
    wanted: [{pod: paris-storage-0-0}, {pod: paris-storage-1-0}, {pod: paris-storage-2-0}]
"""

RETURN = r"""
_value:
  description: The state of all of them.
  type: dict
  contains:
    done:
      description: Whether there is nothing to wait for, because all are ready or one never will be.
      type: bool
      sample: true
    ready:
      description: Names of pods that are ready.
      type: list
      elements: str
      sample: [paris-storage-0-0]
    waiting:
      description: Pods that may become ready, each with C(pod) and C(reason).
      type: list
      elements: dict
      sample: [{pod: paris-storage-1-0, reason: has started and is not ready}]
    failed:
      description: Pods that need a change, each with C(pod), C(container), C(reason), and whether the log of the container before tells more (C(previous)).
      type: list
      elements: dict
      sample: [{pod: paris-storage-2-0, container: garage, reason: ImagePullBackOff, previous: false}]
"""

from ansible_collections.s3ops.garage.plugins.module_utils._planners.rollout import progress


class FilterModule:
    """One filter."""

    def filters(self):
        return {"pods_progress": progress}
