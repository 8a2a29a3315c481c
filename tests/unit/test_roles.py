# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the roles and the per-site playbook may do, and that their documents agree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ROLES = sorted(path for path in (ROOT / "roles").iterdir() if path.is_dir())
PLAYBOOK = ROOT / "playbooks" / "site.yml"
MODULES = {f"s3ops.garage.{path.stem}" for path in (ROOT / "plugins" / "modules").glob("*.py")}
SAYING = {"ansible.builtin.assert", "ansible.builtin.debug", "ansible.builtin.fail", "ansible.builtin.include_role", "ansible.builtin.import_role"}
ON_KUBERNETES = {"kubernetes.core.k8s", "kubernetes.core.k8s_info", "kubernetes.core.k8s_log"}
WORKLOAD_ROLES = {"workload", "credentials"}
# What a role keeps beside the cluster: facts, artefacts, a file of the controller.
KEEPING = {"ansible.builtin.set_fact", "ansible.builtin.set_stats", "ansible.builtin.include_tasks", "ansible.builtin.import_tasks", "ansible.builtin.copy"}
# Credentials in files beside a Garage.
ON_FILES = {"ansible.builtin.stat", "ansible.builtin.slurp", "ansible.builtin.file"}
NO_ACTION = {"name", "when", "register", "until", "delay", "retries", "throttle", "changed_when", "vars", "module_defaults", "no_log", "environment",
             "diff", "loop", "loop_control", "failed_when", "check_mode", "delegate_to", "run_once"}


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else {}


def tasks(entries: list[dict]) -> Iterator[dict]:
    for entry in entries:
        for part in ("block", "tasks", "rescue"):
            yield from tasks(entry.get(part, []))
        if not {"block", "tasks"} & set(entry):
            yield entry


def all_tasks() -> list[tuple[Path, dict]]:
    files = [PLAYBOOK, *(file for role in ROLES for file in (role / "tasks").glob("*.yml"))]
    return [(file, task) for file in files for task in tasks(read(file))]


@pytest.mark.requirement("MH-06", "MH-16", "MH-20", "MH-31")
def test_only_the_admin_api_is_touched() -> None:
    found = {action: file for file, task in all_tasks() for action in set(task) - NO_ACTION - (ON_FILES if file.name == "files.yml" else set())}
    assert "s3ops.garage.layout" in found
    assert set(found) <= MODULES | SAYING | KEEPING | ON_KUBERNETES, found


@pytest.mark.requirement("MH-06", "MH-20")
def test_a_handle_has_nothing_on_kubernetes_touched() -> None:
    """Outside of the roles that run a workload, Kubernetes is asked only for a site that is there."""
    for file, task in all_tasks():
        if ON_KUBERNETES & set(task) and file.parents[1].name not in WORKLOAD_ROLES:
            assert task["when"] in ("layout_record_object is not none", "layout_site.kubernetes is not none"), file


@pytest.mark.requirement("LW-48")
@pytest.mark.parametrize(("module", "count"), [("layout", 2), ("tenancy", 1)])
def test_sites_of_one_play_write_one_after_the_other(module: str, count: int) -> None:
    # What followers publish, and what is compared in check mode, is read only.
    found = [task for file, task in all_tasks()
             if f"s3ops.garage.{module}" in task and file.name != "publish.yml" and task.get("check_mode") is not True]
    assert [task["throttle"] for task in found] == [1] * count


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_options_are_documented_with_their_defaults(role: Path) -> None:
    options = read(role / "meta" / "argument_specs.yml")["argument_specs"]["main"]["options"]
    defaults = read(role / "defaults" / "main.yml")
    assert defaults == {name: option["default"] for name, option in options.items() if "default" in option}
    text = (role / "README.md").read_text(encoding="utf-8")
    for name, option in options.items():
        shown = "required" if option.get("required") else f"`{str(option['default']).lower()}`" if "default" in option else "unset"
        assert f"| `{name}` | {shown} |" in text


def test_an_option_means_the_same_in_every_role() -> None:
    defaults: dict[str, Any] = {}
    for role in ROLES:
        for name, value in read(role / "defaults" / "main.yml").items():
            assert defaults.setdefault(name, value) == value


@pytest.mark.requirement("LW-15", "LW-38")
def test_the_role_of_a_site_goes_with_its_connection_into_every_task() -> None:
    """By the environment, which a task that calls itself writer does not overrule."""
    play = read(PLAYBOOK)[1]
    assert "GARAGE_SITE_ROLE" in play["environment"] and "garage_normal.site_role" in play["environment"]
    for name in ("main", "publish", "release"):
        (block,) = read(ROOT / "roles" / "layout" / "tasks" / f"{name}.yml")
        assert block["environment"] == "{{ layout_environment }}"
    assert "GARAGE_SITE_ROLE" in read(ROOT / "roles" / "layout" / "vars" / "main.yml")["layout_environment"]


def test_no_key_is_asked_for_that_is_a_method_of_the_dictionary() -> None:
    """`plan.values` is a method, whatever the dictionary holds; `plan['values']` is the value."""
    files = [file for folder in ("roles", "playbooks") for file in (ROOT / folder).rglob("*.yml")]
    assert len(files) > 20
    found = {str(file): match.group() for file in files for match in re.finditer(r"\w\.(values|keys|items|get|update|copy|pop)\b(?!\()", text_of(file))}
    assert found == {}


def text_of(file: Path) -> str:
    """Without comments and names of modules."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not re.match(r"\s*(#|-? *(ansible\.builtin|kubernetes\.core|s3ops\.garage)\.)", line))


def test_a_site_file_is_taken_apart_once_in_the_playbook_and_by_each_role_that_is_used_alone() -> None:
    play = read(PLAYBOOK)[1]
    first, last = play["tasks"][0], play["tasks"][-1]
    assert (first["ansible.builtin.set_fact"], first["no_log"]) == ({"garage_site_normal": "{{ garage_normal }}"}, True)
    # A later play may have other site files.
    assert last["ansible.builtin.set_fact"] == {"garage_site_normal": None}
    made = [variables for role in ROLES if (variables := read(role / "vars" / "main.yml")) and "garage_site | s3ops" in str(variables)]
    assert len(made) == 7
    for variables in [play["vars"], *made]:
        texts = [(name, str(text)) for name, text in variables.items() if "garage_site | s3ops.garage.site(" in str(text)]
        for name, text in texts:
            # A template that names the filter loads it, and one that names a variable evaluates it, in each task.
            assert text == "{{ garage_site | s3ops.garage.site(hostvars, garage_layout_writer_site | default(none)) }}"
            assert f"{{{{ garage_site_normal | default(none) or lookup('ansible.builtin.vars', '{name}') }}}}" in variables.values()
