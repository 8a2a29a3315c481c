# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A site that was lost comes back from a group snapshot: the same nodes, the same objects."""

from __future__ import annotations

import json
import secrets
from typing import Any

import boto3
import pytest
from botocore.config import Config

from tests.garage.guide_run import Guide
from tests.garage.playbook_run import run_playbook
from tests.kubernetes.site_driver import PLAYBOOK, POD_TIMEOUT, Site, fitted, merged
from tools.cluster.storage import RESTORE_GROUP, RESTORE_KIND
from tools.testbed.waiting import wait_until

S3_PORT = 3900
SIZES = (0, 1000, 3 * 2**20 + 17)


TENANCY = {"keys": [{"name": "app"}], "buckets": [{"name": "media", "grants": [{"key": "app", "read": True, "write": True}]}]}
SOURCES = {"metadata-paris-storage": "garage-metadata", "data-paris-storage": "garage-data", "metadata-paris-gateway": "garage-gateway-metadata"}


def take_guide(guide: Guide, site: Site) -> dict[str, Any]:
    """The site file of the guide as that of the site; returns it without its sources, as it was before all was lost."""
    guide.places = {"kopiur.home-operations.com": RESTORE_GROUP, "kind: Restore": f"kind: {RESTORE_KIND}",
                    "namespace: garage}": f"namespace: {site.namespace.name}}}", **fitted(site.cluster)}
    [shown] = guide.yaml("Bringing a site back from a group snapshot")
    site.file = merged(shown["garage_site"], {"kubernetes": {"kubeconfig": str(site.proxy.kubeconfig)}, "tenancy": TENANCY})
    no_source = {"data_source_ref": None}
    return merged(site.file, {"storage": {"metadata": no_source, "data": no_source}, "gateway": {"metadata": no_source}})


def ask(site: Site, endpoint: str, **query: Any) -> Any:
    """What the first node answers to a call of its Admin API."""
    command = ["/garage", "-c", "/etc/garage/garage.toml", "json-api", endpoint, *([json.dumps(query)] if query else [])]
    ended = site.namespace.run("paris-storage-0-0", *command)
    assert ended.rc == 0, ended.stderr
    return json.loads(ended.stdout)


def s3(site: Site) -> Any:
    key = ask(site, "GetKeyInfo", search="app", showSecretKey=True)
    return boto3.client(
        "s3", endpoint_url=site.namespace.url("paris-storage-1-0", S3_PORT), region_name="garage", aws_access_key_id=key["accessKeyId"],
        aws_secret_access_key=key["secretAccessKey"], config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 10}),
    )  # fmt: skip


def node_ids(run: Any) -> dict[str, str]:
    return {node["pod"]: node["id"] for node in run.results("paris", "kubernetes_workload_info")[-1]["nodes"]}


def lose_everything(site: Site, snapshot: str) -> None:
    """Stop the nodes, take the snapshot that a backup would have, and delete all that the site had in the cluster."""
    apps, core, space = site.namespace.apps, site.namespace.core, site.namespace.name
    for name in site.names("StatefulSet"):
        apps.delete_namespaced_stateful_set(name, space)
    site.wait_gone()
    site.namespace.take_group_snapshot(snapshot)
    for name in site.claims():
        core.delete_namespaced_persistent_volume_claim(name, space)
    for name in site.names("ConfigMap"):
        core.delete_namespaced_config_map(name, space)
    for name in site.names("Secret"):
        core.delete_namespaced_secret(name, space)
    wait_until("the end of the claims", lambda: ", ".join(site.claims()) or None, POD_TIMEOUT, pause=0.5)


@pytest.mark.guide("docs/restore.md")
@pytest.mark.requirement("VG-01", "VG-09", "VG-10", "VG-14", "VG-34", "FC-122")
def test_a_site_comes_back_from_a_group_snapshot(site: Site, guide: Guide) -> None:
    before = take_guide(guide, site)
    first = run_playbook(PLAYBOOK, site.inventory(before))
    assert first.rc == 0, first.output
    ids = node_ids(first)
    objects = {f"object-{size}": secrets.token_bytes(size) for size in SIZES}
    for name, content in objects.items():
        s3(site).put_object(Bucket="media", Key=name, Body=content)
    snapshot = f"{site.namespace.name}-nightly"
    lose_everything(site, snapshot)

    for source in SOURCES.values():
        site.namespace.create_group_restore(source, snapshot)
    back = site.run()
    assert back.rc == 0, back.output
    assert "identit" in back.output
    assert node_ids(back) == ids
    assert "paris: layout version 1, 5 of 5 nodes up, healthy" in back.output
    assert [row["changed"] for row in back.results("paris", "layout")] == [False]
    assert [row["changed"] for row in back.results("paris", "tenancy")] == [False]
    for name, content in objects.items():
        assert s3(site).get_object(Bucket="media", Key=name)["Body"].read() == content
    assert {name.rsplit("-", 2)[0]: claim.spec.data_source_ref.name for name, claim in site.claims().items()} == SOURCES

    again = site.run()
    assert (again.rc, again.changed) == (0, 0), again.output

    # What a source was is a matter of record: another one is refused, while the same may stay in the site file though it is gone.
    site.change({"storage": {"data": {"data_source_ref": {"name": "another"}}}})
    refused = site.run()
    assert refused.rc != 0
    assert "a claim is filled once" in refused.output
