# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes may be switched off for good, so that nothing is deleted that the cluster still needs."""

from __future__ import annotations

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._models.cluster import Node
from ansible_collections.s3ops.garage.plugins.module_utils._models.layout import History
from ansible_collections.s3ops.garage.plugins.module_utils._planners.removable import removable
from ansible_collections.s3ops.garage.plugins.module_utils._readers.layout import read_layout_info
from tests.unit.layout_plans import A, B, C, D, gateway, live, storage
from tests.unit.layout_runs import Site, drain

SETTLED = History(2, (1,), {A: {"ack": 2, "sync": 2, "syncAck": 1}, D: {"ack": 2, "sync": 2, "syncAck": 1}})
LAGGING = History(2, (1,), {A: {"ack": 2, "sync": 1, "syncAck": 1}, D: {"ack": 2, "sync": 2, "syncAck": 1}})
UNTRACKED = History(2, (1,))
ROLES = (storage(A), storage(B), gateway(C))


def nodes(**of_d):
    return (Node(A, up=True, has_role=True), Node(B, up=True, has_role=True), Node(C, up=True, has_role=True), Node(D, **{"up": True, **of_d}))


@pytest.mark.requirement("LW-25", "LW-46", "OP-110")
@pytest.mark.parametrize(("snapshot", "expected"), [
    pytest.param(live(*ROLES, nodes=nodes()), [D], id="never had a role"),
    pytest.param(live(*ROLES, nodes=nodes(up=False)), [D], id="down and without a role"),
    pytest.param(live(*ROLES, nodes=nodes(draining=True)), [], id="drains, and the history is not known"),
    pytest.param(live(*ROLES, nodes=nodes(draining=True), history=LAGGING), [], id="another node lags behind"),
    pytest.param(live(*ROLES, nodes=nodes(draining=True), history=UNTRACKED), [], id="drains, and nobody knows how far"),
    pytest.param(live(*ROLES, nodes=nodes(draining=True), history=SETTLED), [D], id="only bookkeeping is left"),
    pytest.param(live(*ROLES, nodes=nodes(), staged={D: storage(D)}), [], id="a role is staged"),
    pytest.param(live(*ROLES, nodes=nodes(), staged={C: None}), [D], id="a removal that is only staged removes nothing"),
    pytest.param(live(*ROLES, storage(D), nodes=nodes(has_role=True)), [], id="has a role"),
    pytest.param(live(*ROLES, gateway(D), nodes=nodes(has_role=True, draining=True), history=SETTLED), [], id="became a gateway"),
])
def test_what_may_go(snapshot, expected):
    assert removable(snapshot) == expected


@pytest.mark.requirement("LW-25", "LW-46")
def test_a_node_that_drains_is_held_until_it_has_drained():
    site = Site(["paris", "paris", "paris"], layout=3)
    assert read_layout_info(site.client)["removable"] == []
    drain(site)
    site.run({"node": site.ids[2], "state": "absent"}, require_settled=False)
    held = read_layout_info(site.client)
    assert (site.ids[2] in [role["id"] for role in held["roles"]], held["removable"]) == (False, [])
    site.garage.state.nodes[1].up = True
    site.garage.state.settle()
    assert read_layout_info(site.client)["removable"] == [site.ids[2]]
