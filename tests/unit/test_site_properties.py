# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever a person writes into a site file: the answer is faults in words, or a site that the roles can use; never a traceback."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError
from ansible_collections.s3ops.garage.plugins.module_utils._site.document import normal_site, site_faults
from ansible_collections.s3ops.garage.plugins.module_utils._site.schema import site_schema
from hypothesis import example, given
from hypothesis import strategies as st
from tests.unit.site_files import EDGE, FULL, HANDLE, REMOTE, SOURCE, STORAGE, inventory

HINT = "no-such-secret-anywhere"
OTHERS = inventory({**HANDLE, "name": "lyon"}, {**STORAGE, "name": "nice", "replication": {"factor": "3"}}, {"name": "odd", "remotes": "paris"})


def names(schema: Any) -> set[str]:
    """All names of options that the schema knows."""
    if isinstance(schema, list):
        return set().union(*map(names, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", {})) | set(schema.get("hints", {})) | set().union(*map(names, schema.values()), set())


NAMES = st.sampled_from(sorted(names(site_schema())))
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 5), st.integers(), st.floats(), st.text(max_size=6), st.dates(),
    st.sampled_from(("1Gi", "{ordinal}:1", "-{ordinal}:{", "lyon", "nice", "paris", "v2.0.0", "v2.3.0", "garage", "GARAGE_RPC_SECRET", "data-0",
                     "/tmp", "0", "²", "١")),
)
VALUES = st.recursive(SCALARS, lambda inner: st.one_of(
    st.lists(inner, max_size=3), st.dictionaries(st.one_of(NAMES, st.text(max_size=3), st.integers(0, 3)), inner, max_size=4)), max_leaves=12)
SITES = st.sampled_from((FULL, STORAGE, EDGE, HANDLE, {**EDGE, "connect_to": {"site": "nice"}}))


def places(value: Any, path: tuple = ()) -> list[tuple]:
    """The paths of everything within ``value``."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for name, item in inner for found in places(item, (*path, name)))]


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    """A good site file with a few values replaced or added."""
    site = copy.deepcopy(draw(SITES))
    for dummy in range(draw(st.integers(1, 3))):
        *way, last = draw(st.sampled_from(places(site)[1:] or [("x",)]))
        place = site
        for name in way:
            place = place[name]
        if isinstance(place[last], dict) and draw(st.booleans()):
            place[last][draw(NAMES)] = draw(VALUES)
        else:
            place[last] = draw(VALUES)
    return site


def judged(site: Any, writer: str | None = None) -> None:
    found = site_faults(site, OTHERS, writer)
    assert all(isinstance(fault, str) and fault.startswith("garage_") for fault in found) and len(set(found)) == len(found)
    if found:
        with pytest.raises(InputError):
            normal_site(site, OTHERS, writer)
    else:
        normal = normal_site(site, OTHERS, writer)
        assert json.loads(json.dumps(normal)) == normal


@pytest.mark.requirement("OP-046", "MH-07")
@given(VALUES)
@example({"storage": {"replicas": True}})
@example({"gateway": {"replicas": 1e400}, "connect_to": {"site": []}})
def test_any_document_is_judged(site: Any) -> None:
    judged(site)


@pytest.mark.requirement("OP-046", "MH-07")
@given(damaged(), st.sampled_from((None, "paris", "lyon")))
@example({**STORAGE, "storage": {**STORAGE["storage"], "data": {"existing_claims": {"²": "a"}}}}, None)
@example({**STORAGE, "storage": {**STORAGE["storage"], "data": {"size": "1" * 50 + "E"}}}, None)
@example({**STORAGE, "remotes": [{**REMOTE, "name": []}]}, "paris")
@example({**STORAGE, "storage": {**STORAGE["storage"], "data": {"size": "1Gi", "data_source_ref": {**SOURCE, "api_group": []}}}}, None)
def test_any_damage_is_judged(site: Any, writer: str | None) -> None:
    judged(site, writer)


@given(damaged())
def test_a_secret_is_in_no_fault(site: Any) -> None:
    if isinstance(site, dict) and isinstance(site.get("credentials", {}), dict):
        site["credentials"] = {**site.get("credentials", {}), "rpc_secret": HINT, "admin_token": f"{HINT}.{HINT}", "metrics_token": [HINT]}
        assert HINT not in "\n".join(site_faults(site, OTHERS))
