# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nodes with the address they are connected to: ``<node id>@<host>:<port>``. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address

from .._errors import InputError
from .._names import is_node_id

PEER_RULE = "<node id, 64 hexadecimal digits>@<host>:<port>, an IPv6 host in brackets"
_PORT = re.compile(r"[0-9]{1,5}")
_HOST = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Peer:
    """A node and where its RPC port is. ``host`` is a name, an IPv4 address, or an IPv6 address without brackets."""

    id: str
    host: str
    port: int

    @property
    def address(self) -> str:
        return join_address(self.host, self.port)

    @property
    def text(self) -> str:
        """As ConnectClusterNodes takes it."""
        return f"{self.id}@{self.address}"


def join_address(host: str, port: int) -> str:
    """``host:port``, with brackets around an IPv6 address (OP-114)."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def split_address(text: str) -> tuple[str, int]:
    """Host and port of ``host:port``. Raises ValueError.

    An IPv6 address without brackets is taken as well; what follows its last colon is the port, because a port is never left out.
    """
    host, colon, port = text.strip().rpartition(":")
    if not colon or not _PORT.fullmatch(port) or not 1 <= int(port) <= 65535:
        raise ValueError(f"{text[:120]!r} has no port between 1 and 65535 at its end")
    bracketed = host.startswith("[") and host.endswith("]")
    host = host[1:-1] if bracketed else host
    if not (_is_ipv6(host) if bracketed or ":" in host else _HOST.fullmatch(host)):
        raise ValueError(f"{text[:120]!r} has no host name, IPv4 or IPv6 address before its port")
    return host, int(port)


def parse_peer(text: str) -> Peer:
    """Raises ValueError that says what is wrong and what is wanted."""
    id, at, address = text.strip().partition("@")
    if not at:
        raise ValueError(f"{text[:120]!r} has no @; wanted: {PEER_RULE}")
    # Garage reads either case and prints lower case.
    id = id.lower()
    if not is_node_id(id):
        raise ValueError(f"{text[:120]!r} does not begin with a node id; wanted: {PEER_RULE}")
    try:
        return Peer(id, *split_address(address))
    except ValueError as error:
        raise ValueError(f"{error}; wanted: {PEER_RULE}") from None


def parse_peers(texts: Iterable[str], option: str) -> tuple[Peer, ...]:
    """All of them, each once. Raises InputError with all faults, each with its place in ``option``."""
    peers, faults = [], []
    for number, text in enumerate(texts):
        try:
            peers.append(parse_peer(text))
        except ValueError as error:
            faults.append(f"{option}[{number}]: {error}")
    if faults:
        raise InputError(faults)
    return tuple(dict.fromkeys(peers))


def _is_ipv6(host: str) -> bool:
    try:
        IPv6Address(host)
    except ValueError:
        return False
    return True
