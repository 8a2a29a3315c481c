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
  transport:
    description:
      - How requests reach Garage. V(http) is the Admin API at O(api_url).
      - V(exec) runs C(garage json-api) in a pod, through the Kubernetes API, as O(kubernetes) says. Neither a port of the Admin API nor an admin
        token is needed. Whoever may run commands in the pod may do anything with its Garage.
      - V(auto) takes HTTP when O(api_url) and a token are set and an Admin API answers there, else V(exec). It is decided once by a read,
        and never changed within it. C(-vv) shows what was chosen.
      - When unset it is V(http).
    type: str
    choices: [http, exec, auto]
    env:
      - name: GARAGE_TRANSPORT
  kubernetes:
    description:
      - In which pod commands are run. Required for O(transport=exec); without it O(transport=auto) is HTTP.
      - The account needs C(list) on C(pods), and C(get) and C(create) on C(pods/exec), in the namespace.
    type: dict
    suboptions:
      namespace:
        description:
          - Namespace of the pod.
        type: str
        required: true
      pod:
        description:
          - Name of the pod. One of this and O(kubernetes.label_selector) is needed.
        type: str
      label_selector:
        description:
          - Labels of pods, as Kubernetes writes a selector. The first by name that is ready is taken, and kept for the whole task; when none is
            ready, the first whose container runs.
        type: str
      container:
        description:
          - Name of the container in which Garage runs.
        type: str
        default: garage
      config_path:
        description:
          - Path of Garage's configuration in that container.
        type: str
        default: /etc/garage/garage.toml
      garage_path:
        description:
          - Path of the program in that container.
        type: str
        default: /garage
      kubeconfig:
        description:
          - File with addresses and credentials of the Kubernetes API. When unset, E(K8S_AUTH_KUBECONFIG) or E(K8S_AUTH_HOST) with
            E(K8S_AUTH_API_KEY), E(K8S_AUTH_SSL_CA_CERT) and E(K8S_AUTH_VERIFY_SSL) are used, then E(KUBECONFIG) or the usual file, then the service
            account of the pod in which Ansible runs.
        type: path
      context:
        description:
          - Context in that file. When unset, E(K8S_AUTH_CONTEXT) is used, then the current one.
        type: str
requirements:
  - requests (Python library), where Ansible runs
  - kubernetes (Python library), where Ansible runs, for O(transport=exec)
"""
