# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write requirements/dev.txt: every package that requirements/dev.in brings, with its version."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tools.check.paths import ROOT

DIRECT = ROOT / "requirements" / "dev.in"
LOCK = ROOT / "requirements" / "dev.txt"
HEADER = """\
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

# The lock of dev.in: change that file, then run `make lock`.
"""


def main() -> int:
    if sys.version_info[:2] != (3, 11):
        sys.exit("Lock with Python 3.11, the oldest we support: what it can install, newer ones can. Set PYTHON=")
    print("==> resolving", flush=True)
    with tempfile.TemporaryDirectory(prefix="s3ops-garage-") as scratch:
        subprocess.run([sys.executable, "-m", "venv", scratch], check=True)
        python = str(Path(scratch) / "bin" / "python")
        pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "-r", str(ROOT / "requirements" / "pip.txt")], check=True)
        subprocess.run([*pip, "install", "--upgrade", "setuptools", "-r", str(DIRECT)], check=True)
        frozen = subprocess.run([*pip, "freeze", "--all"], check=True, capture_output=True, text=True).stdout
    # A line with a marker differs between Pythons: it is taken as it was written, all else as it was found.
    marked = [line for line in DIRECT.read_text().splitlines() if ";" in line and not line.startswith("#")]
    names = {"pip", *(line.partition("==")[0] for line in marked)}
    found = [line for line in frozen.splitlines() if line.partition("==")[0] not in names]
    LOCK.write_text(HEADER + "\n".join(sorted([*found, *marked], key=str.lower)) + "\n")
    print(f"==> wrote {LOCK.relative_to(ROOT)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
