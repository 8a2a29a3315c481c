#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: tenancy_info
short_description: Read the access keys, buckets, grants and admin tokens of a Garage cluster as one document
version_added: 0.1.0
description:
  - Reads what a cluster holds, made by whatever tool, into the document that M(s3ops.garage.tenancy) takes. Applied back to the same cluster it
    changes nothing.
  - Everything in it is pinned by its id. To make the same things on another cluster, take the ids out.
  - There is no secret in it. The admin tokens have no C(store) in it either, so on another cluster they are refused until each is given one.
  - The playbook C(s3ops.garage.export) writes it to a file, as the C(tenancy) of a site file.
  - What cannot be declared without changing it is left out, with a warning, and so left alone; names that the modules refuse, rules that they
    refuse or would write in another form, expirations before 1970, grants to keys that do not exist, and text that Ansible would take for a
    template.
  - An access key is told by its id alone where its name is empty, is the id of another key, is shared by several keys or would be taken for a
    template.
  - A bucket without a usable global alias is told by its id alone, and so is an admin token whose name is empty, shared or would be taken for a
    template. Admin tokens of the daemon's configuration cannot be declared and are not in it.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes.info
options:
  prefix:
    description:
      - Read only keys and admin tokens whose name begins with this, and buckets one of whose global aliases does.
      - Grants on such buckets are all read, also those of other keys.
    type: str
    default: ""
seealso:
  - module: s3ops.garage.tenancy
  - module: s3ops.garage.bucket_info
  - module: s3ops.garage.key_info
"""

EXAMPLES = r"""
- name: Read the whole cluster
  s3ops.garage.tenancy_info:
  register: live

- name: See that the document says what is there
  s3ops.garage.tenancy:
    keys: "{{ live.tenancy['keys'] }}"
    buckets: "{{ live.tenancy.buckets }}"
    admin_tokens: "{{ live.tenancy.admin_tokens | default(omit) }}"
  check_mode: true
  register: applied
  failed_when: applied is changed

- name: Read what belongs to one team
  s3ops.garage.tenancy_info:
    prefix: team-a-
  register: team_a
"""

RETURN = r"""
tenancy:
  description: The document; its entries are options of M(s3ops.garage.tenancy).
  returned: success
  type: dict
  contains:
    keys:
      description:
        - The access keys, ordered by name, those told by their id alone last.
        - Each has C(id) and C(allow_create_bucket), and C(name) and C(expiration) unless they cannot be declared.
      type: list
      elements: dict
      sample:
        - {name: app, id: GK0123456789abcdef01234567, expiration: never, allow_create_bucket: false}
    buckets:
      description:
        - The buckets, ordered by name, those told by their id alone last.
        - Each has C(id), C(quotas), C(website) and C(grants). C(name), C(aliases), C(local_aliases), C(cors_rules) and C(lifecycle_rules) are there
          where the bucket has any. A Garage before 2.3.0 does not show rules, and they stay as they are.
      type: list
      elements: dict
      sample:
        - name: media
          id: 4fd0a8a45d1d2d7a3a6c0a3c1f5a4f4c2f0a5f3e6b7c8d9e0f1a2b3c4d5e6f70
          quotas: {max_size: 40000000000, max_objects: unlimited}
          website: {enabled: false}
          grants:
            - {key: app, read: true, write: true, owner: false}
    admin_tokens:
      description:
        - The admin tokens, ordered by name, those told by their id alone last.
        - Each has C(id), and C(name), C(scope) and C(expiration) unless they cannot be declared.
        - Left out, with a warning, when the token in use may not list them.
      type: list
      elements: dict
      sample:
        - {name: ci, id: 8d9e0f1a2b3c4d5e6f708192, scope: [ListBuckets], expiration: "2030-01-01T00:00:00Z"}
"""

from ansible_collections.s3ops.garage.plugins.module_utils._models.export import export
from ansible_collections.s3ops.garage.plugins.module_utils._readers.export import read_all
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_info


def read(client, params):
    found = export(read_all(client), params["prefix"])
    client.warnings.extend(found.notes)
    return found.document


def main():
    run_info("tenancy", {"prefix": {"type": "str", "default": ""}}, read)


if __name__ == "__main__":
    main()
