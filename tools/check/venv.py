# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make .venv: the locked packages, the collections we depend on, and this checkout as a collection.

Run as ``python3 -m tools.check.venv`` with any Python from 3.11 on; needs nothing but the standard library.
Does nothing when the environment already fits.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tools.check.paths import CACHE, ROOT, VENV

REQUIREMENTS = ROOT / "requirements"
STAMP = VENV / "s3ops-garage-stamp"


def main() -> int:
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "venv.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two runs at once would delete each other's half-made environment
        make()
    return 0


def make() -> None:
    key = environment_key()
    if STAMP.is_file() and STAMP.read_text() == key and python_works():
        return
    print(f"==> making {VENV.name} with Python {sys.version.split()[0]}", flush=True)
    shutil.rmtree(VENV, ignore_errors=True)
    run(sys.executable, "-m", "venv", str(VENV))
    pip("install", "--quiet", "-r", str(REQUIREMENTS / "pip.txt"))
    print("==> installing the locked packages", flush=True)
    pip("install", "--quiet", "--progress-bar", "off", "-r", str(REQUIREMENTS / "dev.txt"))
    link_collections(site_packages() / "ansible_collections")
    STAMP.write_text(key)
    print(f"==> {VENV.name} is ready", flush=True)


def environment_key() -> str:
    """One value that changes whenever the environment must be made anew."""
    digest = hashlib.sha256(f"{ROOT}\n{sys.version}\n".encode())
    for file in (*sorted(REQUIREMENTS.glob("*.txt")), Path(__file__)):
        digest.update(file.read_bytes())
    return digest.hexdigest() + "\n"


def python_works() -> bool:
    """Whether the environment's interpreter still starts (it is a link that an upgrade may break)."""
    try:
        subprocess.run([str(VENV / "bin" / "python"), "-c", ""], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def link_collections(target: Path) -> None:
    """Put the dependencies and a link to this checkout where Ansible looks without being told."""
    for line in (REQUIREMENTS / "collections.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, version, package = line.split()
            namespace, collection = name.split(".")
            source = unpacked_collection(namespace, collection, version, package)
            shutil.copytree(source, target / namespace / collection)
    (target / "s3ops").mkdir(parents=True)
    (target / "s3ops" / "garage").symlink_to(ROOT, target_is_directory=True)


def unpacked_collection(namespace: str, collection: str, version: str, package: str) -> Path:
    """The folder of one collection in the cache, unpacked from the wheel ``package`` when it is not there yet."""
    wanted = CACHE / "collections" / f"{namespace}.{collection}-{version}"
    if wanted.is_dir():
        return wanted
    print(f"==> fetching {namespace}.{collection} {version} out of {package}", flush=True)
    wanted.parent.mkdir(parents=True, exist_ok=True)
    prefix = f"ansible_collections/{namespace}/{collection}/"
    with tempfile.TemporaryDirectory(dir=wanted.parent) as scratch:
        # The wheel is pure data for us, so its own Python floor (3.12) does not matter.
        options = ("--quiet", "--no-deps", "--only-binary=:all:", "--python-version", "3.12", "--dest", scratch)
        pip("download", *options, package)
        (wheel,) = Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(scratch, [name for name in archive.namelist() if name.startswith(prefix)])
        unpacked = Path(scratch) / prefix
        if not unpacked.is_dir():
            raise SystemExit(f"{package} does not hold {namespace}.{collection}: correct requirements/collections.txt")
        unpacked.rename(wanted)
    return wanted


def site_packages() -> Path:
    (found,) = VENV.glob("lib/python3.*/site-packages")
    return found


def pip(*arguments: str) -> None:
    run(str(VENV / "bin" / "python"), "-m", "pip", *arguments)


def run(*command: str) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"`{' '.join(map(str, error.cmd))}` failed: see above")
