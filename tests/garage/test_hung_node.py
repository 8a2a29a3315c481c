# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One of three nodes hangs: it takes no calls and closes nothing, and its peers go on believing in it for more than a minute."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from typing import Any, Protocol

import pytest
from ansible.module_utils.common import warnings as ansible_warnings
from ansible.module_utils.testing import patch_module_args

from tests.fakes.loopback import clean_environment
from tools.testbed.nodes import Cluster, Node, Site

MODULES = "ansible_collections.s3ops.garage.plugins.modules"
# Shorter than the time for which Garage itself waits for a peer (10 s here, 300 s unless configured), long enough for an answer that comes at all. A
# longer one would change nothing but who gives the node up.
TIMEOUT = 8.0


class MakeCluster(Protocol):
    def __call__(self, *sites: Site, replication_factor: int) -> Cluster: ...


@pytest.fixture(scope="module")
def nodes(make_cluster: MakeCluster) -> Iterator[tuple[Node, Node, Node]]:
    """Three nodes of which the third one hangs."""
    cluster = make_cluster(Site("paris", "paris", 3), replication_factor=3)
    cluster.make_ready()
    first, second, hung = cluster.nodes
    yield first, second, hung
    cluster.stop()
    cluster.remove()


@pytest.fixture
def run(nodes: tuple[Node, Node, Node], monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """run(module, options) -> what the module prints, at the first node, while the third one hangs."""
    clean_environment(monkeypatch)
    first, _second, hung = nodes
    token = first.spec.token_file.read_text(encoding="utf-8").strip()

    def go(module: str, options: dict[str, Any] | None = None, check: bool = False) -> dict[str, Any]:
        printed: list[str] = []
        ansible_warnings._global_warnings.clear()
        arguments = {"api_url": first.api_url, "api_token": token, "timeout": TIMEOUT, "retries": 0, "_ansible_check_mode": check, **(options or {})}
        with pytest.MonkeyPatch.context() as patch, patch_module_args(arguments), pytest.raises(SystemExit):
            patch.setattr("builtins.print", lambda text, *_more, **_options: printed.append(text))
            importlib.import_module(f"{MODULES}.{module}").main()
        assert len(printed) == 1 and "Traceback" not in printed[0] and token not in printed[0]
        return json.loads(printed[0])

    hung.pause()
    yield go
    hung.resume()


def told(result: dict[str, Any]) -> str:
    """All that a user is told in words."""
    return json.dumps([result.get("msg"), result.get("warnings")])


@pytest.mark.requirement("FC-098", "FC-028")
def test_asking_all_nodes_names_the_one_that_hangs_and_hears_the_others(nodes: tuple[Node, Node, Node], run: Any) -> None:
    first, second, hung = nodes
    strict = run("node_info", {"node": "*"})
    assert (strict["failed"], strict["changed"], strict["error"]["kind"]) == (True, False, "node_errors")
    assert [row["id"] for row in strict["errors"]] == [hung.node_id] and hung.node_id[:16] in strict["msg"]
    lenient = run("node_info", {"node": "*", "tolerate_node_errors": True})
    assert [row["id"] for row in lenient["nodes"]] == sorted([first.node_id, second.node_id])
    assert hung.node_id[:16] in told(lenient)


@pytest.mark.requirement("FC-094", "FC-098")
def test_no_setting_is_sent_to_any_node_while_one_cannot_be_read(nodes: tuple[Node, Node, Node], run: Any) -> None:
    first, _second, hung = nodes
    strict = run("worker_setting", {"scrub_tranquility": 9})
    assert (strict["failed"], strict["changed"]) == (True, False) and hung.node_id[:16] in strict["msg"]
    assert run("worker_info", {"node": first.node_id})["nodes"][0]["variables"]["scrub-tranquility"] == "4"


@pytest.mark.requirement("FC-028", "MH-17")
def test_the_cluster_can_be_looked_at_and_what_does_not_answer_is_left_out(nodes: tuple[Node, Node, Node], run: Any) -> None:
    cluster = run("cluster_info")["cluster"]
    # Nothing here waits for the hung node: status and health are what the asked node itself believes.
    assert cluster["reachable"] and len(cluster["nodes"]) == 3 and cluster["health"]["known_nodes"] == 3


@pytest.mark.requirement("FC-020", "OP-110")
def test_a_layout_is_applied_and_the_wait_for_it_names_the_node_that_lags(nodes: tuple[Node, Node, Node], run: Any) -> None:
    first, _second, hung = nodes
    roles = {"roles": [{"node": first.node_id, "zone": "paris", "capacity": "2GiB", "tags": ["first"]}], "wait": True, "wait_timeout": 1}
    predicted = run("layout", roles, check=True)
    done = run("layout", roles)
    assert predicted["changed"] and (done["failed"], done["changed"], done["error"]["kind"]) == (True, True, "timeout")
    assert hung.node_id[:16] in done["msg"] and "Done before that" in done["msg"]
    seen = run("layout_info")
    assert [row["tags"] for row in seen["layout"]["roles"] if row["id"] == first.node_id] == [["first"]]
    # A second change is not laid over a first one that somebody still has to take up.
    second = run("layout", {"roles": [{**roles["roles"][0], "tags": ["second"]}], "wait": False})
    assert (second["failed"], second["changed"]) == (True, False) and hung.node_id[:16] in second["msg"]


@pytest.mark.requirement("FC-088")
def test_after_it_wakes_up_all_is_as_it_should_be(nodes: tuple[Node, Node, Node], run: Any) -> None:
    first, _second, hung = nodes
    hung.resume()
    again = run("layout", {"roles": [{"node": first.node_id, "zone": "paris", "capacity": "2GiB", "tags": ["first"]}], "wait": True,
                           "wait_timeout": 300, "timeout": 60, "retries": 3})
    assert not again.get("failed") and again["changed"] is False
    setting = run("worker_setting", {"scrub_tranquility": 9, "timeout": 60})
    assert not setting.get("failed") and {row["variables"]["scrub-tranquility"] for row in setting["nodes"]} == {"9"}
