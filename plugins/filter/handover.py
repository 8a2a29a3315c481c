# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: handover
short_description: See whether the layout can be handed from one site to another
version_added: 0.1.0
description:
  - Says what forbids to promote or to demote a site, what deserves a warning, and which lines of the site files to change. Nothing is changed.
  - The playbooks C(s3ops.garage.promote) and C(s3ops.garage.demote) look at the sites and show what this says.
author:
  - The s3ops.garage contributors (@s3ops)
positional: action, hosts
options:
  _input:
    description:
      - Name of the site.
    type: str
    required: true
  action:
    description:
      - V(promote) makes a follower the writer of the layout, V(demote) makes the writer a follower.
    type: str
    choices: [promote, demote]
    required: true
  hosts:
    description:
      - Variables by host; C(hostvars) in a play. What was seen of each site is its fact C(layout_handover).
    type: dict
    required: true
  writer:
    description:
      - Name of the site that writes the layout, where the inventory names it once for all sites.
    type: str
  force:
    description:
      - Whether to promote although an older version of the layout drains.
    type: bool
    default: false
seealso:
  - plugin: s3ops.garage.site
    plugin_type: filter
"""

EXAMPLES = r"""
- name: May lyon take over? (after the role layout, tasks_from look, on all sites)
  ansible.builtin.debug:
    msg: "{{ 'lyon' | s3ops.garage.handover('promote', hostvars) }}"
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
      sample: ["paris answers: make sure that nobody runs it as writer on another control node or by a schedule"]
    lines:
      description: What to set, by the name of the site whose file it belongs into; C(inventory) for variables of the inventory.
      type: dict
      sample: {lyon: {layout: {site_role: writer}}, paris: {layout: {site_role: follower}}}
"""

from ansible_collections.s3ops.garage.plugins.module_utils._site.handover import demotion, promotion


def handover(name, action, hosts, writer=None, force=False):
    seen = {host: hosts[host]["layout_handover"] for host in hosts if "layout_handover" in hosts[host]}
    found = promotion(name, hosts, seen, writer, force) if action == "promote" else demotion(name, hosts, seen, writer)
    return {"refused": list(found.refused), "warnings": list(found.warnings), "lines": dict(found.lines)}


class FilterModule:
    """One filter."""

    def filters(self):
        return {"handover": handover}
