# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the layout may change hands, what to make sure of, and which lines to change."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._site.document import site_faults
from ansible_collections.s3ops.garage.plugins.module_utils._site.handover import Handover, demotion, promotion
from tests.unit.test_published import CAPACITY, LYON_1, PARIS_1, site

ROLE = {"zone": "paris", "capacity": CAPACITY, "gateway": False, "tags": ["x"]}
SETTLED = {"settled": True, "versions": [{"version": 4, "status": "current"}], "lagging": {}}
DRAINING = {"settled": False, "versions": [{"version": 5, "status": "current"}, {"version": 4, "status": "draining"}],
            "lagging": {PARIS_1: {"ack": 4}}}
LAYOUT = {"version": 4, "roles": [{**ROLE, "id": PARIS_1}, {**ROLE, "id": LYON_1, "zone": "lyon", "capacity": None, "gateway": True}],
          "zone_redundancy": "maximum", "staged": {"roles": [], "zone_redundancy": None}, "history": SETTLED}
STAGED = {**LAYOUT, "staged": {"roles": [{"id": LYON_1, "remove": True}], "zone_redundancy": 2}}
SET = {"metadata": {"name": "paris-storage-0", "generation": 2}, "spec": {"replicas": 1},
       "status": {"observedGeneration": 2, "replicas": 1, "readyReplicas": 1, "currentRevision": "a", "updateRevision": "a"}}


def world(paris_role: str | None = "writer", lyon_role: str | None = "follower") -> dict[str, dict]:
    paris = site("paris", "lyon", role=paris_role, nodes=[{"node": PARIS_1, "capacity": "1GB"}])
    return {"host-paris": {"garage_site": {**paris, "replication": {"factor": 2}}}, "host-lyon": {"garage_site": site("lyon", "paris", role=lyon_role)}}


def seen(layout: dict | None = None, **more: Any) -> dict[str, Any]:
    return {"reachable": True, "message": None, "layout": layout or LAYOUT, "workload": [], **more}


GONE = {"reachable": False, "message": "refused", "layout": None, "workload": []}


def promote(paris: dict | None = None, lyon: dict | None = None, hosts: dict | None = None, **options: Any) -> Handover:
    return promotion("lyon", hosts or world(), {"host-paris": paris or seen(), "host-lyon": lyon or seen()}, **options)


def demote(paris: dict | None = None, hosts: dict | None = None, **options: Any) -> Handover:
    return demotion("paris", hosts or world(), {"host-paris": paris or seen()}, **options)


@pytest.mark.requirement("LW-33", "LW-04")
def test_a_follower_may_be_promoted_with_a_warning_that_names_the_former_writer() -> None:
    found = promote()
    assert found.refused == ()
    assert found.warnings[0].startswith("paris (host host-paris) is the writer as the inventory says: demote it first")
    assert "paris answers: make sure that nobody runs it as writer" in found.warnings[1]
    assert found.lines == {
        "lyon": {"layout": {"site_role": "writer"}, "layout.external_nodes": [{"node": PARIS_1, "zone": "paris", "capacity": CAPACITY, "tags": ["x"]}],
                 "replication": {"factor": 2, "zone_redundancy": "maximum"}},
        "paris": {"layout": {"site_role": "follower"}},
    }


@pytest.mark.requirement("LW-33", "LW-44", "LW-45")
def test_the_lines_make_an_inventory_with_one_writer_that_changes_nothing() -> None:
    hosts, lines = world(), promote().lines
    for host in hosts.values():
        file = host["garage_site"]
        assert site_faults(file, hosts) == []
    changed = copy.deepcopy(hosts)
    changed["host-lyon"]["garage_site"]["layout"]["site_role"] = "writer"
    assert any("would all write" in fault for fault in site_faults(changed["host-lyon"]["garage_site"], changed))
    changed["host-lyon"]["garage_site"]["layout"] |= {**lines["lyon"]["layout"], "external_nodes": lines["lyon"]["layout.external_nodes"]}
    changed["host-lyon"]["garage_site"]["replication"] = lines["lyon"]["replication"]
    changed["host-paris"]["garage_site"]["layout"] |= lines["paris"]["layout"]
    for host in changed.values():
        assert site_faults(host["garage_site"], changed) == []
    again = promotion("lyon", changed, {"host-lyon": seen()})
    assert (again.refused, again.lines) == ((), {}) and "is the writer already" in again.warnings[0]


@pytest.mark.requirement("LW-44", "LW-33")
def test_a_lost_writer_does_not_hinder_a_promotion() -> None:
    found = promote(paris=GONE)
    assert found.refused == () and found.lines["lyon"]["layout"] == {"site_role": "writer"}
    assert any("paris cannot be reached (refused): make sure that nobody runs it as writer" in text and "returns as a follower" in text
               for text in found.warnings)
    assert promotion("lyon", world(), {"host-lyon": seen()}).refused == ()


@pytest.mark.requirement("LW-41", "LW-04")
def test_a_promotion_waits_for_a_drain_unless_forced() -> None:
    lyon = seen({**LAYOUT, "history": DRAINING})
    (fault,) = promote(lyon=lyon).refused
    assert fault.startswith(f"lyon: layout version 4 is still draining, waiting for node {PARIS_1[:16]}") and "garage_promote_force" in fault
    assert promote(lyon=lyon, force=True).refused == ()


@pytest.mark.requirement("LW-33")
def test_what_a_promotion_warns_of() -> None:
    assert any("paris is at layout version 3, this site at 4: wait" in text for text in promote(paris=seen({**LAYOUT, "version": 3})).warnings)
    assert any(f"changes are staged and not applied: removal of {LYON_1[:16]}, zone redundancy 2" in text for text in promote(lyon=seen(STAGED)).warnings)
    alone = {"host-lyon": world()["host-lyon"]}
    assert promote(hosts=alone).warnings == ("no site of the inventory writes the layout of lyon; make sure that none elsewhere does",)


def test_a_site_that_cannot_take_over() -> None:
    (fault,) = promote(lyon=GONE).refused
    assert fault == "lyon: cannot be reached, so it cannot take the layout over: refused"
    (fault,) = promotion("nice", world(), {}).refused
    assert fault == "'nice' is no site of the inventory; known are lyon, paris"


@pytest.mark.requirement("LW-32", "LW-04")
def test_a_writer_with_nothing_under_way_may_be_demoted() -> None:
    found = demote(seen(workload=[SET]))
    assert (found.refused, found.lines) == ((), {"paris": {"layout": {"site_role": "follower"}}})
    assert "nobody writes the layout" in found.warnings[0]
    assert demote(hosts=world(paris_role="follower", lyon_role="writer")) == Handover((), ("paris: is a follower already, as the inventory says",), {})


@pytest.mark.requirement("LW-32", "LW-04")
@pytest.mark.parametrize(("paris", "words"), [
    (GONE, "cannot be reached, so nobody knows what it has under way: refused; for a site that is lost, promote another"),
    (seen(STAGED), f"changes are staged and not applied: removal of {LYON_1[:16]}, zone redundancy 2; apply or drop them first"),
    (seen({**LAYOUT, "history": DRAINING}), "layout version 4 is still draining"),
    (seen(workload=[{**SET, "metadata": {"name": "paris-storage-0", "generation": 3}}]), "the StatefulSet paris-storage-0 is being rolled out"),
    (seen(workload=[SET, {**SET, "status": {**SET["status"], "updateRevision": "b"}}]), "is being rolled out"),
    (seen(workload=[{**SET, "status": {**SET["status"], "readyReplicas": 0}}]), "is being rolled out"),
    (seen(workload=[{**SET, "status": {}}]), "is being rolled out"),
])
def test_a_writer_with_something_under_way_is_not_demoted(paris: dict, words: str) -> None:
    found = demote(paris)
    assert len(found.refused) == 1 and found.refused[0].startswith("paris: ") and words in found.refused[0]


@pytest.mark.requirement("LW-05", "LW-32")
def test_a_writer_without_remotes_is_not_demoted() -> None:
    hosts = world()
    del hosts["host-paris"]["garage_site"]["remotes"]
    assert "has no remotes" in demote(hosts=hosts).refused[0]


@pytest.mark.requirement("LW-47")
def test_where_the_inventory_names_the_writer_one_line_changes() -> None:
    hosts = world(None, None)
    for host in hosts.values():
        host["garage_layout_writer_site"] = "paris"
    found = promote(hosts=hosts, writer="paris")
    assert found.refused == () and found.lines["inventory"] == {"garage_layout_writer_site": "lyon"}
    assert set(found.lines) == {"inventory", "lyon"} and "layout" not in found.lines["lyon"]
    assert set(demote(hosts=hosts, writer="paris").lines) == {"inventory"}
