# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done to a live workload, and what is refused."""

from __future__ import annotations

import copy

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.manifest_sites import live_of, source, workload, workloads

from ansible_collections.s3ops.garage.plugins.filter.workload_plan import FilterModule
from ansible_collections.s3ops.garage.plugins.module_utils._manifests.objects import objects
from ansible_collections.s3ops.garage.plugins.module_utils._planners.workload import plan_workload

SLOW = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
NOTHING = {"statefulsets": [], "claims": [], "pods": [], "objects": []}


def made(shape="storage", **sections):
    return objects(workload(shape, **sections), "garage", "hash")


def names(nodes):
    return [node["name"] for node in nodes]


def volume(**options):
    return {"replicas": 1, "data": {"size": "10Gi", **options}}


def references(plan):
    return [(item["kind"], item["metadata"]["name"]) for item in plan["remove"]]


@SLOW
@given(workloads())
def test_nothing_is_left_to_do_where_it_was_applied(site):
    wanted = objects(site, "garage", "hash")
    plan = plan_workload(wanted, live_of(wanted))
    assert plan["same"] == sorted(names(wanted["nodes"]))
    assert not any(value for name, value in plan.items() if name != "same")


@SLOW
@given(workloads())
def test_a_new_site_is_made_at_once(site):
    wanted = objects(site, "garage", "hash")
    plan = plan_workload(wanted, NOTHING)
    assert plan["create"] == wanted["nodes"]
    assert not any(value for name, value in plan.items() if name != "create")


@SLOW
@given(workloads(), workloads())
def test_a_plan_changes_neither_what_is_wanted_nor_what_is(before, after):
    wanted, live = objects(after, "garage", "hash"), live_of(objects(before, "garage", "hash"))
    given_wanted, given_live = copy.deepcopy(wanted), copy.deepcopy(live)
    plan = plan_workload(wanted, live)
    assert (wanted, live) == (given_wanted, given_live)
    assert plan == plan_workload(wanted, {name: items[::-1] for name, items in live.items()})


@SLOW
@given(workloads(), st.integers(1, 3))
def test_what_is_removed_is_never_a_claim_a_secret_or_wanted(site, factor):
    wanted = objects(workload(replication={"factor": factor, "consistency_mode": "consistent"}), "garage", "hash")
    plan = plan_workload(wanted, live_of(objects(site, "garage", "hash")))
    kinds = {"StatefulSet", "ConfigMap", "PodDisruptionBudget", "ServiceMonitor", "PrometheusRule", "Role", "RoleBinding"}
    assert {kind for kind, _name in references(plan)} <= kinds
    assert not {name for kind, name in references(plan) if kind == "StatefulSet"} & set(names(wanted["nodes"]))


# what changes

def test_changed_nodes_are_rolled_and_new_ones_made():
    live = live_of(made())
    plan = plan_workload(made(storage={"replicas": 4}), live, changed=["paris-storage-2", "paris-storage-0"])
    assert names(plan["create"]) == ["paris-storage-3"]
    assert names(plan["roll"]) == ["paris-storage-0", "paris-storage-2"]
    assert plan["same"] == ["paris-storage-1"]


def test_a_node_without_its_statefulset_but_with_its_pod_is_rolled():
    """A run that broke off between deleting a StatefulSet and making it again."""
    live = live_of(made())
    del live["statefulsets"][1]
    plan = plan_workload(made(), live)
    assert (plan["create"], names(plan["roll"])) == ([], ["paris-storage-1"])


@pytest.mark.requirement("FC-101", "OP-014")
def test_volumes_grow_by_patches_and_new_templates():
    live = live_of(made(storage={"replicas": 2}))
    plan = plan_workload(made(storage={"replicas": 2, "data": {"size": "20Gi"}}), live)
    assert plan["faults"] == []
    assert plan["patch_claims"] == [
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": f"data-paris-storage-{index}-0", "namespace": "garage"},
         "spec": {"resources": {"requests": {"storage": "20Gi"}}}} for index in range(2)]
    assert plan["recreate"] == names(plan["roll"]) == ["paris-storage-0", "paris-storage-1"]


def test_growth_goes_on_where_it_broke_off():
    live = live_of(made(storage={"replicas": 2}))
    grown = live_of(made(storage={"replicas": 2, "data": {"size": "20Gi"}}))
    live["claims"][1] = grown["claims"][1]
    live["statefulsets"][0] = grown["statefulsets"][0]
    plan = plan_workload(made(storage={"replicas": 2, "data": {"size": "20Gi"}}), live)
    assert [patch["metadata"]["name"] for patch in plan["patch_claims"]] == ["data-paris-storage-1-0"]
    assert plan["recreate"] == ["paris-storage-1"]


def test_the_same_size_in_other_words_is_no_change():
    plan = plan_workload(made(storage=volume(size="10240Mi")), live_of(made(storage=volume(size="10Gi"))))
    assert (plan["faults"], plan["patch_claims"], plan["recreate"]) == ([], [], [])


@pytest.mark.requirement("OP-044")
def test_labels_annotations_and_attributes_class_reach_the_claims():
    more = volume(labels={"team": "a"}, annotations={"note": "b"}, volume_attributes_class="gold")
    plan = plan_workload(made(storage=more), live_of(made(storage=volume())))
    assert plan["patch_claims"] == [{
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-paris-storage-0-0", "namespace": "garage", "labels": {"team": "a"}, "annotations": {"note": "b"}},
        "spec": {"volumeAttributesClassName": "gold"}}]
    assert plan["recreate"] == ["paris-storage-0"]


def test_a_label_that_is_taken_back_changes_the_template_alone():
    plan = plan_workload(made(storage=volume()), live_of(made(storage=volume(labels={"team": "a"}))))
    assert (plan["faults"], plan["patch_claims"], plan["recreate"]) == ([], [], ["paris-storage-0"])


# what is refused

@pytest.mark.requirement("VG-21", "VG-34", "OP-014", "FC-101")
@pytest.mark.parametrize(("before", "after", "text"), [
    ({}, {"data_source_ref": source("data-group")},
     "claim data-paris-storage-0-0 was made with no source, the site file says GroupRestore.restore.example.org data-group"),
    ({"data_source_ref": source("data-group")}, {}, "was made with GroupRestore.restore.example.org data-group, the site file says no source"),
    ({"data_source_ref": source("data-group")}, {"data_source_ref": source("other")}, "the site file says GroupRestore.restore.example.org other"),
    ({"size": "20Gi"}, {"size": "10Gi"}, "claim data-paris-storage-0-0 has 20Gi, the site file says 10Gi: a claim never shrinks; set size: 20Gi"),
    ({"storage_class": "fast"}, {"storage_class": "slow"}, "is of storage class 'fast', the site file says 'slow'"),
    ({"access_modes": ["ReadWriteOnce"]}, {"access_modes": ["ReadWriteMany"]}, "has access modes ReadWriteOnce, the site file says ReadWriteMany"),
    ({}, {"selector": {"matchLabels": {"a": "b"}}}, "has selector none, the site file says {'matchLabels': {'a': 'b'}}"),
])
def test_what_a_claim_cannot_become_is_refused(before, after, text):
    plan = plan_workload(made(storage=volume(**after)), live_of(made(storage=volume(**before))))
    assert len(plan["faults"]) == 1
    assert text in plan["faults"][0]


@pytest.mark.requirement("VG-34")
def test_a_claim_is_compared_when_its_statefulset_is_gone():
    live = {**NOTHING, "claims": live_of(made(storage=volume()))["claims"]}
    plan = plan_workload(made(storage=volume(data_source_ref=source("data-group"))), live)
    assert len(plan["faults"]) == 1


@pytest.mark.requirement("VG-21")
def test_the_source_a_bound_claim_was_made_from_may_stay():
    wanted = made(storage=volume(data_source_ref=source("data-group")))
    assert plan_workload(wanted, live_of(wanted), changed=["paris-storage-0"])["faults"] == []


def test_a_storage_class_that_is_not_set_is_not_compared():
    assert plan_workload(made(storage=volume()), live_of(made(storage=volume(storage_class="fast"))))["faults"] == []


@pytest.mark.requirement("OP-014")
@pytest.mark.parametrize(("before", "after", "text"), [
    ({"size": "1Gi"}, {"paths": [{"size": "1Gi"}]}, "has claims for data, metadata, the site file makes data-0, metadata"),
    ({"paths": [{"size": "1Gi"}]}, {"paths": [{"size": "1Gi"}, {"size": "1Gi"}]}, "data-0, metadata, the site file makes data-0, data-1, metadata"),
    ({"size": "1Gi"}, {"empty_dir": {}}, "the site file makes metadata"),
    ({"paths": [{"size": "1Gi", "name": "a"}]}, {"paths": [{"size": "1Gi", "name": "b"}]},
     "volume data-0 of node paris-storage-0 lies at /var/lib/garage/data/a and would move to /var/lib/garage/data/b"),
])
def test_volumes_are_not_added_removed_or_renamed(before, after, text):
    plan = plan_workload(made(storage={"replicas": 1, "data": after}), live_of(made(storage={"replicas": 1, "data": before})))
    assert len(plan["faults"]) == 1
    assert text in plan["faults"][0]


@pytest.mark.requirement("OP-013")
def test_the_metadata_of_edge_gateways_does_not_change():
    before, after = ({"metadata": {"size": "1Gi", "storage_class": name}} for name in ("fast", "slow"))
    plan = plan_workload(made("edge_gateways", gateway=after), live_of(made("edge_gateways", gateway=before)))
    assert [fault.split(" ")[1] for fault in plan["faults"]] == ["metadata-paris-gateway-0", "metadata-paris-gateway-1"]


@pytest.mark.requirement("OP-012", "FC-025")
@pytest.mark.parametrize(("sections", "text"), [
    ({"replication": {"factor": 2, "consistency_mode": "consistent"}}, "runs with replication_factor = 3, the site file says 2: Garage starts with"
     " another one only when all nodes were stopped and the file cluster_layout was taken out of the metadata of each"),
    ({"config": {"db_engine": "sqlite", "s3_api": {"s3_region": "garage"}}}, 'runs with db_engine = "lmdb", the site file says "sqlite"'),
])
def test_what_no_node_takes_by_a_restart_is_refused(sections, text):
    plan = plan_workload(made(**sections), live_of(made()))
    assert len(plan["faults"]) == 3
    assert all(text in fault for fault in plan["faults"])


@pytest.mark.requirement("FC-112")
@pytest.mark.parametrize(("before", "after", "refused"), [
    ("v2.5.0", "v3.0.0", True), ("v3.0.0", "v2.5.0", True), ("v2.3.0", "v2.5.0", False), ("v2.5.0", "nightly", False),
])
def test_another_major_version_is_refused_unless_it_is_confirmed(before, after, refused):
    image = {"repository": "example.org:5000/garage", "pull_policy": "IfNotPresent"}
    live = live_of(made(storage={"replicas": 1}, image={**image, "tag": before}))
    wanted = made(storage={"replicas": 1}, image={**image, "tag": after})
    faults = plan_workload(wanted, live)["faults"]
    assert [fault.split(":5000/")[1].split(",")[0] for fault in faults] == ([f"garage:{before}"] if refused else [])
    assert plan_workload(wanted, live, major_upgrade=True)["faults"] == []


@pytest.mark.parametrize(("phase", "text"), [
    ("Lost", "claim data-paris-storage-0-0 is Lost"),
    (None, "claim data-paris-storage-0-0 of node paris-storage-0 is missing"),
])
def test_a_claim_that_went_is_named(phase, text):
    live = live_of(made(storage=volume()))
    kept = [claim for claim in live["claims"] if not claim["metadata"]["name"].startswith("data")]
    lost = [{**claim, "status": {"phase": phase}} for claim in live["claims"] if claim not in kept and phase]
    plan = plan_workload(made(storage=volume()), {**live, "claims": kept + lost})
    assert len(plan["warnings"]) == 1
    assert text in plan["warnings"][0]


def test_a_pending_claim_is_named_with_its_source():
    wanted = made(storage=volume(data_source_ref=source("data-group")))
    live = live_of(wanted)
    for claim in live["claims"]:
        claim["status"]["phase"] = "Pending"
    assert [row["text"] for row in plan_workload(wanted, live)["pending_claims"]] == [
        "claim data-paris-storage-0-0 waits for its source GroupRestore.restore.example.org data-group",
        "claim metadata-paris-storage-0-0 waits for a volume"]


# what goes

@pytest.mark.requirement("LW-46")
def test_a_node_that_is_not_wanted_is_held_until_the_cluster_lets_it_go():
    live = live_of(made(storage={"replicas": 4}))
    held = plan_workload(made(), live)
    assert [(row["name"], row["pods"]) for row in held["hold"]] == [("paris-storage-3", ["paris-storage-3-0"])]
    assert (held["remove"], held["claims_left"], held["same"]) == ([], [], ["paris-storage-0", "paris-storage-1", "paris-storage-2"])
    gone = plan_workload(made(), live, removable=["paris-storage-3-0"])
    assert references(gone) == [("StatefulSet", "paris-storage-3"), ("ConfigMap", "paris-storage-3")]
    assert (gone["hold"], gone["claims_left"]) == ([], ["data-paris-storage-3-0", "metadata-paris-storage-3-0"])


@pytest.mark.requirement("LW-46")
def test_a_node_that_was_stopped_by_hand_is_held_too():
    live = live_of(made(storage={"replicas": 4}))
    live["statefulsets"][3]["spec"]["replicas"] = 0
    assert [row["name"] for row in plan_workload(made(), live)["hold"]] == ["paris-storage-3"]


def test_gateways_that_are_dropped_altogether_are_held_one_by_one():
    live = live_of(made("storage_with_gateways"))
    plan = plan_workload(made(), live, removable=["paris-gateway-1-0"])
    assert [row["name"] for row in plan["hold"]] == ["paris-gateway-0"]
    assert references(plan) == [("StatefulSet", "paris-gateway-1"), ("ConfigMap", "paris-gateway-1")]


@pytest.mark.parametrize(("removable", "replicas"), [
    ([], 4), (["paris-gateway-3"], 3), (["paris-gateway-2"], 4), (["paris-gateway-2", "paris-gateway-3"], 2),
])
def test_edge_gateways_keep_the_replicas_that_are_needed(removable, replicas):
    address = {"rpc_public_addr": "edge-{ordinal}.example.org:3901"}
    live = live_of(made("edge_gateways", gateway={"replicas": 4, **address}))
    plan = plan_workload(made("edge_gateways", gateway={"replicas": 2, **address}), live, changed=["paris-gateway"], removable=removable)
    config_map, stateful_set = plan["roll"][0]["objects"]
    assert stateful_set["spec"]["replicas"] == replicas == len(plan["roll"][0]["pods"])
    assert set(config_map["data"]) == {f"paris-gateway-{index}.toml" for index in range(replicas)}
    assert bool(plan["hold"]) == (replicas > 2)
    assert plan["claims_left"] == [f"metadata-paris-gateway-{index}" for index in range(replicas, 4)]


def ready(live):
    for pod in live["pods"]:
        pod["status"] = {"conditions": [{"type": "Ready", "status": "True"}]}
    return live


@pytest.mark.requirement("OP-006", "OP-007", "OP-009", "OP-015")
@pytest.mark.parametrize(("before", "after", "changed", "beside"), [
    ({}, {}, ["paris-storage-1"], ["paris-storage-1"]),
    ({}, {"data": {"size": "20Gi"}}, [], ["paris-storage-0", "paris-storage-1", "paris-storage-2"]),
    ({}, {}, ["paris-storage-3"], []),
    ({}, {}, [], []),
])
def test_nothing_changes_beside_a_storage_node_that_goes(before, after, changed, beside):
    live = ready(live_of(made(storage={"replicas": 4, **before})))
    plan = plan_workload(made(storage={"replicas": 3, **after}), live, changed)
    assert [fault for fault in plan["faults"] if "is a step of its own" in fault] == (
        [f"paris-storage-3-0 is to go, and that is a step of its own: {', '.join(beside)} would change beside it; take the other changes back until it has"
         " gone, or storage.replicas until they are made"] if beside else [])
    # Once it has gone they may.
    assert plan_workload(made(storage={"replicas": 3, **after}), live, changed, ["paris-storage-3-0"])["faults"] == []


@pytest.mark.requirement("OP-007")
def test_a_new_node_beside_one_that_goes_is_refused_and_one_that_is_down_comes_back():
    live = ready(live_of(made(storage={"replicas": 4})))
    gateways = made("storage_with_gateways", storage={"replicas": 3})
    assert "paris-gateway-0, paris-gateway-1 would change beside it" in plan_workload(gateways, live)["faults"][0]
    # Its StatefulSet is gone, and its claims are there.
    del live["statefulsets"][1]
    live["pods"] = [pod for pod in live["pods"] if pod["metadata"]["name"] != "paris-storage-1-0"]
    plan = plan_workload(made(), live)
    assert (names(plan["create"]), plan["faults"]) == (["paris-storage-1"], [])
    # It runs and is not ready.
    live = ready(live_of(made(storage={"replicas": 4})))
    live["pods"][1]["status"]["conditions"][0]["status"] = "False"
    assert plan_workload(made(), live, ["paris-storage-1"])["faults"] == []


def test_gateways_that_go_hinder_nothing():
    live = ready(live_of(made("storage_with_gateways")))
    assert plan_workload(made(), live, ["paris-storage-0"])["faults"] == []


@pytest.mark.requirement("OP-004")
@pytest.mark.parametrize(("before", "after", "words"), [
    ("storage", "edge_gateways", "paris-storage-0, paris-storage-1, paris-storage-2 store data here, and the site file makes paris gateways"),
    ("storage_with_gateways", "edge_gateways", "store data here"),
    ("edge_gateways", "storage", "paris-gateway are gateways of another cluster here, and the site file makes paris a site with storage"),
    ("edge_gateways", "storage_with_gateways", "paris-gateway are gateways of another cluster"),
    ("storage", "storage_with_gateways", None), ("storage_with_gateways", "storage", None),
])
def test_a_site_does_not_become_another_kind_of_site(before, after, words):
    faults = plan_workload(made(after), live_of(made(before)))["faults"]
    assert [words in fault for fault in faults if "the site file makes" in fault] == ([True] if words else [])


@pytest.mark.requirement("TD-20")
def test_a_budget_goes_when_it_is_cleared():
    live = live_of(made(storage={"disruption_budget": {"max_unavailable": 1}}))
    assert references(plan_workload(made(), live)) == [("PodDisruptionBudget", "paris-storage")]


@pytest.mark.requirement("TD-20")
@pytest.mark.parametrize("labels", [
    {"app.kubernetes.io/instance": "paris"},
    {"app.kubernetes.io/instance": "lyon", "app.kubernetes.io/managed-by": "s3ops.garage"},
    {},
    None,
])
def test_a_budget_of_somebody_else_stays(labels):
    other = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "paris-storage", "labels": labels}}
    assert plan_workload(made(), {**live_of(made()), "objects": [other]})["remove"] == []


def test_what_another_role_keeps_under_our_labels_stays():
    """The record of the layout, for one."""
    live = live_of(made())
    config_map = copy.deepcopy(live["objects"][-1])
    del config_map["metadata"]["labels"]["s3ops.garage/node"]
    config_map["metadata"]["name"] = "paris-layout"
    live["objects"].append(config_map)
    assert plan_workload(made(), live)["remove"] == []


def test_monitoring_that_is_cleared_goes():
    live = live_of(made(monitoring={"service_monitor": {"interval": "30s"}, "rules": {}, "dashboard": {}}))
    assert references(plan_workload(made(), live)) == [
        ("ConfigMap", "paris-dashboard"), ("PrometheusRule", "paris-garage"), ("ServiceMonitor", "paris-garage")]


def test_the_filter_is_the_function():
    assert FilterModule().filters() == {"workload_plan": plan_workload}
