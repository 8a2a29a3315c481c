# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the nodes of a follower come to the writer: as facts of one play, or as artefacts of an earlier job."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError
from ansible_collections.s3ops.garage.plugins.module_utils._site.document import normal_site
from ansible_collections.s3ops.garage.plugins.module_utils._site.published import artefact, layout_options

PARIS_1, LYON_1, LYON_2, NICE_1 = (digit * 64 for digit in "1234")
CAPACITY = 10**9


def site(name: str, *others: str, role: str | None = "follower", **layout: Any) -> dict:
    return {"name": name, "zone": name, "connect_to": {"api_url": f"http://{name}:3903", "api_token": "x"},
            "layout": {**({"site_role": role} if role else {}), **layout},
            "remotes": [remote(other) for other in others]}


def remote(name: str) -> dict:
    return {"name": name, "zone": name, "peers": [f"{'f' * 64}@{name}:3901"]}


def node(id: str, zone: str = "lyon", **more: Any) -> dict:
    return {"node": id, "zone": zone, "capacity": CAPACITY, "tags": [], **more}


def hosts(paris: dict, lyon: dict | None = None, published: Any = None, **variables: Any) -> dict:
    """The inventory hosts host-paris and host-lyon; lyon has ``published`` as its fact, paris has ``variables``."""
    found = {"host-paris": {"garage_site": paris, **variables}}
    if lyon:
        found["host-lyon"] = {"garage_site": lyon, **({} if published is None else {"garage_layout_nodes": {"lyon": published}})}
    return found


def options(paris: dict, inventory: dict, **more: Any) -> dict:
    return layout_options(normal_site(paris, inventory), inventory, **more)


PARIS = site("paris", "lyon", role="writer", nodes=[{"node": PARIS_1, "capacity": "1GB"}])
LYON = site("lyon", "paris", nodes=[{"node": LYON_1, "capacity": "1GB"}])


@pytest.mark.requirement("LW-30", "LW-31")
@pytest.mark.parametrize("inventory", [
    pytest.param(hosts(PARIS, LYON, [node(LYON_1)]), id="fact of the same play"),
    pytest.param(hosts(PARIS, None, garage_layout_nodes_lyon=[node(LYON_1)]), id="artefact, with the writer alone in the inventory"),
    pytest.param(hosts(PARIS, LYON, None, garage_layout_nodes_lyon=[node(LYON_1)]), id="artefact"),
    pytest.param(hosts(PARIS, None, garage_layout_nodes={"lyon": [node(LYON_1)]}), id="given by hand"),
    pytest.param(hosts(PARIS, LYON, [node(LYON_1)], garage_layout_nodes_lyon=[node(LYON_2)]), id="a fact before an artefact"),
])
def test_the_writer_takes_what_a_follower_publishes(inventory: dict) -> None:
    found = options(PARIS, inventory)
    assert found["roles"] == [{"zone": "paris", "node": PARIS_1, "capacity": "1GB"}, node(LYON_1)]
    assert found["owner"] == {"zones": ["paris", "lyon"]}


@pytest.mark.requirement("LW-30")
def test_nothing_published_changes_nothing() -> None:
    inventory = hosts(PARIS, LYON)
    assert options(PARIS, inventory) == normal_site(PARIS, inventory)["layout"]
    assert options(PARIS, {}) == normal_site(PARIS, {})["layout"]


@pytest.mark.requirement("LW-24")
def test_a_follower_takes_nothing() -> None:
    inventory = {**hosts(PARIS, LYON, [node(LYON_1)]), "host-nice": {"garage_site": site("nice", "paris", "lyon")}}
    found = layout_options(normal_site(inventory["host-nice"]["garage_site"], inventory), inventory)
    assert found["roles"] == []


@pytest.mark.requirement("LW-30")
def test_what_the_writers_own_file_says_of_a_node_holds() -> None:
    paris = site("paris", "lyon", role="writer", external_nodes=[{"node": f"{LYON_1}@10.0.0.1:3901", "zone": "lyon", "capacity": "2GB"}])
    found = options(paris, hosts(paris, LYON, [node(LYON_1), node(LYON_2)]))
    assert [(role["node"][:64], role["capacity"]) for role in found["roles"]] == [(LYON_1, "2GB"), (LYON_2, CAPACITY)]


@pytest.mark.requirement("LW-25", "LW-46")
def test_a_removal_is_published_too() -> None:
    gone = {"node": LYON_1, "zone": "lyon", "state": "absent"}
    assert options(PARIS, hosts(PARIS, LYON, [gone]))["roles"][-1] == gone


def test_own_nodes_of_the_workload_are_in_the_zone_of_the_site() -> None:
    own = [{"node": LYON_2, "capacity": "1GB"}]
    assert options(PARIS, hosts(PARIS), own=own)["roles"][-1] == {"zone": "paris", **own[0]}


@pytest.mark.requirement("FC-016")
def test_zones_that_the_owner_leaves_out_are_left_to_their_site() -> None:
    paris = site("paris", "lyon", role="writer", nodes=[{"node": PARIS_1, "capacity": "1GB"}], owner={"zones": ["paris"]})
    found = options(paris, hosts(paris, LYON, [node(LYON_1)]))
    assert ([role["node"] for role in found["roles"]], found["owner"]) == ([PARIS_1], {"zones": ["paris"]})


@pytest.mark.requirement("OP-115", "OP-111")
def test_a_site_that_is_not_there_has_nothing_purged() -> None:
    """Its zone is the writer's to purge only when the site is there, or when all its nodes are in the writer's file."""
    paris = site("paris", "lyon", role="writer", purge=True, nodes=[{"node": PARIS_1, "capacity": "1GB"}])
    assert options(paris, hosts(paris, LYON, [node(LYON_1)]))["owner"]["zones"] == ["paris", "lyon"]
    assert options(paris, hosts(paris, LYON))["owner"]["zones"] == ["paris"]
    some = site("paris", "lyon", role="writer", purge=True, external_nodes=[{"node": LYON_1, "zone": "lyon", "capacity": "1GB"}])
    with pytest.raises(InputError, match=f"{LYON_2[:16]} is published by the site 'lyon'; declare all nodes of a site, or none"):
        options(some, hosts(some, LYON, [node(LYON_1), node(LYON_2)]))
    assert len(options(some, hosts(some, LYON, [node(LYON_1)]))["roles"]) == 1


@pytest.mark.requirement("LW-31", "FC-016")
@pytest.mark.parametrize(("published", "words"), [
    ("x", "garage_layout_nodes_lyon: must be the list of nodes"),
    ([1], "must be the list of nodes"),
    ([node("garage-1")], "garage_layout_nodes_lyon[0].node: must be a full node id"),
    ([{"zone": "lyon", "capacity": 1024}], "[0].node: must be a full node id"),
    ([node(LYON_1, zone="paris")], "[0].zone: 'paris' is not the zone of the site 'lyon' ('lyon')"),
    ([{"node": LYON_1, "zone": "lyon"}], "[0]: has neither capacity nor gateway"),
    ([node(LYON_1, colour="red")], "[0]: unknown colour"),
    ([node(LYON_1), node(LYON_2, capacity="10X")], "garage_layout_nodes_lyon[1].capacity: '10X'"),
])
def test_what_is_not_in_order_is_refused(published: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        options(PARIS, hosts(PARIS, LYON, published))
    assert words in caught.value.message


@pytest.mark.requirement("LW-30")
def test_each_site_has_an_artefact_of_its_own() -> None:
    assert artefact("lyon-2") == "garage_layout_nodes_lyon_2"
    nice = {**PARIS, "remotes": [remote("lyon"), remote("nice")]}
    found = options(nice, hosts(nice, None, garage_layout_nodes_lyon=[node(LYON_1)], garage_layout_nodes_nice=[node(NICE_1, "nice")]))
    assert [role["node"] for role in found["roles"]] == [PARIS_1, LYON_1, NICE_1]
