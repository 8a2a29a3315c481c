# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing is left over: no option that nothing reads, no file that nobody meant to keep."""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatch

import pytest
import yaml

from tests.unit.static_sources import ROOT, modules, sources, strings

FILES = sources()
ROLES = sorted(path.parents[1].name for path in (ROOT / "roles").glob("*/meta/argument_specs.yml"))
# What editors, merges, file managers and tools leave beside the files that they are used on.
STRAYS = ("*~", "*.bak", "*.orig", "*.rej", "*.swp", "*.swo", "*.tmp", "*.retry", "*.log", "#*#", ".#*", ".DS_Store", "Thumbs.db", "desktop.ini", "core")


def words(path, text):
    """What a file of ours can read an option by: a text, an attribute, a field or an argument of its name."""
    found = {value for _line, value in strings(text)}
    for node in ast.walk(ast.parse(text)):
        found |= {node.attr} if isinstance(node, ast.Attribute) else {node.arg} if isinstance(node, (ast.arg, ast.keyword)) else set()
        found |= {node.target.id} if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else set()
    return found


READ = {word for path, text in FILES.items() if path.startswith("module_utils/") and "_argspec" not in path for word in words(path, text)}


def options(spec):
    """The names of all options, those of options among them."""
    for name, option in spec.items():
        yield name
        yield from options(option.get("options") or {})


def unread(spec, read):
    return sorted(set(options(spec)) - read)


@pytest.mark.requirement("TD-23")
@pytest.mark.parametrize("name", modules())
def test_every_option_of_a_module_is_read(spec_of, name):
    own = set().union(*(words(path, text) for path, text in FILES.items() if path == f"modules/{name}.py"))
    spec = spec_of(name)["argument_spec"]
    # The module names its own options in its argument spec, which reads nothing.
    assert unread(spec, READ | (own - set(options(spec)))) == []


def test_an_option_that_nothing_reads_is_found():
    spec = {"name": {}, "store": {"options": {"path": {}, "colour": {}}}, "shape": {}}
    assert unread(spec, words("x.py", "def f(name, spec):\n    return name, spec.store, spec['path']\n")) == ["colour", "shape"]


@pytest.mark.requirement("TD-23")
@pytest.mark.parametrize("role", ROLES)
def test_every_variable_of_a_role_is_read(role):
    folder = ROOT / "roles" / role
    entries = yaml.safe_load((folder / "meta" / "argument_specs.yml").read_text(encoding="utf-8"))["argument_specs"].values()
    named = {name for entry in entries for name in options(entry.get("options") or {})}
    # What a site file holds is read by the plugins, which the tests of its schema see to.
    text = "\n".join(path.read_text(encoding="utf-8") for part in ("tasks", "vars") for path in (folder / part).glob("*.yml"))
    assert sorted(name for name in named if not re.search(rf"\b{name}\b", text)) == []


@pytest.mark.requirement("TD-54")
def test_no_stray_file_lies_about():
    ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    found = [path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file()]
    kept = [path for path in found if path.parts[0] != ".git" and not any(fnmatch(part, line) for part in path.parts for line in ignored)]
    assert len(kept) > 100
    assert [str(path) for path in kept if any(fnmatch(path.name, stray) for stray in STRAYS)] == []
