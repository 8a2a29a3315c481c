# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: claims_growing
short_description: Tell which claims have not grown yet
version_added: 0.1.0
description:
  - Says which of some persistent volume claims ask for more than their volumes have.
author:
  - The s3ops.garage contributors (@s3ops)
positional: names
options:
  _input:
    description:
      - Persistent volume claims, as C(resources) of M(kubernetes.core.k8s_info).
    type: list
    elements: dict
    required: true
  names:
    description:
      - Names of the claims to look at. Those that are not there, or have no volume yet, have nothing to grow.
    type: list
    elements: str
    required: true
"""

EXAMPLES = r"""
- name: Wait until a volume has grown
  kubernetes.core.k8s_info:
    kind: PersistentVolumeClaim
    namespace: garage
  register: claims
  until: claims.resources | s3ops.garage.claims_growing(['data-paris-storage-0-0']) | length == 0
"""

RETURN = r"""
_value:
  description: Names of the claims that still grow.
  type: list
  elements: str
  sample: [data-paris-storage-0-0]
"""

from ansible_collections.s3ops.garage.plugins.module_utils._planners.rollout import growing


class FilterModule:
    """One filter."""

    def filters(self):
        return {"claims_growing": growing}
