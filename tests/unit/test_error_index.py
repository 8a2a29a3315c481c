# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/errors.md is what the sources say, and every error says what to do."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._errors import GarageError
from ansible_collections.s3ops.garage.plugins.module_utils._models.bucket import BucketSpec
from ansible_collections.s3ops.garage.plugins.module_utils._models.layout import LayoutSpec
from ansible_collections.s3ops.garage.plugins.module_utils._site.document import site_faults

from tools.error_texts import GAP, Source
from tools.errors import KINDS, PAGE, all_errors, all_faults, errors, faults, page, sources

# What else is raised and has an error in it: what a function of the file makes, and what was caught, collected or made before.
MADE_ELSEWHERE = re.compile(r"self\._\w+\(.*|_lost\(.*|_failure\(.*|_mismatch\(.*|_partly\(.*|kind\(.*|error|found|store|met\[0\]", re.S)
# Caught where it is raised; no user meets it.
INSIDE = {"_Setup", "websocket.WebSocketTimeoutException", "AssertionError"}


def made(text: str) -> Source:
    return Source(Path("x.py"), text)


def test_the_page_is_what_the_sources_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tools.errors"


def test_every_error_says_what_to_do() -> None:
    assert [error for error in all_errors() if not error.cure.strip(f" {GAP}")] == []


def test_an_error_without_a_cure_is_found() -> None:
    (error,) = errors(made('raise PlanError(f"{label}: it is full")'))
    assert (error.name, error.message, error.cure) == ("PlanError", "…: it is full", "")
    (error,) = errors(made('raise PlanError(f"{label}: it is full", hint="empty it")'))
    assert error.cure == "empty it"


@pytest.mark.parametrize("source", [each for each in sources() if each.path.parts[0] == "module_utils"], ids=lambda each: each.path.as_posix())
def test_nothing_is_raised_that_the_page_does_not_know(source: Source) -> None:
    for node in source.find(ast.Raise):
        raised = ast.unparse(node.exc) if node.exc else "error"
        name = raised.partition("(")[0]
        assert name in KINDS or name == "ValueError" or name in INSIDE or MADE_ELSEWHERE.fullmatch(raised), f"{source.path}:{node.lineno}: {raised}"


@pytest.mark.parametrize(("text", "said"), [
    ('def f(faults):\n    faults.append(f"{x}: is odd")', ["…: is odd"]),
    ('def f():\n    faults = ["one thing"]\n    faults += [f"{a} and not {b}" for a in c]', ["one thing", "… and not …"]),
    ('def _rule() -> Iterator[str]:\n    yield "set " + "it"', ["set it"]),
    ('def name_fault(x) -> str | None:\n    return None if x else RULE\nRULE = "a rule of a name"', ["a rule of a name"]),
    ('RULE = "a number"\ndef f():\n    raise ValueError(f"{x!r}; wanted: {RULE}")', ["…; wanted: a number"]),
    ('raise InputError("a: b is odd" if x else "c: d is odd")', ["a: b is odd", "c: d is odd"]),
])
def test_faults_are_found_where_they_are_made(text: str, said: list[str]) -> None:
    assert sorted(set(faults(made(text)))) == sorted(said)


def meets(template: str, text: str) -> bool:
    return re.fullmatch(".*".join(re.escape(part) for part in template.split(GAP)), text, re.S) is not None


SITE = {"name": "paris", "zone": "paris", "connect_to": {"api_url": "http://127.0.0.1:3903", "api_token": "x"}}


@pytest.mark.parametrize("wrong", [
    {"connect_to": {"api_url": "http://127.0.0.1:3903"}},
    {"connect_to": None},
    {"layout": {"site_role": "follower"}},
    {"layout": {"nodes": [{"node": "a", "zone": "lyon", "capacity": "1T"}, {"node": "b"}]}},
    {"storage": {"replicas": 1}},
    {"connect_to": None, "storage": {"replicas": 1, "metadata": {"size": "1Gi"}, "data": {"paths": [{"size": "1Gi", "read_only": True}]}}},
    {"layout": {"nodes": [{"node": "a", "capacity": "1m"}]}},
    {"connect_to": {"site": "paris"}},
])
def test_what_is_said_of_a_site_file_is_on_the_page(wrong: dict) -> None:
    site = {**SITE, **wrong}
    known = [text for texts in all_faults().values() for text in texts]
    said = site_faults(site, {"paris": {"garage_site": site}})
    assert said
    assert [text for text in said if not any(meets(template, text) for template in known)] == []


@pytest.mark.parametrize(("spec", "params"), [
    (BucketSpec, {"name": "x", "quotas": {"max_size": "3 apples"}}),
    (BucketSpec, {"name": "media", "website": {"enabled": False, "index_document": "x"}}),
    (BucketSpec, {}),
    (LayoutSpec, {"roles": [{"node": "", "capacity": "1"}], "zone_redundancy": 0, "replication_factor": 0}),
])
def test_what_is_said_of_options_is_on_the_page(spec: type, params: dict) -> None:
    known = [text for texts in all_faults().values() for text in texts]
    with pytest.raises(GarageError) as caught:
        spec.from_params(params)
    assert [text for text in caught.value.faults if not any(meets(template, text) for template in known)] == []
