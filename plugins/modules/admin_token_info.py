#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: admin_token_info
short_description: Look at the tokens for the Admin API of a Garage cluster
version_added: 0.1.0
description:
  - Returns the admin tokens of one name, one token by id, or all tokens; those of the daemon's configuration as well.
  - Their secrets are never returned; the server does not have them.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes.info
options:
  name:
    description:
      - The name of the token. Exactly this name is looked up, never a part of one.
      - Garage does not keep names unique; all tokens of this name are returned.
    type: str
  id:
    description:
      - The id of the token, which is the part of it before the dot.
    type: str
notes:
  - The calls it makes are C(ListAdminTokens), or with O(id) C(GetAdminTokenInfo).
seealso:
  - module: s3ops.garage.admin_token
"""

EXAMPLES = r"""
- name: One token
  s3ops.garage.admin_token_info:
    name: ci
  register: ci

- name: All tokens
  s3ops.garage.admin_token_info:
  register: every_token

- name: Those that have expired
  ansible.builtin.debug:
    msg: "{{ every_token.admin_tokens | selectattr('expired') | map(attribute='name') }}"
"""

RETURN = r"""
admin_tokens:
  description:
    - The tokens found, ordered by id. Those of the daemon's configuration come first; their C(id) is null.
    - Empty when the token that was asked for does not exist.
  returned: success
  type: list
  elements: dict
  contains:
    id:
      description: The id of the token. Null for one of the configuration.
      type: str
      sample: 8d9e0f1a2b3c4d5e6f708192
    name:
      description: The name of the token.
      type: str
      sample: ci
    created:
      description: When it was made. Null for one of the configuration.
      type: str
      sample: "2026-01-01T00:00:00Z"
    expiration:
      description: When it stops working. Null is never.
      type: str
      sample: "2030-01-01T00:00:00Z"
    expired:
      description: Whether that has come.
      type: bool
      sample: false
    scope:
      description: The calls it may make, in the order of the alphabet; C(*) is every call.
      type: list
      elements: str
      sample: [CreateBucket, GetBucketInfo, ListBuckets]
"""

from ansible_collections.s3ops.garage.plugins.module_utils._readers.admin_token import read_tokens
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_info


def read(client, params):
    return [token.to_result() for token in read_tokens(client, params["name"], params["id"])]


def main():
    run_info("admin_tokens", {"name": {"type": "str"}, "id": {"type": "str"}}, read, mutually_exclusive=[("name", "id")])


if __name__ == "__main__":
    main()
