#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: cluster_connect
short_description: Connect Garage nodes with one another
version_added: 0.1.0
description:
  - Tells the node behind O(api_url) of other nodes, by id and RPC address, unless it sees them as up already.
  - With O(remotes), two sites are connected in both directions. Our node is told of the nodes that are up at the remote, and the remote of ours.
    A node's tag C(rpc-address:host:port) is used before the address that the cluster observes.
  - A node forgets its peers when all nodes restart within a minute after connecting, so it is right to run this each time.
  - This is no change of the layout and open to a follower.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes
options:
  nodes:
    description:
      - Nodes as V(<node id>@<host>:<port>), with the full id of 64 hexadecimal digits and the RPC port, 3901 by convention.
      - An IPv6 address is written in brackets; without them the last colon is taken to stand before the port.
      - Nodes are compared by id. One that is up is left alone, wherever it was reached.
    type: list
    elements: str
  remotes:
    description:
      - Admin APIs of other sites of the same cluster. They are asked one after the other, each once.
      - One that does not answer hinders neither the others nor the work at our own node.
      - E(GARAGE_ADMIN_URL) and its kin are for our own node and are not used here.
    type: list
    elements: dict
    suboptions:
      name:
        description:
          - Name of the site, for results and messages.
        type: str
        required: true
      api_url:
        description:
          - Address of the Admin API of one node there.
        type: str
        required: true
      api_token:
        description:
          - Admin token of that site. Its scope needs C(GetClusterStatus) and C(ConnectClusterNodes).
          - Mutually exclusive with O(remotes[].api_token_file); one of the two must be set.
        type: str
      api_token_file:
        description:
          - File that holds the token.
        type: path
      validate_certs:
        description:
          - Whether the certificate of an C(https) address must be valid.
        type: bool
        default: true
      ca_path:
        description:
          - File with the CA certificates to trust, in PEM format.
        type: path
      timeout:
        description:
          - Seconds to wait for an answer of this site.
        type: float
        default: 5
  fail_on_unreachable:
    description:
      - Whether the task fails when a node could not be connected or a remote did not answer, after all else has been done.
      - With V(false) there is a warning for each.
    type: bool
    default: true
seealso:
  - module: s3ops.garage.cluster_info
  - module: s3ops.garage.layout
"""

EXAMPLES = r"""
- name: Tell the first node of the other two
  s3ops.garage.cluster_connect:
    nodes:
      - 1600c40aad77cdd81d5614882272f57d3dd32dd2c1596b251a6ebc8062c4dd62@10.0.0.2:3901
      - 59b2aa3a257cf5ad1f6f3e0a9bcd2346a40e50747e1d15aef80472f5818d0a53@[fd00:7::3]:3901

- name: Connect two sites, and go on when the other one is down
  s3ops.garage.cluster_connect:
    api_url: http://127.0.0.1:3903
    api_token_file: /etc/garage/admin-token
    remotes:
      - name: lyon
        api_url: https://garage-admin.lyon.example.org
        api_token: "{{ lyon_admin_token }}"
    fail_on_unreachable: false
  register: connect

- name: Say who was not there
  ansible.builtin.debug:
    msg: "{{ connect.connections.unreachable }}"
  when: connect.connections.unreachable | length > 0
"""

RETURN = r"""
connections:
  description: What became of the nodes that were given and of those that the remotes showed.
  returned: success, and when the task failed with the error kind C(not_connected)
  type: dict
  contains:
    connected:
      description: Ids of those that are up, as our node sees it; in check mode, those that would be.
      type: list
      elements: str
      sample: [1600c40aad77cdd81d5614882272f57d3dd32dd2c1596b251a6ebc8062c4dd62]
    failed:
      description:
        - Nodes that are not up although connecting them was tried, with the server's reason.
        - C(remote) names the site that could not connect to the node; null means our own node.
      type: list
      elements: dict
      sample:
        - node: 59b2aa3a257cf5ad1f6f3e0a9bcd2346a40e50747e1d15aef80472f5818d0a53@10.0.0.3:3901
          remote: null
          error: "Error establishing connection: timed out"
    unreachable:
      description: Remotes whose Admin API did not answer as it should.
      type: list
      elements: dict
      sample: [{name: lyon, error: "GetClusterStatus at https://garage-admin.lyon.example.org: Connection refused"}]
actions:
  description: What was tried, in order; in check mode, what would be.
  returned: as C(connections)
  type: list
  elements: str
  sample: ["connect our node to 1600c40aad77cdd8 at 10.0.0.2:3901"]
error:
  description: What went wrong, for plays to branch on.
  returned: failure
  type: dict
  sample: {kind: not_connected, status: null, code: null, endpoint: null}
"""

from ansible_collections.s3ops.garage.plugins.module_utils._connect_job import run_connect
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_job

REMOTE = {
    "name": {"type": "str", "required": True},
    "api_url": {"type": "str", "required": True},
    "api_token": {"type": "str", "no_log": True},
    "api_token_file": {"type": "path", "no_log": False},
    "validate_certs": {"type": "bool", "default": True},
    "ca_path": {"type": "path"},
    "timeout": {"type": "float", "default": 5.0},
}


def main():
    run_job({"nodes": {"type": "list", "elements": "str"}, "remotes": {"type": "list", "elements": "dict", "options": REMOTE},
             "fail_on_unreachable": {"type": "bool", "default": True}}, run_connect, required_one_of=[("nodes", "remotes")])


if __name__ == "__main__":
    main()
