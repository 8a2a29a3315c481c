# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Kubernetes for the tests: `python -m tools.cluster up|down|status`."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path

from tools.cluster import provider
from tools.cluster.state import Cluster, default_home
from tools.testbed.errors import SetupError
from tools.testbed.garage_binary import say_on_stderr


def up(home: Path) -> int:
    """Start the cluster; it stays until `down`. Prints its kubeconfig."""
    started = time.monotonic()
    cluster = provider.up(keep=True, home=home)
    say_on_stderr(
        f"{cluster.kind} cluster: ready after {time.monotonic() - started:.1f} s; export KUBECONFIG as printed"
    )
    print(cluster.kubeconfig)
    return 0


def down(home: Path) -> int:
    """End the cluster, or what a dead run left of one."""
    started = time.monotonic()
    ended = provider.down(home)
    say_on_stderr(f"ended in {time.monotonic() - started:.1f} s" if ended else "there is no cluster")
    return 0


def status(home: Path) -> int:
    """One line; 1 when there is no cluster that answers."""
    cluster = Cluster.find(home)
    if cluster is None:
        print("there is no cluster")
        return 1
    missing = provider.missing(cluster)
    print(f"{cluster.kind}: {missing or 'ready'}; kubeconfig {cluster.kubeconfig}; image {cluster.image}")
    return 1 if missing else 0


def main() -> int:
    actions = {action.__name__: action for action in (up, down, status)}
    parser = argparse.ArgumentParser(prog="python -m tools.cluster", description=__doc__)
    parser.add_argument("action", choices=actions)
    parser.add_argument("--home", type=Path, default=default_home(), help="folder of its state (default: %(default)s)")
    wanted = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended on the way out
    try:
        return actions[wanted.action](wanted.home.absolute())
    except KeyboardInterrupt:
        return 130
    except SetupError as failed:
        say_on_stderr(f"no cluster: {failed}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
