# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A site from an empty namespace, from where nothing but the Kubernetes API can be reached."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.garage.playbook_run import run_playbook
from tests.kubernetes.island import island
from tests.kubernetes.site_driver import PLAYBOOK, Site
from tools.check.paths import ROOT


@pytest.mark.requirement("FC-085", "MH-15")
def test_the_whole_play_needs_the_kubernetes_api_and_nothing_else(site: Site, tmp_path: Path) -> None:
    site.change({"storage": {"replicas": 1}, "replication": {"factor": 1}, "tenancy": {
        "keys": [{"name": "app"}], "buckets": [{"name": "media", "grants": [{"key": "app", "read": True}]}]}})
    env = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    with island(tmp_path / "socket", site.proxy.port) as within:
        first, again = (run_playbook(PLAYBOOK, site.inventory(), env=env, within=within) for _number in range(2))
        address = site.namespace.core.read_namespaced_service("paris-admin", site.namespace.name).spec.cluster_ip
        connect = f"import socket; socket.create_connection(({address!r}, 3903), 5)"
        asked = subprocess.run([*within, sys.executable, "-c", connect], cwd=ROOT, capture_output=True, text=True, check=False)
    assert first.rc == 0, first.output
    assert "paris: layout version 1, 1 of 1 nodes up, healthy; declared buckets: 1, keys: 1" in first.output
    assert (again.rc, again.changed) == (0, 0), again.output
    # What listens is out of reach from there.
    assert "OSError: [Errno 101] Network is unreachable" in asked.stderr
