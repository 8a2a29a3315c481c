# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses of the local cluster: all of them lie in a network namespace of its own, one veth pair leads there."""

from __future__ import annotations

import subprocess

from tools.testbed.errors import SetupError

# This machine's end of the pair, which is gone when the namespace is.
HOST_LINK = "s3ops-garage0"
NODE_LINK = "eth0"
BRIDGE = "cni0"
HOST_ADDRESS = "10.244.255.1"
NODE_ADDRESS = "10.244.255.2"
# Outside of the service range: kube-proxy drops what goes to a service address that it does not know.
DNS_ADDRESS = "10.244.255.10"
NODE_NETWORK_BITS = 24
CLUSTER_NETWORK = "10.244.0.0/16"
POD_NETWORK = "10.244.0.0/24"
SERVICE_NETWORK = "10.96.0.0/16"
API_SERVICE_ADDRESS = "10.96.0.1"
API_PORT = 6443


def connect(pid: int) -> None:
    """On this machine: a veth pair into the network namespace of a process, and the ways to pods and Services."""
    ip("link", "add", HOST_LINK, "type", "veth", "peer", "name", NODE_LINK, "netns", str(pid))
    ip("address", "add", f"{HOST_ADDRESS}/{NODE_NETWORK_BITS}", "dev", HOST_LINK)
    ip("link", "set", HOST_LINK, "up")
    for network in (POD_NETWORK, SERVICE_NETWORK):
        ip("route", "add", network, "via", NODE_ADDRESS, "dev", HOST_LINK)


def disconnect() -> None:
    """On this machine: take the pair away, when it is still there."""
    if is_there(HOST_LINK):
        # The kernel may be about to do the same, as the other end's namespace has ended.
        ip("link", "delete", HOST_LINK, may_fail=True)


def set_up_node() -> None:
    """In the namespace: loopback and the node's addresses."""
    ip("link", "set", "lo", "up")
    for address in (NODE_ADDRESS, DNS_ADDRESS):
        ip("address", "add", f"{address}/{NODE_NETWORK_BITS}", "dev", NODE_LINK)
    ip("link", "set", NODE_LINK, "up")
    ip("route", "add", "default", "via", HOST_ADDRESS)
    with open("/proc/sys/net/ipv4/ip_forward", "w", encoding="ascii") as file:
        file.write("1")


def overlapping_route() -> str | None:
    """A route of this machine into one of our networks that is not ours, which would be disturbed."""
    told = subprocess.run(["ip", "-4", "route", "show"], capture_output=True, text=True, check=True).stdout
    ours = ("10.244.", "10.96.")
    return next((line for line in told.splitlines() if line.startswith(ours) and HOST_LINK not in line), None)


def is_there(link: str) -> bool:
    return subprocess.run(["ip", "link", "show", link], capture_output=True, check=False).returncode == 0


def ip(*arguments: str, may_fail: bool = False) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0 and not may_fail:
        raise SetupError(f"`ip {' '.join(arguments)}` failed: {done.stderr.strip()}")
