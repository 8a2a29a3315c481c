# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The account of a site's pods, and its rights where it needs some. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Mapping

from .names import account_name, metadata, selector


def accounts(workload: Mapping, namespace: str) -> list[dict]:
    """A ServiceAccount without any right; with discovery through Kubernetes in this namespace, the right to Garage's own kind (TD-21)."""
    site, config = workload["name"], workload["config"]
    name = account_name(site)
    named = metadata(namespace, name, selector(site))
    found = [{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": named, "automountServiceAccountToken": False}]
    if config.get("kubernetes_discovery", {"namespace": None}).get("namespace", namespace) != namespace:
        return found
    verbs = ["get", "list", "watch", "create", "update", "patch", "delete"]
    rights = [{"apiGroups": ["deuxfleurs.fr"], "resources": ["garagenodes"], "verbs": verbs}]
    group = "rbac.authorization.k8s.io"
    return [
        *found,
        {"apiVersion": f"{group}/v1", "kind": "Role", "metadata": named, "rules": rights},
        {"apiVersion": f"{group}/v1", "kind": "RoleBinding", "metadata": named, "roleRef": {"apiGroup": group, "kind": "Role", "name": name},
         "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}]},
    ]
