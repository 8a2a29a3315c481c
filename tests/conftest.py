# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings for all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A slow machine is no failure; what a search finds must be repeatable from the log alone.
settings.register_profile("s3ops", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("s3ops")
