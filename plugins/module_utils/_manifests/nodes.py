# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The nodes of a site: a StatefulSet with its configuration each. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from .config import garage_toml
from .names import Unit, metadata, nodes_service
from .pod import config_file, pod_template
from .volumes import claim_names, claim_templates


def node(workload: Mapping, unit: Unit, namespace: str, secret_hash: str, peers: Sequence[str]) -> dict:
    """One entry of ``nodes``: what it is called, its pods and claims, and its objects."""
    return {
        "name": unit.name,
        "component": unit.component,
        "ordinal": unit.ordinal,
        "pods": list(unit.pods),
        "claims": claim_names(unit),
        "objects": [_config_map(workload, unit, namespace, peers), _stateful_set(workload, unit, namespace, secret_hash)],
    }


def _config_map(workload: Mapping, unit: Unit, namespace: str, peers: Sequence[str]) -> dict:
    files = {config_file(unit, ordinal): garage_toml(workload, unit, namespace, ordinal, peers) for ordinal in unit.pod_ordinals}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(namespace, unit.name, unit.labels), "data": files}


def _stateful_set(workload: Mapping, unit: Unit, namespace: str, secret_hash: str) -> dict:
    templates = claim_templates(unit)
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": metadata(namespace, unit.name, unit.labels),
        "spec": {
            "replicas": unit.replicas,
            "serviceName": nodes_service(unit.site),
            # Nodes wait for no other node to be ready: there is no quorum before all are up.
            "podManagementPolicy": "Parallel",
            "updateStrategy": {"type": "RollingUpdate"},
            "selector": {"matchLabels": unit.selector},
            "template": pod_template(workload, unit, _checksum(workload, unit, namespace, secret_hash)),
            **({"volumeClaimTemplates": templates} if templates else {}),
        },
    }


def _checksum(workload: Mapping, unit: Unit, namespace: str, secret_hash: str) -> str:
    """What makes a node start again when it changes. Peers and the number of replicas are not in it: no running node needs to know."""
    text = garage_toml(workload, unit, namespace, None)
    return hashlib.sha256(f"{text}\0{secret_hash}".encode()).hexdigest()
