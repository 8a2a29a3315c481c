# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copy the checkout to where Ansible's own tools want a collection: ansible_collections/s3ops/garage in a git repository."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.check.paths import ROOT, STAGE


@contextmanager
def staged_copy(purpose: str) -> Iterator[Path]:
    """A fresh copy of what git would take, committed or not; a second run for the same purpose waits for its turn."""
    STAGE.mkdir(parents=True, exist_ok=True)
    with open(STAGE / f"{purpose}.lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("==> waiting for another run of the same check", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield copy_to(STAGE / purpose / "ansible_collections" / "s3ops" / "garage")


def copy_to(target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    for name in listed_files():
        source = ROOT / name
        if source.is_symlink() or source.exists():  # git still lists a file that was deleted but not committed
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name, follow_symlinks=False)
    git(target, "init", "--quiet")
    git(target, "add", "--all")
    git(target, "commit", "--quiet", "--message", "staged copy")
    return target


def point(link: Path, target: Path) -> None:
    """Make ``link`` a symbolic link to ``target`` in one step: other runs may be using it."""
    if link.is_symlink() and link.readlink() == target:
        return
    fresh = link.with_name(f"{link.name}.{os.getpid()}")
    fresh.symlink_to(target)
    fresh.replace(link)


def listed_files() -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return sorted(set(filter(None, listed.split("\0"))))


def git(folder: Path, *arguments: str) -> None:
    """Run git without the user's own settings: a signing key or a hook has no place in a throw-away copy."""
    person = {"NAME": "s3ops.garage", "EMAIL": "staged@s3ops.invalid"}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    environment |= {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in person.items()}
    subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True)
