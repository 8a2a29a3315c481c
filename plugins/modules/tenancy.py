#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: tenancy
short_description: Declare the access keys, buckets, grants and admin tokens of a Garage cluster together
version_added: 0.1.0
description:
  - Does in one run what M(s3ops.garage.key), M(s3ops.garage.bucket), M(s3ops.garage.grant) and M(s3ops.garage.admin_token) do one by one, by the
    same decisions.
  - Keys come first, then buckets, then grants, then admin tokens. Removals come last, grants before buckets before keys before admin tokens.
  - The whole document is checked before anything is sent, and all faults are told at once with their paths, as in C(buckets[2].grants[0].key).
  - Check mode predicts all of it also where none of it exists yet.
  - What is not in the document is left alone, and so is what is left unset in it.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.connection
  - s3ops.garage.attributes
options:
  keys:
    description: Access keys, each at most once.
    type: list
    elements: dict
    suboptions:
      name:
        description:
          - The name of the key. Required unless O(keys[].id) is set. Where several keys have this name the task fails and lists their ids.
          - With O(keys[].id), the key is renamed to this name.
        type: str
      id:
        description: The id of the key. It must exist, unless O(keys[].secret_access_key) is given to import it.
        type: str
        aliases: [access_key_id]
      secret_access_key:
        description: The secret of a key that exists elsewhere, to import it when it is missing. A key that is there must have this very secret.
        type: str
      derive:
        description:
          - Derive id and secret of the key from O(keys[].rpc_secret) and this context, written as C(namespace/name), as M(s3ops.garage.key) says.
          - Without O(keys[].name), the key gets the name in its context, and grants find it by that.
        type: str
      rpc_secret:
        description: The RPC secret of the cluster, 64 hexadecimal digits, for O(keys[].derive). None is ever made up.
        type: str
      rpc_secret_file:
        description: A file that holds the RPC secret, on the host where the module runs.
        type: path
      derive_nonce:
        description: Derive another key of the same context, as in the place of one that was deleted. It has to be the same at all sites.
        type: str
      rpc_fingerprint:
        description: The fingerprint that the RPC secret must have, as the result shows it. With another RPC secret nothing is done.
        type: str
      store:
        description:
          - Where the credentials of the key are kept, one of O(keys[].store.path), O(keys[].store.secret) and O(keys[].store.hashi_vault).
          - Garage can show the secret of a key again, so what is missing or was changed there is put right at each run.
        type: dict
        suboptions:
          format:
            description:
              - V(keys) stores each value under a name of its own, C(access-key-id), C(secret-access-key), C(endpoint), C(host), C(scheme), C(region),
                C(bucket) and C(website-url); a plain file holds them as JSON.
              - V(env) does so with the names of variables, C(AWS_ACCESS_KEY_ID), C(AWS_SECRET_ACCESS_KEY), C(AWS_ENDPOINT_URL),
                C(AWS_DEFAULT_REGION), C(BUCKET_NAME) and C(WEBSITE_URL); a plain file has a line for each.
              - V(aws_credentials) makes the text of a credentials file with one profile; elsewhere than in a plain file it is called
                C(credentials).
            type: str
            choices: [keys, aws_credentials, env]
            default: keys
          endpoint:
            description: The address of the S3 API, to be stored with the credentials; its host and its scheme are stored as well.
            type: str
          region:
            description: The region, to be stored with the credentials.
            type: str
          bucket:
            description: The name of a bucket, to be stored with the credentials.
            type: str
          website_url:
            description: The address of the website of that bucket, to be stored with the credentials.
            type: str
          profile:
            description: The name of the profile with O(keys[].store.format=aws_credentials); V(default) where it is left out.
            type: str
          path:
            description:
              - A file on the host where the module runs, in a folder that exists; an absolute path. It has the mode 0600.
              - The note of its cluster stands in a hidden file beside it, with C(.garage) at its end.
            type: path
          vault_password:
            description: With O(keys[].store.path), encrypt the file as C(ansible-vault) does, with this password. It needs the
              Python library C(cryptography).
            type: str
          vault_password_file:
            description: A file that holds this password.
            type: path
          secret:
            description:
              - The name of a Secret of Kubernetes. It needs the Python library C(kubernetes).
              - A Secret that does not have the label C(app.kubernetes.io/managed-by=s3ops.garage) is read and never written to.
            type: str
          namespace:
            description: The namespace of O(keys[].store.secret), which needs it.
            type: str
          kubeconfig:
            description: For O(keys[].store.secret), the file by which the Kubernetes API is found; otherwise it is found as by C(kubectl), or as in
              a pod.
            type: path
          context:
            description: The context in that file.
            type: str
          hashi_vault:
            description: A secret in the KV engine, version 2, of HashiCorp Vault or OpenBao. It needs the Python library C(hvac).
            type: dict
            suboptions:
              url:
                description: The address of the server.
                type: str
                required: true
              path:
                description: The path of the secret in its engine.
                type: str
                required: true
              mount_point:
                description: Where the engine is mounted.
                type: str
                default: secret
              token:
                description: The token for it; that of the environment variable E(VAULT_TOKEN) where it is left out.
                type: str
              namespace:
                description: The namespace of the server.
                type: str
              ca_path:
                description: A file with the certificates of those who may have signed that of the server.
                type: path
          data_keys:
            description: What the values are called in the store, where they shall not have their usual names. An empty name leaves a value out.
            type: dict
          extra_data:
            description: Further texts for the store by their names. They are shown with C(-vvv); a task with secret ones needs C(no_log=true).
            type: dict
          labels:
            description: Labels of O(keys[].store.secret). Those that others have put there stay.
            type: dict
          annotations:
            description: Annotations of O(keys[].store.secret). Those that others have put there stay.
            type: dict
          take_over:
            description: Whether to put the credential also where that of another cluster is, as when this one was built anew. It is refused
              otherwise.
            type: bool
            default: false
      credential_deletion_policy:
        description:
          - What becomes of what is in O(keys[].store) with O(keys[].state=absent). V(retain) leaves it; it is of no use to anybody then.
          - V(delete) removes it, unless it holds the credential of something that is still there.
        type: str
        choices: [retain, delete]
        default: retain
      state:
        description: Whether the key shall be there.
        type: str
        choices: [present, absent]
        default: present
      expiration:
        description: When the key stops working, as a date and time with a zone (RFC 3339), or V(never).
        type: str
      allow_create_bucket:
        description: Whether the key may create buckets through the S3 API.
        type: bool
  buckets:
    description: Buckets, each at most once.
    type: list
    elements: dict
    suboptions:
      name:
        description:
          - A global alias of the bucket. Required unless O(buckets[].id) is set.
          - With O(buckets[].id), the name becomes an alias of that bucket.
        type: str
      id:
        description: The id of the bucket, 64 hexadecimal digits. A bucket with this id must exist.
        type: str
      state:
        description: Whether the bucket shall be there. A bucket that holds objects is never deleted.
        type: str
        choices: [present, absent]
        default: present
      grants:
        description:
          - What keys may do with the bucket.
          - The grants of an absent bucket go with it, whatever is declared here.
        type: list
        elements: dict
        suboptions:
          key:
            description:
              - The name of a key, of O(keys) or already on the server. Either this or O(buckets[].grants[].key_id) is required.
            type: str
          key_id:
            description: The id of a key, of O(keys) or already on the server.
            type: str
          read:
            description: Whether the key may read objects and list them. At least one of the three rights must be set.
            type: bool
          write:
            description: Whether the key may write and delete objects.
            type: bool
          owner:
            description: Whether the key may change the settings of the bucket through the S3 API.
            type: bool
      purge_grants:
        description:
          - Whether to take all rights of keys that are not in O(buckets[].grants), which must be set then.
          - Otherwise a warning tells of such keys, where grants are declared for the bucket.
        type: bool
        default: false
      aliases:
        description:
          - Further global aliases. New ones are added before old ones are removed.
          - An alias that belongs to another bucket is refused, naming that bucket.
        type: list
        elements: str
      purge_aliases:
        description:
          - Whether to remove global aliases that are neither in O(buckets[].aliases) nor O(buckets[].name). The last alias is never removed.
        type: bool
        default: false
      local_aliases:
        description: Names by which one key alone knows the bucket. New ones are added before old ones are removed.
        type: list
        elements: dict
        suboptions:
          key:
            description: The name of the key, declared here or on the server. Mutually exclusive with O(buckets[].local_aliases[].key_id).
            type: str
          key_id:
            description: The id of the key.
            type: str
          alias:
            description: The name.
            type: str
            required: true
      purge_local_aliases:
        description: Whether to remove local aliases that are not in O(buckets[].local_aliases). Needs that option; an empty list removes all.
        type: bool
        default: false
      quotas:
        description: Limits of the bucket. Each is managed on its own.
        type: dict
        suboptions:
          max_size:
            description:
              - Bytes, with an optional unit as in V(40GB) or V(1TiB), or V(unlimited).
              - V(0) is a limit of nothing, every upload is refused then.
            type: str
          max_objects:
            description: Number of objects, or V(unlimited).
            type: str
      website:
        description: Website access. Documents and rules that are left out keep their live values.
        type: dict
        suboptions:
          enabled:
            description: Whether the bucket is served as a website.
            type: bool
            required: true
          index_document:
            description: Name of the object that is served for a directory. Must be known when a website is switched on.
            type: str
          error_document:
            description: Name of the object that is served for errors. An empty string clears it.
            type: str
          routing_rules:
            description: Redirects, in order. An empty list clears them. Needs Garage 2.3.0.
            type: list
            elements: dict
            suboptions:
              condition:
                description: When the rule applies; always when left out.
                type: dict
                suboptions:
                  key_prefix_equals:
                    description: Beginning of the object's key.
                    type: str
                  http_error_code_returned_equals:
                    description: HTTP error code; Garage supports V(404) alone.
                    type: int
              redirect:
                description: Where to send the client.
                type: dict
                required: true
                suboptions:
                  host_name:
                    description: Host to redirect to.
                    type: str
                  protocol:
                    description: Protocol to redirect to.
                    type: str
                    choices: [http, https]
                  http_redirect_code:
                    description: Status code of the redirect. The server uses 302 when it is left out.
                    type: int
                  replace_key_prefix_with:
                    description: What replaces the prefix. Mutually exclusive with O(buckets[].website.routing_rules[].redirect.replace_key_with).
                    type: str
                  replace_key_with:
                    description: What replaces the whole key.
                    type: str
      cors_rules:
        description: CORS rules, in order. An empty list clears them. Needs Garage 2.3.0.
        type: list
        elements: dict
        suboptions:
          id:
            description: Name of the rule.
            type: str
          allowed_origins:
            description: Origins, for example V(https://example.org) or V(*).
            type: list
            elements: str
            required: true
          allowed_methods:
            description: HTTP methods.
            type: list
            elements: str
            choices: [GET, PUT, POST, DELETE, HEAD]
            required: true
          allowed_headers:
            description: Headers a request may carry.
            type: list
            elements: str
          expose_headers:
            description: Headers of an answer that scripts may read.
            type: list
            elements: str
          max_age_seconds:
            description: How long a browser may keep the answer to a preflight request.
            type: int
      lifecycle_rules:
        description: Lifecycle rules, told apart by their id; their order does not matter. An empty list clears them. Needs Garage 2.3.0.
        type: list
        elements: dict
        suboptions:
          id:
            description: Name of the rule, unique in the bucket.
            type: str
            required: true
          status:
            description: Whether the rule is applied.
            type: str
            choices: [enabled, disabled]
            default: enabled
          prefix:
            description: Beginning of the keys the rule is for.
            type: str
          object_size_greater_than:
            description: Only objects larger than this, in bytes or with a unit.
            type: str
          object_size_less_than:
            description: Only objects smaller than this, in bytes or with a unit.
            type: str
          expiration_days:
            description:
              - Delete objects this many days after they were written. Mutually exclusive with O(buckets[].lifecycle_rules[].expiration_date).
            type: int
          expiration_date:
            description: Delete objects on this day, as YYYY-MM-DD.
            type: str
          abort_incomplete_multipart_upload_days:
            description: Abort multipart uploads this many days after they began.
            type: int
  admin_tokens:
    description:
      - Tokens for the Admin API, each at most once. Their secrets are stored as M(s3ops.garage.admin_token) stores them, and never returned.
      - A token that exists is taken over by its name or id. One that does not is made only with O(admin_tokens[].store), since its secret is shown
        once; without a place for it the whole document is refused.
      - To replace a token by a new one, use M(s3ops.garage.admin_token) with O(s3ops.garage.admin_token#module:rotate=true) and the same file.
    type: list
    elements: dict
    suboptions:
      name:
        description:
          - The name of the token. Required unless O(admin_tokens[].id) is set. Where several tokens have this name the task fails and lists their ids.
          - With O(admin_tokens[].id), the token is renamed to this name.
        type: str
      id:
        description: The id of a token, which is the part of it before the dot. A token with this id must exist.
        type: str
      state:
        description: Whether the token shall be there. The one that the task itself works with cannot be removed.
        type: str
        choices: [present, absent]
        default: present
      scope:
        description:
          - The calls of the Admin API that the token may make, by their names as in V(ListBuckets), and V(Metrics) for the metrics page; V(*) alone is
            every call. Required where the token has to be made.
        type: list
        elements: str
      expiration:
        description: When the token stops working, as a date and time with a zone (RFC 3339), or V(never).
        type: str
      store:
        description:
          - Where the secret is kept, one of O(admin_tokens[].store.path), O(admin_tokens[].store.secret) and O(admin_tokens[].store.hashi_vault).
          - A plain file holds the token and nothing else, so it can be an C(api_token_file). Elsewhere it is called C(token).
          - What holds something else is left as it is, and the task fails.
          - When the server does not have the token in it, that is kept beside it, with C(old) at the end of the name, as the new one takes its place.
          - A token that exists can be changed without it; its secret is not looked at then.
        type: dict
        suboptions:
          path:
            description:
              - A file on the host where the module runs, in a folder that exists; an absolute path. It has the mode 0600.
              - The note of its cluster stands in a hidden file beside it, with C(.garage) at its end.
            type: path
          vault_password:
            description: With O(admin_tokens[].store.path), encrypt the file as C(ansible-vault) does, with this password. It needs the
              Python library C(cryptography).
            type: str
          vault_password_file:
            description: A file that holds this password.
            type: path
          secret:
            description:
              - The name of a Secret of Kubernetes. It needs the Python library C(kubernetes).
              - A Secret that does not have the label C(app.kubernetes.io/managed-by=s3ops.garage) is read and never written to.
            type: str
          namespace:
            description: The namespace of O(admin_tokens[].store.secret), which needs it.
            type: str
          kubeconfig:
            description: For O(admin_tokens[].store.secret), the file by which the Kubernetes API is found; otherwise it is found as by C(kubectl),
              or as in a pod.
            type: path
          context:
            description: The context in that file.
            type: str
          hashi_vault:
            description: A secret in the KV engine, version 2, of HashiCorp Vault or OpenBao. It needs the Python library C(hvac).
            type: dict
            suboptions:
              url:
                description: The address of the server.
                type: str
                required: true
              path:
                description: The path of the secret in its engine.
                type: str
                required: true
              mount_point:
                description: Where the engine is mounted.
                type: str
                default: secret
              token:
                description: The token for it; that of the environment variable E(VAULT_TOKEN) where it is left out.
                type: str
              namespace:
                description: The namespace of the server.
                type: str
              ca_path:
                description: A file with the certificates of those who may have signed that of the server.
                type: path
          data_keys:
            description: What the values are called in the store, where they shall not have their usual names. An empty name leaves a value out.
            type: dict
          extra_data:
            description: Further texts for the store by their names. They are shown with C(-vvv); a task with secret ones needs C(no_log=true).
            type: dict
          labels:
            description: Labels of O(admin_tokens[].store.secret). Those that others have put there stay.
            type: dict
          annotations:
            description: Annotations of O(admin_tokens[].store.secret). Those that others have put there stay.
            type: dict
          take_over:
            description: Whether to put the credential also where that of another cluster is, as when this one was built anew. It is refused
              otherwise.
            type: bool
            default: false
      credential_deletion_policy:
        description:
          - What becomes of what is in O(admin_tokens[].store) with O(admin_tokens[].state=absent). V(retain) leaves it; it is of no use to anybody
            then.
          - V(delete) removes it, unless it holds the credential of something that is still there.
        type: str
        choices: [retain, delete]
        default: retain
  owner:
    description:
      - What belongs to this document and may be purged.
    type: dict
    suboptions:
      prefix:
        description: Keys and admin tokens whose name begins with this, and buckets all of whose global aliases do and that no key which stays knows by
          a name of its own.
        type: str
        required: true
  purge_keys:
    description:
      - Whether to delete keys that belong to O(owner) and are not declared. Refused when the server may not have listed all keys.
      - A key that a grant or a local alias of this document names is needed by it, and stays.
    type: bool
    default: false
  purge_buckets:
    description:
      - Whether to delete buckets that belong to O(owner) and are not declared. Refused when one of them holds objects, and when the server may
        not have listed all buckets.
    type: bool
    default: false
  purge_admin_tokens:
    description:
      - Whether to delete admin tokens that belong to O(owner) and are not declared. Refused when the server may not have listed all of them.
      - The token that the task itself works with stays, with a warning, and so do those that some run is making.
      - Files with the secrets of purged tokens are left.
    type: bool
    default: false
  on_error:
    description:
      - What to do when a subject fails. V(stop) sends nothing more; V(continue) tries everything that does not depend on it, and fails in the end
        with the state as it is and RV(failures).
    type: str
    choices: [stop, continue]
    default: stop
  max_in_flight:
    description:
      - How many subjects may be written at the same time, always to the one node of O(api_url). The order within a subject is kept.
      - Nearly all of a request's time is the server's check of the token, so more than the server has cores gains nothing.
    type: int
    default: 4
seealso:
  - module: s3ops.garage.key
  - module: s3ops.garage.bucket
  - module: s3ops.garage.grant
  - module: s3ops.garage.admin_token
"""

EXAMPLES = r"""
- name: Two buckets and who may use them
  s3ops.garage.tenancy:
    keys:
      - name: app
      - name: backup
        expiration: "2030-01-01T00:00:00Z"
    buckets:
      - name: media
        quotas: {max_size: 40GB}
        grants:
          - {key: app, read: true, write: true}
          - {key: backup, read: true}
      - name: www.example.org
        website: {enabled: true, index_document: index.html}
        grants:
          - {key: app, read: true, write: true, owner: true}
        purge_grants: true
    admin_tokens:
      - name: prometheus
        scope: [Metrics]
        store: {path: /etc/prometheus/garage-token}

- name: A bucket and its key that are not needed any more
  s3ops.garage.tenancy:
    keys:
      - {name: scratch, state: absent}
    buckets:
      - {name: scratch, state: absent}
"""

RETURN = r"""
tenancy:
  description:
    - What was declared, as it is now, or in check mode as it would be.
    - Each list is in the order of the document, with null for what is absent. What check mode would create has no id yet.
  returned: success
  type: dict
  contains:
    keys:
      description:
        - As RV(s3ops.garage.key#module:key) for each of O(keys).
        - C(buckets) and C(secret_access_key) are always null here, since they are not read.
        - C(allow_create_bucket) is null where it is not declared.
      type: list
      elements: dict
      sample:
        - {id: GK0123456789abcdef01234567, name: app, created: "2026-01-01T00:00:00Z", expiration: null, expired: false, allow_create_bucket: null,
           buckets: null, secret_access_key: null}
    buckets:
      description: As RV(s3ops.garage.bucket#module:bucket) for each of O(buckets).
      type: list
      elements: dict
      sample: []
    grants:
      description: As RV(s3ops.garage.grant#module:grant) for each grant of O(buckets), bucket by bucket.
      type: list
      elements: dict
      sample:
        - {bucket: media, bucket_id: 4fd0a8a45d1d2d7a3a6c0a3c1f5a4f4c2f0a5f3e6b7c8d9e0f1a2b3c4d5e6f70, key: app, key_id: GK0123456789abcdef01234567,
           read: true, write: true, owner: false}
    admin_tokens:
      description: As RV(s3ops.garage.admin_token#module:admin_token) for each of O(admin_tokens); C(secret_token) is always null here.
      type: list
      elements: dict
      sample: []
actions:
  description: What was done, in order; in check mode, what would be done.
  returned: success
  type: list
  elements: str
  sample: [create access key app, create bucket media, "allow read, write on bucket media to access key app"]
failures:
  description: With O(on_error=continue), what failed and why, by subject.
  returned: failure with O(on_error=continue)
  type: list
  elements: dict
  sample:
    - subject: bucket media
      msg: "CreateBucket at http://127.0.0.1:3903: HTTP 409 BucketAlreadyExists: …"
      error: {kind: conflict, status: 409, code: BucketAlreadyExists, endpoint: CreateBucket}
error:
  description: What went wrong, for plays to branch on.
  returned: failure
  type: dict
  sample: {kind: not_found, status: null, code: null, endpoint: null}
"""

from ansible_collections.s3ops.garage.plugins.module_utils._argspec import tenancy_spec
from ansible_collections.s3ops.garage.plugins.module_utils._runner import present, run_job
from ansible_collections.s3ops.garage.plugins.module_utils._tenancy_job import run_tenancy


def job(params, context):
    return present("tenancy", run_tenancy(params, context), context)


def main():
    run_job(tenancy_spec(), job)


if __name__ == "__main__":
    main()
