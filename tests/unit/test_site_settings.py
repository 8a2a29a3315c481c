# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/conf.py: where links lead on the documentation site. And `make help`, which is the first page that a developer sees."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from types import ModuleType

import pytest
from docutils import nodes
from docutils.utils import new_document
from sphinx.addnodes import pending_xref
from tests.unit.static_sources import ROOT


@pytest.fixture(scope="module")
def conf() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_conf", ROOT / "docs" / "conf.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def link(target: str) -> nodes.document:
    document = new_document("x")
    document += nodes.paragraph("", "", pending_xref("", nodes.Text("it"), reftarget=target))
    return document


@pytest.mark.parametrize(("target", "address"), [
    ("../examples/federation", "https://github.com/s3ops/s3ops.garage/blob/main/examples/federation"),
    ("../README.md#modules", "https://github.com/s3ops/s3ops.garage/blob/main/README.md#modules"),
])
def test_a_link_out_of_the_guides_leads_to_the_repository(conf: ModuleType, target: str, address: str) -> None:
    document = link(target)
    conf.to_repository(None, document)
    [found] = document.findall(nodes.reference)
    assert (found["refuri"], found.astext()) == (address, "it")


@pytest.mark.parametrize("target", ["../examples/none", "federation.md", "none.md"])
def test_any_other_link_is_left_to_sphinx_which_knows_what_is_there(conf: ModuleType, target: str) -> None:
    document = link(target)
    conf.to_repository(None, document)
    assert [node["reftarget"] for node in document.findall(pending_xref)] == [target]


@pytest.mark.parametrize(("target", "page"), [
    ("ansible_collections.ansible.builtin.set_stats_module", "collections/ansible/builtin/set_stats_module.html"),
    ("common_return_values", "reference_appendices/common_return_values.html"),
])
def test_what_belongs_to_ansible_leads_to_its_documentation(conf: ModuleType, target: str, page: str) -> None:
    found = conf.to_ansible(None, None, pending_xref("", reftarget=target), nodes.inline("", "it"))
    assert found["refuri"].endswith(page)
    assert conf.to_ansible(None, None, pending_xref("", reftarget="nobody"), nodes.inline()) is None


def test_every_guide_is_in_the_index(conf: ModuleType) -> None:
    source = [(ROOT / "docs" / "index.md").read_text(encoding="utf-8")]
    conf.with_contents(None, "index", source)
    listed = source[0].split("```{toctree}", 1)[1].split()
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"} <= set(listed)


def test_help_fits_one_screen() -> None:
    lines = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert 15 < len(lines) <= 24
    assert max(map(len, lines)) <= 80


def test_the_module_that_contributors_are_shown_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    shown = text.split("```python\n", 1)[1].split("```")[0]
    assert shown.strip() in (ROOT / "plugins" / "modules" / "grant.py").read_text(encoding="utf-8")
    for path in re.findall(r"`((?:_models|_planners|_readers)/\w+\.py|_endpoints\.py)", text):
        assert (ROOT / "plugins" / "module_utils" / path).exists()
    for path in re.findall(r"`(tests/[\w/]+(?:\.py)?|tests/integration/targets/grant)`", text):
        assert (ROOT / path).exists() or path.endswith("thing"), path
