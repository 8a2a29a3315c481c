# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is valid in a site file and yet worth a word. Pure. Private: not for use outside of the collection.

The site has no faults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .rules_config import image_version
from .rules_storage import GROUPS, places
from .shape import HANDLE, entries, section, shape
from .workload import gateway_restore, storage_restore

# It marks each data folder, and compares (seen on 2.5.0, tests/garage/test_server_facts.py).
NO_START = "Garage does not start on an empty disk before the file data_layout is taken out of the metadata of its node"
MEANINGS = {
    "identity": "storage is restored: nodes come back with their identities, their metadata and their data",
    "data_only": "data is restored, metadata is not: nodes come up with new identities and know none of the blocks on their disks; this is no full"
                 " restore",
    "metadata_only": "metadata is restored, data is not: nodes come back with their identities and their place in the layout, and with empty disks;"
                     " blocks that no other node has are lost",
}


def site_warnings(site: Mapping) -> list[str]:
    """All warnings; a handle has none."""
    if shape(site) == HANDLE:
        return []
    return [*_ephemeral(site), *_mode(site), *_addresses(site), *_restore(site), *_config(section(site, "config")), *_image(site)]


def restore_meaning(site: Mapping) -> list[str]:
    """What the sources of a site bring back, in words; empty without any (VG-13 to VG-17)."""
    kind = storage_restore(section(site, "storage"))
    found = [MEANINGS[kind]] if kind in MEANINGS else []
    if gateway_restore(section(site, "gateway")) == "identity":
        found.append("gateways come back with their identities; they hold no data")
    return found


def _ephemeral(site: Mapping) -> Iterator[str]:
    for place in places(site):
        if "empty_dir" not in place.volume:
            continue
        if place.group == "gateway":
            loss = "gateways get new identities and the layout a new version"
        else:
            loss = (f"objects are lost, and with metadata that lasts {NO_START}" if place.data
                    else "nodes get new identities, and the layout has dead nodes")
        yield f"{place.where}.empty_dir: whenever a pod is replaced, {loss}"


def _mode(site: Mapping) -> Iterator[str]:
    if section(site, "replication").get("consistency_mode") == "dangerous":
        yield "garage_site.replication.consistency_mode: dangerous acknowledges writes that one node alone has; they may be lost"


def _addresses(site: Mapping) -> Iterator[str]:
    # OP-027: the address of a pod leads nowhere from another site.
    for group in GROUPS:
        if site.get("remotes") and site.get(group) is not None and not section(site, group).get("rpc_public_addr"):
            yield f"garage_site.{group}.rpc_public_addr: is not set; the other sites reach these nodes only where pod addresses are routed to them"


def _restore(site: Mapping) -> Iterator[str]:
    storage = section(site, "storage")
    if storage_restore(storage) == "metadata_only":
        yield f"garage_site.storage.metadata.data_source_ref: is set without one for data: the old identities come up on empty disks; {NO_START}"
    paths = entries(section(storage, "data"), "paths")
    bare = [index for index, path in paths if "data_source_ref" not in path]
    if bare and len(bare) < len(paths):
        start = f"; {NO_START}" if "data_source_ref" in section(storage, "metadata") else ""
        yield (f"garage_site.storage.data: {', '.join(f'paths[{index}]' for index in bare)} without data_source_ref start empty beside those that are"
               f" restored{start}")


def _config(config: Mapping) -> Iterator[str]:
    where, engine = "garage_site.config", config.get("db_engine", "lmdb")
    consul = section(config, "consul_discovery")
    if consul.get("tls_skip_verify") and "ca_cert" in consul:
        yield f"{where}.consul_discovery.ca_cert: is not looked at with tls_skip_verify"
    for name, wanted in (("lmdb_map_size", "lmdb"), ("fjall_block_cache_size", "fjall")):
        if name in config and engine != wanted:
            yield f"{where}.{name}: has no effect with db_engine {engine}"
    if engine == "fjall" and config.get("metadata_fsync"):
        yield f"{where}.metadata_fsync: fjall does not look at it"


def _image(site: Mapping) -> Iterator[str]:
    if image_version(site) is None:
        yield f"garage_site.image.tag: {section(site, 'image')['tag']!r} names no release, so nothing is checked against what that Garage can do"
