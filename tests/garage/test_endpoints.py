# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of calls against what the Garage binary says of itself."""

from __future__ import annotations

import json
import subprocess

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._endpoints import ENDPOINTS, LAYOUT_WRITES

# Calls that ask and are made with POST all the same.
ASKING_POSTS = {"PreviewClusterLayoutChanges", "ListWorkers", "GetWorkerInfo", "GetWorkerVariable", "GetBlockInfo"}


@pytest.fixture(scope="module")
def printed(garage_binary):
    """Path and method of each call in the OpenAPI document that the binary prints."""
    ended = subprocess.run([str(garage_binary), "admin-api-schema"], capture_output=True, check=True, timeout=600)
    document = json.loads(ended.stdout)
    return {path: sorted(method.upper() for method in item if method != "parameters") for path, item in document["paths"].items()}


def test_the_table_has_every_call_and_no_other(printed):
    assert {row.path: [row.method] for row in ENDPOINTS.values()} == printed
    assert len(printed) == len(ENDPOINTS) == 51


def test_calls_are_named_as_their_paths():
    special = {"CheckDomain": "/check", "Health": "/health", "Metrics": "/metrics"}
    assert {name: row.path for name, row in ENDPOINTS.items()} == {name: special.get(name, f"/v2/{name}") for name in ENDPOINTS}
    assert all(row.name == name for name, row in ENDPOINTS.items())


@pytest.mark.requirement("LW-13")
def test_the_calls_that_write_the_layout(printed):
    posts = {path.rpartition("/")[2] for path, methods in printed.items() if methods == ["POST"]}
    assert {name for name in posts if "Layout" in name} - ASKING_POSTS == LAYOUT_WRITES
    assert len(LAYOUT_WRITES) == 4
    assert not any(ENDPOINTS[name].read_only for name in LAYOUT_WRITES)


def test_every_get_asks_and_the_posts_that_do_are_known(printed):
    gets = {row.name for row in ENDPOINTS.values() if printed[row.path] == ["GET"]}
    assert {row.name for row in ENDPOINTS.values() if row.read_only} == gets | ASKING_POSTS
