# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every call and every request field of the Admin API is reached by an option that exists, or has a reason."""

from __future__ import annotations

import re

import pytest
from tools.coverage import FIELDS, PAGE, SERVED, page, printed_calls


@pytest.fixture(scope="module")
def calls(garage_binary):
    return printed_calls(garage_binary)


def test_every_call_and_every_field_has_a_line_and_no_line_is_idle(calls):
    assert set(SERVED) == set(calls) and len(calls) == 51
    assert {name: set(FIELDS.get(name, {})) for name in calls} == {name: set(fields) for name, fields in calls.items()}


def test_the_page_is_what_the_binary_says_today(calls):
    assert PAGE.read_text(encoding="utf-8") == page(calls), "python -m tools.coverage writes it anew"


@pytest.mark.parametrize("target", sorted({line for lines in FIELDS.values() for line in lines.values() if not line.startswith("(")}))
def test_an_option_that_is_named_exists(spec_of, target):
    module, dummy, option = target.partition(": ")
    options = spec_of(module)["argument_spec"]
    for part in option.split("."):
        assert part in options, f"{module} has no option {option}"
        options = options[part].get("options", {})


def test_modules_that_are_named_exist(spec_of):
    for line in SERVED.values():
        for module in [] if line.startswith("(") else re.split(", ", line):
            assert spec_of(module)
