# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the configuration playbook makes in AWX, by the modules of awx.awx themselves."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from tests.awx.conftest import CLUSTER, WORKFLOW
from tests.awx.controller import playbooks, render
from tests.awx.fake_awx import FakeAwx
from tests.garage.guide_run import Guide
from tools.check.awx import PROJECT, Environment

pytestmark = pytest.mark.requirement("FC-124")


def test_templates_come_in_pairs_and_name_playbooks_that_awx_finds(awx: FakeAwx) -> None:
    assert playbooks(PROJECT) == {f"{name}.yml" for name in ("site", "bucket", "promote", "demote", "configure", "missing")}
    templates = {item["name"]: item for item in awx.objects["job_templates"].values()}
    previews = {name for name, item in templates.items() if item["job_type"] == "check"}
    assert previews == {"Garage paris: preview", "Garage lyon: preview", "Garage: bucket, preview"}
    for name in previews:
        other = templates[name.replace("preview", "apply")]
        assert other["job_type"] == "run"
        assert {key: other.get(key) for key in ("playbook", "extra_vars", "inventory", "project")} == {
            key: templates[name].get(key) for key in ("playbook", "extra_vars", "inventory", "project")}
    assert {item["playbook"] for item in templates.values()} <= playbooks(PROJECT)


def test_a_template_has_the_credentials_of_its_site(awx: FakeAwx) -> None:
    def credentials(template: str) -> set[str]:
        numbers = awx.linked("job_templates", awx.named("job_templates", template)["id"], "credentials")
        return {awx.objects["credentials"][number]["name"] for number in numbers}

    for pair in ("preview", "apply"):
        assert credentials(f"Garage paris: {pair}") == {"Garage paris"}
        assert credentials(f"Garage lyon: {pair}") == {"Garage lyon", CLUSTER}


def test_surveys_ask_for_flat_values_and_for_no_secret(awx: FakeAwx) -> None:
    questions = [question for survey in awx.surveys.values() for question in survey["spec"]]
    assert len(questions) == 2 * 4 + 2
    assert {question["type"] for question in questions} == {"text", "multiplechoice"}
    assert not [question for question in questions if "." in question["variable"] or "token" in question["variable"]]


def test_the_credential_type_is_as_awx_wants_it(awx: FakeAwx) -> None:
    kind = awx.named("credential_types", "Garage Admin API")
    fields = {each["id"]: f"<{each['id']}>" for each in kind["inputs"]["fields"]}
    assert [each["id"] for each in kind["inputs"]["fields"] if each.get("secret")] == ["admin_token"]
    names = {"tower": {"filename": {label.removeprefix("template."): "<file>" for label in kind["injectors"]["file"]}}}
    # The braces have come through, and name nothing that is not there.
    rendered = {name: render(template, {**fields, **names}, strict=True) for name, template in kind["injectors"]["env"].items()}
    assert rendered == {"GARAGE_ADMIN_URL": "<admin_url>", "GARAGE_ADMIN_TOKEN": "<admin_token>", "GARAGE_CA_PATH": "<file>",
                        "GARAGE_SITE_ROLE": "<site_role>"}
    assert [render(template, fields, strict=True) for template in kind["injectors"]["file"].values()] == ["<ca_cert>"]
    # Without a CA the list of the environment is used, and not an empty file.
    assert render(kind["injectors"]["env"]["GARAGE_CA_PATH"], names) == ""


def test_a_second_run_changes_nothing_and_keeps_a_token_that_was_typed_in(awx: FakeAwx, configure: Callable[[FakeAwx], dict[str, int]]) -> None:
    inputs = awx.named("credentials", "Garage paris")["inputs"]
    inputs["admin_token"] = "$encrypted$"
    del awx.writes[:]
    # The module for nodes writes an approval each time: its answer has fields that it does not compare.
    assert set(configure(awx)) <= {"Workflow: approval"}
    assert not [write for write in awx.writes if "credential" in write]
    assert awx.named("credentials", "Garage paris")["inputs"] is inputs
    del inputs["admin_token"]


def test_the_workflow_leads_from_the_followers_over_the_writer_to_the_followers(awx: FakeAwx) -> None:
    workflow = awx.named("workflow_job_templates", WORKFLOW)
    nodes = {number: node["identifier"] for number, node in awx.objects["workflow_job_template_nodes"].items()
             if node["workflow_job_template"] == workflow["id"]}
    links = {nodes[number]: [nodes[child] for child in awx.linked("workflow_job_template_nodes", number, "success_nodes")] for number in nodes}
    assert links == {"preview-lyon": ["preview-paris"], "preview-paris": ["approval"], "approval": ["apply-paris"], "apply-paris": ["apply-lyon"],
                     "apply-lyon": []}


@pytest.mark.guide("docs/awx.md", "Set up")
def test_the_configuration_as_the_guide_runs_it(guide: Guide, environment: Environment) -> None:
    shutil.copytree(PROJECT, guide.folder, dirs_exist_ok=True)
    guide.write("mine.yml", {"awx_wait": False, "awx_inventory": "My sites"})
    (guide.bin / "ansible-playbook").symlink_to(environment.bin / "ansible-playbook")
    guide.env = {"HOME": str(guide.folder), "ANSIBLE_COLLECTIONS_PATH": str(environment.collections),
                 "ANSIBLE_PYTHON_INTERPRETER": str(environment.bin / "python")}
    with FakeAwx() as fake:
        guide.places = {"https://awx.example.org": fake.url, "OAUTH_TOKEN=…": "OAUTH_TOKEN=any"}
        guide.run()
        assert fake.named("inventories", "My sites")
        assert fake.named("workflow_job_templates", WORKFLOW)
