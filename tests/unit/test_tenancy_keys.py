# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Access keys of a tenancy with their stores, on a Garage in memory."""

from __future__ import annotations

import json

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError, PlanError, StoreFault
from ansible_collections.s3ops.garage.plugins.module_utils._key_job import run_key
from ansible_collections.s3ops.garage.plugins.module_utils._models.tenancy import TenancySpec
from ansible_collections.s3ops.garage.plugins.module_utils._tenancy_job import run_tenancy
from tests.fakes.garage import FakeGarage
from tests.unit import token_runs
from tests.unit.store_places import cut_off


@pytest.fixture
def garage():
    return FakeGarage()


def entry(folder, name="app", **more):
    return {"name": name, "store": {"path": str(folder / name)}, **more}


def options(*keys, **more):
    return {"keys": list(keys), "max_in_flight": 2, "on_error": "stop", **more}


def run(garage, params, check=False, power=None):
    context = token_runs.Context(garage, check=check, power=power)
    return run_tenancy(params, context), context


def key_run(garage, params, power=None):
    return run_key(params, token_runs.Context(garage, power=power))


def named(garage):
    return {row.name: row for row in garage.state.keys.values() if not row.deleted}


def in_order(garage, folder, *names):
    """Each of these keys is there, with its credentials in its file, and nothing else is in the folder."""
    rows = named(garage)
    stored = {file.name: json.loads(file.read_text()) for file in folder.iterdir() if not file.name.startswith(".")}
    assert stored == {name: {"access-key-id": rows[name].id, "secret-access-key": rows[name].secret} for name in names}
    assert {file.name for file in folder.iterdir() if file.name.startswith(".")} == {f".{name}.garage" for name in names}


@pytest.mark.requirement("TD-26", "TD-36", "FC-108")
@pytest.mark.parametrize("number", [2, 12])
def test_keys_are_made_delivered_and_then_unchanged(garage, tmp_path, number):
    names = [f"app{index}" for index in range(number)]
    wanted = options(*(entry(tmp_path, name) for name in names), buckets=[{"name": "media", "grants": [{"key": "app1", "read": True}]}])
    predicted, context = run(garage, wanted, check=True)
    assert not context.wire.writes and list(tmp_path.iterdir()) == []
    outcome, _context = run(garage, wanted)
    in_order(garage, tmp_path, *names)
    assert outcome.plan.would == predicted.plan.would and outcome.result["keys"][0]["store"] == {"path": str(tmp_path / "app0")}
    outcome, context = run(garage, wanted)
    assert not outcome.plan.changed and not context.wire.writes


@pytest.mark.requirement("TD-01")
def test_a_store_is_put_right_and_a_lost_key_comes_back(garage, tmp_path):
    wanted = options(entry(tmp_path), entry(tmp_path, "other"))
    run(garage, wanted)
    before = {name: row.id for name, row in named(garage).items()}
    (tmp_path / "app").unlink()
    outcome, context = run(garage, wanted)
    assert outcome.plan.would == (f"put the credentials of access key app into {tmp_path / 'app'}",) and not context.wire.writes
    in_order(garage, tmp_path, "app", "other")
    garage.state.keys.clear()
    run(garage, wanted)
    in_order(garage, tmp_path, "app", "other")
    assert {name: row.id for name, row in named(garage).items()} == before


@pytest.mark.requirement("TD-02")
@pytest.mark.parametrize(("policy", "left"), [("retain", {"app", ".app.garage"}), ("delete", set())])
def test_the_store_of_an_absent_key(garage, tmp_path, policy, left):
    run(garage, options(entry(tmp_path)))
    gone = options(entry(tmp_path, state="absent", credential_deletion_policy=policy))
    run(garage, gone)
    assert named(garage) == {} and {file.name for file in tmp_path.iterdir()} == left
    assert not run(garage, gone)[0].plan.changed


@pytest.mark.parametrize("check", [True, False])
def test_what_is_wrong_with_the_stores_is_told_with_all_else_and_nothing_is_sent(garage, tmp_path, check):
    (tmp_path / "odd").write_text("theirs")
    with pytest.raises(PlanError) as caught:
        run(garage, options(entry(tmp_path, "odd"), entry(tmp_path, "fine"), buckets=[{"name": "media", "grants": [{"key": "nobody", "read": True}]}]), check)
    assert "keys[0]: access key odd" in caught.value.message and "buckets[0].grants[0]" in caught.value.message
    with pytest.raises(StoreFault, match="does not exist"):
        run(garage, options(entry(tmp_path), entry(tmp_path / "no", "other")), check)
    assert named(garage) == {} and [file.name for file in tmp_path.iterdir()] == ["odd"]


def test_two_credentials_in_one_place_are_refused():
    params = {"keys": [{"name": "a", "store": {"path": "/a"}}, {"name": "b", "store": {"secret": "s", "namespace": "n"}},
                       {"name": "c", "store": {"secret": "s", "namespace": "n"}}],
              "admin_tokens": [{"name": "t", "scope": [], "store": {"path": "/a"}}]}
    with pytest.raises(InputError) as caught:
        TenancySpec.from_params(params)
    assert caught.value.faults == ("keys[2].store: 'Secret n/s' is already declared at keys[1].store",
                                   "admin_tokens[0].store.path: '/a' is already declared at keys[0].store.path")


@pytest.mark.requirement("TD-42")
def test_a_run_that_breaks_off_anywhere_is_finished_by_the_next(tmp_path):
    def broken_off(garage, folder, until):
        power = token_runs.Power(until)
        cut_off(lambda: run(garage, {**options(entry(folder), entry(folder, "other")), "max_in_flight": 1}, power=power), power)
        return power.points

    def folder(name):
        (tmp_path / name).mkdir()
        return tmp_path / name

    total = broken_off(FakeGarage(seed=7), folder("whole"), None)
    assert total > 20
    for number in range(total):
        garage, place = FakeGarage(seed=7), folder(str(number))
        broken_off(garage, place, number)
        run(garage, options(entry(place), entry(place, "other")))
        in_order(garage, place, "app", "other")
        assert len(named(garage)) == 2


@pytest.mark.requirement("FC-068")
def test_a_rotation_that_broke_off_anywhere_costs_no_access_and_a_purge_takes_nothing_of_it(tmp_path):
    document = {"owner": {"prefix": "app"}, "purge_keys": True}
    number, finished = 0, False
    while not finished:
        garage, folder = FakeGarage(seed=3), tmp_path / str(number)
        folder.mkdir()
        run(garage, options(entry(folder)))
        old = named(garage)["app"].id
        power = token_runs.Power(number)
        finished = cut_off(lambda garage=garage, folder=folder, power=power: key_run(garage, entry(folder, rotate=True), power), power)
        before = {row.id for row in garage.state.keys.values() if not row.deleted}
        run(garage, options(entry(folder), **document))
        assert {row.id for row in garage.state.keys.values() if not row.deleted} == before >= {old}
        assert json.loads((folder / "app").read_text())["access-key-id"] == named(garage)["app"].id
        key_run(garage, entry(folder))
        assert set(named(garage)) <= {"app", "app (replaced)"} and len(before) == len(named(garage))
        run(garage, options(entry(folder, state="absent"), **document))
        assert named(garage) == {}
        number += 1
    assert number > 15
