# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """Options of the connection to an Admin API, the same in every module."""

    DOCUMENTATION = r"""
options:
  api_url:
    description:
      - Address of the Admin API of one Garage node, for example V(http://127.0.0.1:3903). A path in front of the API is allowed.
      - All requests of a task go to this one node.
      - When unset, the environment variable E(GARAGE_ADMIN_URL) is used. There is no other default. An empty value is an error and not the
        same as unset, so that a variable which was not filled in cannot lead to another cluster.
    type: str
    aliases: [url]
  api_token:
    description:
      - Admin token. Never shown. Mutually exclusive with O(api_token_file).
      - When neither is set, E(GARAGE_ADMIN_TOKEN) or E(GARAGE_ADMIN_TOKEN_FILE) is used.
    type: str
    aliases: [token]
  api_token_file:
    description:
      - File that holds the admin token, read where the module runs. White space around the token is ignored.
    type: path
  validate_certs:
    description:
      - Whether the certificate of an C(https) O(api_url) must be valid.
    type: bool
    default: true
  ca_path:
    description:
      - File with the CA certificates to trust, in PEM format. When unset, E(GARAGE_CA_PATH) is used, then the system's own list.
    type: path
    aliases: [ca_cert]
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
      - A hung node lets its peers wait for their C(rpc_timeout_msec), 300 seconds unless configured otherwise.
    type: float
    default: 60
  retries:
    description:
      - How often a read is tried again after a failure to connect, a time-out, or a 502, 503 or 504 answer; at most 100 times. What cannot pass by
        itself (a certificate that is not trusted, a missing file, an answer that is not Garage's) is not tried again.
      - Writes are never repeated. When it is not known whether a write happened, the state is read again and decided anew, once.
    type: int
    default: 3
  retry_delay:
    description:
      - Seconds before the first retry; doubled each time, up to 30 seconds. At most 3600.
    type: float
    default: 1
  site_role:
    description:
      - Role of the site that this connection belongs to. On a V(follower) nothing that would change the cluster layout is ever sent; such
        work is reported as awaiting the layout writer.
      - Unset behaves as V(writer).
      - E(GARAGE_SITE_ROLE) is read as well; V(follower) in either place wins.
    type: str
    choices: [writer, follower]
  transport:
    description:
      - How requests reach Garage. V(http) is the Admin API at O(api_url).
      - V(exec) runs C(garage json-api) in a pod, through the Kubernetes API, as O(kubernetes) says. Neither a port of the Admin API nor an admin
        token is needed. Whoever may run commands in the pod may do anything with its Garage.
      - V(auto) takes HTTP when O(api_url) and a token are set and an Admin API answers there, else V(exec). It is decided once for a task, by a read,
        and never changed within it. The result says what was chosen in C(transport), which C(-v) shows.
      - When unset, E(GARAGE_TRANSPORT) is used, then V(http).
    type: str
    choices: [http, exec, auto]
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
  - requests (Python library)
  - kubernetes (Python library), for O(transport=exec)
notes:
  - All modules are in the action group C(s3ops.garage.garage), so C(module_defaults) can set the connection once for all of them.
"""
