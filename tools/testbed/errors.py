# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one exception of the test bed."""

from __future__ import annotations


class SetupError(Exception):
    """Something a person can act on; the text says what failed and what to do."""
