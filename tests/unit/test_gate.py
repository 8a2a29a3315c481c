# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What layout and layout_recovery say of the site role is the same, and a follower's recovery sends nothing."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils import _operation_job
from ansible_collections.s3ops.garage.plugins.module_utils._endpoints import LAYOUT_WRITES
from ansible_collections.s3ops.garage.plugins.module_utils._errors import GateClosed, PlanError
from ansible_collections.s3ops.garage.plugins.module_utils._site.document import normal_site
from tests.fakes.garage import GIB
from tests.fakes.garage.partitions import Role
from tests.unit.layout_runs import Site, drain
from tests.unit.static_sources import ROOT

REVERT, SKIP = "RevertClusterLayout", "ClusterLayoutSkipDeadNodes"


class Context:
    """What a job uses of the module."""

    def __init__(self, site: Site, check: bool = False) -> None:
        self.site, self.check, self.warned = site, check, []

    def client(self) -> Any:
        return self.site.client

    def warn(self, text: str) -> None:
        self.warned.append(text)


def recover(site: Site, action: str, role: str | None = "follower", check: bool = False, **options: Any) -> tuple[dict, list[str]]:
    site.client.site_role = role
    context = Context(site, check)
    params = {"action": action, "version": None, "allow_missing_data": False, "confirm": action == "skip_dead_nodes", "fail_when_awaiting": False,
              **options}
    return _operation_job.recover_layout(params, context), context.warned


def staged() -> Site:
    site = Site(["paris", "paris"], layout=1)
    site.state.staged[site.ids[1]] = Role("paris", GIB, ())
    return site


def draining() -> Site:
    site = Site(["paris", "paris"], layout=2)
    drain(site)
    return site


CASES = [pytest.param("revert", staged, REVERT, id="revert"), pytest.param("skip_dead_nodes", draining, SKIP, id="skip dead nodes")]


@pytest.mark.requirement("LW-27", "LW-12", "LW-19", "LW-38", "LW-49")
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize(("action", "make", "endpoint"), CASES)
def test_a_recovery_as_writer_and_as_follower(action, make, endpoint, check):
    site = make()
    result, warned = recover(site, action, check=check)
    assert not set(site.sent) & LAYOUT_WRITES
    assert (result["changed"], result["pending"], result["blocked_operations"], result["actions"]) == (False, True, [endpoint], [])
    line = {"action": action, **({"confirm": True} if endpoint == SKIP else {})}
    assert result["awaiting"] == {"reason": "pending_recovery", "nodes": [site.ids[1]], "operations": [endpoint], "lines": [line]}
    assert (result["site_role"], result["layout_writer"], result["reason"]) == ("follower", False, "FollowerSite")
    assert len(warned) == 1 and "pending_recovery" in warned[0]

    writer, warned = recover(site, action, role=None, check=check)
    assert site.writes == ([] if check else [endpoint])
    assert writer.keys() == result.keys()
    assert (writer["changed"], writer["pending"], writer["awaiting"], writer["blocked_operations"], warned) == (True, False, None, [], [])


@pytest.mark.requirement("LW-27")
@pytest.mark.parametrize("action", ["revert", "skip_dead_nodes"])
def test_a_follower_with_nothing_to_recover_waits_for_nothing(action):
    result, warned = recover(Site(["paris"], layout=1), action, fail_when_awaiting=True)
    assert (result["pending"], result["awaiting"]["reason"], warned) == (False, "nothing_pending", [])


@pytest.mark.requirement("FC-019")
@pytest.mark.parametrize("check", [False, True])
def test_with_one_live_version_there_is_no_dead_node_to_skip(check):
    site = Site(["paris"], layout=1)
    with pytest.raises(PlanError, match="layout version 1 is the only one that is live"):
        recover(site, "skip_dead_nodes", role="writer", check=check)
    with pytest.raises(PlanError, match="version: 3 must be one of 1 to 1"):
        recover(site, "skip_dead_nodes", role="writer", check=check, version=3)
    assert recover(site, "skip_dead_nodes", role="writer", check=check, version=1)[0]["changed"] is False
    assert site.writes == []


@pytest.mark.requirement("LW-11", "LW-27")
@pytest.mark.parametrize(("action", "make", "endpoint"), CASES)
def test_a_follower_may_be_asked_to_fail(action, make, endpoint):
    site = make()
    with pytest.raises(GateClosed, match="pending_recovery"):
        recover(site, action, fail_when_awaiting=True)
    assert site.writes == []


@pytest.mark.requirement("LW-38", "LW-40")
def test_the_role_is_checked_in_the_options_in_the_plan_and_in_the_client(spec_of):
    """Three layers, each enough by itself: what an option may say, a plan without calls, and a client that sends none."""
    for module in ("layout", "layout_recovery"):
        assert spec_of(module)["argument_spec"]["site_role"] == {"type": "str", "choices": ["writer", "follower"]}
        assert spec_of(module)["argument_spec"]["fail_when_awaiting"] == {"type": "bool", "default": False}
    site = Site(["paris"])
    outcome, beside = site.run(site.role(0), follower=True)
    assert outcome.plan.calls == () and beside["pending"]
    for endpoint in sorted(LAYOUT_WRITES):
        with pytest.raises(GateClosed):
            site.client.call(endpoint, body={})
    assert site.writes == []
    # Where the word was forgotten on the way to the plan, the client holds.
    with pytest.raises(GateClosed):
        from_writer = site.run(site.role(0), check=True)[0].plan
        site.client.site_role = "follower"
        _operation_job.act(from_writer, site.client, False)
    assert site.writes == []


@pytest.mark.requirement("LW-39")
def test_a_warning_is_text_beside_the_result_and_cannot_fail_a_run():
    """There is no recorder of events that could be missing: the same run without anybody who listens gives the same result."""
    deaf, hearing = staged(), staged()
    heard, warned = recover(hearing, "revert")
    assert warned
    context = Context(deaf)
    context.warn = lambda text: None
    deaf.client.site_role = "follower"
    params = {"action": "revert", "version": None, "allow_missing_data": False, "confirm": False, "fail_when_awaiting": False}
    assert _operation_job.recover_layout(params, context).keys() == heard.keys()


@pytest.mark.requirement("LW-21")
def test_a_workload_is_the_same_on_a_follower_as_on_a_writer():
    """Nothing that becomes an object, and no task that applies one, knows of the role."""
    found = []
    for role in ("writer", "follower", None):
        paris = {"name": "paris", "zone": "paris", "kubernetes": {"namespace": "garage"}, "replication": {"factor": 1},
                 "storage": {"replicas": 2, "metadata": {"size": "1Gi"}, "data": {"size": "1Gi"}},
                 "layout": {"site_role": role}, "remotes": [{"name": "lyon", "zone": "lyon", "peers": [f"{'f' * 64}@lyon:3901"]}]}
        found.append(normal_site(paris, {"host": {"garage_site": paris}}))
    assert [site["site_role"] for site in found] == ["writer", "follower", None]
    assert found[0]["workload"]
    assert found[0]["workload"] == found[1]["workload"] == found[2]["workload"]
    assert found[0]["kubernetes"] == found[1]["kubernetes"]
    for part in ("roles/workload/tasks", "roles/workload/vars", "plugins/module_utils/_manifests"):
        for path in (ROOT / part).rglob("*.*"):
            assert path.suffix not in (".yml", ".py") or "site_role" not in path.read_text(encoding="utf-8"), path
