# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run ``ansible-test integration`` on a staged copy, against Garage nodes of its own.

Two clusters are started: one that is ready for buckets, keys and grants, and one whose nodes know each other but have
no layout yet. Arguments are handed on, so that ``… integration bucket`` runs one target.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from tools.check.ansible_test import ansible_test
from tools.check.paths import RESULTS
from tools.check.stage import staged_copy
from tools.testbed.files import write_private
from tools.testbed.garage_binary import obtain
from tools.testbed.nodes import Cluster, Site

# Two copies on three nodes: the layout target can take a node out and put it back.
LAYOUT_NODES, LAYOUT_FACTOR = 3, 2


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the nodes are stopped on the way out
    binary = obtain()
    with staged_copy("integration") as staged, tempfile.TemporaryDirectory(prefix="s3ops-garage-") as scratch:
        main_cluster = Cluster(binary, Path(scratch, "main"), [Site("main", "main")], replication_factor=1)
        layout_sites = [Site("layout", "layout", nodes=LAYOUT_NODES)]
        layout_cluster = Cluster(binary, Path(scratch, "layout"), layout_sites, replication_factor=LAYOUT_FACTOR)
        print("==> starting Garage", flush=True)
        with main_cluster, layout_cluster:
            main_cluster.make_ready()
            layout_cluster.connect_all()
            layout_cluster.wait_mesh()
            status = run_targets(staged, target_variables(main_cluster, layout_cluster))
        keep_results(staged / "tests" / "output" / "junit")
    return status


def run_targets(staged: Path, variables: dict[str, object]) -> int:
    settings = staged / "tests" / "integration" / "integration_config.yml"
    write_private(settings, json.dumps(variables, indent=2) + "\n")
    try:
        return ansible_test(staged, "integration", "--local", *sys.argv[1:])
    finally:
        settings.unlink()


def target_variables(main_cluster: Cluster, layout_cluster: Cluster) -> dict[str, object]:
    """What the targets are told. The tokens go from one private file to another and are never printed."""
    return {
        "garage_api_url": main_cluster.api_url,
        "garage_api_token": main_cluster.token,
        "garage_s3_url": main_cluster.s3_url,
        "garage_layout_api_url": layout_cluster.api_url,
        "garage_layout_api_token": layout_cluster.token,
        "garage_layout_node_ids": layout_cluster.node_ids,
        "garage_layout_node_addresses": [node.rpc_address for node in layout_cluster.nodes],
    }


def keep_results(reports: Path) -> None:
    """Put the report of each target where the summary looks for it."""
    shutil.rmtree(RESULTS / "integration", ignore_errors=True)
    if reports.is_dir():
        shutil.copytree(reports, RESULTS / "integration")


if __name__ == "__main__":
    sys.exit(main())
