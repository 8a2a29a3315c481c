# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One Garage node as a local process."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.testbed import config
from tools.testbed.admin_api import AdminApi
from tools.testbed.errors import SetupError
from tools.testbed.files import write_private
from tools.testbed.ports import HOST, Ports, listening_ports, pick_ports
from tools.testbed.processes import ProcessRef
from tools.testbed.waiting import wait_until

# Garage gives open admin connections 10 s after SIGTERM (seen on 2.5.0).
STOP_LIMIT_SECONDS = 15.0
KILL_LIMIT_SECONDS = 10.0
PORT_ATTEMPTS = 5
LOG_LINES_SHOWN = 20
ADDRESS_IN_USE = "Address already in use"


@dataclass(frozen=True)
class NodeSpec:
    """What does not change in the life of a node."""

    name: str
    site: str
    zone: str
    folder: Path
    binary: Path
    replication_factor: int
    rpc_secret_file: Path
    token_file: Path


class PortTaken(SetupError):
    """Another process has one of the node's ports."""


class Node:
    """A node; `on_change` is called whenever its process, ports or identity have changed, to have them written down."""

    def __init__(self, spec: NodeSpec, on_change: Callable[[], None]) -> None:
        self.spec = spec
        self.ports = pick_ports()
        self.node_id: str | None = None
        self.process: ProcessRef | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._on_change = on_change
        self._log_offset = 0

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def zone(self) -> str:
        return self.spec.zone

    @property
    def api_url(self) -> str:
        return f"http://{HOST}:{self.ports.admin}"

    @property
    def s3_url(self) -> str:
        return f"http://{HOST}:{self.ports.s3}"

    @property
    def web_url(self) -> str:
        return f"http://{HOST}:{self.ports.web}"

    @property
    def rpc_address(self) -> str:
        """`<node id>@<host>:<port>`, as ConnectClusterNodes takes it; the node must have been started once."""
        return f"{self.node_id}@{HOST}:{self.ports.rpc}"

    @property
    def config_file(self) -> Path:
        return self.spec.folder / "garage.toml"

    @property
    def log_file(self) -> Path:
        return self.spec.folder / "garage.log"

    @property
    def admin(self) -> AdminApi:
        return AdminApi(self.api_url, self.spec.token_file)

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.is_alive()

    def start(self) -> None:
        """Start the daemon and wait until it answers. Raises SetupError with the end of its log."""
        self.spawn()
        self.await_ready()

    def stop(self) -> None:
        """SIGTERM, then SIGKILL when it has not ended in time."""
        self.terminate()
        self.await_gone()

    def kill(self) -> None:
        """SIGKILL: the node has no chance to say goodbye."""
        if self.process:
            self.process.signal(signal.SIGKILL)
            self.await_gone()

    def pause(self) -> None:
        """SIGSTOP, and wait until it acts: the node hangs, its connections stay open."""
        process = self._signal_running(signal.SIGSTOP)
        wait_until(f"node {self.name} to hang", lambda: None if process.is_stopped() else "it runs")

    def resume(self) -> None:
        """SIGCONT."""
        self._signal_running(signal.SIGCONT)

    def spawn(self) -> None:
        """Start the process, when it does not run already, without waiting for it."""
        if self.is_running:
            return
        self.spec.folder.mkdir(mode=0o700, exist_ok=True)
        spec = self.spec
        text = config.render(spec.folder, self.ports, spec.replication_factor, spec.rpc_secret_file, spec.token_file)
        write_private(self.config_file, text)
        try:
            self._child = self._popen()
        except OSError as broken:
            raise SetupError(f"node {self.name}: {self.spec.binary} cannot be started: {broken}") from None
        self.process = ProcessRef.of(self._child.pid)
        self._on_change()

    def await_ready(self) -> None:
        """Wait until all ports are served by this node; with other ports when somebody was faster.

        Ports stay what they are once the node has an identity: its peers and whoever drives it know them.
        """
        for attempts_left in reversed(range(PORT_ATTEMPTS)):
            try:
                wait_until(f"node {self.name} to listen", self._not_ready)
                break
            except PortTaken:
                self.stop()
                if self.node_id or not attempts_left:
                    raise
                self.ports = pick_ports()
                self.spawn()
        self.node_id = self._own_id()
        self._on_change()

    def terminate(self) -> None:
        """SIGTERM without waiting; a paused node is resumed so that it can act on it."""
        if self.process and self.process.signal(signal.SIGTERM):
            self.process.signal(signal.SIGCONT)

    def await_gone(self) -> None:
        """Wait for the end of a process that was told to end; SIGKILL when it takes too long."""
        if self.process is None:
            return
        if not self.process.wait_gone(STOP_LIMIT_SECONDS):
            self.process.signal(signal.SIGKILL)
            if not self.process.wait_gone(KILL_LIMIT_SECONDS):
                raise SetupError(f"node {self.name}: process {self.process.pid} does not end, not even by SIGKILL")
        if self._child:
            self._child.wait()
        self._child = self.process = None
        self._on_change()

    def log_tail(self) -> str:
        """The end of what the node has written since it was started."""
        return "\n".join(self._log_since_start().splitlines()[-LOG_LINES_SHOWN:])

    def record(self) -> dict[str, Any]:
        """What another process needs to find this node again."""
        return {
            "name": self.name,
            "node_id": self.node_id,
            "ports": vars(self.ports),
            "process": vars(self.process) if self.process else None,
        }

    def restore(self, record: dict[str, Any]) -> None:
        """The reverse of `record`."""
        self.node_id = record["node_id"]
        self.ports = Ports(**record["ports"])
        self.process = ProcessRef(**record["process"]) if record["process"] else None

    def _popen(self) -> subprocess.Popen[bytes]:
        with open(os.open(self.log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as log:
            self._log_offset = log.seek(0, os.SEEK_END)
            # A session of its own: Ctrl-C in the terminal reaches the starter alone, which stops the nodes in order.
            return subprocess.Popen(
                [self.spec.binary, "-c", self.config_file, "server"],
                cwd=self.spec.folder,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _signal_running(self, number: signal.Signals) -> ProcessRef:
        if self.process is None or not self.process.signal(number):
            raise SetupError(f"node {self.name} does not run")
        return self.process

    def _not_ready(self) -> str | None:
        assert self.process
        try:
            listening, foreign = listening_ports(self.process.pid)
        except OSError:  # it has ended, or does so now
            listening, foreign = set(), set()
        if not self.process.is_alive():
            # It ends when the RPC port is taken (2.5.0).
            kind = PortTaken if ADDRESS_IN_USE in self._log_since_start() else SetupError
            raise kind(f"node {self.name} ended while starting; the end of its log:\n{self.log_tail()}")
        missing = set(vars(self.ports).values()) - listening
        if taken := missing & foreign:
            # It runs on without the API whose port is taken, and says so only when it ends (2.5.0).
            raise PortTaken(f"node {self.name}: another process listens on {sorted(taken)}")
        return f"it does not listen on {sorted(missing)} yet" if missing else None

    def _own_id(self) -> str:
        return (self.spec.folder / "metadata" / "node_key.pub").read_bytes().hex()

    def _log_since_start(self) -> str:
        with open(self.log_file, "rb") as log:
            log.seek(self._log_offset)
            return log.read().decode("utf-8", "replace")


def _environment() -> dict[str, str]:
    # GARAGE_* from outside would override the configuration file.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GARAGE_")}
    # Without the threshold glibc keeps the 19 MiB block of each token check: hundreds of MB a node instead of 35.
    return inherited | {"MALLOC_MMAP_THRESHOLD_": "1000000", "RUST_LOG": "garage=info", "NO_COLOR": "1"}
