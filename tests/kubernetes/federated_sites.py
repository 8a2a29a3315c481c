# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two sites of one cluster, each in a namespace of its own, and how they join."""

from __future__ import annotations

import json
import secrets
from typing import Any

from tests.garage.playbook_run import Run, run_playbook
from tests.kubernetes.site_driver import PLAYBOOK, Site


class Sites:
    """paris writes the layout, lyon follows. They share the RPC secret, and reach each other's Admin API by the address of its Service."""

    def __init__(self, paris: Site, lyon: Site) -> None:
        self.paris, self.lyon = paris, lyon
        self.tokens = {site.name: secrets.token_hex(32) for site in (paris, lyon)}
        self.share(secrets.token_hex(32))
        for site in (paris, lyon):
            site.change({"credentials": {"admin_token": self.tokens[site.name]}, "replication": {"factor": 2}, "storage": {"replicas": 2}})
        paris.change({"layout": {"site_role": "writer", "assume_peers_consistent": True}})
        lyon.change({"layout": {"site_role": "follower", "purge": True}})

    def share(self, rpc_secret: str | None) -> None:
        """What both site files give as RPC secret; nothing where it is None."""
        for site in (self.paris, self.lyon):
            site.change({"credentials": {"rpc_secret": rpc_secret}})

    def join(self, site: Site, other: Site) -> None:
        """Name ``other``, which runs already, as a remote of ``site``."""
        service = other.namespace.core.read_namespaced_service(f"{other.name}-admin", other.namespace.name)
        way = {"api_url": f"http://{service.spec.cluster_ip}:3903", "api_token": self.tokens[other.name]}
        site.change({"remotes": [{"name": other.name, "zone": other.name, **way}]})

    def inventory(self) -> dict[str, Any]:
        found = self.paris.inventory()
        found["all"]["hosts"] |= self.lyon.inventory()["all"]["hosts"]
        return found

    def play(self, playbook: str, *options: str) -> Run:
        """One run of a playbook on both site files as they are."""
        return run_playbook(playbook, self.inventory(), *options)

    def run(self, *options: str) -> Run:
        """Bring both to their site files."""
        run = self.play(PLAYBOOK, *options)
        assert run.rc == 0, run.output
        return run

    def record(self, site: Site) -> dict[str, Any]:
        """What the site has kept of what the writer has left."""
        kept = site.namespace.core.read_namespaced_config_map(f"{site.name}-layout", site.namespace.name)
        return json.loads(kept.data["record"])
