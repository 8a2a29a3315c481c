# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: site_faults
short_description: Say everything that is wrong with a site file
version_added: 0.1.0
description:
  - Checks the variable C(garage_site) of a host against the JSON Schema of the collection (C(plugins/schemas/site.schema.json)) and against
    the rules that a schema cannot say. Nothing is sent anywhere.
  - Needs the Python library C(jsonschema) where C(ansible-playbook) runs.
author:
  - The s3ops.garage contributors (@s3ops)
positional: hosts, writer
options:
  _input:
    description:
      - The site, as C(garage_site) of a host.
    type: dict
    required: true
  hosts:
    description:
      - Variables by host; C(hostvars) in a play. Used for C(connect_to.site), and to see that no two sites of one federation write the layout.
      - Of other hosts only names, remotes and site roles are looked at.
    type: dict
    default: {}
  writer:
    description:
      - Name of the site that writes the layout, where the inventory names it once for all sites.
    type: str
seealso:
  - plugin: s3ops.garage.site
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Check the site file of a host
  ansible.builtin.assert:
    that: (garage_site | s3ops.garage.site_faults(hostvars)) == []
"""

RETURN = r"""
_value:
  description: The faults, each with its path in the site file and what to do; empty when there is none.
  type: list
  elements: str
  sample:
    - "garage_site.layout.nodes[1].capacity: '10X': unknown unit 'X'"
"""

from ansible.errors import AnsibleFilterError

from ansible_collections.s3ops.garage.plugins.module_utils._errors import GarageError
from ansible_collections.s3ops.garage.plugins.module_utils._site.document import site_faults


def faults(site, hosts=None, writer=None):
    try:
        return site_faults(site, hosts or {}, writer)
    except GarageError as error:
        raise AnsibleFilterError(f"{error.message}; {error.hint}") from None


class FilterModule:
    """One filter."""

    def filters(self):
        return {"site_faults": faults}
