# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the collection and let Galaxy's own importer judge the archive, with no container and no network."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tools.check.paths import VENV, environment
from tools.check.stage import staged_copy

OFFENCES = ("ERROR:", "WARNING:")


def main() -> int:
    with staged_copy("importer") as staged, tempfile.TemporaryDirectory(prefix="s3ops-garage-") as scratch:
        archive = build(staged, Path(scratch))
        print(f"==> importing {archive.name}, {archive.stat().st_size // 1024} KiB", flush=True)
        outcome = run("python", "-m", "galaxy_importer.main", archive.name, cwd=archive.parent)
    print(outcome.stdout, end="")
    offences = [line for line in outcome.stdout.splitlines() if line.startswith(OFFENCES)]
    if outcome.returncode or offences:
        print(f"The importer found {len(offences)} fault(s): see the lines above", file=sys.stderr)
        return 1
    return 0


def build(staged: Path, scratch: Path) -> Path:
    """Build the archive of the staged copy in the folder ``scratch``."""
    outcome = run("ansible-galaxy", "collection", "build", "--output-path", str(scratch), str(staged), cwd=scratch)
    if outcome.returncode:
        raise SystemExit(outcome.stdout)
    (archive,) = scratch.glob("*.tar.gz")
    return archive


def run(tool: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    variables = environment(
        GALAXY_IMPORTER_ANSIBLE_LOCAL_TMP=str(cwd / "tmp"),
        GALAXY_IMPORTER_RUN_ANSIBLE_TEST="false",  # it would want a container; `make sanity` runs it
    )
    command = [str(VENV / "bin" / tool), *arguments]
    return subprocess.run(
        command,
        cwd=cwd,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


if __name__ == "__main__":
    sys.exit(main())
