# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs and workflows of a fake AWX, started as AWX starts them: ansible-runner with a private data directory."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tests.awx.fake_awx import FakeAwx, Item
from tests.garage.ansible_run import clean_environment
from tools.check.awx import Environment

# Reached only by a hang.
LIMIT_SECONDS = 1800
# How AWX tells a playbook from other YAML in a project, and where it does not look.
PLAYBOOK = re.compile(r"^\s*?-?\s*?(?:hosts|(ansible\.builtin\.)?import_playbook):\s*?.*?$", re.MULTILINE)
SKIPPED = {"roles", "tasks", "host_vars", "group_vars", "collections"}
INVENTORY = "#! /usr/bin/env python3\n# -*- coding: utf-8 -*-\nprint(r'''{}''')\n"


class LaunchRefused(Exception):
    """AWX starts no job: its form was filled in wrongly."""


@dataclass(frozen=True)
class Job:
    """``shown`` is everything that AWX keeps of a job: its output, its events and its artefacts."""

    status: str
    output: str
    events: list[Item]
    artefacts: Item
    shown: str

    @property
    def changed(self) -> int:
        (stats,) = (event["event_data"] for event in self.events if event["event"] == "playbook_on_stats")
        return sum(stats["changed"].values())

    def failure(self) -> str:
        """The message of the task that failed."""
        (failed,) = (event["event_data"] for event in self.events if event["event"] == "runner_on_failed")
        return failed["res"]["msg"]

    def results(self, action: str) -> list[Item]:
        """What the tasks of this module returned."""
        name = f"s3ops.garage.{action}"
        return [event["event_data"]["res"] for event in self.events
                if event["event"] == "runner_on_ok" and event["event_data"]["task_action"] == name]


@dataclass
class Controller:
    """``tokens`` are what was typed into the credentials, by their names; ``collections`` is what the project's update has installed."""

    awx: FakeAwx
    environment: Environment
    project: Path
    collections: Path
    folder: Path
    tokens: dict[str, str] = field(default_factory=dict)
    _numbers: Any = field(default_factory=lambda: itertools.count(1))
    _synced: dict[str, str] = field(default_factory=dict)

    def launch(self, template: str, answers: Mapping[str, Any] | None = None, credentials: list[str] | None = None,
               variables: Mapping[str, Any] | None = None) -> Job:
        """Start a job. ``credentials`` take the place of the template's, ``variables`` are what a workflow hands on. Raises LaunchRefused."""
        item = self.awx.named("job_templates", template)
        if item["playbook"] not in playbooks(self.project):
            raise LaunchRefused(f"the project has no playbook {item['playbook']}")
        own = [self.awx.objects["credentials"][number]["name"] for number in self.awx.linked("job_templates", item["id"], "credentials")]
        data = self.folder / f"job-{next(self._numbers)}"
        (data / "env").mkdir(parents=True)
        variables = {**(variables or {}), **self._answers(item, answers or {})}
        lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in json.loads(item.get("extra_vars") or "{}").items()]
        lines += [f"{json.dumps(name)}: {unsafe(value)}" for name, value in variables.items()]
        (data / "env" / "extravars").write_text("---\n" + "\n".join(lines) + "\n", encoding="utf-8")
        (data / "env" / "envvars").write_text(json.dumps(self._environment(data, own if credentials is None else credentials)), encoding="utf-8")
        (data / "env" / "cmdline").write_text("--check --diff" if item["job_type"] == "check" else "--diff", encoding="utf-8")
        self._inventory(data)
        return self._run(data, item["playbook"])

    def workflow(self, name: str, at_approval: Callable[[], None] | None = None) -> dict[str, Job]:
        """Run all nodes that their parents lead to; what became of each, by its identifier. An approval is given, after ``at_approval``."""
        template = self.awx.named("workflow_job_templates", name)
        nodes = {number: node for number, node in self.awx.objects["workflow_job_template_nodes"].items() if node["workflow_job_template"] == template["id"]}
        parents: dict[int, list[int]] = {number: [] for number in nodes}
        for number in nodes:
            for child in self.awx.linked("workflow_job_template_nodes", number, "success_nodes"):
                parents[child].append(number)
        jobs: dict[str, Job] = {}
        passed: dict[int, Item] = {}  # what each node that succeeded hands on
        waiting = dict(nodes)
        while ready := [number for number in waiting if all(parent in passed for parent in parents[number])]:
            node = waiting.pop(ready[0])
            handed = {key: value for parent in parents[ready[0]] for key, value in passed[parent].items()}
            if node["unified_job_template"] in self.awx.objects["workflow_approval_templates"]:
                (at_approval or (lambda: None))()
                passed[ready[0]] = handed
                continue
            job = self.launch(self.awx.objects["job_templates"][node["unified_job_template"]]["name"],
                              variables={**handed, **json.loads(template["extra_vars"])})
            jobs[node["identifier"]] = job
            if job.status == "successful":
                passed[ready[0]] = {**handed, **job.artefacts}
        return jobs

    def _answers(self, template: Item, answers: Mapping[str, Any]) -> Item:
        """The answers to the survey, as far as AWX checks them."""
        spec = self.awx.surveys.get(template["id"], {"spec": []})["spec"]
        for question in spec:
            value = answers.get(question["variable"], "")
            if question["required"] and value == "":
                raise LaunchRefused(f"'{question['variable']}' value missing")
            if question["type"] == "multiplechoice" and value not in question["choices"]:
                raise LaunchRefused(f"Value {value} for '{question['variable']}' expected to be one of {question['choices']}")
        if unknown := set(answers) - {question["variable"] for question in spec}:
            raise LaunchRefused(f"Variables {sorted(unknown)} are not allowed on launch")
        return dict(answers)

    def _environment(self, data: Path, credentials: list[str]) -> dict[str, str]:
        home = data / "home"
        home.mkdir()
        found = {"HOME": str(home), "ANSIBLE_COLLECTIONS_PATH": f"{self.collections}:{self.environment.collections}",
                 "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True", "ANSIBLE_RETRY_FILES_ENABLED": "False", "ANSIBLE_HOST_KEY_CHECKING": "False"}
        for name in credentials:
            found |= self._inject(data, name)
        return found

    def _inject(self, data: Path, name: str) -> dict[str, str]:
        """What a credential's type makes of it. A field that is empty is not there for the templates of the type."""
        credential = self.awx.named("credentials", name)
        kind = self.awx.objects["credential_types"][credential["credential_type"]]
        values = {key: value for key, value in {**credential["inputs"], "admin_token": self.tokens.get(name, "")}.items() if value}
        files = {}
        for label, template in kind["injectors"]["file"].items():
            path = data / "env" / f"file-{label}"
            path.write_text(render(template, values), encoding="utf-8")
            files[label.removeprefix("template.")] = str(path)
        return {key: render(template, {**values, "tower": {"filename": files}}) for key, template in kind["injectors"]["env"].items()}

    def _inventory(self, data: Path) -> None:
        script = data / "inventory" / "hosts"
        script.parent.mkdir()
        script.write_text(INVENTORY.format(self._sync(data)), encoding="utf-8")
        script.chmod(0o500)

    def _sync(self, data: Path) -> str:
        """The inventory as AWX keeps it after an update from the project: variables as they were written, not as they turn out."""
        key = str(content(self.project / "inventory"))
        if key not in self._synced:
            (data / "ansible.cfg").touch()
            variables = clean_environment(str(data), {"HOME": str(data / "home")})
            command = [str(self.environment.bin / "ansible-inventory"), "-i", str(self.project / "inventory" / "sites.ini"), "--list", "--export"]
            self._synced[key] = subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout
        return self._synced[key]

    def _run(self, data: Path, playbook: str) -> Job:
        project = data / "project"
        shutil.copytree(self.project, project)
        for path in [*project.rglob("*"), project]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        before = content(project)
        variables = clean_environment(str(data), {"PATH": f"{self.environment.bin}:{os.environ['PATH']}"})
        del variables["ANSIBLE_CONFIG"]
        ended = subprocess.run([str(self.environment.bin / "ansible-runner"), "run", str(data), "-p", playbook, "--ident", "1"],
                               env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
        # Nothing may be kept on disk: the project is as it was, and the home is thrown away.
        assert content(project) == before
        shutil.rmtree(data / "home")
        kept = data / "artifacts" / "1"
        raw = [path.read_text(encoding="utf-8") for path in sorted((kept / "job_events").glob("*.json"))]
        events = sorted((json.loads(text) for text in raw), key=lambda event: event["counter"])
        artefacts = next((event["event_data"].get("artifact_data", {}) for event in events if event["event"] == "playbook_on_stats"), {})
        output = (kept / "stdout").read_text(encoding="utf-8") + ended.stderr
        return Job((kept / "status").read_text(encoding="utf-8"), output, events, artefacts, "\n".join([output, *raw]))


def playbooks(project: Path) -> set[str]:
    """What AWX offers of a project."""
    found = (path for path in project.rglob("*.yml") if not SKIPPED & set(path.relative_to(project).parts[:-1]))
    return {str(path.relative_to(project)) for path in found if PLAYBOOK.search(path.read_text(encoding="utf-8"))}


def render(template: str, values: Mapping[str, Any], strict: bool = False) -> str:
    """As AWX fills in the templates of a credential type; ``strict`` is how it checks them."""
    return ImmutableSandboxedEnvironment(undefined=StrictUndefined if strict else Undefined).from_string(template).render(**values)


def unsafe(value: Any) -> str:
    """A value in YAML that Ansible must not take for a template, as AWX writes all that people and jobs say."""
    if isinstance(value, str):
        return f"!unsafe {json.dumps(value)}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{unsafe(key)}: {unsafe(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(unsafe, value)) + "]"
    return json.dumps(value)


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
