# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Some test runs each block of the guides; and what takes no more than a look: that site files, options, playbooks and variables are right."""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.s3ops.garage.plugins.module_utils._site.document import site_faults
from ansible_collections.s3ops.garage.plugins.module_utils._site.schema import site_schema
from tests.guides import GUIDES, NOT_RUN, ROOT, Block, blocks, marked
from tests.unit.static_sources import modules

ALL = [block for guide in GUIDES for block in blocks(guide)]
YAML = [block for block in ALL if block.language == "yaml"]
COMMANDS = [(block, line) for block in ALL if block.language == "console" for line in block.commands]
# A part of a site file is looked at in a site that lacks just that.
REST = {"name": "paris", "zone": "paris"}
HANDLE = {"api_url": "http://127.0.0.1:3903", "api_token_file": "/etc/garage/admin-token"}
SECTIONS = site_schema()["definitions"]["site"]["properties"]
NODES = {"replicas": 3, "metadata": {"size": "10Gi"}}
BOOLEAN = {"--check", "--diff"}


def place(block: Block) -> str:
    return f"{block.guide}:{block.line}"


def variables(text: str) -> dict[str, Any]:
    """The values of ``-a`` and ``-e``: JSON, or words with ``=``."""
    return json.loads(text) if text.startswith("{") else dict(word.split("=", 1) for word in shlex.split(text))


def plain(value: Any) -> Any:
    """Without what only a run can fill in."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items() if not (isinstance(inner, str) and inner.startswith("{{"))}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def filled(value: Any) -> Any:
    """With something in the place of what a run fills in. A whole section that comes from elsewhere is left out."""
    if isinstance(value, dict):
        return {key: filled(inner) for key, inner in value.items() if not (key == "tenancy" and isinstance(inner, str))}
    if isinstance(value, list):
        return [filled(inner) for inner in value]
    return re.sub(r"\{\{.*?\}\}", "/there", value) if isinstance(value, str) else value


def option_faults(options: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    names = ("mutually_exclusive", "required_together", "required_one_of", "required_if", "required_by")
    rules = {name: spec[name] for name in names if name in spec}
    return ArgumentSpecValidator(spec["argument_spec"], **rules).validate(plain(options)).error_messages


def tasks(document: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for entry in document:
        yield from tasks(entry.get("tasks", []))
        yield from ((key.removeprefix("s3ops.garage."), value) for key, value in entry.items() if key.startswith("s3ops.garage."))


def sites(document: Any) -> Iterator[dict[str, Any]]:
    """The site files that a block holds, or is a part of."""
    if "garage_site" in document:
        yield document["garage_site"]
    elif "all" in document:
        yield from (host["garage_site"] for host in document["all"]["hosts"].values() if "garage_site" in host)
    elif "data" in document:
        yield {**REST, "kubernetes": {"namespace": "garage"}, "replication": {"factor": 3}, "storage": {**NODES, **document}}
    elif set(document) <= set(SECTIONS):
        yield {**REST, "connect_to": HANDLE, **document}


def marks() -> Iterator[tuple[str, ...]]:
    """What each ``pytest.mark.guide`` of a test names."""
    for path in (path for folder in ("unit", "garage", "kubernetes", "awx") for path in (ROOT / "tests" / folder).rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.guide":
                yield tuple(ast.literal_eval(argument) for argument in node.args)


def test_a_test_runs_every_command_and_every_yaml_of_the_guides() -> None:
    run = {block for mark in marks() for block in marked(*mark)}
    assert [place(block) for block in ALL if block.steps and block not in run] == []


def test_a_mark_names_sections_that_have_something_to_run() -> None:
    empty = [mark for mark in marks() for section in mark[1:] or [None] if not any(
        block.steps for block in marked(mark[0], *([section] if section else [])))]
    assert empty == []


def test_what_is_not_run_is_still_shown() -> None:
    assert [start for start in NOT_RUN if not any(line.startswith(start) for dummy, line in COMMANDS)] == []


@pytest.mark.parametrize("block", YAML, ids=place)
def test_every_yaml_is_right(block: Block, spec_of: Any) -> None:
    document = yaml.safe_load(block.text) or {}
    if isinstance(document, list):
        for name, options in tasks(document):
            assert option_faults(options, spec_of(name)) == []
    elif "kind" in document:
        kubernetes_validate.validate(document, "1.34", strict=True)
    else:
        for site in sites(document):
            assert site_faults(filled(site), {site["name"]: {"garage_site": site}}) == []


@pytest.mark.guide("docs/site-file.md", "The site file")
def test_the_schema_that_an_editor_is_led_to_takes_a_site_file() -> None:
    [block] = [block for block in marked("docs/site-file.md", "The site file") if block.language == "yaml"]
    found = re.search(r"\$schema=https://raw\.githubusercontent\.com/(\S+)/main/(\S+)", block.text)
    assert yaml.safe_load((ROOT / "galaxy.yml").read_text(encoding="utf-8"))["repository"].endswith(found[1])
    schema = json.loads((ROOT / found[2]).read_text(encoding="utf-8"))
    site = yaml.safe_load((ROOT / "examples" / "kubernetes" / "host_vars" / "paris.yml").read_text(encoding="utf-8"))
    jsonschema.validate(site, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"garage_site": {**site["garage_site"], "zoen": "paris"}}, schema)


@pytest.mark.parametrize(("block", "line"), COMMANDS, ids=lambda value: value if isinstance(value, str) else place(value))
def test_every_command_names_what_there_is(block: Block, line: str, spec_of: Any) -> None:
    words = [word for word in shlex.split(line) if not re.match(r"[A-Z_]+=", word) or line.startswith(("export", "make"))]
    if words[0] == "ansible-playbook":
        assert playbook_faults(block, words[1:]) == []
    elif words[0] == "ansible":
        options = dict(zip(words[2::2], words[3::2])) if not BOOLEAN & set(words) else dict(zip(words[2:-2:2], words[3:-2:2]))
        name = options["-m"].removeprefix("s3ops.garage.")
        assert name in modules()
        assert option_faults(variables(options.get("-a", "")), spec_of(name)) == []
    elif words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)


def variables_known() -> str:
    """All text of playbooks and roles, where a variable stands that they know."""
    return "\n".join(path.read_text(encoding="utf-8") for folder in ("playbooks", "roles") for path in (ROOT / folder).rglob("*.yml"))


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_every_variable_that_is_given_within_a_text_is_known(guide: Path) -> None:
    given = set(re.findall(r"-e (garage_\w+)=", guide.read_text(encoding="utf-8")))
    assert sorted(name for name in given if not re.search(rf"\b{name}\b", variables_known())) == []


def playbook_faults(block: Block, words: list[str]) -> Iterator[str] | list[str]:
    """What an ansible-playbook command names that is not there: the playbook, or a variable that neither playbooks, roles nor the guide know."""
    known = "\n".join([variables_known(), *(other.text for other in ALL if other.guide == block.guide and other.file)])
    faults, rest = [], iter(word for word in words if word not in BOOLEAN)
    for word in rest:
        if word == "-i":
            next(rest)
        elif word == "-e":
            value = next(rest)
            faults += [] if value.startswith("@") else [f"variable {name}" for name in variables(value) if not re.search(rf"\b{name}\b", known)]
        elif not (word.startswith("s3ops.garage.") and (ROOT / "playbooks" / f"{word.removeprefix('s3ops.garage.')}.yml").exists()):
            shown = {other.file for other in ALL if other.guide == block.guide}
            faults += [] if word in shown or (ROOT / "awx" / word).exists() else [f"playbook {word}"]
    return faults


@pytest.mark.parametrize("line", [
    "-i x s3ops.garage.sites", "s3ops.garage.site -e garage_no_such=1", "none.yml", '-e {"nothing_known":1} s3ops.garage.site',
])
def test_a_wrong_command_is_found(line: str) -> None:
    assert len(list(playbook_faults(ALL[0], line.split()))) == 1


def test_a_wrong_example_is_found(spec_of: Any) -> None:
    assert option_faults({"nam": "x"}, spec_of("bucket"))
    (site,) = sites({"connect_to": {"api_url": "http://127.0.0.1:3903"}})
    assert site_faults(site, {"paris": {"garage_site": site}})


def test_the_blocks_were_found() -> None:
    assert len(YAML) > 15 and len(COMMANDS) > 25
    assert {block.file for block in YAML if block.guide == "docs/first-bucket.md"} == {"inventory.yml", "host_vars/paris.yml"}
