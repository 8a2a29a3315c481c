# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster does what the tests of the roles need of it."""

from __future__ import annotations

import pytest
from kubernetes import client

from tests.kubernetes.namespaces import Namespace, claim, pod
from tools.cluster.state import Cluster
from tools.testbed.versions import parse_version


def test_a_node_is_ready(cluster: Cluster) -> None:
    nodes = client.CoreV1Api(cluster.api()).list_node().items
    assert [c.status for node in nodes for c in node.status.conditions if c.type == "Ready"] == ["True"] * len(nodes)


def test_a_pod_runs_garage(namespace: Namespace) -> None:
    namespace.create(pod("garage", namespace.cluster.image, ["/garage", "--version"]))
    assert namespace.wait_pod("garage", "Succeeded", "Failed").status.phase == "Succeeded"
    assert parse_version(namespace.logs("garage")) >= (2, 0, 0)
