# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which namespaces belong to which test run, so that those of a run that was killed can be found and removed."""

from __future__ import annotations

import os
import platform

from kubernetes import client

from tools.testbed.processes import ProcessRef

LABEL = "s3ops-garage-test"
# A label's value has at most 63 characters.
HOST_CHARACTERS = 30


def owner(process: ProcessRef | None = None) -> str:
    """The label's value for the namespaces of a process of this machine; this one when none is named."""
    process = process or ProcessRef.of(os.getpid())
    return f"{_host()}.{process.pid}.{process.start_time}"


def remove_left(api: client.ApiClient) -> list[str]:
    """Ask for the end of the namespaces whose test run on this machine has ended; their names."""
    core = client.CoreV1Api(api)
    left = [
        namespace.metadata.name
        for namespace in core.list_namespace(label_selector=LABEL).items
        if not namespace.metadata.deletion_timestamp and _has_ended(namespace.metadata.labels[LABEL])
    ]
    for name in left:
        core.delete_namespace(name)
    return left


def _has_ended(value: str) -> bool:
    host, pid, start = value.rsplit(".", 2)
    return host == _host() and not ProcessRef(int(pid), int(start)).is_alive()


def _host() -> str:
    return platform.node()[:HOST_CHARACTERS] or "nameless"
