# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: nodes
short_description: The nodes of a Garage cluster as hosts
version_added: 0.1.0
description:
  - Asks one node of a cluster for all nodes, and makes each a host. Takes one request, and works before there is a layout.
  - The file must be named C(garage_nodes.yml) or C(garage_nodes.yaml), or end so, as in C(paris.garage_nodes.yml).
  - A host has the hostname of its node, or the first 16 digits of the node's id where the hostname is not known, is shared by several nodes, or
    looks like the id of one.
  - Nodes tell each other their hostnames, so in the first seconds after they were connected a host may still go by its id.
  - The groups V(storage), V(gateway) and V(no_role) say what a node is in the layout, V(up) and V(down) whether the asked node sees it. They are
    there even when they are empty. Zones and tags make groups too, as V(zone_paris) and V(tag_ssd).
  - What is not allowed in the name of a group becomes an underscore there. The variables of the host have the very name.
  - O(api_url) and O(api_token) may be templates, and O(api_token) may be encrypted by Vault.
  - Garage does not tell where a node is reached by SSH. Set C(ansible_host) with O(compose) where the hostname does not do.
author:
  - The s3ops.garage contributors (@s3ops)
extends_documentation_fragment:
  - s3ops.garage.plugin_connection
  - constructed
  - inventory_cache
options:
  plugin:
    description: Must be V(s3ops.garage.nodes).
    type: str
    required: true
    choices: [s3ops.garage.nodes]
notes:
  - The variables of each host are C(garage_node_id), C(garage_node_hostname), C(garage_node_addr) (host and port of its RPC, from the asked node's
    view), C(garage_node_version), C(garage_node_up), C(garage_node_last_seen_seconds), C(garage_node_draining), C(garage_node_has_role),
    C(garage_node_zone), C(garage_node_capacity) (bytes), C(garage_node_gateway), C(garage_node_tags), C(garage_node_data_partition),
    C(garage_node_metadata_partition) (C(available) and C(total) bytes), and C(garage_node_resync_queue_length). What is not known is null.
seealso:
  - module: s3ops.garage.cluster_info
"""

EXAMPLES = r"""
# garage_nodes.yml, with the address and the token from the environment
---
plugin: s3ops.garage.nodes

# paris.garage_nodes.yml
---
plugin: s3ops.garage.nodes
api_url: https://garage-admin.paris.example.org
api_token_file: /etc/garage/admin-token
cache: true
cache_plugin: ansible.builtin.jsonfile
cache_connection: /tmp/garage-nodes
compose:
  # The host of the RPC address, without its port and without brackets
  ansible_host: garage_node_addr | default('', true) | regex_replace(':[0-9]+$', '') | regex_replace('[][]', '')
groups:
  nearly_full: garage_node_up and garage_node_data_partition.available < 100 * 2 ** 30
keyed_groups:
  - key: garage_node_version
    prefix: garage
"""

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable

from ansible_collections.s3ops.garage.plugins.module_utils._errors import GarageError
from ansible_collections.s3ops.garage.plugins.module_utils._models.inventory import GROUPS, inventory as hosts_of
from ansible_collections.s3ops.garage.plugins.module_utils._plugin import connected, connection_options, told
from ansible_collections.s3ops.garage.plugins.module_utils._readers.cluster import read_status


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):
    """Reads the nodes and fills the inventory."""

    NAME = "s3ops.garage.nodes"

    def verify_file(self, path):
        return super().verify_file(path) and path.endswith(("garage_nodes.yml", "garage_nodes.yaml"))

    def parse(self, inventory, loader, path, cache=True):
        super().parse(inventory, loader, path, cache)
        given = self._read_config_data(path)
        try:
            options = connection_options(self, given)
            hosts = self._hosts(self._filled_in(options), path, cache)
        except GarageError as error:
            raise AnsibleParserError(f"s3ops.garage.nodes: {told(error)}") from None
        for group in GROUPS:
            self.inventory.add_group(group)
        for name, host in hosts.items():
            self._add(name, host)

    def _hosts(self, options, path, cache):
        """From the cache, unless there is none or it is to be made anew."""
        caching = self.get_option("cache")
        # The same file may mean another cluster when the environment says so.
        key = self.get_cache_key(f"{path} {self.get_option('api_url')} {self.get_option('kubernetes')}")
        if caching and cache and key in self._cache:
            return self._cache[key]
        with connected(options, self.display.warning, self.display.vv) as client:
            hosts = hosts_of(read_status(client))
        if caching:
            self._cache[key] = hosts
        return hosts

    def _filled_in(self, options):
        self.templar.available_variables = self._vars
        return {**options, **{name: self.templar.template(options[name]) for name in ("api_url", "api_token", "kubernetes")}}

    def _add(self, name, host):
        self.inventory.add_host(name)
        for variable, value in host["vars"].items():
            self.inventory.set_variable(name, variable, value)
        for group in host["groups"]:
            self.inventory.add_host(name, group=self.inventory.add_group(self._sanitize_group_name(group)))
        strict, variables = self.get_option("strict"), self.inventory.get_host(name).get_vars()
        self._set_composite_vars(self.get_option("compose"), variables, name, strict=strict)
        self._add_host_to_composed_groups(self.get_option("groups"), variables, name, strict=strict)
        self._add_host_to_keyed_groups(self.get_option("keyed_groups"), variables, name, strict=strict)
