# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fakes behind the stores of credentials, for every test that keeps one."""

from __future__ import annotations

import pytest

from tests.fakes.kv_api import KvApi
from tests.fakes.secrets_api import SecretsApi


@pytest.fixture
def secrets():
    with SecretsApi() as api:
        yield api


@pytest.fixture
def kv():
    with KvApi() as api:
        yield api
