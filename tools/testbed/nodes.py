# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster of local Garage nodes in one or several sites."""

from __future__ import annotations

import json
import re
import secrets
import shutil
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from tools.testbed.config import REGION
from tools.testbed.errors import SetupError
from tools.testbed.files import write_private
from tools.testbed.node import Node, NodeSpec
from tools.testbed.waiting import wait_until

STATE_FILE = "state.json"
DESCRIPTION_FILE = "cluster.json"
RPC_SECRET_FILE = "rpc_secret"
TOKEN_FILE = "admin-token"
GIB = 1024**3
_SITE_NAME = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True)
class Site:
    """What to start: a number of nodes in one zone, driven with one admin token."""

    name: str
    zone: str
    nodes: int = 1


class RunningSite:
    """The nodes of a site; the URLs are those of its first node."""

    def __init__(self, site: Site, token_file: Path, nodes: list[Node]) -> None:
        self.name = site.name
        self.zone = site.zone
        self.token_file = token_file
        self.nodes = nodes

    @property
    def api_url(self) -> str:
        return self.nodes[0].api_url

    @property
    def s3_url(self) -> str:
        return self.nodes[0].s3_url

    @property
    def web_url(self) -> str:
        return self.nodes[0].web_url

    @property
    def token(self) -> str:
        return self.token_file.read_text(encoding="ascii").strip()

    @property
    def node_ids(self) -> list[str]:
        """64 hexadecimal digits each, in the order of the nodes."""
        return [node.node_id for node in self.nodes if node.node_id]


class Cluster:
    """Nodes with one RPC secret. As a context manager it starts on entry; on exit it stops and removes everything."""

    def __init__(self, binary: Path, folder: Path, sites: list[Site], replication_factor: int = 3) -> None:
        _check(sites, replication_factor)
        self.binary = binary.absolute()
        self.folder = folder.absolute()
        self.replication_factor = replication_factor
        self.wanted_sites = sites
        self.sites = [self._running_site(site) for site in sites]
        self.nodes = [node for site in self.sites for node in site.nodes]

    @classmethod
    def load(cls, folder: Path) -> Cluster:
        """The cluster that was started in this folder, maybe by another process. Raises SetupError."""
        path = folder / STATE_FILE
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise SetupError(f"no cluster was started in {folder}: there is no {STATE_FILE}") from None
        sites = [Site(**site) for site in state["sites"]]
        cluster = cls(Path(state["binary"]), folder, sites, state["replication_factor"])
        for node, record in zip(cluster.nodes, state["nodes"], strict=True):
            node.restore(record)
        return cluster

    def __enter__(self) -> Cluster:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self.remove()

    def site(self, name: str) -> RunningSite:
        """The site of that name."""
        return next(site for site in self.sites if site.name == name)

    @property
    def api_url(self) -> str:
        """Of the first node of the first site, as the other URLs."""
        return self.sites[0].api_url

    @property
    def s3_url(self) -> str:
        return self.sites[0].s3_url

    @property
    def web_url(self) -> str:
        return self.sites[0].web_url

    @property
    def token_file(self) -> Path:
        return self.sites[0].token_file

    @property
    def token(self) -> str:
        return self.sites[0].token

    @property
    def node_ids(self) -> list[str]:
        return [node_id for site in self.sites for node_id in site.node_ids]

    def start(self) -> None:
        """Start the nodes that do not run and wait until each answers; they do not know each other yet.

        Nothing is left running when it fails or is interrupted. Raises SetupError.
        """
        self._prepare_folder()
        try:
            for node in self.nodes:
                node.spawn()
            for node in self.nodes:
                node.await_ready()
        except BaseException:
            self.stop()
            raise
        write_private(self.folder / DESCRIPTION_FILE, json.dumps(self.describe(), indent=2) + "\n")

    def stop(self) -> None:
        """Stop all nodes at once; their folders stay."""
        for node in self.nodes:
            node.terminate()
        for node in self.nodes:
            node.await_gone()

    def remove(self) -> None:
        """Remove what was made in the folder, and the folder when nothing else is in it."""
        if any(node.is_running for node in self.nodes):
            raise SetupError(f"nodes run in {self.folder}: stop them first")
        for site in self.wanted_sites:
            shutil.rmtree(self.folder / site.name, ignore_errors=not (self.folder / site.name).exists())
        for name in (RPC_SECRET_FILE, DESCRIPTION_FILE, STATE_FILE):
            (self.folder / name).unlink(missing_ok=True)
        if self.folder.exists() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def connect_all(self) -> None:
        """Have every node connect to every other: told to one node alone, the others need 1 to 2 s more."""
        for node in self.nodes:
            others = [other.rpc_address for other in self.nodes if other is not node]
            answers = node.admin.post("ConnectClusterNodes", others)
            # The answer is HTTP 200 even when every connection failed.
            for other, answer in zip(others, answers, strict=True):
                if not answer["success"]:
                    raise SetupError(f"node {node.name} cannot connect to {other}: {answer['error']}")

    def wait_mesh(self) -> None:
        """Wait until every node sees every node; one that does says nothing about the others."""
        for node in self.nodes:
            wait_until(f"node {node.name} to see {len(self.nodes)} nodes", partial(self._unmeshed, node))

    def apply_layout(self, capacity: int = GIB) -> None:
        """Give each node a storage role in its site's zone, tagged with the site's name, `capacity` in bytes."""
        first = self.nodes[0].admin
        roles = [
            {"id": node.node_id, "zone": node.zone, "capacity": capacity, "tags": [node.spec.site]}
            for node in self.nodes
        ]
        staged = first.post("UpdateClusterLayout", {"roles": roles})
        first.post("ApplyClusterLayout", {"version": staged["version"] + 1})

    def wait_healthy(self) -> None:
        """Wait until every node sees every node and finds the cluster healthy.

        A node that was stopped or hangs is noticed late (8 s, 83 s): after such a thing this proves nothing.
        """
        for node in self.nodes:
            wait_until(f"node {node.name} to be healthy", partial(self._unhealthy, node))

    def make_ready(self) -> None:
        """Connect the nodes, apply a first layout when there is none, wait until all is healthy."""
        self.connect_all()
        self.wait_mesh()
        if self.nodes[0].admin.get("GetClusterLayout")["version"] == 0:
            self.apply_layout()
        self.wait_healthy()

    def describe(self) -> dict[str, Any]:
        """Where everything is, without secrets: the content of the description file in the folder."""
        return {
            "replication_factor": self.replication_factor,
            "region": REGION,
            "sites": [
                {
                    "name": site.name,
                    "zone": site.zone,
                    "token_file": str(site.token_file),
                    "api_url": site.api_url,
                    "s3_url": site.s3_url,
                    "web_url": site.web_url,
                    "nodes": [_describe(node) for node in site.nodes],
                }
                for site in self.sites
            ],
        }

    def _running_site(self, site: Site) -> RunningSite:
        folder = self.folder / site.name
        token_file = folder / TOKEN_FILE
        specs = [
            NodeSpec(
                name=f"{site.name}-{number}",
                site=site.name,
                zone=site.zone,
                folder=folder / f"{site.name}-{number}",
                binary=self.binary,
                replication_factor=self.replication_factor,
                rpc_secret_file=self.folder / RPC_SECRET_FILE,
                token_file=token_file,
            )
            for number in range(1, site.nodes + 1)
        ]
        return RunningSite(site, token_file, [Node(spec, self._save) for spec in specs])

    def _prepare_folder(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (self.folder / STATE_FILE).exists() and any(self.folder.iterdir()):
            raise SetupError(f"{self.folder} holds other things: name a new or an empty folder")
        self._save()
        for path in [self.folder / RPC_SECRET_FILE, *(site.token_file for site in self.sites)]:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            if not path.exists():
                # Hexadecimal: Garage never accepts a configured admin token that contains a dot.
                write_private(path, secrets.token_hex(32))

    def _save(self) -> None:
        state = {
            "binary": str(self.binary),
            "replication_factor": self.replication_factor,
            "sites": [asdict(site) for site in self.wanted_sites],
            "nodes": [node.record() for node in self.nodes],
        }
        write_private(self.folder / STATE_FILE, json.dumps(state, indent=2) + "\n")

    def _unmeshed(self, node: Node) -> str | None:
        connected = node.admin.get("GetClusterHealth")["connectedNodes"]
        return None if connected == len(self.nodes) else f"it sees {connected}"

    def _unhealthy(self, node: Node) -> str | None:
        health = node.admin.get("GetClusterHealth")
        if health["status"] == "healthy" and health["connectedNodes"] == len(self.nodes):
            return None
        return f"status {health['status']}, connected to {health['connectedNodes']} of {len(self.nodes)}"


def _describe(node: Node) -> dict[str, Any]:
    return {
        "name": node.name,
        "node_id": node.node_id,
        "api_url": node.api_url,
        "s3_url": node.s3_url,
        "web_url": node.web_url,
        "rpc_address": node.rpc_address,
    }


def _check(sites: list[Site], replication_factor: int) -> None:
    names = [site.name for site in sites]
    if not sites or len(set(names)) != len(names):
        raise SetupError(f"sites need names that differ: {names}")
    for site in sites:
        if not _SITE_NAME.fullmatch(site.name):
            raise SetupError(f"site name {site.name!r}: lower-case letters, digits and dashes, beginning with a letter")
        if site.nodes < 1:
            raise SetupError(f"site {site.name}: at least one node")
    if replication_factor < 1:
        raise SetupError(f"replication factor {replication_factor}: at least 1")
