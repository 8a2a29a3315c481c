# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: retirement
short_description: See whether and how a site on Kubernetes can be taken away
version_added: 0.1.0
description:
  - Says what forbids to end a site with nodes on Kubernetes, what deserves a warning, what to do, and which lines of the site files to change
    afterwards. Nothing is changed.
  - The playbook C(s3ops.garage.retire) looks at the sites and does what this says.
author:
  - The s3ops.garage contributors (@s3ops)
positional: hosts, policy, delete_claims
options:
  _input:
    description:
      - Name of the site.
    type: str
    required: true
  hosts:
    description:
      - Variables by host; C(hostvars) in a play. What was seen of each site is its fact C(layout_handover), and what there is of it on Kubernetes
        C(workload_found).
    type: dict
    required: true
  policy:
    description:
      - What happens to what the site stores. With V(drain) the other sites take it over, and then the objects of the site go. With V(retain) its
        objects go, and its claims, its Secret and the roles of its nodes stay.
      - A site that is joined with others needs one of them. One that stands alone is retained. Edge gateways, which store nothing, are drained.
    type: str
    choices: [drain, retain]
  delete_claims:
    description:
      - Whether the claims of the site go too, with all that is on them.
    type: bool
    default: false
  looked:
    description:
      - Whether the sites were looked at. Before that, only what is asked for is judged.
    type: bool
    default: true
seealso:
  - plugin: s3ops.garage.handover
    plugin_type: filter
"""

EXAMPLES = r"""
- name: May lyon be asked to go?
  ansible.builtin.debug:
    msg: "{{ ('lyon' | s3ops.garage.retirement(hostvars, 'drain', looked=false)).refused }}"
"""

RETURN = r"""
_value:
  description: The decision.
  type: dict
  contains:
    refused:
      description: What forbids it; empty when it may be done.
      type: list
      elements: str
      sample: []
    warnings:
      description: What to make sure of.
      type: list
      elements: str
      sample: []
    lines:
      description: What to change afterwards, by the name of the site whose file it belongs into; C(inventory) for the inventory.
      type: dict
      sample: {inventory: ["take the host lyon out: the next run of s3ops.garage.site would make lyon again"], paris: ["remotes: take lyon out"]}
    policy:
      description: What happens to what the site stores, V(drain) or V(retain).
      type: str
      sample: drain
    stores:
      description: Whether its nodes store anything; gateways alone do not.
      type: bool
      sample: true
    host:
      description: Inventory host of the site.
      type: str
      sample: lyon
    writer:
      description: Inventory host of the site that writes the layout; null where nothing is written.
      type: str
      sample: paris
    look:
      description: Inventory hosts whose clusters are to be looked at before.
      type: list
      elements: str
      sample: [lyon, paris]
    roles:
      description: Ids of the nodes whose roles are to be taken away.
      type: list
      elements: str
      sample: []
    nodes:
      description: Ids of the nodes that run, and go once the others have what they store.
      type: list
      elements: str
      sample: []
    remove:
      description: Objects to delete, in that order, with C(apiVersion), C(kind) and C(metadata).
      type: list
      elements: dict
      sample: []
    claims:
      description: Names of the claims to delete.
      type: list
      elements: str
      sample: []
"""

from dataclasses import asdict

from ansible_collections.s3ops.garage.plugins.module_utils._site.retirement import request, retirement


def decide(name, hosts, policy=None, delete_claims=False, looked=True):
    found = request(name, hosts, policy, delete_claims)
    if looked and not found.refused:
        seen = {host: hosts[host]["layout_handover"] for host in found.look if "layout_handover" in hosts[host]}
        own = hosts[found.host]
        found = retirement(name, hosts, seen, own["workload_found"] if "workload_found" in own else None, policy, delete_claims)
    return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(found).items()}


class FilterModule:
    """One filter."""

    def filters(self):
        return {"retirement": decide}
