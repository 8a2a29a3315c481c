# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration files and command lines of the programs of the local cluster."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tools.cluster.certificates import Authority
from tools.cluster.images import PAUSE_IMAGE
from tools.cluster.network import API_PORT, BRIDGE, Network
from tools.cluster.programs import program

NODE_NAME = "garage-test"
ZONE = "zone-a"
CONTAINERD_SOCKET = "/run/containerd/containerd.sock"
CNI_PROGRAMS = "/usr/lib/cni"


@dataclass(frozen=True)
class Daemon:
    """A program of the node with its arguments; `name` names its log and is what a test asks for."""

    name: str
    command: list[str]
    # `tcp:host:port` or `unix:path` that answers before the next daemon is started
    listens: str | None = None


def write(folder: Path, network: Network, cgroup: str) -> list[Daemon]:
    """Make certificates and configuration files in a new folder; the daemons, in the order of their start."""
    keys = folder / "keys"
    keys.mkdir(mode=0o700)
    authority = Authority(keys)
    for name, user, group in (
        ("admin", "s3ops-garage-test", "system:masters"),
        ("controller-manager", "system:kube-controller-manager", None),
        ("scheduler", "system:kube-scheduler", None),
        ("kubelet", f"system:node:{NODE_NAME}", "system:nodes"),
        ("proxy", "system:kube-proxy", None),
        # Reads Services and endpoints of all namespaces; nobody here plays the service account of a DNS.
        ("coredns", "s3ops-garage-test-dns", "system:masters"),
    ):
        _kubeconfig(folder / f"{name}.kubeconfig", network.api_url, authority, authority.issue(name, user, group))
    _containerd(folder)
    _cni(folder / "cni", network)
    _kubelet(folder, network, cgroup, authority)
    _proxy(folder, network)
    (folder / "Corefile").write_text(_corefile(folder, network), encoding="utf-8")
    # No name server beside ours: nothing in the tests may depend on the world outside.
    (folder / "resolv.conf").write_text("", encoding="utf-8")
    return [
        _etcd(folder),
        _containerd_daemon(folder),
        _api_server(folder, network, authority),
        *_others(folder, network, authority),
    ]


def _kubeconfig(path: Path, url: str, authority: Authority, pair: tuple[Path, Path]) -> None:
    name = "s3ops-garage-test"
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": name, "cluster": {"server": url, "certificate-authority": str(authority.certificate_file)}}
        ],
        "users": [{"name": name, "user": {"client-certificate": str(pair[0]), "client-key": str(pair[1])}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    _write_json(path, config)


def _containerd(folder: Path) -> None:
    # restrict_oom_score_adj: without CAP_SYS_RESOURCE no score below the own may be set, and each sandbox would fail.
    # netns_mounts_under_state_dir and opt: nothing outside of the folders that the node has to itself.
    (folder / "containerd.toml").write_text(
        f"""\
version = 2
root = {_text(folder / "containerd")}
state = "/run/containerd"

[grpc]
address = "{CONTAINERD_SOCKET}"

[plugins."io.containerd.internal.v1.opt"]
path = {_text(folder / "containerd-opt")}

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{PAUSE_IMAGE}"
restrict_oom_score_adj = true
netns_mounts_under_state_dir = true

[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "overlayfs"
default_runtime_name = "runc"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{CNI_PROGRAMS}"
conf_dir = {_text(folder / "cni")}
""",
        encoding="utf-8",
    )


def _cni(folder: Path, network: Network) -> None:
    folder.mkdir()
    bridge = {
        "type": "bridge",
        "bridge": BRIDGE,
        "isGateway": True,
        "hairpinMode": True,
        "ipam": {
            "type": "host-local",
            "ranges": [[{"subnet": network.pod_network}]],
            "routes": [{"dst": "0.0.0.0/0"}],
        },
    }
    _write_json(folder / "10-bridge.conflist", {"cniVersion": "0.4.0", "name": "garage-test", "plugins": [bridge]})


def _kubelet(folder: Path, network: Network, cgroup: str, authority: Authority) -> None:
    nothing_evicted = ("memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available")
    config = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(authority.certificate_file)},
        },
        "authorization": {"mode": "Webhook"},
        "containerRuntimeEndpoint": f"unix://{CONTAINERD_SOCKET}",
        "clusterDNS": [network.dns_address],
        "clusterDomain": "cluster.local",
        "resolvConf": str(folder / "resolv.conf"),
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{cgroup}",
        "failCgroupV1": False,
        "failSwapOn": False,
        "enforceNodeAllocatable": [],
        # A full or small machine must not change what a test sees.
        "evictionHard": dict.fromkeys(nothing_evicted, "0%"),
        "imageGCHighThresholdPercent": 100,
        "makeIPTablesUtilChains": False,
        "registerNode": True,
    }
    _write_json(folder / "kubelet.json", config)


def _proxy(folder: Path, network: Network) -> None:
    untouched = {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"}
    config = {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": str(folder / "proxy.kubeconfig")},
        "mode": "nftables",
        "clusterCIDR": network.cluster_network,
        "hostnameOverride": NODE_NAME,
        "conntrack": untouched,
    }
    _write_json(folder / "proxy.json", config)


def _corefile(folder: Path, network: Network) -> str:
    return f"""\
cluster.local in-addr.arpa {{
    bind {network.dns_address}
    errors
    kubernetes cluster.local in-addr.arpa {{
        kubeconfig {folder / "coredns.kubeconfig"}
        pods insecure
        ttl 1
    }}
}}
"""


def _etcd(folder: Path) -> Daemon:
    flags = {
        "name": NODE_NAME,
        "data-dir": folder / "etcd",
        "listen-client-urls": "http://127.0.0.1:2379",
        "advertise-client-urls": "http://127.0.0.1:2379",
        "listen-peer-urls": "http://127.0.0.1:2380",
        "initial-advertise-peer-urls": "http://127.0.0.1:2380",
        "initial-cluster": f"{NODE_NAME}=http://127.0.0.1:2380",
        # Nothing here outlives the machine's next start.
        "unsafe-no-fsync": "true",
        "log-level": "warn",
    }
    return _daemon("etcd", flags, "tcp:127.0.0.1:2379")


def _containerd_daemon(folder: Path) -> Daemon:
    command = ["containerd", "--config", str(folder / "containerd.toml"), "--log-level", "warn"]
    return Daemon("containerd", command, f"unix:{CONTAINERD_SOCKET}")


def _api_server(folder: Path, network: Network, authority: Authority) -> Daemon:
    names = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
    addresses = (network.node_address, network.api_service_address, "127.0.0.1", "localhost", *names)
    serving, serving_key = authority.issue("apiserver", "kube-apiserver", None, addresses)
    to_kubelet, to_kubelet_key = authority.issue("apiserver-kubelet", "kube-apiserver", "system:masters")
    public, private = authority.key_pair("service-accounts")
    flags = {
        "etcd-servers": "http://127.0.0.1:2379",
        "bind-address": network.node_address,
        "advertise-address": network.node_address,
        "secure-port": API_PORT,
        "cert-dir": folder / "keys",
        "tls-cert-file": serving,
        "tls-private-key-file": serving_key,
        "client-ca-file": authority.certificate_file,
        "kubelet-client-certificate": to_kubelet,
        "kubelet-client-key": to_kubelet_key,
        "kubelet-preferred-address-types": "InternalIP",
        "service-account-issuer": "https://kubernetes.default.svc.cluster.local",
        "service-account-key-file": public,
        "service-account-signing-key-file": private,
        "service-cluster-ip-range": network.service_network,
        "authorization-mode": "Node,RBAC",
        "enable-admission-plugins": "NodeRestriction",
        "allow-privileged": "true",
        # A test that stops it need not wait for open watches.
        "shutdown-delay-duration": "0s",
    }
    return _daemon("kube-apiserver", flags, f"tcp:{network.node_address}:{API_PORT}")


def _others(folder: Path, network: Network, authority: Authority) -> list[Daemon]:
    controllers = {
        "kubeconfig": folder / "controller-manager.kubeconfig",
        "leader-elect": "false",
        "allocate-node-cidrs": "true",
        "cluster-cidr": network.cluster_network,
        # Each controller has the rights of its own role; together, under one name, they would have too few.
        "use-service-account-credentials": "true",
        "root-ca-file": authority.certificate_file,
        "service-account-private-key-file": folder / "keys" / "service-accounts.key",
        "cert-dir": folder / "keys",
        "bind-address": "127.0.0.1",
        # So that a claim is looked at again soon after its volume is there.
        "pvclaimbinder-sync-period": "5s",
    }
    scheduler = {
        "kubeconfig": folder / "scheduler.kubeconfig",
        "leader-elect": "false",
        "cert-dir": folder / "keys",
        "bind-address": "127.0.0.1",
    }
    kubelet = {
        "config": folder / "kubelet.json",
        "kubeconfig": folder / "kubelet.kubeconfig",
        "hostname-override": NODE_NAME,
        "node-ip": network.node_address,
        "node-labels": f"topology.kubernetes.io/zone={ZONE}",
        "cert-dir": folder / "keys",
    }
    return [
        _daemon("kube-controller-manager", controllers),
        _daemon("kube-scheduler", scheduler),
        _daemon("kubelet", kubelet),
        _daemon("kube-proxy", {"config": folder / "proxy.json"}),
        Daemon("coredns", [str(program("coredns")), "-conf", str(folder / "Corefile")]),
    ]


def _daemon(name: str, flags: dict[str, object], listens: str | None = None) -> Daemon:
    return Daemon(name, [str(program(name)), *(f"--{flag}={value}" for flag, value in flags.items())], listens)


def _write_json(path: Path, value: object) -> None:
    # JSON is YAML, which all of these programs read.
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def _text(path: Path) -> str:
    # A JSON string of a path is a valid TOML basic string.
    return json.dumps(str(path))
