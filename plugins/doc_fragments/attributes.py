# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """What modules support, said the same way everywhere."""

    # Modules that declare something.
    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in check mode and predict the result without changing anything.
    support: full
  diff_mode:
    description: Returns what changed (or would change in check mode) when run with C(--diff).
    support: full
  idempotent:
    description: A second run with the same options changes nothing.
    support: full
  action_group:
    description: Use C(group/s3ops.garage.garage) in C(module_defaults) to set options for this module.
    support: full
    membership:
      - s3ops.garage.garage
"""

    # Modules that only read.
    INFO = r"""
options: {}
attributes:
  check_mode:
    description: Can run in check mode and predict the result without changing anything.
    support: full
    details:
      - This module only reads.
  diff_mode:
    description: Returns what changed (or would change in check mode) when run with C(--diff).
    support: N/A
    details:
      - This module only reads.
  idempotent:
    description: A second run with the same options changes nothing.
    support: full
  action_group:
    description: Use C(group/s3ops.garage.garage) in C(module_defaults) to set options for this module.
    support: full
    membership:
      - s3ops.garage.garage
"""

    # Modules that do something each time they are run.
    ACTION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in check mode and predict the result without changing anything.
    support: full
  diff_mode:
    description: Returns what changed (or would change in check mode) when run with C(--diff).
    support: none
    details:
      - An operation has no state to compare.
  idempotent:
    description: A second run with the same options changes nothing.
    support: none
    details:
      - The operation is done each time.
  action_group:
    description: Use C(group/s3ops.garage.garage) in C(module_defaults) to set options for this module.
    support: full
    membership:
      - s3ops.garage.garage
"""
