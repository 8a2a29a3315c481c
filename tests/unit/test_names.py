# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and ids: what Garage would take, and what is refused before it is asked."""

from __future__ import annotations

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._names import (
    BUCKET_NAME_RULE,
    bucket_id_fault,
    bucket_name_fault,
    is_node_id,
    key_id_fault,
    secret_key_fault,
)
from hypothesis import given
from hypothesis import strategies as st

ID = "0123456789abcdef" * 4


@pytest.mark.parametrize("name", ["abc", "media", "www.example.org", "a-b", "a..b", "a.-b", "1media", "123", "1.2.3", "1.2.3.4.5", "256.1.1.1", "x" * 63,
                                  "xn--caf-dma", "media-s3alias-2", "deadbeef"])
def test_names_that_garage_takes(name):
    assert bucket_name_fault(name) is None


@pytest.mark.parametrize("name", ["", "a", "ab", "x" * 64, "Media", "me_dia", "me dia", "media/", "média", "-media", "media-", ".media", "media.", "1.2.3.4",
                                  "media-s3alias", "media\n", "\nmedia", "media\0", "MEDIA", "::1", "a" * 10_000])
def test_names_that_garage_refuses(name):
    fault = bucket_name_fault(name)
    assert BUCKET_NAME_RULE in fault
    assert len(fault) < 300


def test_an_id_is_no_name():
    assert "give it as id" in bucket_name_fault(ID)


@pytest.mark.parametrize(("value", "fits"), [(ID, True), (ID.upper(), False), (ID[1:], False), (ID + "0", False), (ID + "\n", False), ("g" + ID[1:], False),
                                             ("", False), ("media", False)])
def test_ids_of_buckets_and_nodes(value, fits):
    assert (bucket_id_fault(value) is None) is fits
    assert is_node_id(value) is fits


@pytest.mark.parametrize(("value", "fits"), [("GK0123456789abcdef01234567", True), ("abcdefgh", True), ("a.b_c-D9", True), ("abcdefg", False),
                                             ("GK 123456789", False), ("GK0123456789\n", False), ("", False), ("schlüssel", False)])
def test_ids_of_keys(value, fits):
    assert (key_id_fault(value) is None) is fits


@pytest.mark.parametrize(("value", "fits"), [("s" * 16, True), ("s" * 15, False), ("", False), ("s" * 16 + "\n", False), ("ö" * 16, False),
                                             ("s" * 16 + " s", False)])
def test_secrets_of_keys_are_never_repeated(value, fits):
    fault = secret_key_fault(value)
    assert (fault is None) is fits
    assert fits or not value or value not in fault


@given(st.text())
def test_a_name_that_is_taken_is_of_the_right_letters(name):
    if bucket_name_fault(name) is None:
        assert 3 <= len(name) <= 63
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-")
        assert name[0].isalnum()
        assert name[-1].isalnum()


@given(st.from_regex(r"[0-9a-f]{64}", fullmatch=True))
def test_every_id_is_an_id(value):
    assert bucket_id_fault(value) is None
    assert is_node_id(value)
    assert bucket_name_fault(value) is not None
