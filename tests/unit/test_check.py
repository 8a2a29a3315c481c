# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tools that run the checks judge rightly themselves."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tools.check import docs, newest, pythons, stage, summary

REPORT = """<testsuites><testsuite>
<testcase name="good"/>
<testcase name="bad"><failure message="no"/></testcase>
<testcase name="broken"><error message="no"/></testcase>
<testcase name="left out"><skipped/></testcase>
</testsuite></testsuites>"""


def complete_page() -> dict[str, Any]:
    option = {"description": ["What it is."], "suboptions": {"inner": {"description": ["More."]}}}
    return {
        "doc": {part: "present" for part in docs.PAGE} | {"options": {"name": option}},
        "examples": "- name: Run it",
        "return": {"bucket": {"description": ["It."], "returned": "success", "type": "dict"}},
    }


def test_counts_every_outcome_of_a_pytest_report(tmp_path: Path) -> None:
    (tmp_path / "unit.xml").write_text(REPORT)
    assert summary.pytest_outcomes(tmp_path / "unit.xml") == Counter(passed=1, failed=2, skipped=1)


def test_counts_a_target_once_however_many_plays_it_has(tmp_path: Path) -> None:
    for name in ("bucket-a1-1.5.xml", "bucket-b2-1.6.xml", "key_info-c3-1.7.xml"):
        (tmp_path / name).touch()
    assert summary.integration_targets(tmp_path) == {"bucket", "key_info"}


def test_finds_nothing_to_say_about_a_complete_page() -> None:
    assert list(docs.page_faults("thing", complete_page())) == []


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        (("doc", "version_added"), "thing: no version_added"),
        (("doc", "options", "name", "description"), "thing: option name: no description"),
        (("doc", "options", "name", "suboptions", "inner", "description"), "thing: option name.inner: no description"),
        (("examples",), "thing: no examples"),
        (("return", "bucket", "returned"), "thing: return value bucket: no returned"),
        (("return",), "thing: no return values"),
    ],
)
def test_names_what_a_page_lacks(path: tuple[str, ...], fault: str) -> None:
    page = complete_page()
    place = page
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    assert list(docs.page_faults("thing", page)) == [fault]


def test_passes_over_a_python_that_does_not_start(tmp_path: Path) -> None:
    broken = tmp_path / "python3.11"
    broken.write_text("#!/bin/sh\nexit 127\n")
    broken.chmod(0o755)
    assert pythons.real_python(broken) is None
    assert pythons.real_python(tmp_path / "python3.12") is None
    assert pythons.real_python(Path(sys.executable)) == os.path.realpath(sys.executable)


def test_the_newest_python_is_told_by_its_number_and_not_by_its_letters() -> None:
    found = {"3.9": "/old", "3.11": "/floor", "3.12": "/twelve", "3.13": "/thirteen"}
    assert newest.newest(found) == ("3.13", "/thirteen")
    assert newest.newest({"3.100": "/far", **found}) == ("3.100", "/far")
    assert newest.newest({"3.11": "/floor"}) == (None, None)


def test_finds_this_python() -> None:
    found = pythons.pythons()
    version = f"3.{sys.version_info.minor}"
    assert found[version] == pythons.real_python(Path(found[version]))
    assert list(found) == [version for version in pythons.VERSIONS if version in found]


def test_takes_what_git_would_take() -> None:
    listed = stage.listed_files()
    assert "galaxy.yml" in listed
    assert not [name for name in listed if name.startswith((".venv", ".cache", ".git/"))]
