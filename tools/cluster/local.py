# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One Kubernetes node on this machine (Linux, root), without any container engine that runs already."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tools.check.paths import ROOT
from tools.cluster import cgroups, go_build, images, network, packages, settings
from tools.cluster.node import IMPORT, PLAN_FILE
from tools.cluster.programs import SOURCES, program
from tools.testbed.cache import Say
from tools.testbed.errors import SetupError
from tools.testbed.garage_binary import obtain as obtain_garage
from tools.testbed.processes import ProcessRef
from tools.testbed.versions import DEFAULT_VERSION
from tools.testbed.waiting import wait_until

END_LIMIT_SECONDS = 60.0
UNSHARE = ("unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "--mount-proc")


def unavailable() -> str | None:
    """Why this machine cannot run a local node, or None."""
    if sys.platform != "linux" or os.uname().machine not in images.ARCHITECTURES:
        return "a local node needs Linux on x86_64 or aarch64"
    if os.geteuid() != 0:
        return "a local node needs root"
    missing = packages.missing()
    if missing:
        return f"a local node needs these packages: {' '.join(missing)} ({packages.HINT})"
    if not network.free():
        return "each network that a local node could have overlaps with a route of this machine"
    return _forbidden() or go_build.unavailable()


def start(home: Path, remember: Any, say: Say) -> Path:
    """Start the node and return the kubeconfig of its administrator; `remember` takes what stop() needs, at once."""
    for source in SOURCES:
        go_build.obtain(source, say)
    folder, addresses = home / "node", network.free()
    assert addresses
    remember({"slot": addresses.slot})
    _prepare(folder, addresses, say)
    with open(folder / "logs" / "node.log", "wb") as log:
        child = subprocess.Popen(
            [
                *UNSHARE,
                *(sys.executable, "-m", "tools.cluster.node", str(folder)),
            ],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    parent = ProcessRef.of(child.pid)
    remember({"process": vars(parent)})
    wait_until("the node's first process", lambda: None if first_process(parent) else "it is not there")
    first = first_process(parent)
    assert first
    remember({"first_process": vars(first)})
    addresses.connect(first.pid)
    return folder / "admin.kubeconfig"


def stop(home: Path, record: dict[str, Any]) -> None:
    """End the node and remove what is left of it; also of one that was killed, or whose start was."""
    parent = ProcessRef(**record["process"]) if "process" in record else None
    first = ProcessRef(**record["first_process"]) if "first_process" in record else None
    if parent and parent.is_alive():
        first = first or first_process(parent)
    for process in (first, parent):
        if process:
            process.signal(signal.SIGKILL)
    for process in (first, parent):
        if process and not process.wait_gone(END_LIMIT_SECONDS):
            raise SetupError(f"process {process.pid} of the node does not end, not even by SIGKILL")
    if parent:
        with contextlib.suppress(ChildProcessError):  # it was started by another process, or collected before
            os.waitpid(parent.pid, 0)
    if "slot" in record:
        addresses = network.Network(record["slot"])
        addresses.disconnect()
        cgroups.remove(addresses.host_link)
    if (home / "node").exists():
        shutil.rmtree(home / "node")


def load(record: dict[str, Any], archive: Path) -> None:
    """Bring an image to the node."""
    target = str(record["first_process"]["pid"])
    command = ["nsenter", "--target", target, "--mount", "--pid", "--net", *IMPORT, str(archive)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SetupError(f"the image {archive.name} cannot be loaded: {done.stderr.strip()}")


def first_process(parent: ProcessRef) -> ProcessRef | None:
    """The first process of the node's PID namespace."""
    children = _children(parent.pid)
    return ProcessRef.of(children[0]) if children else None


def daemon_process(record: dict[str, Any], name: str) -> ProcessRef | None:
    """The running process of one of the node's daemons, such as kube-apiserver."""
    wanted = Path("/usr/bin/containerd") if name == "containerd" else program(name)
    for pid in _children(record["first_process"]["pid"]):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if os.readlink(f"/proc/{pid}/exe") == str(wanted):
                return ProcessRef.of(pid)
    return None


def _forbidden() -> str | None:
    """What root may not do here, as in a container, or None."""
    done = subprocess.run([*UNSHARE, "true"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"a local node needs namespaces of its own: {done.stderr.strip()}"
    if not all(os.access(hierarchy, os.W_OK) for hierarchy in cgroups.hierarchies()):
        return f"a local node needs to write to {cgroups.ROOT}"
    return None


def _prepare(folder: Path, addresses: network.Network, say: Say) -> None:
    folder.mkdir(mode=0o700, parents=True)
    (folder / "logs").mkdir()
    pause, garage = folder / "pause.tar", folder / "garage.tar"
    images.write_pause(program("pause"), pause)
    images.write_garage(obtain_garage(say=say), images.garage_image(DEFAULT_VERSION), garage)
    cgroups.make(addresses.host_link)
    daemons = [asdict(daemon) | {"images": []} for daemon in settings.write(folder, addresses, addresses.host_link)]
    next(daemon for daemon in daemons if daemon["name"] == "containerd")["images"] = [str(pause), str(garage)]
    plan = {"slot": addresses.slot, "daemons": daemons}
    (folder / PLAN_FILE).write_text(json.dumps(plan, indent=2), encoding="utf-8")


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
