# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The disruption budgets of a site. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Mapping

from .names import COMPONENT, GATEWAY, STORAGE, metadata, selector


def budgets(workload: Mapping, namespace: str) -> list[dict]:
    """One budget for each component that has one set."""
    sections = {component: workload[component] or {} for component in (STORAGE, GATEWAY)}
    return [_budget(workload["name"], namespace, component, section["disruption_budget"]) for component, section in sections.items()
            if "disruption_budget" in section]


def _budget(site: str, namespace: str, component: str, options: Mapping) -> dict:
    names = (("max_unavailable", "maxUnavailable"), ("min_available", "minAvailable"))
    limit = {field: options[option] for option, field in names if option in options}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(namespace, f"{site}-{component}", {**selector(site), COMPONENT: component}),
        "spec": {**limit, "selector": {"matchLabels": selector(site, component)}},
    }
