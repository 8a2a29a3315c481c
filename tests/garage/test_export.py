# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that others have filled is read into a file, and the file changes nothing when it is applied."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.garage.ansible_run import run_module
from tests.garage.conftest import MakeCluster
from tests.garage.playbook_run import Run, run_playbook
from tools.testbed.nodes import Cluster, Site

EVERYBODY: dict[str, Any] = {"AllowedOrigin": ["*"], "AllowedMethod": ["GET"]}
TEMPLATE = "{{ lookup('ansible.builtin.pipe', 'echo oops') }}"


@pytest.fixture(scope="module")
def filled(make_cluster: MakeCluster) -> Iterator[Cluster]:
    """A node with things that were made by plain requests, some of them odd. Its ids are in `made`."""
    cluster = make_cluster(Site("paris", "paris", 1), replication_factor=1)
    cluster.make_ready()
    admin = cluster.nodes[0].admin

    def key(name: str, **more: Any) -> str:
        return admin.post("CreateKey", {"name": name, **more})["accessKeyId"]

    def bucket(alias: str | None = None, **settings: Any) -> str:
        made = admin.post("CreateBucket", {"globalAlias": alias} if alias else {})["id"]
        if settings:
            admin.post(f"UpdateBucket?id={made}", settings)
        return made

    def allow(bucket_id: str, key_id: str, *rights: str) -> None:
        admin.post("AllowBucketKey", {"bucketId": bucket_id, "accessKeyId": key_id, "permissions": dict.fromkeys(rights, True)})

    app, nobody = key("team-app", allow={"createBucket": True}), key("")
    twins = [key("twin", expiration="2001-01-01T00:00:00Z"), key("twin", expiration="2040-06-01T12:00:00.5Z")]
    key(TEMPLATE)
    media = bucket("team-media", quotas={"maxSize": 0, "maxObjects": 10**6}, corsRules=[{**EVERYBODY, "ID": "2030-01-01"}], lifecycleRules=[
        {"ID": "old", "Status": "Disabled", "Expiration": {"Date": "2040-01-01"}, "Filter": {"And": {"Prefix": "no", "ObjectSizeLessThan": 2**40}}},
        {"ID": "parts", "Status": "Enabled", "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 3}},
    ])  # fmt: skip
    admin.post("AddBucketAlias", {"bucketId": media, "globalAlias": "media"})
    admin.post("AddBucketAlias", {"bucketId": media, "localAlias": "mine", "accessKeyId": app})
    site = bucket("www.example.org", websiteAccess={"enabled": True, "indexDocument": "index.html", "errorDocument": "404.html", "routingRules": [
        {"Condition": {"KeyPrefixEquals": "a/"}, "Redirect": {"ReplaceKeyPrefixWith": ""}}]})  # fmt: skip
    bucket("odd-rules", corsRules=[{"AllowedOrigin": ["*"], "AllowedMethod": ["get"]}], lifecycleRules=[{"ID": "nothing", "Status": "Enabled"}])
    local = admin.post("CreateBucket", {"localAlias": {"alias": "only-mine", "accessKeyId": twins[0]}})["id"]
    nameless = bucket()
    for token in ({"name": "ci", "scope": ["ListBuckets"], "expiration": "2040-01-01T00:00:00Z"}, {"name": TEMPLATE, "scope": ["NoSuchCall"]},
                  {"name": "twin", "scope": []}, {"name": "twin", "scope": ["*"]}):
        admin.post("CreateAdminToken", token)
    for bucket_id, key_id, rights in (
        (media, app, ("read", "write")), (media, twins[0], ("read",)), (media, nobody, ("owner",)), (site, app, ("read", "write", "owner")),
        (nameless, twins[1], ("read",)), (local, app, ("write",)),
    ):  # fmt: skip
        allow(bucket_id, key_id, *rights)
    yield cluster
    cluster.stop()
    cluster.remove()


def connection(cluster: Cluster) -> dict[str, Any]:
    return {"api_url": cluster.api_url, "api_token_file": str(cluster.token_file)}


def export(cluster: Cluster, path: Path, *options: str) -> Run:
    env = {"GARAGE_ADMIN_URL": cluster.api_url, "GARAGE_ADMIN_TOKEN_FILE": str(cluster.token_file)}
    return run_playbook("s3ops.garage.export", {"all": {"hosts": {"localhost": local_host()}}}, "-e", f"garage_export_path={path}", *options, env=env)


def local_host() -> dict[str, str]:
    return {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}


def content(cluster: Cluster) -> list[Any]:
    """All that is there, as the server itself tells it; it gives keys and buckets in random order."""
    admin = cluster.nodes[0].admin
    rows = [admin.get("GetBucketInfo", id=row["id"]) for row in admin.get("ListBuckets")] + [
        admin.get("GetKeyInfo", id=row["id"], showSecretKey="true") for row in admin.get("ListKeys")] + admin.get("ListAdminTokens")  # fmt: skip
    for row in rows:
        for name in ("keys", "buckets"):
            row.get(name, []).sort(key=str)
    return rows


def test_what_was_exported_changes_nothing_when_it_is_applied(filled: Cluster, tmp_path: Path) -> None:
    path, before = tmp_path / "tenancy.yml", content(filled)
    done = export(filled, path)
    assert done.rc == 0, done.output
    again = export(filled, path)
    assert (done.changed, again.changed) == (1, 0), again.output
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text(encoding="utf-8")
    secrets = [row["secretAccessKey"] for row in before if "secretAccessKey" in row]
    assert len(secrets) == 5
    assert [secret for secret in secrets if secret in text + done.output] == []

    document = yaml.safe_load(text)["tenancy"]
    assert ([row.get("name") for row in document["buckets"]], len(document["keys"])) == (
        ["media", "odd-rules", "www.example.org", None, None], len(filled.nodes[0].admin.get("ListKeys")))  # fmt: skip
    assert [row.get("name") for row in document["admin_tokens"]] == ["ci", None, None, None]

    play = tmp_path / "apply.yml"
    play.write_text(json.dumps([{
        "name": "Apply the file as the tenancy of a site file",
        "hosts": "all", "gather_facts": False, "vars_files": [str(path)],
        "vars": {"garage_site": {"name": "paris", "zone": "paris", "connect_to": connection(filled), "tenancy": "{{ tenancy }}"}},
        "roles": ["s3ops.garage.validate", "s3ops.garage.tenancy"],
    }]), encoding="utf-8")  # fmt: skip
    applied = run_playbook(play, {"all": {"hosts": {"paris": local_host()}}}, "--diff")
    assert applied.rc == 0, applied.output
    [result] = applied.results("paris", "tenancy")
    assert (result["changed"], result["actions"], applied.changed) == (False, [], 0)
    assert (len(result["tenancy"]["buckets"]), len(result["tenancy"]["keys"])) == (len(document["buckets"]), len(document["keys"]))
    assert "oops" not in applied.output
    assert content(filled) == before


def test_what_is_left_out_is_told(filled: Cluster) -> None:
    seen = run_module("tenancy_info", {}, connection(filled), check=True)
    assert (seen["rc"], seen["changed"]) == (0, False)
    odd = next(row for row in seen["tenancy"]["buckets"] if row.get("name") == "odd-rules")
    assert set(odd) == {"name", "id", "quotas", "website", "grants"}
    told = sorted(text.partition(": left out")[0] for text in seen["warnings"])
    assert told[0].startswith("admin token ") and told[0].endswith(": the scope")
    assert told[1:] == [f"bucket odd-rules: {kind} rules" for kind in ("CORS", "lifecycle")]
    assert TEMPLATE not in json.dumps(seen["tenancy"])


def test_a_change_shows_against_the_export(filled: Cluster) -> None:
    """The document does hold the cluster: somebody else's change is found by it and taken back."""
    document = run_module("tenancy_info", {"prefix": "team-"}, connection(filled))["tenancy"]
    assert ([row["name"] for row in document["keys"]], [row["name"] for row in document["buckets"]]) == (["team-app"], ["media"])
    admin, [media] = filled.nodes[0].admin, document["buckets"]
    before = content(filled)
    admin.post(f"UpdateBucket?id={media['id']}", {"quotas": {"maxSize": 5, "maxObjects": None}, "corsRules": []})
    admin.post("DenyBucketKey", {"bucketId": media["id"], "accessKeyId": document["keys"][0]["id"], "permissions": {"write": True}})
    taken_back = run_module("tenancy", document, connection(filled))
    assert (taken_back["rc"], len(taken_back["actions"])) == (0, 2), taken_back["actions"]
    assert content(filled) == before


def test_no_file_named(filled: Cluster, tmp_path: Path) -> None:
    env = {"GARAGE_ADMIN_URL": filled.api_url, "GARAGE_ADMIN_TOKEN_FILE": str(filled.token_file)}
    failed = run_playbook("s3ops.garage.export", {"all": {"hosts": {"localhost": local_host()}}}, env=env)
    assert failed.rc == 2
    assert "Set garage_export_path to the file to write" in failed.output


def test_the_connection_of_a_site_file_is_used(filled: Cluster, tmp_path: Path) -> None:
    path = tmp_path / "tenancy.yml"
    site = {"name": "paris", "zone": "paris", "connect_to": connection(filled)}
    inventory = {"all": {"hosts": {"paris": {**local_host(), "garage_site": site}}}}
    extra = {"garage_export_path": str(path), "garage_hosts": "all", "garage_export_prefix": "www"}
    done = run_playbook("s3ops.garage.export", inventory, "-e", json.dumps(extra))
    assert done.rc == 0, done.output
    document = yaml.safe_load(path.read_text(encoding="utf-8"))["tenancy"]
    assert (document["keys"], [row["name"] for row in document["buckets"]]) == ([], ["www.example.org"])
