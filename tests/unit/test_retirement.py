# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a site on Kubernetes may be taken away, what is done, and which lines to change."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.filter.retirement import FilterModule
from ansible_collections.s3ops.garage.plugins.module_utils._site.document import site_faults
from ansible_collections.s3ops.garage.plugins.module_utils._site.retirement import Retirement, request, retirement
from tests.unit.test_handover import DRAINING, GONE, SETTLED, STAGED
from tests.unit.test_published import LYON_1, LYON_2, NICE_1, PARIS_1, remote

LABELS = {"app.kubernetes.io/instance": "lyon", "app.kubernetes.io/managed-by": "s3ops.garage"}
STORING = {"capacity": 10**9, "gateway": False, "tags": []}
HOLDING = [{**STORING, "id": PARIS_1, "zone": "paris"}, {**STORING, "id": LYON_1, "zone": "lyon"}, {**STORING, "id": LYON_2, "zone": "lyon"}]
LAYOUT = {"version": 4, "roles": HOLDING, "zone_redundancy": "maximum", "staged": {"roles": [], "zone_redundancy": None}, "history": SETTLED}
LEFT = {**LAYOUT, "roles": HOLDING[:1]}
ALL = ["StatefulSet lyon-storage-0", "StatefulSet lyon-storage-1", "ConfigMap lyon-storage-0", "Service lyon-nodes", "ServiceAccount lyon-garage",
       "ConfigMap lyon-layout"]
CLAIMS = ("data-lyon-storage-0-0", "meta-lyon-storage-0-0")


def stored(name: str, *others: str, role: str | None = None, **sections: Any) -> dict:
    volume = {"size": "1Gi"}
    found = {"name": name, "zone": name, "kubernetes": {"namespace": f"{name}-space"}, "replication": {"factor": 2},
             "storage": {"replicas": 2, "metadata": volume, "data": volume}, "layout": {"site_role": role} if role else None,
             "remotes": [remote(other) for other in others] or None, **sections}
    return {key: value for key, value in found.items() if value is not None}


def edge(name: str, **connect: Any) -> dict:
    return {"name": name, "zone": "lyon", "kubernetes": {"namespace": "edge"}, "replication": {"factor": 2},
            "gateway": {"metadata": {"size": "1Gi"}}, "connect_to": connect}


def hosts(paris: dict | None = None, lyon: dict | None = None, **more: dict) -> dict[str, dict]:
    found = {"paris": paris or stored("paris", role="writer", layout={"site_role": "writer", "assume_peers_consistent": True}),
             "lyon": lyon or stored("lyon", "paris", role="follower"), **more}
    return {f"host-{name}": {"garage_site": site} for name, site in found.items()}


def item(kind: str, name: str, labels: dict | None = None, version: str = "v1", **more: Any) -> dict:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "labels": LABELS if labels is None else labels, **more}, "spec": {}}


def there(name: str = "lyon", nodes: dict[str, str | None] | None = None) -> dict[str, Any]:
    """What there is of a site with two nodes."""
    ids = {f"{name}-storage-0-0": LYON_1, f"{name}-storage-1-0": LYON_2} if nodes is None else nodes
    labels = {**LABELS, "app.kubernetes.io/instance": name}
    owned = {"ownerReferences": [{"kind": "StatefulSet"}]}
    rest = [item("ConfigMap", f"{name}-storage-0", labels), item("Service", f"{name}-nodes", labels),
            item("ServiceAccount", f"{name}-garage", labels), item("ConfigMap", f"{name}-layout", labels), item("ConfigMap", "another", labels),
            item("Service", f"{name}-s3", {})]
    return {"live": {"statefulsets": [item("StatefulSet", pod[:-2], labels, "apps/v1") for pod in ids],
                     "claims": [item("PersistentVolumeClaim", f"{kind}-{name}-storage-0-0", labels) for kind in ("data", "meta")],
                     "pods": [item("Pod", pod, labels, **owned) for pod in ids], "objects": rest},
            "nodes": [{"pod": pod, "id": id} for pod, id in ids.items()]}


NOTHING = {"live": {"statefulsets": [], "claims": there()["live"]["claims"], "pods": [], "objects": []}, "nodes": []}


def seen(layout: dict | None = None) -> dict[str, Any]:
    return {"reachable": True, "message": None, "layout": layout or LAYOUT, "workload": []}


def drain(inventory: dict | None = None, paris: dict | None = None, lyon: dict | None = None, found: dict | None = None,
          **options: Any) -> Retirement:
    looked = {"host-paris": paris or seen(), "host-lyon": lyon or seen()}
    return retirement("lyon", inventory or hosts(), looked, found or there(), **{"policy": "drain", **options})


def removed(found: Retirement) -> list[str]:
    assert {row["metadata"]["namespace"] for row in found.remove} <= {"lyon-space"}
    return [f"{row['kind']} {row['metadata']['name']}" for row in found.remove]


def test_the_inventories_of_these_tests_are_sound() -> None:
    inventory = hosts(edge=edge("edge", site="lyon"))
    for host in inventory.values():
        assert site_faults(host["garage_site"], inventory) == []


@pytest.mark.requirement("OP-018", "LW-25", "LW-46")
def test_a_follower_is_drained_by_the_writer() -> None:
    found = drain()
    assert (found.refused, found.warnings, found.host, found.writer) == ((), (), "host-lyon", "host-paris")
    assert (found.roles, set(found.nodes), found.claims) == ((LYON_1, LYON_2), {LYON_1, LYON_2}, ())
    assert removed(found) == ALL
    assert found.lines == {"inventory": ["take the host host-lyon out: the next run of s3ops.garage.site would make lyon again"]}


def test_the_lines_are_those_that_would_bring_it_back_or_lead_to_where_it_was() -> None:
    writer = {"site_role": "writer", "assume_peers_consistent": True, "external_nodes": [{"node": LYON_1, "zone": "lyon", "state": "absent"}]}
    paris = stored("paris", "lyon", layout=writer)
    handle = {"name": "lyon-keys", "zone": "lyon", "connect_to": {"site": "lyon"}}
    found = drain(hosts(paris, keys=handle))
    assert found.refused == ()
    assert found.lines["paris"] == ["remotes: take lyon out", f"layout.external_nodes: take {LYON_1[:16]} out"]
    assert found.lines["lyon-keys"] == ["connect_to: names lyon; take the host host-keys out"]


@pytest.mark.requirement("OP-017")
def test_a_site_that_is_joined_is_asked_what_shall_happen_to_its_data() -> None:
    for inventory in (hosts(), hosts(stored("paris", "lyon", role="writer"), stored("lyon"))):
        (fault,) = request("lyon", inventory).refused
        assert fault.startswith("lyon: is joined with other sites, so say what shall happen to what it stores: garage_deletion_policy is drain (")
        assert "or retain (" in fault
        assert request("lyon", inventory, "retain").refused == ()


@pytest.mark.requirement("OP-019")
def test_a_site_that_stands_alone_is_retained_and_never_drained() -> None:
    alone = hosts(lyon=stored("lyon"))
    found = retirement("lyon", alone, {}, there())
    assert (found.refused, found.warnings, found.policy, found.writer, found.look, found.roles, found.claims) == ((), (), "retain", None, (), (), ())
    assert removed(found) == ALL
    assert retirement("lyon", alone, {}, there(), "retain", True).claims == CLAIMS
    (fault,) = drain(alone).refused
    assert fault.startswith("lyon: stands alone, so no node is left to take over what it stores")


@pytest.mark.requirement("OP-042")
@pytest.mark.parametrize(("asked", "words"), [
    ((None, None, "perhaps"), ["garage_retire: is missing", "garage_delete_claims: 'perhaps' must be true or false"]),
    (("", "drain", False), ["garage_retire: is missing"]),
    (("nice", "keep", False), ["garage_retire: 'nice' is no site of the inventory; known are handle, lyon, paris",
                               "garage_deletion_policy: 'keep' must be drain ("]),
    (("lyon", {}, "maybe"), ["garage_deletion_policy: {} must be drain (", "garage_delete_claims: 'maybe'"]),
    ((["lyon"], "drain", "no"), ["garage_retire: ['lyon'] is no site of the inventory"]),
    (("handle", "drain", "yes"), ["handle: is a handle: nothing of it was made here"]),
    (("lyon", "retain", "true"), ["lyon: garage_delete_claims with garage_deletion_policy: retain would leave the roles of its nodes"]),
])
def test_what_is_asked_for_is_judged_before_any_site_is_looked_at(asked: tuple, words: list[str]) -> None:
    inventory = hosts(handle={"name": "handle", "zone": "nice", "connect_to": {"api_url": "http://nice:3903", "api_token": "x"}})
    found = request(asked[0], inventory, *asked[1:])
    assert len(found.refused) == len(words) and all(fault.startswith(begin) for fault, begin in zip(found.refused, words))
    assert FilterModule().filters()["retirement"](asked[0], inventory, *asked[1:])["refused"] == list(found.refused)


OPEN = stored("paris", role="writer")
LOOSE = {"factor": 2, "consistency_mode": "degraded"}
NAMED = {"site_role": "writer", "assume_peers_consistent": True}


@pytest.mark.requirement("OP-018")
@pytest.mark.parametrize(("inventory", "looked", "words"), [
    (hosts(OPEN), {}, "nobody has said that all sites run with consistency_mode consistent; see to it that they do, then set"
     " layout.assume_peers_consistent: true in the site file of paris"),
    (hosts(lyon=stored("lyon", "paris", role="follower", replication=LOOSE)), {}, "replication.consistency_mode is degraded"),
    (hosts(edge=edge("edge", site="lyon")), {},
     "edge: connect_to names lyon, so these gateways would be left without their cluster; retire them first"),
    (hosts(stored("paris", layout={**NAMED, "external_nodes": [{"node": LYON_1[:16], "zone": "elsewhere", "capacity": "1G"}]})), {},
     f"the site file of paris declares {LYON_1[:16]} in layout.external_nodes"),
    (hosts(stored("paris", layout={**NAMED, "external_nodes": [{"node": f"{NICE_1}@lyon:3901", "zone": "lyon", "gateway": True}]})), {},
     f"the site file of paris declares {NICE_1[:16]} in layout.external_nodes"),
    (hosts(stored("paris", "lyon", role="follower"), stored("lyon", "paris", role="writer")), {},
     "writes the layout itself; hand that over first (s3ops.garage.demote, s3ops.garage.promote)"),
    (hosts(stored("paris", "lyon", role="follower")), {}, "no site of the inventory writes the layout"),
    (hosts(), {"paris": GONE}, "paris (host host-paris), which writes the layout, cannot be reached: refused"),
    (hosts(), {"lyon": GONE}, "cannot be reached, so nothing can be taken over from it: refused"),
    (hosts(), {"paris": seen(STAGED | {"roles": HOLDING})}, f"changes are staged and not applied: removal of {LYON_1[:16]}, zone redundancy 2"),
    (hosts(), {"paris": seen({**LAYOUT, "history": DRAINING})}, "layout version 4 is still draining"),
    (hosts(), {"found": there(nodes={"lyon-storage-0-0": LYON_1, "lyon-storage-1-0": None})},
     "it is not known which nodes run in the pods lyon-storage-1-0; see that they start first"),
    (hosts(), {"found": NOTHING}, f"its nodes do not run, and {LYON_1[:16]}, {LYON_2[:16]} of its zone still have a role; bring it back first"),
])
def test_what_forbids_a_drain(inventory: dict, looked: dict, words: str) -> None:
    (fault,) = drain(inventory, **looked).refused
    assert fault.startswith(f"lyon: {words}")


@pytest.mark.requirement("OP-018")
def test_all_that_forbids_a_drain_is_said_at_once() -> None:
    inventory = hosts(OPEN, stored("lyon", "paris", role="follower", replication=LOOSE), edge=edge("edge", site="lyon"))
    assert len(drain(inventory, seen({**STAGED, "roles": HOLDING, "history": DRAINING}), GONE).refused) == 6
    del inventory["host-paris"]
    assert len(drain(inventory).refused) == 3
    (fault,) = retirement("lyon", hosts(), {"host-lyon": seen()}, there(), "drain").refused
    assert fault == "lyon: paris (host host-paris), which writes the layout, is not among the hosts of this run"
    inventory, decide = hosts(), FilterModule().filters()["retirement"]
    inventory["host-paris"] |= {"layout_handover": seen()}
    assert decide("lyon", inventory, "drain")["refused"] == ["lyon: its host host-lyon is not among the hosts of this run"]
    inventory["host-lyon"] |= {"layout_handover": seen(), "workload_found": there()}
    assert decide("lyon", inventory, "drain")["roles"] == [LYON_1, LYON_2]


@pytest.mark.requirement("OP-018")
def test_a_drain_that_is_under_way_goes_on() -> None:
    """Its roles are gone, so that what drains is this, and its pods may be gone in part."""
    found = drain(paris=seen({**LEFT, "history": DRAINING}), lyon=GONE)
    assert (found.refused, found.roles, set(found.nodes)) == ((), (), {LYON_1, LYON_2})
    half = drain(paris=seen(LEFT), lyon=GONE, found=there(nodes={"lyon-storage-1-0": LYON_2}))
    assert (half.refused, half.nodes) == ((), (LYON_2,))
    late = drain(paris=seen(LEFT), lyon=GONE, found=there(nodes={}))
    assert (late.refused, late.nodes, removed(late)) == ((), (), ALL[2:])


def test_a_site_that_is_gone_needs_nothing_more() -> None:
    found = drain(paris=seen(LEFT), lyon=GONE, found=NOTHING)
    assert (found.refused, found.roles, found.nodes, found.remove, found.claims) == ((), (), (), (), ())
    assert drain(paris=seen(LEFT), lyon=GONE, found=NOTHING, delete_claims="yes").claims == CLAIMS


def test_a_pod_that_no_stateful_set_has_any_more_goes_by_itself() -> None:
    found = there()
    found["live"]["statefulsets"].pop()
    assert "Pod lyon-storage-1-0" not in removed(drain(found=found))
    found["live"]["pods"][1]["metadata"].pop("ownerReferences")
    assert "Pod lyon-storage-1-0" in removed(drain(found=found))


def test_what_deserves_a_warning() -> None:
    inventory = hosts(stored("paris", "lyon", role="follower"), stored("lyon", "paris", role="writer"), edge=edge("edge", site="lyon"))
    found = retirement("lyon", inventory, {}, there(), "retain")
    assert found.refused == ()
    assert [text.partition(":")[0] for text in found.warnings] == [
        "until lyon is back, the copies on its nodes are out of reach, and nothing is copied elsewhere in their place",
        "lyon writes the layout", "edge"]
    assert "the next run of s3ops.garage.site brings lyon back" in found.lines["inventory"][0]
    assert drain(delete_claims=True).warnings == (f"these claims are deleted with all that is on them: {', '.join(CLAIMS)}",)


def gateways(name: str) -> dict:
    found = there(name, {f"{name}-gateway-0": NICE_1})
    found["live"]["statefulsets"] = [item("StatefulSet", f"{name}-gateway", {**LABELS, "app.kubernetes.io/instance": name}, "apps/v1")]
    found["live"]["statefulsets"][0]["spec"] = {"replicas": 1}
    return found


@pytest.mark.requirement("LW-43")
@pytest.mark.parametrize("target", [{"site": "paris"}, {"api_url": "http://p:3903", "api_token": "x", "rpc_secret_file": "/x"}])
def test_edge_gateways_store_nothing_and_go_with_their_roles(target: dict) -> None:
    inventory = hosts(edge=edge("edge", **target))
    role = {"id": NICE_1, "zone": "lyon", "capacity": None, "gateway": True, "tags": ["edge-gateway-0"]}
    looked = {"host-edge": seen({**LAYOUT, "roles": [*HOLDING, role]}), "host-paris": seen()}
    found = retirement("edge", inventory, looked, gateways("edge"))
    assert (found.refused, found.policy, found.stores, found.writer, found.roles) == ((), "drain", False, "host-edge", (NICE_1,))
    # The storage in their zone is that of another site.
    assert retirement("edge", inventory, {"host-edge": seen()}, NOTHING).refused == ()
    (fault,) = retirement("edge", inventory, looked, NOTHING).refused
    assert f"{NICE_1[:16]} of its zone still have a role" in fault
    assert "would leave the roles" in request("edge", inventory, "retain", True).refused[0]


def test_gateways_of_a_site_that_is_not_there_are_refused() -> None:
    (fault,) = request("edge", hosts(edge=edge("edge", site="nice"))).refused
    assert fault.startswith("garage_site.connect_to.site: 'nice' must be the name of exactly one other site")
