# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: layout_options
short_description: Put together what a site declares of the layout
version_added: 0.1.0
description:
  - Gives the options of M(s3ops.garage.layout) for a site, with the nodes that its site file declares, those that only its running workload knows, and,
    at the writer of the layout, those that followers have published.
  - A follower publishes its nodes as the fact C(garage_layout_nodes) (nodes by the name of the site), which the writer reads in the same play. Between jobs
    they travel as the variable C(garage_layout_nodes_<site>), with C(_) in place of C(-), which M(ansible.builtin.set_stats) makes of them.
  - What the site file of the writer says of a node holds. Published nodes must be in the zone that the writer knows for their site.
author:
  - The s3ops.garage contributors (@s3ops)
positional: hosts, own
options:
  _input:
    description:
      - The site, as P(s3ops.garage.site#filter) returns it.
    type: dict
    required: true
  hosts:
    description:
      - Variables by host; C(hostvars) in a play.
    type: dict
    required: true
  own:
    description:
      - Nodes of the site's own workload, in the form of C(roles) of M(s3ops.garage.layout). Their zone is that of the site unless they say otherwise.
    type: list
    elements: dict
    default: []
seealso:
  - plugin: s3ops.garage.site
    plugin_type: filter
"""

EXAMPLES = r"""
- name: What would this site declare?
  ansible.builtin.debug:
    msg: "{{ garage_site | s3ops.garage.site(hostvars) | s3ops.garage.layout_options(hostvars) }}"
"""

RETURN = r"""
_value:
  description: Options of M(s3ops.garage.layout).
  type: dict
  sample: {roles: [], owner: {zones: [paris, lyon]}, purge_roles: false}
"""

from ansible.errors import AnsibleFilterError

from ansible_collections.s3ops.garage.plugins.module_utils._errors import GarageError
from ansible_collections.s3ops.garage.plugins.module_utils._site.published import layout_options


def options(site, hosts, own=()):
    try:
        return layout_options(site, hosts, own or ())
    except GarageError as error:
        raise AnsibleFilterError(error.message) from None


class FilterModule:
    """One filter."""

    def filters(self):
        return {"layout_options": options}
