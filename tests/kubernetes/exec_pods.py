# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods with a Garage that has no Admin API to reach, and accounts that may do little."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from kubernetes import client

from tests.garage.ansible_run import run_module
from tests.garage.playbook_run import Run, run_playbook
from tests.kubernetes.namespaces import Namespace

# Without [admin] no Admin API listens, and there is no token.
CONFIG = """\
metadata_dir = "/data/metadata"
data_dir = "/data/objects"
db_engine = "sqlite"
replication_factor = 1
rpc_bind_addr = "[::]:3901"
[s3_api]
api_bind_addr = "[::]:3900"
s3_region = "garage"
"""
RPC_SECRET = "6b" * 32


def garage_pod(namespace: Namespace, name: str, config: str = CONFIG, **container: Any) -> dict:
    """A pod that keeps nothing, with the labels app=garage; ``container`` beats what its container is made of."""
    mounts = [{"name": "config", "mountPath": "/etc/garage"}, {"name": "data", "mountPath": "/data"}]
    server = {"name": "garage", "image": namespace.cluster.image, "imagePullPolicy": "IfNotPresent", "command": ["/garage", "-c",
              "/etc/garage/garage.toml", "server"], "env": [{"name": "GARAGE_RPC_SECRET", "value": RPC_SECRET}], "volumeMounts": mounts,
              "readinessProbe": {"tcpSocket": {"port": 3900}, "periodSeconds": 1}, "terminationMessagePolicy": "FallbackToLogsOnError", **container}
    volumes = [{"name": "config", "configMap": {"name": name}}, {"name": "data", "emptyDir": {}}]
    namespace.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"garage.toml": config}})
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "garage"}},
            "spec": {"containers": [server], "volumes": volumes, "terminationGracePeriodSeconds": 1}}


class ByCommands:
    """Modules as a user runs them, by commands in the pods of one namespace."""

    def __init__(self, namespace: Namespace, kubeconfig: str, **spot: str) -> None:
        where = {"namespace": namespace.name, "kubeconfig": kubeconfig, **(spot or {"label_selector": "app=garage"})}
        self.connection = {"transport": "exec", "kubernetes": where, "timeout": 60}

    def __call__(self, module: str, args: dict[str, Any], **options: Any) -> dict[str, Any]:
        return run_module(module, args, self.connection, **options)

    def play(self, folder: Path, steps: list[tuple[str, dict[str, Any]]], *options: str) -> Run:
        """All in one play, with the connection written once."""
        path = folder / "play.yml"
        path.write_text(json.dumps([{
            "name": "By commands", "hosts": "all", "gather_facts": False, "module_defaults": {"group/s3ops.garage.garage": self.connection},
            "tasks": [{"name": f"Step {number}", f"s3ops.garage.{module}": args} for number, (module, args) in enumerate(steps)]}]), encoding="utf-8")
        host = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        run = run_playbook(path, {"all": {"hosts": {"here": host}}}, *options)
        assert run.rc == 0, run.output
        return run


def limited_account(namespace: Namespace, folder: Path, *rules: dict[str, list[str]]) -> str:
    """The kubeconfig of an account that has these rights in the namespace and no others."""
    name = f"limited-{len(rules)}-{len(rules[-1]['verbs']) if rules else 0}"
    rbac = client.RbacAuthorizationV1Api(namespace.api)
    namespace.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}})
    rbac.create_namespaced_role(namespace.name, {"metadata": {"name": name}, "rules": [{"apiGroups": [""], **rule} for rule in rules]})
    rbac.create_namespaced_role_binding(namespace.name, {
        "metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace.name}]})
    token = namespace.core.create_namespaced_service_account_token(name, namespace.name, {"spec": {"expirationSeconds": 3600}}).status.token
    own = namespace.api.configuration
    cluster: dict[str, Any] = {"server": own.host}
    if own.ssl_ca_cert:
        cluster["certificate-authority"] = own.ssl_ca_cert
    path = folder / f"{name}.json"
    path.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "x", "clusters": [{"name": "x", "cluster": cluster}],
        "users": [{"name": "x", "user": {"token": token}}], "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}]}), encoding="utf-8")
    return str(path)
