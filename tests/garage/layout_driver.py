# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layout of a running cluster: by modules, by what somebody else would send, and the server's own counters."""

from __future__ import annotations

import re
import time
import urllib.request
from dataclasses import dataclass
from typing import Any

from tests.garage.ansible_run import run_module
from tools.testbed.node import Node
from tools.testbed.nodes import Cluster
from tools.testbed.waiting import wait_until

WRITES = ("UpdateClusterLayout", "ApplyClusterLayout", "RevertClusterLayout", "ClusterLayoutSkipDeadNodes")
GB = 10**9
# How long a loaded machine may take to drain an empty layout is no part of any test.
PATIENT = {"wait": True, "wait_timeout": 300, "wait_sleep": 0.5}
RESULT_KEYS = {"layout", "preview", "layout_writer", "site_role", "reason", "pending", "awaiting", "declared", "plan_hash", "record",
               "foreign_writer", "actions", "diff", "changed"}
_COUNTER = re.compile(r'^api_admin_request_counter\{api_endpoint="/v2/(\w+)"\} (\d+)$', re.MULTILINE)


def requests(node: Node) -> dict[str, int]:
    """How often each endpoint of the node was called."""
    token = node.spec.token_file.read_text(encoding="ascii").strip()
    request = urllib.request.Request(f"{node.api_url}/metrics", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
        return {name: int(count) for name, count in _COUNTER.findall(answer.read().decode())}


def settle(node: Node) -> None:
    def draining() -> str | None:
        versions = node.admin.get("GetClusterLayoutHistory")["versions"]
        if all(row["status"] != "Draining" for row in versions):
            return None
        # Each look costs the node more than its share of a synchronisation.
        time.sleep(0.3)
        return "draining"

    wait_until("the layout to settle", draining, limit=300)


@dataclass
class Layout:
    """The layout of a running cluster, driven through its first node: by modules, and by what somebody else would send."""

    cluster: Cluster

    @property
    def node(self) -> Node:
        return self.cluster.nodes[0]

    @property
    def live(self) -> dict[str, Any]:
        return self.node.admin.get("GetClusterLayout")

    @property
    def staged(self) -> list[dict[str, Any]]:
        return self.live["stagedRoleChanges"]

    @property
    def writes(self) -> dict[str, int]:
        counts = requests(self.node)
        return {name: counts.get(name, 0) for name in WRITES}

    def role(self, number: int, **options: Any) -> dict[str, Any]:
        node = self.cluster.nodes[number]
        return {"node": node.node_id, "zone": node.zone, "capacity": "1GB", **options}

    def stage(self, *changes: dict[str, Any]) -> None:
        self.node.admin.post("UpdateClusterLayout", {"roles": list(changes)})

    def reset(self, *numbers: int, redundancy: Any = None) -> None:
        """These nodes have 1 GB each, nobody else has a role, nothing is staged, nothing drains. Tags may be any, the redundancy too if not given.

        A layout change costs every node seconds of CPU: the tests stand in an order in which hardly any is needed here, and pass in any other.
        """
        live = self.live
        if live["stagedRoleChanges"] or live["stagedParameters"]:
            self.node.admin.post("RevertClusterLayout", None)
        found = {role["id"]: (role["zone"], role.get("capacity")) for role in live["roles"]}
        wanted = {self.cluster.nodes[number].node_id: (self.cluster.nodes[number].zone, GB) for number in numbers}
        parameters = {"zoneRedundancy": redundancy} if redundancy else live["parameters"]
        if (found, live["parameters"]) != (wanted, parameters):
            changes = [{"id": id, "zone": zone, "capacity": capacity, "tags": []} for id, (zone, capacity) in wanted.items()]
            gone = [{"id": id, "remove": True} for id in found.keys() - wanted.keys()]
            self.node.admin.post("UpdateClusterLayout", {"roles": changes + gone, "parameters": parameters})
            self.node.admin.post("ApplyClusterLayout", {"version": live["version"] + 1})
        settle(self.node)

    def run(self, *roles: dict[str, Any], check: bool = False, diff: bool = False, **options: Any) -> dict[str, Any]:
        connection = {"api_url": self.node.api_url, "api_token_file": str(self.node.spec.token_file)}
        args = {**PATIENT, **options, **({"roles": list(roles)} if roles else {})}
        return run_module("layout", args, connection, check=check, diff=diff)

    def converge(self, *roles: dict[str, Any], **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The change in check mode and for real. Check mode sends no write and says the same; a second run changes and sends nothing."""
        before, sent = self.live, self.writes
        predicted = self.run(*roles, check=True, diff=True, **options)
        assert (self.live, self.writes) == (before, sent)
        done = self.run(*roles, diff=True, **options)
        sent = self.writes
        again = self.run(*roles, **options)
        assert self.writes == sent
        assert (predicted["rc"], done["rc"], again["rc"]) == (0, 0, 0), (predicted, done, again)
        assert (predicted["changed"], done["changed"], again["changed"]) == (True, True, False)
        assert predicted["actions"] == done["actions"]
        assert predicted["diff"] == done["diff"]
        for result in (predicted, done, again):
            assert result.keys() >= RESULT_KEYS
            assert result["layout"].keys() == done["layout"].keys()
        assert [role["id"] for role in predicted["layout"]["roles"]] == [role["id"] for role in done["layout"]["roles"]]
        assert predicted["layout"]["version"] == done["layout"]["version"] == again["layout"]["version"]
        assert again["diff"] == {"before": {}, "after": {}}
        return predicted, done

    def refused(self, *roles: dict[str, Any], **options: Any) -> dict[str, Any]:
        """The failure of a run that has to leave everything as it was."""
        before = self.live
        result = self.run(*roles, **options)
        assert (result["rc"], result["changed"]) == (2, False)
        assert self.live == before
        return result
