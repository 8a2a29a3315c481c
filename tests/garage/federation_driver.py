# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several sites on one real cluster: site files, a recording proxy before each site's Admin API, and modules run through it."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
from collections.abc import Iterator
from typing import Any
from unittest import mock

from ansible.module_utils.common import warnings as ansible_warnings
from ansible.module_utils.testing import patch_module_args
from ansible_collections.s3ops.garage.plugins.module_utils._endpoints import LAYOUT_WRITES
from tests.fakes.recording_proxy import Passed, RecordingProxy
from tests.garage.playbook_run import Run, run_playbook
from tools.testbed.node import Node
from tools.testbed.nodes import Cluster, RunningSite


class Federation:
    """The first site of the cluster is the writer. Of each site, ``declared`` nodes have a place in the site files."""

    def __init__(self, cluster: Cluster, proxies: dict[str, RecordingProxy], declared: dict[str, int]) -> None:
        self.cluster = cluster
        self.proxies = proxies
        writer, *others = cluster.sites
        self.files = {site.name: self._file(site, declared[site.name]) for site in cluster.sites}
        self.files[writer.name]["replication"] = {"factor": cluster.replication_factor, "zone_redundancy": "maximum"}
        self.files[writer.name]["layout"] |= {
            "site_role": "writer",
            "external_nodes": [{**role(node), "zone": site.zone} for site in others for node in site.nodes[: declared[site.name]]],
        }

    def run(self, *options: str, files: dict[str, dict[str, Any]] | None = None, playbook: str = "s3ops.garage.site",
            env: dict[str, str] | None = None) -> Run:
        """A playbook on all sites. What passed the proxies before is forgotten."""
        self.forget()
        hosts = {
            name: {"garage_site": site, "ansible_connection": "local", "ansible_python_interpreter": sys.executable}
            for name, site in (files or self.files).items()
        }
        return run_playbook(playbook, {"all": {"hosts": hosts}}, *options, env=env)

    def module(self, site: str, name: str, options: dict[str, Any] | None = None, site_role: str | None = None, check: bool = False,
               profile: str | None = None) -> dict[str, Any]:
        """The result of one module run in this process, through the site's proxy. ``profile`` is the site role in the environment."""
        clean = {key: value for key, value in os.environ.items() if not key.startswith("GARAGE_")}
        with mock.patch.dict(os.environ, {**clean, **({"GARAGE_SITE_ROLE": profile} if profile else {})}, clear=True):
            return module_result(name, {**self.way(site), **({"site_role": site_role} if site_role else {}), **(options or {})}, check)

    def take(self, name: str) -> list[Passed]:
        """What has passed the site's proxy since the last run began."""
        return self.proxies[name].take()

    def forget(self) -> None:
        for proxy in self.proxies.values():
            proxy.take()

    def write_tokens_into_the_files(self) -> list[str]:
        """In place of the names of the token files; returns the tokens."""
        tokens = {site.name: site.token for site in self.cluster.sites}
        for name, site in self.files.items():
            for place, target in ((site["connect_to"], name), *((remote, remote["name"]) for remote in site["remotes"])):
                del place["api_token_file"]
                place["api_token"] = tokens[target]
        return list(tokens.values())

    def layout_version(self) -> int:
        return self.cluster.nodes[0].admin.get("GetClusterLayout")["version"]

    def way(self, name: str) -> dict[str, Any]:
        return {"api_url": self.proxies[name].url, "api_token_file": str(self.cluster.site(name).token_file)}

    def _file(self, site: RunningSite, declared: int) -> dict[str, Any]:
        return {
            "name": site.name,
            "zone": site.zone,
            "connect_to": {**self.way(site.name), "peers": [node.rpc_address for node in site.nodes]},
            "layout": {"site_role": "follower", "nodes": [role(node) for node in site.nodes[:declared]]},
            "remotes": [{"name": other.name, "zone": other.zone, **self.way(other.name)} for other in self.cluster.sites if other is not site],
        }


@contextlib.contextmanager
def federation_of(cluster: Cluster, **declared: int) -> Iterator[Federation]:
    """With a recording proxy before each site; stopped and removed afterwards."""
    with contextlib.ExitStack() as stack:
        proxies = {site.name: stack.enter_context(RecordingProxy(site.api_url)) for site in cluster.sites}
        yield Federation(cluster, proxies, declared)
    cluster.stop()
    cluster.remove()


def module_result(name: str, arguments: dict[str, Any], check: bool = False) -> dict[str, Any]:
    """What the module ``name`` printed, run in this process."""
    module = importlib.import_module(f"ansible_collections.s3ops.garage.plugins.modules.{name}")
    ansible_warnings._global_warnings.clear()
    printed = io.StringIO()
    with patch_module_args({**arguments, "_ansible_check_mode": check}), contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        module.main()
    return json.loads(printed.getvalue())


def role(node: Node) -> dict[str, Any]:
    return {"node": node.node_id, "capacity": "1GB", "tags": [node.spec.site]}


def layout_writes(passed: list[Passed]) -> list[str]:
    return [request.endpoint for request in passed if request.endpoint in LAYOUT_WRITES]


def posts(passed: list[Passed]) -> list[str]:
    return [request.endpoint for request in passed if request.method != "GET"]


def succeeded(run: Run) -> bool:
    """For an assertion that shows all that was printed when it fails."""
    assert run.rc == 0, run.output
    return True
