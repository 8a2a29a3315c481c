# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Getting a cluster, using one that runs, and ending it.

In this order: the one that GARAGE_TEST_KUBECONFIG names, kind where a Docker engine answers, a local node. KUBECONFIG is
not looked at, so that no test ever runs on a cluster that somebody did not mean for it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import urllib3
from kubernetes import client

from tools.check.paths import ROOT
from tools.cluster import images, kind, local, namespaces, packages, storage
from tools.cluster.state import KUBECONFIG_VARIABLE, STATE_FILE, Cluster, default_home
from tools.testbed import garage_binary
from tools.testbed.cache import Say, held
from tools.testbed.errors import SetupError
from tools.testbed.garage_binary import say_on_stderr
from tools.testbed.processes import ProcessRef
from tools.testbed.versions import DEFAULT_VERSION
from tools.testbed.waiting import wait_until

STORAGE_CLASS_VARIABLE = "GARAGE_TEST_STORAGE_CLASS"
IMAGE_VARIABLE = "GARAGE_TEST_IMAGE"
OTHER_IMAGE_VARIABLE = "GARAGE_TEST_OTHER_IMAGE"
KIND_VARIABLE = "GARAGE_TEST_CLUSTER"
READY_LIMIT_SECONDS = 240.0
READY_PAUSE_SECONDS = 0.2
END_LIMIT_SECONDS = 30.0


class Unavailable(SetupError):
    """No cluster can be had here; the text says why."""


def choose(say: Say) -> str:
    """given, kind or local. Raises Unavailable with the reasons."""
    if os.environ.get(KUBECONFIG_VARIABLE):
        return "given"
    wanted = os.environ.get(KIND_VARIABLE)
    reasons = []
    if wanted in (None, "", "kind"):
        if not (reason := kind.unavailable()):
            return "kind"
        reasons.append(reason)
    if wanted in (None, "", "local"):
        packages.install_if_told(say)
        if not (reason := local.unavailable()):
            return "local"
        reasons.append(reason)
    reasons.append(f"{KUBECONFIG_VARIABLE} names no other cluster")
    raise Unavailable("; ".join(reasons))


def up(keep: bool, home: Path | None = None, say: Say = say_on_stderr) -> Cluster:
    """The running cluster, started when there is none; `keep`: also when no test run uses it any more.

    Raises Unavailable or SetupError; nothing runs then.
    """
    home = home or default_home()
    with held(home.with_name(home.name + ".lock"), "a cluster", say):
        found = Cluster.find(home)
        if found and not missing(found) and _is_wanted(found):
            if keep and not found.keep:
                found.keep = True
                found.save()
            return found
        if found:
            say("ending what is left of an earlier cluster")
            _end(found)
        return _begin(home, keep, say)


def down(home: Path | None = None, say: Say = say_on_stderr) -> bool:
    """End the cluster and remove everything of it; False when there is none."""
    home = home or default_home()
    with held(home.with_name(home.name + ".lock"), "a cluster", say):
        found = Cluster.find(home)
        if found:
            _end(found)
        return bool(found)


def load_garage(cluster: Cluster, tag: str, say: Say = say_on_stderr) -> str:
    """Bring Garage to the node once more, under another tag; the image's name.

    To a given cluster nothing can be brought: there it is an image that it can pull, official or named by the environment.
    """
    if cluster.kind == "given":
        return os.environ.get(OTHER_IMAGE_VARIABLE) or images.official_for_one_architecture(DEFAULT_VERSION)
    name = images.garage_image(DEFAULT_VERSION).rpartition(":")[0] + f":{tag}"
    with tempfile.TemporaryDirectory(prefix="s3ops-garage-") as scratch:
        archive = Path(scratch, "garage.tar")
        images.write_garage(garage_binary.obtain(say=say), name, archive)
        if cluster.kind == "local":
            local.load(cluster.record, archive)
        else:
            kind.load(archive)
    return name


@contextlib.contextmanager
def used(home: Path | None = None, say: Say = say_on_stderr) -> Iterator[Cluster]:
    """A cluster for a test run: one that runs already, or a new one that ends with the last run that uses it."""
    home = home or default_home()
    home.parent.mkdir(parents=True, exist_ok=True)
    with open(home.with_name(home.name + ".users"), "w", encoding="ascii") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        cluster = up(keep=False, home=home, say=say)
        try:
            if left := namespaces.remove_left(cluster.api()):
                say(f"deleting what a dead test run left: {', '.join(left)}")
            yield cluster
        finally:
            if _is_last(users.fileno()) and not (Cluster.find(home) or cluster).keep:
                down(home, say)


def _is_wanted(found: Cluster) -> bool:
    """Whether a running cluster is the one that the environment names. Raises SetupError when another must end first."""
    if found.kind == "given":
        return found.kubeconfig == os.environ.get(KUBECONFIG_VARIABLE)
    wanted = os.environ.get(KIND_VARIABLE) or found.kind
    if wanted != found.kind:
        raise SetupError(f"{KIND_VARIABLE}={wanted}, and a {found.kind} cluster runs: end it with `make cluster-stop`")
    return True


def _is_last(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _begin(home: Path, keep: bool, say: Say) -> Cluster:
    cluster = Cluster(home, choose(say), uuid.uuid4().hex, keep)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    cluster.save()
    try:
        _start(cluster, say)
        _wait_ready(cluster)
        _set_up_storage(cluster)
    except BaseException:
        _show_logs(cluster, say)
        say("the cluster did not come up; ending it")
        _end(cluster)
        raise
    cluster.ready = True
    cluster.save()
    return cluster


def _start(cluster: Cluster, say: Say) -> None:
    cluster.image = os.environ.get(IMAGE_VARIABLE) or images.garage_image(DEFAULT_VERSION)
    cluster.storage_class = storage.STORAGE_CLASS
    if cluster.kind == "given":
        cluster.kubeconfig = os.environ[KUBECONFIG_VARIABLE]
        own_class = os.environ.get(STORAGE_CLASS_VARIABLE)
        cluster.storage_class = own_class or storage.STORAGE_CLASS
        cluster.storage_folder = "" if own_class else str(cluster.home / "storage")
    elif cluster.kind == "kind":
        cluster.kubeconfig = str(kind.start(cluster.home, cluster.remember, say))
        cluster.storage_folder = kind.STORAGE_FOLDER
        cluster.node_command = ["docker", "exec", kind.NODE]
    else:
        cluster.kubeconfig = str(local.start(cluster.home, cluster.remember, say))
        cluster.storage_folder = str(cluster.home / "storage")
        cluster.reaches_pods = True
    cluster.save()


def _end(cluster: Cluster) -> None:
    if cluster.storage_process:
        process = ProcessRef(**cluster.storage_process)
        process.signal(signal.SIGTERM)
        if not process.wait_gone(END_LIMIT_SECONDS):
            process.signal(signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):  # another process has started it
            os.waitpid(process.pid, 0)
    if cluster.kind == "kind":
        kind.stop(cluster.home, cluster.record)
    elif cluster.kind == "local":
        local.stop(cluster.home, cluster.record)
    else:
        storage.uninstall(cluster.api(), cluster.record.get("objects", []))
    shutil.rmtree(cluster.home / "storage", ignore_errors=True)
    (cluster.home / "storage.log").unlink(missing_ok=True)
    (cluster.home / STATE_FILE).unlink()
    cluster.home.rmdir()


def missing(cluster: Cluster) -> str | None:
    """What the cluster lacks to be used, or None."""
    if not cluster.ready:
        return "it is being started, or its start was cut off"
    if cluster.storage_process and not ProcessRef(**cluster.storage_process).is_alive():
        return "the process that makes volumes has ended"
    return _not_ready(cluster)


def _wait_ready(cluster: Cluster) -> None:
    wait_until("the cluster", lambda: _not_ready(cluster), READY_LIMIT_SECONDS, READY_PAUSE_SECONDS)


def _not_ready(cluster: Cluster) -> str | None:
    """What is missing for a pod to be started, or None."""
    core = client.CoreV1Api(cluster.api())
    # No second attempts by the library: who asks here asks again.
    core.api_client.rest_client.pool_manager.connection_pool_kw["retries"] = False
    try:
        nodes = core.list_node(_request_timeout=5).items
        if not any(c.type == "Ready" and c.status == "True" for n in nodes for c in n.status.conditions or []):
            return "no node is ready"
        accounts = core.list_namespaced_service_account("default", _request_timeout=5).items
    except (client.ApiException, urllib3.exceptions.HTTPError) as refused:
        return f"the API server does not answer: {type(refused).__name__}"
    return None if accounts else "no service account in the namespace default"


def _set_up_storage(cluster: Cluster) -> None:
    if not cluster.storage_folder:
        return
    cluster.remember({"objects": storage.install(cluster.api())})
    with open(cluster.home / "storage.log", "ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "tools.cluster.storage", str(cluster.home)],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    cluster.storage_process = vars(ProcessRef.of(child.pid))
    cluster.save()


def _show_logs(cluster: Cluster, say: Say) -> None:
    for log in sorted((cluster.home / "node" / "logs").glob("*.log")):
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-5:]
        say(f"--- the end of {log.name}:\n" + "\n".join(line[:300] for line in lines))
