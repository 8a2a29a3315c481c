#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: grant
short_description: Declare what an access key may do with a bucket of a Garage cluster
version_added: 0.1.0
description:
  - Gives and takes the rights of one access key on one bucket through the Admin API.
  - A right that is left unset is left alone, unless O(exact=true).
  - The bucket and the key must exist; to declare all of them together, see M(s3ops.garage.tenancy).
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes
options:
  bucket:
    description:
      - A global alias of the bucket. Either this or O(bucket_id) is required.
    type: str
  bucket_id:
    description:
      - The id of the bucket, 64 hexadecimal digits.
    type: str
  key:
    description:
      - The name of the key. Either this or O(key_id) is required.
      - Where several keys have this name the task fails and lists their ids.
    type: str
  key_id:
    description:
      - The id of the key.
    type: str
  state:
    description:
      - Whether there shall be a grant.
      - V(absent) takes all three rights, whatever O(read), O(write) and O(owner) say. It is fine when the bucket or the key does not exist.
    type: str
    choices: [present, absent]
    default: present
  read:
    description:
      - Whether the key may read objects and list them. At least one of the rights must be set when O(state=present).
    type: bool
  write:
    description:
      - Whether the key may write and delete objects.
    type: bool
  owner:
    description:
      - Whether the key may change the settings of the bucket through the S3 API, as website access, CORS and lifecycle rules. It does not include
        the other two.
    type: bool
  exact:
    description:
      - Whether rights that are left unset are taken.
    type: bool
    default: false
seealso:
  - module: s3ops.garage.bucket
  - module: s3ops.garage.key
  - module: s3ops.garage.tenancy
"""

EXAMPLES = r"""
- name: The application may read and write
  s3ops.garage.grant:
    bucket: media
    key: app
    read: true
    write: true

- name: The backup may read, and nothing else
  s3ops.garage.grant:
    bucket: media
    key: backup
    read: true
    exact: true

- name: No writing any more
  s3ops.garage.grant:
    bucket: media
    key: app
    write: false

- name: No right any more
  s3ops.garage.grant:
    bucket: media
    key_id: GK0123456789abcdef01234567
    state: absent
"""

RETURN = r"""
grant:
  description: The grant as it is now, or in check mode as it would be. Null when the key has no right on the bucket.
  returned: success
  type: dict
  contains:
    bucket:
      description: A global alias of the bucket. Null when it has none.
      type: str
      sample: media
    bucket_id:
      description: The id of the bucket.
      type: str
      sample: 4fd0a8a45d1d2d7a3a6c0a3c1f5a4f4c2f0a5f3e6b7c8d9e0f1a2b3c4d5e6f70
    key:
      description: The name of the key.
      type: str
      sample: app
    key_id:
      description: The id of the key.
      type: str
      sample: GK0123456789abcdef01234567
    read:
      description: Whether it may read objects and list them.
      type: bool
      sample: true
    write:
      description: Whether it may write and delete objects.
      type: bool
      sample: true
    owner:
      description: Whether it may change the settings of the bucket.
      type: bool
      sample: false
actions:
  description: What was done, in order; in check mode, what would be done.
  returned: success
  type: list
  elements: str
  sample: ["allow read, write on bucket media to access key app"]
error:
  description: What went wrong, for plays to branch on.
  returned: failure
  type: dict
  sample: {kind: not_found, status: null, code: null, endpoint: null}
"""

from ansible_collections.s3ops.garage.plugins.module_utils._argspec import grant_spec, state_spec
from ansible_collections.s3ops.garage.plugins.module_utils._executor import Task
from ansible_collections.s3ops.garage.plugins.module_utils._models.grant import GrantSpec
from ansible_collections.s3ops.garage.plugins.module_utils._planners.grant import plan_grant
from ansible_collections.s3ops.garage.plugins.module_utils._readers.grant import read_grant
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_task


def build(params):
    spec = GrantSpec.from_params(params)
    return Task(
        read=lambda client, doubts: read_grant(client, spec),
        plan=lambda live: plan_grant(spec, live),
        # A plan made of what is there now has it as its `before`.
        show=lambda live: plan_grant(spec, live).before,
    )


def main():
    own = {"bucket": {"type": "str"}, "bucket_id": {"type": "str"}, "exact": {"type": "bool", "default": False}}
    run_task("grant", {**own, **grant_spec(), **state_spec()}, build, required_one_of=[("bucket", "bucket_id"), ("key", "key_id")],
             mutually_exclusive=[("bucket", "bucket_id"), ("key", "key_id")])


if __name__ == "__main__":
    main()
