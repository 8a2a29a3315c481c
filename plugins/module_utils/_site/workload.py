# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The workload of a site as the roles need it: the sections as written, with what is not set filled in. Pure. Private: not for use outside of
the collection.
"""

from __future__ import annotations

from collections.abc import Mapping

from .schema import site_schema, with_defaults
from .shape import EDGE_GATEWAYS, HANDLE, entries, section, shape

SECTIONS = ("image", "replication", "config", "storage", "gateway", "monitoring")
KUBERNETES = ("namespace", "kubeconfig", "context", "create_namespace", "cluster_domain")
RESTORE_KINDS = {  # metadata has a source, data has one
    (True, True): "identity",
    (True, False): "metadata_only",
    (False, True): "data_only",
    (False, False): "none",
}


def filled(site: Mapping, name: str) -> dict:
    """The section ``name`` with its defaults; what the schema gives when it is not set."""
    return with_defaults(section(site, name), site_schema()["definitions"][name])


def kubernetes(site: Mapping) -> dict | None:
    """Where the workload lives, None in place of what is not set; None for a handle, which has none."""
    if shape(site) == HANDLE:
        return None
    return {**dict.fromkeys(KUBERNETES), **filled(site, "kubernetes")}


def workload(site: Mapping, target: Mapping | None) -> dict | None:
    """The workload; None for a handle. ``target`` is the site that edge gateways serve, when ``connect_to.site`` names it."""
    kind = shape(site)
    if kind == HANDLE:
        return None
    found = {"name": site["name"], "zone": site["zone"], "shape": kind, **{name: filled(site, name) for name in SECTIONS if name in site}}
    for name in ("image", "config", "monitoring"):
        found.setdefault(name, filled(site, name))
    # The nodes of one cluster have one factor and one mode, so gateways take them from the site they serve.
    found["replication"] = with_defaults({**section(target, "replication"), **section(site, "replication")},
                                         site_schema()["definitions"]["replication"])
    for name in ("storage", "gateway"):
        found[name] = _nodes(found[name], name) if name in found else None
    found["credentials"] = _credentials(site, target)
    found["restore_kind"] = {"storage": storage_restore(section(site, "storage")), "gateway": gateway_restore(section(site, "gateway"))}
    return found


def own_nodes(site: Mapping) -> dict:
    """What leads to the Admin API of a site's own nodes, as options of every module.

    Without an address the pods are the only way: what the environment holds may belong to another Garage (MH-15).
    """
    admin = filled(site, "admin")
    transport = "exec" if admin["transport"] == "auto" and "api_url" not in admin else admin["transport"]
    where = section(site, "kubernetes")
    pods = {**{name: where[name] for name in ("namespace", "kubeconfig", "context") if name in where},
            "label_selector": f"app.kubernetes.io/name=garage,app.kubernetes.io/instance={site['name']}"}
    token = {f"api_{name.removeprefix('admin_')}": value for name, value in section(site, "credentials").items() if name.startswith("admin_")}
    return {"transport": transport, **({} if transport == "http" else {"kubernetes": pods}), **({} if transport == "exec" else token)}


def storage_restore(storage: Mapping) -> str:
    """What the sources of the storage volumes bring back: data_only, identity, metadata_only or none (VG-13 to VG-15)."""
    data = section(storage, "data")
    volumes = [data, *(path for _index, path in entries(data, "paths"))]
    return RESTORE_KINDS["data_source_ref" in section(storage, "metadata"), any("data_source_ref" in volume for volume in volumes)]


def gateway_restore(gateway: Mapping) -> str:
    """Gateways have no data, so their metadata is all of them (VG-17)."""
    return "identity" if "data_source_ref" in section(gateway, "metadata") else "none"


def _nodes(group: Mapping, name: str) -> dict:
    budget = group.get("disruption_budget")
    if budget is None:
        return dict(group)
    # OP-029: no budget for nothing, and a sensible number where none is said.
    if group["replicas"] == 0:
        return {key: value for key, value in group.items() if key != "disruption_budget"}
    if not budget:
        budget = {"min_available": group["replicas"] - 1} if name == "gateway" and group["replicas"] > 1 else {"max_unavailable": 1}
    return {**group, "disruption_budget": budget}


def _credentials(site: Mapping, target: Mapping | None) -> dict:
    found = {"secret": secret_name(site), **section(site, "credentials")}
    if shape(site) == EDGE_GATEWAYS and "rpc_secret_file" in section(site, "connect_to"):
        return {**found, "rpc_secret_file": section(site, "connect_to")["rpc_secret_file"]}
    if target is None:
        return found
    # The Secret of the site that the gateways serve holds the RPC secret of the cluster.
    return {**found, "rpc_secret_from": {"site": target["name"], "secret": secret_name(target), "kubernetes": kubernetes(target),
                                         **{name: value for name, value in section(target, "credentials").items() if name.startswith("rpc_")}}}


def secret_name(site: Mapping) -> str:
    """Name of the Kubernetes Secret with the credentials of a site."""
    return section(site, "credentials").get("secret") or f"{site['name']}-garage"
