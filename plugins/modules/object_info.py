#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: object_info
short_description: Look at the versions of one object in Garage
version_added: 0.1.0
description:
  - Returns the versions, blocks and headers that Garage holds for an object, for finding out what happened to it.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes.info
options:
  bucket:
    description:
      - A global alias of the bucket.
    type: str
  bucket_id:
    description:
      - The id of the bucket.
    type: str
  key:
    description:
      - The key of the object.
    type: str
    required: true
seealso:
  - module: s3ops.garage.bucket_info
  - module: s3ops.garage.block_info
"""

EXAMPLES = r"""
- name: What does Garage hold of this object?
  s3ops.garage.object_info:
    bucket: media
    key: pictures/one.jpg
"""

RETURN = r"""
versions:
  description: The versions, newest last as the server lists them. Empty when there is no such object.
  returned: success
  type: list
  elements: dict
  sample:
    - uuid: 6b7d8e9f
      timestamp: "2026-01-01T00:00:00Z"
      encrypted: false
      uploading: false
      aborted: false
      delete_marker: false
      inline: true
      size: 11
      etag: 5eb63bbbe01eeed093cb22bb8f5acdc3
      headers: [[content-type, text/plain]]
      blocks: []
"""

from ansible_collections.s3ops.garage.plugins.module_utils._readers.bucket import read_object
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_info


def main():
    run_info("versions", {"bucket": {"type": "str"}, "bucket_id": {"type": "str"}, "key": {"type": "str", "required": True, "no_log": False}},
             read_object, required_one_of=[("bucket", "bucket_id")], mutually_exclusive=[("bucket", "bucket_id")])


if __name__ == "__main__":
    main()
