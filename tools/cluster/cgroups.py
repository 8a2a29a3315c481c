# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The control group of a local cluster, under which the kubelet makes those of its pods and of nothing else."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from tools.testbed.waiting import wait_until

ROOT = Path("/sys/fs/cgroup")
CONTROLLERS = ("cpu", "cpuset", "memory", "pids", "hugetlb")


def make(name: str) -> None:
    """Make it in the one hierarchy, or in each of the old ones."""
    if _is_unified():
        # The kubelet looks for these in the group that it is given.
        there = (ROOT / "cgroup.controllers").read_text(encoding="ascii").split()
        for controller in set(CONTROLLERS) & set(there):
            (ROOT / "cgroup.subtree_control").write_text(f"+{controller}", encoding="ascii")
    for hierarchy in hierarchies():
        (hierarchy / name).mkdir(exist_ok=True)


def remove(name: str) -> None:
    """Remove it with all below; their processes have ended."""
    for hierarchy in hierarchies():
        for folder, _subfolders, _files in os.walk(hierarchy / name, topdown=False):
            # The kernel lets go of a group a moment after its last process.
            wait_until(f"the end of {folder}", lambda folder=folder: _not_removed(folder))


def _not_removed(folder: str) -> str | None:
    try:
        os.rmdir(folder)
    except OSError as refused:
        if refused.errno != errno.EBUSY:
            raise
        return "it is busy"
    return None


def hierarchies() -> list[Path]:
    """The one hierarchy, or each of the old ones."""
    if _is_unified():
        return [ROOT]
    # Some are links to others: cpu to cpu,cpuacct.
    return [path for path in ROOT.iterdir() if not path.is_symlink() and (path / "cgroup.procs").exists()]


def _is_unified() -> bool:
    return (ROOT / "cgroup.controllers").exists()
