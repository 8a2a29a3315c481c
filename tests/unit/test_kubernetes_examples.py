# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The example site files are good ones, and what stands in front of a site fits its Services."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from ansible_collections.s3ops.garage.plugins.module_utils._manifests.objects import objects
from ansible_collections.s3ops.garage.plugins.module_utils._site.document import normal_site, site_faults

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "kubernetes"
HOSTS = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in (EXAMPLES / "host_vars").glob("*.yml")}


@pytest.mark.parametrize("host", sorted(HOSTS))
def test_the_site_files_have_no_fault(host: str) -> None:
    assert site_faults(HOSTS[host]["garage_site"], HOSTS) == []
    inventory = yaml.safe_load((EXAMPLES / "inventory.yml").read_text(encoding="utf-8"))
    assert host in inventory["garage_sites"]["hosts"]


@pytest.mark.requirement("TD-22")
@pytest.mark.parametrize("path", sorted((EXAMPLES / "exposure").glob("*.yml")), ids=lambda path: path.stem)
def test_what_stands_in_front_leads_to_a_port_of_a_service(path: Path) -> None:
    made = objects(normal_site(HOSTS["paris"]["garage_site"], HOSTS)["workload"], "garage", "")
    ports = {(item["metadata"]["name"], port["port"]) for item in made["shared"] if item["kind"] == "Service" for port in item["spec"]["ports"]}
    text = path.read_text(encoding="utf-8")
    assert yaml.safe_load(text)["metadata"]["namespace"] == "garage"
    used = {port for name, port in ports if name == "paris-s3" and f": {port}" in text}
    assert used
    assert "paris-s3" in text
