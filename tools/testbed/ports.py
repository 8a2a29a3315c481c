# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Free loopback ports."""

from __future__ import annotations

import contextlib
import os
import random
import socket
from dataclasses import dataclass
from pathlib import Path

from tools.testbed.errors import SetupError

HOST = "127.0.0.1"
LOWEST = 10240
DEFAULT_EPHEMERAL_START = 32768
TCP_LISTEN = "0A"


@dataclass(frozen=True)
class Ports:
    """The loopback TCP ports of one node."""

    rpc: int
    admin: int
    s3: int
    web: int


def pick_ports() -> Ports:
    """Four ports that are free now. Nobody can reserve them, so whoever binds them must be ready to pick again.

    They lie below the kernel's ephemeral range: from that range an outgoing connection of any process could take a
    port between the picking and the binding, or while a node is stopped in a test.
    """
    numbers: list[int] = []
    with contextlib.ExitStack() as held:
        for number in random.sample(range(LOWEST, _ephemeral_start()), k=200):
            if len(numbers) == 4:
                break
            candidate = held.enter_context(socket.socket())
            # As the node does it, so that connections in TIME_WAIT do not count.
            candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                candidate.bind((HOST, number))
                numbers.append(number)
    if len(numbers) < 4:
        raise SetupError(f"no four free TCP ports on {HOST} between {LOWEST} and {_ephemeral_start()}")
    return Ports(*numbers)


def listening_ports(pid: int) -> tuple[set[int], set[int]]:
    """The TCP ports on which this very process listens, and those on which others do.

    That a connection is accepted would not tell by whom. Raises OSError when the process has ended.
    """
    # The table before the sockets: whatever of ours is in the one is then in the other.
    inodes = _listening_inodes(pid, "tcp") | _listening_inodes(pid, "tcp6")
    sockets = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed since it was listed
            sockets.add(os.readlink(entry))
    own = {port for inode, port in inodes.items() if f"socket:[{inode}]" in sockets}
    return own, set(inodes.values()) - own


def _listening_inodes(pid: int, table: str) -> dict[str, int]:
    try:
        lines = Path(f"/proc/{pid}/net/{table}").read_text(encoding="ascii").splitlines()[1:]
    except FileNotFoundError:  # a kernel without IPv6
        return {}
    # proc(5): local address, remote address and state are fields 2 to 4, the inode is field 10.
    fields = (line.split() for line in lines)
    return {field[9]: int(field[1].rpartition(":")[2], 16) for field in fields if field[3] == TCP_LISTEN}


def _ephemeral_start() -> int:
    try:
        start = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()[0])
    except OSError:
        return DEFAULT_EPHEMERAL_START
    # A machine may open the range down to 1024; then there is no better place than the usual one.
    return start if start >= LOWEST + 1000 else DEFAULT_EPHEMERAL_START
