# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Access keys that follow from the RPC secret, on a Garage in memory: the same everywhere, pinned, never made up, and after a deletion another one."""

from __future__ import annotations

import json

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils._errors import Conflict, InputError, PlanError, StoreChanged
from ansible_collections.s3ops.garage.plugins.module_utils._key_job import run_key
from ansible_collections.s3ops.garage.plugins.module_utils._models.derivation import derive_key, fingerprint
from ansible_collections.s3ops.garage.plugins.module_utils._models.key import KeySpec
from ansible_collections.s3ops.garage.plugins.module_utils._models.tenancy import TenancySpec
from ansible_collections.s3ops.garage.plugins.module_utils._tenancy_job import run_tenancy
from tests.fakes.garage import FakeGarage
from tests.unit.store_places import Place, cut_off
from tests.unit.token_runs import Context, Power

RPC, OTHER = "5a" * 32, "a5" * 32
APP = derive_key(RPC, "default/app")
# The same set of options as the site files of several sites have.
WANTED = {"derive": "default/app", "rpc_secret": RPC}


@pytest.fixture
def garage():
    return FakeGarage()


@pytest.fixture(params=["file", "Secret", "vault file", "KV engine"])
def place(request, tmp_path, secrets, kv):
    return Place(request.param, tmp_path, secrets, kv)


file_only = pytest.mark.parametrize("place", ["file"], indirect=True)


def run(garage, params, **more):
    context = Context(garage, **more)
    outcome, _beside = run_key(params, context)
    return outcome, context


def living(garage):
    return {row.id: row.name for row in garage.state.keys.values() if not row.deleted}


def delete(garage, key_id):
    assert garage.handle("POST", "/v2/DeleteKey", {"id": key_id})[0] == 200


def note_of(place):
    return dict(place.store.read().derivation)


@pytest.mark.requirement("MH-22")
def test_a_derived_key_is_made_shown_and_then_unchanged(garage):
    predicted, context = run(garage, WANTED, check=True)
    assert not context.wire.writes
    outcome, _context = run(garage, WANTED)
    assert outcome.result == {**predicted.result, "created": outcome.result["created"]}
    assert outcome.result["derivation"] == {"context": "default/app", "nonce": None, "rpc_fingerprint": fingerprint(RPC)}
    assert living(garage) == {APP.id: "app"} and garage.state.keys[APP.id].secret == APP.secret.value
    again, context = run(garage, WANTED)
    assert not again.plan.changed and not context.wire.writes
    assert RPC not in json.dumps(outcome.result) and APP.secret.value not in json.dumps(outcome.result)


@pytest.mark.requirement("MH-22")
def test_a_key_that_the_operator_made_is_found_again_and_keeps_its_name(garage):
    garage.handle("POST", "/v2/ImportKey", body={"accessKeyId": APP.id, "secretAccessKey": APP.secret.value, "name": "made by the operator"})
    outcome, context = run(garage, WANTED)
    assert not outcome.plan.changed and outcome.result["name"] == "made by the operator"
    outcome, _context = run(garage, {**WANTED, "name": "app", "allow_create_bucket": True})
    assert living(garage) == {APP.id: "app"} and garage.state.keys[APP.id].create_bucket


@pytest.mark.requirement("MH-22", "MH-23", "MH-24")
@pytest.mark.parametrize("check", [True, False])
def test_another_rpc_secret_than_that_of_the_pin_or_of_the_name_writes_nothing(garage, check):
    context = Context(garage, check=check)
    with pytest.raises(InputError, match="rpc_fingerprint: '.*' is that of another RPC secret") as error:
        run_key({**WANTED, "rpc_fingerprint": fingerprint(OTHER)}, context)
    assert not context.wire.sent and RPC not in str(error.value)
    run(garage, {**WANTED, "rpc_fingerprint": fingerprint(RPC)})
    context = Context(garage, check=check)
    with pytest.raises(PlanError, match=f"called 'app' has the id {APP.id}.*derived from another RPC secret"):
        run_key({**WANTED, "rpc_secret": OTHER}, context)
    assert not context.wire.writes and living(garage) == {APP.id: "app"}


@pytest.mark.requirement("MH-22", "MH-24")
@pytest.mark.parametrize("check", [True, False])
def test_a_store_pins_the_rpc_secret(garage, place, check):
    run(garage, {**WANTED, "store": place.option})
    assert note_of(place) == {"rpc_fingerprint": fingerprint(RPC)}
    assert not run(garage, {**WANTED, "store": place.option})[0].plan.changed
    context, before = Context(garage, check=check), place.store.read().data
    with pytest.raises(PlanError, match="derived from another RPC secret: its fingerprint is") as error:
        run_key({**WANTED, "rpc_secret": OTHER, "name": "other", "store": place.option}, context)
    assert not context.wire.writes and place.store.read().data == before
    assert OTHER not in error.value.message + error.value.hint


@file_only
@pytest.mark.requirement("MH-24")
def test_a_store_without_a_fingerprint_gets_one(garage, place):
    run(garage, {"id": APP.id, "secret_access_key": APP.secret.value, "name": "app", "store": place.option})
    assert note_of(place) == {}
    outcome, context = run(garage, {**WANTED, "store": place.option})
    assert outcome.plan.changed and not context.wire.writes and note_of(place) == {"rpc_fingerprint": fingerprint(RPC)}


@pytest.mark.requirement("GS-06", "MH-22")
def test_in_the_place_of_a_deleted_one_another_is_derived_and_kept(garage, place):
    wanted = {**WANTED, "store": place.option, "allow_create_bucket": True}
    run(garage, wanted)
    delete(garage, APP.id)
    outcome, context = run(garage, wanted)
    nonce = note_of(place)["nonce"]
    other = derive_key(RPC, "default/app", nonce)
    assert living(garage) == {other.id: "app"} and garage.state.keys[other.id].create_bucket
    assert outcome.result["derivation"]["nonce"] == nonce and other.id in json.dumps(dict(place.store.read().data))
    assert any("never takes" in text for client in context.clients for text in client.warnings)
    assert not run(garage, wanted)[0].plan.changed
    # Another site has no such store, and is told of the nonce.
    assert not run(garage, {**WANTED, "derive_nonce": nonce})[0].plan.changed
    with pytest.raises(PlanError, match="otherwise") as error:
        run_key(WANTED, Context(garage))
    assert "derive_nonce" in error.value.hint


@pytest.mark.requirement("GS-06")
@pytest.mark.parametrize("more", [{}, {"derive_nonce": "again"}])
def test_without_a_store_or_with_a_nonce_given_a_deleted_one_is_refused(garage, more, tmp_path):
    wanted = {**WANTED, **more, "store": {"path": str(tmp_path / "app")} if more else None}
    outcome, _context = run(garage, wanted)
    delete(garage, outcome.result["id"])
    with pytest.raises(Conflict) as error:
        run_key(wanted, Context(garage))
    assert "was deleted before" in error.value.message and "derive_nonce" in error.value.message
    assert living(garage) == {}
    run(garage, {**wanted, "derive_nonce": "once-more"})
    assert living(garage) == {derive_key(RPC, "default/app", "once-more").id: "app"}


@file_only
@pytest.mark.requirement("GS-06", "TD-42")
def test_wherever_a_run_breaks_off_there_is_one_key_in_the_end(garage, place, tmp_path):
    wanted = {**WANTED, "store": place.option}
    point, ended = 0, False
    while not ended:
        garage.state.keys.clear()
        place.clear()
        run(garage, wanted)
        delete(garage, APP.id)
        power = Power(point)
        ended = cut_off(lambda power=power: run_key(wanted, Context(garage, power=power)), power)
        run(garage, wanted)
        other = derive_key(RPC, "default/app", note_of(place)["nonce"])
        assert living(garage) == {other.id: "app"} and place.names == ["ci"]
        point += 1
    assert point > 10


@pytest.mark.requirement("FC-017", "MH-22")
@pytest.mark.parametrize("kind", ["key", "tenancy"])
def test_two_sites_that_make_it_at_the_same_time_agree(garage, kind):
    """The import of one arrives after that of the other, which was not there when it looked."""
    context = Context(garage)
    real = garage.handle

    def late(method, path, *arguments, **options):
        if path.endswith("ImportKey"):
            garage.handle = real
            real("POST", "/v2/ImportKey", body={"accessKeyId": APP.id, "secretAccessKey": APP.secret.value, "name": "app"})
        return real(method, path, *arguments, **options)

    garage.handle = late
    if kind == "key":
        run_key(WANTED, context)
    else:
        run_tenancy({"keys": [WANTED], "max_in_flight": 1, "on_error": "stop"}, context)
    assert living(garage) == {APP.id: "app"} and garage.handle is real


@pytest.mark.requirement("MH-25", "MH-26")
def test_without_an_rpc_secret_none_is_made_up_and_the_options_are_named():
    with pytest.raises(InputError, match="derive: needs rpc_secret or rpc_secret_file.*imported with id and secret_access_key"):
        KeySpec.from_params({"derive": "default/app"})
    assert KeySpec.from_params({"id": APP.id, "secret_access_key": APP.secret.value}).id == APP.id


@pytest.mark.requirement("MH-25", "TD-39")
@pytest.mark.parametrize(("more", "fault"), [
    ({"id": APP.id}, "derive: needs no id"),
    ({"secret_access_key": "0" * 64, "id": APP.id}, "derive: needs no secret_access_key"),
    ({"derive": None, "name": "app"}, "rpc_secret: is for derive"),
    ({"rpc_secret_file": "/x"}, "rpc_secret: give either this or rpc_secret_file"),
    ({"rpc_secret": "short"}, "rpc_secret: must be 64 hexadecimal digits"),
    ({"derive": "app"}, "must be namespace/name"),
    ({"derive_nonce": "a b"}, "derive_nonce: must consist of"),
    ({"rotate": True, "name": "app", "return_secret": True}, "rotate: a derived key is what it is"),
])
def test_options_that_contradict_each_other(more, fault):
    with pytest.raises(InputError) as error:
        KeySpec.from_params({**WANTED, **more})
    assert fault in str(error.value) and "short" not in str(error.value).replace(fault, "")


@pytest.mark.requirement("MH-25")
def test_the_rpc_secret_comes_from_a_file(garage, tmp_path):
    path = tmp_path / "rpc-secret"
    path.write_text(RPC + "\n")
    wanted = {"derive": "default/app", "rpc_secret_file": str(path)}
    run(garage, wanted)
    assert living(garage) == {APP.id: "app"}
    path.unlink()
    with pytest.raises(InputError, match="rpc_secret_file: .* cannot be read"):
        run_key(wanted, Context(garage))
    with pytest.raises(InputError, match=r"keys\[0\].rpc_secret_file: .* cannot be read"):
        run_tenancy({"keys": [wanted], "max_in_flight": 1, "on_error": "stop"}, Context(garage))
    # A site file is looked at where the file need not be.
    assert TenancySpec.from_params({"keys": [wanted]}).keys[0].derivation.context == "default/app"


@pytest.mark.requirement("MH-22")
def test_a_document_has_derived_keys_and_grants_by_their_names(garage):
    document = {"keys": [WANTED, {"derive": "storage/backup", "rpc_secret": RPC, "name": "nightly"}], "max_in_flight": 1, "on_error": "stop",
                "buckets": [{"name": "media", "grants": [{"key": "nightly", "read": True}]}]}
    outcome = run_tenancy(document, Context(garage))
    assert living(garage) == {APP.id: "app", derive_key(RPC, "storage/backup").id: "nightly"}
    assert [key["derivation"]["context"] for key in outcome.result["keys"]] == ["default/app", "storage/backup"]
    assert not run_tenancy(document, Context(garage)).plan.changed
    with pytest.raises(PlanError, match=r"keys\[0\]: .*derived from another RPC secret"):
        run_tenancy({**document, "keys": [{**WANTED, "rpc_secret": OTHER}]}, Context(garage))


@file_only
@pytest.mark.requirement("GS-06", "MH-22")
def test_a_document_tells_of_the_nonce_it_has_chosen_and_goes_on_with_it(garage, place):
    document = {"keys": [{**WANTED, "store": place.option}], "max_in_flight": 1, "on_error": "stop"}
    run_tenancy(document, Context(garage))
    delete(garage, APP.id)
    with pytest.raises(StoreChanged, match="another one was derived in its place") as error:
        run_tenancy(document, Context(garage))
    assert error.value.hint == "run this again" and living(garage) == {}
    run_tenancy(document, Context(garage))
    assert living(garage) == {derive_key(RPC, "default/app", note_of(place)["nonce"]).id: "app"}
    assert not run_tenancy(document, Context(garage)).plan.changed and place.names == ["ci"]


@pytest.mark.requirement("MH-22")
def test_a_derived_key_goes(garage, place):
    wanted = {**WANTED, "store": place.option, "credential_deletion_policy": "delete"}
    run(garage, wanted)
    run(garage, {**wanted, "state": "absent"})
    assert living(garage) == {} and place.names == []
