# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What property tests ask for: options of the declaring modules, and one way to run each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from hypothesis import strategies as st

from ansible_collections.s3ops.garage.plugins.module_utils._argspec import (
    bucket_settings_spec,
    grant_spec,
    key_spec,
    layout_spec,
    return_secret_spec,
    state_spec,
    tenancy_spec,
    wait_spec,
)
from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._errors import GarageError
from ansible_collections.s3ops.garage.plugins.module_utils._executor import Outcome, converge
from ansible_collections.s3ops.garage.plugins.module_utils._key_job import run_key
from ansible_collections.s3ops.garage.plugins.module_utils._layout_job import run_layout
from ansible_collections.s3ops.garage.plugins.module_utils._tenancy_job import run_tenancy
from ansible_collections.s3ops.garage.plugins.modules import bucket, grant
from tests.fakes.contexts import Context
from tests.fakes.garage import FakeGarage, FakeTransport, Fault
from tests.unit.property_worlds import (
    BUCKET,
    BUCKETS,
    DATES,
    IMPORTED,
    KEY,
    KEYS,
    NODES,
    SCOPES,
    SECRETS,
    TAGS,
    TOKEN,
    TOKENS,
    ZONES,
    Which,
    in_ids_of,
)


class Kind:
    """A declaring module: its argument spec, how it is run, and options that ask for something and for nothing."""

    def __init__(self, name: str, argument_spec: Mapping, run: Callable[[Client, Mapping, bool], Outcome], options: st.SearchStrategy[dict],
                 idle: st.SearchStrategy[dict]) -> None:
        self.name = name
        self.argument_spec = argument_spec
        self.run = run
        self.options = options
        self.idle = idle

    def __repr__(self) -> str:
        # A failing example is to be read by people.
        return self.name


@dataclass
class Attempt:
    """What came of one run: an outcome or an error, and all requests."""

    outcome: Outcome | None
    error: GarageError | None
    transport: FakeTransport
    client: Client

    @property
    def text(self) -> str:
        """Everything that a user could see of it."""
        parts: list = [self.client.warnings]
        if self.outcome:
            parts += [self.outcome.plan, self.outcome.plan.diff, self.outcome.result]
        if self.error:
            parts += [self.error, self.error.message, self.error.hint, self.error.data(), self.error.done, self.error.left]
        return "\n".join(map(repr, parts))


def attempt(kind: Kind, garage: FakeGarage, options: dict, check: bool = False, faults: Mapping[int, Fault] | None = None) -> Attempt:
    """Run the module once, from its options on."""
    transport = FakeTransport(garage, faults=faults)
    client = Client(transport, retry_delay=0)
    validated = ArgumentSpecValidator(kind.argument_spec).validate(in_ids_of(garage, options))
    assert not validated.error_messages, validated.error_messages
    try:
        return Attempt(kind.run(client, validated.validated_parameters, check), None, transport, client)
    except GarageError as error:
        return Attempt(None, error, transport, client)


def _some(**optional: st.SearchStrategy) -> st.SearchStrategy[dict]:
    return st.fixed_dictionaries({}, optional=optional)


def _both(first: st.SearchStrategy[dict], *others: st.SearchStrategy[dict]) -> st.SearchStrategy[dict]:
    return st.tuples(first, *others).map(lambda parts: {name: value for part in parts for name, value in part.items()})


_NAME = st.sampled_from(BUCKETS)
_KEY_NAME = st.sampled_from(KEYS)
_STATE = _some(state=st.sampled_from(("present", "present", "absent")))
_WEBSITE = st.one_of(
    st.just({"enabled": False}),
    _both(st.just({"enabled": True}), _some(
        index_document=st.sampled_from(("index.html", "i")), error_document=st.sampled_from(("", "e.html")),
        routing_rules=st.sampled_from(([], [{"redirect": {"host_name": "h", "protocol": "https", "http_redirect_code": 301}}],
                                       [{"condition": {"key_prefix_equals": "a/"}, "redirect": {"replace_key_prefix_with": ""}}])))))
_CORS = st.sampled_from(([], [{"allowed_origins": ["a", "b"], "allowed_methods": ["GET", "PUT"]}],
                         [{"id": "c", "allowed_origins": ["*"], "allowed_methods": ["HEAD"], "max_age_seconds": 0, "expose_headers": ["ETag"]}]))
_LIFECYCLE = st.sampled_from(([], [{"id": "z", "expiration_days": 30}], [
    {"id": "z", "prefix": "p", "object_size_less_than": "1M", "expiration_date": "2040-01-01"},
    {"id": "a", "status": "disabled", "prefix": "p", "abort_incomplete_multipart_upload_days": 7}]))
_GRANT_KEY = st.one_of(st.fixed_dictionaries({"key": _KEY_NAME}), st.fixed_dictionaries({"key_id": KEY}))
_LOCAL = _both(_GRANT_KEY, st.fixed_dictionaries({"alias": _NAME}))
_LOCAL_ALIASES = st.one_of(st.just({}), st.just({}), st.fixed_dictionaries(
    {"local_aliases": st.lists(_LOCAL, max_size=2, unique_by=str)}, optional={"purge_local_aliases": st.booleans()}))
_SETTINGS = _both(_LOCAL_ALIASES, _some(
    aliases=st.lists(_NAME, max_size=2), purge_aliases=st.booleans(), website=_WEBSITE, cors_rules=_CORS, lifecycle_rules=_LIFECYCLE,
    quotas=_some(max_size=st.sampled_from(("unlimited", "0", "1GiB", "40GB")), max_objects=st.sampled_from(("unlimited", "0", "5")))))
_BUCKET_ID = st.one_of(st.fixed_dictionaries({"name": _NAME}), st.fixed_dictionaries({"id": BUCKET}),
                       st.fixed_dictionaries({"name": _NAME, "id": BUCKET}))
_KEY_SETTINGS = _some(expiration=st.sampled_from(("never", *DATES, "2040-06-01T14:00:00.5+02:00")), allow_create_bucket=st.booleans())
_KEY_ID = st.one_of(
    st.fixed_dictionaries({"name": _KEY_NAME}), st.fixed_dictionaries({"id": KEY}), st.fixed_dictionaries({"name": _KEY_NAME, "id": KEY}),
    st.fixed_dictionaries({"id": st.sampled_from(IMPORTED), "secret_access_key": st.sampled_from(SECRETS)}, optional={"name": _KEY_NAME}))
_RIGHTS = st.one_of(_both(st.just({"read": True}), _some(write=st.booleans(), owner=st.booleans())), st.just({"write": True}),
                    st.just({"owner": True, "read": False}), st.just({"read": False, "write": True, "owner": False}))
_GRANT = _both(_GRANT_KEY, st.one_of(st.fixed_dictionaries({"bucket": _NAME}), st.fixed_dictionaries({"bucket_id": BUCKET})))
_GRANTS = st.one_of(st.just({}), *2 * [st.fixed_dictionaries(
    {"grants": st.lists(_both(_GRANT_KEY, _RIGHTS, st.just({"read": True})), max_size=2, unique_by=str)}, optional={"purge_grants": st.booleans()})])
_OWNER = st.one_of(st.just({}), st.fixed_dictionaries({"owner": st.sampled_from(({"prefix": "b"}, {"prefix": "app"}))},
                                                      optional={"purge_keys": st.booleans(), "purge_buckets": st.booleans(),
                                                                "purge_admin_tokens": st.booleans()}))


def _apart(rows: list[dict]) -> list[dict]:
    """Those rows that do not name again what an earlier one does."""
    seen: set = set()
    kept = []
    for row in rows:
        names = {row.get("name"), row.get("id"), *row.get("aliases", ())} - {None}
        if not names & seen:
            kept.append(row)
        seen |= names
    return kept


# Without a store: those that are there already. How one is made and its secret kept is tried elsewhere, with a disk.
_TOKEN_ID = st.one_of(st.fixed_dictionaries({"name": st.sampled_from(TOKENS)}), *2 * [st.fixed_dictionaries(
    {"id": TOKEN}, optional={"name": st.sampled_from(TOKENS)})])
_TOKENS = st.one_of(st.just({}), st.fixed_dictionaries({"admin_tokens": st.lists(_both(_TOKEN_ID, _STATE, _some(
    scope=st.sampled_from(SCOPES), expiration=st.sampled_from(("never", *DATES)))), min_size=1, max_size=2).map(_apart)}))


def _converge(module: Any) -> Callable[[Client, Mapping, bool], Outcome]:
    return lambda client, params, check: converge(module.build(params), client, check)


BUCKET_KIND = Kind("bucket", {"name": {"type": "str"}, "id": {"type": "str"}, **state_spec(), **bucket_settings_spec()}, _converge(bucket),
                   _both(_BUCKET_ID, _STATE, _SETTINGS), st.fixed_dictionaries({"id": BUCKET}))
KEY_KIND = Kind("key", {**key_spec(), **return_secret_spec(), **state_spec()},
                lambda client, params, check: run_key(params, Context(client, check))[0], _both(_KEY_ID, _STATE, _KEY_SETTINGS),
                st.fixed_dictionaries({"id": KEY}))
GRANT_KIND = Kind("grant", {"bucket": {"type": "str"}, "bucket_id": {"type": "str"}, "exact": {"type": "bool", "default": False}, **grant_spec(),
                            **state_spec()}, _converge(grant),
                  _both(_GRANT, _RIGHTS, _some(exact=st.booleans()), _STATE), st.nothing())
TENANCY_KIND = Kind("tenancy", tenancy_spec(), lambda client, params, check: run_tenancy(params, Context(client, check)), _both(
    st.just({"max_in_flight": 1}),
    _some(keys=st.lists(_both(_KEY_ID, _STATE, _KEY_SETTINGS), min_size=1, max_size=2).map(_apart),
          buckets=st.lists(_both(_BUCKET_ID, _STATE, _SETTINGS, _GRANTS), min_size=1, max_size=3).map(_apart)), _OWNER, _TOKENS),
    st.fixed_dictionaries({"keys": st.lists(st.fixed_dictionaries({"id": KEY}), max_size=1),
                           "buckets": st.lists(st.fixed_dictionaries({"id": BUCKET}), max_size=1),
                           "admin_tokens": st.one_of(st.just([]), st.lists(st.fixed_dictionaries({"id": TOKEN}), max_size=1))}))
_NODE_ROLE = _both(st.fixed_dictionaries({"node": st.builds(Which, st.just("nodes"), st.integers(0, NODES - 1)), "zone": st.sampled_from(ZONES)}),
                   st.sampled_from(({"capacity": "1GiB"}, {"capacity": "2GiB"}, {"gateway": True}, {"state": "absent"})),
                   _some(tags=st.sampled_from(TAGS).map(list)))
LAYOUT_KIND = Kind("layout", {**layout_spec(), **wait_spec()}, lambda client, params, check: run_layout(client, params, check)[0], _both(
    _some(roles=st.lists(_NODE_ROLE, min_size=1, max_size=NODES, unique_by=lambda role: role["node"].number),
          zone_redundancy=st.sampled_from(("maximum", "1", "2")), apply=st.booleans(), preview=st.booleans()),
    st.fixed_dictionaries({"foreign_staged": st.sampled_from(("fail", "discard", "include"))})), st.just({}))
KINDS = (BUCKET_KIND, KEY_KIND, GRANT_KIND, TENANCY_KIND)
