#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: key_info
short_description: Look at the access keys of a Garage cluster
version_added: 0.1.0
description:
  - Returns the keys of one name, one key by id, or all keys.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes.info
options:
  name:
    description:
      - The name of the key. Exactly this name is looked up, never a part of one.
      - Garage does not keep names unique; all keys of this name are returned.
    type: str
  id:
    description:
      - The id of the key.
    type: str
    aliases: [access_key_id]
  return_secret:
    description:
      - Whether the result holds the secrets of the keys.
      - Refused unless the task has C(no_log=true), since the result would be printed otherwise.
    type: bool
    default: false
seealso:
  - module: s3ops.garage.key
"""

EXAMPLES = r"""
- name: One key
  s3ops.garage.key_info:
    name: app
  register: app

- name: All keys, with the buckets they may use
  s3ops.garage.key_info:
  register: every_key

- name: The secret of a key
  s3ops.garage.key_info:
    id: GK0123456789abcdef01234567
    return_secret: true
  register: app
  no_log: true
"""

RETURN = r"""
access_keys:
  description:
    - The keys found, each with the same entries as RV(s3ops.garage.key#module:key), ordered by id.
    - Empty when the key that was asked for does not exist.
  returned: success
  type: list
  elements: dict
  sample:
    - id: GK0123456789abcdef01234567
      name: app
      created: "2026-01-01T00:00:00Z"
      expiration: null
      expired: false
      allow_create_bucket: false
      buckets:
        - id: 4fd0a8a45d1d2d7a3a6c0a3c1f5a4f4c2f0a5f3e6b7c8d9e0f1a2b3c4d5e6f70
          aliases: [media]
          local_aliases: []
          read: true
          write: true
          owner: false
      secret_access_key: null
"""

from ansible_collections.s3ops.garage.plugins.module_utils._argspec import return_secret_spec
from ansible_collections.s3ops.garage.plugins.module_utils._readers.key import read_keys
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_info


def read(client, params):
    keys = read_keys(client, params["name"], params["id"], params["return_secret"])
    return [key.to_result(params["return_secret"]) for key in keys]


def main():
    run_info("access_keys", {"name": {"type": "str"}, "id": {"type": "str", "aliases": ["access_key_id"]}, **return_secret_spec()}, read,
             mutually_exclusive=[("name", "id")])


if __name__ == "__main__":
    main()
