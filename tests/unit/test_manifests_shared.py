# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the nodes of a site share: Services, account, budgets, monitoring."""

from __future__ import annotations

import json
import re

import pytest
from tests.unit.manifest_sites import all_objects, one, workload

from ansible_collections.s3ops.garage.plugins.module_utils._manifests.objects import objects

WEB = {"config": {"s3_api": {"s3_region": "garage"}, "s3_web": {"root_domain": ".web"}, "k2v_api": {}}}


def made(shape="storage", **sections):
    return objects(workload(shape, **sections), "garage", "hash")


def kinds(found):
    return [(item["kind"], item["metadata"]["name"]) for item in found]


def ports(service):
    return [(port["name"], port["port"], port.get("nodePort")) for port in service["spec"]["ports"]]


def test_a_small_site_shares_an_account_and_three_services():
    assert kinds(made()["shared"]) == [
        ("ServiceAccount", "paris-garage"), ("Service", "paris-nodes"), ("Service", "paris-s3"), ("Service", "paris-admin")]


def test_nodes_find_one_another_before_they_are_ready():
    service = one(made(), "Service", "paris-nodes")
    assert (service["spec"]["clusterIP"], service["spec"]["publishNotReadyAddresses"]) == ("None", True)
    assert ports(service) == [("rpc", 3901, None), ("admin", 3903, None)]
    selected = service["spec"]["selector"].items()
    for shape in ("storage_with_gateways", "edge_gateways"):
        for node in made(shape)["nodes"]:
            spec = node["objects"][1]["spec"]
            assert selected <= spec["template"]["metadata"]["labels"].items()
            assert spec["serviceName"] == "paris-nodes"


@pytest.mark.parametrize(("shape", "component"), [("storage", "storage"), ("storage_with_gateways", "gateway"), ("edge_gateways", "gateway")])
def test_gateways_serve_where_there_are_some(shape, component):
    assert one(made(shape), "Service", "paris-s3")["spec"]["selector"]["app.kubernetes.io/component"] == component


def test_a_service_has_the_ports_of_what_is_on():
    assert ports(one(made(), "Service", "paris-s3")) == [("s3", 3900, None)]
    assert ports(one(made(**WEB), "Service", "paris-s3")) == [("s3", 3900, None), ("web", 3902, None), ("k2v", 3904, None)]
    named = {port["name"] for port in one(made(**WEB), "StatefulSet", "paris-storage-0")["spec"]["template"]["spec"]["containers"][0]["ports"]}
    assert named == {"s3", "rpc", "web", "admin", "k2v"}


def test_a_service_is_as_it_is_asked_for():
    options = {"type": "LoadBalancer", "annotations": {"a": "b"}, "labels": {"c": "d", "app.kubernetes.io/name": "x"},
               "load_balancer_class": "example.org/lb", "external_traffic_policy": "Local", "node_ports": {"s3": 30900}}
    service = one(made("storage_with_gateways", gateway={"service": options}), "Service", "paris-s3")
    fields = ("type", "loadBalancerClass", "externalTrafficPolicy")
    assert [service["spec"][field] for field in fields] == ["LoadBalancer", "example.org/lb", "Local"]
    assert (service["metadata"]["annotations"], service["metadata"]["labels"]["c"]) == ({"a": "b"}, "d")
    assert service["metadata"]["labels"]["app.kubernetes.io/name"] == "garage"
    assert ports(service) == [("s3", 3900, 30900)]
    assert one(made("storage_with_gateways", gateway={"service": options}), "Service", "paris-admin")["spec"]["type"] == "ClusterIP"


@pytest.mark.requirement("TD-22")
def test_nothing_is_exposed_unasked():
    assert {item["kind"] for item in all_objects(made("storage_with_gateways", **WEB))} == {"ServiceAccount", "Service", "ConfigMap", "StatefulSet"}
    assert {item["spec"].get("type", "ClusterIP") for item in made(**WEB)["shared"] if item["kind"] == "Service"} == {"ClusterIP"}


# rights

@pytest.mark.requirement("TD-21")
def test_pods_have_rights_only_for_discovery_through_kubernetes():
    api = {"s3_api": {"s3_region": "garage"}}
    found = made(config={**api, "kubernetes_discovery": {}})
    assert kinds(found["shared"])[:3] == [("ServiceAccount", "paris-garage"), ("Role", "paris-garage"), ("RoleBinding", "paris-garage")]
    assert [(rule["apiGroups"], rule["resources"]) for rule in one(found, "Role", "paris-garage")["rules"]] == [(["deuxfleurs.fr"], ["garagenodes"])]
    assert one(found, "StatefulSet", "paris-storage-0")["spec"]["template"]["spec"]["automountServiceAccountToken"] is True
    assert one(found, "ServiceAccount", "paris-garage")["automountServiceAccountToken"] is False
    elsewhere = made(config={**api, "kubernetes_discovery": {"namespace": "shared"}})
    assert not {"Role", "RoleBinding"} & {kind for kind, _name in kinds(made()["shared"]) + kinds(elsewhere["shared"])}


# budgets

@pytest.mark.requirement("TD-20")
@pytest.mark.parametrize(("budget", "limit"), [
    ({"max_unavailable": 1}, {"maxUnavailable": 1}),
    ({"min_available": "50%"}, {"minAvailable": "50%"}),
    ({"min_available": 0}, {"minAvailable": 0}),
])
def test_a_budget_is_made_when_it_is_set(budget, limit):
    found = made("storage_with_gateways", gateway={"disruption_budget": budget})
    assert [item for item in kinds(found["shared"]) if item[0] == "PodDisruptionBudget"] == [("PodDisruptionBudget", "paris-gateway")]
    spec = one(found, "PodDisruptionBudget", "paris-gateway")["spec"]
    selected = spec.pop("selector")["matchLabels"]
    assert spec == limit
    assert selected == {"app.kubernetes.io/name": "garage", "app.kubernetes.io/instance": "paris", "app.kubernetes.io/component": "gateway"}


# monitoring

FOUND_BY = {"labels": {"release": "prometheus"}}
MONITORING = {"service_monitor": {"interval": "15s", **FOUND_BY}, "rules": FOUND_BY, "dashboard": {}}


@pytest.mark.requirement("FC-110")
def test_a_service_monitor_finds_each_node_and_has_the_token():
    found = made(monitoring=MONITORING)
    monitor = one(found, "ServiceMonitor", "paris-garage")
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    assert monitor["spec"]["endpoints"] == [{"port": "admin", "path": "/metrics", "interval": "15s", "authorization": {
        "type": "Bearer", "credentials": {"name": "paris-garage", "key": "metrics-token"}}}]
    chosen = monitor["spec"]["selector"]["matchLabels"].items()
    assert [name for kind, name in kinds([item for item in found["shared"] if chosen <= item["metadata"]["labels"].items()])] == ["paris-nodes"]


def test_what_is_not_set_is_not_made():
    assert made()["monitoring"] == []
    assert kinds(made(monitoring={"rules": {}})["monitoring"]) == [("PrometheusRule", "paris-garage")]
    assert kinds(made(monitoring=MONITORING)["monitoring"]) == [("ServiceMonitor", "paris-garage"), ("PrometheusRule", "paris-garage")]


def test_alerts_speak_of_this_site_alone():
    rules = one(made(monitoring=MONITORING), "PrometheusRule", "paris-garage")["spec"]["groups"][0]["rules"]
    assert len({rule["alert"] for rule in rules}) == len(rules) == 10
    for rule in rules:
        chosen = re.findall(r"\{([^}]*)\}", rule["expr"])
        assert chosen and set(chosen) == {'namespace="garage",job="paris-nodes"'}, rule["expr"]
        assert (rule["labels"]["site"], rule["labels"]["severity"] in ("warning", "critical")) == ("paris", True)


def test_the_dashboard_is_one_that_grafana_loads():
    config_map = one(made(monitoring=MONITORING), "ConfigMap", "paris-dashboard")
    assert config_map["metadata"]["labels"]["grafana_dashboard"] == "1"
    dashboard = json.loads(config_map["data"]["paris-garage.json"])
    assert [panel["id"] for panel in dashboard["panels"]] == list(range(1, len(dashboard["panels"]) + 1))
    assert {variable["name"] for variable in dashboard["templating"]["list"]} == {"datasource", "namespace", "job"}
    mine = one(made(monitoring={"dashboard": {"labels": {"mine": "1"}}}), "ConfigMap", "paris-dashboard")
    assert "grafana_dashboard" not in mine["metadata"]["labels"]
