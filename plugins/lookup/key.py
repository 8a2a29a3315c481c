# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: key
short_description: Get the credentials of an access key from a Garage cluster
version_added: 0.1.0
description:
  - Reads access keys with their secrets from the Admin API, each time it is evaluated.
  - The result is a secret. A task that uses it needs C(no_log=true), or C(-v), a C(--diff) and a failing loop print it. Do not put it into a
    variable that is shown or stored, as by C(set_fact) with a fact cache.
  - Ansible shows the text of an expression that fails. Write no O(api_token) into it; use O(api_token_file), a variable or the environment.
  - Runs where Ansible runs, not on the host of the play. C(module_defaults) are not for lookups; give the options here, or set the environment.
  - The admin token needs the scope C(ListKeys) and C(GetKeyInfo).
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.plugin_connection
options:
  _terms:
    description:
      - Names or ids of access keys. Exactly this name or id is looked up, never a part of one.
      - What several keys are called is refused, and their ids are listed; give the id then.
      - A key that does not exist is an error, unless the C(errors) of the lookup say otherwise.
    type: list
    elements: str
    required: true
seealso:
  - module: s3ops.garage.key
  - module: s3ops.garage.key_info
"""

EXAMPLES = r"""
- name: Give an application its credentials
  ansible.builtin.template:
    src: app.env.j2
    dest: /etc/app/env
    mode: "0600"
  vars:
    # In the template: AWS_SECRET_ACCESS_KEY={{ app_key.secret_access_key }}
    app_key: "{{ lookup('s3ops.garage.key', 'app', api_url='http://127.0.0.1:3903', api_token_file='/etc/garage/admin-token') }}"
  no_log: true

- name: Use the connection of a site file
  ansible.builtin.copy:
    content: "{{ lookup('s3ops.garage.key', 'backup', **(garage_site | s3ops.garage.site(hostvars)).connection).secret_access_key }}"
    dest: /etc/backup/secret
    mode: "0600"
  no_log: true

- name: Several keys, with the connection from the environment
  ansible.builtin.copy:
    content: "{{ item.secret_access_key }}"
    dest: "/etc/app/{{ item.access_key_id }}"
    mode: "0600"
  loop: "{{ query('s3ops.garage.key', 'app', 'GK0123456789abcdef01234567') }}"
  no_log: true
"""

RETURN = r"""
_raw:
  description: The credentials, in the order of the terms.
  type: list
  elements: dict
  contains:
    access_key_id:
      description: The id of the key.
      type: str
      sample: GK0123456789abcdef01234567
    secret_access_key:
      description: Its secret.
      type: str
      sample: "********"
    name:
      description: Its name.
      type: str
      sample: app
"""

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase
from ansible.utils.display import Display

from ansible_collections.s3ops.garage.plugins.module_utils._errors import GarageError, InputError
from ansible_collections.s3ops.garage.plugins.module_utils._plugin import connected, connection_options, told
from ansible_collections.s3ops.garage.plugins.module_utils._readers.credentials import read_credentials


class LookupModule(LookupBase):
    """Names or ids in, credentials out."""

    def run(self, terms, variables=None, **kwargs):
        self.set_options(var_options=variables, direct=kwargs)
        try:
            options = connection_options(self, kwargs)
            if not terms or not all(isinstance(term, str) and term for term in terms):
                raise InputError("give the name or the id of at least one access key, each as a text that is not empty")
            with connected(options, Display().warning, Display().vv) as client:
                return read_credentials(client, terms)
        except GarageError as error:
            raise AnsibleLookupError(told(error)) from None
