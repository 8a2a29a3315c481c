# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The executor when the layout is not what it was, or may not be written."""

from __future__ import annotations

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._errors import GateClosed, StaleVersion
from ansible_collections.s3ops.garage.plugins.module_utils._executor import Task, converge
from ansible_collections.s3ops.garage.plugins.module_utils._plan import Call, Plan
from tests.fakes import loopback
from tests.fakes.clients import clients
from tests.fakes.loopback import Loopback, answer, error


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    loopback.clean_environment(monkeypatch)


@pytest.fixture
def connect():
    with clients(retries=0) as make:
        yield make


def fails(kind, task, client):
    with pytest.raises(kind) as caught:
        converge(task, client)
    return caught.value


STALE = error(500, "InternalError", "Internal error: Invalid new layout version")


def apply_task(seen):
    def read(client, doubts):
        seen.append(doubts)
        return client.call("GetClusterLayout")

    def plan(live):
        calls = () if live["settled"] else (Call("ApplyClusterLayout", "apply", body={"version": live["version"] + 1}),)
        return Plan("layout", calls=calls)

    return Task(read, plan, lambda live: live)


@pytest.mark.requirement("OP-109", "FC-008")
def test_a_stale_version_is_read_again_and_tried_once_more(connect):
    seen = []
    layouts = [answer({"version": version, "settled": settled}) for version, settled in ((1, False), (2, False), (3, True))]
    with Loopback(layouts[0], STALE, layouts[1], answer({}), layouts[2]) as server:
        converge(apply_task(seen), connect(server.url))
    assert [request.json for request in server.requests if request.endpoint == "ApplyClusterLayout"] == [{"version": 2}, {"version": 3}]
    assert seen == [(), (), ()]


@pytest.mark.requirement("OP-109", "FC-008")
def test_a_version_that_is_stale_twice_is_the_end(connect):
    layout = answer({"version": 1, "settled": False})
    with Loopback(layout, STALE, layout, STALE) as server:
        found = fails(StaleVersion, apply_task([]), connect(server.url))
    assert server.endpoints == ["GetClusterLayout", "ApplyClusterLayout"] * 2
    assert "not known" not in found.message


@pytest.mark.requirement("OP-109", "FC-008")
def test_when_the_other_writer_wanted_the_same_nothing_more_is_sent(connect):
    done = answer({"version": 2, "settled": True})
    with Loopback(answer({"version": 1, "settled": False}), STALE, done, done) as server:
        outcome = converge(apply_task([]), connect(server.url))
    assert server.endpoints.count("ApplyClusterLayout") == 1
    assert outcome.plan.changed


@pytest.mark.requirement("LW-13", "LW-16")
def test_a_closed_gate_is_no_doubt(connect):
    with Loopback(answer({"version": 1, "settled": False})) as server:
        found = fails(GateClosed, apply_task([]), connect(server.url, site_role="follower"))
    assert server.endpoints == ["GetClusterLayout"]
    assert (found.done, found.left) == ((), ())
