# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs and the workflow of the AWX project on two real sites, started by ansible-runner as AWX starts them."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tests.awx.conftest import WORKFLOW, MakeProject
from tests.awx.controller import Controller, Job
from tests.garage.ansible_run import run_module
from tests.garage.federation_driver import Federation, layout_writes, posts


def declared(result: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The roles, without what only the server computes."""
    return [(role["id"], role["zone"], role["capacity"], role["tags"]) for role in result["layout"]["roles"]]


@pytest.mark.requirement("FC-124", "LW-13")
def test_the_workflow_applies_what_its_previews_have_shown(first: dict[str, Job], federation: Federation) -> None:
    assert list(first) == ["preview-lyon", "preview-paris", "apply-paris", "apply-lyon"]
    (published,) = first["preview-lyon"].artefacts["garage_layout_nodes_lyon"]
    assert published["node"] == federation.cluster.site("lyon").nodes[0].node_id
    plan = first["preview-paris"].artefacts["garage_layout_expected_plan_paris"]
    (predicted,) = first["preview-paris"].results("layout")
    (applied,) = first["apply-paris"].results("layout")
    assert plan.startswith("v0-") and plan == predicted["plan_hash"] == applied["plan_hash"]
    assert declared(applied) == declared(predicted) and applied["layout"]["version"] == 1
    assert layout_writes(federation.take("lyon")) == []
    layout = federation.cluster.nodes[0].admin.get("GetClusterLayout")
    assert {role["id"] for role in layout["roles"]} == {*federation.cluster.site("paris").node_ids, published["node"]}


@pytest.mark.requirement("FC-124")
def test_artefacts_have_a_name_for_each_site(first: dict[str, Job]) -> None:
    assert set(first["preview-paris"].artefacts) == {"garage_layout_expected_plan_paris", "garage_summary_paris"}
    assert set(first["apply-lyon"].artefacts) == {"garage_layout_nodes_lyon", "garage_summary_lyon"}
    assert first["apply-lyon"].artefacts["garage_summary_lyon"] == {
        "layout_version": 1, "health": "healthy", "nodes": 4, "nodes_up": 4, "awaits_the_writer": False}


@pytest.mark.requirement("FC-124")
def test_no_job_shows_a_secret(first: dict[str, Job], secrets: list[str]) -> None:
    for name, job in first.items():
        assert job.events and not [name for secret in secrets if secret in job.shown]


@pytest.mark.requirement("FC-124")
def test_a_second_run_changes_nothing(first: dict[str, Job], controller: Controller, federation: Federation) -> None:
    federation.forget()
    again = controller.launch("Garage lyon: apply")
    assert (again.status, again.changed) == ("successful", 0), again.output
    assert posts(federation.take("lyon")) == []


@pytest.mark.requirement("FC-124")
def test_a_world_that_has_changed_since_the_preview_stops_the_workflow(
    first: dict[str, Job], controller: Controller, make_project: MakeProject, federation: Federation
) -> None:
    lyon = federation.cluster.site("lyon")

    def change(name: str, site: dict[str, Any]) -> None:
        if name == "paris":
            site["layout"]["nodes"][0]["tags"] = ["changed"]
            site["tenancy"]["buckets"].append({"name": "later"})

    def somebody_else_writes() -> None:
        admin = lyon.nodes[1].admin
        staged = admin.post("UpdateClusterLayout", {"roles": [{"id": lyon.nodes[1].node_id, "zone": "lyon", "capacity": 10**9, "tags": []}]})
        admin.post("ApplyClusterLayout", {"version": staged["version"] + 1})
        federation.forget()

    jobs = dataclasses.replace(controller, project=make_project(change)).workflow(WORKFLOW, somebody_else_writes)
    assert {name: job.status for name, job in jobs.items()} == {"preview-lyon": "successful", "preview-paris": "successful", "apply-paris": "failed"}
    assert jobs["preview-paris"].artefacts["garage_layout_expected_plan_paris"].startswith("v1-")
    message = jobs["apply-paris"].failure()
    assert "this is not the plan that was approved" in message and "the layout in force is version 2, it was version 1" in message
    assert posts(federation.take("paris")) == posts(federation.take("lyon")) == []
    layout = lyon.nodes[1].admin.get("GetClusterLayout")
    assert layout["version"] == 2 and "changed" not in [tag for role in layout["roles"] for tag in role["tags"]]
    assert "later" not in str(lyon.nodes[1].admin.get("ListBuckets"))


@pytest.mark.requirement("FC-124")
def test_a_bucket_by_survey_is_what_it_is_by_hand(first: dict[str, Job], controller: Controller, federation: Federation) -> None:
    answers = {"garage_bucket": "survey", "garage_bucket_max_size": "4GB", "garage_bucket_max_objects": "", "garage_bucket_key": "surveyed"}
    federation.forget()
    preview = controller.launch("Garage: bucket, preview", answers, ["Garage paris"])
    assert (preview.status, preview.changed) == ("successful", 1), preview.output
    assert posts(federation.take("paris")) == []
    made = controller.launch("Garage: bucket, apply", answers, ["Garage paris"])
    assert (made.status, made.changed) == ("successful", 1), made.output
    federation.forget()
    again = controller.launch("Garage: bucket, apply", answers, ["Garage paris"])
    assert (again.status, again.changed) == ("successful", 0), again.output
    assert again.artefacts == made.artefacts and len(made.artefacts["garage_bucket_id"]) == 64
    way = federation.way("paris")
    by_hand = run_module("bucket", {"name": "survey", "quotas": {"max_size": "4GB"}}, way, check=True)
    granted = run_module("grant", {"bucket": "survey", "key": "surveyed", "read": True, "write": True}, way, check=True)
    assert (by_hand["changed"], granted["changed"]) == (False, False)
    assert posts(federation.take("paris")) == []
    secret = federation.cluster.nodes[0].admin.get("GetKeyInfo", search="surveyed", showSecretKey="true")["secretAccessKey"]
    assert not [job for job in (preview, made, again) for word in (secret, *controller.tokens.values()) if word in job.shown]


@pytest.mark.requirement("FC-124")
def test_promotion_by_survey_shows_lines_and_changes_nothing(first: dict[str, Job], controller: Controller, federation: Federation) -> None:
    """One token that all sites know: each site file has the address of its site."""
    scope = ["GetClusterStatus", "GetClusterHealth", "GetClusterLayout", "GetClusterLayoutHistory"]
    token = federation.cluster.nodes[0].admin.post("CreateAdminToken", {"name": "handover", "scope": scope})["secretToken"]
    federation.forget()
    job = dataclasses.replace(controller, tokens={"Garage paris": token}).launch("Garage: promote", {"garage_promote": "lyon"}, ["Garage paris"])
    assert job.status == "successful", job.output
    assert "site_role: writer" in job.output and "site_role: follower" in job.output
    assert token not in job.shown
    assert posts(federation.take("paris")) == posts(federation.take("lyon")) == []
