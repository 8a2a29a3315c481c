# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster read into a document: applied back it changes nothing, whatever the cluster holds."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from ansible.plugins.filter.core import to_nice_yaml
from hypothesis import event, given, settings
from hypothesis import strategies as st

from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._models.admin_token import AdminToken
from ansible_collections.s3ops.garage.plugins.module_utils._models.bucket import Bucket, BucketGrant, Website
from ansible_collections.s3ops.garage.plugins.module_utils._models.export import Export, Live, export
from ansible_collections.s3ops.garage.plugins.module_utils._models.key import Key
from ansible_collections.s3ops.garage.plugins.module_utils._readers.export import read_all
from ansible_collections.s3ops.garage.plugins.module_utils._site.document import site_faults
from tests.fakes.garage import FakeGarage, FakeTransport
from tests.unit.property_kinds import TENANCY_KIND, attempt
from tests.unit.property_worlds import BUCKET, IMPORTED, KEY, SECRETS, VERSIONS, World, secrets_of, visible, worlds

ID, OTHER = "a" * 64, "b" * 64
UNLIMITED = {"max_size": "unlimited", "max_objects": "unlimited"}
SITE = {"name": "paris", "zone": "paris", "connect_to": {"api_url": "http://127.0.0.1:3903", "api_token_file": "/etc/garage/token"}}

# What a server takes and the modules do not, or what must not be read as a variable.
_ODD_NAMES = ("", "{{ lookup('pipe', 'id') }}", "{% if x %}", "no", "2030-01-01", "tab\tand\nline", IMPORTED[0])
_ODD_SCOPES = ([], ["NoSuchCall"], ["*", "ListBuckets"], ["{{ x }}"], ["ListKeys", "ListBuckets", "ListKeys"])
_ODD_SETTINGS = (
    {"corsRules": [{"AllowedOrigin": ["*"], "AllowedMethod": ["get"]}]},
    {"corsRules": [{"AllowedOrigin": [], "AllowedMethod": ["GET"]}]},
    {"corsRules": [{"AllowedOrigin": [""], "AllowedMethod": ["GET"]}]},
    {"corsRules": [{"ID": "{{ x }}", "AllowedOrigin": ["*"], "AllowedMethod": ["GET"]}]},
    {"corsRules": [{"AllowedOrigin": ["*"], "AllowedMethod": ["GET"], "MaxAgeSeconds": -1}]},
    {"lifecycleRules": [{"ID": "twice", "Status": "Enabled", "Expiration": {"Days": days}} for days in (1, 2)]},
    {"lifecycleRules": [{"ID": "zero", "Status": "Enabled", "Expiration": {"Days": 0}}]},
    {"lifecycleRules": [{"ID": "date", "Status": "Enabled", "Expiration": {"Date": "2040-01-01T00:00:00Z"},
                         "Filter": {"And": {"ObjectSizeGreaterThan": 2**40, "Prefix": "2030-01-01"}}}]},
    {"lifecycleRules": [{"ID": "less", "Status": "Enabled", "Expiration": {"Days": 1}, "Filter": {"ObjectSizeLessThan": -1}}]},
    {"websiteAccess": {"enabled": True, "indexDocument": "", "errorDocument": "{# x #}"}},
    {"websiteAccess": {"enabled": True, "indexDocument": "i", "routingRules": [{"Redirect": {"HttpRedirectCode": 404, "ReplaceKeyWith": ""}}]}},
    {"websiteAccess": {"enabled": True, "indexDocument": "i", "routingRules": [{"Redirect": {"ReplaceKeyWith": "{{ x }}"}}]}},
    {"quotas": {"maxSize": 2**64 - 1, "maxObjects": 2**64 - 1}},
)
_ODD_MOVE = st.one_of(
    st.tuples(st.just("CreateKey"), st.none(), st.builds(
        lambda name, date: {"name": name, "expiration": date}, st.sampled_from(_ODD_NAMES), st.sampled_from((None, "1969-12-31T00:00:00Z")))),
    st.tuples(st.just("UpdateBucket"), st.fixed_dictionaries({"id": BUCKET}), st.sampled_from(_ODD_SETTINGS)),
    st.tuples(st.just("AllowBucketKey"), st.none(), st.fixed_dictionaries({
        "bucketId": BUCKET, "accessKeyId": KEY, "permissions": st.just({"read": True})})),
    st.tuples(st.just("CreateAdminToken"), st.none(), st.builds(
        lambda name, scope, date: {"name": name, "scope": scope, "expiration": date},
        st.sampled_from(_ODD_NAMES), st.sampled_from(_ODD_SCOPES), st.sampled_from((None, "1969-12-31T00:00:00Z")))),
)


@st.composite
def odd_worlds(draw: st.DrawFn, versions: tuple[str, ...] = VERSIONS) -> World:
    """Worlds in which somebody did odd things as well."""
    world = draw(worlds(versions))
    return World(world.version, (*world.moves, *draw(st.lists(_ODD_MOVE, max_size=5))))


def read(garage: FakeGarage, prefix: str = "") -> tuple[Export, FakeTransport]:
    transport = FakeTransport(garage)
    return export(read_all(Client(transport, retry_delay=0)), prefix), transport


@given(world=odd_worlds(), old_alias=st.booleans(), prefix=st.sampled_from(("", "", "b", "app")))
@settings(max_examples=150)
def test_applied_back_it_changes_nothing(world: World, old_alias: bool, prefix: str) -> None:
    garage = world.build()
    if old_alias and garage.state.buckets:
        next(iter(garage.state.buckets.values())).aliases.add("Old_Name")
    before = visible(garage)
    found, transport = read(garage, prefix)
    assert transport.writes == []
    # As it comes back from a file; a date or a word that YAML takes for something else would be another value.
    document = yaml.safe_load(to_nice_yaml(found.document, sort_keys=False))
    assert document == found.document
    event(f"{len(found.notes)} notes")
    run = attempt(TENANCY_KIND, garage, document)
    assert run.error is None, run.error
    assert (run.outcome.plan.calls, run.transport.writes) == ((), [])
    assert visible(garage) == before
    assert site_faults({**SITE, "tenancy": document}, {}) == []
    assert [secret for secret in {*SECRETS, *secrets_of(garage)} if secret in repr(found)] == []
    if not prefix:
        assert {row["id"] for row in document["keys"]} == {key.id for key in garage.state.live_keys()}
        assert {row["id"] for row in document["buckets"]} == set(garage.state.buckets)
        assert {row["id"] for row in document["admin_tokens"]} == set(garage.state.tokens)


@pytest.mark.parametrize("settings", _ODD_SETTINGS, ids=str)
@pytest.mark.parametrize("name", _ODD_NAMES)
def test_each_odd_thing_alone_changes_nothing(settings: dict, name: str) -> None:
    garage = FakeGarage()
    for endpoint, body in (("CreateBucket", {"globalAlias": "media"}), ("CreateKey", {"name": name})):
        assert garage.handle("POST", f"/v2/{endpoint}", None, body)[0] == 200
    bucket_id = next(iter(garage.state.buckets))
    assert garage.handle("POST", "/v2/UpdateBucket", {"id": bucket_id}, settings)[0] == 200
    found, dummy = read(garage)
    run = attempt(TENANCY_KIND, garage, found.document)
    assert (run.error, run.outcome and run.outcome.plan.calls) == (None, ())
    assert site_faults({**SITE, "tenancy": found.document}, {}) == []


@given(world=worlds(("2.5.0",)))
@settings(max_examples=60)
def test_what_is_told_is_what_is_there(world: World) -> None:
    """Another cluster, given the document without its ids, becomes alike; so nothing that can be declared is missing from it."""
    garage = world.build()
    found, dummy = read(garage)
    names = [key.name for key in garage.state.live_keys()]
    if found.notes or len(set(names)) < len(names) or any("name" not in row for row in found.document["buckets"]):
        event("cannot be told by names alone")
        return
    document = json.loads(json.dumps(found.document))
    # A copy has no tokens that could be taken over, and their secrets would have no place there.
    del document["admin_tokens"]
    for row in [*document["keys"], *document["buckets"]]:
        del row["id"]
    copy = FakeGarage()
    assert attempt(TENANCY_KIND, copy, document).error is None
    again, dummy = read(copy)
    assert without_ids(again.document) == without_ids({**found.document, "admin_tokens": []})


def without_ids(document: dict) -> dict:
    """Grants and local aliases stand in the order of their keys' ids, which are others on another cluster."""
    return {what: [{name: sorted(value, key=str) if name in ("grants", "local_aliases") else value for name, value in row.items() if name != "id"}
                   for row in rows] for what, rows in document.items()}


@pytest.mark.parametrize(("version", "requests"), [("2.5.0", ["ListKeysInfo", "ListBucketsInfo", "ListAdminTokens"]), ("2.4.1", [
    "ListKeysInfo", "ListKeys", "GetKeyInfo", "GetKeyInfo", "ListBucketsInfo", "ListBuckets", "GetBucketInfo", "GetBucketInfo", "ListAdminTokens"])])
def test_one_request_a_kind_is_enough_where_the_server_can(version: str, requests: list[str]) -> None:
    garage = FakeGarage(version=version)
    for name in ("one", "two"):
        garage.handle("POST", "/v2/CreateBucket", None, {"globalAlias": name})
        garage.handle("POST", "/v2/CreateKey", None, {"name": name})
    found, transport = read(garage)
    assert [sent.endpoint for sent in transport.sent] == requests
    assert [row["name"] for row in found.document["buckets"]] == ["one", "two"]


def test_local_aliases_that_only_the_list_shows_are_read() -> None:
    """Garage 2.1.0 to 2.3.0 leaves them out of GetBucketInfo when the key has no rights."""
    garage = FakeGarage(version="2.3.0")
    dummy, key = garage.handle("POST", "/v2/CreateKey", None, {"name": "app"})
    dummy, bucket = garage.handle("POST", "/v2/CreateBucket", None, {"localAlias": {"accessKeyId": key["accessKeyId"], "alias": "mine"}})
    found, dummy = read(garage)
    [row] = found.document["buckets"]
    assert (row["id"], row["local_aliases"], "name" in row) == (bucket["id"], [{"key": "app", "alias": "mine"}], False)


def one(bucket: Bucket, *keys: Key, complete: bool = True, prefix: str = "") -> tuple[dict[str, Any], tuple[str, ...]]:
    found = export(Live(keys, (bucket,), complete), prefix)
    [row] = found.document["buckets"]
    return row, found.notes


def test_everything_of_a_bucket() -> None:
    cors = {"id": None, "allowed_origins": ["*"], "allowed_methods": ["GET"], "allowed_headers": [], "expose_headers": [], "max_age_seconds": 0}
    expire = {"id": "old", "status": "enabled", "prefix": "tmp/", "object_size_greater_than": None, "object_size_less_than": 5,
              "expiration_days": 7, "expiration_date": None, "abort_incomplete_multipart_upload_days": None}
    moved = {"condition": {"key_prefix_equals": "a/", "http_error_code_returned_equals": None},
             "redirect": {"host_name": None, "protocol": None, "http_redirect_code": 302, "replace_key_prefix_with": "", "replace_key_with": None}}
    row, notes = one(
        Bucket(ID, aliases=("media", "pictures"), website=Website("index.html", "404.html", (moved,)), max_size=0, cors_rules=(cors,),
               lifecycle_rules=(expire,), grants=(BucketGrant("GK1", "app", read=True), BucketGrant("GK2", "twin", owner=True)),
               local_aliases=(("GK1", "mine"),)),
        Key("GK1", "app"), Key("GK2", "twin"), Key("GK3", "twin"))
    assert notes == ()
    assert row == {
        "name": "media", "id": ID, "aliases": ["pictures"], "local_aliases": [{"key": "app", "alias": "mine"}],
        "quotas": {"max_size": 0, "max_objects": "unlimited"},
        "website": {"enabled": True, "index_document": "index.html", "error_document": "404.html", "routing_rules": [
            {"condition": {"key_prefix_equals": "a/"}, "redirect": {"http_redirect_code": 302, "replace_key_prefix_with": ""}}]},
        "cors_rules": [{"allowed_origins": ["*"], "allowed_methods": ["GET"], "max_age_seconds": 0}],
        "lifecycle_rules": [{"id": "old", "status": "enabled", "prefix": "tmp/", "object_size_less_than": 5, "expiration_days": 7}],
        "grants": [{"key": "app", "read": True, "write": False, "owner": False}, {"key_id": "GK2", "read": False, "write": False, "owner": True}],
    }


def test_a_plain_bucket_says_little() -> None:
    assert one(Bucket(ID, aliases=("media",))) == ({
        "name": "media", "id": ID, "quotas": UNLIMITED, "website": {"enabled": False}, "grants": []}, ())


def test_what_cannot_be_declared_is_left_out_and_told() -> None:
    empty = {"id": "none", "status": "enabled", "prefix": None, "object_size_greater_than": None, "object_size_less_than": None,
             "expiration_days": None, "expiration_date": None, "abort_incomplete_multipart_upload_days": None}
    row, notes = one(Bucket(ID, aliases=("Old_Name", "media"), lifecycle_rules=(empty,), website=Website("{{ x }}"),
                            grants=(BucketGrant("GKgone", "", read=True),), local_aliases=(("GK1", "UPPER"),)), Key("GK1", "app"))
    assert row == {"name": "media", "id": ID, "quotas": UNLIMITED, "website": {"enabled": True}, "grants": []}
    assert [note.split(":")[1].strip() for note in notes] == [
        "the alias 'Old_Name'", "the local alias 'UPPER'", "index document", "lifecycle rules", "the grant of access key GKgone"]
    assert all(note.startswith("bucket Old_Name: ") and ": left out, because " in note for note in notes)


def test_a_rule_that_would_be_written_in_another_form_is_left_out() -> None:
    rule = {"id": None, "allowed_origins": ["*"], "allowed_methods": ["PUT", "GET"], "allowed_headers": [], "expose_headers": [],
            "max_age_seconds": None}
    row, notes = one(Bucket(ID, aliases=("media",), cors_rules=(rule,)))
    assert ("cors_rules" in row, notes) == (False, ("bucket media: CORS rules: left out, because the modules would write them in another form",))


def test_a_key_that_a_cut_list_lacks_is_told_by_its_id() -> None:
    row, notes = one(Bucket(ID, grants=(BucketGrant("GK9", "app", read=True),)), complete=False)
    assert (row["grants"], notes) == ([{"key_id": "GK9", "read": True, "write": False, "owner": False}], ())


def test_keys_are_told_by_name_and_id_or_by_id_alone() -> None:
    found = export(Live((Key("GK1", "twin"), Key("GK2", "twin"), Key("GK3", "GK1"), Key("GK4", ""), Key("GK5", "{{ x }}"),
                         Key("GK6", "app", expiration="2001-01-01T00:00:00Z", expired=True, allow_create_bucket=True),
                         Key("GK7", "old", expiration="1969-12-31T00:00:00Z"))))
    assert found.document["keys"] == [
        {"name": "app", "id": "GK6", "expiration": "2001-01-01T00:00:00Z", "allow_create_bucket": True}, {"name": "old", "id": "GK7"},
        *({"id": key_id, "expiration": "never"} for key_id in ("GK1", "GK2", "GK3", "GK4", "GK5"))]
    [note] = found.notes
    assert note.startswith("access key GK7: the expiration: left out, because") and "before 1970" in note


def test_a_prefix_takes_keys_and_buckets_of_that_name() -> None:
    buckets = (Bucket(ID, aliases=("a", "b-x")), Bucket(OTHER), Bucket("c" * 64, aliases=("a",)))
    found = export(Live((Key("GK1", "app"), Key("GK2", "b-app")), buckets), prefix="b-")
    assert ([row["id"] for row in found.document["keys"]], [row["id"] for row in found.document["buckets"]]) == (["GK2"], [ID])


def test_tokens_are_told_by_name_and_id_or_by_id_alone_and_never_a_store() -> None:
    tokens = (AdminToken("a" * 24, "twin", scope=("*",)), AdminToken("b" * 24, "twin"), AdminToken("c" * 24, " "), AdminToken("d" * 24, "{{ x }}"),
              AdminToken("e" * 24, "ci", expiration="2030-01-01T00:00:00Z", scope=("ListBuckets", "ListKeys")),
              AdminToken("f" * 24, "odd", expiration="1969-12-31T00:00:00Z", scope=("*", "NoSuchCall")))
    found = export(Live(tokens=tokens))
    never = {"expiration": "never"}
    assert found.document["admin_tokens"] == [
        {"name": "ci", "id": "e" * 24, "scope": ["ListBuckets", "ListKeys"], "expiration": "2030-01-01T00:00:00Z"}, {"name": "odd", "id": "f" * 24},
        {"id": "a" * 24, "scope": ["*"], **never}, *({"id": letter * 24, "scope": [], **never} for letter in "bcd")]
    assert [note.partition(": left out")[0] for note in found.notes] == [f"admin token {'f' * 24}: the scope", f"admin token {'f' * 24}: the expiration"]
    assert [row["name"] for row in export(Live(tokens=tokens), prefix="c").document["admin_tokens"]] == ["ci"]


@pytest.mark.requirement("GS-05")
def test_tokens_of_the_configuration_are_not_in_it() -> None:
    found, dummy = read(FakeGarage())
    assert found.document == {"keys": [], "buckets": [], "admin_tokens": []}


def test_tokens_that_may_not_be_listed_are_left_out_and_told() -> None:
    garage = FakeGarage()
    dummy, row = garage.handle("POST", "/v2/CreateAdminToken", None, {"name": "reader", "scope": ["ListKeysInfo", "ListBucketsInfo"]})
    client = Client(FakeTransport(garage, row["secretToken"]), retry_delay=0)
    assert export(read_all(client)).document == {"keys": [], "buckets": []}
    assert [text for text in client.warnings if text.startswith("admin tokens are left out") and "ListAdminTokens" in text]
