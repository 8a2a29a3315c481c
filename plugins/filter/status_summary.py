# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: status_summary
short_description: Put together what was seen of all sites
version_added: 0.1.0
description:
  - Takes what the role C(status) has left at the hosts and says which sites share a cluster, how each cluster is, and what needs a look.
  - Nothing secret goes in, and nothing secret comes out.
author:
  - The s3ops.garage contributors (@s3ops)
positional: now
options:
  _input:
    description:
      - The facts C(status_seen) of the hosts.
    type: list
    elements: dict
    required: true
  now:
    description:
      - The time against which expirations are held, in RFC 3339. It is not in the result.
    type: str
    required: true
  quota_percent:
    description:
      - From how many percent of a quota a bucket needs a look.
    type: int
    default: 90
  expiry_days:
    description:
      - How many days before they expire keys and admin tokens need a look.
    type: int
    default: 30
seealso:
  - plugin: s3ops.garage.status_page
    plugin_type: filter
"""

EXAMPLES = r"""
- name: What needs a look? (after the role status on all hosts)
  ansible.builtin.debug:
    msg: "{{ (seen | s3ops.garage.status_summary(now(utc=true, fmt='%Y-%m-%dT%H:%M:%SZ'))).attention }}"
  vars:
    seen: "{{ ansible_play_hosts_all | map('extract', hostvars) | map(attribute='status_seen') }}"
"""

RETURN = r"""
_value:
  description: The summary.
  type: dict
  contains:
    clusters:
      description:
        - One entry for each cluster, with C(sites), C(writers) (names), C(nodes), C(zones), C(layout), C(buckets), C(expiring) and C(block_errors).
        - Sizes are bytes. What no site has told is null.
      type: list
      elements: dict
      sample: []
    attention:
      description: What needs a look, as C(text) with a C(level) of C(bad), C(warn) or C(note) and the sites of the C(cluster); the worst of each cluster first.
      type: list
      elements: dict
      sample: [{level: warn, text: "bucket media has used 95 % of its quota (95.0 GB of 100 GB)", cluster: "paris, lyon"}]
    lines:
      description: A table with a row for each site, and below it what needs a look, to be printed.
      type: list
      elements: str
      sample: ["SITE   ROLE    GARAGE  LAYOUT  NODES UP  HEALTH   SITE FILE", "paris  writer  2.5.0   4       3 of 3    healthy  as declared"]
    brief:
      description: A few values for each site, by its name.
      type: dict
      sample:
        paris: {reachable: true, message: null, site_role: writer, garage_version: "2.5.0", layout_version: 4, health: healthy, nodes: 3, nodes_up: 3,
          drift: {layout: same, tenancy: differs}}
"""

from ansible.errors import AnsibleFilterError

from ansible_collections.s3ops.garage.plugins.module_utils._status.summary import summarize


def status_summary(facts, now, quota_percent=90, expiry_days=30):
    try:
        return summarize(facts, now, int(quota_percent), int(expiry_days))
    except ValueError as error:
        raise AnsibleFilterError(f"status_summary: {error}") from None


class FilterModule:
    """One filter."""

    def filters(self):
        return {"status_summary": status_summary}
