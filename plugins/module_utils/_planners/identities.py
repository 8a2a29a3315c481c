# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which Garage node each pod of a site is, and was. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

RPC_PORT = 3901


def identities(site: str, config_maps: Iterable[Mapping], seen: Iterable[Mapping], host: str, pods: Iterable[str]) -> dict[str, Any]:
    """What is known of the nodes in the pods of a site.

    ``config_maps`` are the live ones of the site: each names the nodes of the site to its own as peers, and so keeps which pod was which node.
    ``seen`` are ``nodes`` of the module kubernetes_node_info. ``host`` is what comes behind the name of a pod in its address. ``pods`` are the names of
    those that belong to the site; what is kept of any other is forgotten.

    The result: ``ids`` (id by pod, as seen, else as kept), ``kept`` (by pod), ``replaced`` (pods that are another node than they were), ``peers``
    (``id@host:port`` of all).
    """
    kept = _kept(site, config_maps)
    now = {row["pod"]: row["id"] for row in seen if row.get("id")}
    own = set(pods)
    ids = {pod: node for pod, node in sorted({**kept, **now}.items()) if pod in own}
    return {
        "ids": ids,
        "kept": kept,
        "replaced": [pod for pod, node in ids.items() if kept.get(pod, node) != node],
        "peers": [f"{node}@{pod}.{host}:{RPC_PORT}" for pod, node in ids.items()],
    }


def _kept(site: str, config_maps: Iterable[Mapping]) -> dict[str, str]:
    pattern = re.compile(rf'"([0-9a-f]{{64}})@([a-z0-9-]+)\.{re.escape(site)}-nodes\.')
    texts = [text for config in config_maps for text in (config.get("data") or {}).values()]
    return {pod: node for text in texts for node, pod in pattern.findall(text)}
