# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of a site that take more than one run, or that hang on what the cluster has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client

from tests.garage.guide_run import Guide, changed
from tests.garage.playbook_run import Run, run_playbook
from tests.kubernetes.site_driver import POD_TIMEOUT, Site
from tests.kubernetes.test_site_faults import Play
from tools.cluster.state import Cluster
from tools.testbed.waiting import wait_until

pytestmark = pytest.mark.long
MONITORS = {"servicemonitors": "ServiceMonitor", "prometheusrules": "PrometheusRule"}
GROUP = "monitoring.coreos.com"
MOST_RUNS = 5


@pytest.mark.requirement("LW-46", "FC-112", "OP-006", "OP-009")
def test_a_node_less_goes_once_the_layout_needs_it_no_more_and_its_claims_stay(site: Site) -> None:
    site.change({"storage": {"replicas": 4}})
    assert site.run().rc == 0
    claims, uids = set(site.claims()), site.uids()
    site.change({"storage": {"replicas": 3, "pod": {"annotations": {"example.org/changed": "yes"}}}})
    for mode in (("--check",), ()):
        refused = site.run(*mode)
        assert refused.rc != 0
        assert "paris-storage-3-0 is to go, and that is a step of its own: paris-storage-0, paris-storage-1, paris-storage-2 would change" in refused.output
    site.change({"storage": {"pod": None}})
    for _number in range(MOST_RUNS):
        run = site.run()
        assert run.rc == 0, run.output
        if "paris-storage-3" not in site.names("StatefulSet"):
            break
        assert "paris-storage-3-0 may still hold a role or data" in run.output
    assert run.results("paris", "drain")[-1]["drain"]["drained"]
    assert site.uids().items() <= uids.items()
    assert site.names("StatefulSet") == {f"paris-storage-{number}" for number in range(3)}
    assert "paris-storage-3" not in site.names("ConfigMap")
    assert set(site.claims()) == claims
    assert "no node has these claims any more" in run.output
    assert site.run("-e", "garage_delete_claims=true").rc == 0
    wait_until("the end of the claims", lambda: "there still" if set(site.claims()) - claims_of_three(claims) else None, POD_TIMEOUT, pause=0.5)
    again = site.run()
    assert (again.rc, again.changed) == (0, 0), again.output


def claims_of_three(claims: set[str]) -> set[str]:
    return {name for name in claims if not name.endswith("-paris-storage-3-0")}


@pytest.mark.requirement("FC-101", "FC-100")
def test_a_growth_that_broke_off_is_finished_by_the_next_run(site: Site, tmp_path: Path) -> None:
    assert site.run().rc == 0
    before = site.uids()
    site.change({"storage": {"data": {"size": "2Gi"}}})
    site.proxy.take()
    play = Play(site, tmp_path / "play")
    try:
        site.proxy.wait_for("DELETE .*/statefulsets/paris-storage-1$", POD_TIMEOUT)
    finally:
        play.kill()
    run = site.run()
    assert run.rc == 0, run.output
    assert site.uids() == before
    assert site.names("StatefulSet") == {f"paris-storage-{number}" for number in range(3)}
    sizes = {claim.status.capacity["storage"] for name, claim in site.claims().items() if name.startswith("data-")}
    assert sizes == {"2Gi"}
    again = site.run()
    assert (again.rc, again.changed) == (0, 0), again.output


def seen(run: Run) -> dict[str, Any]:
    """What must stay the same of a site: its nodes by pod, its bucket, its key and its token."""
    tenancy = run.results("paris", "tenancy")[-1]["tenancy"]
    nodes = run.results("paris", "kubernetes_workload_info")[-1]["nodes"]
    return {"nodes": {node["pod"]: node["id"] for node in nodes},
            **{kind: [row["id"] for row in tenancy[kind]] for kind in ("buckets", "keys", "admin_tokens")}}


def retire(site: Site, *options: str) -> Run:
    return run_playbook("s3ops.garage.retire", site.inventory(), "-e", f"garage_retire={site.name}", *options)


@pytest.mark.requirement("TD-01", "TD-05", "TD-06", "MH-16", "OP-019", "OP-042")
@pytest.mark.guide("docs/kubernetes.md", "Taking it away")
def test_a_site_that_was_retired_comes_back_with_its_credentials_where_its_claims_and_stores_were_kept(site: Site, guide: Guide) -> None:
    place = {"namespace": site.namespace.name, "kubeconfig": site.file["kubernetes"]["kubeconfig"]}
    site.change({"tenancy": {
        "keys": [{"name": "app", "store": {"secret": "app-s3", **place}}],
        "buckets": [{"name": "media", "grants": [{"key": "app", "read": True}]}],
        "admin_tokens": [{"name": "ci", "scope": ["ListBuckets"], "store": {"secret": "ci-token", **place}}],
    }})
    first = site.run()
    assert first.rc == 0, first.output
    core, space, claims = site.namespace.core, site.namespace.name, set(site.claims())
    secrets = {item.metadata.name: item.data for item in core.list_namespaced_secret(space).items}
    assert {"app-s3", "ci-token"} <= set(secrets)
    refused = retire(site, "-e", "garage_deletion_policy=drain", "-e", "garage_delete_claims=perhaps")
    assert refused.rc != 0
    for words in ("garage_delete_claims: 'perhaps' must be true or false", "paris: stands alone, so no node is left to take over what it stores"):
        assert words in refused.output
    guide.write("inventory.yml", site.inventory())
    foretold, gone = guide.run()
    assert changed(foretold) == changed(gone) != [0], foretold + gone
    assert site.pods() == {}
    assert [site.names(kind) for kind in ("StatefulSet", "Service", "ConfigMap")] == [set()] * 3
    assert core.list_namespaced_service_account(space, label_selector="app.kubernetes.io/managed-by=s3ops.garage").items == []
    assert set(site.claims()) == claims
    nothing = retire(site)
    assert (nothing.rc, nothing.changed) == (0, 0), nothing.output

    back = site.run()
    assert back.rc == 0, back.output
    assert seen(back) == seen(first)
    assert back.results("paris", "tenancy")[-1]["changed"] is False
    assert {item.metadata.name: item.data for item in core.list_namespaced_secret(space).items} == secrets
    again = site.run()
    assert (again.rc, again.changed) == (0, 0), again.output

    assert retire(site, "-e", "garage_delete_claims=true").rc == 0
    wait_until("the end of the claims", lambda: ", ".join(site.claims()) or None, POD_TIMEOUT, pause=0.5)
    assert {item.metadata.name for item in core.list_namespaced_secret(space).items} == set(secrets)


@pytest.fixture
def monitoring(cluster: Cluster) -> Iterator[None]:
    """The kinds of the Prometheus operator, without the operator."""
    api = client.ApiextensionsV1Api(cluster.api())
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    for plural, kind in MONITORS.items():
        api.create_custom_resource_definition({
            "metadata": {"name": f"{plural}.{GROUP}"},
            "spec": {"group": GROUP, "scope": "Namespaced", "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}]},
        })  # fmt: skip

    def missing() -> str | None:
        rows = [api.read_custom_resource_definition(f"{plural}.{GROUP}").status.conditions or [] for plural in MONITORS]
        served = all(any(row.type == "Established" and row.status == "True" for row in conditions) for conditions in rows)
        return None if served else "not served"

    wait_until("the kinds", missing, POD_TIMEOUT, pause=0.5)
    yield
    for plural in MONITORS:
        api.delete_custom_resource_definition(f"{plural}.{GROUP}")


def monitors(site: Site) -> set[str]:
    custom = client.CustomObjectsApi(site.cluster.api())
    found = {plural: custom.list_namespaced_custom_object(GROUP, "v1", site.namespace.name, plural)["items"] for plural in MONITORS}
    return {MONITORS[plural] for plural, items in found.items() if items}


@pytest.mark.requirement("TD-19")
def test_monitoring_is_kept_where_its_kinds_are(site: Site, monitoring: None) -> None:
    site.change({"storage": {"replicas": 1}, "replication": {"factor": 1}, "monitoring": {"service_monitor": {}, "rules": {}}})
    run = site.run()
    assert run.rc == 0, run.output
    assert monitors(site) == set(MONITORS.values())
    again = site.run()
    assert (again.rc, again.changed) == (0, 0), again.output
    site.change({"monitoring": None})
    assert site.run().rc == 0
    assert monitors(site) == set()


@pytest.mark.requirement("TD-19")
def test_monitoring_is_left_out_with_a_word_where_its_kinds_are_not(site: Site) -> None:
    site.change({"storage": {"replicas": 1}, "replication": {"factor": 1}, "monitoring": {"service_monitor": {}, "rules": {}}})
    run = site.run()
    assert run.rc == 0, run.output
    assert "this cluster has no monitoring.coreos.com/v1 with" in run.output
