# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds for the objects of every site."""

from __future__ import annotations

import json
import tomllib

import kubernetes_validate
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.manifest_sites import all_objects, claims, leaves, source, workload, workloads

from ansible_collections.s3ops.garage.plugins.filter.workload_objects import FilterModule
from ansible_collections.s3ops.garage.plugins.module_utils._manifests.objects import objects

KUBERNETES = "1.34"
CORE = {"ServiceAccount", "Service", "ConfigMap", "StatefulSet", "PodDisruptionBudget", "Role", "RoleBinding"}
SLOW = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@SLOW
@given(workloads(), st.lists(st.sampled_from(["b@two:3901", "a@one:3901"]), unique=True))
def test_objects_are_valid_and_the_same_every_time(site, peers):
    made = objects(site, "garage", "hash", peers)
    assert made == objects(json.loads(json.dumps(site)), "garage", "hash", peers[::-1])
    assert json.dumps(made) == json.dumps(objects(site, "garage", "hash", peers))
    found = all_objects(made)
    assert len({(item["kind"], item["metadata"]["name"]) for item in found}) == len(found)
    for item in found:
        if item["kind"] in CORE:
            kubernetes_validate.validate(item, KUBERNETES, strict=True)
    assert {item["kind"] for item in found} - CORE <= {"ServiceMonitor", "PrometheusRule"}


@SLOW
@given(workloads())
def test_nothing_is_null_or_left_out_by_a_placeholder(site):
    for path, value in leaves(objects(site, "garage", "hash")):
        if not path.endswith(".ordinal"):
            assert value is not None, path
            assert "omit" not in str(value), path


@SLOW
@given(workloads())
def test_everything_is_labelled_as_ours_and_lies_in_the_namespace(site):
    for item in all_objects(objects(site, "elsewhere", "hash")):
        assert item["metadata"]["namespace"] == "elsewhere"
        assert item["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "s3ops.garage"
        assert (item["metadata"]["labels"]["app.kubernetes.io/name"], item["metadata"]["labels"]["app.kubernetes.io/instance"]) == ("garage", "paris")


@SLOW
@given(workloads())
def test_every_configuration_is_toml_and_every_pod_has_one(site):
    for node in objects(site, "garage", "hash")["nodes"]:
        config_map, stateful_set = node["objects"]
        for text in config_map["data"].values():
            read = tomllib.loads(text)
            assert read["s3_api"]["s3_region"] == site["config"]["s3_api"]["s3_region"]
            assert read.get("consul_discovery") == site["config"].get("consul_discovery")
        mount = stateful_set["spec"]["template"]["spec"]["containers"][0]["volumeMounts"][0]
        names = [mount["subPathExpr"].replace("$(POD_NAME)", pod) if "subPathExpr" in mount else "garage.toml" for pod in node["pods"]]
        assert set(names) == set(config_map["data"])


@pytest.mark.requirement("VG-08", "VG-36", "VG-37", "VG-38", "VG-39")
@SLOW
@given(workloads())
def test_a_source_is_on_every_claim_of_its_volume_and_on_no_other(site):
    storage, gateway = site["storage"] or {}, site["gateway"] or {}
    data = storage.get("data", {})
    wanted = {("storage", "metadata"): storage.get("metadata", {}), ("gateway", "metadata"): gateway.get("metadata", {})}
    for index, path in enumerate(data.get("paths", ())):
        wanted["storage", f"data-{index}"] = path
    wanted.setdefault(("storage", "data"), data)
    for name, spec in claims(objects(site, "garage", "hash")).items():
        volume, component = name.split("-paris-")
        options = wanted[component.split("-")[0], volume]
        declared = options.get("data_source_ref")
        stamped = {"apiGroup": "restore.example.org", "kind": "GroupRestore", "name": declared["name"]} if declared else None
        assert spec.get("dataSourceRef") == stamped
        assert spec["resources"]["requests"]["storage"] == str(options["size"])
        assert (spec.get("storageClassName"), spec.get("selector")) == (options.get("storage_class"), options.get("selector"))


@pytest.mark.requirement("VG-09")
@pytest.mark.parametrize(("shape", "names"), [
    ("storage", ["data-paris-storage-0-0", "data-paris-storage-1-0", "metadata-paris-storage-0-0", "metadata-paris-storage-1-0"]),
    ("storage_with_gateways", ["data-paris-storage-0-0", "data-paris-storage-1-0", "metadata-paris-gateway-0-0", "metadata-paris-gateway-1-0",
                               "metadata-paris-storage-0-0", "metadata-paris-storage-1-0"]),
    ("edge_gateways", ["metadata-paris-gateway-0", "metadata-paris-gateway-1"]),
])
def test_the_names_of_claims(shape, names):
    made = objects(workload(shape, **({} if shape == "edge_gateways" else {"storage": {"replicas": 2}})), "garage", "hash")
    assert sorted(claims(made)) == names == sorted(name for node in made["nodes"] for name in node["claims"])


@pytest.mark.requirement("VG-09", "VG-16")
def test_the_names_and_sources_of_several_disks():
    paths = [{"size": "1Ti", "data_source_ref": source("ssd-group")}, {"size": "2Ti", "data_source_ref": source("hdd-group")}]
    made = objects(workload(storage={"replicas": 2, "data": {"paths": paths}}), "garage", "hash")
    assert {name: spec["dataSourceRef"]["name"] for name, spec in claims(made).items() if "dataSourceRef" in spec} == {
        "data-0-paris-storage-0-0": "ssd-group", "data-0-paris-storage-1-0": "ssd-group",
        "data-1-paris-storage-0-0": "hdd-group", "data-1-paris-storage-1-0": "hdd-group",
    }


def test_the_filter_is_the_function():
    assert FilterModule().filters() == {"workload_objects": objects}
