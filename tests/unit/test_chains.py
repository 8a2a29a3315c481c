# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role of a site that acts on the cluster of another, along chains of references."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._site.document import normal_site, site_faults
from tests.unit.test_published import remote, site


def pointer(name: str, to: str, role: str | None = None) -> dict:
    layout = {"layout": {"site_role": role}} if role else {}
    return {"name": name, "zone": to, "connect_to": {"site": to}, **layout}


def inventory(*sites: dict, **variables: Any) -> dict:
    return {f"host-{each['name']}": {"garage_site": each, **variables} for each in sites}


PARIS, LYON = site("paris", "lyon", role="writer"), site("lyon", "paris", role="follower")
PLAIN_PARIS, PLAIN_LYON = ({key: value for key, value in each.items() if key != "layout"} for each in (PARIS, LYON))


@pytest.mark.requirement("LW-15", "LW-49", "MH-14")
@pytest.mark.parametrize("declared", [None, "writer", "follower"])
@pytest.mark.parametrize(("way", "target"), [
    pytest.param(["lyon"], "follower", id="to a follower"),
    pytest.param(["more", "lyon"], "follower", id="to a follower by way of a third"),
    pytest.param(["paris"], None, id="to the writer"),
    pytest.param(["more", "paris"], None, id="to the writer by way of a third"),
])
def test_a_reference_has_the_role_of_where_it_leads(declared: str | None, way: list[str], target: str | None) -> None:
    node = pointer("node", way[0], declared)
    hosts = inventory(PARIS, LYON, node, *([pointer("more", way[1])] if len(way) > 1 else []))
    found = normal_site(node, hosts)
    expected = target or declared
    assert found["site_role"] == expected
    assert found["connection"].get("site_role") == expected


@pytest.mark.requirement("LW-15", "LW-47")
@pytest.mark.parametrize(("way", "role"), [
    (["paris"], "writer"), (["lyon"], "follower"), (["more", "paris"], "follower"), (["more", "lyon"], "follower"), ([], "follower"),
])
def test_the_same_where_the_inventory_names_the_writer(way: list[str], role: str) -> None:
    """What is between is a follower by the name alone, and holds as well."""
    node = pointer("node", way[0]) if way else site("node", "paris", role=None)
    hosts = inventory(PLAIN_PARIS, PLAIN_LYON, node, *([pointer("more", way[1])] if len(way) > 1 else []), garage_layout_writer_site="paris")
    assert normal_site(node, hosts, "paris")["site_role"] == role


@pytest.mark.requirement("LW-15", "LW-47")
def test_a_writer_whose_connection_leads_to_a_follower_writes_nothing() -> None:
    paris = {**pointer("paris", "lyon"), "zone": "paris", "remotes": [remote("lyon")]}
    hosts = inventory(paris, PLAIN_LYON, garage_layout_writer_site="paris")
    assert normal_site(paris, hosts, "paris")["site_role"] == "follower"


@pytest.mark.requirement("LW-06", "LW-43", "LW-15")
def test_gateways_of_their_own_cannot_follow_and_cannot_write_through_a_follower() -> None:
    gateways = {"name": "edge", "zone": "edge", "connect_to": {"site": "lyon", "rpc_secret_file": "/etc/garage/rpc"},
                "gateway": {"replicas": 2, "metadata": {"size": "1Gi"}}, "kubernetes": {"namespace": "garage"}}
    faults = site_faults({**gateways, "layout": {"site_role": "follower"}}, inventory(PARIS, LYON))
    assert any(fault.startswith("garage_site.layout.site_role: gateways that join another cluster") for fault in faults)
    hosts = inventory(PARIS, {**LYON, "replication": {"factor": 3}}, gateways)
    assert normal_site(gateways, hosts)["site_role"] == "follower"
