# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A PATH on which every python3.N really starts.

ansible-test takes the first file called python3.N for a Python and fails when it is a version manager's stand-in for
a version that is not selected. The Pythons such a manager has, selected or not, are good to test with, though.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tools.check.stage import point

VERSIONS = tuple(f"3.{minor}" for minor in range(10, 15))


def search_path(links: Path) -> str:
    """Fill the folder ``links`` with one python3.N for each version found and return a PATH that begins with it."""
    found = pythons()
    links.mkdir(parents=True, exist_ok=True)
    for version in VERSIONS:
        link = links / f"python{version}"
        if version in found:
            point(link, Path(found[version]))
        else:
            link.unlink(missing_ok=True)
    return os.pathsep.join([str(links), *map(str, own_folders())])


def pythons() -> dict[str, str]:
    """The interpreter of each version that is found, oldest first."""
    manager = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    candidates = own_folders() + sorted(manager.glob("versions/*/bin"))
    found = {version: next(filter(None, (real_python(folder / f"python{version}") for folder in candidates)), None) for version in VERSIONS}
    return {version: python for version, python in found.items() if python}


def own_folders() -> list[Path]:
    """The folders of PATH in which programs are what they are called."""
    folders = [Path(folder) for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder]
    return [folder for folder in folders if not is_stand_in(folder)]


def is_stand_in(folder: Path) -> bool:
    return folder.name == "shims"


def real_python(file: Path) -> str | None:
    """The interpreter behind ``file``, or None when there is none that can make virtual environments."""
    if not file.is_file():
        return None
    probe = "import ensurepip, os, sys, venv; print(os.path.realpath(sys.executable))"
    outcome = subprocess.run([str(file), "-c", probe], capture_output=True, text=True, check=False)
    return outcome.stdout.strip() if outcome.returncode == 0 else None
