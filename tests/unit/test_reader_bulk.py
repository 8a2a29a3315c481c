# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reading all keys and buckets in a few requests, and what takes the place of that where the server, the token or the moment does not allow it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils._errors import Denied, NotAdminApi, NotFound, PlanError, ServerFault, TransportError, Unavailable
from ansible_collections.s3ops.garage.plugins.module_utils._executor import Doubt, converge
from ansible_collections.s3ops.garage.plugins.module_utils._models.tenancy import TenancySpec
from ansible_collections.s3ops.garage.plugins.module_utils._plan import Call
from ansible_collections.s3ops.garage.plugins.module_utils._planners.tenancy import plan_tenancy
from ansible_collections.s3ops.garage.plugins.module_utils._readers import bulk
from ansible_collections.s3ops.garage.plugins.module_utils._readers import tenancy as reader
from ansible_collections.s3ops.garage.plugins.module_utils._readers.bulk import list_bucket_infos, list_key_infos
from ansible_collections.s3ops.garage.plugins.module_utils._readers.tenancy import read_tenancy
from ansible_collections.s3ops.garage.plugins.modules import bucket
from tests.fakes.garage import FakeGarage
from tests.unit.tenancy_runs import Wire, options, run

GONE = NotFound("404", status=404, code="NoSuchBucket", endpoint="ListBucketsInfo")
KINDS = [(list_bucket_infos, "ListBucketsInfo", "id"), (list_key_infos, "ListKeysInfo", "accessKeyId")]


class Scripted:
    """A client whose answers are written down: what is an exception is raised."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def call(self, endpoint, query=None, body=None):
        self.asked.append((endpoint, query))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def rows(id_field, *numbers):
    return [{id_field: f"{number:064x}"} for number in numbers]


# pages

@pytest.mark.parametrize(("read", "endpoint", "id_field"), KINDS)
def test_one_page_is_one_request_and_asks_for_more_than_the_default_of_the_server(read, endpoint, id_field):
    client = Scripted(rows(id_field, 1, 2))
    assert read(client) == rows(id_field, 1, 2)
    # The default limit is 1,000 rows, and nothing in the answer tells of more.
    assert client.asked == [(endpoint, {"limit": 5001})]


@pytest.mark.parametrize(("read", "endpoint", "id_field"), KINDS)
@pytest.mark.parametrize("total", range(8))
def test_all_pages_are_read_and_no_row_twice(monkeypatch, read, endpoint, id_field, total):
    monkeypatch.setattr(bulk, "_PAGE", 2)
    garage = FakeGarage()
    for number in range(total):
        call, body = ("CreateBucket", {"globalAlias": f"bucket{number}"}) if id_field == "id" else ("CreateKey", {"name": f"key{number}"})
        assert garage.handle("POST", f"/v2/{call}", body=body)[0] == 200
    wire = Wire(garage)
    found = [row[id_field] for row in read(wire.client())]
    assert found == sorted(garage.state.buckets if id_field == "id" else garage.state.keys)
    assert len(wire.sent) == max(1, (total + 1) // 2)
    assert [sent.query["offset"] for sent in wire.sent[1:]] == found[2::2]
    assert {sent.query["limit"] for sent in wire.sent} == {3}


def test_a_page_is_asked_for_anew_when_its_first_row_went_meanwhile(monkeypatch):
    monkeypatch.setattr(bulk, "_PAGE", 2)
    garage = FakeGarage()
    for number in range(6):
        garage.handle("POST", "/v2/CreateBucket", body={"globalAlias": f"bucket{number}"})
    ids = sorted(garage.state.buckets)
    wire = Wire(garage, before=lambda number: garage.state.buckets.pop(ids[2], None) if number == 1 else None)
    assert [row["id"] for row in list_bucket_infos(wire.client())] == [ids[0], ids[1], *ids[3:]]


# what goes wrong

@pytest.mark.parametrize("failures", [1, 2])
def test_a_bucket_that_vanishes_while_all_are_read_is_met_by_reading_again(failures):
    client = Scripted(*[GONE] * failures, rows("id", 1))
    assert list_bucket_infos(client) == rows("id", 1)
    assert client.asked == [("ListBucketsInfo", {"limit": 5001})] * (failures + 1)


def test_in_the_middle_only_the_page_that_failed_is_read_again(monkeypatch):
    monkeypatch.setattr(bulk, "_PAGE", 1)
    client = Scripted(rows("id", 1, 2), GONE, rows("id", 2))
    assert list_bucket_infos(client) == rows("id", 1, 2)
    assert [query.get("offset") for endpoint, query in client.asked] == [None, f"{2:064x}", f"{2:064x}"]


@pytest.mark.parametrize("answers", [
    [GONE] * 3,
    [rows("id", 1, 2), GONE, GONE, GONE],
    [GONE, rows("id", 1, 2), GONE, GONE],
    [NotAdminApi("Unknown API endpoint", status=400)],
    [Denied("403", status=403)],
    [rows("id", 1, 2), Denied("403", status=403)],
], ids=["vanish", "vanish later", "vanish now and then", "an old server", "a narrow token", "a token that expires"])
def test_what_cannot_be_read_at_once_is_never_read_in_part(monkeypatch, answers):
    monkeypatch.setattr(bulk, "_PAGE", 1)
    client = Scripted(*answers)
    assert list_bucket_infos(client) is None
    assert client.answers == []


@pytest.mark.parametrize("error", [TransportError("cut", sent=True), Unavailable("503", status=503), ServerFault("500", status=500)])
@pytest.mark.parametrize(("read", "endpoint", "id_field"), KINDS)
def test_any_other_failure_is_not_an_absence(error, read, endpoint, id_field):
    with pytest.raises(type(error)):
        read(Scripted(error))


# tenancies

def filled(version="2.5.0", total=12):
    """A Garage with as many buckets and keys, and a document that declares a change to each."""
    garage = FakeGarage(version)
    keys = [{"name": f"key{number}", "allow_create_bucket": bool(number % 2)} for number in range(total)]
    buckets = [{"name": f"bucket{number}", "grants": [{"key": f"key{number}", "read": True}]} for number in range(total)]
    run(garage, options(keys[::2], buckets[::2]))
    return garage, TenancySpec.from_params(options(keys, buckets))


def test_a_whole_tenancy_is_two_requests_where_the_server_can():
    garage, spec = filled()
    wire = Wire(garage)
    read_tenancy(wire.client(), spec)
    assert wire.endpoints == ["ListKeysInfo", "ListBucketsInfo"]


@pytest.mark.requirement("FC-055")
@pytest.mark.parametrize("total", [1, 1000])
def test_a_single_bucket_is_found_by_its_alias_however_many_there_are(total):
    garage = FakeGarage()
    for number in range(total):
        assert garage.handle("POST", "/v2/CreateBucket", None, {"globalAlias": f"bucket-{number}"})[0] == 200
    wire = Wire(garage)
    outcome = converge(bucket.build({"name": f"bucket-{total - 1}", "quotas": {"max_objects": "5"}}), wire.client())
    assert outcome.plan.changed and wire.endpoints == ["GetBucketInfo", "UpdateBucket", "GetBucketInfo"]


def test_a_small_tenancy_is_read_one_by_one():
    garage, spec = filled(total=3)
    wire = Wire(garage)
    read_tenancy(wire.client(), spec)
    assert wire.endpoints == ["ListKeys", "GetKeyInfo", "GetKeyInfo", "GetBucketInfo", "GetBucketInfo", "GetBucketInfo"]


@pytest.mark.parametrize("version", ["2.0.0", "2.3.0", "2.4.1"])
def test_an_older_server_is_asked_one_by_one_a_few_at_a_time(monkeypatch, version):
    garage, spec = filled(version)
    workers = []

    def pool(max_workers):
        workers.append(max_workers)
        return ThreadPoolExecutor(max_workers)

    monkeypatch.setattr(bulk, "ThreadPoolExecutor", pool)
    wire = Wire(garage, meet=4, where="GetBucketInfo")
    read_tenancy(wire.client(), spec)
    assert wire.most == 4 and set(workers) == {4}
    assert sorted(wire.endpoints) == sorted(["ListKeysInfo", "ListKeys", "ListBucketsInfo", *["GetBucketInfo"] * 12, *["GetKeyInfo"] * 6])


def test_a_token_without_the_bulk_calls_in_its_scope_reads_one_by_one():
    garage, spec = filled()
    scope = ["ListKeys", "GetKeyInfo", "GetBucketInfo"]
    status, made = garage.handle("POST", "/v2/CreateAdminToken", body={"name": "narrow", "scope": scope})
    assert status == 200
    wire = Wire(garage, token=made["secretToken"])
    read_tenancy(wire.client(), spec)
    assert set(wire.endpoints) == {"ListKeysInfo", "ListBucketsInfo", *scope}


def test_a_token_that_may_nothing_is_told_so():
    garage, spec = filled()
    with pytest.raises(Denied):
        read_tenancy(Wire(garage, token="wrong").client(), spec)


def test_a_list_that_fails_again_and_again_gives_way_to_single_reads():
    garage, spec = filled()
    plain = plan_tenancy(spec, read_tenancy(Wire(garage).client(), spec))
    wire = Wire(garage)
    client = wire.client()
    real, failed = client.call, []

    def call(endpoint, query=None, body=None):
        if endpoint == "ListBucketsInfo":
            failed.append(endpoint)
            raise GONE
        return real(endpoint, query, body)

    client.call = call
    assert plan_tenancy(spec, read_tenancy(client, spec)) == plain
    assert len(failed) == 3 and wire.endpoints.count("GetBucketInfo") == 12


@pytest.mark.parametrize("total", [1, 3, 12])
@pytest.mark.parametrize("prefix", [None, "bucket", "bucket1"])
def test_both_ways_of_reading_lead_to_the_same_plan(monkeypatch, total, prefix):
    garage, spec = filled(total=total)
    if prefix:
        spec = TenancySpec.from_params(options([], [], owner={"prefix": prefix}, purge_buckets=True))
    plans = []
    for bulk_from, bulk_call in ((1, True), (1000, False)):
        monkeypatch.setattr(reader, "_BULK_FROM", bulk_from)
        if not bulk_call:
            monkeypatch.setattr(reader, "list_bucket_infos", lambda client: None)
        plans.append(plan_tenancy(spec, read_tenancy(Wire(garage).client(), spec)))
    assert plans[0] == plans[1]
    assert [list(stage) for stage in plans[0].stages] == [list(stage) for stage in plans[1].stages]


def test_a_bucket_is_found_by_its_id_and_an_alias_by_its_owner_in_the_list_as_well(monkeypatch):
    garage, _spec = filled(total=4)
    taken = garage.bucket("bucket2").id
    spec = TenancySpec.from_params(options([], [{"id": garage.bucket("bucket0").id, "aliases": ["bucket2"]}, {"id": "0" * 64, "state": "absent"}]))
    for bulk_from in (1, 1000):
        monkeypatch.setattr(reader, "_BULK_FROM", bulk_from)
        first, second = read_tenancy(Wire(garage).client(), spec).buckets
        assert (first.bucket.aliases, first.alias_owners, second.bucket) == (("bucket0",), {"bucket2": taken}, None)


# what lost answers left behind

def doubts(garage, *aliases):
    return tuple(Doubt(Call("CreateBucket", f"create bucket {alias}", body={"globalAlias": alias}, binds=f"bucket {alias}"), garage.clock.now)
                 for alias in aliases)


@pytest.mark.requirement("GS-07")
@pytest.mark.parametrize("left", [0, 1, 2])
@pytest.mark.parametrize("bulk_from", [1, 1000])
def test_nameless_buckets_of_several_creates_go_to_one_each(monkeypatch, left, bulk_from):
    monkeypatch.setattr(reader, "_BULK_FROM", bulk_from)
    garage = FakeGarage()
    spec = TenancySpec.from_params(options([], [{"name": "aaa"}, {"name": "bbb"}, {"name": "ccc"}]))
    in_doubt = doubts(garage, "aaa", "ccc")
    orphans = [garage.handle("POST", "/v2/CreateBucket", body={})[1]["id"] for _number in range(left)]
    snapshots = read_tenancy(Wire(garage).client(), spec, in_doubt).buckets
    given = [snapshot.orphan.id for snapshot in snapshots if snapshot.orphan]
    assert sorted(given) == sorted(orphans)
    # None was in doubt of bbb, so none is given to it.
    assert snapshots[1].orphan is None


@pytest.mark.requirement("GS-07")
def test_more_nameless_buckets_than_creates_in_doubt_are_left_to_a_person():
    garage = FakeGarage()
    spec = TenancySpec.from_params(options([], [{"name": "aaa"}, {"name": "bbb"}]))
    in_doubt = doubts(garage, "aaa")
    for _number in range(2):
        garage.handle("POST", "/v2/CreateBucket", body={})
    with pytest.raises(PlanError, match="2 buckets without a name appeared"):
        read_tenancy(Wire(garage).client(), spec, in_doubt)


@pytest.mark.requirement("GS-07")
@pytest.mark.parametrize("total", [3, 9])
def test_a_run_whose_creates_were_all_cut_halfway_leaves_no_nameless_bucket(total):
    garage = FakeGarage()
    params = options([], [{"name": f"bucket{number}"} for number in range(total)], max_in_flight=3)
    wire = Wire(garage, meet=3, where="CreateBucket", halfway=3)
    outcome, _wire = run(garage, params, wire=wire)
    assert sorted(min(row.aliases, default="") for row in garage.state.buckets.values()) == sorted(f"bucket{number}" for number in range(total))
    assert [row["aliases"] for row in outcome.result["buckets"]] == [[f"bucket{number}"] for number in range(total)]
