# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that follow from the RPC secret: the operator's scheme, to the byte."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError
from ansible_collections.s3ops.garage.plugins.module_utils._models.derivation import derive_key, fingerprint

ZEROS, COUNTED, ONES = "00" * 32, "".join(f"{number:02x}" for number in range(32)), "ff" * 32

secrets = st.binary(min_size=32, max_size=32).map(bytes.hex)
words = st.text(alphabet="abcdefghij-0123456789", min_size=1, max_size=20)
contexts = st.builds("{}/{}".format, words, words)


@pytest.mark.parametrize(
    ("rpc_secret", "context", "key_id", "secret"),
    [
        (ZEROS, "default/app", "GKadeaf151954e6d63e2bbc704", "2f62706c80f7dc48cf331741673e6fa4ca7d9caa137d6ef100828bfcd3ab9ffe"),
        (ZEROS, "storage/backup", "GK5578788cd5e6dfc2ee561a24", "9d4bb88bc033806d2b3a990af138a51609c4a4791a7866a87461a3a098c112af"),
        (COUNTED, "default/app", "GKdcedfa4e4ec451410fd99efa", "5365e9adbd012efc422a1aa60d520f97e88a6a3a00ff0ccca446655e433a2675"),
        (COUNTED, "storage/backup", "GK5c6a710cfb7e40d642d07b15", "9dfaf5aa86f56ed5b519cada524528703f26c5e03f674f86d3a88a32ee5a849f"),
        (ONES, "default/app", "GKc51b0488134b5c672da5a97a", "e07622f0553bacdfb51083398fda62e81a5c3bbfdbdfe95c3779ad7d8870fdc5"),
        (ONES, "storage/backup", "GK0d5701185e220f7310d179b8", "687e0d55868249449ae95bc3246c25af39f8b98857ed2727256b1adba99e2747"),
    ],
)
def test_the_operators_keys_are_found_again(rpc_secret: str, context: str, key_id: str, secret: str) -> None:
    derived = derive_key(rpc_secret, context)
    assert (derived.id, derived.secret.value) == (key_id, secret)


@given(secrets, contexts)
def test_a_key_is_the_same_wherever_it_is_derived_and_of_the_form_every_garage_takes(rpc_secret: str, context: str) -> None:
    derived = derive_key(rpc_secret, context)
    assert derived == derive_key(rpc_secret.upper(), context)
    assert re.fullmatch("GK[0-9a-f]{24}", derived.id) and re.fullmatch("[0-9a-f]{64}", derived.secret.value)


@given(secrets, secrets, contexts, contexts, words, words)
def test_another_secret_context_or_nonce_gives_another_key(first: str, second: str, here: str, there: str, nonce: str, later: str) -> None:
    inputs = {(rpc_secret, context, number) for rpc_secret in (first, second) for context in (here, there) for number in (None, nonce, later)}
    derived = [derive_key(*row) for row in inputs]
    assert len({key.id for key in derived}) == len({key.secret.value for key in derived}) == len(inputs)
    assert len({key.fingerprint for key in derived}) == len({first, second})


@given(secrets)
def test_neither_repr_nor_fingerprint_tells_the_secret(rpc_secret: str) -> None:
    derived = derive_key(rpc_secret, "default/app")
    assert derived.secret.value not in repr(derived) and rpc_secret not in repr(derived)
    assert fingerprint(rpc_secret) not in derived.id + derived.secret.value


def test_all_faults_are_said_at_once_and_none_with_the_secret() -> None:
    with pytest.raises(InputError) as error:
        derive_key("0123not-hex", "app", "a b")
    assert [fault.partition(":")[0] for fault in error.value.faults] == ["rpc_secret", "derive", "derive_nonce"]
    assert "0123not-hex" not in str(error.value)


@pytest.mark.parametrize("context", ["app", "a/b/c", "/app", "default/", "a b/c", "a/b\x00replacement\x00x"])
def test_a_context_is_two_words(context: str) -> None:
    with pytest.raises(InputError, match="namespace/name"):
        derive_key(ZEROS, context)
