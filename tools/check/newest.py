# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The unit tests and every module's tests on the newest ansible-core and the newest Python found (``make newest``).

The lock names the newest ansible-core for every Python that can run it; the other one, on the oldest Python, is what ``make test`` uses. The
environment lies in the cache. Arguments narrow the modules' tests, so that ``… newest bucket`` runs one target.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tools.check.paths import OTHER_VENV, ROOT, STAGE
from tools.check.pythons import pythons

# What the newest ansible-core needs.
FLOOR = (3, 12)
VERSIONS = "import ansible.release, sys; print('==> ansible-core', ansible.release.__version__, 'on Python', sys.version.split()[0], flush=True)"


def main() -> int:
    version, python = newest(pythons())
    if python is None:
        print("==> not run: the newest ansible-core needs Python 3.12 or newer, and there is none here")
        return 0
    venv = STAGE / f"venv-{version}"
    environment = os.environ | {OTHER_VENV: str(venv)}
    inner = str(venv / "bin" / "python")
    for command in ([python, "-m", "tools.check.venv"], [inner, "-c", VERSIONS], [inner, "-m", "pytest", "tests/unit"],
                    [inner, "-m", "tools.check.integration", *sys.argv[1:]]):
        status = subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, check=False).returncode
        if status:
            return status
    return 0


def newest(found: dict[str, str]) -> tuple[str | None, str | None]:
    """The version and the interpreter to use; None twice when none is new enough."""
    fit = [version for version in found if tuple(map(int, version.split("."))) >= FLOOR]
    version = max(fit, key=lambda name: tuple(map(int, name.split("."))), default=None)
    return version, found.get(version) if version else None


if __name__ == "__main__":
    sys.exit(main())
