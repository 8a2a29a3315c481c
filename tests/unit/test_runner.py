# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The runner: options in, one JSON result out, and the words of every failure."""

from __future__ import annotations

import json

import pytest
from ansible.module_utils.common import warnings as ansible_warnings
from ansible.module_utils.testing import patch_module_args
from ansible_collections.s3ops.garage.plugins.module_utils import _runner
from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError, NotFound, WaitTimeout
from ansible_collections.s3ops.garage.plugins.module_utils._executor import Task
from ansible_collections.s3ops.garage.plugins.module_utils._models.bucket import Bucket
from ansible_collections.s3ops.garage.plugins.module_utils._plan import Call, Plan, Secret
from tests.fakes import loopback
from tests.fakes.loopback import Loopback, answer, error
from tests.garage.ansible_run import run_module

TOKEN = "prefix.0123456789abcdefTOKEN"
RESULT_ON_FAILURE = {"kind", "status", "code", "endpoint"}


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    loopback.clean_environment(monkeypatch)


@pytest.fixture
def run(capsys):
    """run(start, options) -> what the module that ``start`` is printed; ``output`` is all of it as text."""

    def go(start, options, **switches):
        # AnsibleModule keeps them for the life of a process, which is one module's run elsewhere.
        ansible_warnings._global_warnings.clear()
        arguments = {**options, **{f"_ansible_{name}": value for name, value in switches.items()}}
        with patch_module_args(arguments), pytest.raises(SystemExit) as ended:
            start()
        printed = capsys.readouterr()
        result = json.loads(printed.out)
        assert ended.value.code == (1 if result.get("failed") else 0)
        return {**result, "output": printed.out + printed.err}

    return go


SPEC = {"name": {"type": "str", "required": True}, "size": {"type": "int"}}


def build(params):
    """A thing that must exist; a name with a space and a negative size are refused."""
    faults = ["name: must not have a space"] * (" " in params["name"]) + ["size: must be 0 or more"] * ((params["size"] or 0) < 0)
    if faults:
        raise InputError(faults, hint="look at the rules")

    def read(client, doubts):
        try:
            return client.call("GetBucketInfo", {"globalAlias": params["name"]})
        except NotFound:
            return None

    def plan(live):
        calls = () if live else (Call("CreateBucket", "create thing", body={"globalAlias": params["name"], "secret": Secret("s3cr3t-of-the-plan")}),)
        return Plan("thing", before=live, after=live or {"id": None}, calls=calls, notes=("mind the gap",))

    return Task(read, plan, lambda live: live)


def thing():
    _runner.run_task("thing", SPEC, build, mutually_exclusive=[("name", "size")])


def other_thing():
    _runner.run_task("thing", SPEC, build)


def options(server, **more):
    return {"api_url": server.url, "api_token": TOKEN, "name": "media", "retry_delay": 0, **more}


ABSENT = error(404, "NoSuchBucket", "Bucket not found: media")


# results

def test_a_result_has_the_same_keys_in_check_mode_unchanged_and_changed(run):
    live = answer({"id": "1"})
    with Loopback(ABSENT, ABSENT, answer({"id": "1"}), live, live) as server:
        would = run(thing, options(server), check_mode=True)
        assert server.endpoints == ["GetBucketInfo"]
        changed = run(thing, options(server))
        same = run(thing, options(server))
    assert would.keys() == changed.keys() == same.keys()
    assert (would["changed"], changed["changed"], same["changed"]) == (True, True, False)
    assert (would["thing"], changed["thing"], same["thing"]) == ({"id": None}, {"id": "1"}, {"id": "1"})
    assert would["actions"] == changed["actions"] == ["create thing"]
    assert would["diff"] == changed["diff"] == {"before": {}, "after": {"id": None}, "before_header": "thing", "after_header": "thing"}
    assert (same["actions"], same["diff"]) == ([], {"before": {}, "after": {}})
    assert all("mind the gap" in str(each["warnings"]) for each in (would, changed, same))


def test_an_info_module_changes_nothing_and_runs_in_check_mode(run):
    def info():
        _runner.run_info("things", {}, lambda client, params: client.call("ListBuckets"))

    with Loopback(answer([1]), answer([1])) as server:
        for check in (False, True):
            result = run(info, {"api_url": server.url, "api_token": TOKEN}, check_mode=check)
            assert (result["changed"], result["things"]) == (False, [1])


def test_a_job_gets_the_options_and_what_it_may_use(run):
    seen = []

    def job():
        _runner.run_job(SPEC, lambda params, context: seen.append((params["name"], context.check, context.no_log)) or {"changed": False})

    run(job, {"name": "media"})
    run(job, {"name": "media"}, check_mode=True, no_log=True)
    assert seen == [("media", False, False), ("media", True, True)]


def test_retries_are_told_and_connections_closed(run):
    with Loopback(loopback.html(502), answer({"id": "1"})) as server:
        result = run(thing, options(server))
        assert server.ended.wait(loopback.PATIENCE)
    assert "trying again (1 of 3)" in str(result["warnings"])


@pytest.mark.parametrize(("given", "requests"), [({}, 4), ({"retries": 0}, 1), ({"retries": 2}, 3)])
def test_retries_are_as_many_as_asked_for(run, given, requests):
    with Loopback(*[loopback.html(502)] * requests) as server:
        assert run(thing, options(server, **given))["error"]["kind"] == "unavailable"
        assert len(server.requests) == requests


# input

@pytest.mark.requirement("MH-10")
def test_faults_of_options_connection_and_role_come_at_once(run, monkeypatch):
    monkeypatch.setenv("GARAGE_SITE_ROLE", "Leader")
    result = run(other_thing, {"api_url": "ftp://x", "name": "a b", "size": -1, "timeout": 0, "client_key": "/key"})
    assert result["failed"]
    for words in ("name: must not have a space", "size: must be 0 or more", "api_url: 'ftp://x'", "no admin token", "timeout: 0", "client_key",
                  "GARAGE_SITE_ROLE: 'Leader'", "What to do: look at the rules."):
        assert words in result["msg"]
    assert result["error"] == {"kind": "invalid_input", "status": None, "code": None, "endpoint": None}
    assert result["changed"] is False


@pytest.mark.requirement("TD-52")
@pytest.mark.parametrize("given", [{"name": "a b"}, {"timeout": -1}, {"api_token": "a b"}, {"api_token": None}, {"site_role": "leader"}, {"nonsense": 1},
                                   {"size": "many"}, {"size": 3}])
def test_nothing_is_opened_for_bad_input(run, given):
    with Loopback() as server:
        assert run(thing, options(server, **given))["failed"]
        assert server.connections == 0


@pytest.mark.requirement("LW-02")
def test_a_role_that_is_none_is_refused(run):
    result = run(thing, {"api_url": "http://x", "api_token": TOKEN, "name": "media", "site_role": "leader"})
    assert "site_role must be one of: writer, follower, got: leader" in result["msg"]


@pytest.mark.requirement("FC-092")
def test_a_missing_library_is_named(run, monkeypatch):
    monkeypatch.setattr(_runner, "REQUESTS_ERROR", "Traceback: no requests")
    result = run(thing, {"api_url": "http://x", "api_token": TOKEN, "name": "media"})
    assert result["failed"]
    assert "Failed to import the required Python library (requests)" in result["msg"]


# the connection

@pytest.mark.requirement("FC-085", "MH-13")
def test_the_environment_alone_is_enough(run, monkeypatch, tmp_path):
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    with Loopback(answer({"id": "1"})) as server:
        monkeypatch.setenv("GARAGE_ADMIN_URL", server.url)
        monkeypatch.setenv("GARAGE_ADMIN_TOKEN_FILE", str(tmp_path / "token"))
        result = run(thing, {"name": "media"})
    assert result["thing"] == {"id": "1"}
    assert server.requests[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in result["output"]


@pytest.mark.requirement("FC-091", "MH-15")
def test_options_go_where_they_say_whatever_the_environment_says(run, monkeypatch):
    with Loopback() as elsewhere, Loopback(answer({"id": "1"})) as server:
        monkeypatch.setenv("GARAGE_ADMIN_URL", elsewhere.url)
        monkeypatch.setenv("GARAGE_ADMIN_TOKEN", "another")
        run(thing, options(server))
        assert elsewhere.connections == 0
    assert server.requests[0].headers["authorization"] == f"Bearer {TOKEN}"


def test_a_second_connection_takes_nothing_from_the_environment(run, monkeypatch):
    made = []

    def job():
        _runner.run_job({}, lambda params, context: made.append(context.client({"api_url": "http://x", "api_token": TOKEN}, "remotes[0].")) or {})

    def half():
        _runner.run_job({}, lambda params, context: context.client({"api_url": "http://x"}, "remotes[0]."))

    monkeypatch.setenv("GARAGE_ADMIN_TOKEN", "environment")
    monkeypatch.setenv("GARAGE_SITE_ROLE", "follower")
    monkeypatch.setenv("GARAGE_CA_PATH", "/environment.pem")
    assert "no admin token: set remotes[0].api_token" in run(half, {})["msg"]
    run(job, {})
    # The variables are those of our own site.
    assert (made[0].site_role, made[0].transport.connection.verify) == (None, True)


def test_the_aliases_of_the_connection(run):
    with Loopback(answer({"id": "1"})) as server:
        run(thing, {"url": server.url, "token": TOKEN, "name": "media"})
    assert server.requests[0].headers["authorization"] == f"Bearer {TOKEN}"


# failures

def test_an_error_is_told_in_words_and_as_data(run):
    with Loopback(error(403, "AccessDenied", "Forbidden: Invalid bearer token")) as server:
        result = run(thing, options(server))
    assert result["failed"]
    assert result["error"] == {"kind": "denied", "status": 403, "code": "AccessDenied", "endpoint": "GetBucketInfo"}
    assert "Forbidden: Invalid bearer token. What to do: the token from option api_token is wrong" in result["msg"]
    assert "exception" not in result
    assert "Traceback" not in result["output"]


def test_what_was_done_and_what_was_not_is_told(run):
    def two_steps():
        calls = (Call("CreateBucket", "first", body={}), Call("UpdateBucket", "second", query={"id": "1"}, body={}), Call("AddBucketAlias", "third", body={}))
        _runner.run_task("thing", {}, lambda params: Task(lambda client, doubts: None, lambda live: Plan("thing", calls=calls), lambda live: live))

    with Loopback(answer({}), error(500, "InternalError", "disk full")) as server:
        result = run(two_steps, {"api_url": server.url, "api_token": TOKEN})
    assert "disk full. Done before that: first. Not done: second; third. A further run goes on from there." in result["msg"]
    assert result["changed"] is True
    assert result["error"].keys() == RESULT_ON_FAILURE


def test_what_a_failed_job_found_is_returned_beside_the_error(run):
    def job(params, context):
        late = WaitTimeout("too late")
        late.result = {"cluster": {"reachable": True}}
        raise late

    result = run(lambda: _runner.run_job({}, job), {})
    assert result["cluster"] == {"reachable": True}
    assert result["msg"] == "too late."
    assert result["error"]["kind"] == "timeout"


@pytest.mark.requirement("LW-13", "LW-15", "LW-16")
@pytest.mark.parametrize("endpoint", ["UpdateClusterLayout", "ApplyClusterLayout", "RevertClusterLayout", "ClusterLayoutSkipDeadNodes"])
@pytest.mark.parametrize(("option", "profile"), [("follower", None), (None, "follower"), ("writer", "follower")])
def test_a_follower_is_stopped_before_a_byte_is_sent(run, monkeypatch, endpoint, option, profile):
    if profile:
        monkeypatch.setenv("GARAGE_SITE_ROLE", profile)

    def job():
        _runner.run_job({}, lambda params, context: context.client().call(endpoint, body={"version": 1}))

    with Loopback() as server:
        result = run(job, {"api_url": server.url, "api_token": TOKEN, **({"site_role": option} if option else {})})
        assert server.connections == 0
    assert (result["failed"], result["pending"], result["changed"]) == (True, True, False)
    assert result["error"]["kind"] == "layout_writer_only"


# secrets

@pytest.mark.requirement("FC-085", "FC-086")
@pytest.mark.parametrize("step", [
    answer({"id": "1", "echo": TOKEN}),
    error(400, "InvalidRequest", f"you sent {TOKEN}"),
    loopback.redirect(f"http://elsewhere.invalid/?{TOKEN}"),
    answer(text=TOKEN, status=200, media_type=f"text/{TOKEN}"),
    loopback.garbage(f"HTTP {TOKEN}\r\n\r\n".encode()),
    loopback.html(502),
], ids=["result", "error", "redirect", "type", "garbage", "warning"])
@pytest.mark.parametrize("source", ["option", "file", "environment"])
def test_the_token_is_never_printed(run, monkeypatch, tmp_path, step, source):
    (tmp_path / "token").write_text(TOKEN)
    given = {"option": {"api_token": TOKEN}, "file": {"api_token_file": str(tmp_path / "token")}, "environment": {}}[source]
    if source == "environment":
        monkeypatch.setenv("GARAGE_ADMIN_TOKEN", TOKEN)
    with Loopback(default=step) as server:
        result = run(thing, {"api_url": server.url, "name": "media", "retry_delay": 0, **given}, verbosity=4, diff=True)
    assert TOKEN not in result["output"]
    assert len(server.requests) >= 1


def test_secrets_of_a_plan_are_never_printed(run):
    with Loopback(ABSENT, error(400, "InvalidRequest", "bad secret s3cr3t-of-the-plan")) as server:
        result = run(thing, options(server), verbosity=4, diff=True)
    assert server.requests[1].json["secret"] == "s3cr3t-of-the-plan"
    assert "s3cr3t" not in result["output"]
    assert result["failed"]


def test_a_secret_in_the_words_of_our_own_error_is_struck(run):
    def job(params, context):
        context.client().secrets.append("s3cr3t")
        raise InputError("something is wrong with s3cr3t", hint="do not say s3cr3t")

    result = run(lambda: _runner.run_job({}, job), {"api_url": "http://x", "api_token": TOKEN})
    assert "s3cr3t" not in result["output"]
    assert result["msg"].count("********") == 2


RETURN_SECRET = {"return_secret": {"type": "bool", "default": False, "no_log": False}, "secret_access_key": {"type": "str", "no_log": True}}


def secret_info():
    _runner.run_info("access_key", RETURN_SECRET, lambda client, params: {"secret": Secret("0123456789abcdef0123456789abcdef")})


def test_a_secret_is_returned_only_where_nothing_prints_it(run):
    connection = {"api_url": "http://x", "api_token": TOKEN}
    refused = run(secret_info, {**connection, "return_secret": True})
    assert refused["failed"]
    assert "no_log: true" in refused["msg"]
    given = {**connection, "return_secret": True, "secret_access_key": "0123456789abcdef0123456789abcdef"}
    result = run(secret_info, given, no_log=True)
    assert result["access_key"] == {"secret": "0123456789abcdef0123456789abcdef"}
    # ansible-core 2.19 returns the options beside the result, 2.21 does not.
    assert result.get("invocation", {"module_args": {"secret_access_key": "********"}})["module_args"]["secret_access_key"] == "********"
    assert TOKEN not in result["output"]


@pytest.mark.requirement("FC-085", "FC-092")
def test_nothing_is_shown_by_a_play_that_tells_everything(tmp_path):
    """As a user runs it, with -vvvv."""
    (tmp_path / "token").write_text(TOKEN)
    with Loopback(answer({"id": "b" * 64, "globalAliases": ["media"], "keys": [], "objects": 0})) as server:
        result = run_module("bucket_info", {"name": "media"}, {"api_url": server.url}, verbosity=4,
                            env={"GARAGE_ADMIN_TOKEN_FILE": str(tmp_path / "token")})
    assert result["rc"] == 0
    assert result["buckets"][0]["aliases"] == ["media"]
    assert TOKEN not in result["output"]


@pytest.mark.parametrize("shape", [{}, [], {"id": "1", "keys": [{}]}, {"id": "1", "quotas": 5}])
def test_json_of_another_shape_is_told_in_words(run, shape):
    def info():
        _runner.run_info("things", {}, lambda client, params: [Bucket.from_api(client.call("GetBucketInfo")).to_result()])

    with Loopback(answer(shape)) as server:
        result = run(info, {"api_url": server.url, "api_token": TOKEN})
    assert result["failed"] and "does not have the shape of Garage's" in result["msg"] and "api_url" in result["msg"]
    assert "Traceback" not in result["msg"] and TOKEN not in result["output"]
