# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

_PLACE = r"""
      path:
        description:
          - A file on the host where the module runs, in a folder that exists; an absolute path. It has the mode 0600.
          - The note of its cluster stands in a hidden file beside it, with C(.garage) at its end.
        type: path
      vault_password:
        description: With O(store.path), encrypt the file as C(ansible-vault) does, with this password. It needs the Python library C(cryptography).
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
        description: The namespace of O(store.secret), which needs it.
        type: str
      kubeconfig:
        description: For O(store.secret), the file by which the Kubernetes API is found; otherwise it is found as by C(kubectl), or as in a pod.
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
        description: Labels of O(store.secret). Those that others have put there stay.
        type: dict
      annotations:
        description: Annotations of O(store.secret). Those that others have put there stay.
        type: dict
      take_over:
        description: Whether to put the credential also where that of another cluster is, as when this one was built anew. It is refused otherwise.
        type: bool
        default: false
"""
_POLICY = r"""
  credential_deletion_policy:
    description:
      - What becomes of what is in O(store) with O(state=absent). V(retain) leaves it; it is of no use to anybody then.
      - V(delete) removes it, unless it holds the credential of something that is still there.
    type: str
    choices: [retain, delete]
    default: retain
"""


class ModuleDocFragment:
    """The places where credentials are kept."""

    # With a type, for the linter of YAML in sanity takes a bare assignment for a plain text and fails at a sum.
    DOCUMENTATION: str = r"""
options:
  store:
    description:
      - Where the credentials of the key are kept, one of O(store.path), O(store.secret) and O(store.hashi_vault).
      - Garage can show the secret of a key again, so what is missing or was changed there is put right at each run.
    type: dict
    suboptions:
      format:
        description:
          - V(keys) stores each value under a name of its own, C(access-key-id), C(secret-access-key), C(endpoint), C(host), C(scheme), C(region),
            C(bucket) and C(website-url); a plain file holds them as JSON.
          - V(env) does so with the names of variables, C(AWS_ACCESS_KEY_ID), C(AWS_SECRET_ACCESS_KEY), C(AWS_ENDPOINT_URL), C(AWS_DEFAULT_REGION),
            C(BUCKET_NAME) and C(WEBSITE_URL); a plain file has a line for each.
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
        description: The name of the profile with O(store.format=aws_credentials); V(default) where it is left out.
        type: str
""" + _PLACE.lstrip("\n") + _POLICY.lstrip("\n")

    TOKEN: str = r"""
options:
  store:
    description:
      - Where the secret is kept, one of O(store.path), O(store.secret) and O(store.hashi_vault).
      - A plain file holds the token and nothing else, so it can be an C(api_token_file). Elsewhere it is called C(token).
      - What holds something else is left as it is, and the task fails.
      - When the server does not have the token in it, that is kept beside it, with C(old) at the end of the name, as the new one takes its place.
      - A token that exists can be changed without it; its secret is not looked at then.
    type: dict
    suboptions:
""" + _PLACE.lstrip("\n") + _POLICY.lstrip("\n")
