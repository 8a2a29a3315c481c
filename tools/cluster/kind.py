# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster by kind, where a Docker engine answers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from tools.cluster import images
from tools.testbed.cache import Say
from tools.testbed.errors import SetupError
from tools.testbed.garage_binary import obtain as obtain_garage
from tools.testbed.versions import DEFAULT_VERSION

NAME = "s3ops-garage-test"
NODE = f"{NAME}-control-plane"
STORAGE_FOLDER = "/var/s3ops-garage"
WAIT = "180s"
ENGINE_ANSWER_SECONDS = 30


def unavailable() -> str | None:
    """Why kind cannot be used, or None."""
    if not shutil.which("docker") or not _engine_answers():
        return "kind needs a Docker engine, and none answers"
    return (
        None
        if shutil.which("kind")
        else "a Docker engine answers, but kind is not installed (https://kind.sigs.k8s.io)"
    )


def start(home: Path, remember: Any, say: Say) -> Path:
    """Create the cluster and return its kubeconfig, a file of its own: the user's stays as it is."""
    folder = home / "node"
    folder.mkdir(mode=0o700, parents=True)
    kubeconfig = folder / "admin.kubeconfig"
    remember({"kind": NAME})
    say("creating a cluster with kind")
    _run("kind", "create", "cluster", "--name", NAME, "--kubeconfig", str(kubeconfig), "--wait", WAIT)
    archive = folder / "garage.tar"
    images.write_garage(obtain_garage(say=say), images.garage_image(DEFAULT_VERSION), archive)
    load(archive)
    return kubeconfig


def stop(home: Path, record: dict[str, Any]) -> None:
    """Delete the cluster with everything in it."""
    if "kind" in record:
        _run("kind", "delete", "cluster", "--name", NAME, "--kubeconfig", str(home / "node" / "admin.kubeconfig"))
    if (home / "node").exists():
        shutil.rmtree(home / "node")


def load(archive: Path) -> None:
    """Bring an image to the node."""
    _run("kind", "load", "image-archive", str(archive), "--name", NAME)


def on_node(*command: str) -> None:
    _run("docker", "exec", NODE, *command)


def _engine_answers() -> bool:
    try:
        done = subprocess.run(["docker", "info"], capture_output=True, timeout=ENGINE_ANSWER_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _run(*command: str) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SetupError(f"`{' '.join(command)}` failed:\n{(done.stdout + done.stderr).strip()[-2000:]}")
