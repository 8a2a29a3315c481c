# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the guides show of Kubernetes, done as it is written. Namespaces, addresses, sizes and the class of volumes are those of the tests."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import pytest

from tests.garage.guide_run import Guide, changed, play
from tests.garage.playbook_run import run_playbook
from tests.kubernetes.exec_pods import CONFIG, garage_pod, limited_account
from tests.kubernetes.namespaces import Namespace
from tests.kubernetes.site_driver import POD_TIMEOUT, Site, fitted

HERE = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}", "garage_pod_timeout": POD_TIMEOUT,
        "garage_wait_timeout": POD_TIMEOUT}


def inventory(guide: Guide, **files: dict[str, Any]) -> None:
    """The site files of an inventory.yml, by the names of its hosts."""
    guide.write("inventory.yml", {"all": {"vars": HERE, "hosts": {name: {"garage_site": file} for name, file in files.items()}}})


@pytest.mark.guide("README.md", "A site on Kubernetes")
@pytest.mark.guide("docs/kubernetes.md", "A site on Kubernetes")
@pytest.mark.guide("docs/site-file.md", "A site with nodes of its own")
def test_a_site(guide: Guide, site: Site) -> None:
    guide.env["K8S_AUTH_KUBECONFIG"] = str(site.proxy.kubeconfig)
    guide.places = {"namespace: garage": f"namespace: {site.namespace.name}", **fitted(site.cluster)}
    [shown] = guide.yaml("A site on Kubernetes")
    [the_same] = guide.yaml("A site with nodes of its own")
    assert shown == the_same
    inventory(guide, paris=shown["garage_site"])
    check, run = guide.run("A site on Kubernetes")
    assert changed(check)[0] > 0
    assert "paris: layout version 1, 3 of 3 nodes up, healthy" in run


@pytest.mark.guide("docs/site-file.md", "Volumes")
def test_several_volumes_for_data(guide: Guide, site: Site) -> None:
    guide.places = {"size: 1Ti, storage_class: nvme": "size: 1Ti", "1Ti": f"1Gi, storage_class: {site.cluster.storage_class}"}
    [shown] = guide.yaml("Volumes")
    site.change({"replication": {"factor": 1}, "storage": {"replicas": 1, "data": None}})
    site.file["storage"] |= shown
    run = site.run()
    assert run.rc == 0, run.output
    assert "1 of 1 nodes up, healthy" in run.output
    [role] = run.results("paris", "layout")[-1]["layout"]["roles"]
    assert role["capacity"] == 2**30


ADMIN = """[admin]
api_bind_addr = "[::]:3903"
admin_token = "{}"
"""


@pytest.mark.guide("README.md", "In pods, with no Admin API to reach")
@pytest.mark.guide("docs/security.md")
@pytest.mark.guide("docs/site-file.md", "The way to the Admin API", "What tenants get")
@pytest.mark.guide("docs/credentials.md", "Credentials: where they are kept, and how they change")
def test_a_garage_that_something_else_runs(guide: Guide, namespace: Namespace, tmp_path: Path) -> None:
    token = secrets.token_hex(32)
    pod = garage_pod(namespace, "garage-0", CONFIG + ADMIN.format(token))
    pod["metadata"]["labels"]["app.kubernetes.io/name"] = "garage"
    namespace.create(pod)
    namespace.wait_pod("garage-0", "Ready")
    url = namespace.admin_url("garage-0")
    guide.places = {"https://garage-admin.paris.example.org": url, "namespace: garage": f"namespace: {namespace.name}",
                    '"namespace": "garage"': f'"namespace": "{namespace.name}"', "namespace: app": f"namespace: {namespace.name}",
                    "/etc/prometheus": str(guide.folder), "/etc/garage": str(guide.folder)}

    # By commands, with the rights of the guide and no others.
    [role] = guide.yaml("Commands in pods")
    guide.env["K8S_AUTH_KUBECONFIG"] = limited_account(namespace, tmp_path, *role["rules"])
    [printed] = guide.run("In pods, with no Admin API to reach")
    assert '"transport": "exec' in printed

    by_token, by_commands = guide.yaml("The way to the Admin API")
    [tenants] = guide.yaml("What tenants get")
    node = {"layout": {"nodes": [{"node": "garage-0", "capacity": "1GB"}]}, "replication": {"factor": 1}}
    inventory(guide, paris={"name": "paris", "zone": "paris", **by_token, **tenants, **node}, lyon={"name": "lyon", "zone": "paris", **by_commands})
    guide.env["GARAGE_ADMIN_TOKEN"] = token
    run = run_playbook("s3ops.garage.site", guide.folder / "inventory.yml", env=guide.env)
    assert run.rc == 0, run.output
    assert "lyon: layout version 1, 1 of 1 nodes up, healthy" in run.output
    assert (guide.folder / "garage-token").read_text(encoding="utf-8").strip()

    guide.env |= {"GARAGE_ADMIN_URL": url, "K8S_AUTH_KUBECONFIG": str(namespace.cluster.kubeconfig)}
    [tasks] = guide.yaml("Credentials: where they are kept, and how they change")
    guide.write("play.yml", play(tasks))
    run = run_playbook(guide.folder / "play.yml", {"all": {"hosts": {}}}, env=guide.env)
    assert (run.rc, run.changed) == (0, 1), run.output
    secret = namespace.core.read_namespaced_secret("app-s3", namespace.name)
    assert set(secret.data) >= {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "AWS_DEFAULT_REGION", "BUCKET_NAME"}
