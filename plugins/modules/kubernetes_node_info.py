#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kubernetes_node_info
short_description: Tell which Garage nodes run in which pods
version_added: 0.1.0
description:
  - Asks the Garage in each pod that O(kubernetes) names for its identity, by a command in the pod. No port needs to be reached, and no admin
    token, layout or other node needs to be there.
  - A pod that does not run, or whose Garage does not answer yet, is in the result as well, with the reason.
  - At most four pods are asked at the same time.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes.info
options:
  kubernetes:
    description:
      - Where to run commands. Required by this module, which uses no other option of the connection but O(timeout).
  fail_on_unreachable:
    description:
      - Whether the task fails when the identity of a pod's node cannot be told, or there is no pod.
      - With V(false) the result says so.
    type: bool
    default: false
notes:
  - The call it makes is C(GetNodeInfo).
seealso:
  - module: s3ops.garage.cluster_connect
  - module: s3ops.garage.node_info
"""

EXAMPLES = r"""
- name: The nodes of a site
  s3ops.garage.kubernetes_node_info:
    kubernetes:
      namespace: garage
      label_selector: app.kubernetes.io/instance=paris
  register: garage
  until: garage.nodes | length == 3 and garage.nodes | rejectattr("id") | length == 0
  retries: 30
  delay: 2

- name: Make them known to one another
  s3ops.garage.cluster_connect:
    transport: exec
    kubernetes:
      namespace: garage
      pod: "{{ garage.nodes[0].pod }}"
    nodes: "{{ garage.nodes | map(attribute='id') | zip(garage.nodes | map(attribute='ip')) | map('join', '@') | map('regex_replace', '$', ':3901') }}"
"""

RETURN = r"""
nodes:
  description: The pods, ordered by name.
  returned: always
  type: list
  elements: dict
  contains:
    pod:
      description: Name of the pod.
      type: str
      sample: paris-storage-0-0
    uid:
      description: Kubernetes' id of the pod, which is another one after the pod was made anew.
      type: str
      sample: 5f1c3c0e-5d0c-4c38-9e05-0d4b6d1f6a55
    id:
      description: Identity of the Garage node; null when it cannot be told.
      type: str
      sample: 1600c40aad77cdd81d5614882272f57d3dd32dd2c1596b251a6ebc8062c4dd62
    hostname:
      description: Host name of the node, by which C(layout) may name it.
      type: str
      sample: paris-storage-0-0
    garage_version:
      description: Version of the Garage that runs; null when it cannot be told.
      type: str
      sample: "2.5.0"
    ip:
      description: Address of the pod; null when it has none yet.
      type: str
      sample: 10.244.0.17
    ready:
      description: Whether Kubernetes takes the pod for ready.
      type: bool
      sample: true
    phase:
      description: Phase of the pod.
      type: str
      sample: Running
    message:
      description: Why the identity cannot be told; null when it can. For a container that fails, its reason and what it said last.
      type: str
      sample: "container garage waits: ImagePullBackOff: Back-off pulling image"
"""

from ansible_collections.s3ops.garage.plugins.module_utils._pods_job import run_pods
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_job


def main():
    run_job({"fail_on_unreachable": {"type": "bool", "default": False}}, run_pods)


if __name__ == "__main__":
    main()
