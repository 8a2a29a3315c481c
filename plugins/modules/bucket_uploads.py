#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: bucket_uploads
short_description: Clean up unfinished uploads of a bucket
version_added: 0.1.0
description:
  - Deletes multipart uploads of a bucket that were begun and never finished.
  - In check mode the result is changed when the bucket has unfinished uploads; how old they are, only the server knows.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes.action
options:
  name:
    description:
      - A global alias of the bucket.
    type: str
  id:
    description:
      - The id of the bucket.
    type: str
  older_than:
    description:
      - Only uploads begun longer ago than this, in seconds or with V(s), V(m), V(h), V(d) or V(w).
    type: str
    default: 24h
seealso:
  - module: s3ops.garage.bucket
"""

EXAMPLES = r"""
- name: Uploads that broke off more than a week ago
  s3ops.garage.bucket_uploads:
    name: media
    older_than: 7d
"""

RETURN = r"""
uploads:
  description: The bucket and how many uploads were deleted.
  returned: success
  type: dict
  sample: {bucket_id: 4fd0a8a45d1d2d7a3a6c0a3c1f5a4f4c2f0a5f3e6b7c8d9e0f1a2b3c4d5e6f70, deleted: 2}
actions:
  description: What was done, in order; in check mode, what would be done.
  returned: success
  type: list
  elements: str
  sample: [delete unfinished uploads of bucket media that are older than 7d]
error:
  description: What went wrong, for plays to branch on.
  returned: failure
  type: dict
  sample: {kind: node_errors, status: null, code: null, endpoint: null}
"""

from ansible_collections.s3ops.garage.plugins.module_utils._operation_job import clean_uploads
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_job


def main():
    run_job({"name": {"type": "str"}, "id": {"type": "str"}, "older_than": {"type": "str", "default": "24h"}}, clean_uploads,
            required_one_of=[("name", "id")], mutually_exclusive=[("name", "id")])


if __name__ == "__main__":
    main()
