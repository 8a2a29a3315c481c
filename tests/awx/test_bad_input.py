# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong in an AWX job ends it with one clear sentence, red, and with nothing changed."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from tests.awx.conftest import MakeProject
from tests.awx.controller import Controller, Job, LaunchRefused
from tests.garage.federation_driver import Federation, posts

pytestmark = pytest.mark.requirement("FC-124")


def refused(job: Job, federation: Federation) -> str:
    """What the job said; it has failed and written nothing."""
    assert job.status == "failed", job.output
    assert posts(federation.take("paris")) == posts(federation.take("lyon")) == []
    return job.failure()


def test_a_survey_with_an_unknown_site_starts_no_job(controller: Controller) -> None:
    with pytest.raises(LaunchRefused, match="nice"):
        controller.launch("Garage: promote", {"garage_promote": "nice"}, ["Garage paris"])


def test_a_site_that_the_inventory_no_longer_has(controller: Controller, federation: Federation, make_project: MakeProject) -> None:
    project = make_project()
    (project / "inventory" / "sites.ini").write_text("paris ansible_connection=local\n", encoding="utf-8")
    job = dataclasses.replace(controller, project=project).launch("Garage lyon: apply")
    assert refused(job, federation) == "the inventory has no site 'lyon': set garage_hosts to one of paris"


def test_a_host_without_a_site_file(controller: Controller, federation: Federation, make_project: MakeProject) -> None:
    project = make_project()
    (project / "inventory" / "host_vars" / "lyon.yml").unlink()
    job = dataclasses.replace(controller, project=project).launch("Garage lyon: apply")
    assert refused(job, federation) == "the host lyon has no site file: its variables in the inventory need garage_site"


def test_a_template_without_its_credential(controller: Controller, federation: Federation) -> None:
    message = refused(controller.launch("Garage paris: apply", credentials=[]), federation)
    assert message == "no admin token for paris: the template needs a credential of the type Garage Admin API, with a token"


def test_a_bucket_without_a_credential(controller: Controller, federation: Federation) -> None:
    message = refused(controller.launch("Garage: bucket, apply", {"garage_bucket": "none"}, []), federation)
    assert "api_url is not set: give the option, or GARAGE_ADMIN_URL in the environment" in message


def test_the_credential_of_another_site(controller: Controller, federation: Federation) -> None:
    """Its token is not sent to where it does not belong."""
    federation.forget()
    message = refused(controller.launch("Garage paris: apply", credentials=["Garage lyon"]), federation)
    assert message == (f"the credential is for {federation.proxies['lyon'].url}, but paris is at {federation.proxies['paris'].url}; "
                       "the credential says site role follower, but the site file of paris says writer")


def test_a_workflow_that_lacks_its_preview(controller: Controller, federation: Federation) -> None:
    job = controller.launch("Garage paris: apply", variables={"garage_workflow": True})
    assert refused(job, federation) == "no preview of paris has run in this workflow, so nothing was approved"


def test_a_token_with_too_little_scope(first: dict[str, Job], controller: Controller, federation: Federation) -> None:
    token = federation.cluster.nodes[0].admin.post("CreateAdminToken", {"name": "narrow", "scope": ["GetClusterStatus"]})["secretToken"]
    federation.forget()
    job = dataclasses.replace(controller, tokens={"Garage paris": token}).launch("Garage: bucket, apply", {"garage_bucket": "narrow"}, ["Garage paris"])
    message = refused(job, federation)
    assert "GARAGE_ADMIN_TOKEN" in message and "scope" in message
    assert token not in job.shown


def test_a_site_file_of_another_version(controller: Controller, federation: Federation, make_project: MakeProject) -> None:
    def change(name: str, site: dict[str, Any]) -> None:
        site["layout"]["flavour"] = "new"

    job = dataclasses.replace(controller, project=make_project(change)).launch("Garage paris: apply")
    assert "garage_site.layout.flavour: unknown option" in refused(job, federation)


def test_a_project_without_the_collection(controller: Controller, federation: Federation, tmp_path: Path) -> None:
    job = dataclasses.replace(controller, collections=tmp_path).launch("Garage paris: apply")
    assert refused(job, federation).startswith("the collection s3ops.garage is not there: AWX installs what collections/requirements.yml names")
