# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a local cluster could leave on this machine."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tools.testbed.processes import ProcessRef

# Where daemons of a node write when nobody keeps them from it.
FOLDERS = ("/run", "/var/lib", "/var/log", "/opt", "/etc", "/etc/cni", "/var/lib/cni", "/var/lib/kubelet", "/run/netns")
# In the one hierarchy, and in each of the old ones.
CONTROL_GROUPS = ("*garage*", "*/*garage*")
SETTINGS = ("net/ipv4/ip_forward", "net/ipv4/conf/all/route_localnet", "net/bridge/bridge-nf-call-iptables")


def seen() -> set[str]:
    """One line for each thing. What is there after a cluster's end and was not before its start was left by it."""
    found = {
        "mount": _mounts(),
        "address": _told("ip", "-brief", "address"),
        "route": _told("ip", "route"),
        "network namespace": _told("ip", "netns"),
        "nft table": _told("nft", "list", "tables"),
        "control group": [str(path) for form in CONTROL_GROUPS for path in Path("/sys/fs/cgroup").glob(form)],
        "setting": [f"{name} = {_content(Path('/proc/sys', name)).strip()}" for name in SETTINGS],
        "entry": [str(entry) for folder in map(Path, FOLDERS) if folder.is_dir() for entry in folder.iterdir()],
    }
    return {f"{kind} {line}" for kind, lines in found.items() for line in lines}


def descendants(process: ProcessRef) -> list[ProcessRef]:
    """The process and all that it has started, and those in turn."""
    found = [process]
    for each in found:
        for task in Path(f"/proc/{each.pid}/task").iterdir():
            found += [ProcessRef.of(int(pid)) for pid in _content(task / "children").split()]
    return found


def _mounts() -> list[str]:
    # Without the ids and the options, which count what others do.
    lines = _content(Path("/proc/self/mountinfo")).splitlines()
    return [" ".join(line.split()[3:5]) for line in lines]


def _told(*command: str) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.strip() for line in done.stdout.splitlines()]


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
