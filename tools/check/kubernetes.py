# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the tests that need a Kubernetes, on a cluster that is there for them.

Where none can be had, what was not run and why is said; that is a failure only on a build machine (CI=true).
Arguments are handed on to pytest.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from tools.check.paths import RESULTS, ROOT, environment
from tools.cluster import provider
from tools.testbed.errors import SetupError


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the cluster is ended on the way out
    try:
        # Before pytest, which would keep back what is said while the programs are built.
        with provider.used() as cluster:
            print(f"==> {cluster.kind} cluster: tests", flush=True)
            return run_tests()
    except provider.Unavailable as reason:
        print(f"==> kubernetes: NOT RUN, as no cluster can be had here: {reason}", flush=True)
        return 1 if os.environ.get("CI") else 0
    except SetupError as failed:
        print(f"==> kubernetes: FAILED: {failed}", flush=True)
        return 1


def run_tests() -> int:
    report = f"--junit-xml={RESULTS / 'kubernetes.xml'}"
    command = [sys.executable, "-m", "pytest", "-n", os.environ.get("WORKERS", "2"), "--dist", "loadfile", "tests/kubernetes", report, *sys.argv[1:]]
    if "-m" not in sys.argv[1:]:
        print("==> the stories marked long are left to `make kubernetes-long`", flush=True)
        command += ["-m", "not long"]
    return subprocess.run(command, cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
