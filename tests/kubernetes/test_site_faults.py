# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong while a site is brought to its site file: what is told, and that running again puts it right."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
import yaml
from kubernetes import client

from tests.garage.ansible_run import ANSIBLE_PLAYBOOK, clean_environment
from tests.kubernetes.site_driver import PLAYBOOK, POD_TIMEOUT, Site
from tools.testbed.waiting import wait_until

pytestmark = pytest.mark.long
OUTAGE_SECONDS = 6


class Play:
    """The playbook in a process of its own, that can be killed with all its children."""

    def __init__(self, site: Site, folder: Path) -> None:
        folder.mkdir()
        inventory = folder / "inventory.json"
        inventory.write_text(json.dumps(site.inventory()), encoding="utf-8")
        (folder / "ansible.cfg").touch()
        self.log = folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [str(ANSIBLE_PLAYBOOK), "-i", str(inventory), PLAYBOOK], cwd=folder, env=clean_environment(str(folder), None),
                stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def wait(self) -> int:
        return self.process.wait(POD_TIMEOUT * 3)


def healthy(site: Site) -> None:
    """One more run finds a healthy site and changes nothing."""
    run = site.run()
    assert run.rc == 0, run.output
    assert "3 of 3 nodes up, healthy" in run.output
    again = site.run()
    assert (again.rc, again.changed) == (0, 0), again.output


@pytest.mark.requirement("FC-100", "TD-45")
@pytest.mark.parametrize("moments", [["POST .*/secrets$", "PATCH .*/statefulsets/paris-storage-1$", "GET .*/pods$", "PATCH .*/configmaps/paris-storage-2$"]])
def test_a_killed_play_is_simply_run_again(site: Site, tmp_path: Path, moments: list[str]) -> None:
    for number, moment in enumerate(moments):
        site.proxy.take()
        play = Play(site, tmp_path / str(number))
        try:
            site.proxy.wait_for(moment, POD_TIMEOUT)
        finally:
            play.kill()
    healthy(site)


@pytest.mark.requirement("FC-017", "TD-53")
def test_two_plays_at_once_agree_on_one_site(site: Site, tmp_path: Path) -> None:
    plays = [Play(site, tmp_path / name) for name in ("one", "two")]
    ended = [play.wait() for play in plays]
    # The slower one may have been told to run again, by name.
    assert 0 in ended or "run again" in "".join(play.log.read_text(encoding="utf-8") for play in plays)
    healthy(site)
    hashes = {pod.metadata.annotations["s3ops.garage/config-checksum"] for pod in site.pods().values()}
    assert len(site.pods()) == 3
    assert len(hashes) == 1


@pytest.mark.requirement("OP-120")
def test_an_api_server_that_is_away_for_a_while(site: Site) -> None:
    interrupted = threading.Event()

    def interrupt() -> None:
        site.proxy.wait_for("PATCH .*/statefulsets/paris-storage-2$", POD_TIMEOUT)
        with site.proxy.outage():
            time.sleep(OUTAGE_SECONDS)
        interrupted.set()

    interruption = threading.Thread(target=interrupt, daemon=True)
    interruption.start()
    run = site.run()
    interruption.join()
    assert interrupted.is_set()
    assert run.rc == 0, run.output
    assert "3 of 3 nodes up, healthy" in run.output


@pytest.mark.requirement("VG-02")
def test_a_node_whose_claim_was_lost_is_not_taken_for_the_one_before(site: Site) -> None:
    assert site.run().rc == 0
    core, space = site.namespace.core, site.namespace.name
    before = site.uids()["paris-storage-2-0"]
    core.delete_namespaced_persistent_volume_claim("metadata-paris-storage-2-0", space)
    core.delete_namespaced_pod("paris-storage-2-0", space)
    wait_until("the pod of the node", lambda: "the old one" if site.uids().get("paris-storage-2-0", before) == before else None, POD_TIMEOUT, pause=0.5)
    site.namespace.wait_pod("paris-storage-2-0", "Ready")
    run = site.run()
    assert run.rc != 0
    assert "paris-storage-2-0: the pod runs another Garage node than before" in run.output
    assert "garage_accept_new_identities" in run.output
    assert not run.results("paris", "layout")


@pytest.mark.requirement("VG-10", "TD-41")
def test_a_claim_that_waits_is_named_with_its_source(site: Site, namespace: client.V1Namespace) -> None:
    source = {"api_group": "restore.example.org", "kind": "GroupRestore", "name": "nightly"}
    site.change({"storage": {"metadata": {"data_source_ref": source}, "data": {"data_source_ref": source}}})
    run = site.run("-e", "garage_pod_timeout=10")
    assert run.rc != 0
    assert "claim metadata-paris-storage-0-0 is Pending: it waits for its source GroupRestore.restore.example.org nightly" in run.output


def role_of_docs() -> list[dict]:
    """The rules that the guide says are needed."""
    text = Path("docs/kubernetes.md").read_text(encoding="utf-8")
    (block,) = [part.split("```")[0] for part in text.split("```yaml\n") if "kind: Role\n" in part]
    return yaml.safe_load(block)["rules"]


def kubeconfig_with(site: Site, rules: list[dict], folder: Path) -> Path:
    """A kubeconfig of an account that has these rights in the namespace of the site, which is there, and no other."""
    core, space = client.CoreV1Api(site.cluster.api()), site.namespace.name
    core.create_namespaced_service_account(space, {"metadata": {"name": "play"}})
    rbac = client.RbacAuthorizationV1Api(site.cluster.api())
    rbac.create_namespaced_role(space, {"metadata": {"name": "play"}, "rules": rules})
    rbac.create_namespaced_role_binding(space, {
        "metadata": {"name": "play"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "play"},
        "subjects": [{"kind": "ServiceAccount", "name": "play", "namespace": space}],
    })  # fmt: skip
    token = core.create_namespaced_service_account_token("play", space, {"spec": {}}).status.token
    configuration = site.cluster.api().configuration
    path = folder / "play.kubeconfig"
    path.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "play",
        "clusters": [{"name": "play", "cluster": {"server": configuration.host, "certificate-authority": configuration.ssl_ca_cert}}],
        "users": [{"name": "play", "user": {"token": token}}],
        "contexts": [{"name": "play", "context": {"cluster": "play", "user": "play"}}],
    }), encoding="utf-8")  # fmt: skip
    return path


@pytest.mark.requirement("TD-21", "TD-41")
def test_the_rights_of_the_guide_do_and_one_less_is_named(site: Site, tmp_path: Path) -> None:
    rules = role_of_docs()
    client.CoreV1Api(site.cluster.api()).create_namespace({"metadata": {"name": site.namespace.name}})
    site.change({"kubernetes": {"kubeconfig": str(kubeconfig_with(site, rules, tmp_path))}})
    run = site.run()
    assert run.rc == 0, run.output
    rbac = client.RbacAuthorizationV1Api(site.cluster.api())
    fewer = [rule | {"verbs": [verb for verb in rule["verbs"] if verb != "patch"]} if "statefulsets" in rule["resources"] else rule for rule in rules]
    rbac.replace_namespaced_role("play", site.namespace.name, {"metadata": {"name": "play"}, "rules": fewer})
    site.change({"storage": {"pod": {"annotations": {"example.org/try": "1"}}}})
    before = site.uids()
    run = site.run()
    assert run.rc != 0
    lacking = f'lacks a right in the namespace {site.namespace.name}: apiGroups: ["apps"], resources: [statefulsets], verbs: [patch]'
    assert lacking in run.output.replace('\\"', '"')
    assert site.uids() == before


@pytest.mark.requirement("TD-41")
def test_a_field_of_another_owner_is_left_to_it(site: Site) -> None:
    site.change({"storage": {"replicas": 1, "service": {"annotations": {"example.org/team": "red"}}}, "replication": {"factor": 1}})
    assert site.run().rc == 0
    core, space = site.namespace.core, site.namespace.name
    core.patch_namespaced_service("paris-s3", space, {"metadata": {"annotations": {"example.org/team": "blue"}}}, field_manager="somebody")
    run = site.run()
    assert run.rc != 0
    assert "somebody" in run.output
    assert "example.org/team" in run.output
    assert core.read_namespaced_service("paris-s3", space).metadata.annotations["example.org/team"] == "blue"
    run = site.run("-e", "garage_force_conflicts=true")
    assert run.rc == 0, run.output
    assert core.read_namespaced_service("paris-s3", space).metadata.annotations["example.org/team"] == "red"
