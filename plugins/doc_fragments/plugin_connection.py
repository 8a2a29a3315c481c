# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """Options of the connection to an Admin API, the same in every plugin that is no module."""

    DOCUMENTATION = r"""
options:
  api_url:
    description:
      - Address of the Admin API of one Garage node, for example V(http://127.0.0.1:3903). A path in front of the API is allowed.
      - There is no default, so that a forgotten address never reaches some other Garage.
    type: str
    env:
      - name: GARAGE_ADMIN_URL
  api_token:
    description:
      - Admin token. Never shown. Mutually exclusive with O(api_token_file).
      - When either of the two is set, both environment variables are passed over.
    type: str
    env:
      - name: GARAGE_ADMIN_TOKEN
  api_token_file:
    description:
      - File that holds the admin token, where Ansible runs. White space around the token is ignored.
    type: path
    env:
      - name: GARAGE_ADMIN_TOKEN_FILE
  validate_certs:
    description:
      - Whether the certificate of an C(https) O(api_url) must be valid.
    type: bool
    default: true
  ca_path:
    description:
      - File with the CA certificates to trust, in PEM format. The system's own list when unset.
    type: path
    env:
      - name: GARAGE_CA_PATH
  client_cert:
    description:
      - Client certificate in PEM format; may hold its key as well.
    type: path
  client_key:
    description:
      - Key of O(client_cert) when that file does not hold it.
    type: path
  timeout:
    description:
      - Seconds to wait for an answer. Connecting is given 10 seconds at the most.
    type: float
    default: 60
  retries:
    description:
      - How often a read is tried again after a failure to connect or a 502, 503 or 504 answer.
    type: int
    default: 3
  retry_delay:
    description:
      - Seconds before the first retry; doubled each time.
    type: float
    default: 1
  site_role:
    description:
      - Taken so that the options of the modules can be handed on as they are. A plugin only reads, whatever this says.
    type: str
    choices: [writer, follower]
requirements:
  - requests (Python library), where Ansible runs
"""
