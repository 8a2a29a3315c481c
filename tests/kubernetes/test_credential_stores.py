# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets as stores of credentials, at a real Kubernetes API: its rules about versions, ownership and rights, with a Garage in memory."""

from __future__ import annotations

import json
import threading
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils import _note_job, _token_job
from ansible_collections.s3ops.garage.plugins.module_utils._errors import PlanError, StoreFault
from ansible_collections.s3ops.garage.plugins.module_utils._key_job import run_key
from ansible_collections.s3ops.garage.plugins.module_utils._token_job import run_token
from tests.fakes.garage import FakeGarage
from tests.kubernetes.namespaces import Namespace
from tests.unit.store_places import cut_off
from tests.unit.token_runs import Context, Power
from tools.cluster.state import Cluster

LABEL = "app.kubernetes.io/managed-by"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    # Runs end here by a cut, and never go on in secret.
    monkeypatch.setattr(_note_job, "_AT_WORK_SECONDS", 0.0)
    monkeypatch.setattr(_token_job, "_ACCEPTED_WITHIN_SECONDS", 0.0)


class Stores:
    """The Secrets of a namespace, and runs whose store is one of them."""

    def __init__(self, cluster: Cluster, namespace: Namespace) -> None:
        self.namespace = namespace
        self.kubeconfig = str(cluster.kubeconfig)
        self.garage = FakeGarage()

    def run(self, kind: str, power: Power | None = None, check: bool = False, **params: Any) -> Any:
        store = {"secret": kind, "namespace": self.namespace.name, "kubeconfig": self.kubeconfig, **params.pop("store", {})}
        given = {"name": kind, "store": store, **({"scope": ["ListBuckets"]} if kind == "token" else {}), **params}
        context = Context(self.garage, check=check, power=power)
        outcome, _beside = (run_token if kind == "token" else run_key)(given, context)
        return outcome.plan

    def data(self, name: str) -> dict[str, str] | None:
        found = self.secrets().get(name)
        return None if found is None else {key: b64decode(text).decode() for key, text in (found.data or {}).items()}

    def secrets(self) -> dict[str, Any]:
        return {item.metadata.name: item for item in self.namespace.core.list_namespaced_secret(self.namespace.name).items}

    def live(self, kind: str) -> list[Any]:
        rows = self.garage.state.tokens if kind == "token" else self.garage.state.keys
        return [row for row in rows.values() if not getattr(row, "deleted", False)]

    def clear(self) -> None:
        self.garage = FakeGarage()
        for name in self.secrets():
            self.namespace.core.delete_namespaced_secret(name, self.namespace.name)

    def in_order(self, kind: str) -> Any:
        (row,) = self.live(kind)
        assert row.name == kind and row.secret in self.data(kind).values() and set(self.secrets()) == {kind}
        return row


@pytest.fixture
def stores(cluster: Cluster, namespace: Namespace) -> Stores:
    return Stores(cluster, namespace)


@pytest.mark.requirement("TD-26", "TD-27", "TD-05", "TD-56", "FC-108")
@pytest.mark.parametrize("kind", ["token", "key"])
def test_a_credential_is_made_adopted_and_removed(stores: Stores, kind: str) -> None:
    assert stores.run(kind, check=True).changed and stores.secrets() == {}
    assert stores.run(kind).changed
    row = stores.in_order(kind)
    secret = stores.secrets()[kind]
    assert secret.metadata.labels == {LABEL: "s3ops.garage"} and secret.type == "Opaque"
    assert len(json.loads(secret.metadata.annotations["s3ops.garage/cluster"])) == 1
    assert not stores.run(kind).changed and stores.in_order(kind) is row
    assert stores.run(kind, store={"labels": {"team": "a"}, "extra_data": {"more": "x"}}).changed
    assert stores.data(kind)["more"] == "x" and stores.in_order(kind) is row
    gone = {"state": "absent", "credential_deletion_policy": "delete"}
    stores.run(kind, **gone)
    assert (stores.live(kind), stores.secrets()) == ([], {})
    assert not stores.run(kind, **gone).changed


@pytest.mark.requirement("TD-42", "TD-43", "TD-55")
@pytest.mark.parametrize("kind", ["token", "key"])
def test_a_run_that_breaks_off_anywhere_is_finished_by_the_next(stores: Stores, kind: str) -> None:
    number, finished = 0, False
    while not finished:
        power = Power(number)
        finished = cut_off(lambda power=power: stores.run(kind, power), power)
        assert len([row for row in stores.live(kind) if row.name == kind]) <= 1
        stores.run(kind)
        stores.in_order(kind)
        stores.clear()
        number += 1
    assert number > 15


@pytest.mark.requirement("TD-29")
@pytest.mark.parametrize("kind", ["token", "key"])
def test_of_two_runs_at_once_one_makes_the_credential(stores: Stores, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_note_job, "_AT_WORK_SECONDS", 60.0)
    plans, barrier = [], threading.Barrier(2)

    def work() -> None:
        barrier.wait()
        plans.append(stores.run(kind))

    threads = [threading.Thread(target=work) for _number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(plan.changed for plan in plans) == [False, True]
    stores.in_order(kind)


@pytest.mark.requirement("FC-108")
@pytest.mark.parametrize("kind", ["token", "key"])
def test_a_secret_of_somebody_else_is_left_alone(stores: Stores, kind: str) -> None:
    stores.namespace.core.create_namespaced_secret(stores.namespace.name, {"metadata": {"name": kind}, "stringData": {"password": "theirs"}})
    for check in (True, False):
        with pytest.raises(PlanError):
            stores.run(kind, check=check)
    assert stores.data(kind) == {"password": "theirs"} and stores.live(kind) == []


@pytest.mark.parametrize("kind", ["token", "key"])
def test_an_account_that_may_only_read_makes_nothing_on_the_server(stores: Stores, kind: str, tmp_path: Path) -> None:
    core, name = stores.namespace.core, stores.namespace.name
    core.create_namespaced_service_account(name, {"metadata": {"name": "reader"}})
    rules = [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]
    stores.namespace.create(
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "reader"}, "rules": rules},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "reader"},
         "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
         "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": name}]})
    token = core.create_namespaced_service_account_token("reader", name, {"spec": {"expirationSeconds": 3600}}).status.token
    admin, stores.kubeconfig = stores.kubeconfig, str(tmp_path / "kubeconfig")
    configuration = core.api_client.configuration
    Path(stores.kubeconfig).write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "here", "users": [{"name": "reader", "user": {"token": token}}],
        "clusters": [{"name": "here", "cluster": {"server": configuration.host, "certificate-authority": configuration.ssl_ca_cert}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "reader"}}]}), encoding="utf-8")
    for check in (True, False):
        with pytest.raises(StoreFault, match="403"):
            stores.run(kind, check=check)
    assert stores.live(kind) == [] and stores.secrets() == {}

    stores.kubeconfig, reader = admin, stores.kubeconfig
    stores.run(kind)
    stores.kubeconfig = reader
    # What is there already needs no more than to be read.
    assert not stores.run(kind).changed
