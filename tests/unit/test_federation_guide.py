# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of federations are sound, and the guide says what holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.s3ops.garage.plugins.module_utils._site.document import normal_site, site_faults
from ansible_collections.s3ops.garage.plugins.module_utils._site.published import artefact, layout_options

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "federation.md").read_text(encoding="utf-8")


def inventory(name: str) -> dict[str, dict[str, Any]]:
    folder = ROOT / "examples" / "federation" / name
    everyone = yaml.safe_load((folder / "inventory.yml").read_text(encoding="utf-8"))["all"]
    return {host: {**everyone["vars"], **yaml.safe_load((folder / "host_vars" / f"{host}.yml").read_text(encoding="utf-8"))} for host in everyone["hosts"]}


@pytest.mark.requirement("LW-53", "LW-45", "LW-05")
@pytest.mark.parametrize(("name", "sites"), [("two_sites", 2), ("three_sites", 3)])
def test_an_example_has_one_writer_and_no_fault(name: str, sites: int) -> None:
    hosts = inventory(name)
    roles = []
    for variables in hosts.values():
        writer = variables.get("garage_layout_writer_site")
        assert site_faults(variables["garage_site"], hosts, writer) == []
        roles.append(normal_site(variables["garage_site"], hosts, writer)["site_role"])
    assert roles == ["writer", *["follower"] * (sites - 1)]


@pytest.mark.requirement("LW-30", "LW-53")
def test_the_writer_of_three_sites_takes_what_the_others_publish() -> None:
    hosts = inventory("three_sites")
    for name in ("lyon", "nice"):
        file = hosts[name]["garage_site"]
        hosts[name]["garage_layout_nodes"] = {name: [{"zone": name, **node} for node in file["layout"]["nodes"]]}
    paris = normal_site(hosts["paris"]["garage_site"], hosts, "paris")
    assert len(layout_options(paris, hosts)["roles"]) == 4


@pytest.mark.requirement("LW-53", "LW-42", "LW-54")
def test_the_guide_names_what_there_is() -> None:
    for words in ("## Before a downgrade", "## What is left for later", "## Handing the layout over", "garage_layout_expected_plan", "layout.removable",
                  "foreign_writer", artefact("<site>"), "../examples/federation"):
        assert words in GUIDE
    for name in ("promote", "demote"):
        assert (ROOT / "playbooks" / f"{name}.yml").exists() and f"s3ops.garage.{name}" in GUIDE
