# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Guides done as they are written, file by file and command by command, on a real Garage."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.guides import ROOT

from tests.garage.ansible_run import ANSIBLE_PLAYBOOK, clean_environment
from tests.garage.conftest import MakeCluster
from tests.garage.guide_run import Guide, changed, play, says
from tests.garage.playbook_run import run_playbook
from tools.testbed.nodes import Cluster, Site
from tools.testbed.ports import HOST, pick_ports

HERE = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
# Stands in for the AWS CLI, with its library and the same variables of the environment.
AWS = f"""#!{sys.executable}
import sys, boto3
source, target = sys.argv[3:]
bucket = target.removeprefix("s3://").strip("/")
boto3.client("s3").upload_file(source, bucket, source)
print([row["Key"] for row in boto3.client("s3").list_objects_v2(Bucket=bucket)["Contents"]])
"""


@pytest.fixture
def single(make_cluster: MakeCluster, tmp_path: Path) -> Cluster:
    cluster = make_cluster(Site("paris", "paris", 1), replication_factor=1)
    cluster.make_ready()
    return cluster


def places(cluster: Cluster) -> dict[str, str]:
    return {"http://127.0.0.1:3903": cluster.api_url, "/etc/garage/admin-token": str(cluster.token_file)}


@pytest.mark.guide("docs/first-bucket.md")
@pytest.mark.requirement("FC-125")
def test_first_bucket(guide: Guide, garage_binary: Path) -> None:
    ports = pick_ports()
    guide.places |= {f"127.0.0.1:{old}": f"{HOST}:{new}" for old, new in ((3900, ports.s3), (3901, ports.rpc), (3903, ports.admin))}
    (guide.bin / "garage").symlink_to(garage_binary)
    guide.program("aws", AWS)
    printed = guide.run()
    first, second = says(printed, "ansible-playbook")
    assert changed(first)[0] > 0 and changed(second) == [0], first + second
    [sent] = says(printed, "aws")
    assert "['garage.toml']" in sent
    secret = re.search(r"AWS_SECRET_ACCESS_KEY=(.+)", (guide.folder / "app.env").read_text(encoding="utf-8"))[1].strip("'\"")
    assert secret not in "".join(printed)


@pytest.mark.guide("docs/existing-garage.md")
@pytest.mark.requirement("MH-01", "MH-02", "MH-29")
def test_existing_garage(guide: Guide, single: Cluster) -> None:
    admin = single.nodes[0].admin
    old = admin.post("CreateBucket", {"globalAlias": "from-before"})["id"]
    guide.places |= places(single)
    printed = guide.run()
    foretold, made = says(printed, "ansible localhost -m s3ops.garage.bucket -a")
    assert "CHANGED" in foretold and "CHANGED" in made
    assert (guide.folder / "app.env").exists()
    check, run = says(printed, "ansible-playbook -i inventory.yml")
    assert changed(check) == changed(run) == [0], check + run
    assert {row["globalAliases"][0] for row in admin.get("ListBuckets")} == {"from-before", "media"}
    assert admin.get("GetBucketInfo", id=old)["globalAliases"] == ["from-before"]
    [token] = [row for row in admin.get("ListAdminTokens") if row["name"] == "tenants"]
    assert "DeleteBucket" not in token["scope"]


@pytest.mark.guide("docs/tenancy.md")
def test_bulk_tenancy(guide: Guide, single: Cluster) -> None:
    admin = single.nodes[0].admin
    guide.places |= places(single)
    printed = guide.run()
    runs = [changed(text) for text in says(printed, "ansible-playbook teams.yml")]
    assert runs == [[1], [1], [0], [1], [1]]
    assert [row["globalAliases"] for row in admin.get("ListBuckets")] == [["team-blue"]]
    assert [row["name"] for row in admin.get("ListKeys")] == ["team-blue"]
    assert "team-blue" in (guide.folder / "team.yml").read_text(encoding="utf-8")


@pytest.mark.guide("README.md", "A site in ten lines", "Start with a Garage that is full already", "One line, from the environment alone")
@pytest.mark.requirement("FC-125")
def test_readme(guide: Guide, make_cluster: MakeCluster) -> None:
    cluster = make_cluster(Site("paris", "paris", 3), replication_factor=3)
    cluster.connect_all()
    cluster.wait_mesh()
    guide.places = {"http://garage.paris.example:3903": cluster.api_url, **places(cluster)}
    # Nodes of one machine have one host name, so they are told apart by their ids.
    guide.places |= {f"node: garage-{number}": f"node: {node.node_id}" for number, node in enumerate(cluster.nodes, start=1)}
    site, dummy = guide.yaml("A site in ten lines")
    guide.write("host_vars/paris.yml", site)
    printed = guide.run()
    check, run = says(printed, "ansible-playbook -i inventory.yml")
    assert changed(check)[0] > 0
    assert "paris: layout version 1, 3 of 3 nodes up, healthy; declared buckets: 1, keys: 1" in run
    exported = yaml.safe_load((guide.folder / "tenancy.yml").read_text(encoding="utf-8"))
    assert "media" in str(exported) and "app" in str(exported)
    [line] = says(printed, "ansible localhost -m s3ops.garage.bucket")
    assert '"changed": false' in line


@pytest.mark.guide("docs/upgrading.md")
def test_upgrading(guide: Guide, single: Cluster) -> None:
    handle = {"api_url": single.api_url, "api_token_file": str(single.token_file)}
    site = {"name": "paris", "zone": "paris", "connect_to": handle}
    guide.write("inventory.yml", {"all": {"hosts": {"paris": {**HERE, "garage_site": site}}}})
    guide.env |= {"GARAGE_ADMIN_URL": single.api_url, "GARAGE_ADMIN_TOKEN_FILE": str(single.token_file)}
    [check] = guide.run("The collection")
    assert changed(check) == [0]
    nodes, snapshot, healthy = guide.run("Garage")
    assert '"garage_version": "2.5.0"' in nodes and "CHANGED" in snapshot and '"status": "healthy"' in healthy
    # Without Galaxy it is still said whether what is installed is what the file asks for.
    command = [str(ANSIBLE_PLAYBOOK.with_name("ansible-galaxy")), "collection", "install", "--offline", "-r", "requirements.yml"]
    asked = subprocess.run(command, cwd=guide.folder, env=clean_environment(str(guide.folder), None), capture_output=True, text=True, check=True)
    assert "All requested collections are already installed" in asked.stdout


@pytest.mark.guide("docs/credentials.md", "Derived keys")
def test_derived_keys(guide: Guide, single: Cluster) -> None:
    guide.places["/etc/garage"] = str(guide.folder)
    guide.write("rpc-secret", "6b" * 32)
    [tasks] = guide.yaml("Derived keys")
    guide.write("play.yml", play(tasks))
    env = {"GARAGE_ADMIN_URL": single.api_url, "GARAGE_ADMIN_TOKEN_FILE": str(single.token_file)}
    for changes in (1, 0):
        run = run_playbook(guide.folder / "play.yml", {"all": {"hosts": {}}}, env=env)
        assert (run.rc, run.changed) == (0, changes), run.output


@pytest.fixture
def two_sites(make_cluster: MakeCluster) -> Iterator[Cluster]:
    """Two nodes in paris and one in lyon, as in the example; they know nothing of each other, and there is no layout."""
    cluster = make_cluster(Site("paris", "paris", 2), Site("lyon", "lyon", 1), replication_factor=3)
    yield cluster
    cluster.stop()
    cluster.remove()


def take_example(guide: Guide, cluster: Cluster) -> None:
    """The inventory of examples/federation/two_sites, with its ids and addresses led to real nodes."""
    folder = ROOT / "examples" / "federation" / "two_sites"
    texts = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.yml")}
    shown = [re.findall(rf"node: (\w{{64}}), capacity: 1TB, tags: \[{site.name}\]", texts[f"host_vars/{site.name}.yml"]) for site in cluster.sites]
    for site, ids in zip(cluster.sites, shown, strict=True):
        for number, (id_shown, node) in enumerate(zip(ids, site.nodes, strict=True), start=1):
            guide.places |= {f"{id_shown}@garage-{number}.{site.name}.example.org:3901": node.rpc_address, id_shown: node.node_id}
        guide.places |= {f"https://garage-admin.{site.name}.example.org": site.api_url, f"/etc/garage/{site.name}-admin-token": str(site.token_file)}
    guide.places["/var/lib/garage-sites"] = str(guide.folder)
    for name, text in texts.items():
        guide.write(name, guide.here(text))


@pytest.mark.guide("docs/federation.md", "Federation: one layout writer, any number of followers", "Look, approve, apply", "Handing the layout over")
@pytest.mark.guide("docs/status.md")
@pytest.mark.requirement("LW-53", "LW-42")
def test_federation(guide: Guide, two_sites: Cluster) -> None:
    take_example(guide, two_sites)
    [shown] = guide.yaml("Federation: one layout writer, any number of followers")
    alone = run_playbook("s3ops.garage.site", guide.folder / "inventory.yml", "--limit", "lyon")
    assert alone.rc == 0, alone.output
    awaiting = alone.results("lyon", "layout")[-1]["awaiting"]
    assert awaiting.keys() == shown["awaiting"].keys() and awaiting["lines"][0].keys() == shown["awaiting"]["lines"][0].keys()

    [looked] = guide.run("Look, approve, apply", 1)
    guide.places["v3-9d2f6c1ab8e0475d-03c8b5a1fe97d264"] = re.search(r'"msg": "(v0-\w+-\w+): ', looked)[1]
    [applied] = guide.run("Look, approve, apply")
    assert "paris: layout version 1, 3 of 3 nodes up" in applied and "lyon: layout version 1, 3 of 3 nodes up" in applied

    demoted, promoted = guide.run("Handing the layout over")
    assert lines_shown(demoted) == {"paris": {"layout": {"site_role": "follower"}}}
    change_lines(guide, lines_shown(promoted))
    check = run_playbook("s3ops.garage.site", guide.folder / "inventory.yml", "--check", "--diff")
    assert (check.rc, check.changed) == (0, 0), check.output
    assert check.results("lyon", "layout")[-1]["layout_writer"] is True

    [table] = guide.run("How all sites are: a table and a page")
    for line in ("SITE   ROLE      GARAGE  LAYOUT  NODES UP  HEALTH   SITE FILE", "lyon   writer    2.5.0   1       3 of 3    healthy  as declared"):
        assert line in table


def lines_shown(printed: str) -> dict[str, Any]:
    """What a playbook says is to be changed in the site files."""
    return yaml.safe_load("\n".join(json.loads(re.findall(r'"msg": (\[.*?\n    \])', printed, re.S)[-1])))


def change_lines(guide: Guide, lines: dict[str, Any]) -> None:
    for site, wanted in lines.items():
        path = guide.folder / "host_vars" / f"{site}.yml"
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        for name, value in wanted.items():
            section, dummy, option = name.partition(".")
            document["garage_site"].setdefault(section, {}).update({option: value} if option else value)
        guide.write(f"host_vars/{site}.yml", document)
