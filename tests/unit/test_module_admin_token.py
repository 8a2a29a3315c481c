# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The modules admin_token and admin_token_info as Ansible starts them, over HTTP: options in, one JSON result out."""

from __future__ import annotations

import json

import pytest
from ansible.module_utils.common import warnings as ansible_warnings
from ansible.module_utils.testing import patch_module_args

from ansible_collections.s3ops.garage.plugins.module_utils._models.admin_token import LIST_CAP
from ansible_collections.s3ops.garage.plugins.modules import admin_token, admin_token_info
from tests.fakes.garage import ADMIN_TOKEN, FakeGarage, FakeServer
from tests.fakes.garage.state import TokenRow
from tests.fakes.loopback import clean_environment

ENTRIES = {"id", "name", "created", "expiration", "expired", "scope"}


@pytest.fixture
def garage():
    return FakeGarage(metrics_token="fake-metrics-token")


@pytest.fixture
def run(garage, capsys, monkeypatch):
    """run(module, options) -> its result; ``output`` is all it printed."""
    clean_environment(monkeypatch)
    with FakeServer(garage) as server:

        def go(module, options, **switches):
            ansible_warnings._global_warnings.clear()
            arguments = {"api_url": server.url, "api_token": ADMIN_TOKEN, **options, **{f"_ansible_{name}": value for name, value in switches.items()}}
            with patch_module_args(arguments), pytest.raises(SystemExit):
                module.main()
            printed = capsys.readouterr()
            return {**json.loads(printed.out), "output": printed.out + printed.err}

        yield go


def test_what_is_printed_never_holds_a_secret(garage, run, tmp_path):
    store = {"path": str(tmp_path / "token")}
    keys = set()
    for more in ({}, {}, {"rotate": True}, {"scope": ["ListKeys"]}, {"state": "absent", "scope": None}):
        before = [row.secret for row in garage.state.tokens.values()]
        result = run(admin_token, {"name": "ci", "scope": ["ListBuckets"], "store": store, **more}, verbosity=4)
        assert not result.get("failed"), result
        # ansible-core 2.19 returns the options beside the result, 2.21 does not.
        keys.add(frozenset(result) - {"warnings", "invocation"})
        for secret in (ADMIN_TOKEN, *before, *(row.secret for row in garage.state.tokens.values())):
            assert secret.rpartition(".")[2] not in result["output"]
    assert keys == {frozenset({"admin_token", "adopted", "rotated", "changed", "actions", "diff", "output"})}


def test_a_secret_that_was_asked_for_comes_through(garage, run, tmp_path):
    for store in (None, {"path": str(tmp_path / "token")}):
        result = run(admin_token, {"name": f"for {store}", "scope": ["Metrics"], "store": store, "return_secret": True}, no_log=True)
        (row,) = [row for row in garage.state.tokens.values() if row.name == f"for {store}"]
        assert result["admin_token"]["secret_token"] == row.secret


def test_a_secret_that_would_be_printed_is_refused_before_anything_is_made(garage, run):
    result = run(admin_token, {"name": "ci", "scope": ["Metrics"], "return_secret": True})
    assert result["error"]["kind"] == "invalid_input"
    assert garage.state.tokens == {}


@pytest.mark.requirement("TD-09", "TD-44")
def test_a_lost_secret_is_an_error_of_its_own_kind(garage, run, tmp_path):
    wanted = {"name": "ci", "scope": ["Metrics"], "store": {"path": str(tmp_path / "token")}}
    run(admin_token, wanted)
    secret = (tmp_path / "token").read_text().strip()
    (tmp_path / "token").write_text(secret[:-1] + "_")
    result = run(admin_token, wanted)
    assert (result["error"]["kind"], result["changed"]) == ("credential_lost", False)
    assert str(tmp_path / "token") in result["msg"]
    assert secret[:-1] not in result["output"]


@pytest.mark.requirement("GS-05")
def test_all_tokens_are_listed_those_of_the_configuration_first(garage, run):
    run(admin_token, {"name": "ci", "scope": ["Metrics"], "expiration": "2026-01-02T00:00:00Z", "return_secret": True}, no_log=True)
    garage.clock.advance(2 * 86400)
    rows = run(admin_token_info, {})["admin_tokens"]
    assert [(row["id"] is None, row["name"], row["scope"], row["expired"]) for row in rows] == [
        (True, "admin_token (from daemon configuration)", ["*"], False), (True, "metrics_token (from daemon configuration)", ["Metrics"], False),
        (False, "ci", ["Metrics"], True)]
    assert all(row.keys() == ENTRIES for row in rows)
    assert run(admin_token_info, {"name": "ci"})["admin_tokens"] == run(admin_token_info, {"id": rows[2]["id"]})["admin_tokens"] == [rows[2]]
    assert run(admin_token_info, {"name": rows[0]["name"]}, check_mode=True)["admin_tokens"] == [rows[0]]
    assert run(admin_token_info, {"id": "0" * 24})["admin_tokens"] == run(admin_token_info, {"name": "c"})["admin_tokens"] == []


def test_a_list_that_was_cut_is_known_as_such(garage, run, tmp_path):
    for number in range(LIST_CAP + 1):
        token_id = f"{number:024x}"
        garage.state.tokens[token_id] = TokenRow(token_id, f"{token_id}.{'s' * 43}", f"token{number}", 0)
    store = tmp_path / "token"
    store.write_text(garage.state.tokens[f"{LIST_CAP:024x}"].secret)
    for state in ("present", "absent"):
        by_name = run(admin_token, {"name": f"token{LIST_CAP}", "scope": ["*"], "state": state})
        assert by_name["error"]["kind"] == "refused" and "it may have more" in by_name["msg"]
    # What is looked up by its id is found all the same: that of the option, and that in the store.
    for which in ({"id": f"{LIST_CAP:024x}"}, {"name": f"token{LIST_CAP}"}):
        found = run(admin_token, {**which, "scope": ["*"], "store": {"path": str(store)}})
        assert (found["changed"], found["adopted"], found["admin_token"]["name"]) == (False, True, f"token{LIST_CAP}")
    every = run(admin_token_info, {})
    assert len(every["admin_tokens"]) == LIST_CAP + 2 and "there may be more" in str(every["warnings"])
