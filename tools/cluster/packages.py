# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The packages of Debian that the local node needs, installed only with somebody's say-so."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tools.testbed.cache import Say
from tools.testbed.errors import SetupError

VARIABLE = "INSTALL"
HINT = f"{VARIABLE}=yes, as in `make kubernetes {VARIABLE}=yes`, installs them"
# A file or program that tells that a package is there, however it came; then the package.
NEEDED = {
    "containerd": "containerd",
    "ctr": "containerd",
    "runc": "runc",
    "/usr/lib/cni/bridge": "containernetworking-plugins",
    "/usr/lib/cni/host-local": "containernetworking-plugins",
    "nft": "nftables",
    "ip": "iproute2",
    "unshare": "util-linux",
    "mount": "mount",
}


def missing() -> list[str]:
    """The packages that are not there."""
    found = {package for name, package in NEEDED.items() if not _is_there(name)}
    return sorted(found)


def install_if_told(say: Say) -> None:
    """Install what is missing when the environment says so and apt-get is there. Raises SetupError when that fails."""
    wanted = missing()
    if not wanted or os.environ.get(VARIABLE) != "yes" or os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    say(f"installing {' '.join(wanted)}")
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *wanted]):
        done = subprocess.run(["apt-get", *command], env=quiet, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SetupError(f"`apt-get {' '.join(command)}` failed:\n{(done.stdout + done.stderr)[-2000:]}")


def _is_there(name: str) -> bool:
    # The system's own folders are not on everybody's PATH.
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))
    return Path(name).exists() if name.startswith("/") else shutil.which(name, path=path) is not None
