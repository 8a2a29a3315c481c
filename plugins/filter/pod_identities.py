# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: pod_identities
short_description: Tell which Garage node each pod of a site is
version_added: 0.1.0
description:
  - Puts together which node each pod is now and which it was, as the configuration of its neighbours keeps it.
author:
  - The s3ops.garage contributors (@s3ops)
positional: config_maps, seen, host, pods
options:
  _input:
    description:
      - Name of the site.
    type: str
    required: true
  config_maps:
    description:
      - ConfigMaps of the site, as C(resources) of M(kubernetes.core.k8s_info).
    type: list
    elements: dict
    required: true
  seen:
    description:
      - Nodes that were looked at, each with C(pod) and C(id).
    type: list
    elements: dict
    required: true
  host:
    description:
      - What comes behind the name of a pod in its address.
    type: str
    required: true
  pods:
    description:
      - Names of the pods that belong to the site. What is kept of any other is forgotten.
    type: list
    elements: str
    required: true
"""

EXAMPLES = r"""
- name: Show the nodes of a site, those that are down as well
  ansible.builtin.debug:
    msg: "{{ ('paris' | s3ops.garage.pod_identities(maps.resources, [], host, ['paris-storage-0-0'])).ids }}"
  vars:
    host: paris-nodes.garage.svc.cluster.local
"""

RETURN = r"""
_value:
  description: What is known.
  type: dict
  contains:
    ids:
      description: Id of the node by the name of its pod, as seen now, else as kept.
      type: dict
      sample: {paris-storage-0-0: 1600c40aad77cdd81d5614882272f57d3dd32dd2c1596b251a6ebc8062c4dd62}
    kept:
      description: The same as kept.
      type: dict
      sample: {}
    replaced:
      description: Pods that are another node now than they were.
      type: list
      elements: str
      sample: []
    peers:
      description: All nodes as C(nodes) of M(s3ops.garage.cluster_connect) takes them.
      type: list
      elements: str
      sample: []
"""

from ansible_collections.s3ops.garage.plugins.module_utils._planners.identities import identities


class FilterModule:
    """One filter."""

    def filters(self):
        return {"pod_identities": identities}
