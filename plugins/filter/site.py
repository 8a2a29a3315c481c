# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: site
short_description: Bring a site file into the form that the roles work with
version_added: 0.1.0
description:
  - Takes the variable C(garage_site) of a host apart into options for the modules of the collection.
  - A site with faults (P(s3ops.garage.site_faults#filter)) is refused with all of them.
  - Needs the Python library C(jsonschema) where C(ansible-playbook) runs.
author:
  - The s3ops.garage contributors (@s3ops)
positional: hosts, writer
options:
  _input:
    description:
      - The site, as C(garage_site) of a host.
    type: dict
    required: true
  hosts:
    description:
      - Variables by host; C(hostvars) in a play. Used for C(connect_to.site) and to find the writer of the layout.
    type: dict
    default: {}
  writer:
    description:
      - Name of the site that writes the layout, where the inventory names it once for all sites.
    type: str
seealso:
  - plugin: s3ops.garage.site_faults
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Look at the buckets of a site, with the connection of its site file
  s3ops.garage.bucket_info:
  module_defaults:
    group/s3ops.garage.garage: "{{ (garage_site | s3ops.garage.site(hostvars)).connection }}"
"""

RETURN = r"""
_value:
  description: The site.
  type: dict
  contains:
    name:
      description: Name of the site.
      type: str
      sample: paris
    zone:
      description: Zone of its nodes.
      type: str
      sample: paris
    shape:
      description: C(storage), C(storage_with_gateways), C(edge_gateways) or C(handle).
      type: str
      sample: handle
    kubernetes:
      description: Where the workload lives, with null for what is not set; null for a management handle.
      type: dict
      sample: {namespace: garage, kubeconfig: null, context: null, create_namespace: true, cluster_domain: cluster.local}
    workload:
      description:
        - What the nodes of the site are made of; null for a management handle. The sections of the site file with their defaults, in plain data.
        - It may hold provided secrets, in C(credentials).
      type: dict
      contains:
        name:
          description: Name of the site.
          type: str
          sample: paris
        zone:
          description: Zone of its nodes.
          type: str
          sample: paris
        shape:
          description: As above.
          type: str
          sample: storage
        image:
          description: Section C(image).
          type: dict
          sample: {repository: docker.io/dxflrs/garage, tag: v2.5.0, pull_policy: IfNotPresent, pull_secrets: []}
        replication:
          description: Section C(replication); for gateways that serve another site of the inventory, filled up from that site.
          type: dict
          sample: {factor: 3, consistency_mode: consistent}
        config:
          description: Section C(config).
          type: dict
          sample: {db_engine: lmdb, s3_api: {s3_region: garage}}
        credentials:
          description:
            - Section C(credentials) with the name of the Secret.
            - C(rpc_secret_from) tells the site that gateways have their RPC secret from, its Secret, and where that lies.
          type: dict
          sample: {secret: paris-garage}
        storage:
          description: Section C(storage), null when there is none.
          type: dict
          sample: {replicas: 3, metadata: {size: 10Gi}, data: {size: 100Gi}, capacity_reserve_percent: 0, tags: [], pod: {}, service: {type: ClusterIP}}
        gateway:
          description: Section C(gateway), null when there is none.
          type: dict
          sample: null
        monitoring:
          description: Section C(monitoring).
          type: dict
          sample: {}
        restore_kind:
          description:
            - What group sources bring back. C(storage) is C(identity), C(data_only), C(metadata_only) or C(none), C(gateway) is C(identity)
              or C(none).
          type: dict
          sample: {storage: identity, gateway: none}
        restore_meaning:
          description: The same in words.
          type: list
          elements: str
          sample: ["storage is restored: nodes come back with their identities, their metadata and their data"]
        warnings:
          description: What is valid and yet worth a word, each with its path.
          type: list
          elements: str
          sample: []
    admin:
      description: Section C(admin) with its defaults; null for a management handle.
      type: dict
      sample: {transport: auto, validate_certs: true, timeout: 60, retries: 3, retry_delay: 1}
    site_role:
      description: C(writer), C(follower), or null when nothing says; null behaves as writer.
      type: str
      sample: writer
    writer_host:
      description: The inventory host whose site writes the layout for this one; null when there is none in the inventory.
      type: str
      sample: paris
    connection:
      description: Options of every module of the collection.
      type: dict
      sample: {api_url: "http://127.0.0.1:3903", api_token_file: /etc/garage/admin-token, site_role: writer}
    peers:
      description: Nodes to connect, as C(nodes) of M(s3ops.garage.cluster_connect).
      type: list
      elements: str
      sample: []
    remotes:
      description: Sites to connect, as C(remotes) of M(s3ops.garage.cluster_connect).
      type: list
      elements: dict
      sample: []
    layout:
      description: Options of M(s3ops.garage.layout); null when the site declares nothing of the layout.
      type: dict
      sample: {roles: [], owner: {zones: [paris]}, purge_roles: false}
    tenancy:
      description: Options of M(s3ops.garage.tenancy); null when the site declares none.
      type: dict
      sample: {keys: [], buckets: []}
"""

from ansible.errors import AnsibleFilterError

from ansible_collections.s3ops.garage.plugins.module_utils._errors import GarageError
from ansible_collections.s3ops.garage.plugins.module_utils._site.document import normal_site


def site(value, hosts=None, writer=None):
    try:
        return normal_site(value, hosts or {}, writer)
    except GarageError as error:
        raise AnsibleFilterError(f"{error.message}; {error.hint}" if error.hint else error.message) from None


class FilterModule:
    """One filter."""

    def filters(self):
        return {"site": site}
