#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: bucket_info
short_description: Look at the buckets of a Garage cluster
version_added: 0.1.0
description:
  - Returns one bucket by name or id, or all buckets.
  - Buckets without a global alias are listed as well.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes.info
options:
  name:
    description:
      - A global alias. Exactly this name is looked up, never a part of one.
    type: str
  id:
    description:
      - The bucket's id, 64 hexadecimal digits.
    type: str
seealso:
  - module: s3ops.garage.bucket
"""

EXAMPLES = r"""
- name: One bucket
  s3ops.garage.bucket_info:
    name: media
  register: media

- name: All buckets, with who may use them
  s3ops.garage.bucket_info:
  register: all_buckets
"""

RETURN = r"""
buckets:
  description:
    - The buckets found, each with the same keys as C(bucket) of M(s3ops.garage.bucket), ordered by id.
    - Empty when the bucket that was asked for does not exist.
  returned: success
  type: list
  elements: dict
  sample:
    - id: 4fd0a8a45d1d2d7a3a6c0a3c1f5a4f4c2f0a5f3e6b7c8d9e0f1a2b3c4d5e6f70
      aliases: [media]
      local_aliases: []
      created: "2026-01-01T00:00:00Z"
      quotas: {max_size: 40000000000, max_objects: null}
      website: {enabled: false, index_document: null, error_document: null, routing_rules: []}
      cors_rules: []
      lifecycle_rules: []
      grants:
        - {key_id: GK0123456789abcdef01234567, key_name: app, read: true, write: true, owner: false}
      objects: 12
      bytes: 34567
      unfinished_uploads: 0
      unfinished_multipart_uploads: 0
      unfinished_multipart_upload_parts: 0
      unfinished_multipart_upload_bytes: 0
"""

from ansible_collections.s3ops.garage.plugins.module_utils._readers.bucket import read_buckets
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_info


def main():
    run_info("buckets", {"name": {"type": "str"}, "id": {"type": "str"}},
             lambda client, params: [bucket.to_result() for bucket in read_buckets(client, params["name"], params["id"])],
             mutually_exclusive=[("name", "id")])


if __name__ == "__main__":
    main()
