# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each request of a layout run, each way in which it can fail: nothing of ours stays staged untold, and the next run goes on from there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._errors import GarageError
from tests.fakes.garage import GIB, Fault
from tests.fakes.garage.partitions import Role
from tests.unit.layout_runs import Site


@dataclass(frozen=True)
class Scenario:
    """A run: ``options`` are made for a site, ``staged`` is what somebody has staged before (number of the node to its role), and so many nodes
    of four have a role already."""

    wants: Callable[[Site], list[dict]]
    options: Callable[[Site], dict[str, Any]] = lambda site: {}
    layout: int = 2
    staged: dict[int, Role | None] = field(default_factory=dict)
    applies: bool = True

    def site(self) -> Site:
        site = Site(["paris", "paris", "lyon", "lyon"], factor=2, layout=self.layout)
        site.state.staged.update({site.ids[number]: role for number, role in self.staged.items()})
        return site

    def run(self, site: Site, **more: Any) -> Any:
        return site.run(*self.wants(site), **{**self.options(site), **more})


def grown(site: Site) -> list[dict]:
    return [site.role(number) for number in range(3)]


def approved(site: Site) -> dict[str, Any]:
    twin = Site(["paris", "paris", "lyon", "lyon"], factor=2, layout=2)
    assert twin.ids == site.ids
    return {"expected_plan": twin.run(*grown(twin), check=True, preview=True)[1]["plan_hash"]}


FOREIGN = {3: Role("lyon", GIB, ("theirs",))}
SCENARIOS = {
    "first layout": Scenario(grown, layout=0),
    "new node": Scenario(grown),
    "changed and removed": Scenario(lambda site: [site.role(0, tags=["changed"]), {"node": site.ids[1], "state": "absent"}, site.role(2)]),
    "redundancy": Scenario(grown, lambda site: {"zone_redundancy": "1"}),
    "approved with its moves": Scenario(grown, approved),
    "resumed": Scenario(grown, staged={2: Role("lyon", GIB, ())}),
    "discard": Scenario(grown, lambda site: {"foreign_staged": "discard"}, staged=FOREIGN),
    "include": Scenario(grown, lambda site: {"foreign_staged": "include"}, staged=FOREIGN),
    "stage only": Scenario(grown, lambda site: {"apply": False}, applies=False),
}


def requests(scenario: Scenario, **more: Any) -> int:
    site = scenario.site()
    scenario.run(site, **more)
    return len(site.sent)


def faulty(scenario: Scenario, faults: dict[int, Fault], **more: Any) -> tuple[Site, GarageError | None]:
    site = scenario.site()
    first = len(site.sent)
    site.transport.faults = {first + number: fault for number, fault in faults.items()}
    try:
        scenario.run(site, **more)
    except GarageError as error:
        return site, error
    return site, None


def told(error: GarageError | None) -> str:
    return "" if error is None else " ".join([error.message, *error.done])


def check_staging(site: Site, scenario: Scenario, error: GarageError | None) -> None:
    """What is staged that was not before is ours, and the run said so."""
    before = {site.ids[number]: role for number, role in scenario.staged.items()}
    ours = {id: role for id, role in site.staged.items() if before.get(id, "nothing") != role}
    assert not ours or (error is None and not scenario.applies) or "stage: " in told(error), told(error)


SINGLE = [pytest.param(name, id=name) for name in SCENARIOS]


@pytest.mark.requirement("OP-106", "OP-109", "FC-008", "LW-19", "LW-45")
@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize("name", SINGLE)
def test_one_fault_anywhere(name: str, fault: Fault) -> None:
    scenario = SCENARIOS[name]
    start = scenario.site().state.current.version
    for number in range(requests(scenario)):
        site, error = faulty(scenario, {number: fault})
        check_staging(site, scenario, error)
        assert site.state.current.version <= start + 1
        site.transport.faults.clear()
        if site.state.current.version > start:
            # The approval was of the version before; what was approved is in force.
            assert scenario.applies
        outcome, dummy = scenario.run(site)
        assert site.state.current.version == start + scenario.applies
        assert not scenario.applies or site.staged == {}
        assert outcome.result["version"] == start + scenario.applies


@pytest.mark.requirement("OP-106", "FC-008", "LW-19")
@pytest.mark.parametrize("name", SINGLE)
def test_a_server_that_goes_away_for_good(name: str) -> None:
    scenario = SCENARIOS[name]
    start = scenario.site().state.current.version
    for number in range(requests(scenario)):
        for fault in (Fault.CUT_BEFORE, Fault.CUT_AFTER, Fault.REFUSED):
            site, error = faulty(scenario, {number: fault, **{later: Fault.REFUSED for later in range(number + 1, number + 40)}})
            assert error is not None
            check_staging(site, scenario, error)
            site.transport.faults.clear()
            scenario.run(site)
            assert site.state.current.version == start + scenario.applies


@pytest.mark.requirement("FC-004", "OP-106")
@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize("gone", [False, True])
def test_a_preview_leaves_nothing_staged_untold(fault: Fault, gone: bool) -> None:
    scenario = SCENARIOS["new node"]
    for number in range(requests(scenario, check=True, preview=True)):
        later = {following: Fault.REFUSED for following in range(number + 1, number + 40)} if gone else {}
        site, error = faulty(scenario, {number: fault, **later}, check=True, preview=True)
        check_staging(site, scenario, error)
        assert site.state.current.version == 1
