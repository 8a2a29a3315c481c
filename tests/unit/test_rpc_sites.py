# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which sites stop when the RPC secret changes: all that have it, or nothing is done."""

from __future__ import annotations

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils._site.rotation import rpc_sites

NODES = {"storage": {"replicas": 1}}
PARIS = {"name": "paris", **NODES, "remotes": [{"name": "lyon"}]}
LYON = {"name": "lyon", **NODES}
EDGE = {"name": "edge", "gateway": {}, "connect_to": {"site": "paris"}}
ALONE = {"name": "nice", **NODES}
HANDLE = {"name": "look", "connect_to": {"site": "paris"}}


def found(*sites: dict, without: tuple[str, ...] = ()) -> dict:
    hosts = {f"host-{site['name']}": {"garage_site": site} for site in sites}
    return rpc_sites(hosts, [host for host in hosts if host.removeprefix("host-") not in without])


@pytest.mark.requirement("OP-005")
@pytest.mark.parametrize(("sites", "names"), [
    ((ALONE,), ["nice"]),
    ((LYON, PARIS), ["lyon", "paris"]),
    ((EDGE, PARIS, LYON), ["edge", "lyon", "paris"]),
    ((PARIS, LYON, HANDLE), ["lyon", "paris"]),
])
def test_all_that_share_it_are_found(sites: tuple[dict, ...], names: list[str]) -> None:
    assert found(*sites) == {"sites": names, "faults": []}


@pytest.mark.requirement("OP-005")
@pytest.mark.parametrize(("sites", "without", "fault"), [
    ((PARIS, LYON), ("lyon",), "lyon (host host-lyon) has the same RPC secret and is not in this run"),
    ((PARIS, LYON), ("paris",), "paris (host host-paris) has the same RPC secret and is not in this run"),
    ((PARIS, LYON, EDGE), ("edge",), "edge (host host-edge) has the same RPC secret and is not in this run"),
    ((PARIS,), (), "lyon is a remote and no site of this inventory"),
    ((PARIS, {"name": "lyon", "connect_to": {"api_url": "http://lyon"}}), (), "lyon is run by something else"),
    ((ALONE, LYON, PARIS), (), "nice belongs to another cluster"),
    ((HANDLE,), (), "no site of this run has nodes of its own"),
])
def test_a_run_without_one_of_them_is_refused(sites: tuple[dict, ...], without: tuple[str, ...], fault: str) -> None:
    assert any(text.startswith(fault) for text in found(*sites, without=without)["faults"])
