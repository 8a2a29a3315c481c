# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Garage that lives in memory: the Admin API, a transport that can fail on demand, and the same over HTTP.

    garage = FakeGarage(version="2.5.0")
    client = Client(FakeTransport(garage, faults={1: Fault.CUT_AFTER}), retry_delay=0)

It is held to a real server by tests/contract.
"""

from __future__ import annotations

from tests.fakes.garage.http import FakeServer
from tests.fakes.garage.server import ADMIN_TOKEN, GIB, FakeGarage
from tests.fakes.garage.state import Clock
from tests.fakes.garage.transport import FakeTransport, Fault, Sent

__all__ = ["ADMIN_TOKEN", "GIB", "Clock", "FakeGarage", "FakeServer", "FakeTransport", "Fault", "Sent"]
