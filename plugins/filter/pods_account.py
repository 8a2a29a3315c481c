# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: pods_account
short_description: Tell what holds pods up
version_added: 0.1.0
description:
  - Says for each pod that is not ready why it is not, with the last event about it, the last line of its log, and the claims it waits for.
author:
  - The s3ops.garage contributors (@s3ops)
positional: claims, events, log
options:
  _input:
    description:
      - What P(s3ops.garage.pods_progress#filter) said of them.
    type: dict
    required: true
  claims:
    description:
      - Persistent volume claims of the site, as C(resources) of M(kubernetes.core.k8s_info).
    type: list
    elements: dict
    required: true
  events:
    description:
      - Events of the namespace, likewise.
    type: list
    elements: dict
    required: true
  log:
    description:
      - Log of the first pod that failed, as M(kubernetes.core.k8s_log) returns it.
    type: str
    default: ''
seealso:
  - plugin: s3ops.garage.pods_progress
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Say what is wrong
  ansible.builtin.fail:
    msg: "{{ state | s3ops.garage.pods_account(claims.resources, events.resources) | join('; ') }}"
  when: state.waiting or state.failed
"""

RETURN = r"""
_value:
  description: One line for each thing that holds a pod up.
  type: list
  elements: str
  sample:
    - "pod paris-storage-0-0: is not scheduled: pod has unbound immediate PersistentVolumeClaims"
    - "claim data-paris-storage-0-0 is Pending: it waits for its source Restore.kopiur.home-operations.com garage-data"
"""

from ansible_collections.s3ops.garage.plugins.module_utils._planners.rollout import account


class FilterModule:
    """One filter."""

    def filters(self):
        return {"pods_account": account}
