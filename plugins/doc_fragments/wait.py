# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """Options of modules that can wait."""

    DOCUMENTATION = r"""
options:
  wait:
    description:
      - Whether to wait for the state that the module's description names.
    type: bool
    default: false
  wait_timeout:
    description:
      - Seconds to wait at the most when O(wait=true).
    type: int
    default: 120
  wait_sleep:
    description:
      - Seconds between two looks when O(wait=true).
    type: float
    default: 2
"""
