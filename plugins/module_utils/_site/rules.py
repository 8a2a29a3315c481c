# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rules of a site file that a JSON Schema cannot say. Pure. Private: not for use outside of the collection.

Each function returns faults as text and copes with values of a wrong type, which the schema reports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from .._errors import InputError
from .._models.peer import parse_peers
from .federation import FOLLOWER
from .rules_workload import tag_lists, workload_faults
from .shape import EDGE_GATEWAYS, HANDLE, entries, section, shape

ADMIN_WAYS = ("api_url", "api_token", "api_token_file")
# Prefixes by which an operator of the workload marks what is its own (OP-036). `rpc-address:` is not among them: cluster_connect reads it (OP-116).
RESERVED_TAGS = ("cluster:", "cluster-uid:", "tier:", "node-local-pool:", "kubernetes-node:")
LOOKUP = "\"{{ lookup('ansible.builtin.env', 'GARAGE_ADMIN_TOKEN') }}\""


def rule_faults(site: Mapping, role: str | None) -> list[str]:
    """All faults. ``role`` is the site role that is in force, be it the site's own word or that of the inventory."""
    return [*_connection(site), *_peers(site), *_role(site, role), *_remotes(site), *_nodes(site), *_tags(site), *workload_faults(site)]


def _connection(site: Mapping) -> Iterator[str]:
    kind, target = shape(site), section(site, "connect_to")
    given = [name for name in ADMIN_WAYS if target.get(name)]
    if target.get("site"):
        if given:
            yield f"garage_site.connect_to: site and {', '.join(given)} exclude one another"
    elif kind == HANDLE and not _execs(target) and ("api_url" not in given or len(given) < 2):
        yield _no_admin_api(target, given)
    elif kind == EDGE_GATEWAYS:
        yield from _edge(site, target, given)
    if kind == HANDLE and target.get("rpc_secret_file") and "api_url" in given:
        # MH-21: nothing that a handle does needs the secret.
        yield "garage_site.connect_to.rpc_secret_file: a site with connect_to alone uses only the Admin API; leave rpc_secret_file out"
    yield from _pod(target)
    yield from _token_faults(target, "garage_site.connect_to")
    if target.get("client_key") and not target.get("client_cert"):
        yield "garage_site.connect_to.client_key: needs client_cert"


def in_pod(target: Mapping) -> bool:
    """Whether the Admin API is reached by commands in a pod."""
    return target.get("transport") in ("exec", "auto") and "kubernetes" in target


def _execs(target: Mapping) -> bool:
    return target.get("transport") == "exec" or in_pod(target)


def _pod(target: Mapping) -> Iterator[str]:
    pods, where = section(target, "kubernetes"), "garage_site.connect_to"
    if _execs(target) and "kubernetes" not in target:
        yield f"{where}.kubernetes: is missing; transport exec needs the namespace and the pods to run commands in"
    if "kubernetes" in target and not in_pod(target):
        yield f"{where}.kubernetes: is used by transport exec and auto alone; set transport or leave it out"
    if pods and ("pod" in pods) == ("label_selector" in pods):
        yield f"{where}.kubernetes: set one of pod and label_selector"


def _edge(site: Mapping, target: Mapping, given: list[str]) -> Iterator[str]:
    """OP-037: gateways join the mesh of their cluster, for which they need its RPC secret and one of its nodes."""
    if not (target.get("rpc_secret_file") or any(section(site, "credentials").get(name) for name in ("rpc_secret", "rpc_secret_file"))):
        yield "garage_site.connect_to: gateways need rpc_secret_file, the RPC secret of the cluster they serve, or site"
    if not (given or in_pod(target) or target.get("peers")):
        yield "garage_site.connect_to: gateways need api_url and a token, or peers, of the cluster they serve, or site"
    elif given and ("api_url" not in given or len(given) < 2):
        yield _no_admin_api(target, given)


def _no_admin_api(target: Mapping, given: list[str]) -> str:
    needed = "set api_url and one of api_token and api_token_file, or site, the name of a site of the inventory that has them"
    others = [name for name in ("peers", "rpc_secret_file") if target.get(name)]
    if given == ["api_url"]:
        return f"garage_site.connect_to: api_url without a token; {needed}. A token from the environment is api_token: {LOOKUP}"
    if given:
        return f"garage_site.connect_to: {given[0]} without api_url; {needed}"
    if others:
        return f"garage_site.connect_to: {' and '.join(others)} alone give no way to the Admin API; {needed}"
    return f"garage_site.connect_to: names no Admin API; {needed}"


def _token_faults(target: Mapping, where: str) -> Iterator[str]:
    if target.get("api_token") and target.get("api_token_file"):
        yield f"{where}: api_token and api_token_file exclude one another"


def _peers(site: Mapping) -> Iterator[str]:
    places = [(section(site, "connect_to"), "garage_site.connect_to")]
    places += [(remote, f"garage_site.remotes[{index}]") for index, remote in entries(site, "remotes")]
    for place, where in places:
        peers = place.get("peers")
        if isinstance(peers, list) and all(isinstance(peer, str) for peer in peers):
            try:
                parse_peers(peers, f"{where}.peers")
            except InputError as error:
                yield from error.faults


def _role(site: Mapping, role: str | None) -> Iterator[str]:
    if role != FOLLOWER:
        return
    if shape(site) == EDGE_GATEWAYS:
        # LW-06, LW-43. A handle is another matter: its connect_to is how this site's own Admin API is reached, not the owner of its layout,
        # so a handle may be a follower.
        yield ("garage_site.layout.site_role: gateways that join another cluster (gateway with connect_to) act on that cluster's layout and cannot be"
               " a follower; leave site_role out, and let the writer of that cluster declare the gateways in its external_nodes")
    elif not site.get("remotes") and not section(site, "connect_to").get("site"):
        yield ("garage_site.remotes: a follower needs at least one remote: only the writer at another site can give its nodes a role; name that site"
               " with its zone and its api_url or peers")


def _remotes(site: Mapping) -> Iterator[str]:
    remotes = entries(site, "remotes")
    for index, remote in remotes:
        where = f"garage_site.remotes[{index}]"
        way = bool(remote.get("api_url")), bool(remote.get("api_token") or remote.get("api_token_file"))
        if way == (True, False):
            yield f"{where}: api_url without a token; set api_token or api_token_file, or name the nodes in peers instead of api_url"
        elif way == (False, True):
            yield f"{where}: a token without api_url; set api_url"
        elif not any(way) and not remote.get("peers"):
            yield f"{where}: no way to reach that site; set api_url and a token, or peers, or both"
        yield from _token_faults(remote, where)
        for name in ("name", "zone"):
            if remote.get(name) and remote[name] == site.get(name):
                yield f"{where}.{name}: {remote[name]!r} is this site itself; list only the others"
    for name in ("name", "zone"):
        counted = Counter(str(remote[name]) for _index, remote in remotes if remote.get(name))
        yield from (f"garage_site.remotes: the {name} {value!r} is used {count} times; each remote has one of its own"
                    for value, count in counted.items() if count > 1)


def _nodes(site: Mapping) -> Iterator[str]:
    layout = section(site, "layout")
    if site.get("storage") is not None and layout.get("nodes"):
        # OP-008: one site has its nodes from one place.
        yield ("garage_site.layout.nodes: the nodes of a site with storage are those of its pods; leave nodes out. Nodes that something else runs are a"
               " site of their own (connect_to alone), or external_nodes")
    seen: dict[str, str] = {}
    for part in ("nodes", "external_nodes"):
        for index, node in entries(layout, part):
            where = f"garage_site.layout.{part}[{index}]"
            yield from _node(node, where)
            if part == "nodes" and site.get("zone") and node.get("zone") not in (None, site["zone"]):
                yield f"{where}.zone: {node['zone']!r} is not the zone of this site ({site['zone']!r}); nodes of other zones belong in external_nodes"
            name = str(node.get("node") or "").partition("@")[0]
            first = seen.setdefault(name, where)
            if name and first != where:
                yield f"{where}.node: {name[:16]!r} is declared already in {first.removeprefix('garage_site.')}"


def _node(node: Mapping, where: str) -> Iterator[str]:
    if node.get("state") != "absent" and node.get("capacity") is None and not node.get("gateway"):
        # LW-31: a capacity is never guessed.
        yield f"{where}: set capacity, or gateway: true for a node that stores nothing"


def _tags(site: Mapping) -> Iterator[str]:
    for where, tags in tag_lists(site):
        for tag in tags if isinstance(tags, list) else ():
            if isinstance(tag, str) and tag.startswith(RESERVED_TAGS):
                yield f"{where}: {tag!r} begins with {tag.partition(':')[0]}:, by which an operator marks its own nodes; choose another tag"
