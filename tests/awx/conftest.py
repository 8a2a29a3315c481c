# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two real sites, the AWX project with their site files, and a fake AWX that its own playbook has configured."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.awx.controller import Controller, Job
from tests.awx.fake_awx import FakeAwx
from tests.garage import conftest as nodes
from tests.garage.ansible_run import clean_environment
from tests.garage.conftest import MakeCluster
from tests.garage.federation_driver import Federation, federation_of, posts
from tools.check import awx as awx_environment
from tools.testbed.nodes import Site

WORKFLOW = "Garage: change all sites"
CLUSTER, CLUSTER_TOKEN = "lyon cluster", "token-of-the-cluster-in-lyon"
# As AWX's own type for a Kubernetes is: it reaches the job in its environment.
KUBERNETES_TYPE = {"name": "OpenShift or Kubernetes API Bearer Token", "inputs": {"fields": []},
                   "injectors": {"file": {}, "env": {"K8S_AUTH_HOST": "{{ host }}", "K8S_AUTH_API_KEY": "{{ bearer_token }}"}}}
MakeProject = Callable[..., Path]
# The fixtures that give real nodes, for these tests as well.
end_like_ctrl_c, garage_binary, make_cluster = nodes.end_like_ctrl_c, nodes.garage_binary, nodes.make_cluster


@pytest.fixture(scope="session")
def environment() -> awx_environment.Environment:
    """What the execution environment holds; an error, never a skip, when it cannot be had."""
    return awx_environment.obtain()


@pytest.fixture(scope="session")
def collections(environment: awx_environment.Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where an update of the project has installed this collection."""
    target = tmp_path_factory.mktemp("collections")
    awx_environment.install_own(environment, target)
    return target


@pytest.fixture(scope="session")
def federation(make_cluster: MakeCluster) -> Iterator[Federation]:  # noqa: F811
    """Two nodes in paris, two in lyon of which one has a place in the site files; they know nothing of each other, and there is no layout."""
    cluster = make_cluster(Site("paris", "paris", 2), Site("lyon", "lyon", 2), replication_factor=3)
    with federation_of(cluster, paris=2, lyon=1) as found:
        yield found


@pytest.fixture(scope="session")
def make_project(federation: Federation, tmp_path_factory: pytest.TempPathFactory) -> MakeProject:
    """make_project(change): the project with the example's site files, led to the real sites; ``change(name, site)`` changes a site file."""

    def make(change: Callable[[str, dict[str, Any]], None] = lambda name, site: None) -> Path:
        project = tmp_path_factory.mktemp("project") / "awx"
        shutil.copytree(awx_environment.PROJECT, project)
        for path in sorted((project / "inventory" / "host_vars").iterdir()):
            document = yaml.safe_load(path.read_text(encoding="utf-8"))
            lead(document["garage_site"], federation)
            change(path.stem, document["garage_site"])
            path.write_text(yaml.safe_dump(document), encoding="utf-8")
        return project

    return make


def lead(site: dict[str, Any], federation: Federation) -> None:
    """Put the addresses and ids of the real nodes in place of the example's."""
    own = federation.cluster.site(site["name"]).nodes
    site["connect_to"] |= {"api_url": federation.proxies[site["name"]].url, "peers": [node.rpc_address for node in own]}
    for role, node in zip(site["layout"]["nodes"], own, strict=False):
        role |= {"node": node.node_id, "capacity": "1GB"}
    for remote in site["remotes"]:
        remote["peers"] = [node.rpc_address for node in federation.cluster.site(remote["name"]).nodes]


@pytest.fixture(scope="session")
def configure(environment: awx_environment.Environment, federation: Federation,
              tmp_path_factory: pytest.TempPathFactory) -> Callable[[FakeAwx], dict[str, int]]:
    """configure(awx) runs the playbook that configures an AWX: how many tasks changed something, by their names."""

    def run(awx: FakeAwx) -> dict[str, int]:
        folder = tmp_path_factory.mktemp("configure")
        (folder / "ansible.cfg").touch()
        paris, lyon = ({"name": name, "admin_url": federation.proxies[name].url} for name in ("paris", "lyon"))
        sites = [{**paris, "site_role": "writer"}, {**lyon, "site_role": "follower", "kubernetes_credential": CLUSTER}]
        settings = {"awx_wait": False, "awx_sites": sites}
        variables = clean_environment(str(folder), {"CONTROLLER_HOST": awx.url, "CONTROLLER_OAUTH_TOKEN": "any", "HOME": str(folder),
                                                    "ANSIBLE_COLLECTIONS_PATH": str(environment.collections),
                                                    "ANSIBLE_PYTHON_INTERPRETER": str(environment.bin / "python")})
        command = [str(environment.bin / "ansible-playbook"), str(awx_environment.PROJECT / "configure.yml"), "-e", json.dumps(settings)]
        ended = subprocess.run(command, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return _changes(ended.stdout)

    return run


def _changes(output: str) -> dict[str, int]:
    """Tasks of a run that changed something, with how many of their items did."""
    task, found = "", {}
    for line in output.splitlines():
        if line.startswith("TASK ["):
            task = line[len("TASK ["):].partition("]")[0]
        elif line.startswith("changed:"):
            found[task] = found.get(task, 0) + 1
    return found


@pytest.fixture(scope="session")
def awx(configure: Callable[[FakeAwx], dict[str, int]]) -> Iterator[FakeAwx]:
    with FakeAwx() as fake:
        kind = fake.create("credential_types", KUBERNETES_TYPE)
        fake.create("credentials", {"name": CLUSTER, "credential_type": kind["id"], "inputs": {"host": "https://127.0.0.1", "bearer_token": CLUSTER_TOKEN}})
        configure(fake)
        yield fake


@pytest.fixture(scope="session")
def controller(awx: FakeAwx, environment: awx_environment.Environment, collections: Path, make_project: MakeProject, federation: Federation,
               tmp_path_factory: pytest.TempPathFactory) -> Controller:
    """With the admin tokens typed into the credentials."""
    tokens = {f"Garage {site.name}": site.token for site in federation.cluster.sites}
    return Controller(awx, environment, make_project(), collections, tmp_path_factory.mktemp("jobs"), tokens)


@pytest.fixture(scope="session")
def first(controller: Controller, federation: Federation) -> dict[str, Job]:
    """The workflow from nothing, with all previews before any write."""
    federation.forget()

    def nothing_written() -> None:
        assert [posts(federation.take(name)) for name in ("paris", "lyon")] == [[], []]

    jobs = controller.workflow(WORKFLOW, nothing_written)
    assert {name: job.status for name, job in jobs.items()} == dict.fromkeys(["preview-lyon", "preview-paris", "apply-paris", "apply-lyon"], "successful"), \
        "\n".join(job.output for job in jobs.values())
    return jobs


@pytest.fixture
def secrets(federation: Federation, first: dict[str, Job]) -> list[str]:
    """All that nobody may see: the tokens of the sites and of a Kubernetes, and the secrets of the access keys."""
    admin = federation.cluster.nodes[0].admin
    keys = [admin.get("GetKeyInfo", id=key["id"], showSecretKey="true")["secretAccessKey"] for key in admin.get("ListKeys")]
    assert keys
    return [CLUSTER_TOKEN, *(site.token for site in federation.cluster.sites), *keys]
