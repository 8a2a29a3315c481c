# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands in pods over a Kubernetes API on loopback: framing, what a command reads, errors, time-outs, and what nobody may see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils import _pods
from ansible_collections.s3ops.garage.plugins.module_utils._errors import NotAdminApi, SetupError, TransportError
from ansible_collections.s3ops.garage.plugins.module_utils._kubernetes import ENVIRONMENT, kubernetes_configuration
from ansible_collections.s3ops.garage.plugins.module_utils._pods import PodConnection, Pods
from tests.fakes.kubernetes import CUT, STALL, TOKEN, V4, Command, Failure, FakeKubernetes, Refusal, pod

LABEL = "CreateBucket"
ECHO = ["cat"]
FORBIDDEN = 'pods "garage-0" is forbidden: User "eve" cannot create resource "pods/exec" in API group "" in the namespace "garage"'


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*ENVIRONMENT.values(), "KUBECONFIG", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def open_pods(tmp_path: Path) -> Iterator[Callable[..., tuple[FakeKubernetes, Pods]]]:
    """open_pods(…) -> a fake cluster of those options and the pod garage-0 in it."""
    with ExitStack() as running:

        def make(timeout: float = 20.0, **options: Any) -> tuple[FakeKubernetes, Pods]:
            cluster = running.enter_context(FakeKubernetes(pod("garage-0"), **{"execute": lambda argv, stdin: (0, stdin or b"", b""), **options}))
            return cluster, Pods(PodConnection("garage", pod="garage-0", kubeconfig=cluster.kubeconfig(tmp_path), timeout=timeout))

        yield make


def failure(kind: type[TransportError], run: Callable[[], object]) -> TransportError:
    with pytest.raises(kind) as caught:
        run()
    assert (type(caught.value), caught.value.endpoint) == (kind, LABEL)
    assert TOKEN not in f"{caught.value.message} {caught.value.hint}"
    return caught.value


# what goes in and comes out

@pytest.mark.parametrize("piece", [1, 7, 65536])
def test_what_a_command_says_is_put_together_whatever_the_frames(open_pods, piece):
    text = "médiä 日本 " * (3 if piece == 1 else 3000)
    _cluster, pods = open_pods(piece=piece, execute=lambda argv, stdin: (3, stdin, b"wr\xc3\xb6ng"))
    ran = pods.run(LABEL, ECHO, text)
    assert (ran.code, ran.out, ran.err) == (3, text, "wröng")


@pytest.mark.requirement("FC-085")
def test_input_goes_to_standard_input_and_never_into_an_argument(open_pods):
    cluster, pods = open_pods()
    assert pods.run(LABEL, ["garage", "json-api", "ImportKey"], '{"secretAccessKey": "s3cr3t"}').out == '{"secretAccessKey": "s3cr3t"}'
    assert cluster.ran == [Command("garage-0", ("garage", "json-api", "ImportKey", "-"), b'{"secretAccessKey": "s3cr3t"}')]
    assert not any("s3cr3t" in path for path in cluster.asked)
    assert cluster.authorizations == {f"Bearer {TOKEN}"}
    assert "s3cr3t" not in repr(pods.run(LABEL, ECHO, "s3cr3t"))


def test_a_command_without_input_has_none(open_pods):
    cluster, pods = open_pods()
    assert pods.run(LABEL, ["garage", "json-api", "ListKeys"]).code == 0
    assert cluster.ran == [Command("garage-0", ("garage", "json-api", "ListKeys"), None)]


@pytest.mark.requirement("FC-085")
def test_an_older_server_gets_an_argument_only_where_that_may_be_seen(open_pods):
    cluster, pods = open_pods(protocol=V4)
    error = failure(SetupError, lambda: pods.run(LABEL, ["x"], '{"secret": 1}'))
    assert not error.sent and "nothing was sent" in error.message and "standard input" in error.message
    assert not any("secret" in path for path in cluster.asked)
    pods.run(LABEL, ["x"], '{"id": 1}', argument=True)
    assert cluster.ran[-1] == Command("garage-0", ("x", '{"id": 1}'), None)


@pytest.mark.requirement("OP-119")
def test_an_answer_that_is_too_large_is_given_up(open_pods, monkeypatch):
    monkeypatch.setattr(Pods, "max_answer", 10_000)
    _cluster, pods = open_pods(piece=100)
    assert pods.run(LABEL, ECHO, "x" * 9000).code == 0
    assert "larger than 10000 bytes" in failure(NotAdminApi, lambda: pods.run(LABEL, ECHO, "x" * 20_000)).message


# what goes wrong

@pytest.mark.parametrize(("fault", "kind", "sent", "words"), [
    (CUT, TransportError, True, "ended before the command had|broke off"),
    (Failure("container not found (\"garage\")"), TransportError, False, "container not found"),
    (Failure("error dialing backend: dial tcp: connection refused"), TransportError, False, "error dialing backend"),
    (Failure("something odd"), TransportError, True, "something odd"),
    (Failure('failed to exec: exec: "/garage": stat /garage: no such file or directory: unknown'), SetupError, False, "no such file"),
    (Refusal(404, 'pods "garage-0" not found'), TransportError, False, "answers 404: pods .garage-0. not found"),
    (Refusal(500, "etcd is away"), TransportError, False, "answers 500: etcd is away"),
    (Refusal(401, "Unauthorized"), SetupError, False, "does not accept these credentials"),
    (Refusal(403, FORBIDDEN), SetupError, False, 'User "eve" cannot create resource "pods/exec"'),
], ids=str)
def test_what_goes_wrong_is_told_and_whether_it_may_have_happened(open_pods, fault, kind, sent, words):
    cluster, pods = open_pods(faults={0: fault})
    with pytest.raises(kind, match=words) as caught:
        pods.run(LABEL, ECHO, "x")
    assert (type(caught.value), caught.value.sent, caught.value.endpoint) == (kind, sent, LABEL)
    assert len(cluster.ran) == 1
    if isinstance(fault, Refusal) and fault.code == 403:
        assert "it lacks the verb create on pods/exec" in caught.value.hint


@pytest.mark.requirement("OP-119")
@pytest.mark.parametrize("pings", [0, 1000])
def test_a_command_that_says_nothing_is_given_up(open_pods, monkeypatch, pings):
    _cluster, pods = open_pods(faults={0: STALL}, pings=pings)
    connect = pods._connect

    def then_hurry(*arguments):
        """A slow machine has all the time it needs to connect."""
        socket = connect(*arguments)
        pods.connection = replace(pods.connection, timeout=0.5)
        return socket

    monkeypatch.setattr(pods, "_connect", then_hurry)
    error = failure(TransportError, lambda: pods.run(LABEL, ECHO, "x"))
    assert error.sent and "no answer within 0.5 s" in error.message


def test_an_api_that_is_not_there(open_pods):
    cluster, pods = open_pods()
    pods.found(LABEL)
    cluster.__exit__()
    for run in (lambda: pods.run(LABEL, ECHO, "x"), lambda: pods.run(LABEL, ECHO), lambda: pods.found(LABEL)):
        error = failure(TransportError, run)
        assert not error.sent and "Connection refused" in error.message
    cluster.__enter__()


def test_pods_that_may_not_be_listed(open_pods):
    text = 'pods is forbidden: User "eve" cannot list resource "pods" in API group "" in the namespace "garage"'
    _cluster, pods = open_pods(listing=Refusal(403, text))
    error = failure(SetupError, lambda: pods.found(LABEL))
    assert text in error.message and "it lacks the verb list on pods" in error.hint


# which cluster

def test_one_pod_or_those_of_a_selector_are_found(tmp_path):
    other = pod("other-0")
    other["metadata"]["labels"] = {"app": "other"}
    with FakeKubernetes(pod("garage-1"), pod("garage-0"), other) as cluster:
        spot = PodConnection("garage", label_selector="app=garage", kubeconfig=cluster.kubeconfig(tmp_path))
        assert [each.name for each in Pods(spot).found(LABEL)] == ["garage-0", "garage-1"]
        assert [each.name for each in Pods(spot).at("other-0").found(LABEL)] == ["other-0"]


def test_a_configuration_that_cannot_be_used_is_named(tmp_path):
    for path, words in ((str(tmp_path / "missing"), "cannot be used"), (str(tmp_path), "cannot be used")):
        pods = Pods(PodConnection("x", pod="y", kubeconfig=path))
        error = failure(SetupError if path.endswith("missing") else TransportError, lambda pods=pods: pods.found(LABEL))
        assert words in error.message and not error.sent


def test_without_the_library_it_is_named(monkeypatch):
    monkeypatch.setattr(_pods, "KUBERNETES_ERROR", "Traceback …")
    error = failure(SetupError, lambda: Pods(PodConnection("x", pod="y")).found(LABEL))
    assert "the Python library kubernetes is needed" in error.message


@pytest.mark.parametrize(("verify", "expected"), [(None, True), ("true", True), ("false", False), ("no", False)])
def test_the_variables_of_kubernetes_core_are_read(verify, expected):
    environ = {"K8S_AUTH_HOST": "https://k8s:6443/", "K8S_AUTH_API_KEY": "t", "K8S_AUTH_SSL_CA_CERT": "/ca", "K8S_AUTH_VERIFY_SSL": verify or ""}
    made = kubernetes_configuration(None, None, environ)
    assert (made.host, made.api_key, made.ssl_ca_cert, made.verify_ssl) == ("https://k8s:6443", {"authorization": "Bearer t"}, "/ca", expected)


def test_a_given_configuration_beats_the_variables(tmp_path):
    with FakeKubernetes() as cluster:
        path = cluster.kubeconfig(tmp_path)
        assert kubernetes_configuration(path, None, {"K8S_AUTH_HOST": "https://k8s:6443"}).host == cluster.url
        for environ in ({"K8S_AUTH_KUBECONFIG": path}, {"KUBECONFIG": f"/nowhere:{path}"}):
            assert kubernetes_configuration(None, "fake", environ).host == cluster.url
