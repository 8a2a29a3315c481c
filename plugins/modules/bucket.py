#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: bucket
short_description: Declare a bucket of a Garage cluster
version_added: 0.1.0
description:
  - Creates, changes and deletes a bucket through the Admin API, and gives it aliases, quotas, website access, CORS and lifecycle rules.
  - What is left unset is left alone. An empty list or the word V(unlimited) clears.
  - A bucket that exists already is adopted by its name or id, never made a second time.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes
options:
  name:
    description:
      - A global alias of the bucket. Required unless O(id) is set.
      - With O(id), the name becomes an alias of that bucket; together with O(purge_aliases=true) that renames it.
    type: str
  id:
    description:
      - The id of the bucket, 64 hexadecimal digits. A bucket with this id must exist, since ids are chosen by the server.
    type: str
  state:
    description:
      - Whether the bucket shall be there.
      - A bucket that holds objects is never deleted. Unfinished uploads do not keep it.
    type: str
    choices: [present, absent]
    default: present
  aliases:
    description:
      - Further global aliases. New ones are added before old ones are removed.
      - An alias that belongs to another bucket is refused, naming that bucket.
    type: list
    elements: str
  purge_aliases:
    description:
      - Whether to remove global aliases that are neither in O(aliases) nor O(name). The last alias is never removed.
    type: bool
    default: false
  local_aliases:
    description:
      - Names by which one key alone knows the bucket. New ones are added before old ones are removed.
    type: list
    elements: dict
    suboptions:
      key:
        description:
          - The name of the key. Mutually exclusive with O(local_aliases[].key_id).
        type: str
      key_id:
        description:
          - The id of the key.
        type: str
      alias:
        description:
          - The name.
        type: str
        required: true
  purge_local_aliases:
    description:
      - Whether to remove local aliases that are not in O(local_aliases). Needs that option; an empty list removes all.
    type: bool
    default: false
  quotas:
    description:
      - Limits of the bucket. Each is managed on its own.
    type: dict
    suboptions:
      max_size:
        description:
          - Bytes, with an optional unit as in V(40GB) or V(1TiB), or V(unlimited).
          - V(0) is a limit of nothing, every upload is refused then.
        type: str
      max_objects:
        description:
          - Number of objects, or V(unlimited).
        type: str
  website:
    description:
      - Website access. Documents and rules that are left out keep their live values.
    type: dict
    suboptions:
      enabled:
        description:
          - Whether the bucket is served as a website.
        type: bool
        required: true
      index_document:
        description:
          - Name of the object that is served for a directory. Must be known when a website is switched on.
        type: str
      error_document:
        description:
          - Name of the object that is served for errors. An empty string clears it.
        type: str
      routing_rules:
        description:
          - Redirects, in order. An empty list clears them. Needs Garage 2.3.0.
        type: list
        elements: dict
        suboptions:
          condition:
            description:
              - When the rule applies; always when left out.
            type: dict
            suboptions:
              key_prefix_equals:
                description:
                  - Beginning of the object's key.
                type: str
              http_error_code_returned_equals:
                description:
                  - HTTP error code; Garage supports V(404) alone.
                type: int
          redirect:
            description:
              - Where to send the client.
            type: dict
            required: true
            suboptions:
              host_name:
                description:
                  - Host to redirect to.
                type: str
              protocol:
                description:
                  - Protocol to redirect to.
                type: str
                choices: [http, https]
              http_redirect_code:
                description:
                  - Status code of the redirect. The server uses 302 when it is left out.
                type: int
              replace_key_prefix_with:
                description:
                  - What replaces the prefix. Mutually exclusive with O(website.routing_rules[].redirect.replace_key_with).
                type: str
              replace_key_with:
                description:
                  - What replaces the whole key.
                type: str
  cors_rules:
    description:
      - CORS rules, in order. An empty list clears them. Needs Garage 2.3.0.
    type: list
    elements: dict
    suboptions:
      id:
        description:
          - Name of the rule.
        type: str
      allowed_origins:
        description:
          - Origins, for example V(https://example.org) or V(*).
        type: list
        elements: str
        required: true
      allowed_methods:
        description:
          - HTTP methods.
        type: list
        elements: str
        choices: [GET, PUT, POST, DELETE, HEAD]
        required: true
      allowed_headers:
        description:
          - Headers a request may carry.
        type: list
        elements: str
      expose_headers:
        description:
          - Headers of an answer that scripts may read.
        type: list
        elements: str
      max_age_seconds:
        description:
          - How long a browser may keep the answer to a preflight request.
        type: int
  lifecycle_rules:
    description:
      - Lifecycle rules, told apart by their id; their order does not matter. An empty list clears them. Needs Garage 2.3.0.
    type: list
    elements: dict
    suboptions:
      id:
        description:
          - Name of the rule, unique in the bucket.
        type: str
        required: true
      status:
        description:
          - Whether the rule is applied.
        type: str
        choices: [enabled, disabled]
        default: enabled
      prefix:
        description:
          - Beginning of the keys the rule is for.
        type: str
      object_size_greater_than:
        description:
          - Only objects larger than this, in bytes or with a unit.
        type: str
      object_size_less_than:
        description:
          - Only objects smaller than this, in bytes or with a unit.
        type: str
      expiration_days:
        description:
          - Delete objects this many days after they were written. Mutually exclusive with O(lifecycle_rules[].expiration_date).
        type: int
      expiration_date:
        description:
          - Delete objects on this day, as YYYY-MM-DD.
        type: str
      abort_incomplete_multipart_upload_days:
        description:
          - Abort multipart uploads this many days after they began.
        type: int
seealso:
  - module: s3ops.garage.bucket_info
  - module: s3ops.garage.grant
"""

EXAMPLES = r"""
- name: A bucket of at most 40 GB, with the connection taken from the environment
  s3ops.garage.bucket:
    name: media
    quotas:
      max_size: 40GB
      max_objects: 1000000

- name: A website under two names
  s3ops.garage.bucket:
    api_url: http://127.0.0.1:3903
    api_token_file: /etc/garage/admin-token
    name: www.example.org
    aliases: [example.org]
    website:
      enabled: true
      index_document: index.html
      error_document: 404.html

- name: Logs go after 30 days, broken uploads after 7
  s3ops.garage.bucket:
    name: logs
    lifecycle_rules:
      - id: expire
        prefix: logs/
        expiration_days: 30
        abort_incomplete_multipart_upload_days: 7

- name: Rename a bucket
  s3ops.garage.bucket:
    id: "{{ media.bucket.id }}"
    name: pictures
    purge_aliases: true

- name: No limit any more
  s3ops.garage.bucket:
    name: media
    quotas:
      max_size: unlimited

- name: Delete an empty bucket
  s3ops.garage.bucket:
    name: scratch
    state: absent
"""

RETURN = r"""
bucket:
  description:
    - The bucket as it is now, or in check mode as it would be. Null when it is absent.
    - A bucket that check mode would create has no C(id) yet.
  returned: success
  type: dict
  sample:
    id: 4fd0a8a45d1d2d7a3a6c0a3c1f5a4f4c2f0a5f3e6b7c8d9e0f1a2b3c4d5e6f70
    aliases: [media]
    local_aliases: []
    created: "2026-01-01T00:00:00Z"
    quotas: {max_size: 40000000000, max_objects: 1000000}
    website: {enabled: false, index_document: null, error_document: null, routing_rules: []}
    cors_rules: []
    lifecycle_rules: []
    grants: []
    objects: 0
    bytes: 0
    unfinished_uploads: 0
    unfinished_multipart_uploads: 0
    unfinished_multipart_upload_parts: 0
    unfinished_multipart_upload_bytes: 0
actions:
  description: What was done, in order; in check mode, what would be done.
  returned: success
  type: list
  elements: str
  sample: [create bucket media, set quotas of bucket media]
error:
  description: What went wrong, for plays to branch on.
  returned: failure
  type: dict
  sample: {kind: refused, status: null, code: null, endpoint: null}
"""

from ansible_collections.s3ops.garage.plugins.module_utils._argspec import bucket_settings_spec, state_spec
from ansible_collections.s3ops.garage.plugins.module_utils._executor import Task
from ansible_collections.s3ops.garage.plugins.module_utils._models.bucket import BucketSpec
from ansible_collections.s3ops.garage.plugins.module_utils._planners.bucket import plan_bucket
from ansible_collections.s3ops.garage.plugins.module_utils._readers.bucket import read_bucket
from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_task


def build(params):
    spec = BucketSpec.from_params(params)
    return Task(
        read=lambda client, doubts: read_bucket(client, spec, doubts),
        plan=lambda live: plan_bucket(spec, live),
        show=lambda live: live.bucket.to_result() if live.bucket else None,
    )


def main():
    run_task("bucket", {"name": {"type": "str"}, "id": {"type": "str"}, **state_spec(), **bucket_settings_spec()}, build,
             required_one_of=[("name", "id")])


if __name__ == "__main__":
    main()
