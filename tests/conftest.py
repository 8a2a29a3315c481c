# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings and fixtures for all tests."""

from __future__ import annotations

import importlib
import os

import pytest
from ansible.module_utils import _internal
from ansible_collections.s3ops.garage.plugins.module_utils import _runner
from hypothesis import HealthCheck, settings
from tests.garage.guide_run import Guide
from tests.guides import marked
from tests.unit.static_sources import COLLECTION

# A slow machine is no failure; what a search finds must be repeatable from the log alone. A build machine searches the same places each time: a change
# is judged by what it changes, and new places are looked at where people work.
settings.register_profile("s3ops", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow],
                          derandomize=bool(os.environ.get("CI")))
settings.load_profile("s3ops")


@pytest.fixture(autouse=True)
def module_process(monkeypatch):
    """Modules run as in a process of their own, also where another test has imported parts of Ansible that belong to its controller: there,
    warnings would be printed at once instead of being returned (ansible-core 2.19)."""
    monkeypatch.setattr(_internal, "is_controller", False)


@pytest.fixture
def guide(request, tmp_path):
    """The blocks of ``pytest.mark.guide``; a test that does not run them all fails."""
    found = Guide([block for mark in request.node.iter_markers("guide") for block in marked(*mark.args)], tmp_path / "guide")
    yield found
    found.end()
    assert found.left() == []


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
