# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What lies in the configuration of a site gets another value: node by node, or with all nodes stopped. The tests share the site and follow one another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.garage.playbook_run import Run, run_playbook
from tests.kubernetes.site_driver import Site, is_ready, shown
from tools.cluster.state import Cluster

pytestmark = pytest.mark.long
PODS = ["paris-storage-0-0", "paris-storage-1-0"]
TIMEOUT_SECONDS = 60
LOUD = ("-vvvv", "--diff")


class Rotating:
    """A site that was brought up, and the values that its Secret held before the last run."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.before = self.site.secret_values()

    def run(self, playbook: str, *options: str) -> Run:
        self.before = self.site.secret_values()
        return run_playbook(f"s3ops.garage.{playbook}", self.site.inventory(), *LOUD, *options)

    def changed(self) -> set[str]:
        now = self.site.secret_values()
        return {name for name in now if now[name] != self.before[name]}

    def status(self, pod: str, path: str, token: str) -> int:
        url = f"{self.site.namespace.admin_url(pod)}{path}"
        return requests.get(url, headers={"Authorization": f"Bearer {token}"}, timeout=TIMEOUT_SECONDS).status_code

    def hidden_in(self, run: Run) -> bool:
        """Whether no value, of before or of now, was shown."""
        return not shown(run, self.before, self.site.secret_values())

    def settled(self) -> bool:
        run = self.site.run(*LOUD)
        assert (run.rc, run.changed) == (0, 0), run.output
        assert self.hidden_in(run)
        return "2 of 2 nodes up, healthy" in run.output and all(is_ready(pod) for pod in self.site.pods().values())


def told(run: Run) -> list[Any]:
    """What was said of a rotation."""
    said = [row.get("msg") for row in run.results("paris", "ansible.builtin.debug")]
    return [message for message in said if isinstance(message, dict) and "rotated" in message]


@pytest.fixture(scope="module")
def rotating(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rotating]:
    made = Site(cluster, Path(tmp_path_factory.mktemp("rotation")))
    made.change({"storage": {"replicas": 2}, "replication": {"factor": 2}})
    try:
        run = made.run(*LOUD)
        assert run.rc == 0, run.output
        found = Rotating(made)
        assert found.hidden_in(run)
        yield found
    finally:
        made.close()


@pytest.mark.requirement("TD-31", "TD-40")
def test_the_metrics_token_changes_node_by_node(rotating: Rotating) -> None:
    with rotating.site.watch() as watch:
        run = rotating.run("rotate_metrics_token")
    assert run.rc == 0, run.output
    assert (rotating.changed(), watch.replaced, watch.most_down) == ({"metrics-token"}, PODS, 1)
    (said,) = told(run)
    assert (said["rotated"], said["keys"]) == (True, ["metrics-token"])
    assert "metrics-token" in said["warning"]
    for pod in PODS:
        assert rotating.status(pod, "/metrics", rotating.before["metrics-token"]) == 403
        assert rotating.status(pod, "/metrics", rotating.site.secret_values()["metrics-token"]) == 200
    assert rotating.hidden_in(run)


@pytest.mark.requirement("TD-31", "TD-40", "TD-50")
def test_the_admin_token_changes_and_the_play_never_stands_without_one(rotating: Rotating) -> None:
    space = rotating.site.namespace
    address = space.core.read_namespaced_service("paris-admin", space.name).spec.cluster_ip
    # Behind it are nodes that know the former token, and nodes that know the new one.
    rotating.site.change({"admin": {"transport": "http", "api_url": f"http://{address}:3903"}})
    with rotating.site.watch() as watch:
        run = rotating.run("rotate_admin_token")
    assert run.rc == 0, run.output
    assert (rotating.changed(), watch.replaced, watch.most_down) == ({"admin-token"}, PODS, 1)
    assert told(run)[0]["rotated"] is True
    new = rotating.site.secret_values()["admin-token"]
    for pod in PODS:
        assert rotating.status(pod, "/v2/GetClusterStatus", rotating.before["admin-token"]) == 403
        assert rotating.status(pod, "/v2/GetClusterStatus", new) == 200
    assert nothing_left(rotating)
    assert rotating.hidden_in(run)


def left_behind(rotating: Rotating, expiration: str | None) -> None:
    """What a rotation of the admin token leaves that breaks off before its end."""
    space = rotating.site.namespace
    headers = {"Authorization": f"Bearer {rotating.site.secret_values()['admin-token']}"}
    body = {"name": "paris (rotation of the admin token)", "scope": ["*"], "expiration": expiration}
    made = requests.post(f"{space.admin_url(PODS[0])}/v2/CreateAdminToken", headers=headers, json=body, timeout=TIMEOUT_SECONDS)
    token = made.json()["secretToken"]
    meta = {"name": "paris-garage-rotation", "labels": {"app.kubernetes.io/managed-by": "s3ops.garage"}}
    space.core.create_namespaced_secret(space.name, {"metadata": meta, "stringData": {"token": token}})


def nothing_left(rotating: Rotating) -> bool:
    headers = {"Authorization": f"Bearer {rotating.site.secret_values()['admin-token']}"}
    listed = requests.get(f"{rotating.site.namespace.admin_url(PODS[0])}/v2/ListAdminTokens", headers=headers, timeout=TIMEOUT_SECONDS).json()
    return not [token for token in listed if token["id"]] and rotating.site.names("Secret") == {"paris-garage"}


@pytest.mark.requirement("TD-03", "TD-31")
def test_a_rotation_goes_on_after_one_that_broke_off_long_ago(rotating: Rotating) -> None:
    left_behind(rotating, "2020-01-01T00:00:00Z")
    run = rotating.run("rotate_admin_token")
    assert run.rc == 0, run.output
    assert rotating.changed() == {"admin-token"}
    assert nothing_left(rotating)
    assert rotating.hidden_in(run)


@pytest.mark.requirement("TD-03")
@pytest.mark.parametrize("expiration", [None, "2020-01-01T00:00:00Z"])
def test_a_run_of_the_site_removes_what_a_rotation_left(rotating: Rotating, expiration: str | None) -> None:
    left_behind(rotating, expiration)
    run = rotating.site.run()
    assert (run.rc, run.changed) == (0, 1), run.output
    assert nothing_left(rotating)
    assert rotating.settled()


@pytest.mark.requirement("OP-005", "TD-31")
def test_the_rpc_secret_changes_with_all_nodes_stopped_and_only_when_that_is_confirmed(rotating: Rotating) -> None:
    uids = rotating.site.uids()
    refused = rotating.run("rotate_rpc_secret")
    assert refused.rc != 0
    assert "all nodes of paris are stopped" in refused.output
    assert "derived from the RPC secret" in refused.output
    assert (rotating.changed(), rotating.site.uids()) == (set(), uids)
    with rotating.site.watch() as watch:
        run = rotating.run("rotate_rpc_secret", "-e", '{"garage_confirm_rpc_rotation": "stop all nodes of paris"}')
    assert run.rc == 0, run.output
    assert (rotating.changed(), watch.most_down, sorted(watch.replaced)) == ({"rpc-secret"}, 2, PODS)
    assert told(run)[0]["keys"] == ["rpc-secret"]
    assert rotating.hidden_in(run)
    assert rotating.settled()
