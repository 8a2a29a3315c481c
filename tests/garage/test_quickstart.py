# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make quickstart` and `make quickstart-stop`, in a folder of their own."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tools.quickstart import BIN, CREDENTIALS, NODES, ROOT, recap
from tools.testbed.nodes import Cluster

# Reached only by a hang.
LIMIT_SECONDS = 900


def quickstart(command: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tools.quickstart", command, "--folder", str(folder)],
        cwd=ROOT, env=os.environ | env, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False,
    )  # fmt: skip


def ad_hoc(cluster: Cluster) -> subprocess.CompletedProcess[str]:
    """The line that is printed to be pasted: nothing but the environment says where the Garage is."""
    env = os.environ | {"GARAGE_ADMIN_URL": cluster.api_url, "GARAGE_ADMIN_TOKEN_FILE": str(cluster.token_file)}
    command = [str(BIN / "ansible"), "localhost", "-m", "s3ops.garage.bucket", "-a", "name=pictures"]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)


@pytest.mark.requirement("FC-125", "LW-13", "MH-01")
def test_up_twice_and_stop(garage_binary: Path, tmp_path: Path) -> None:
    folder = tmp_path / "quickstart"
    try:
        first = quickstart("up", folder, GARAGE_BIN=str(garage_binary))
        assert first.returncode == 0, first.stdout + first.stderr
        cluster = Cluster.load(folder / NODES)
        ids, processes = cluster.node_ids, [node.process for node in cluster.nodes]
        for line in (
            "layout   version 1; layout writes received: paris (the writer) 2, lyon (a follower) 0",
            "bucket   media: maxObjects 1000000; maxSize 40000000000; app may read, write",
            "bucket   www.example.org: website; www may read, write",
            "bucket   backups = backups.lyon: app may owner, read, write",
            "object   media/hello.txt: written through paris, read back through lyon, equal",
            "again    the second run changed nothing",
        ):
            assert line in first.stdout.splitlines()
        assert cluster.token not in first.stdout + first.stderr
        assert stat.S_IMODE((folder / CREDENTIALS).stat().st_mode) == 0o600

        assert ad_hoc(cluster).returncode == 0

        cluster.site("lyon").nodes[0].kill()
        again = quickstart("up", folder, GARAGE_BIN=str(garage_binary))
        assert again.returncode == 0, again.stdout + again.stderr
        cluster = Cluster.load(folder / NODES)
        assert cluster.node_ids == ids
        assert [node.process for node in cluster.nodes][:2] == processes[:2]
    finally:
        stopped = quickstart("stop", folder)
    assert stopped.returncode == 0, stopped.stdout + stopped.stderr
    assert not folder.exists()
    assert not any(node.is_running for node in cluster.nodes)
    assert quickstart("stop", folder).returncode == 0


def test_a_failure_is_a_sentence(tmp_path: Path) -> None:
    failed = quickstart("up", tmp_path / "quickstart", GARAGE_BIN=str(tmp_path / "nothing"))
    assert failed.returncode == 1
    assert "GARAGE_BIN" in failed.stderr or str(tmp_path / "nothing") in failed.stderr
    assert "Traceback" not in failed.stderr


def test_recap() -> None:
    lines = ["TASK [x]", "lyon                       : ok=15   changed=2    unreachable=0    failed=0    skipped=4    rescued=0    ignored=0",
             "paris : ok=14 changed=10 unreachable=0 failed=1 skipped=0 rescued=0 ignored=0"]
    assert list(recap(lines)) == [("lyon", 2), ("paris", 10)]
