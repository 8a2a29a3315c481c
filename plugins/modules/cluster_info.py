#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: cluster_info
short_description: Look at the nodes and the health of a Garage cluster
version_added: 0.1.0
description:
  - Tells whether the Admin API can be reached, and returns nodes, health, statistics, versions and what the server can do.
  - All of it is the view of the one node behind O(api_url). Another node may see fewer peers, and a node that hangs is seen as up for more
    than a minute.
  - A token whose scope is C(GetClusterStatus) and C(GetClusterHealth) is enough. What it may not read is null, with a warning.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.wait
  - s3ops.garage.attributes.info
options:
  fail_on_unreachable:
    description:
      - Whether the task fails when the Admin API cannot be reached or refuses the token.
      - With V(false) the result says so.
    type: bool
    default: true
  wait_for:
    description:
      - What to wait for when O(wait=true). A server that does not answer yet is waited for as well; a refused token or a wrong port is not.
      - V(reachable) is an answer, V(layout) a layout that has been applied, V(quorum) a layout with all partitions writable, V(healthy) all
        storage nodes up as well, V(settled) beside that no older version of the layout that a node still drains.
      - The last look may take O(timeout) longer than O(wait_timeout).
    type: str
    choices: [reachable, layout, quorum, healthy, settled]
    default: healthy
  min_nodes:
    description:
      - How many nodes must be up as well, gateways and nodes without a role included. Only with O(wait=true).
    type: int
seealso:
  - module: s3ops.garage.cluster_connect
  - module: s3ops.garage.layout_info
"""

EXAMPLES = r"""
- name: Look at the cluster
  s3ops.garage.cluster_info:
  register: garage

- name: Wait until three nodes are up and healthy
  s3ops.garage.cluster_info:
    wait: true
    wait_timeout: 300
    min_nodes: 3

- name: Is the other site there?
  s3ops.garage.cluster_info:
    api_url: https://garage-admin.lyon.example.org
    api_token: "{{ lyon_admin_token }}"
    timeout: 5
    retries: 0
    fail_on_unreachable: false
  register: lyon

- name: Work there only when it is
  s3ops.garage.bucket:
    name: media
  when: lyon.cluster.phase == "running"
"""

RETURN = r"""
cluster:
  description: The cluster as the asked node sees it. The keys are the same when it cannot be reached.
  returned: success
  type: dict
  contains:
    reachable:
      description: Whether the Admin API gave the status of the cluster.
      type: bool
      sample: true
    phase:
      description: C(running), or C(pending) when it is not reachable.
      type: str
      sample: running
    message:
      description: Why it is not reachable; null when it is.
      type: str
      sample: "GetClusterStatus at http://127.0.0.1:3903: Connection refused"
    error:
      description: The same for plays to branch on, with C(kind), C(status), C(code) and C(endpoint); null when it is reachable.
      type: dict
      sample: {kind: unreachable, status: null, code: null, endpoint: GetClusterStatus}
    garage_version:
      description: Version of the asked node; null when it is not known.
      type: str
      sample: "2.5.0"
    capabilities:
      description: What a server of that version can do. All are null when the version is not known.
      type: dict
      sample:
        bulk_reads: true
        connection_parameters: true
        cors_rules: true
        layout_statistics: true
        lifecycle_rules: true
        paged_lists: true
        resync_queue_length: true
        routing_rules: true
        statistics: true
    layout_version:
      description: Version of the layout in force; 0 when none has been applied.
      type: int
      sample: 4
    health:
      description: Health of the cluster; null when the token may not read it.
      type: dict
      sample:
        status: healthy
        known_nodes: 3
        connected_nodes: 3
        storage_nodes: 3
        storage_nodes_up: 3
        partitions: 256
        partitions_quorum: 256
        partitions_all_ok: 256
    quorum_at_risk:
      description: Whether some partitions cannot be written.
      type: bool
      sample: false
    nodes:
      description:
        - The nodes that are connected, have a role or still drain, ordered by id. Sizes are bytes.
        - C(capacity) is null for gateways and nodes without a role, which C(gateway) and C(has_role) tell apart. C(self) marks the asked node.
        - A peer's hostname and version become known some seconds after it was connected.
      type: list
      elements: dict
      sample:
        - id: 1600c40aad77cdd81d5614882272f57d3dd32dd2c1596b251a6ebc8062c4dd62
          hostname: garage-0
          addr: 10.0.0.2:3901
          garage_version: "2.5.0"
          up: true
          last_seen_seconds: null
          draining: false
          has_role: true
          zone: paris
          capacity: 100000000000
          tags: [paris]
          gateway: false
          self: true
          data_partition: {available: 83768569856, total: 270553174016}
          metadata_partition: {available: 83768569856, total: 270553174016}
          resync_queue_length: 0
    unreachable_peers:
      description: Nodes that store data or still drain and were not seen for more than ten minutes, or never.
      type: list
      elements: dict
      sample: [{id: 59b2aa3a257cf5ad1f6f3e0a9bcd2346a40e50747e1d15aef80472f5818d0a53, hostname: garage-1, zone: lyon, last_seen_seconds: 1800}]
    statistics:
      description:
        - Sizes and numbers of the whole cluster; null before the first layout, and when they could not be read.
        - Servers before 2.3.0 fill C(freeform) alone. The totals of objects are null with 1000 buckets or more.
      type: dict
      sample:
        data_avail: 83768569856
        metadata_avail: 83768569856
        incomplete_avail_info: false
        bucket_count: 3
        total_object_count: 12
        total_object_bytes: 34567
        freeform: "Storage nodes:"
error:
  description: What went wrong, for plays to branch on.
  returned: failure
  type: dict
  sample: {kind: timeout, status: null, code: null, endpoint: null}
"""

from ansible_collections.s3ops.garage.plugins.module_utils._argspec import wait_spec
from ansible_collections.s3ops.garage.plugins.module_utils._models.cluster import GOALS
from ansible_collections.s3ops.garage.plugins.module_utils._readers.cluster import look_at_cluster
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_info


def main():
    run_info("cluster", {**wait_spec(), "fail_on_unreachable": {"type": "bool", "default": True}, "min_nodes": {"type": "int"},
                         "wait_for": {"type": "str", "choices": list(GOALS), "default": "healthy"}}, look_at_cluster)


if __name__ == "__main__":
    main()
