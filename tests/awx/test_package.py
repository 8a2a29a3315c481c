# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The package as it is installed, beside nothing but what its requirements name."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import yaml

from tests.garage.ansible_run import clean_environment
from tests.garage.conftest import MakeCluster
from tests.guides import marked
from tools.check.awx import Environment
from tools.testbed.nodes import Site

OWN = Path("ansible_collections", "s3ops", "garage")
# What runs; all else in the package is to be read.
RUNS = {"meta", "playbooks", "plugins", "roles"}
READ = {"CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "FILES.json", "LICENSE", "LICENSES", "MANIFEST.json", "README.md", "REUSE.toml", "SECURITY.md",
        "changelogs", "docs", "examples"}


def test_the_package_holds_what_a_user_needs_and_no_more(collections: Path) -> None:
    assert {path.name for path in (collections / OWN).iterdir()} == RUNS | READ


def test_the_example_of_the_readme_runs_with_the_parts_that_run_alone(environment: Environment, collections: Path, make_cluster: MakeCluster,
                                                                      tmp_path: Path) -> None:
    shutil.copytree(collections, tmp_path / "collections")
    for path in (tmp_path / "collections" / OWN).iterdir():
        if path.name not in RUNS:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    cluster = make_cluster(Site("paris", "paris", 3), replication_factor=3)
    cluster.connect_all()
    cluster.wait_mesh()
    shown = next(block for block in marked("README.md", "A site in ten lines") if block.language == "yaml")
    site = yaml.safe_load(shown.text)["garage_site"]
    site["connect_to"] |= {"api_url": cluster.api_url, "api_token_file": str(cluster.token_file)}
    for role, node in zip(site["layout"]["nodes"], cluster.nodes, strict=True):
        role["node"] = node.node_id
    hosts = {"paris": {"ansible_connection": "local", "ansible_python_interpreter": str(environment.bin / "python"), "garage_site": site}}
    (tmp_path / "inventory.json").write_text(json.dumps({"all": {"hosts": hosts}}), encoding="utf-8")
    (tmp_path / "ansible.cfg").touch()
    variables = clean_environment(str(tmp_path), {"ANSIBLE_COLLECTIONS_PATH": f"{tmp_path / 'collections'}:{environment.collections}", "HOME": str(tmp_path)})
    command = [str(environment.bin / "ansible-playbook"), "-i", "inventory.json", "s3ops.garage.site"]
    recaps = []
    for options in (["--check", "--diff"], [], []):
        ended = subprocess.run([*command, *options], cwd=tmp_path, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        recaps.append(int(re.search(r"changed=(\d+)", ended.stdout)[1]))
    assert recaps[0] > 0 and recaps[1] > 0 and recaps[2] == 0
    assert [bucket["globalAliases"] for bucket in cluster.nodes[0].admin.get("ListBuckets")] == [["media"]]
