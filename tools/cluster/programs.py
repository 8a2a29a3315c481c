# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs of the local cluster: which, of which version, and how each comes out of its Go module."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tools.testbed.cache import cache_folder

# The newest line that takes containerd 1.6 and a cgroup v1 hierarchy without argument.
KUBERNETES = "1.34.4"
ETCD = "3.6.5"
COREDNS = "1.14.7"


@dataclass(frozen=True)
class Source:
    """Programs that are built together from one Go module, or from a main of ours alone."""

    name: str
    module: str | None
    version: str
    # name of the program to the package that holds its main
    packages: dict[str, str]
    # linker variables that tell a program its version
    variables: dict[str, str]
    # the file beside this one that is the main, instead of one of the module's
    own_main: str | None = None

    @property
    def folder(self) -> Path:
        return cache_folder() / "kubernetes" / f"{self.name}-{self.version}"


def _kubernetes_variables(version: str) -> dict[str, str]:
    major, minor, _patch = version.split(".")
    told = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return {f"{package}.{name}": value for package in packages for name, value in told.items()}


CONTROL_PLANE = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy")

# The small ones first: a machine that cannot build tells so soon.
SOURCES = (
    Source("pause", None, "1", {"pause": "."}, {}, own_main="pause.go.txt"),
    Source("etcd", "go.etcd.io/etcd/server/v3", ETCD, {"etcd": "go.etcd.io/etcd/server/v3"}, {}),
    # The stock main of CoreDNS brings the SDKs of every cloud.
    Source("coredns", "github.com/coredns/coredns", COREDNS, {"coredns": "."}, {}, own_main="coredns.go.txt"),
    Source(
        "kubernetes",
        "k8s.io/kubernetes",
        KUBERNETES,
        {name: f"k8s.io/kubernetes/cmd/{name}" for name in CONTROL_PLANE},
        _kubernetes_variables(KUBERNETES),
    ),
)


def program(name: str) -> Path:
    """Where a program lies, or will lie when it is built."""
    return next(source.folder / name for source in SOURCES if name in source.packages)
