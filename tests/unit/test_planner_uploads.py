# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which age of unfinished uploads is taken."""

from __future__ import annotations

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError
from ansible_collections.s3ops.garage.plugins.module_utils._planners.operations import older_than


@pytest.mark.parametrize(("age", "seconds"), [("0", 0), ("24h", 86400), ("2w", 14 * 86400), ("18250d", 50 * 365 * 86400)])
def test_ages(age, seconds):
    assert older_than({"older_than": age}) == seconds


@pytest.mark.parametrize(("age", "words"), [("a day", "older_than: 'a day' is not a duration"), ("9999w", "'9999w' is more than 50 years"),
                                            ("18251d", "delete every upload")])
def test_ages_that_are_refused(age, words):
    with pytest.raises(InputError, match=words):
        older_than({"older_than": age})
