# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scopes that docs/security.md names for each module: these suffice, and each of them is needed."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

from tests.garage.scenarios import SCENARIOS, World
from tools.quickstart import s3_client
from tools.testbed.nodes import GIB, Cluster, Site

ROOT = Path(__file__).parents[2]
MODULES = "ansible_collections.s3ops.garage.plugins.modules"
ROW = re.compile(r"\| `(\w+)` \| ([^|]*) \| ([^|]*) \|")


def documented() -> dict[str, tuple[list[str], list[str]]]:
    """Module to the scopes by which it reads and predicts, and those that it needs on top to change something."""
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    return {name: (reads.split(), writes.split()) for name, reads, writes in ROW.findall(page)}


class Ground:
    """Two nodes of which the first alone has a role; a bucket with an object, a key, and tokens as they are needed."""

    def __init__(self, cluster: Cluster, folder: Path, run: Callable[..., dict[str, Any]]) -> None:
        self.node, self.peer = cluster.nodes
        self.admin, self.folder, self._run, self._number = self.node.admin, folder, run, 0
        self._stage("ready")
        self.admin.post("ApplyClusterLayout", {"version": 1})
        key = self.admin.post("CreateKey", {"name": "ground"})
        bucket = self.admin.post("CreateBucket", {"globalAlias": "ground"})["id"]
        rights = {"read": True, "write": True, "owner": True}
        self.admin.post("AllowBucketKey", {"bucketId": bucket, "accessKeyId": key["accessKeyId"], "permissions": rights})
        self.s3 = s3_client(self.node.s3_url, {"aws_access_key_id": key["accessKeyId"], "aws_secret_access_key": key["secretAccessKey"]})
        self.s3.put_object(Bucket="ground", Key="object", Body=b"x" * 100_000)
        self.block = self.admin.get("InspectObject", bucketId=bucket, key="object")["versions"][0]["blocks"][0]["hash"]
        # What grant works on: nobody has a right on it yet.
        self.admin.post("CreateKey", {"name": "tried"})

    def world(self) -> World:
        """Fresh names, an unfinished upload to delete and a staged change to drop."""
        self._number += 1
        self.s3.create_multipart_upload(Bucket="ground", Key="unfinished")
        return World(f"{self._number:x}", "ground", "tried", self.block, self.node.node_id, self.peer.rpc_address, self.folder)

    def _stage(self, tag: str) -> None:
        self.admin.post("UpdateClusterLayout", {"roles": [{"id": self.node.node_id, "zone": "paris", "capacity": GIB, "tags": [tag]}]})

    def go(self, module: str, scopes: list[str], check: bool = False) -> dict[str, Any] | None:
        """Take the module through its scenario with a token of just these scopes: its first failure, or None."""
        if module == "layout_recovery":
            self._stage(f"staged{self._number}")
        token = self.admin.post("CreateAdminToken", {"name": f"only {module}", "scope": scopes or ["Metrics"]})
        try:
            results = (self._run(module, self.node.api_url, token["secretToken"], options, check) for options in SCENARIOS[module](self.world()))
            return next((result for result in results if result.get("failed")), None)
        finally:
            self.admin.post("RevertClusterLayout", None)


@pytest.fixture(scope="module")
def ground(make_cluster: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    cluster = make_cluster(Site("paris", "paris", 2), replication_factor=1)
    yield Ground(cluster, tmp_path_factory.mktemp("scopes"), _run)
    cluster.stop()
    cluster.remove()


def _run(module: str, api_url: str, token: str, options: dict[str, Any], check: bool) -> dict[str, Any]:
    arguments = {"api_url": api_url, "api_token": token, **options, "_ansible_check_mode": check}
    printed: list[str] = []
    with pytest.MonkeyPatch.context() as patch, patch_module_args(arguments):
        patch.setattr("builtins.print", lambda text, *_more, **_options: printed.append(text))
        with pytest.raises(SystemExit):
            importlib.import_module(f"{MODULES}.{module}").main()
    return json.loads(printed[0])


def test_each_module_that_uses_the_admin_api_has_its_scopes_written_down() -> None:
    assert sorted(documented()) == sorted(SCENARIOS)
    modules = {path.stem for path in (ROOT / "plugins" / "modules").glob("*.py")}
    # Kubernetes' API is asked by that one, not Garage's.
    assert set(SCENARIOS) == modules - {"kubernetes_node_info", "kubernetes_workload_info"}


@pytest.mark.requirement("TD-21", "TD-50")
@pytest.mark.parametrize("module", sorted(SCENARIOS))
def test_a_token_needs_the_scopes_of_the_page_and_no_other(ground: Ground, module: str) -> None:
    reads, writes = documented()[module]
    for scope in [*reads, *writes]:
        failure = ground.go(module, [other for other in [*reads, *writes] if other != scope])
        assert failure, f"{module} does not need {scope}"
        assert (failure["error"]["kind"], failure["error"]["endpoint"]) == ("denied", scope), failure["msg"]
        assert f"its scope lacks {scope}" in failure["msg"]
    assert ground.go(module, reads, check=True) is None
    assert ground.go(module, [*reads, *writes]) is None


@pytest.mark.requirement("TD-25")
def test_who_may_only_read_sees_what_is_beyond_a_declaration_and_changes_nothing(ground: Ground) -> None:
    reads = sorted({scope for scopes, _writes in documented().values() for scope in scopes})
    token = ground.admin.post("CreateAdminToken", {"name": "a person", "scope": reads})["secretToken"]
    shown = _run("tenancy_info", ground.node.api_url, token, {}, False)
    assert "tried" in {key.get("name") for key in shown["tenancy"]["keys"]}
    only = {"keys": [], "owner": {"prefix": "tried"}, "purge_keys": True}
    beyond = _run("tenancy", ground.node.api_url, token, only, True)
    assert len(beyond["actions"]) == 1 and "tried" in beyond["actions"][0], beyond
    refused = _run("tenancy", ground.node.api_url, token, only, False)
    assert (refused["failed"], refused["error"]["kind"], refused["error"]["endpoint"]) == (True, "denied", "DeleteKey")
    assert "tried" in {key["name"] for key in ground.admin.get("ListKeys")}
