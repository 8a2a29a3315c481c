# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API server ends, and is there again, while a site is brought to its site file. On a cluster of the test's own, since all who use it see that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kubernetes.site_driver import POD_TIMEOUT, Site
from tests.kubernetes.test_site_faults import Play, healthy
from tools.cluster import local, provider
from tools.cluster.faults import kill_api_server
from tools.testbed.waiting import wait_until

pytestmark = pytest.mark.long


@pytest.mark.requirement("OP-120", "FC-100")
def test_the_api_server_is_restarted_in_the_middle_of_a_play(home: Path, tmp_path: Path) -> None:
    cluster = provider.up(keep=True, home=home)
    site = Site(cluster, tmp_path)
    try:
        # Between two writes, and while pods are waited for.
        for number, moment in enumerate(("PATCH .*/statefulsets/paris-storage-1$", "GET .*/pods$")):
            before = local.daemon_process(cluster.record, "kube-apiserver")
            site.proxy.take()
            play = Play(site, tmp_path / str(number))
            site.proxy.wait_for(moment, POD_TIMEOUT)
            kill_api_server(cluster)
            ended, said = play.wait(), play.log.read_text(encoding="utf-8")
            wait_until("the API server", lambda: provider.missing(cluster), POD_TIMEOUT, pause=0.5)
            assert local.daemon_process(cluster.record, "kube-apiserver") not in (None, before)
            assert "Traceback" not in said
            # A read is tried again. A write is not, and the run that ends there says on what.
            assert ended == 0 or "paris: Apply" in said, said
        healthy(site)
    finally:
        site.close()
