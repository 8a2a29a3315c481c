# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests of the AWX project, in an environment made from the requirements of its execution environment (``make awx``).

The environment lies in the cache, by what it was made from. The collection itself is built and installed anew each time, as a user gets it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tools.check import importer
from tools.check.paths import CACHE, RESULTS, ROOT, VENV
from tools.check.pythons import pythons
from tools.check.stage import staged_copy
from tools.check.venv import unpacked_collection

PROJECT = ROOT / "awx"
DEFINITION = PROJECT / "execution-environment.yml"
OWN = "s3ops.garage"
# The package of the Python package index that holds each collection, so that no second registry is needed.
PACKAGES = {"kubernetes.core": "ansible==14.5.0", "awx.awx": "ansible==12.3.0"}


class NoPython(Exception):
    """There is no Python that can run what the execution environment names."""


@dataclass(frozen=True)
class Environment:
    """What is in the execution environment: its programs, and the collections beside ours."""

    folder: Path

    @property
    def bin(self) -> Path:
        return self.folder / "venv" / "bin"

    @property
    def collections(self) -> Path:
        return self.folder / "collections"


def definition() -> dict[str, Any]:
    return yaml.safe_load(DEFINITION.read_text(encoding="utf-8"))


def requirements() -> list[str]:
    """Every Python requirement of the definition, with its version."""
    named = definition()["dependencies"]
    lines = (PROJECT / named["python"]).read_text(encoding="utf-8").splitlines()
    return [named["ansible_core"]["package_pip"], named["ansible_runner"]["package_pip"], *(line for line in lines if line and not line.startswith("#"))]


def collections() -> dict[str, str]:
    """Name to version of the collections of the definition."""
    listed = yaml.safe_load((PROJECT / definition()["dependencies"]["galaxy"]).read_text(encoding="utf-8"))
    return {collection["name"]: collection["version"] for collection in listed["collections"]}


def python() -> str:
    """The Python that the definition names, or the next newer one here. Raises NoPython."""
    wanted = definition()["dependencies"]["python_interpreter"]["package_system"].removeprefix("python")
    found = pythons()
    number = {version: tuple(map(int, version.split("."))) for version in {wanted, *found}}
    fit = sorted((version for version in found if number[version] >= number[wanted]), key=number.get)
    if not fit:
        raise NoPython(f"the execution environment needs Python {wanted} or newer, and there is none here")
    return found[fit[0]]


def obtain() -> Environment:
    """The environment, made when it is not there yet. Raises NoPython."""
    interpreter, others = python(), {name: version for name, version in collections().items() if name != OWN}
    key = hashlib.sha256("\n".join([interpreter, *requirements(), *map(str, sorted(others.items()))]).encode()).hexdigest()[:16]
    wanted = CACHE / "awx" / key
    wanted.parent.mkdir(parents=True, exist_ok=True)
    with open(wanted.parent / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two runs at once would delete each other's half-made environment
        if not (wanted / "made").is_file():
            make(wanted, interpreter, others)
    return Environment(wanted)


def make(folder: Path, interpreter: str, others: dict[str, str]) -> None:
    print("==> making the environment that AWX jobs run in", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    run(interpreter, "-m", "venv", str(folder / "venv"))
    pip = [str(folder / "venv" / "bin" / "python"), "-m", "pip", "install", "--quiet", "--progress-bar", "off"]
    run(*pip, "-r", str(ROOT / "requirements" / "pip.txt"))
    run(*pip, *requirements())
    for name, version in others.items():
        namespace, collection = name.split(".")
        target = folder / "collections" / "ansible_collections" / namespace / collection
        shutil.copytree(unpacked_collection(namespace, collection, version, PACKAGES[name]), target)
    (folder / "made").touch()


def install_own(environment: Environment, target: Path) -> None:
    """Build the collection and install it into the folder ``target``, as AWX does when it updates a project."""
    with staged_copy("awx") as staged, tempfile.TemporaryDirectory(prefix="s3ops-garage-") as scratch:
        archive = importer.build(staged, Path(scratch))
        # Its dependencies are there already, and there is no server to ask.
        options = ["--offline", "--no-deps", "--collections-path", str(target)]
        run(str(environment.bin / "ansible-galaxy"), "collection", "install", *options, str(archive), quiet=True)


def run(*command: str, quiet: bool = False) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL if quiet else None)


def main() -> int:
    try:
        obtain()
    except NoPython as lack:
        print(f"==> not run: {lack}", flush=True)
        return 1 if os.environ.get("CI") else 0
    command = [str(VENV / "bin" / "python"), "-m", "pytest", "tests/awx", f"--junit-xml={RESULTS / 'awx.xml'}", *sys.argv[1:]]
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
