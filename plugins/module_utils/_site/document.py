# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""A site file as a whole: all its faults at once, and the form the roles work with. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from .._errors import InputError
from .._models.layout import LayoutSpec
from .._models.tenancy import PURGES, TenancySpec
from .federation import FOLLOWER, chain, declared_role, members, role_in_chain, writer_faults, writer_host
from .rules import in_pod, rule_faults
from .rules_workload import cluster_faults, zone_faults
from .schema import Fault, schema_faults
from .shape import EDGE_GATEWAYS, HANDLE, entries, misplaced, section, shape, shape_faults
from .warnings import restore_meaning, site_warnings
from .workload import filled, kubernetes, own_nodes, workload

CONNECTION = ("transport", "kubernetes", "api_url", "api_token", "api_token_file", "validate_certs", "ca_path", "client_cert", "client_key", "timeout",
              "retries", "retry_delay")
REMOTE = ("name", "api_url", "api_token", "api_token_file", "validate_certs", "ca_path", "timeout")
LAYOUT = ("apply", "foreign_staged", "preview", "allow_unseen_nodes", "require_settled", "wait", "wait_timeout")


def site_faults(site: Any, hosts: Mapping[str, Mapping], writer: str | None = None) -> list[str]:
    """Everything that is wrong, each with its path and what to do; empty when the roles can work with it.

    ``hosts``: variables by host, for references and for the one writer. ``writer``: the name of the writer's site, when the inventory has one.
    """
    document = {"garage_site": plain(site)}
    found = schema_faults(document)
    texts = [str(fault) for fault in found]
    site = document["garage_site"]
    if not isinstance(site, dict):
        return texts
    texts += [*shape_faults(site), *rule_faults(site, declared_role(site, writer)), *_model_faults(site, found)]
    texts += [*writer_faults(site, hosts, writer), *_reference_faults(site, hosts), *misplaced(site)]
    return list(dict.fromkeys(texts))


def normal_site(site: Mapping, hosts: Mapping[str, Mapping], writer: str | None = None) -> dict:
    """The site as the roles need it. Raises InputError with all faults.

    ``connection`` are options of every module, ``peers`` and ``remotes`` those of cluster_connect, ``layout`` those of the module layout
    (None when the site declares nothing of the layout), ``tenancy`` those of the module tenancy (None likewise). ``workload``, ``kubernetes``
    and ``admin`` are None for a handle.
    """
    if faults := site_faults(site, hosts, writer):
        raise InputError(faults)
    site = plain(site)
    sites = chain(site, hosts)
    role = role_in_chain(sites, writer)
    target = plain(sites[-1])
    peers = [*section(site, "connect_to").get("peers", ()), *(peer for remote in site.get("remotes", ()) for peer in remote.get("peers", ()))]
    return {
        "name": site["name"],
        "zone": site["zone"],
        "shape": shape(site),
        "kubernetes": kubernetes(site),
        "workload": _workload(site, target if len(sites) > 1 else None),
        "admin": None if shape(site) == HANDLE else filled(site, "admin"),
        "site_role": role,
        "writer_host": writer_host(site, hosts),
        "connection": {**_connection(target), **({"site_role": role} if role else {})},
        "peers": peers,
        "remotes": [_only(remote, REMOTE) for remote in site.get("remotes", ()) if "api_url" in remote],
        "layout": _layout(site, role, federated=bool(_joined(site, hosts)) or "remotes" in site),
        "tenancy": {"keys": [], "buckets": [], "admin_tokens": [], **section(site, "tenancy")} if "tenancy" in site else None,
    }


def plain(value: Any) -> Any:
    """The value in plain lists and dictionaries. What is null counts as not set; a date that YAML made of a text is a text again."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value.isoformat() if isinstance(value, date) else value


def _workload(site: Mapping, target: Mapping | None) -> dict | None:
    found = workload(site, target)
    return None if found is None else {**found, "warnings": site_warnings(site), "restore_meaning": restore_meaning(site)}


def _connection(site: Mapping) -> dict:
    """The way to the Admin API of a site."""
    found = section(site, "connect_to")
    if shape(site) == HANDLE or "api_url" in found:
        return _only(found, CONNECTION)
    return {**_only(section(site, "admin"), CONNECTION), **own_nodes(site)}


def _layout(site: Mapping, role: str | None, federated: bool) -> dict | None:
    if shape(site) == HANDLE and not ("layout" in site or "replication" in site):
        return None
    layout, replication = section(site, "layout"), section(site, "replication")
    # A follower that was the writer may still have the nodes of others in its file; the writer of today speaks for them.
    lists = ("nodes",) if role == FOLLOWER else ("nodes", "external_nodes")
    roles = [{"zone": site["zone"], **node} for name in lists for node in layout.get(name, ())]
    owner = {"zones": list(dict.fromkeys([site["zone"], *(role["zone"] for role in roles)])), **layout.get("owner", {})}
    return {
        "roles": roles,
        "owner": owner,
        "purge_roles": layout.get("purge", False),
        **({"replication_factor": replication["factor"]} if "factor" in replication else {}),
        **_only(replication, ("consistency_mode",)),
        **({"assume_peers_consistent": layout.get("assume_peers_consistent", False)} if federated else {}),
        **({"zone_redundancy": str(replication["zone_redundancy"])} if "zone_redundancy" in replication else {}),
        **_only(layout, LAYOUT),
    }


def _only(values: Mapping, names: tuple[str, ...]) -> dict:
    return {name: values[name] for name in names if name in values}


def _model_faults(site: Mapping, found: list[Fault]) -> Iterator[str]:
    """What the models of the modules refuse, in the parts the schema has nothing against."""

    def sound(*path: str | int) -> bool:
        return not any(fault.blocks and fault.path[:len(path) + 1] == ("garage_site", *path) for fault in found)

    def lists(within: str, *names: str) -> list[tuple[str, Mapping]]:
        """The sound entries of the lists ``names``, each with its path."""
        return [(f"garage_site.{within}.{name}[{index}]", entry) for name in names
                for index, entry in entries(section(site, within), name) if sound(within, name, index)]

    nodes = lists("layout", "nodes", "external_nodes")
    zone = {"zone": site["zone"]} if sound("zone") else {}
    replication = section(site, "replication") if sound("replication") else {}
    yield from _refused(LayoutSpec, {
        "roles": [{**zone, **node} for _path, node in nodes],
        "owner": section(section(site, "layout"), "owner") if sound("layout", "owner") else {},
        "zone_redundancy": replication.get("zone_redundancy"),
        "replication_factor": replication.get("factor"),
    }, {"roles": nodes})
    tenancy = {name: lists("tenancy", name) for name in ("keys", "buckets", "admin_tokens")}
    options = {name: value for name, value in section(site, "tenancy").items() if sound("tenancy", name)}
    yield from _refused(TenancySpec, {**options, **{name: [entry for _path, entry in rows] for name, rows in tenancy.items()}}, tenancy)


def _refused(spec: Any, params: Mapping, rows: Mapping[str, list[tuple[str, Mapping]]]) -> Iterator[str]:
    """The faults a model finds, with the paths of the site file in place of those of the options."""
    try:
        spec.from_params(params)
    except InputError as error:
        for fault in error.faults:
            fault = re.sub(r"\b(roles|keys|buckets|admin_tokens)\[(\d+)\]", lambda found: rows[found[1]][int(found[2])][0], fault)
            fault = re.sub(rf"^({'|'.join(PURGES)}|max_in_flight)\b", r"garage_site.tenancy.\1", fault)
            yield re.sub(r"^zone_redundancy", "garage_site.replication.zone_redundancy", fault)


def _reference_faults(site: Mapping, hosts: Mapping[str, Mapping]) -> list[str]:
    try:
        target = chain(site, hosts)[-1]
    except InputError as error:
        return list(error.faults)
    joined = [(f"site {target.get('name')}", target)] if target is not site and shape(site) == EDGE_GATEWAYS else []
    return [*_target_faults(site, target), *cluster_faults(site, [*joined, *_joined(site, hosts)])]


def _target_faults(site: Mapping, target: Mapping) -> Iterator[str]:
    """Whether the site that ``connect_to.site`` leads to has what this one needs of it."""
    if target is site:
        return
    where, kind, found = "garage_site.connect_to.site", shape(target), section(target, "connect_to")
    if kind in (None, HANDLE) and not (in_pod(found) or (found.get("api_url") and (found.get("api_token") or found.get("api_token_file")))):
        yield f"{where}: site {target.get('name')!r} has no connect_to with api_url and a token"
    if shape(site) != EDGE_GATEWAYS:
        return
    if kind in (None, HANDLE) and not section(site, "connect_to").get("rpc_secret_file"):
        yield f"{where}: site {target.get('name')!r} has no nodes of its own, so it has no RPC secret; set connect_to.rpc_secret_file beside site"
    yield from zone_faults(site, target)
    if all(section(one, "replication").get("factor") is None for one in (site, target)):
        yield f"garage_site.replication.factor: is missing here and at site {target.get('name')!r}; set that of the cluster the gateways serve"


def _joined(site: Mapping, hosts: Mapping[str, Mapping]) -> list[tuple[str, Mapping]]:
    """The other sites of the inventory that share a cluster with this one by remotes."""
    name, known = str(site.get("name")), members(hosts)
    own = {str(remote.get("name")) for _index, remote in entries(site, "remotes")}
    near = [member for member in known if member.name != name and (member.name in own or name in member.remotes)]
    return [(f"site {member.name} (host {member.host})", hosts[member.host]["garage_site"]) for member in near]
