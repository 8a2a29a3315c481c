# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of the test cluster's tool that need no cluster."""

from __future__ import annotations

import json
import os
import sys
import tarfile
from pathlib import Path

import pytest
from kubernetes import config

from tools.check import kubernetes as check
from tools.cluster import go_build, images, kind, local, namespaces, packages, provider
from tools.cluster.certificates import Authority
from tools.cluster.network import SLOTS, Network
from tools.cluster.programs import SOURCES, program
from tools.cluster.settings import write
from tools.cluster.state import Cluster
from tools.testbed.processes import ProcessRef


def kubernetes_source():
    return next(source for source in SOURCES if source.name == "kubernetes")


def silent(_line: str) -> None:
    """Nobody listens."""


@pytest.fixture
def machine(monkeypatch):
    """machine(kind=…, local=…): why each cannot be had on this machine, None for can."""
    for name in (provider.KUBECONFIG_VARIABLE, provider.KIND_VARIABLE, packages.VARIABLE):
        monkeypatch.delenv(name, raising=False)

    def describe(**reasons):
        monkeypatch.setattr(kind, "unavailable", lambda: reasons["kind"])
        monkeypatch.setattr(local, "unavailable", lambda: reasons["local"])

    return describe


@pytest.mark.parametrize(
    ("reasons", "chosen"),
    [({"kind": None, "local": None}, "kind"), ({"kind": "no engine", "local": None}, "local")],
)
def test_kind_comes_before_a_local_node(machine, reasons, chosen):
    machine(**reasons)
    assert provider.choose(silent) == chosen


def test_a_given_cluster_comes_first_and_only_by_its_own_variable(machine, monkeypatch):
    machine(kind=None, local=None)
    monkeypatch.setenv("KUBECONFIG", "/somebody/else")
    assert provider.choose(silent) == "kind"
    monkeypatch.setenv(provider.KUBECONFIG_VARIABLE, "/for/tests")
    assert provider.choose(silent) == "given"


def test_each_reason_is_said_when_there_is_no_cluster(machine):
    machine(kind="no engine", local="no root")
    with pytest.raises(provider.Unavailable, match=f"no engine; no root; .*{provider.KUBECONFIG_VARIABLE}"):
        provider.choose(silent)


@pytest.mark.parametrize(("ci", "status"), [("true", 1), (None, 0)])
def test_no_cluster_is_a_failure_on_a_build_machine_alone(machine, monkeypatch, tmp_path, capsys, ci, status):
    machine(kind="no engine", local="no root")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(check.signal, "signal", lambda *_: None)
    if ci:
        monkeypatch.setenv("CI", ci)
    else:
        monkeypatch.delenv("CI", raising=False)
    assert check.main() == status
    assert "NOT RUN" in capsys.readouterr().out


def test_no_package_is_installed_unless_told(monkeypatch):
    def refuse(*_arguments, **_options):
        raise AssertionError("something was started")

    monkeypatch.delenv(packages.VARIABLE, raising=False)
    monkeypatch.setattr(packages, "missing", lambda: ["containerd"])
    monkeypatch.setattr(packages.subprocess, "run", refuse)
    packages.install_if_told(silent)


def test_staging_modules_are_replaced_by_published_ones_and_nothing_else_is():
    named = [
        {"Old": {"Path": "k8s.io/api"}, "New": {"Path": "./staging/src/k8s.io/api"}},
        {"Old": {"Path": "go.etcd.io/etcd/api/v3"}, "New": {"Path": "../api"}},
    ]
    source = kubernetes_source()
    minor = source.version.partition(".")[2]
    assert go_build._replacements(source, named) == [("k8s.io/api", f"k8s.io/api v0.{minor}")]


def test_programs_tell_their_version():
    source = kubernetes_source()
    major, minor, _patch = source.version.split(".")
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
        told = {name.rpartition(".")[2]: value for name, value in source.variables.items() if name.startswith(package)}
        assert told["gitVersion"] == f"v{source.version}"
        assert (told["gitMajor"], told["gitMinor"]) == (major, minor)


def test_an_image_is_the_program_with_what_it_loads(tmp_path):
    archive = tmp_path / "image.tar"
    images.write_garage(Path(os.path.realpath(sys.executable)), "docker.io/dxflrs/garage:v1.2.3", archive)
    with tarfile.open(archive) as outer:
        (manifest,) = json.load(outer.extractfile("manifest.json"))
        settings = json.load(outer.extractfile(manifest["Config"]))
        with tarfile.open(fileobj=outer.extractfile(manifest["Layers"][0])) as layer:
            entries = {entry.name: entry for entry in layer}
    assert manifest["RepoTags"] == ["docker.io/dxflrs/garage:v1.2.3"]
    assert settings["config"]["Cmd"] == ["/garage", "server"]
    assert entries["garage"].mode == 0o755
    assert entries["tmp"].isdir() and entries["tmp"].mode == 0o1777
    # What a program of this machine loads is its C library at least; a shell is not there.
    assert any("libc.so" in name or "ld-musl" in name for name in entries)
    assert not any(name.endswith("/sh") for name in entries)


def test_slots_share_no_address_and_no_name():
    networks = [Network(slot) for slot in SLOTS]
    for name in ("host_link", "cluster_network", "service_network", "node_address"):
        assert len({getattr(network, name) for network in networks}) == len(networks)
    # IFNAMSIZ, without the byte that ends it.
    assert all(len(network.host_link) <= 15 for network in networks)


def test_settings_name_programs_and_addresses_of_one_slot(tmp_path):
    network = Network(3)
    daemons = write(tmp_path, network, "s3ops-garage3")
    assert [daemon.name for daemon in daemons][:3] == ["etcd", "containerd", "kube-apiserver"]
    for daemon in daemons:
        assert daemon.command[0] == ("containerd" if daemon.name == "containerd" else str(program(daemon.name)))
    told = "\n".join(file.read_text() for file in tmp_path.rglob("*") if file.is_file() and "keys" not in file.parts)
    told += "\n".join(" ".join(daemon.command) for daemon in daemons)
    assert network.dns_address in told
    assert not any(other.dns_address in told for other in map(Network, SLOTS) if other != network)


def test_keys_are_for_their_owner_alone(tmp_path):
    Authority(tmp_path).issue("admin", "somebody", "system:masters")
    assert {path.stat().st_mode & 0o077 for path in tmp_path.iterdir()} == {0}


def test_state_is_found_again(tmp_path):
    cluster = Cluster(tmp_path, "local", "one", keep=True)
    cluster.remember({"slot": 2})
    assert Cluster.find(tmp_path) == cluster
    assert Cluster.find(tmp_path / "elsewhere") is None


def test_a_kubeconfig_is_read_without_the_one_of_the_process(tmp_path, monkeypatch):
    write(tmp_path, Network(0), "group")
    monkeypatch.setenv("KUBECONFIG", "/somebody/else")
    monkeypatch.setattr(config.kube_config, "KUBE_CONFIG_DEFAULT_LOCATION", "/somebody/else")
    cluster = Cluster(tmp_path, "local", "one", kubeconfig=str(tmp_path / "admin.kubeconfig"))
    assert cluster.api().configuration.host == Network(0).api_url


def test_only_a_namespace_of_a_dead_run_of_this_machine_is_left():
    alive = namespaces.owner()
    dead = namespaces.owner(ProcessRef(os.getpid(), 1))
    assert not namespaces._has_ended(alive)
    assert namespaces._has_ended(dead)
    assert not namespaces._has_ended(f"elsewhere.{os.getpid()}.1")
    assert len(alive) <= 63
