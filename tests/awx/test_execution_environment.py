# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The execution environment: its definition is one that ansible-builder takes, and everything in it is pinned."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from tests.garage.guide_run import Guide
from tools.check.awx import DEFINITION, OWN, Environment, collections, definition, requirements
from tools.check.paths import ROOT

PINNED = re.compile(r"[a-z-]+==[0-9.]+")
META = ROOT / "meta" / "execution-environment.yml"


def create(file: Path, target: Path) -> str:
    """What ansible-builder makes of a definition: all files of the build context."""
    builder = Path(sys.executable).with_name("ansible-builder")
    ended = subprocess.run([str(builder), "create", "--file", str(file), "--context", str(target), "--output-filename", "Containerfile"],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return (target / "Containerfile").read_text(encoding="utf-8")


@pytest.mark.requirement("FC-124")
def test_the_definition_makes_a_build_context(tmp_path: Path) -> None:
    containerfile = create(DEFINITION, tmp_path / "context")
    assert 'ARG PKGMGR_PRESERVE_CACHE' in containerfile and definition()["images"]["base_image"]["name"] in containerfile
    assert requirements()[0] in containerfile and requirements()[1] in containerfile
    built = tmp_path / "context" / "_build"
    assert [line for line in (built / "requirements.txt").read_text().splitlines() if "==" in line] == requirements()[2:]
    assert {each["name"]: each["version"] for each in yaml.safe_load((built / "requirements.yml").read_text())["collections"]} == collections()
    # No system package beyond Python.
    assert not (built / "bindep.txt").exists()


# Stands in for the engine that makes the image: there is none where tests run.
PODMAN = """#!/bin/sh
echo "podman $*"
"""


@pytest.mark.guide("docs/awx.md", "The execution environment")
@pytest.mark.requirement("FC-124")
def test_the_build_of_the_guide_hands_a_context_to_the_engine(guide: Guide) -> None:
    shutil.copytree(DEFINITION.parent, guide.folder, dirs_exist_ok=True)
    guide.program("podman", PODMAN)
    [printed] = guide.run()
    assert "podman build -f context/Containerfile -t registry.example.org/garage-ee:0.1.0 context" in printed
    assert (guide.folder / "context" / "Containerfile").exists()


@pytest.mark.requirement("FC-124")
def test_everything_is_pinned_to_what_is_tested() -> None:
    assert [line for line in requirements() if not PINNED.fullmatch(line)] == []
    assert collections()[OWN] == yaml.safe_load((ROOT / "galaxy.yml").read_text())["version"]
    assert f"kubernetes.core {collections()['kubernetes.core']} " in (ROOT / "requirements" / "collections.txt").read_text()


@pytest.mark.requirement("FC-124")
def test_those_who_compose_their_own_are_told_what_the_collection_needs() -> None:
    listed = (ROOT / yaml.safe_load(META.read_text())["dependencies"]["python"]).read_text(encoding="utf-8")
    least = [Requirement(line) for line in listed.splitlines() if line and not line.startswith("#")]
    pinned = dict(line.split("==") for line in requirements())
    assert {each.name for each in least} == set(pinned) - {"ansible-core", "ansible-runner"}
    assert all(each.specifier.contains(pinned[each.name]) for each in least)


@pytest.mark.requirement("FC-124")
def test_jobs_of_these_tests_run_in_what_the_definition_names(environment: Environment) -> None:
    frozen = subprocess.run([str(environment.bin / "python"), "-m", "pip", "freeze"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert set(requirements()) <= set(frozen)
