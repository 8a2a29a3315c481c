# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses of a local cluster: all of them lie in a network namespace of its own, one veth pair leads there."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from tools.testbed.errors import SetupError

NODE_LINK = "eth0"
BRIDGE = "cni0"
NODE_NETWORK_BITS = 24
API_PORT = 6443
# Clusters of several users or tests at once; each has networks of its own.
SLOTS = range(8)


@dataclass(frozen=True)
class Network:
    """The addresses of the cluster in one slot."""

    slot: int

    @property
    def host_link(self) -> str:
        """This machine's end of the pair, which is gone when the namespace is. A name has at most 15 characters."""
        return f"s3ops-garage{self.slot}"

    @property
    def cluster_network(self) -> str:
        return f"{self._prefix}.0.0/16"

    @property
    def pod_network(self) -> str:
        """What the controller manager gives to the first node."""
        return f"{self._prefix}.0.0/24"

    @property
    def service_network(self) -> str:
        return f"10.{96 + self.slot}.0.0/16"

    @property
    def api_service_address(self) -> str:
        return f"10.{96 + self.slot}.0.1"

    @property
    def host_address(self) -> str:
        return f"{self._prefix}.255.1"

    @property
    def node_address(self) -> str:
        return f"{self._prefix}.255.2"

    @property
    def dns_address(self) -> str:
        """Outside of the service range: kube-proxy drops what goes to a service address that it does not know."""
        return f"{self._prefix}.255.10"

    @property
    def api_url(self) -> str:
        return f"https://{self.node_address}:{API_PORT}"

    @property
    def _prefix(self) -> str:
        return f"10.{244 - self.slot}"

    def is_free(self) -> bool:
        """Whether this machine has neither the link nor a way into one of the networks."""
        told = subprocess.run(["ip", "-4", "route", "show"], capture_output=True, text=True, check=True).stdout
        ours = (f"{self._prefix}.", f"10.{96 + self.slot}.")
        return not is_there(self.host_link) and not any(line.startswith(ours) for line in told.splitlines())

    def connect(self, pid: int) -> None:
        """On this machine: a veth pair into the network namespace of a process, and the ways to pods and Services."""
        ip("link", "add", self.host_link, "type", "veth", "peer", "name", NODE_LINK, "netns", str(pid))
        ip("address", "add", f"{self.host_address}/{NODE_NETWORK_BITS}", "dev", self.host_link)
        ip("link", "set", self.host_link, "up")
        for network in (self.pod_network, self.service_network):
            ip("route", "add", network, "via", self.node_address, "dev", self.host_link)

    def disconnect(self) -> None:
        """On this machine: take the pair away, when it is still there."""
        if is_there(self.host_link):
            # The kernel may be about to do the same, as the other end's namespace has ended.
            ip("link", "delete", self.host_link, may_fail=True)

    def set_up_node(self) -> None:
        """In the namespace: loopback and the node's addresses."""
        ip("link", "set", "lo", "up")
        for address in (self.node_address, self.dns_address):
            ip("address", "add", f"{address}/{NODE_NETWORK_BITS}", "dev", NODE_LINK)
        ip("link", "set", NODE_LINK, "up")
        ip("route", "add", "default", "via", self.host_address)
        with open("/proc/sys/net/ipv4/ip_forward", "w", encoding="ascii") as file:
            file.write("1")


def free() -> Network | None:
    """The addresses of the first slot that nobody uses."""
    return next((network for network in map(Network, SLOTS) if network.is_free()), None)


def is_there(link: str) -> bool:
    return subprocess.run(["ip", "link", "show", link], capture_output=True, check=False).returncode == 0


def ip(*arguments: str, may_fail: bool = False) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0 and not may_fail:
        raise SetupError(f"`ip {' '.join(arguments)}` failed: {done.stderr.strip()}")
