#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: admin_token
short_description: Declare a token for the Admin API of a Garage cluster
version_added: 0.1.0
description:
  - Creates, changes, rotates and deletes an admin token, and keeps its secret in a file, in a Secret of Kubernetes, or in HashiCorp Vault.
  - Garage shows the secret of a token once, when it makes it. So the secret is stored in the same run, and is the record of the token from then on.
    A stored token that the server accepts is adopted. One that the server does not know, as after a reset, is made anew.
  - A token that is on the server while its secret is not in the store is never replaced silently. The task fails with the kind
    C(credential_lost) and names the place to restore.
  - A run may break off anywhere. A token is made under the name C(<name> (pending <nonce>)), and a note beside the store, with C(intent) at the end
    of its name, says so; the next run deletes that token, or goes on with it when its secret is stored already.
  - Of two runs at once on one store one makes the token, and the other one finds it made. In a place that has no locks, such a note that is less
    than a minute old is waited for.
  - Tokens from the configuration of the daemon can be looked at with M(s3ops.garage.admin_token_info) and cannot be changed.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes
  - s3ops.garage.store.token
attributes:
  idempotent:
    details:
      - Except with O(rotate=true), which makes a new token in each run.
options:
  name:
    description:
      - The name of the token. Required unless O(id) is set.
      - Garage does not keep names unique. Where several tokens have this name the task fails and lists their ids; it never guesses.
      - With O(id), the token is renamed to this name.
    type: str
  id:
    description:
      - The id of a token, which is the part of it before the dot. A token with this id must exist.
    type: str
  state:
    description:
      - Whether the token shall be there.
    type: str
    choices: [present, absent]
    default: present
  scope:
    description:
      - The calls of the Admin API that the token may make, by their names as in V(ListBuckets), and V(Metrics) for the metrics page.
      - V(*) alone is every call. It has to be asked for; O(scope) is required where a token has to be made.
      - An empty list lets it do nothing.
      - Names that this collection does not know are refused, since the server stores any word and lets it open nothing.
      - With V(CreateAdminToken) or V(UpdateAdminToken) a token can give itself every other right.
    type: list
    elements: str
  expiration:
    description:
      - When the token stops working, as a date and time with a zone (RFC 3339), for example V(2030-01-01T00:00:00Z), or V(never).
    type: str
  rotate:
    description:
      - Whether to make a new token in the place of the one there is. The new one is stored and tried before the old one is deleted.
      - Scope and expiration are taken over where they are not given.
      - With O(id), note that the new token has another id.
    type: bool
    default: false
  return_secret:
    description:
      - Whether the result holds the whole token. It can only be returned when it is made in this run, or is in the store.
      - Refused unless the task has C(no_log=true), since the result would be printed otherwise.
    type: bool
    default: false
notes:
  - The calls it makes are C(ListAdminTokens), C(GetAdminTokenInfo), C(CreateAdminToken), C(UpdateAdminToken) and C(DeleteAdminToken), and with the
    stored token C(GetCurrentAdminTokenInfo), which every token may make. Garage before 2.1.0 does not have the last one, so the stored token
    cannot be tried there, and a warning says so.
  - With C(GetClusterStatus) it is noted in the store to which cluster the token belongs. What is noted to belong to another one is left as it is, and
    the task fails.
  - A node without a role in the layout knows no token but that of its configuration; use one that has a role.
seealso:
  - module: s3ops.garage.admin_token_info
"""

EXAMPLES = r"""
- name: A token for a pipeline
  s3ops.garage.admin_token:
    name: ci
    scope: [ListBuckets, CreateBucket, GetBucketInfo]
    expiration: "2030-01-01T00:00:00Z"
    store:
      path: /etc/garage/ci-token

- name: A token for the collector of metrics
  s3ops.garage.admin_token:
    name: prometheus
    scope: [Metrics]
    store:
      path: /etc/prometheus/garage-token

- name: A token in a Secret of Kubernetes
  s3ops.garage.admin_token:
    name: backup
    scope: [ListBuckets, GetBucketInfo]
    store:
      secret: garage-admin
      namespace: backup
      data_keys: {token: admin-token}

- name: A new secret for it
  s3ops.garage.admin_token:
    name: prometheus
    rotate: true
    store:
      path: /etc/prometheus/garage-token

- name: A token that goes to another place
  s3ops.garage.admin_token:
    name: ci
    scope: [ListBuckets]
    return_secret: true
  register: ci
  no_log: true

- name: Delete a token and the file with its secret
  s3ops.garage.admin_token:
    name: ci
    state: absent
    store:
      path: /etc/garage/ci-token
    credential_deletion_policy: delete
"""

RETURN = r"""
admin_token:
  description:
    - The token as it is now, or in check mode as it would be. Null when it is absent.
    - A token that check mode would create has no C(id) yet, and the words C((known after the run)) for a secret that was asked for.
  returned: success
  type: dict
  contains:
    id:
      description: The id of the token, which is the part of it before the dot.
      type: str
      sample: 8d9e0f1a2b3c4d5e6f708192
    name:
      description: The name of the token.
      type: str
      sample: ci
    created:
      description: When it was made.
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
      description: The calls it may make, in the order of the alphabet.
      type: list
      elements: str
      sample: [CreateBucket, GetBucketInfo, ListBuckets]
    store:
      description: Where its secret is kept, by the options that say so. Null without O(store).
      type: dict
      sample: {path: /etc/garage/ci-token}
    secret_token:
      description: The whole token. Null unless O(return_secret=true).
      type: str
      sample: null
adopted:
  description: Whether the token in the store is in use and accepted by the server, so that none had to be made.
  returned: success
  type: bool
  sample: false
rotated:
  description: Whether the token takes the place of another.
  returned: success
  type: bool
  sample: false
actions:
  description: What was done, in order; in check mode, what would be done.
  returned: success
  type: list
  elements: str
  sample: ["create admin token ci, its secret goes to /etc/garage/ci-token", "give the new token its name, ci"]
error:
  description: What went wrong, for plays to branch on. The kind V(credential_lost) is for a person to mend; trying again does not help.
  returned: failure
  type: dict
  sample: {kind: credential_lost, status: null, code: null, endpoint: null}
"""

from ansible_collections.s3ops.garage.plugins.module_utils._argspec import admin_token_spec, return_secret_spec, state_spec
from ansible_collections.s3ops.garage.plugins.module_utils._runner import present, run_job
from ansible_collections.s3ops.garage.plugins.module_utils._token_job import run_token


def job(params, context):
    outcome, beside = run_token(params, context)
    return {**present("admin_token", outcome, context), **beside}


def main():
    spec = {**admin_token_spec(), "rotate": {"type": "bool", "default": False}, **state_spec(), **return_secret_spec()}
    run_job(spec, job, required_one_of=[("name", "id")])


if __name__ == "__main__":
    main()
