# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The README lists what there is: each module, each role and each playbook."""

from __future__ import annotations

import re

import pytest
from tests.unit.static_sources import ROOT, modules

README = (ROOT / "README.md").read_text(encoding="utf-8")


def listed(text: str, kind: str) -> list[str]:
    """The names in the first column of the table headed ``kind``."""
    table = re.search(rf"^\| {kind} \|[^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)", text, re.M)
    return re.findall(r"^\| `(\w+)` \|", table[1], re.M) if table else []


@pytest.mark.parametrize(("kind", "names"), [
    ("module", modules()),
    ("role", sorted(path.name for path in (ROOT / "roles").iterdir() if path.is_dir())),
])
def test_the_tables_of_the_readme_are_complete(kind: str, names: list[str]) -> None:
    assert sorted(listed(README, kind)) == names


def test_the_readme_names_every_playbook() -> None:
    for playbook in (ROOT / "playbooks").glob("*.yml"):
        assert f"`s3ops.garage.{playbook.stem}`" in README


def test_a_name_that_is_listed_twice_is_found_twice() -> None:
    text = "| module | what |\n|---|---|\n| `a` | x |\n| `b` | y |\n| `a` | z |\n\n| role | what |\n|---|---|\n| `c` | x |\n"
    assert listed(text, "module") == ["a", "b", "a"]
    assert listed(text, "role") == ["c"]
