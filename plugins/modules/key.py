#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: key
short_description: Declare an access key of a Garage cluster
version_added: 0.1.0
description:
  - Creates, imports, changes and deletes an access key through the Admin API.
  - What is left unset is left alone.
  - What a key may do with a bucket is declared with M(s3ops.garage.grant).
  - The secret of a key is never in a result, a diff or a message, unless O(return_secret=true) asks for it.
  - With O(store), the credentials are kept in a file, in a Secret of Kubernetes, or in HashiCorp Vault, and put right there at each run. Credentials
    that the store holds of a key that the server does not have, as after it was put back to an older state, are imported again under their id.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes
  - s3ops.garage.store
attributes:
  idempotent:
    details:
      - Except with O(rotate=true), which makes a new key in each run.
options:
  name:
    description:
      - The name of the key. Required unless O(id) is set.
      - Garage does not keep names unique. Where several keys have this name the task fails and lists their ids; it never guesses.
      - With O(id), the key is renamed to this name.
    type: str
  id:
    description:
      - The id of the key, as in V(GK0123456789abcdef01234567).
      - A key with this id must exist, unless O(secret_access_key) is given to import it.
    type: str
    aliases: [access_key_id]
  secret_access_key:
    description:
      - The secret of a key that exists elsewhere. When there is no key with this O(id), it is imported.
      - A key that is there already must have this very secret, since a secret can never be changed.
      - Garage before 2.3.0 takes only ids of C(GK) and 24 hexadecimal digits with secrets of 64. Later versions take at least 8 characters of
        letters, digits, dot, C(_) and C(-), with secrets of at least 16 printable ASCII characters without spaces.
      - Garage never takes the id of a deleted key again, not even with the same secret.
    type: str
  state:
    description:
      - Whether the key shall be there.
      - The grants of a deleted key go with it. The grants of others stay.
    type: str
    choices: [present, absent]
    default: present
  expiration:
    description:
      - When the key stops working, as a date and time with a zone (RFC 3339), for example V(2030-01-01T00:00:00Z), or V(never).
    type: str
  allow_create_bucket:
    description:
      - Whether the key may create buckets through the S3 API.
      - V(false) takes the right away.
    type: bool
  derive:
    description:
      - Derive id and secret of the key from O(rpc_secret) and this context, written as C(namespace/name), by the scheme of the Kubernetes operator
        C(garage-operator). It is the same key at every site of a cluster, also after everything but the RPC secret was lost.
      - Without O(name), a new key gets the name in its context.
      - A key of that name with another id, where the derived one is missing, tells of another RPC secret, and is refused.
      - Whoever knows the RPC secret can derive the key.
    type: str
  rpc_secret:
    description:
      - The RPC secret of the cluster, 64 hexadecimal digits, for O(derive). It is never sent anywhere, and none is ever made up.
    type: str
  rpc_secret_file:
    description: A file that holds the RPC secret, on the host where the module runs.
    type: path
  derive_nonce:
    description:
      - Derive another key of the same context, as in the place of one that was deleted, whose id Garage never takes again. Letters, digits, hyphen and
        underscore; no secret.
      - With O(store), one is chosen where it is needed, and kept there. Other sites of the cluster have to be given it.
    type: str
  rpc_fingerprint:
    description:
      - The fingerprint that the RPC secret must have, as the result shows it. With another RPC secret nothing is done.
      - With O(store), it is kept there from the first time on, and another RPC secret is refused without this option as well.
    type: str
  rotate:
    description:
      - Whether to make a new key in the place of the one there is. It gets the rights and local aliases of the old one, its expiration and its right to
        create buckets, is put into O(store), and with O(store.endpoint) has to sign a request to S3 that is accepted. Then it gets the name.
      - The old key goes on as C(<name> (replaced)), until the time of O(rotate_grace) is over or O(remove_replaced=true) removes it.
      - A run that broke off is gone on with by the next run of this task, also without O(rotate).
      - It needs O(name), and O(store) or O(return_secret).
    type: bool
    default: false
  rotate_grace:
    description:
      - How long the old key goes on to work, as V(24h) or V(7d). The server itself ends it then, and the next run deletes it.
    type: str
  remove_replaced:
    description:
      - Whether to delete the keys that were replaced by rotations, when nobody uses them any more.
    type: bool
    default: false
  return_secret:
    description:
      - Whether the result holds the secret of the key, of an old key as well as of a new one.
      - Refused unless the task has C(no_log=true), since the result would be printed otherwise.
    type: bool
    default: false
seealso:
  - module: s3ops.garage.key_info
  - module: s3ops.garage.grant
  - module: s3ops.garage.tenancy
"""

EXAMPLES = r"""
- name: A key
  s3ops.garage.key:
    name: app

- name: A key until the end of the decade, that may create buckets
  s3ops.garage.key:
    name: guest
    expiration: "2030-01-01T00:00:00Z"
    allow_create_bucket: true

- name: A key whose secret is written to a file
  s3ops.garage.key:
    name: app
    return_secret: true
  register: app
  no_log: true

- name: The file
  ansible.builtin.copy:
    content: "{{ app.key.secret_access_key }}"
    dest: /etc/app/s3-secret
    mode: "0600"
  no_log: true

- name: A key whose credentials are in a Secret, as pods want them
  s3ops.garage.key:
    name: app
    store:
      secret: app-s3
      namespace: app
      format: env
      endpoint: https://s3.example.org
      region: garage

- name: Another key in its place
  s3ops.garage.key:
    name: app
    rotate: true
    store:
      secret: app-s3
      namespace: app
      format: env
      endpoint: https://s3.example.org
      region: garage

- name: When nobody uses the old one any more
  s3ops.garage.key:
    name: app
    remove_replaced: true

- name: A key from another cluster, under the same id
  s3ops.garage.key:
    name: app
    id: GK0123456789abcdef01234567
    secret_access_key: "{{ vault_app_secret }}"

- name: A key that is the same at every site
  s3ops.garage.key:
    derive: default/app
    rpc_secret_file: /etc/garage/rpc-secret

- name: Rename a key
  s3ops.garage.key:
    id: GK0123456789abcdef01234567
    name: app-old

- name: Delete a key
  s3ops.garage.key:
    name: guest
    state: absent
"""

RETURN = r"""
key:
  description:
    - The key as it is now, or in check mode as it would be. Null when it is absent.
    - A key that check mode would create has no C(id) yet, and the words C((known after the run)) for a secret that was asked for.
  returned: success
  type: dict
  contains:
    id:
      description: The id of the key, which S3 clients call access key id.
      type: str
      sample: GK0123456789abcdef01234567
    name:
      description: The name of the key.
      type: str
      sample: app
    created:
      description: When the key was made or imported.
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
    allow_create_bucket:
      description: Whether it may create buckets through the S3 API.
      type: bool
      sample: false
    buckets:
      description: The buckets on which it has rights or local aliases, ordered by id.
      type: list
      elements: dict
      sample:
        - id: 4fd0a8a45d1d2d7a3a6c0a3c1f5a4f4c2f0a5f3e6b7c8d9e0f1a2b3c4d5e6f70
          aliases: [media]
          local_aliases: []
          read: true
          write: true
          owner: false
    secret_access_key:
      description: The secret. Null unless O(return_secret=true).
      type: str
      sample: null
    store:
      description: Where the credentials are kept, by the options that say so. Null without O(store).
      type: dict
      sample: {secret: app-s3, namespace: app}
    derivation:
      description:
        - What the key was derived from. Null without O(derive).
        - C(rpc_fingerprint) tells one RPC secret from another, and nothing about it.
      type: dict
      sample: {context: default/app, nonce: null, rpc_fingerprint: 1f0a2b3c4d5e6f70}
rotated:
  description: Whether a new key took the place of another.
  returned: success
  type: bool
  sample: false
actions:
  description: What was done, in order; in check mode, what would be done.
  returned: success
  type: list
  elements: str
  sample: [create access key app]
error:
  description: What went wrong, for plays to branch on.
  returned: failure
  type: dict
  sample: {kind: ambiguous, status: null, code: null, endpoint: null}
"""

from ansible_collections.s3ops.garage.plugins.module_utils._argspec import key_spec, return_secret_spec, state_spec
from ansible_collections.s3ops.garage.plugins.module_utils._argspec_derive import derive_spec
from ansible_collections.s3ops.garage.plugins.module_utils._argspec_store import key_store_spec
from ansible_collections.s3ops.garage.plugins.module_utils._key_job import run_key
from ansible_collections.s3ops.garage.plugins.module_utils._runner import present, run_job

SPEC = {
    "rotate": {"type": "bool", "default": False},
    "rotate_grace": {"type": "str"},
    "remove_replaced": {"type": "bool", "default": False},
}


def job(params, context):
    outcome, beside = run_key(params, context)
    return {**present("key", outcome, context), **beside}


def main():
    run_job({**key_spec(), **derive_spec(), **key_store_spec(), **SPEC, **return_secret_spec(), **state_spec()}, job,
            required_one_of=[("name", "id", "derive")])


if __name__ == "__main__":
    main()
