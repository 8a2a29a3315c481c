# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Garage on the garage.toml that pods get: it starts, serves what is turned on, and has the metrics that alerts and dashboard speak of."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._manifests.monitoring import ALERTS, DASHBOARD
from ansible_collections.s3ops.garage.plugins.module_utils._manifests.objects import objects
from ansible_collections.s3ops.garage.plugins.module_utils._manifests.pod import ENVIRONMENT
from ansible_collections.s3ops.garage.plugins.module_utils._site.document import normal_site
from ansible_collections.s3ops.garage.plugins.module_utils._site.schema import site_schema

from tools.testbed.admin_api import AdminApi
from tools.testbed.ports import HOST, pick_ports
from tools.testbed.waiting import wait_until

# Every option there is, so that none is told to users that Garage does not take.
CONFIG = {
    "db_engine": "sqlite", "metadata_fsync": True, "data_fsync": False, "metadata_auto_snapshot_interval": "6h",
    "metadata_snapshots_dir": "/var/lib/garage/meta/kept", "disable_scrub": True, "use_local_tz": True, "block_size": "2MiB",
    "block_ram_buffer_max": 268435456, "block_max_concurrent_reads": 8, "block_max_concurrent_writes_per_request": 2,
    "lmdb_map_size": "1GiB", "fjall_block_cache_size": "64MiB",
    "compression_level": "none", "rpc_bind_outgoing": False, "rpc_public_addr_subnet": "127.0.0.0/8", "rpc_ping_timeout_msec": 5000,
    "rpc_timeout_msec": 60000, "allow_world_readable_secrets": False, "allow_punycode": True,
    "s3_api": {"s3_region": "paris", "root_domain": ".s3.example.org"},
    "s3_web": {"root_domain": ".web.example.org", "add_host_to_metrics": True},
    "k2v_api": {},
    "admin": {"metrics_require_token": True, "trace_sink": "http://127.0.0.1:1"},
    "consul_discovery": {
        "api": "agent", "consul_http_addr": "http://127.0.0.1:1", "service_name": "garage", "tls_skip_verify": True,
        "tags": ["dc1"], "meta": {"site": "paris"}, "datacenters": ["dc1"],
    },
    "kubernetes_discovery": {"namespace": "garage", "service_name": "paris", "skip_crd": True},
}
# Of files in the pod, which Consul's client reads at the start.
FILES = {"ca_cert", "client_cert", "client_key"}
SITE = {
    "name": "paris", "zone": "paris", "kubernetes": {"namespace": "garage"}, "replication": {"factor": 1, "consistency_mode": "degraded"},
    "config": CONFIG,
    "storage": {
        "replicas": 1, "metadata": {"size": "1Gi"}, "rpc_public_addr": f"{HOST}:3901",
        "data": {"paths": [{"size": "1Gi", "name": "ssd"}, {"size": "500G"}, {"size": "1Gi", "read_only": True}]},
    },
}
# The test bed builds Garage without K2V, discovery and tracing, which take what they are told and say that they are not there.
K2V = "3904"
# Counted from the first fault or transfer on, so not there on a node that has just started.
LATER = {"rpc_netapp_error_counter", "rpc_garage_error_counter", "rpc_timeout_counter", "block_bytes_read", "block_bytes_written"}
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Node:
    """A Garage with the configuration of a pod, but for its folders and ports, and with secrets in the environment as a pod has them."""

    def __init__(self, binary: Path, folder: Path, text: str) -> None:
        picked = [*vars(pick_ports()).values(), *vars(pick_ports()).values()]
        self.ports = dict(zip(re.findall(r'_addr = "\[::\]:([0-9]+)"', text), picked, strict=False))
        self.config = folder / "garage.toml"
        text = text.replace("/var/lib/garage", str(folder)).replace("[::]", HOST).replace(f"{HOST}:3901", f"{HOST}:{self.ports['3901']}")
        self.config.write_text(re.sub(rf"{HOST}:(39[0-9]+)", lambda found: f"{HOST}:{self.ports[found[1]]}", text), encoding="utf-8")
        # As a ConfigMap is mounted; what is secret is not in it.
        self.config.chmod(0o644)
        self.tokens = {name: secrets.token_hex(32) for name in ENVIRONMENT}
        (folder / "token").write_text(self.tokens["GARAGE_ADMIN_TOKEN"], encoding="ascii")
        self.admin = AdminApi(f"http://{HOST}:{self.ports['3903']}", folder / "token")
        self.log = folder / "garage.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([binary, "-c", self.config, "server"], env={**os.environ, **self.tokens}, stdout=log, stderr=log)

    def missing(self) -> str | None:
        """What does not answer yet. Raises AssertionError with the log when the process has ended."""
        assert self.process.poll() is None, self.log.read_text(encoding="utf-8", errors="replace")
        for number, port in self.ports.items():
            if number == K2V:
                continue
            try:
                socket.create_connection((HOST, port)).close()
            except OSError as closed:
                return f"port {port}: {closed}"
        return None

    def metrics(self, token: str) -> str:
        request = urllib.request.Request(f"http://{HOST}:{self.ports['3903']}/metrics", headers={"Authorization": f"Bearer {token}"})
        with OPENER.open(request) as answer:
            return answer.read().decode()


@pytest.fixture(scope="module")
def node(garage_binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    workload = normal_site(SITE, {})["workload"]
    text = objects(workload, "garage", "hash", ["a" * 64 + "@127.0.0.1:1"])["nodes"][0]["objects"][0]["data"]["garage.toml"]
    with contextlib.ExitStack() as running:
        found = Node(garage_binary, tmp_path_factory.mktemp("rendered"), text)
        running.callback(found.process.wait)
        running.callback(found.process.terminate)
        wait_until("Garage to listen", found.missing)
        yield found


def test_every_option_of_the_site_file_is_tried() -> None:
    known = site_schema()["definitions"]["config"]["properties"]
    assert set(CONFIG) == set(known)
    for table, options in known.items():
        if "properties" in options:
            assert set(CONFIG[table]) == set(options["properties"]) - FILES


@pytest.mark.requirement("TD-48", "FC-104")
def test_garage_starts_on_a_configuration_with_everything(node: Node) -> None:
    assert set(node.ports) == {"3900", "3901", "3902", "3903", K2V}
    own = node.admin.get("GetNodeInfo", node="self")["success"]
    assert [info["dbEngine"].split(" ")[0] for info in own.values()] == ["sqlite3"]
    status = node.admin.get("GetClusterStatus")["nodes"]
    assert [found["addr"] for found in status if found["isUp"]] == [f"{HOST}:{node.ports['3901']}"]
    assert {path.name for path in (node.config.parent / "data").iterdir()} == {"ssd", "1", "2"}


@pytest.mark.requirement("FC-110", "GS-15")
def test_metrics_ask_for_the_metrics_token(node: Node) -> None:
    assert "cluster_healthy" in node.metrics(node.tokens["GARAGE_METRICS_TOKEN"])
    with pytest.raises(urllib.error.HTTPError) as refused:
        node.metrics("wrong")
    assert refused.value.code == 403


def test_alerts_and_dashboard_speak_of_metrics_that_exist(node: Node, garage_binary: Path) -> None:
    node_id = next(iter(node.admin.get("GetNodeInfo", node="self")["success"]))
    node.admin.post("UpdateClusterLayout", {"roles": [{"id": node_id, "zone": "paris", "capacity": 10**9, "tags": []}]})
    node.admin.post("ApplyClusterLayout", {"version": 1})
    with pytest.raises(urllib.error.HTTPError):
        OPENER.open(f"http://{HOST}:{node.ports['3900']}/")
    expressions = [row[1] for row in ALERTS]
    expressions += [target["expr"] for panel in json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"] for target in panel["targets"]]
    used = {name for expression in expressions for name in re.findall(r"([a-z][a-z0-9_]+)\{", expression)} - {"up"}
    text = node.metrics(node.tokens["GARAGE_METRICS_TOKEN"])
    there = set(re.findall(r"^([a-z0-9_]+)", text, re.MULTILINE))
    assert used >= LATER
    assert used - LATER <= there
    known = garage_binary.read_bytes()
    for name in LATER:
        # The program has them with a dot behind the first word.
        assert name.replace("_", ".", 1).encode() in known, name
    assert re.search(r'^api_s3_error_counter\{api_endpoint="[^"]+",status_code="403"\}', text, re.MULTILINE)
    assert re.search(r'^cluster_layout_node_connected\{id="[^"]+",[^}]*role_zone="paris"\} 1$', text, re.MULTILINE)
