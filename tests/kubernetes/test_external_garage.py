# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Garage that nothing of this collection has made, reached through a Service that only says where it is."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

import pytest

from tests.garage.playbook_run import run_playbook
from tests.kubernetes.conftest import MakeNamespace
from tests.kubernetes.exec_pods import CONFIG, garage_pod

ADMIN = {"name": "admin", "port": 3903, "protocol": "TCP"}


@pytest.mark.requirement("FC-113", "MH-01")
def test_a_garage_behind_a_service_without_selector_is_a_handle(make_namespace: MakeNamespace, tmp_path: Path) -> None:
    token = secrets.token_hex(16)
    elsewhere, here = make_namespace("elsewhere"), make_namespace("here")
    elsewhere.create(garage_pod(elsewhere, "garage", f'{CONFIG}[admin]\napi_bind_addr = "[::]:3903"\nadmin_token = "{token}"\n'))
    address = elsewhere.wait_pod("garage", "Ready").status.pod_ip
    service = here.core.create_namespaced_service(here.name, {"metadata": {"name": "garage"}, "spec": {"ports": [ADMIN]}})
    here.create({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "ports": [ADMIN],
        "metadata": {"name": "garage-1", "labels": {"kubernetes.io/service-name": "garage"}}, "endpoints": [{"addresses": [address]}],
    })  # fmt: skip

    (tmp_path / "token").write_text(token, encoding="ascii")
    inventory = {"all": {"hosts": {"paris": {
        "ansible_connection": "local", "ansible_python_interpreter": sys.executable, "garage_site": {
            "name": "paris", "zone": "paris", "replication": {"factor": 1},
            "connect_to": {"api_url": f"http://{service.spec.cluster_ip}:3903", "api_token_file": str(tmp_path / "token")},
            "layout": {"nodes": [{"node": "garage", "capacity": "1GB"}]},
            "tenancy": {"keys": [{"name": "app"}], "buckets": [{"name": "media", "grants": [{"key": "app", "read": True}]}]},
        }}}}}
    first = run_playbook("s3ops.garage.site", inventory)
    assert first.rc == 0, first.output
    assert "1 of 1 nodes up, healthy; declared buckets: 1, keys: 1" in first.output
    again = run_playbook("s3ops.garage.site", inventory)
    assert (again.rc, again.changed) == (0, 0), again.output
    # Nothing was made beside the Service.
    assert here.pods() == [] and not here.core.list_namespaced_config_map(here.name, label_selector="app.kubernetes.io/managed-by").items
