# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings and fixtures for all tests."""

from __future__ import annotations

import importlib
import os

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils import _runner
from hypothesis import HealthCheck, settings
from tests.unit.static_sources import COLLECTION

# A slow machine is no failure; what a search finds must be repeatable from the log alone. A build machine searches the same places each time: a change
# is judged by what it changes, and new places are looked at where people work.
settings.register_profile("s3ops", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow],
                          derandomize=bool(os.environ.get("CI")))
settings.load_profile("s3ops")


class Captured(Exception):
    """What a module gave to AnsibleModule."""


@pytest.fixture
def spec_of(monkeypatch):
    """spec_of(name) -> the keyword arguments a module makes its AnsibleModule with."""

    def capture(**arguments):
        raise Captured(arguments)

    def find(name):
        monkeypatch.setattr(_runner, "AnsibleModule", capture)
        with pytest.raises(Captured) as caught:
            importlib.import_module(f"{COLLECTION}modules.{name}").main()
        return caught.value.args[0]

    return find
