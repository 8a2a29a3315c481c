# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two sites of one cluster get another RPC secret together. The tests share the sites and follow one another.

lyon is run with the rights of the guide, paris by a way to the API that can fail.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import pytest
from botocore.config import Config
from kubernetes import client

from tests.garage.playbook_run import Run
from tests.kubernetes.federated_sites import Sites
from tests.kubernetes.site_driver import LOOK_SECONDS, Site, shown
from tests.kubernetes.test_site_faults import kubeconfig_with, role_of_docs

pytestmark = pytest.mark.long
CONFIRMED = ("-e", '{"garage_confirm_rpc_rotation": "stop all nodes of lyon, paris"}')
GARAGE = ("/garage", "-c", "/etc/garage/garage.toml")
S3_PORT = 3900
NAME, CONTENT = "object", secrets.token_bytes(2 * 2**20 + 17)


class Rotating:
    """Both sites, and what they were before the last run."""

    def __init__(self, sites: Sites) -> None:
        self.sites = sites
        self.both = (sites.paris, sites.lyon)
        self.look()

    def look(self) -> None:
        """Take what is there for what was before."""
        self.before = [site.secret_values() for site in self.both]
        self.uids = [site.uids() for site in self.both]
        self.clusters = [cluster(site) for site in self.both]

    def run(self, *options: str) -> Run:
        run = self.sites.play("s3ops.garage.rotate_rpc_secret", "-vvvv", "--diff", *options)
        now = [site.secret_values() for site in self.both]
        assert not shown(run, *self.before, *now, *(site.file["credentials"] for site in self.both))
        return run

    def untouched(self) -> bool:
        return ([site.secret_values() for site in self.both], [site.uids() for site in self.both]) == (self.before, self.uids)


def ask(site: Site, endpoint: str, **query: Any) -> Any:
    """What the first node of a site answers to a call of its Admin API."""
    ended = site.namespace.run(f"{site.name}-storage-0-0", *GARAGE, "json-api", endpoint, *([json.dumps(query)] if query else []))
    assert ended.rc == 0, ended.stderr
    return json.loads(ended.stdout)


def cluster(site: Site) -> dict[str, Any]:
    """The cluster as a site sees it, and which node each of its pods is."""
    status, health = ask(site, "GetClusterStatus"), ask(site, "GetClusterHealth")
    return {"version": status["layoutVersion"], "up": {node["id"]: node["isUp"] for node in status["nodes"]}, "health": health["status"],
            "own": {pod: site.namespace.run(pod, *GARAGE, "node", "id", "-q").stdout.partition("@")[0].strip() for pod in sorted(site.pods())}}


def s3(site: Site) -> Any:
    key = ask(site, "GetKeyInfo", search="app", showSecretKey=True)
    return boto3.client(
        "s3", endpoint_url=site.namespace.url(f"{site.name}-storage-1-0", S3_PORT), region_name="garage", aws_access_key_id=key["accessKeyId"],
        aws_secret_access_key=key["secretAccessKey"], config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 10}),
    )  # fmt: skip


@pytest.fixture(scope="module")
def rotating(federation: Sites, tmp_path_factory: pytest.TempPathFactory) -> Rotating:
    paris, lyon = federation.paris, federation.lyon
    client.CoreV1Api(lyon.cluster.api()).create_namespace({"metadata": {"name": lyon.namespace.name}})
    account = kubeconfig_with(lyon, role_of_docs(), tmp_path_factory.mktemp("account"))
    lyon.change({"kubernetes": {"kubeconfig": str(account)}})
    grants = [{"key": "app", "read": True, "write": True}]
    paris.change({"tenancy": {"keys": [{"name": "app"}], "buckets": [{"name": "media", "grants": grants}]}})
    alone = paris.run()
    assert alone.rc == 0, alone.output
    federation.join(lyon, paris)
    joined = federation.run()
    assert "lyon: layout version 2, 4 of 4 nodes up, healthy" in joined.output
    federation.join(paris, lyon)
    s3(paris).put_object(Bucket="media", Key=NAME, Body=CONTENT)
    return Rotating(federation)


@contextmanager
def pods_watched(rotating: Rotating) -> Iterator[list[tuple[bool, bool]]]:
    """Look all the time meanwhile: whether there were pods of before, and whether there were others."""
    spaces = {site.namespace.name for site in rotating.both}
    old = {uid for uids in rotating.uids for uid in uids.values()}
    core = client.CoreV1Api(rotating.sites.paris.cluster.api())
    seen: list[tuple[bool, bool]] = []
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(LOOK_SECONDS):
            # One answer for both sites, so that what it shows was there at one moment.
            pods = core.list_pod_for_all_namespaces(label_selector="app.kubernetes.io/name=garage").items
            uids = {pod.metadata.uid for pod in pods if pod.metadata.namespace in spaces}
            seen.append((bool(uids & old), bool(uids - old)))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def rotated(rotating: Rotating) -> bool:
    """Both have one RPC secret, another one than before; all else is what it was, in other pods."""
    (paris, lyon), former = (site.secret_values() for site in rotating.both), rotating.before
    assert paris["rpc-secret"] == lyon["rpc-secret"]
    assert paris["rpc-secret"] not in [values["rpc-secret"] for values in former]
    assert [values | {"rpc-secret": ""} for values in (paris, lyon)] == [values | {"rpc-secret": ""} for values in former]
    for site, uids, before in zip(rotating.both, rotating.uids, rotating.clusters, strict=True):
        now = site.uids()
        assert now.keys() == uids.keys()
        assert not set(now.values()) & set(uids.values())
        assert cluster(site) == before
        assert list(before["up"].values()) == [True] * 4
        assert set(before["own"].values()) < set(before["up"])
        assert (len(before["own"]), before["health"]) == (2, "healthy")
        assert s3(site).get_object(Bucket="media", Key=NAME)["Body"].read() == CONTENT
    return True


def settled(rotating: Rotating) -> bool:
    run = rotating.sites.run()
    assert run.changed == 0, run.output
    return all(f"{site.name}: layout version 2, 4 of 4 nodes up, healthy" in run.output for site in rotating.both)


@pytest.mark.requirement("OP-005")
def test_nothing_is_done_without_all_that_share_it_and_without_these_words(rotating: Rotating) -> None:
    refused = rotating.run()
    assert refused.rc != 0
    assert "all nodes of lyon, paris are stopped" in refused.output
    for there, missing in (("paris", "lyon"), ("lyon", "paris")):
        alone = rotating.run("--limit", there, *CONFIRMED)
        assert alone.rc != 0
        assert f"{missing} (host {missing}) has the same RPC secret and is not in this run" in alone.output
    assert rotating.untouched()


@pytest.mark.requirement("OP-005", "TD-41")
@pytest.mark.parametrize(("group", "kind"), [("", "secrets"), ("apps", "statefulsets")])
def test_no_site_stops_when_another_one_may_not_change(rotating: Rotating, group: str, kind: str) -> None:
    lyon = rotating.sites.lyon
    rotating.look()
    rotating.sites.share(secrets.token_hex(32))
    rules = role_of_docs()
    fewer = [rule | {"verbs": [verb for verb in rule["verbs"] if verb != "patch"]} if kind in rule["resources"] else rule for rule in rules]
    rbac = client.RbacAuthorizationV1Api(lyon.cluster.api())
    rbac.replace_namespaced_role("play", lyon.namespace.name, {"metadata": {"name": "play"}, "rules": fewer})
    try:
        refused = rotating.run(*CONFIRMED)
    finally:
        rbac.replace_namespaced_role("play", lyon.namespace.name, {"metadata": {"name": "play"}, "rules": rules})
    assert refused.rc != 0
    lacking = f'lacks a right in the namespace {lyon.namespace.name}: apiGroups: ["{group}"], resources: [{kind}], verbs: [patch]'
    assert lacking in refused.output.replace('\\"', '"')
    assert "is undefined" not in refused.output
    assert rotating.untouched()


@pytest.mark.requirement("OP-005", "TD-31", "TD-40")
def test_no_node_with_the_former_secret_meets_one_with_that_of_the_site_files(rotating: Rotating) -> None:
    rotating.look()
    given = secrets.token_hex(32)
    rotating.sites.share(given)
    foretold = rotating.run("--check", *CONFIRMED)
    assert foretold.rc == 0, foretold.output
    assert all(foretold.stats[site.name]["changed"] > 0 for site in rotating.both)
    assert rotating.untouched()
    with pods_watched(rotating) as seen:
        run = rotating.run(*CONFIRMED)
    assert run.rc == 0, run.output
    assert rotating.sites.lyon.secret_values()["rpc-secret"] == given
    assert (True, True) not in seen
    assert (False, False) in seen
    assert rotated(rotating)
    assert settled(rotating)


@pytest.mark.requirement("OP-005")
def test_nothing_stops_for_the_secret_that_is_in_force(rotating: Rotating) -> None:
    rotating.look()
    run = rotating.run(*CONFIRMED)
    assert (run.rc, run.changed) == (0, 0), run.output
    assert "the site file gives the value that is in force" in run.output
    assert rotating.untouched()


@pytest.mark.requirement("OP-005", "TD-31", "TD-40")
@pytest.mark.parametrize("given", [secrets.token_hex(32), None], ids=["of the site files", "made"])
def test_a_run_that_broke_off_between_the_sites_is_run_again(rotating: Rotating, given: str | None) -> None:
    paris, lyon = rotating.both
    rotating.look()
    rotating.sites.share(given)
    with paris.proxy.outage(r"^PATCH \S*/secrets/paris-garage(?!\S*dryRun)"):
        broken = rotating.run(*CONFIRMED)
    assert broken.rc != 0
    assert "nodes of lyon, paris may be stopped" in broken.output
    assert paris.secret_values() == rotating.before[0]
    assert lyon.secret_values() != rotating.before[1]
    assert not paris.pods()
    assert not lyon.pods()
    run = rotating.run(*CONFIRMED)
    assert run.rc == 0, run.output
    assert rotated(rotating)
    assert settled(rotating)


@pytest.mark.requirement("OP-005")
def test_a_run_of_the_sites_starts_what_a_rotation_left_stopped(rotating: Rotating) -> None:
    rotating.look()
    for site in rotating.both:
        for name in site.names("StatefulSet"):
            site.namespace.apps.patch_namespaced_stateful_set_scale(name, site.namespace.name, {"spec": {"replicas": 0}})
    for site in rotating.both:
        site.wait_gone()
    rotating.sites.run()
    assert [cluster(site) for site in rotating.both] == rotating.clusters
    assert settled(rotating)
