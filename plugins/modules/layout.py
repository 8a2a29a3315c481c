#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: layout
short_description: Declare the layout of a Garage cluster
version_added: 0.1.0
description:
  - Gives nodes their roles in the cluster layout (zone, capacity, tags), sets the zone redundancy, and applies the result as one new version.
  - Roles that are not named are left alone unless O(purge_roles=true).
  - When nothing differs, nothing is staged and no version is made.
  - When the server refuses to apply what was staged, the staging area is emptied again, if it was empty before.
  - When another writer was faster, the layout is read again and the change is tried once more, then it fails.
  - On a follower (O(site_role=follower)) nothing is sent; what the layout writer has to do is returned in RV(awaiting).
  - Garage has one layout history and no lock across sites. Let exactly one site write the layout, always through the same node.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes
  - s3ops.garage.wait
options:
  roles:
    description:
      - Roles of nodes. All nodes of a first layout belong into one task, so that it is applied once.
    type: list
    elements: dict
    suboptions:
      node:
        description:
          - The node, as its full id, a unique beginning of the id (4 digits or more), its host name, or C(id@host:port).
          - Take the id for a node that is down. A server that was restarted does not know the host names of such nodes.
        type: str
        required: true
      state:
        description:
          - Whether the node shall have a role. V(absent) takes the role away and lets the node drain.
        type: str
        choices: [present, absent]
        default: present
      zone:
        description:
          - The zone. Required for a node that has no role yet. Left out, a node keeps its zone; so it is with O(roles[].capacity),
            O(roles[].gateway) and O(roles[].tags).
        type: str
      capacity:
        description:
          - How much a storage node may hold, in bytes or with a unit as in V(100GB) or V(2TiB); 1024 bytes at the least.
        type: str
      gateway:
        description:
          - V(true) for a node that stores nothing; it excludes O(roles[].capacity). A storage node that becomes a gateway drains.
          - A gateway needs a role as well, or it answers "No such key".
        type: bool
      tags:
        description:
          - Tags of the role. An empty list clears them; their order means nothing.
        type: list
        elements: str
  zone_redundancy:
    description:
      - In how many zones each piece of data must lie. A number, or V(maximum) for as many as there are.
      - With V(maximum), a zone that has gateways only counts as well, and the layout cannot be computed.
    type: str
  replication_factor:
    description:
      - The C(replication_factor) of the nodes' configuration. It cannot be read from a server.
      - When it is given, a layout that cannot be computed is refused before anything is staged.
    type: int
  purge_roles:
    description:
      - Whether to remove roles that are inside of O(owner) and not in O(roles). Both must be set; an empty O(roles) removes all of them.
    type: bool
    default: false
  owner:
    description:
      - What belongs to this task. With both bounds set, only roles inside of both are purged.
    type: dict
    suboptions:
      zones:
        description:
          - Zones this task may touch. A node that is declared in, or found in, another zone is refused.
        type: list
        elements: str
      tag:
        description:
          - A tag that marks the roles of this task. It is added to each role in O(roles); only roles that carry it are purged.
        type: str
  apply:
    description:
      - Whether to apply the changes. V(false) stages them only; they are in C(layout.staged) of the result then, and the same task with V(true)
        applies them.
    type: bool
    default: true
  foreign_staged:
    description:
      - What to do about changes that are staged but not declared here. A declared change that is staged already is no such change, whoever
        staged it.
      - V(fail) refuses to stage or apply anything and lists them; when there is nothing to do, it only warns.
      - V(discard) drops them, also when there is nothing else to do.
      - V(include) applies them, also when there is nothing else to do. What they say of a declared node is dropped, for the declaration holds.
    type: str
    choices: [fail, discard, include]
    default: fail
  preview:
    description:
      - In check mode, ask the server what the change would move. The only way to ask is to stage the change and drop it again,
        so these two requests are sent in check mode too. Nothing is applied. When other changes are staged already, nothing is asked.
      - A run that only stages (O(apply=false)) asks after it has staged.
    type: bool
    default: false
  allow_unseen_nodes:
    description:
      - Whether a node that the cluster has never seen may get a role. Partitions it is given may have no quorum until it appears.
    type: bool
    default: false
  require_settled:
    description:
      - Whether to refuse to apply a change while nodes still drain an older version.
      - It also refuses to let a storage node that is up give up what it stores while another one that keeps its role is down, together with
        another zone redundancy or other roles of nodes that stay, or against O(consistency_mode) and O(assume_peers_consistent).
    type: bool
    default: true
  consistency_mode:
    description:
      - The C(consistency_mode) of the nodes' configuration. It cannot be read from a server.
      - With another one than V(consistent), no storage node that is up gives up what it stores, for it may hold the only copy of what it acknowledged.
    type: str
    choices: [consistent, degraded, dangerous]
  assume_peers_consistent:
    description:
      - Whether the nodes of other sites run with C(consistency_mode=consistent), which no server tells. V(false) lets no storage node that is up give up
        what it stores. Left out, nothing is asked.
    type: bool
  fail_when_awaiting:
    description:
      - Whether a follower fails when something waits for the layout writer. Otherwise it warns.
    type: bool
    default: false
  expected_plan:
    description:
      - The RV(plan_hash) of a plan that was looked at and approved, from check mode, from a run that only staged, or from
        C(layout.plan_hash) of M(s3ops.garage.layout_info). Nothing but that plan is applied or staged.
      - When the layout in force or the declaration has changed since, the task fails and says what changed. When there is nothing to do, it succeeds.
      - With a hash that holds what the server would move (O(preview=true)), the server is asked once more right before the change is applied.
    type: str
  record:
    description:
      - What the layout writer has left in force, RV(record) of its last run, kept wherever the play likes. When something else is in force now, the task
        warns and RV(foreign_writer) says what changed. This detects, it locks nothing.
      - Nothing is compared when it is left out or empty.
    type: dict
  wait:
    description:
      - Whether to wait, before and after a change, until no node drains an older version. O(wait_timeout) is for each of the two.
      - A failed wait leaves the change in place; running the task again goes on waiting.
seealso:
  - module: s3ops.garage.layout_info
  - module: s3ops.garage.cluster_connect
"""

EXAMPLES = r"""
- name: A first layout of three nodes in two zones
  s3ops.garage.layout:
    replication_factor: 3
    zone_redundancy: maximum
    roles:
      - {node: 563e1ac825ee3323, zone: paris, capacity: 1TB, tags: [paris]}
      - {node: garage-2.example.org, zone: paris, capacity: 1TB, tags: [paris]}
      - {node: 86f0f26ae4afbd59, zone: lyon, capacity: 1TB, tags: [lyon]}
    wait: true

- name: What would more room move? (run with --check --diff)
  s3ops.garage.layout:
    roles:
      - {node: garage-2.example.org, capacity: 2TB}
    preview: true

- name: Exactly these nodes in our zone, nobody else touched
  s3ops.garage.layout:
    owner: {zones: [lyon], tag: site-lyon}
    purge_roles: true
    roles:
      - {node: 86f0f26ae4afbd59, zone: lyon, capacity: 1TB}

- name: Look at the plan, have it approved, then apply that plan and no other
  s3ops.garage.layout:
    roles:
      - {node: garage-2.example.org, capacity: 2TB}
    expected_plan: "{{ approved_plan_hash }}"

- name: Take a node out and wait until it has drained
  s3ops.garage.layout:
    roles:
      - {node: garage-2.example.org, state: absent}
    wait: true
    wait_timeout: 3600
"""

RETURN = r"""
layout:
  description:
    - The layout as it is now, or in check mode as it would be. Roles are ordered by node id; sizes are bytes.
    - C(stored_partitions), C(usable_capacity) and C(partition_size) are what the server has computed, and null in check mode when a change
      would be applied. An entry of C(staged.roles) has C(remove) beside the keys of a role, which are null for a removal.
  returned: success
  type: dict
  sample:
    version: 1
    roles:
      - id: 563e1ac825ee3323aa441e72c26d1030d6d4414aeb3dd25287c531e7fc2bc95d
        zone: paris
        capacity: 1000000000000
        gateway: false
        tags: [paris]
        stored_partitions: 256
        usable_capacity: 1000000000000
    zone_redundancy: maximum
    staged: {roles: [], zone_redundancy: null}
    partition_size: 3906250000
preview:
  description:
    - What the server computed for the change that was applied or, with O(preview=true), would be. Null when there was nothing to compute.
    - C(moved_partitions) and the capacities need Garage 2.4.0; C(moved_partitions) is null for the first layout.
    - C(error) is set when the layout cannot be computed. C(nodes_without_partitions) are storage nodes that would hold nothing.
  returned: success
  type: dict
  sample: {error: null, message: [], moved_partitions: 128, partition_size: 3906250000, usable_capacity: 1000000000000,
    total_capacity: 3000000000000, nodes_without_partitions: []}
plan_hash:
  description:
    - What was decided, to be approved and given back as O(expected_plan); the same in check mode and when it is carried out. Null on a follower.
    - C(v<version>-<live>-<wanted>) holds the layout version in force and digests of the roles and zone redundancy in force and of those to be in force.
      With O(preview=true) a fourth part is a digest of the partitions that each node would hold and of how many would move. What is staged already,
      O(apply), and the way nodes are named do not go in.
  returned: success
  type: str
  sample: v1-9d2f6c1ab8e0475d-03c8b5a1fe97d264
foreign_writer:
  description:
    - How the layout differs from O(record), and whether somebody else wrote it while this task was at work; null when nobody has.
    - A run of the writer that broke off before its record was kept looks the same.
  returned: success
  type: dict
  sample: {recorded_version: 3, live_version: 4, during_run: false,
    changes: ["node 86f0f26ae4afbd59: zone lyon, capacity 1000000000000, tags lyon became no role"]}
record:
  description:
    - What is in force after this task, to be kept and given to O(record) of later tasks at any site. On a follower and in check mode it is O(record) as it
      was given.
  returned: success, and when what was applied did not settle in time
  type: dict
  sample: {version: 3, zone_redundancy: maximum, roles: {}}
declared:
  description:
    - What this task says of nodes, with their full ids and with what was left out filled in, in the form of O(roles); ordered by node id.
    - A follower can publish it for the writer, who can declare it as it stands.
  returned: success
  type: list
  elements: dict
  sample: [{node: 86f0f26ae4afbd59, zone: lyon, capacity: 1000000000000, tags: [lyon]}]
layout_writer:
  description: Whether this site may write the layout.
  returned: success
  type: bool
site_role:
  description: The site role as it was set; null when it was not, which behaves as writer.
  returned: success
  type: str
reason:
  description: C(WriterSite) or C(FollowerSite).
  returned: success
  type: str
pending:
  description: Whether something waits for the layout writer. Always false at the writer itself.
  returned: success
  type: bool
awaiting:
  description:
    - On a follower, what waits for the layout writer; null elsewhere.
    - C(reason) is the most pressing of C(pending_role_removal), C(nodes_without_role), C(pending_role_change), C(pending_tombstones),
      C(replication_change), or C(nothing_pending). C(lines) are the entries the writer's declaration needs.
  returned: success
  type: dict
  sample: {reason: nodes_without_role, nodes: [86f0f26ae4afbd59], operations: [UpdateClusterLayout, ApplyClusterLayout],
    lines: [{node: 86f0f26ae4afbd59, zone: lyon, capacity: 1000000000000, tags: [lyon]}]}
actions:
  description: What was done, in order; in check mode, what would be done.
  returned: success
  type: list
  elements: str
  sample: ["stage: set the role of 563e1ac825ee3323", apply layout version 1]
error:
  description: What went wrong, for plays to branch on.
  returned: failure
  type: dict
  sample: {kind: refused, status: null, code: null, endpoint: null}
"""

from ansible_collections.s3ops.garage.plugins.module_utils._argspec import layout_spec, wait_spec
from ansible_collections.s3ops.garage.plugins.module_utils._layout_job import run_layout
from ansible_collections.s3ops.garage.plugins.module_utils._planners._gate import awaiting_note
from ansible_collections.s3ops.garage.plugins.module_utils._runner import present, run_job


def job(params, context):
    outcome, beside = run_layout(context.client(), params, context.check)
    if note := awaiting_note(outcome.plan):
        context.warn(note)
    if beside["preview"] and (idle := beside["preview"]["nodes_without_partitions"]):
        context.warn(f"these storage nodes hold no partition, because their zone is full enough already: {', '.join(idle)}")
    return {**present("layout", outcome, context), **beside}


def main():
    run_job({**layout_spec(), **wait_spec()}, job)


if __name__ == "__main__":
    main()
