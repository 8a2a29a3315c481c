# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same calls by HTTP and by commands against one real node give the same data and the same errors.

The commands run here, behind a Kubernetes API on loopback; that they run in pods is shown in tests/kubernetes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._connection import resolve_connection
from ansible_collections.s3ops.garage.plugins.module_utils._endpoints import LAYOUT_WRITES
from ansible_collections.s3ops.garage.plugins.module_utils._errors import GarageError, LayoutNotReady, NotAdminApi, TransportError, Unavailable
from ansible_collections.s3ops.garage.plugins.module_utils._transports import open_transport
from tests.contract.server import OverHttp
from tests.fakes.kubernetes import FakeKubernetes, pod
from tools.testbed.nodes import Cluster

# What moves between two looks.
_MOVING = {"lastSeenSecsAgo", "available", "freeform", "state", "progress", "dataAvail", "metadataAvail", "queueLength", "errors",
           "consecutiveErrors", "tables", "blockManagerStats"}


@dataclass(frozen=True)
class Both:
    """One node, by both transports."""

    http: Client
    exec: Client
    cluster: FakeKubernetes

    def same(self, endpoint: str, query: dict | None = None, body: Any = None) -> Any:
        """The data of a read, which is the same both ways."""
        one, two = (client.call(endpoint, query, body) for client in (self.http, self.exec))
        assert _still(two) == _still(one), endpoint
        return two

    def same_error(self, endpoint: str, query: dict | None = None, body: Any = None) -> GarageError:
        found = []
        for client in (self.http, self.exec):
            with pytest.raises(GarageError) as caught:
                client.call(endpoint, query, body)
            found.append(caught.value)
        one, two = found
        assert (type(two), two.data()) == (type(one), one.data()), (one, two)
        assert getattr(two, "server_message", "") == getattr(one, "server_message", "")
        return two


def _still(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _still(value) for name, value in data.items() if name not in _MOVING}
    if not isinstance(data, list):
        return data
    # The keys of a bucket and the buckets of a key come in another order each time; what has no id keeps its own.
    return sorted((_still(each) for each in data), key=lambda each: (each.get("accessKeyId") or each.get("id") or "") if isinstance(each, dict) else "")


@pytest.fixture
def by_both(tmp_path: Path, binary: Path) -> Iterator[Callable[[Cluster], Both]]:
    with FakeKubernetes(pod("garage-0")) as kubernetes:

        def connect(cluster: Cluster) -> Both:
            node = cluster.nodes[0]
            spot = {"namespace": "garage", "pod": "garage-0", "kubeconfig": kubernetes.kubeconfig(tmp_path), "garage_path": str(binary),
                    "config_path": str(node.config_file)}
            shared = {"api_url": node.api_url, "api_token": cluster.token, "kubernetes": spot}
            ways = [open_transport(resolve_connection({**shared, "transport": name}, {}, str)) for name in ("http", "exec")]
            return Both(*(Client(way, retries=0) for way in ways), kubernetes)

        yield connect


@pytest.fixture
def both(by_both: Callable[[Cluster], Both], real_node: OverHttp) -> Iterator[Both]:
    made = by_both(real_node.cluster)
    yield made
    made.http.close()


def test_the_cluster_and_its_nodes(both):
    status = both.same("GetClusterStatus")
    node = {"node": "self"}
    for endpoint in ("GetClusterHealth", "GetClusterStatistics", "GetClusterLayout", "GetClusterLayoutHistory", "ListAdminTokens"):
        both.same(endpoint)
    for endpoint in ("GetNodeInfo", "GetNodeStatistics", "ListBlockErrors"):
        both.same(endpoint, {"node": "*"})
    both.same("GetNodeInfo", {"node": status["nodes"][0]["id"]})
    assert len(both.same("ListWorkers", node, {"busyOnly": False, "errorOnly": False})["success"]) == 1
    both.same("GetWorkerInfo", node, {"id": 1})
    both.same("GetWorkerVariable", node, {})
    both.same_error("GetNodeInfo", {"node": "f" * 64})


def test_buckets_keys_and_grants(both, real_node):
    name = real_node.name("exec")
    bucket = both.exec.call("CreateBucket", None, {"globalAlias": name})
    assert bucket == both.http.call("GetBucketInfo", {"id": bucket["id"]}) == both.same("GetBucketInfo", {"globalAlias": name})
    key = both.exec.call("CreateKey", None, {"name": name})
    secret = both.same("GetKeyInfo", {"id": key["accessKeyId"], "showSecretKey": True})["secretAccessKey"]
    assert secret == key["secretAccessKey"]
    assert not both.same("GetKeyInfo", {"id": key["accessKeyId"]}).get("secretAccessKey")
    grant = {"bucketId": bucket["id"], "accessKeyId": key["accessKeyId"], "permissions": {"read": True, "write": True}}
    both.exec.call("AllowBucketKey", None, grant)
    both.exec.call("DenyBucketKey", None, {**grant, "permissions": {"write": True}})
    both.exec.call("UpdateBucket", {"id": bucket["id"]}, {"quotas": {"maxSize": 5, "maxObjects": None},
                                                          "websiteAccess": {"enabled": True, "indexDocument": "i.html", "errorDocument": None}})
    both.exec.call("AddBucketAlias", None, {"bucketId": bucket["id"], "globalAlias": f"{name}-too"})
    both.exec.call("AddBucketAlias", None, {"bucketId": bucket["id"], "accessKeyId": key["accessKeyId"], "localAlias": "mine"})
    both.exec.call("UpdateKey", {"id": key["accessKeyId"]}, {"name": "日本", "allow": {"createBucket": True}})
    found = both.same("GetBucketInfo", {"id": bucket["id"]})
    assert (found["quotas"]["maxSize"], found["websiteAccess"]) == (5, True)
    assert found["keys"][0]["permissions"] == {"owner": False, "read": True, "write": False}
    assert found["keys"][0]["bucketLocalAliases"] == ["mine"] and found["keys"][0]["name"] == "日本"
    assert any(each["id"] == bucket["id"] for each in both.same("ListBuckets"))
    assert any(each["id"] == key["accessKeyId"] for each in both.same("ListKeys", {"limit": 1_000_000}))
    both.exec.call("RemoveBucketAlias", None, {"bucketId": bucket["id"], "accessKeyId": key["accessKeyId"], "localAlias": "mine"})
    both.exec.call("RemoveBucketAlias", None, {"bucketId": bucket["id"], "globalAlias": f"{name}-too"})
    assert both.exec.call("CleanupIncompleteUploads", None, {"bucketId": bucket["id"], "olderThanSecs": 60}) == {"uploadsDeleted": 0}
    both.exec.call("DeleteBucket", {"id": bucket["id"]})
    both.exec.call("DeleteKey", {"id": key["accessKeyId"]})
    both.same_error("GetBucketInfo", {"id": bucket["id"]})
    both.same_error("GetKeyInfo", {"id": key["accessKeyId"]})


@pytest.mark.requirement("FC-085")
def test_an_imported_secret_is_in_no_argument(both):
    secret = "5ec4e7" * 10 + "0123"
    made = both.exec.call("ImportKey", None, {"accessKeyId": "GK" + "ab" * 12, "secretAccessKey": secret, "name": "imported"})
    assert both.same("GetKeyInfo", {"id": made["accessKeyId"], "showSecretKey": True})["secretAccessKey"] == secret
    both.exec.call("DeleteKey", {"id": made["accessKeyId"]})
    assert both.cluster.ran
    assert not any(secret in argument for command in both.cluster.ran for argument in command.argv)
    assert not any(secret in path for path in both.cluster.asked)


def test_admin_tokens(both):
    made = both.exec.call("CreateAdminToken", None, {"name": "exec", "scope": ["ListBuckets"]})
    assert both.same("GetAdminTokenInfo", {"id": made["id"]})["scope"] == ["ListBuckets"]
    both.exec.call("UpdateAdminToken", {"id": made["id"]}, {"name": "exec too", "scope": ["ListKeys"]})
    assert both.same("GetAdminTokenInfo", {"id": made["id"]})["name"] == "exec too"
    both.exec.call("DeleteAdminToken", {"id": made["id"]})
    both.same_error("GetAdminTokenInfo", {"id": made["id"]})


def test_refusals_are_the_same(both, real_node):
    taken = real_node.make_bucket()
    alias = taken["globalAliases"][0]
    for endpoint, query, body in (
        ("CreateBucket", None, {"globalAlias": alias}),
        ("CreateBucket", None, {"globalAlias": "Not A Name"}),
        ("UpdateBucket", {"id": taken["id"]}, {"quotas": {"maxSize": None, "maxObjects": None}, "websiteAccess": {"enabled": True}}),
        ("GetBucketInfo", {"globalAlias": "nowhere"}, None),
        ("GetBucketInfo", {"id": "not-hex"}, None),
        ("DeleteKey", {"id": "GK" + "0" * 24}, None),
        ("AllowBucketKey", None, {"bucketId": taken["id"], "accessKeyId": "GK" + "0" * 24, "permissions": {"read": True}}),
        ("ApplyClusterLayout", None, {"version": 99}),
        ("GetWorkerInfo", {"node": "f" * 64}, {"id": 1}),
    ):
        both.same_error(endpoint, query, body)


def test_calls_that_are_newer_than_the_server(both, real_node):
    for endpoint in ("ListBucketsInfo", "ListKeysInfo"):
        if real_node.since(2, 5, 0):
            both.same(endpoint, {"limit": 1})
            both.same(endpoint)
        else:
            assert isinstance(both.same_error(endpoint, {"limit": 1}), NotAdminApi)


@pytest.mark.parametrize("fresh_server", ["real"], indirect=True)
def test_a_layout_is_made_before_there_is_one(by_both, fresh_server):
    """With neither a token nor a layout, which is how a site begins."""
    both = by_both(fresh_server.cluster)
    # 2.0.0 speaks of a quorum.
    assert isinstance(both.same_error("ListBuckets"), LayoutNotReady if fresh_server.since(2, 1, 0) else Unavailable)
    (node,) = both.same("GetClusterStatus")["nodes"]
    refused = both.exec.call("ConnectClusterNodes", None, [f"{'a' * 64}@127.0.0.1:1"])
    assert [each["success"] for each in refused] == [False]
    role = {"id": node["id"], "zone": "dc1", "capacity": 1_000_000_000, "tags": ["x"]}
    staged = both.exec.call("UpdateClusterLayout", None, {"roles": [role]})
    assert staged["stagedRoleChanges"][0]["id"] == node["id"]
    both.same("PreviewClusterLayoutChanges")
    both.same_error("ApplyClusterLayout", None, {"version": 1})
    both.exec.call("RevertClusterLayout")
    assert both.same("GetClusterLayout")["stagedRoleChanges"] == []
    assert {command.argv[4] for command in both.cluster.ran} >= LAYOUT_WRITES - {"ClusterLayoutSkipDeadNodes"}
    both.http.close()


@pytest.mark.parametrize("fresh_server", ["real"], indirect=True)
def test_a_daemon_that_is_down_was_told_nothing(by_both, fresh_server):
    both = by_both(fresh_server.cluster)
    both.exec.call("GetClusterHealth")
    fresh_server.cluster.stop()
    with pytest.raises(TransportError, match="Unable to connect to destination RPC host") as caught:
        both.exec.call("CreateBucket", None, {"globalAlias": "x"})
    assert not caught.value.sent
