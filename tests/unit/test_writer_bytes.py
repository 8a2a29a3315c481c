# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A writer sends, byte for byte, what a site without the word sends."""

from __future__ import annotations

import pytest
from tests.fakes.garage import ADMIN_TOKEN, GIB, FakeGarage, FakeServer
from tests.fakes.garage.partitions import Role
from tests.fakes.loopback import clean_environment
from tests.garage.federation_driver import module_result


class Listening(FakeServer):
    """Keeps each request as it came: method, target with query, body and authorization."""

    def __init__(self, garage):
        super().__init__(garage)
        self.heard = []

    def answer(self, method, target, body, authorization):
        self.heard.append((method, target, body, authorization))
        return super().answer(method, target, body, authorization)


def heard(site_role, profile, monkeypatch):
    """What a life of layout changes, by modules, sends to a Garage of two nodes."""
    clean_environment(monkeypatch)
    if profile:
        monkeypatch.setenv("GARAGE_SITE_ROLE", profile)
    garage = FakeGarage(layout=False, replication_factor=1)
    garage.add_node()
    first, second = [node.id for node in garage.state.nodes]
    both = [{"node": id, "zone": "paris", "capacity": "1GiB", "tags": ["a b", "ü"]} for id in (first, second)]
    runs = [
        ("layout", {"roles": both[:1]}, True),
        ("layout", {"roles": both[:1], "preview": True}, True),
        ("layout", {"roles": both[:1], "replication_factor": 1}, False),
        ("layout", {"roles": both, "apply": False}, False),
        ("layout", {"roles": both, "wait": True}, False),
        ("layout", {"roles": both, "zone_redundancy": "1"}, False),
        ("layout", {"roles": [{"node": second, "state": "absent"}], "foreign_staged": "include"}, False),
        ("layout", {"roles": both[1:], "apply": False}, False),
        ("layout_recovery", {"action": "revert"}, False),
        ("layout_recovery", {"action": "skip_dead_nodes", "version": 1, "confirm": True}, False),
        ("layout_info", {}, False),
    ]
    with Listening(garage) as server:
        for module, options, check in runs:
            connection = {"api_url": server.url, "api_token": ADMIN_TOKEN, **({"site_role": site_role} if site_role else {})}
            result = module_result(module, {**connection, **options}, check)
            assert not result.get("failed"), result
            assert result.get("site_role", site_role or profile) == (site_role or profile)
            assert not result.get("pending")
        garage.state.layout.staged[second] = Role("paris", GIB, ())
        module_result("layout", {**connection, "roles": both, "foreign_staged": "discard"})
    assert garage.state.layout.current.version == 5
    return server.heard


@pytest.mark.requirement("LW-14", "LW-03", "LW-38")
def test_unset_and_writer_are_the_same_to_the_server(monkeypatch):
    unset = heard(None, None, monkeypatch)
    assert len([row for row in unset if row[0] == "POST"]) > 10
    assert heard("writer", None, monkeypatch) == unset
    assert heard(None, "writer", monkeypatch) == unset
