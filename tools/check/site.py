# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the documentation site from the guides and from every plugin's and role's own documentation; a warning is an error."""

from __future__ import annotations

import shutil
import subprocess
import sys

from tools.check.paths import ROOT, VENV, environment
from tools.check.venv import site_packages

FOLDER = ROOT / ".cache" / "docs"
HTML = FOLDER / "html"


def main() -> int:
    source = FOLDER / "source"
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree(ROOT / "docs", source, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    reference = source / "reference"
    reference.mkdir(mode=0o755)
    pages = ("--use-current", "--squash-hierarchy", "--fail-on-error", "--dest-dir", str(reference), "s3ops.garage")
    strict = ("-q", "-W", "--keep-going", "-c", str(ROOT / "docs"), "-d", str(FOLDER / "doctrees"))
    built = run("antsibull-docs", "collection", *pages) or run("sphinx-build", *strict, str(source), str(HTML))
    if built == 0:
        print(f"The site is in {HTML.relative_to(ROOT)}: open {HTML / 'index.html'} in a browser")
    return built


def run(name: str, *arguments: str) -> int:
    """Run a tool of the environment, which sees this checkout before a collection of its name that the user has installed."""
    variables = environment(ANSIBLE_COLLECTIONS_PATH=str(site_packages()))
    return subprocess.run([str(VENV / "bin" / name), *arguments], cwd=ROOT, env=variables, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
