# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two sites from two site files, on a Garage of three local nodes: `python -m tools.quickstart up|stop`."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path
from shlex import quote
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from tools.testbed import garage_binary
from tools.testbed.config import REGION
from tools.testbed.errors import SetupError
from tools.testbed.nodes import STATE_FILE, Cluster, Site

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "quickstart"
FOLDER = ROOT / ".quickstart"
BIN = Path(sys.executable).parent
NODES, VARIABLES, CREDENTIALS, SETTINGS = "nodes", "testbed.json", "credentials", "ansible.cfg"
SITES = [Site("paris", "paris", 2), Site("lyon", "lyon", 1)]
LAYOUT_WRITE = re.compile(r"POST /v2/(?:UpdateClusterLayout|ApplyClusterLayout|RevertClusterLayout|ClusterLayoutSkipDeadNodes)\b")
RECAP = re.compile(r"^(\S+)\s+: ok=\d+\s+changed=(\d+)\s+unreachable=\d+\s+failed=(\d+)")
OBJECT = ("hello.txt", b"written through paris, read back through lyon\n")


def up(folder: Path) -> int:
    """Start the nodes, run the playbook twice, carry an object from one site to the other. Works again on what is up already."""
    say("nodes: two in paris, one in lyon")
    cluster = start(folder)
    say("the playbook s3ops.garage.site, for both sites")
    play(folder, "s3ops.garage.site")
    say("the secret of the key app, into a file for S3 clients")
    play(folder, str(EXAMPLE / "credentials.yml"), "-e", json.dumps({"credentials_file": str(folder / CREDENTIALS)}), quiet=True)
    say("an object, written through paris and read back through lyon")
    carry_object(cluster, folder)
    say("the same playbook again")
    changed = sum(count for _host, count in recap(play(folder, "s3ops.garage.site", quiet=True)))
    if changed:
        raise SetupError(f"the second run changed {changed} things; it should have changed nothing")
    print("\n".join(("", *made(cluster), "", *look_around(cluster, folder))))
    return 0


def stop(folder: Path) -> int:
    """Stop the nodes and remove the folder with all that they stored."""
    if not folder.exists():
        say(f"nothing to stop: there is no {shown(folder)}")
        return 0
    if (folder / NODES / STATE_FILE).exists():
        cluster = Cluster.load(folder / NODES)
        cluster.stop()
        cluster.remove()
    for name in (VARIABLES, CREDENTIALS, SETTINGS):
        (folder / name).unlink(missing_ok=True)
    folder.rmdir()
    say("stopped, and removed with all data")
    return 0


def start(folder: Path) -> Cluster:
    """The running cluster, and beside it the variables that the site files need."""
    nodes = folder / NODES
    cluster = Cluster.load(nodes) if (nodes / STATE_FILE).exists() else Cluster(garage_binary.obtain(), nodes, SITES, 3)
    cluster.start()
    sites = {
        site.name: {
            "api_url": site.api_url,
            "token_file": str(site.token_file),
            "nodes": site.node_ids,
            "peers": [node.rpc_address for node in site.nodes],
        }
        for site in cluster.sites
    }
    (folder / VARIABLES).write_text(json.dumps({"testbed": sites}, indent=2) + "\n", encoding="utf-8")
    # A developer's own ansible.cfg has no say here.
    (folder / SETTINGS).touch()
    return cluster


def play(folder: Path, playbook: str, *options: str, quiet: bool = False) -> list[str]:
    """Run a playbook on the two sites and return the lines it printed; with `quiet` they are shown only when it fails."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "GARAGE_"))}
    variables = inherited | {"ANSIBLE_CONFIG": str(folder / SETTINGS), "ANSIBLE_DISPLAY_SKIPPED_HOSTS": "false", "PYTHONUNBUFFERED": "1",
                             # Before a release that is installed for the user.
                             "ANSIBLE_COLLECTIONS_PATH": sysconfig.get_path("purelib")}
    command = [str(BIN / "ansible-playbook"), "-i", str(EXAMPLE / "inventory.yml"), "-e", f"@{folder / VARIABLES}", *options, playbook]
    process = subprocess.Popen(
        command, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    lines = []
    with process:
        for line in process.stdout:
            lines.append(line.rstrip())
            if line.strip() and not quiet:
                print(f"    {line}", end="", flush=True)
    if process.returncode:
        raise SetupError("\n".join([*(lines if quiet else ()), f"{playbook} failed: see the lines above"]))
    return lines


def recap(lines: list[str]) -> Iterator[tuple[str, int]]:
    """Each host of a run with the number of its tasks that changed something."""
    yield from ((found[1], int(found[2])) for line in lines if (found := RECAP.match(line)))


def carry_object(cluster: Cluster, folder: Path) -> None:
    """Write with the key app at one site, read at the other, compare. Raises SetupError."""
    keys = ConfigParser()
    keys.read(folder / CREDENTIALS, encoding="utf-8")
    name, content = OBJECT
    try:
        paris, lyon = (s3_client(cluster.site(site).s3_url, dict(keys["default"])) for site in ("paris", "lyon"))
        paris.put_object(Bucket="media", Key=name, Body=content)
        found = lyon.get_object(Bucket="media", Key=name)["Body"].read()
    except (BotoCoreError, ClientError) as refused:
        raise SetupError(f"S3: {refused}") from None
    if found != content:
        raise SetupError(f"lyon gave back {len(found)} bytes that differ from the {len(content)} written through paris")


def s3_client(url: str, key: dict[str, str]) -> Any:
    """A client for one site that neither the environment nor a proxy leads elsewhere."""
    settings = Config(s3={"addressing_style": "path"}, proxies={}, retries={"total_max_attempts": 3})
    return boto3.client("s3", endpoint_url=url, region_name=REGION, config=settings, **key)


def made(cluster: Cluster) -> Iterator[str]:
    """What is there now, as the servers tell it."""
    admin = cluster.nodes[0].admin
    version = admin.get("GetClusterLayout")["version"]
    writes = {site.name: sum(len(LAYOUT_WRITE.findall(node.log_file.read_text("utf-8", "replace"))) for node in site.nodes) for site in cluster.sites}
    yield f"layout   version {version}; layout writes received: paris (the writer) {writes['paris']}, lyon (a follower) {writes['lyon']}"
    if writes["lyon"]:
        raise SetupError("a follower should receive no layout write")
    yield from (bucket_line(admin.get("GetBucketInfo", id=row["id"])) for row in admin.get("ListBuckets"))
    yield from (f"key      {key['name']} ({key['id']})" for key in admin.get("ListKeys"))
    yield f"object   media/{OBJECT[0]}: written through paris, read back through lyon, equal"
    yield "again    the second run changed nothing"
    yield from (f"{site.name:8} Admin API {site.api_url}   S3 {site.s3_url}   web {site.web_url}" for site in cluster.sites)


def bucket_line(bucket: dict[str, Any]) -> str:
    """Names, limits and grants of a GetBucketInfo answer in one line."""
    facts = [f"{what} {limit}" for what, limit in sorted(bucket["quotas"].items()) if limit is not None]
    facts += ["website"] if bucket["websiteAccess"] else []
    facts += [f"{key['name']} may {', '.join(right for right, given in sorted(key['permissions'].items()) if given)}" for key in bucket["keys"]]
    return f"bucket   {' = '.join(sorted(bucket['globalAliases']))}: {'; '.join(facts)}"


def look_around(cluster: Cluster, folder: Path) -> Iterator[str]:
    """Lines to paste."""
    ansible, example = shown(BIN / "ansible"), shown(EXAMPLE)
    yield "Look around:"
    yield f"  export GARAGE_ADMIN_URL={cluster.api_url} GARAGE_ADMIN_TOKEN_FILE={quote(str(cluster.token_file))}"
    yield f"  {ansible} localhost -m s3ops.garage.cluster_info"
    yield f"  {ansible} localhost -m s3ops.garage.bucket_info -a name=media"
    yield f'  {ansible} localhost -m s3ops.garage.bucket -a "name=pictures" --check --diff'
    yield f"Change a site file in {example}/host_vars, then see what would happen:"
    yield f"  {ansible}-playbook -i {example}/inventory.yml -e @{shown(folder / VARIABLES)} s3ops.garage.site --check --diff"
    yield "Stop and remove it all:"
    yield "  make quickstart-stop"


def shown(path: Path) -> str:
    """To be pasted into a shell, short where it can be."""
    return quote(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))


def say(text: str) -> None:
    print(f"==> {text}", flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.quickstart", description="Two sites on a local Garage, from two site files.")
    parser.add_argument("command", choices=["up", "stop"])
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where nodes and data live (default: .quickstart in the checkout)")
    options = parser.parse_args(arguments)
    try:
        return {"up": up, "stop": stop}[options.command](options.folder.absolute())
    except SetupError as error:
        print(f"{error}\nWhat is up so far stays up; `make quickstart` tries again, `make quickstart-stop` ends it", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
