# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: status_page
short_description: Show the state of all sites as an HTML page
version_added: 0.1.0
description:
  - Makes one page of what P(s3ops.garage.status_summary#filter) says. It needs no script, no other file and no network, is light or dark as the browser
    likes it, and can be read on a phone and in print.
  - The same summary gives the same page.
author:
  - The s3ops.garage contributors (@s3ops)
positional: title, time
options:
  _input:
    description:
      - The summary.
    type: dict
    required: true
  title:
    description:
      - The title of the page.
    type: str
    default: Garage
  time:
    description:
      - What the page shall say of when it was made. Without it the page says nothing of that.
    type: str
seealso:
  - plugin: s3ops.garage.status_summary
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Write the page
  ansible.builtin.copy:
    dest: /var/www/garage.html
    mode: "0644"
    content: "{{ summary | s3ops.garage.status_page('Garage of Example Ltd') }}"
"""

RETURN = r"""
_value:
  description: The page.
  type: str
  sample: "<!DOCTYPE html>…"
"""

from ansible_collections.s3ops.garage.plugins.module_utils._status.page import page


class FilterModule:
    """One filter."""

    def filters(self):
        return {"status_page": page}
