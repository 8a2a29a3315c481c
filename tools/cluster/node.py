# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first process of the local node, in namespaces of its own: mounts, addresses, then the daemons, which it keeps alive.

Started as `unshare --mount --pid --net --fork --kill-child --mount-proc python -m tools.cluster.node FOLDER`. When it
is killed, the kernel ends every process of the node, and with the last of them go mounts, addresses, rules and network
namespaces: nothing of the node can stay behind, however its end came.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tools.cluster.network import NODE_LINK, Network, is_there
from tools.testbed.waiting import wait_until

PLAN_FILE = "node.json"
# Where daemons of a node write without being asked where to; the machine's own folders are not touched.
PRIVATE_FOLDERS = ("/run", "/var/lib", "/var/log")
IMPORT = ("ctr", "--namespace", "k8s.io", "images", "import")
READY_LIMIT_SECONDS = 180.0
RESTART_PAUSE_SECONDS = 1.0


def main() -> int:
    folder = Path(sys.argv[1])
    plan = json.loads((folder / PLAN_FILE).read_text(encoding="utf-8"))
    _mount(folder)
    wait_until(f"the link {NODE_LINK}", _no_link)
    Network(plan["slot"]).set_up_node()
    running: dict[int, dict[str, Any]] = {}
    for daemon in plan["daemons"]:
        running[_start(folder, daemon)] = daemon
        if daemon["listens"]:
            wait_until(f"{daemon['name']} to listen", lambda: _not_listening(daemon["listens"]), READY_LIMIT_SECONDS)
        for image in daemon["images"]:
            subprocess.run([*IMPORT, image], check=True)
    _keep_alive(folder, running)
    return 0


def _mount(folder: Path) -> None:
    # Shared among the mount namespaces of the node's pods, and with nobody else: unshare made all private before.
    subprocess.run(["mount", "--make-rshared", "/"], check=True)
    for name in PRIVATE_FOLDERS:
        own = folder / "private" / name.strip("/").replace("/", "-")
        own.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "--bind", own, name], check=True)


def _no_link() -> str | None:
    return None if is_there(NODE_LINK) else "it is not there"


def _start(folder: Path, daemon: dict[str, Any]) -> int:
    with open(folder / "logs" / f"{daemon['name']}.log", "ab") as log:
        return subprocess.Popen(daemon["command"], stdin=subprocess.DEVNULL, stdout=log, stderr=log).pid


def _not_listening(address: str) -> str | None:
    kind, _colon, place = address.partition(":")
    try:
        if kind == "unix":
            with socket.socket(socket.AF_UNIX) as probe:
                probe.connect(place)
        else:
            host, _colon, port = place.rpartition(":")
            socket.create_connection((host, int(port)), timeout=5).close()
    except OSError as refused:
        return str(refused)
    return None


def _keep_alive(folder: Path, running: dict[int, dict[str, Any]]) -> None:
    """Collect what ends, as the first process must for all; a daemon that has ended is started again."""
    while True:
        pid, status = os.wait()
        daemon = running.pop(pid, None)
        if daemon:
            print(f"{daemon['name']} has ended ({os.waitstatus_to_exitcode(status)}); starting it again", flush=True)
            time.sleep(RESTART_PAUSE_SECONDS)
            running[_start(folder, daemon)] = daemon


if __name__ == "__main__":
    sys.exit(main())
