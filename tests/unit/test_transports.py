# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which transport a connection leads to: options and environment, and the choice that is made by a read and kept."""

from __future__ import annotations

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils import _transports
from ansible_collections.s3ops.garage.plugins.module_utils._argspec import connection_spec
from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._connection import (
    TRANSPORTS,
    EitherConnection,
    resolve_connection,
    resolve_pods,
)
from ansible_collections.s3ops.garage.plugins.module_utils._errors import InputError
from ansible_collections.s3ops.garage.plugins.module_utils._plugin import connected
from ansible_collections.s3ops.garage.plugins.module_utils._pods import PodConnection
from ansible_collections.s3ops.garage.plugins.module_utils._transport import Connection, HttpTransport
from ansible_collections.s3ops.garage.plugins.module_utils._transport_exec import ExecTransport
from ansible_collections.s3ops.garage.plugins.module_utils._transports import open_transport
from tests.fakes.kubernetes import FakeKubernetes, pod
from tests.fakes.loopback import Loopback, answer, clean_environment, cut_after, error, html

HTTP = {"api_url": "http://x:3903", "api_token": "t"}
POD = {"kubernetes": {"namespace": "garage", "label_selector": "app=garage"}}


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    clean_environment(monkeypatch)


def resolve(params, environ=None, where=""):
    def no_file(path):
        raise AssertionError(f"{path} was read")

    return resolve_connection(params, environ or {}, no_file, where)


def faults(params, environ=None):
    with pytest.raises(InputError) as caught:
        resolve(params, environ)
    return list(caught.value.faults)


# options

def test_http_is_the_default_and_needs_no_pod():
    for params in (HTTP, {**HTTP, **POD}, {**HTTP, "transport": "http", **POD}):
        assert isinstance(resolve(params), Connection)


def test_commands_need_neither_an_address_nor_a_token():
    made = resolve({"transport": "exec", **POD, "api_token_file": "/never-read", "timeout": 5.0})
    assert made == PodConnection("garage", label_selector="app=garage", timeout=5.0)
    assert made.token == ""


def test_the_environment_chooses_and_an_option_beats_it():
    assert isinstance(resolve(POD, {"GARAGE_TRANSPORT": "exec"}), PodConnection)
    assert isinstance(resolve({**HTTP, **POD, "transport": "http"}, {"GARAGE_TRANSPORT": "exec"}), Connection)
    assert isinstance(resolve(HTTP, {"GARAGE_TRANSPORT": ""}), Connection)
    assert faults(HTTP, {"GARAGE_TRANSPORT": "ssh"}) == ["transport: 'ssh' is none of http, exec, auto"]
    # A remote is another site, which our own variable says nothing of.
    assert isinstance(resolve_connection(HTTP, {"GARAGE_TRANSPORT": "exec"}, str, "remotes[0]."), Connection)


@pytest.mark.parametrize(("params", "http", "pod", "why"), [
    ({**HTTP, **POD}, True, True, None),
    (HTTP, True, False, None),
    (POD, False, True, "no api_url is set"),
    ({**POD, "api_url": "http://x:3903"}, False, True, "no admin token is set"),
])
def test_auto_takes_what_is_there(params, http, pod, why):
    made = resolve({**params, "transport": "auto"})
    assert isinstance(made, EitherConnection)
    assert (made.http is not None, made.pod is not None, made.why) == (http, pod, why)


@pytest.mark.requirement("MH-10", "MH-15")
@pytest.mark.parametrize(("params", "words"), [
    ({"transport": "exec"}, ["kubernetes is not set"]),
    ({"transport": "exec", "kubernetes": {}}, ["kubernetes.namespace is not set", "set one of pod and label_selector"]),
    ({"transport": "exec", "kubernetes": {"namespace": "", "pod": "a", "label_selector": "b"}},
     ["kubernetes.namespace must be a text that is not empty", "set one of pod and label_selector"]),
    ({"transport": "exec", "kubernetes": {"namespace": "x", "pod": "a", "contxt": "y"}}, ["kubernetes.contxt: there is no such option"]),
    ({"transport": "exec", "kubernetes": {"namespace": "x", "pod": "a"}, "timeout": 0.0}, ["timeout: 0 must be from"]),
    ({"transport": "auto"}, ["api_url is not set", "no admin token"]),
    ({"transport": "auto", **POD, "api_url": "", "api_token": "t"}, ["api_url is empty"]),
    ({"transport": "auto", **HTTP, "kubernetes": {"namespace": "x"}}, ["set one of pod and label_selector"]),
])
def test_half_a_connection_is_refused_with_all_faults(params, words):
    found = faults(params)
    assert len(found) == len(words)
    assert all(word in fault for word, fault in zip(words, found, strict=True))


def test_defaults_are_those_that_are_documented():
    spec = connection_spec()["kubernetes"]["options"]
    made = resolve_pods({"kubernetes": {"namespace": "x", "pod": "y", "context": None}})
    for name, option in spec.items():
        if name not in ("namespace", "pod"):
            assert getattr(made, name) == option.get("default"), name
    assert connection_spec()["transport"]["choices"] == list(TRANSPORTS)
    assert set(spec) <= set(PodConnection.__dataclass_fields__)
    with pytest.raises(InputError):
        resolve_pods({})


# transports

def test_each_connection_has_its_transport():
    assert isinstance(open_transport(resolve(HTTP)), HttpTransport)
    assert isinstance(open_transport(resolve({"transport": "exec", **POD})), ExecTransport)


@pytest.fixture
def both(tmp_path, monkeypatch):
    """A cluster with one pod whose Garage answers [] to everything, and a maker of clients that have both ways."""
    monkeypatch.setattr(_transports, "_PROBE_SECONDS", 20.0)
    with FakeKubernetes(pod("garage-0"), execute=lambda argv, stdin: (0, b"[]", b"")) as cluster:
        def make(url, **more):
            spot = {"namespace": "garage", "pod": "garage-0", "kubeconfig": cluster.kubeconfig(tmp_path)}
            return Client(open_transport(resolve({"transport": "auto", "api_url": url, "api_token": "t", "kubernetes": spot, **more})), retry_delay=0)

        yield cluster, make


@pytest.mark.parametrize("health", [answer({}), error(403, "AccessDenied", "Forbidden: Invalid bearer token")], ids=["well", "refused"])
def test_http_where_an_admin_api_answers(both, health):
    cluster, make = both
    with Loopback(health, answer(["http"]), answer({})) as server:
        client = make(server.url)
        assert client.transport.decision is None and client.transport.url == server.url
        assert client.call("ListBuckets") == ["http"]
        client.call("CreateBucket", None, {})
        assert server.endpoints == ["GetClusterHealth", "ListBuckets", "CreateBucket"]
        bearer = client.transport.bearing("other", "the store")
        client.close()
    assert (client.transport.decision, bearer.connection.token) == (f"http to {server.url}", "other")
    assert cluster.asked == []


@pytest.mark.parametrize("health", [html(503), html(200), cut_after()], ids=["front end", "another server", "cut"])
def test_commands_where_none_answers(both, health):
    cluster, make = both
    with Loopback(health) as server:
        client = make(server.url)
        assert client.call("ListBuckets") == []
        client.call("CreateBucket", None, {})
        assert server.endpoints == ["GetClusterHealth"]
    assert client.transport.decision.startswith(f"exec in pod garage/garage-0, because GetClusterHealth at {server.url}: ")
    assert [command.argv[4] for command in cluster.ran] == ["ListBuckets", "CreateBucket"]
    assert client.transport.bearing("other", "the store").connection.token == ""


def test_the_choice_is_never_changed(both):
    """HTTP answered once and is gone: a write must not go another way than the read before it."""
    cluster, make = both
    with Loopback(answer({}), answer([])) as server:
        client = make(server.url)
        client.call("ListBuckets")
    for endpoint in ("CreateBucket", "ListBuckets"):
        with pytest.raises(Exception, match="refused"):
            client.call(endpoint)
    assert cluster.asked == []


def test_without_an_address_nothing_is_asked_before(both):
    cluster, make = both
    client = make(None)
    assert client.call("ListBuckets") == []
    assert client.transport.decision == "exec in pod garage/garage-0, because no api_url is set"
    assert len(cluster.ran) == 1


# plugins

def test_a_plugin_reads_by_commands_and_tells_what_was_chosen(tmp_path):
    said = []
    with FakeKubernetes(pod("garage-0"), execute=lambda argv, stdin: (0, b"[]", b"")) as cluster:
        spot = {"namespace": "garage", "pod": "garage-0", "kubeconfig": cluster.kubeconfig(tmp_path)}
        for transport in ("exec", "auto"):
            with connected({"transport": transport, "kubernetes": spot, "retries": 0, "retry_delay": 0}, said.append, said.append) as client:
                assert client.call("ListKeys") == []
    assert said == ["transport: exec in pod garage/garage-0, because no api_url is set"]
