# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fakes behind the stores of credentials, for every test that keeps one."""

from __future__ import annotations

import os

import pytest

from tests.fakes.kv_api import KvApi
from tests.fakes.secrets_api import SecretsApi
from tests.unit.kv_server import ADDRESS, KvServer


@pytest.fixture
def secrets():
    with SecretsApi() as api:
        yield api


@pytest.fixture(scope="session")
def kv_server():
    if ADDRESS not in os.environ:
        yield None
        return
    with KvServer() as server:
        yield server


@pytest.fixture
def kv(kv_server):
    if kv_server:
        kv_server.clear()
        kv_server.read_only = False
        yield kv_server
        return
    with KvApi() as api:
        yield api
