# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a test does to the cluster itself."""

from __future__ import annotations

import signal

from tools.cluster import kind, local
from tools.cluster.state import Cluster
from tools.testbed.errors import SetupError

END_LIMIT_SECONDS = 60.0


def kill_api_server(cluster: Cluster) -> None:
    """End the API server in the middle of whatever it does; it is started again by itself, a second later or so.

    All tests share it: what else runs meanwhile sees it too. Raises SetupError on a cluster that is not ours.
    """
    if cluster.kind == "local":
        running = local.daemon_process(cluster.record, "kube-apiserver")
        if not running or not running.signal(signal.SIGKILL) or not running.wait_gone(END_LIMIT_SECONDS):
            raise SetupError("the API server does not run, or does not end")
    elif cluster.kind == "kind":
        kind.on_node("sh", "-c", "kill -9 $(pidof kube-apiserver)")
    else:
        raise SetupError("the API server of a given cluster is not ended by a test")
