# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rules for garage.toml, and for what a release of Garage can do. Pure. Private: not for use outside of the collection.

Each function returns faults as text and copes with values of a wrong type, which the schema reports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_network
from typing import Any

from .._units import parse_size
from .rules_pod import METADATA_DIR
from .schema import site_schema
from .shape import entries, section

SIZES = ("block_size", "block_ram_buffer_max", "lmdb_map_size", "fjall_block_cache_size")
DISCOVERY = ("consul_discovery", "kubernetes_discovery")
OLDEST = (2, 0, 0)  # the first with the Admin API v2
# The two that panic at the start when a discovery is on (upstream 1416, 1526, 1532, 1536), mended in 2.4.1.
BROKEN_DISCOVERY = ((2, 3, 0), (2, 4, 0))
# Older servers ignore keys of garage.toml that they do not know, without a word.
CONFIG_SINCE = {
    "fjall_block_cache_size": (2, 1, 0),
    "block_max_concurrent_reads": (2, 1, 0),
    "block_max_concurrent_writes_per_request": (2, 2, 0),
}
# Older servers take these with a 200 and drop them.
BUCKET_SINCE = {"lifecycle_rules": (2, 3, 0), "cors_rules": (2, 3, 0)}
LOOSE_KEYS = (2, 3, 0)  # since then a key may be imported under any id
_TAG = re.compile(r"v?([0-9]{1,4})\.([0-9]{1,4})\.([0-9]{1,4})(?![0-9.])")
_STRICT_ID = re.compile(r"GK[0-9a-f]{24}")


def image_version(site: Mapping) -> tuple[int, int, int] | None:
    """The release that the image's tag names; None when it names none, and nothing is refused by it then."""
    tag = section(site, "image").get("tag", site_schema()["definitions"]["image"]["properties"]["tag"]["default"])
    found = _TAG.match(tag) if isinstance(tag, str) else None
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def config_faults(site: Mapping) -> Iterator[str]:
    """All faults of the section config."""
    config, where = section(site, "config"), "garage_site.config"
    for name in SIZES:
        if name in config:
            try:
                parse_size(config[name])
            except ValueError as error:
                yield f"{where}.{name}: {error}"
    yield from _subnet(config.get("rpc_public_addr_subnet"), f"{where}.rpc_public_addr_subnet")
    yield from _consul(section(config, "consul_discovery"), f"{where}.consul_discovery")
    yield from _snapshots(site, config.get("metadata_snapshots_dir"), f"{where}.metadata_snapshots_dir")


def version_faults(site: Mapping) -> Iterator[str]:
    """What the release that the image names cannot do (OP-045)."""
    version = image_version(site)
    if version is None:
        return
    if version < OLDEST:
        yield f"garage_site.image.tag: {_dotted(version)} has no Admin API v2; Garage {_dotted(OLDEST)} or newer is needed"
        return
    yield from _config_since(section(site, "config"), version)
    yield from _tenancy_since(section(site, "tenancy"), version)


def _config_since(config: Mapping, version: tuple[int, int, int]) -> Iterator[str]:
    where = "garage_site.config"
    if version in BROKEN_DISCOVERY:
        yield from (f"{where}.{name}: Garage {_dotted(version)} does not start with it; set image.tag to v2.4.1 or newer, or leave {name} out"
                    for name in DISCOVERY if name in config)
    yield from (_too_old(f"{where}.{name}", version, since) for name, since in CONFIG_SINCE.items() if name in config and version < since)
    if config.get("db_engine") == "fjall" and version < (2, 1, 0):
        yield _too_old(f"{where}.db_engine", version, (2, 1, 0))
    if "datacenters" in section(config, "consul_discovery") and version < (2, 2, 0):
        yield _too_old(f"{where}.consul_discovery.datacenters", version, (2, 2, 0))


def _tenancy_since(tenancy: Mapping, version: tuple[int, int, int]) -> Iterator[str]:
    for index, bucket in entries(tenancy, "buckets"):
        where = f"garage_site.tenancy.buckets[{index}]"
        yield from (_too_old(f"{where}.{name}", version, since) for name, since in BUCKET_SINCE.items() if bucket.get(name) and version < since)
        if section(bucket, "website").get("routing_rules") and version < (2, 3, 0):
            yield _too_old(f"{where}.website.routing_rules", version, (2, 3, 0))
    for index, key in entries(tenancy, "keys"):
        id = key.get("id")
        if version < LOOSE_KEYS and isinstance(id, str) and key.get("secret_access_key") and not _STRICT_ID.fullmatch(id):
            yield (f"garage_site.tenancy.keys[{index}].id: Garage {_dotted(version)} imports only ids of GK and 24 hexadecimal digits; others need"
                   f" {_dotted(LOOSE_KEYS)}")


def _too_old(where: str, version: tuple, since: tuple) -> str:
    return f"{where}: Garage {_dotted(version)} ignores it; set image.tag to v{_dotted(since)} or newer, or leave it out"


def _dotted(version: tuple) -> str:
    return ".".join(str(part) for part in version)


def _subnet(value: Any, where: str) -> Iterator[str]:
    # A wrong one makes the server panic at its start.
    if isinstance(value, str):
        try:
            ip_network(value)
        except ValueError:
            yield f"{where}: {value[:80]!r} is no network; wanted as 10.0.0.0/8, with no bits set after its prefix"


def _consul(consul: Mapping, where: str) -> Iterator[str]:
    """OP-033."""
    for name, other in (("client_cert", "client_key"), ("client_key", "client_cert")):
        if name in consul and other not in consul:
            yield f"{where}.{name}: needs {other}"
    if consul.get("api") == "agent" and "client_cert" in consul:
        yield f"{where}.client_cert: Garage shows it to the catalog API alone; set api: catalog or leave client_cert and client_key out"


def _snapshots(site: Mapping, folder: Any, where: str) -> Iterator[str]:
    """The root of the pod cannot be written, so snapshots need a volume."""
    if not isinstance(folder, str):
        return
    for group in ("storage", "gateway"):
        mounts = entries(section(section(site, group), "pod"), "volume_mounts")
        roots = [METADATA_DIR, *(str(mount.get("mountPath")).rstrip("/") for _index, mount in mounts)]
        if site.get(group) is not None and not any(f"{folder}/".startswith(f"{root}/") for root in roots):
            yield f"{where}: {folder[:80]!r} lies in no volume of the {group} pods; mount one there by {group}.pod.volumes and volume_mounts"
