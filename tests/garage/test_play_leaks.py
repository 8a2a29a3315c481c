# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every playbook that needs no Kubernetes, loud and failing: no secret is in what is printed, logged, started or left behind."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.garage.conftest import MakeCluster
from tests.garage.federation_driver import Federation, federation_of
from tests.garage.leak_search import LOUD, Traces, secrets_of
from tests.garage.playbook_run import Run, run_playbook
from tools.testbed.nodes import Site

GIVEN = {
    "a wrong token": "a-wrong-token-that-nobody-may-see",
    "an imported secret": "a-secret-of-sixteen-and-more",
    "a vault password": "open-sesame-and-nothing-else",
    "an RPC secret to derive from": "5ec2e7" * 10 + "abcd",
    "a token for files": "a-token-given-for-files",
    "a token with a dot": "a-token.with-a-dot-in-it",
}
NOWHERE = "http://127.0.0.1:1"


class Plays:
    """Runs of all sites, with the site files as they are or after a change."""

    def __init__(self, federation: Federation, traces: Traces) -> None:
        self.federation, self.traces = federation, traces

    def run(self, playbook: str, *options: str, change: Any = None) -> Run:
        files = copy.deepcopy(self.federation.files)
        if change:
            change(files["paris"], files["lyon"])
        run = self.federation.run(*LOUD, *options, files=files, playbook=f"s3ops.garage.{playbook}", env=self.traces.env)
        return self.traces.add(run)

    def succeeds(self, playbook: str, *options: str) -> None:
        run = self.run(playbook, *options)
        assert run.rc == 0, run.output[-4000:]

    def fails(self, playbook: str, *options: str, change: Any = None, saying: str) -> None:
        run = self.run(playbook, *options, change=change)
        assert run.rc != 0 and saying in run.output, run.output[-4000:]


@pytest.fixture
def plays(make_cluster: MakeCluster, tmp_path: Path) -> Iterator[Plays]:
    """Two sites with secrets wherever a site file takes one."""
    cluster = make_cluster(Site("paris", "paris", 1), Site("lyon", "lyon", 1), replication_factor=2)
    traces = Traces(tmp_path)
    with federation_of(cluster, paris=1, lyon=1) as federation:
        federation.write_tokens_into_the_files()
        federation.files["paris"]["tenancy"] = {
            "keys": [
                {"name": "app", "store": {"path": str(traces.stores / "app"), "format": "env"}},
                {"name": "sealed", "store": {"path": str(traces.stores / "sealed"), "vault_password": GIVEN["a vault password"]}},
                {"name": "imported", "id": "imported-by-hand", "secret_access_key": GIVEN["an imported secret"]},
                {"derive": "default/derived", "rpc_secret": GIVEN["an RPC secret to derive from"]},
            ],
            "buckets": [{"name": "media", "grants": [{"key": "app", "read": True}]}],
            "admin_tokens": [{"name": "reader", "scope": ["ListBuckets"], "store": {"path": str(traces.stores / "reader")}}],
        }
        yield Plays(federation, traces)


def broken(paris: dict[str, Any], lyon: dict[str, Any]) -> None:
    """One site has a wrong token, the other one is not there."""
    paris["connect_to"]["api_token"] = GIVEN["a wrong token"]
    lyon["connect_to"] |= {"api_url": NOWHERE, "retries": 0}


def refused(site: dict[str, Any], _lyon: dict[str, Any]) -> None:
    """Each secret in a place that is misspelt, of another kind, or wrong in its form."""
    site["conect_to"] = copy.deepcopy(site["connect_to"])
    site["connect_to"]["api_token"] = [site["connect_to"]["api_token"]]
    sealed, imported, derived = site["tenancy"]["keys"][1:]
    sealed["store"]["vault_pasword"] = sealed["store"]["vault_password"]
    sealed["store"]["vault_password"] = {"password": sealed["store"]["vault_password"]}
    imported["secret_acces_key"] = imported["secret_access_key"]
    imported["secret_access_key"] = [imported["secret_access_key"]]
    derived["rpc_secret"] += "z"
    site["tenancy"]["admin_tokens"].append(GIVEN["a wrong token"])


def unsound(site: dict[str, Any], _lyon: dict[str, Any]) -> None:
    """What only the module that would use it can refuse."""
    site["tenancy"]["keys"][3]["rpc_secret"] += "z"


def files_role(traces: Traces, **given: str) -> Run:
    """The role that keeps credentials in files beside a Garage."""
    play = traces.stores.parent / "files.json"
    role = {"name": "s3ops.garage.credentials", "tasks_from": "files"}
    play.write_text(json.dumps([{"name": "Credentials", "hosts": "all", "gather_facts": False,
                                 "tasks": [{"name": "Files", "ansible.builtin.include_role": role}]}]), encoding="utf-8")
    (traces.stores / "node").mkdir(exist_ok=True)
    host = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable,
            "credentials_files": {"folder": str(traces.stores / "node"), "metadata_dir": str(traces.stores), **given}}
    return traces.add(run_playbook(play, {"all": {"hosts": {"node": host}}}, *LOUD, env=traces.env))


@pytest.mark.requirement("FC-079", "FC-085", "TD-40", "TD-50")
def test_no_secret_is_told_by_any_play(plays: Plays) -> None:
    traces, cluster = plays.traces, plays.federation.cluster
    page, export = traces.stores.parent / "page.html", traces.stores.parent / "export.yml"
    looks = {
        "export": ("--limit", "paris", "-e", "garage_hosts=all", "-e", f"garage_export_path={export}"),
        "status": ("-e", f"garage_status_page={page}", "-e", "garage_status_artifact=true"),
        "promote": ("-e", "garage_promote=lyon"),
        "demote": ("-e", "garage_demote=paris"),
    }
    with traces.watching():
        plays.succeeds("site", "--check")
        plays.succeeds("site")
        for playbook, options in looks.items():
            plays.succeeds(playbook, *options)
        for change, saying in ((broken, "denied"), (refused, "garage_site.conect_to"), (unsound, "rpc_secret")):
            plays.fails("site", change=change, saying=saying)
        for playbook, options in looks.items():
            for change in (broken, refused):
                plays.run(playbook, *options, change=change)
        assert files_role(traces, admin_token=GIVEN["a token for files"]).rc == 0
        assert files_role(traces, admin_token=GIVEN["a token with a dot"]).rc != 0
    kept = {traces.stores / name for name in ("app", "sealed", "reader", "node/rpc_secret", "node/admin_token", "node/metrics_token")}
    fresh = {f"what {path.name} holds": path.read_text(encoding="utf-8").strip() for path in kept if path.name not in ("app", "sealed")}
    secrets = {**GIVEN, **fresh, **secrets_of(cluster.nodes[0]), **secrets_of(cluster.nodes[1])}
    assert len([name for name in secrets if name.startswith("the secret of")]) == 4
    assert traces.found(secrets, cluster.nodes, kept) == set()
    written = page.read_text(encoding="utf-8") + export.read_text(encoding="utf-8")
    assert not [name for name, secret in secrets.items() if secret in written]
