# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole layout runs against a Garage in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.s3ops.garage.plugins.module_utils._argspec import layout_spec, wait_spec
from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._layout_job import run_layout
from tests.fakes.garage import GIB, FakeGarage, FakeTransport
from tests.fakes.garage.partitions import Role

UPDATE, PREVIEW, APPLY, REVERT = "UpdateClusterLayout", "PreviewClusterLayoutChanges", "ApplyClusterLayout", "RevertClusterLayout"
READS = ["GetClusterLayout", "GetClusterStatus", "GetClusterLayoutHistory"]
CAPACITY = "1GiB"


class Site:
    """A Garage in memory with nodes in zones, and a client on its first node."""

    def __init__(self, zones: list[str], factor: int = 1, layout: int = 0, **options: Any) -> None:
        self.garage = FakeGarage(layout=False, replication_factor=factor, **options.pop("garage", {}))
        for dummy in zones[1:]:
            self.garage.add_node()
        self.ids = [node.id for node in self.garage.state.nodes]
        self.zones = dict(zip(self.ids, zones, strict=True))
        if layout:
            self.write({id: Role(self.zones[id], GIB, ()) for id in self.ids[:layout]})
        self.transport = FakeTransport(self.garage, **options)
        self.client = Client(self.transport, retry_delay=0)

    @property
    def state(self) -> Any:
        return self.garage.state.layout

    @property
    def staged(self) -> dict:
        """What a user would see staged."""
        return {id: role for id, role in self.state.staged.items() if role != self.state.current.roles.get(id)}

    @property
    def sent(self) -> list[str]:
        return [sent.endpoint for sent in self.transport.sent]

    @property
    def writes(self) -> list[str]:
        return [sent.endpoint for sent in self.transport.writes]

    def bodies(self, endpoint: str) -> list:
        return [sent.body for sent in self.transport.sent if sent.endpoint == endpoint]

    def write(self, roles: dict[str, Role | None]) -> None:
        """Another writer: stages and applies at this node."""
        self.state.staged.update(roles)
        self.state.apply()
        self.garage.state.settle()

    def role(self, number: int, **options: Any) -> dict:
        return {"node": self.ids[number], "zone": self.zones[self.ids[number]], "capacity": CAPACITY, **options}

    def run(self, *roles: dict, check: bool = False, follower: bool = False, **options: Any) -> tuple[Any, dict]:
        self.client.site_role = "follower" if follower else None
        suboptions = layout_spec()["roles"]["options"]
        params = {name: option.get("default") for name, option in {**layout_spec(), **wait_spec()}.items()} | {"wait_sleep": 0} | options
        params["roles"] = [{name: option.get("default") for name, option in suboptions.items()} | role for role in roles]
        return run_layout(self.client, params, check)


def before_each(endpoint: str, act: Callable[[], None], times: int = 1) -> Callable[[Site], None]:
    """Have ``act`` done right before the first requests to ``endpoint``, as somebody else would."""

    def attach(site: Site) -> None:
        left = [times]
        send = site.transport.send

        def watched(method: str, path: str, query: Any, body: Any, label: str) -> Any:
            if label == endpoint and left[0]:
                left[0] -= 1
                act()
            return send(method, path, query, body, label)

        site.transport.send = watched

    return attach


def drain(site: Site) -> None:
    """Make the second node lag behind."""
    site.garage.state.nodes[1].up = False
    site.write({site.ids[0]: Role("paris", GIB, ("moved",))})
