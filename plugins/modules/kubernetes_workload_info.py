#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kubernetes_workload_info
short_description: Tell what a site runs on Kubernetes, and wait for its pods
version_added: 0.1.0
description:
  - Reads all objects of a site by their labels, and asks the Garage in each pod that runs for its identity, by a command in the pod.
  - On request it first waits until pods run in the newest revision of their StatefulSets and are ready, or until volumes have grown.
    It fails at once when a pod will not come up by waiting, and names what holds pods up, with the last event, the last line of the log, and the
    claims that are waited for.
  - An API that does not answer for a while is waited for.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes.info
options:
  kubernetes:
    description:
      - Where the site lives, with C(label_selector), the labels of its objects. Required by this module, which uses no other option of the connection
        but O(timeout), O(retries) and O(retry_delay).
  wait_for_pods:
    description:
      - Pods to wait for.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description:
          - Name of a StatefulSet.
        type: str
        required: true
      pods:
        description:
          - Names of those of its pods that are waited for.
        type: list
        elements: str
        required: true
  wait_for_claims:
    description:
      - Names of persistent volume claims whose volumes shall have the size that was asked for. Those that are not there, or have no volume yet, have
        nothing to grow.
    type: list
    elements: str
    default: []
  wait_timeout:
    description:
      - Seconds to wait at the most.
    type: int
    default: 600
  wait_sleep:
    description:
      - Seconds between two looks.
    type: float
    default: 1
notes:
  - The call it makes is C(GetNodeInfo). It needs the right to list what it reads, and for the reasons of a failure C(events) and C(pods/log).
seealso:
  - module: s3ops.garage.kubernetes_node_info
  - plugin: s3ops.garage.workload_plan
    plugin_type: filter
"""

EXAMPLES = r"""
- name: What the site paris runs
  s3ops.garage.kubernetes_workload_info:
    kubernetes:
      namespace: garage
      label_selector: app.kubernetes.io/name=garage,app.kubernetes.io/instance=paris
  register: paris

- name: Wait for a node
  s3ops.garage.kubernetes_workload_info:
    kubernetes:
      namespace: garage
      label_selector: app.kubernetes.io/name=garage,app.kubernetes.io/instance=paris
    wait_for_pods:
      - name: paris-storage-0
        pods: [paris-storage-0-0]
"""

RETURN = r"""
namespace:
  description: Whether the namespace exists; null when nothing is in it and it may not be looked at.
  returned: success
  type: bool
  sample: true
monitoring:
  description: Kinds of C(monitoring.coreos.com/v1) that the cluster has, of those that a site can use.
  returned: success
  type: list
  elements: str
  sample: [PrometheusRule, ServiceMonitor]
objects:
  description: What carries the labels, as the Kubernetes API gives it, without C(managedFields).
  returned: success
  type: dict
  contains:
    statefulsets:
      description: StatefulSets.
      type: list
      elements: dict
      sample: []
    claims:
      description: Persistent volume claims.
      type: list
      elements: dict
      sample: []
    pods:
      description: Pods.
      type: list
      elements: dict
      sample: []
    objects:
      description: ConfigMaps, Services, disruption budgets, and monitoring kinds.
      type: list
      elements: dict
      sample: []
nodes:
  description: The pods as M(s3ops.garage.kubernetes_node_info) tells them, ordered by name.
  returned: success
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
      description: Host name of the node.
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
      description: Why the identity cannot be told; null when it can.
      type: str
      sample: null
"""

from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_job
from ansible_collections.s3ops.garage.plugins.module_utils._workload_job import run_workload


def main():
    run_job({
        "wait_for_pods": {"type": "list", "elements": "dict", "default": [], "options": {
            "name": {"type": "str", "required": True}, "pods": {"type": "list", "elements": "str", "required": True}}},
        "wait_for_claims": {"type": "list", "elements": "str", "default": []},
        "wait_timeout": {"type": "int", "default": 600},
        "wait_sleep": {"type": "float", "default": 1.0},
    }, run_workload)


if __name__ == "__main__":
    main()
