# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Local Garage nodes to play with: `python3 -m tools.testbed up|status|down`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from tools.testbed import garage_binary
from tools.testbed.admin_api import AdminApiError
from tools.testbed.errors import SetupError
from tools.testbed.node import Node
from tools.testbed.nodes import DESCRIPTION_FILE, STATE_FILE, Cluster, Site
from tools.testbed.versions import DEFAULT_VERSION


def up(options: argparse.Namespace) -> int:
    """Start the cluster, or what does not run of it; it keeps running when this program ends."""
    cluster = _cluster(options)
    cluster.start()
    if options.layout:
        cluster.make_ready()
    print(json.dumps(cluster.describe(), indent=2))
    garage_binary.say_on_stderr(f"{len(cluster.nodes)} nodes run; described in {cluster.folder / DESCRIPTION_FILE}")
    return 0


def down(options: argparse.Namespace) -> int:
    """Stop the nodes and remove them with their data, unless told to keep it."""
    cluster = Cluster.load(options.folder)
    cluster.stop()
    if not options.keep:
        cluster.remove()
    return 0


def status(options: argparse.Namespace) -> int:
    """One line a node; 1 when one of them does not run."""
    cluster = Cluster.load(options.folder)
    for node in cluster.nodes:
        print(f"{node.name:12} {node.zone:10} {node.api_url:24} {_condition(node)}")
    return 0 if all(node.is_running for node in cluster.nodes) else 1


def _cluster(options: argparse.Namespace) -> Cluster:
    if not (options.folder / STATE_FILE).exists():
        sites = options.site or [Site("garage", "garage", 1)]
        return Cluster(garage_binary.obtain(options.version), options.folder, sites, options.factor)
    cluster = Cluster.load(options.folder)
    if (options.site and options.site != cluster.wanted_sites) or options.factor != cluster.replication_factor:
        raise SetupError(f"another cluster is in {options.folder}: name another folder, or end that one with down")
    return cluster


def _condition(node: Node) -> str:
    if not node.is_running:
        return "stopped"
    try:
        health = node.admin.get("GetClusterHealth")
    except AdminApiError as broken:
        return f"running, {broken}"
    return f"running, {health['status']}, connected to {health['connectedNodes']} of {health['knownNodes']}"


def _site(text: str) -> Site:
    name, _colon, count = text.partition(":")
    if not count.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME:NODES, such as paris:2")
    return Site(name, name, int(count))


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 -m tools.testbed", description="Local Garage nodes to play with.")
    commands = parser.add_subparsers(required=True)

    def command(name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=text)
        made.add_argument("--folder", type=Path, required=True, help="where the nodes keep everything")
        made.set_defaults(run=run)
        return made

    starter = command("up", up, "Start nodes that run on in the background.")
    starter.add_argument(
        "--site",
        type=_site,
        action="append",
        metavar="NAME:NODES",
        help="a site, in a zone of the same name; repeatable (default: garage:1)",
    )
    starter.add_argument("--factor", type=int, default=3, help="replication factor (default: %(default)s)")
    starter.add_argument("--layout", action="store_true", help="connect the nodes, apply a layout, wait until healthy")
    starter.add_argument(
        "--version", default=DEFAULT_VERSION, help="version of Garage (default: %(default)s)"
    )
    stopper = command("down", down, "Stop the nodes and remove them.")
    stopper.add_argument("--keep", action="store_true", help="keep the data; up starts the same nodes again")
    command("status", status, "Show the nodes.")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = _arguments(arguments)
    try:
        return int(options.run(options))
    except SetupError as failed:
        garage_binary.say_on_stderr(str(failed))
        return 1


if __name__ == "__main__":
    sys.exit(main())
