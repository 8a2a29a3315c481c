# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold for every value: normal forms are stable, both directions of a translation fit, and our rules are the server's."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils import _translate as translate
from ansible_collections.s3ops.garage.plugins.module_utils._models.bucket import Bucket
from ansible_collections.s3ops.garage.plugins.module_utils._names import bucket_name_fault, key_id_fault, secret_key_fault
from ansible_collections.s3ops.garage.plugins.module_utils._units import format_timestamp, normal_timestamp, parse_timestamp
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tests.fakes.garage import FakeGarage
from tests.fakes.garage.bodies import moment
from tests.fakes.garage.state import show_time

WORD = st.text("ab/*é ", max_size=3)
NAMES = st.one_of(st.text("abz019.-", max_size=66), st.text(max_size=8), st.sampled_from(("1.2.3.4", "::1", "a-s3alias", "a..b")))
MAYBE_DAYS = st.one_of(st.none(), st.integers(1, 4000))
MAYBE_SIZE = st.one_of(st.none(), st.integers(0, 2**62), st.sampled_from(("1M", "1GiB", "0")))


def options(**members: st.SearchStrategy) -> st.SearchStrategy[dict]:
    """What a user writes: any of the members, or none of them, which Ansible fills up with null."""
    return st.fixed_dictionaries({name: st.one_of(st.none(), member) for name, member in members.items()})


USER_CORS = options(id=WORD, allowed_headers=st.lists(st.sampled_from(("*", "X-A", "x-a"))), max_age_seconds=st.integers(0, 2**40),
                    expose_headers=st.lists(st.sampled_from(("ETag", "*"))),
                    allowed_origins=st.lists(WORD, min_size=1), allowed_methods=st.lists(st.sampled_from(("GET", "PUT", "HEAD")), min_size=1))
USER_LIFECYCLE = options(id=st.text("ab", min_size=1, max_size=2), status=st.sampled_from(("enabled", "disabled")), prefix=WORD,
                         object_size_greater_than=MAYBE_SIZE, object_size_less_than=MAYBE_SIZE, expiration_days=MAYBE_DAYS,
                         expiration_date=st.dates().map(str), abort_incomplete_multipart_upload_days=MAYBE_DAYS)
USER_ROUTING = options(
    condition=options(key_prefix_equals=WORD, http_error_code_returned_equals=st.sampled_from((404, 500))),
    redirect=options(host_name=WORD, protocol=st.sampled_from(("http", "https")), replace_key_prefix_with=WORD, replace_key_with=WORD,
                     http_redirect_code=st.sampled_from((200, 301, 302, 404, 307))))
KINDS = {"corsRules": ("cors", USER_CORS), "lifecycleRules": ("lifecycle", USER_LIFECYCLE), "routingRules": ("routing", USER_ROUTING)}

every_rule = pytest.mark.parametrize("field", KINDS)


def functions(field: str) -> tuple[Callable, Callable, Callable]:
    stem = KINDS[field][0]
    return tuple(getattr(translate, f"{stem}_{part}") for part in ("rule", "to_api", "from_api"))


def stored(field: str, rules: list[dict]) -> tuple[int, Any]:
    """What the server says to rules on the wire: the status, and the rules as it reads them back."""
    garage = FakeGarage()
    dummy, bucket = garage.handle("POST", "/v2/CreateBucket", body={"globalAlias": "media"})
    body = {"websiteAccess": {"enabled": True, "indexDocument": "i", field: rules}} if field == "routingRules" else {field: rules}
    status, shown = garage.handle("POST", "/v2/UpdateBucket", {"id": bucket["id"]}, body)
    return status, (shown["websiteConfig"] if field == "routingRules" else shown).get(field, []) if status == 200 else shown["message"]


@every_rule
@given(data=st.data())
def test_a_rule_that_is_taken_comes_back_from_the_server_as_it_went(field: str, data: st.DataObject) -> None:
    normalise, to_api, from_api = functions(field)
    try:
        normal = normalise(data.draw(KINDS[field][1]))
    except ValueError:
        return
    assert normalise(normal) == normal
    assert from_api(to_api(normal)) == normal
    status, shown = stored(field, [to_api(normal)])
    assert status == 200, shown
    assert [from_api(rule) for rule in shown] == [normal]


API_CORS = st.fixed_dictionaries(
    {"AllowedOrigin": st.lists(WORD), "AllowedMethod": st.lists(st.sampled_from(("GET", "get", "FLY")))},
    optional={"ID": WORD, "MaxAgeSeconds": st.integers(-1, 9), "AllowedHeader": st.lists(st.just("*")), "ExposeHeader": st.lists(st.just("*"))})
CONDITIONS = st.fixed_dictionaries({}, optional={"Prefix": WORD, "ObjectSizeGreaterThan": st.integers(0, 9), "ObjectSizeLessThan": st.integers(0, 9)})
API_LIFECYCLE = st.fixed_dictionaries({"Status": st.sampled_from(("Enabled", "Disabled"))}, optional={
    "ID": WORD, "Filter": st.one_of(CONDITIONS, st.fixed_dictionaries({"And": CONDITIONS})),
    "Expiration": st.one_of(st.fixed_dictionaries({"Days": st.integers(-1, 3)}), st.fixed_dictionaries({
        "Date": st.sampled_from(("2030-01-31", "2030-01-31T00:00:00Z"))})),
    "AbortIncompleteMultipartUpload": st.fixed_dictionaries({"DaysAfterInitiation": st.integers(0, 3)})})
API_ROUTING = st.fixed_dictionaries(
    {"Redirect": st.fixed_dictionaries({}, optional={"HostName": WORD, "ReplaceKeyWith": WORD, "HttpRedirectCode": st.sampled_from((301, 302))})},
    optional={"Condition": st.fixed_dictionaries({}, optional={"KeyPrefixEquals": WORD, "HttpErrorCodeReturnedEquals": st.just(404)})})


@pytest.mark.parametrize(("field", "rules"), [("corsRules", API_CORS), ("lifecycleRules", API_LIFECYCLE), ("routingRules", API_ROUTING)])
@given(data=st.data())
def test_whatever_others_stored_is_read_and_could_be_written_again(field: str, rules: st.SearchStrategy[dict], data: st.DataObject) -> None:
    to_api, from_api = functions(field)[1:]
    status, shown = stored(field, [data.draw(rules)])
    assume(status == 200)
    read = [from_api(rule) for rule in shown]
    status, again = stored(field, [to_api(rule) for rule in read])
    assert status == 200, again
    assert [from_api(rule) for rule in again] == read


@given(st.lists(st.sampled_from(("b", "a", "c")), unique=True), st.permutations(range(4)))
def test_the_order_in_which_the_server_tells_keys_and_rules_does_not_matter(aliases: list[str], order: list[int]) -> None:
    keys = [{"accessKeyId": f"GK{number}", "name": "n", "permissions": {"read": True}, "bucketLocalAliases": aliases} for number in range(4)]
    rules = [{"ID": f"r{number}", "Status": "Enabled"} for number in range(4)]
    one = Bucket.from_api({"id": "x", "globalAliases": sorted(aliases), "keys": keys, "lifecycleRules": rules})
    other = Bucket.from_api({"id": "x", "globalAliases": aliases, "keys": [keys[number] for number in order],
                             "lifecycleRules": [rules[number] for number in order]})
    assert one == other


@given(NAMES)
@example("a" * 63)
@example("a" * 64)
def test_a_bucket_name_is_refused_here_if_and_only_if_the_server_would(name: str) -> None:
    garage = FakeGarage()
    taken = garage.handle("POST", "/v2/CreateBucket", body={"globalAlias": name})[0] == 200
    # Whether punycode is taken is a setting of the server, which nobody can ask for.
    assert taken == (bucket_name_fault(name) is None) or "xn--" in name


@given(st.one_of(st.text("GKab09._- é", max_size=12), st.text(max_size=10)), st.one_of(st.text("ab!~ é", min_size=12, max_size=20), st.text()))
def test_a_key_is_refused_here_if_and_only_if_the_server_would(key_id: str, secret: str) -> None:
    status, dummy = FakeGarage().handle("POST", "/v2/ImportKey", body={"accessKeyId": key_id, "secretAccessKey": secret})
    assert (status == 200) == (key_id_fault(key_id) is None and secret_key_fault(secret) is None)


@given(st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(9000, 1, 1)), st.integers(-14 * 60, 14 * 60))
def test_a_date_is_the_same_however_it_is_written(date: datetime, offset: int) -> None:
    written = date.replace(tzinfo=timezone(timedelta(minutes=offset))).isoformat()
    ours = format_timestamp(parse_timestamp(written))
    assert format_timestamp(parse_timestamp(ours)) == ours
    assert normal_timestamp(show_time(moment(written))) == ours == normal_timestamp(ours)
