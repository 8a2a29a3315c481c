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
from tools.cluster import go_build, images, network, packages, settings
from tools.cluster.node import PLAN_FILE
from tools.cluster.programs import SOURCES, program
from tools.testbed.cache import Say
from tools.testbed.errors import SetupError
from tools.testbed.garage_binary import obtain as obtain_garage
from tools.testbed.processes import ProcessRef
from tools.testbed.versions import DEFAULT_VERSION
from tools.testbed.waiting import wait_until

END_LIMIT_SECONDS = 60.0
CGROUPS = Path("/sys/fs/cgroup")
POD_CGROUP = "kubepods"


def unavailable() -> str | None:
    """Why this machine cannot run a local node, or None."""
    if sys.platform != "linux" or os.uname().machine not in images.ARCHITECTURES:
        return "a local node needs Linux on x86_64 or aarch64"
    if os.geteuid() != 0:
        return "a local node needs root"
    missing = packages.missing()
    if missing:
        return f"a local node needs these packages: {' '.join(missing)} ({packages.HINT})"
    if taken := network.overlapping_route():
        return f"this machine has a route into a network of the local node: {taken}"
    return go_build.unavailable()


def start(home: Path, remember: Any, say: Say) -> Path:
    """Start the node and return the kubeconfig of its administrator; `remember` takes what stop() needs, at once."""
    for source in SOURCES:
        go_build.obtain(source, say)
    folder = home / "node"
    _prepare(folder, say)
    remember({"cgroups_before": [str(path) for path in _pod_cgroups()]})
    with open(folder / "logs" / "node.log", "wb") as log:
        child = subprocess.Popen(
            [
                *("unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "--mount-proc"),
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
    network.connect(first.pid)
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
    network.disconnect()
    if "cgroups_before" in record:
        _remove_cgroups(set(_pod_cgroups()) - {Path(name) for name in record["cgroups_before"]})
    shutil.rmtree(home / "node", ignore_errors=False) if (home / "node").exists() else None


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


def _prepare(folder: Path, say: Say) -> None:
    folder.mkdir(mode=0o700, parents=True)
    (folder / "logs").mkdir()
    pause, garage = folder / "pause.tar", folder / "garage.tar"
    images.write_pause(program("pause"), pause)
    images.write_garage(obtain_garage(say=say), DEFAULT_VERSION, garage)
    daemons = [asdict(daemon) | {"images": []} for daemon in settings.write(folder)]
    next(daemon for daemon in daemons if daemon["name"] == "containerd")["images"] = [str(pause), str(garage)]
    (folder / PLAN_FILE).write_text(json.dumps({"daemons": daemons}, indent=2), encoding="utf-8")


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def _pod_cgroups() -> list[Path]:
    """The kubelet's group in the one hierarchy, or in each of the old ones."""
    return [path for path in (CGROUPS / POD_CGROUP, *CGROUPS.glob(f"*/{POD_CGROUP}")) if path.is_dir()]


def _remove_cgroups(groups: set[Path]) -> None:
    for group in groups:
        for folder, _subfolders, _files in os.walk(group, topdown=False):
            os.rmdir(folder)
