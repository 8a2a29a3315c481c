# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which node each pod is, and was."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from jinja2 import Template

from ansible_collections.s3ops.garage.plugins.module_utils._planners.identities import identities

ROOT = Path(__file__).resolve().parents[2]
A, B, C = "a" * 64, "b" * 64, "c" * 64
HOST = "paris-nodes.garage.svc.cluster.local"
PODS = [f"paris-storage-{number}-0" for number in range(3)]


def config(*peers: str) -> dict:
    listed = ", ".join(f'"{peer}"' for peer in peers)
    return {"data": {"garage.toml": f"x = 1\nbootstrap_peers = [{listed}]\n"}}


@pytest.mark.requirement("FC-107")
def test_the_names_of_nodes_end_with_the_domain_of_the_cluster() -> None:
    host = yaml.safe_load((ROOT / "roles" / "workload" / "vars" / "main.yml").read_text(encoding="utf-8"))["_workload_host"]
    named = Template(host).render(workload_site={"name": "paris"}, _workload_namespace="garage", _workload_cluster={"cluster_domain": "k8s.local"})
    assert named == "paris-nodes.garage.svc.k8s.local"
    found = identities("paris", [], [{"pod": "paris-storage-0-0", "id": A}], named, PODS)
    assert found["peers"] == [f"{A}@paris-storage-0-0.paris-nodes.garage.svc.k8s.local:3901"]


def test_nothing_is_known_of_a_new_site() -> None:
    assert identities("paris", [], [], HOST, PODS) == {"ids": {}, "kept": {}, "replaced": [], "peers": []}


def test_a_node_that_is_down_is_known_by_what_its_neighbours_keep() -> None:
    maps = [config(), config(f"{A}@paris-storage-0-0.{HOST}:3901", f"{B}@paris-storage-1-0.{HOST}:3901")]
    found = identities("paris", maps, [{"pod": "paris-storage-1-0", "id": None}, {"pod": "paris-storage-2-0", "id": C}], HOST, PODS)
    assert found["ids"] == {"paris-storage-0-0": A, "paris-storage-1-0": B, "paris-storage-2-0": C}
    assert found["replaced"] == []
    assert found["peers"][0] == f"{A}@paris-storage-0-0.{HOST}:3901"


def test_a_pod_that_is_another_node_than_it_was() -> None:
    found = identities("paris", [config(f"{A}@paris-storage-0-0.{HOST}:3901")], [{"pod": "paris-storage-0-0", "id": B}], HOST, PODS)
    assert (found["replaced"], found["ids"], found["kept"]) == (["paris-storage-0-0"], {"paris-storage-0-0": B}, {"paris-storage-0-0": A})


def test_peers_at_other_sites_are_none_of_our_pods() -> None:
    assert identities("paris", [config(f"{A}@lyon-storage-0-0.lyon-nodes.x:3901", f"{B}@10.0.0.1:3901"), {"data": None}], [], HOST, PODS)["ids"] == {}


def test_a_pod_that_is_no_longer_of_the_site_is_forgotten() -> None:
    maps = [config(f"{A}@paris-storage-0-0.{HOST}:3901", f"{B}@paris-gateway-0-0.{HOST}:3901")]
    found = identities("paris", maps, [], HOST, PODS)
    assert found["ids"] == {"paris-storage-0-0": A}
    assert found["ids"] != found["kept"]
