# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a tenancy costs: one ``tenancy`` task beside a bare script that sends exactly the necessary requests (``make bench``).

For each size n: n buckets with quotas, n access keys and 2 n grants on a Garage node of their own; from empty, again with nothing to do, and with one
bucket in a hundred changed. Wall time of the whole ``ansible-playbook``, requests as the server counts them, peak memory of the largest
process. Nothing here passes or fails; the figures go to docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import Any

import requests
from tools.testbed.garage_binary import obtain
from tools.testbed.nodes import Cluster, Site

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance.md"
PLAYBOOK = Path(sys.executable).with_name("ansible-playbook")
IN_FLIGHT = 4  # the module's own default
SIZE = {"max_size": "1GB", "max_objects": "1000"}


@dataclass(frozen=True)
class Figure:
    """Seconds of wall time, requests the server counted, MB of the largest process."""

    seconds: float
    requests: int
    megabytes: float = 0.0


# By size: case, module, bare script.
Results = dict[int, list[tuple[str, Figure, Figure]]]


def document(n: int, changed: int = 0) -> dict[str, Any]:
    """The tenancy; of the first ``changed`` buckets the quota is another one."""
    return {
        "keys": [{"name": f"key-{i}"} for i in range(n)],
        "buckets": [{
            "name": f"bucket-{i}",
            "quotas": {**SIZE, "max_size": "2GB"} if i < changed else SIZE,
            "grants": [{"key": f"key-{i}", "read": True, "write": True}, {"key": f"key-{(i + 1) % n}", "read": True}],
        } for i in range(n)],
    }


class Bare:
    """The necessary requests and nothing else, as many at a time as the module has in flight."""

    def __init__(self, cluster: Cluster) -> None:
        self._url = cluster.api_url
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers["Authorization"] = f"Bearer {cluster.token}"
        self._pool = ThreadPoolExecutor(IN_FLIGHT)
        self._keys: list[str] = []
        self._buckets: list[str] = []

    def close(self) -> None:
        self._pool.shutdown()
        self._session.close()

    def look(self) -> None:
        for endpoint in ("ListBucketsInfo", "ListKeysInfo"):
            self._call("GET", endpoint, {"limit": "1000000"}, None)

    def create(self, n: int) -> None:
        self.look()
        self._keys = self._all(lambda i: self._post("CreateKey", {"name": f"key-{i}"})["accessKeyId"], range(n))
        self._buckets = self._all(self._bucket, range(n))
        self._all(self._grants, range(n))

    def change(self, changed: int) -> None:
        self.look()
        self._all(lambda i: self._post("UpdateBucket", {"quotas": {"maxSize": 2 * 10**9, "maxObjects": 1000}}, id=self._buckets[i]), range(changed))

    def _bucket(self, i: int) -> str:
        bucket = self._post("CreateBucket", {"globalAlias": f"bucket-{i}"})["id"]
        self._post("UpdateBucket", {"quotas": {"maxSize": 10**9, "maxObjects": 1000}}, id=bucket)
        return bucket

    def _grants(self, i: int) -> None:
        for key, rights in ((i, {"read": True, "write": True}), ((i + 1) % len(self._keys), {"read": True})):
            self._post("AllowBucketKey", {"bucketId": self._buckets[i], "accessKeyId": self._keys[key], "permissions": rights})

    def _all(self, work: Callable[[int], Any], items: Iterable[int]) -> list[Any]:
        return list(self._pool.map(work, items))

    def _post(self, endpoint: str, body: Any, **query: str) -> Any:
        return self._call("POST", endpoint, query, body)

    def _call(self, method: str, endpoint: str, query: dict[str, str], body: Any) -> Any:
        answer = self._session.request(method, f"{self._url}/v2/{endpoint}", params=query, json=body, timeout=600)
        answer.raise_for_status()
        return answer.json()


def counted(cluster: Cluster) -> int:
    """Admin API requests that the node has counted so far."""
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{cluster.api_url}/metrics", timeout=60) as answer:
        text = answer.read().decode()
    return sum(int(found) for found in re.findall(r'^api_admin_request_counter\{api_endpoint="/v2/[^}]*\} (\d+)', text, re.M))


def measured(cluster: Cluster, work: Callable[[], float]) -> Figure:
    """``work`` returns the peak memory it saw, in MB."""
    before, started = counted(cluster), time.monotonic()
    megabytes = work()
    return Figure(time.monotonic() - started, counted(cluster) - before, megabytes)


def play(folder: Path, cluster: Cluster | None, options: dict[str, Any] | None) -> float:
    """Run one task by ansible-playbook, without a connection the task that does nothing. Returns the peak memory of its largest process in MB."""
    task = {"ansible.builtin.ping": {}}
    environment = {**os.environ, "ANSIBLE_LOCALHOST_WARNING": "False", "ANSIBLE_INVENTORY_UNPARSED_WARNING": "False"}
    if cluster and options is not None:
        task = {"s3ops.garage.tenancy": {"api_url": cluster.api_url, "api_token_file": str(cluster.token_file), **options}}
    playbook = folder / "play.json"
    playbook.write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": [task]}]), encoding="utf-8")
    process = Popen([str(PLAYBOOK), str(playbook)], cwd=ROOT, env=environment, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
    output = b"".join(process.communicate())
    # communicate() has waited already, so the figures of the whole tree are those of all children; each size is measured rising.
    if process.returncode:
        raise SystemExit(f"the playbook failed:\n{output.decode(errors='replace')[-2000:]}")
    import resource

    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def bench(n: int, binary: Path, folder: Path) -> list[tuple[str, Figure, Figure]]:
    """(case, module, bare) for one size; each side on a fresh node of its own."""
    changed = max(1, n // 100)
    rows = []
    node = [Site("bench", "bench")]
    with Cluster(binary, folder / f"module-{n}", node, 1) as ours, Cluster(binary, folder / f"bare-{n}", node, 1) as theirs:
        ours.make_ready()
        theirs.make_ready()
        bare = Bare(theirs)
        cases: list[tuple[str, dict[str, Any], Callable[[], None]]] = [
            ("from empty", document(n), lambda: bare.create(n)),
            ("nothing to do", document(n), bare.look),
            ("1 % changed", document(n, changed), lambda: bare.change(changed)),
        ]
        for case, options, work in cases:
            say(f"{n} buckets, {case}: module")
            module = measured(ours, lambda options=options: play(folder, ours, options))
            say(f"{n} buckets, {case}: bare script")
            alone = measured(theirs, lambda work=work: work() or 0.0)
            rows.append((case, module, alone))
            say(f"  module {module.seconds:.1f} s, {module.requests} requests, {module.megabytes:.0f} MB;"
                f" bare {alone.seconds:.1f} s, {alone.requests} requests")
        bare.close()
    return rows


def say(text: str) -> None:
    print(text, flush=True)


def page(start: float, results: Results) -> str:
    lines = ["<!--", "SPDX-FileCopyrightText: 2026 s3ops.garage contributors", "SPDX-License-Identifier: GPL-3.0-or-later", "-->", "# Performance", "",
             "Written by `make bench`: one `s3ops.garage.tenancy` task for n buckets with quotas, n access keys and 2 n grants, beside a bare script that",
             f"sends exactly the necessary requests, {IN_FLIGHT} at a time like the module. One Garage 2.5.0 node each, on the machine that ran it "
             f"({os.cpu_count()} cores,",
             "shared by Garage and Ansible). Nearly all of a request's time is the server's check of the token (Argon2).", "",
             f"Ansible's own start, a play with one task that does nothing: {start:.1f} s. The ratio is (module - start) / bare.", "",
             "| n | case | module | bare script | ratio | requests, module / bare | per bucket | peak memory |", "|---|---|---|---|---|---|---|---|"]
    for n, rows in results.items():
        for case, module, alone in rows:
            own = max(module.seconds - start, 0.0)
            lines.append(f"| {n:,} | {case} | {module.seconds:.1f} s | {alone.seconds:.1f} s | {own / alone.seconds:.2f} |"
                         f" {module.requests:,} / {alone.requests:,} | {1000 * own / n:.1f} ms | {module.megabytes:.0f} MB |")
    return "\n".join(lines + growth(results)) + "\n"


def growth(results: Results) -> list[str]:
    """What each further bucket costs from one size to the next, and whether that stays the same; fixed costs drop out."""
    sizes = list(results)
    spans = list(zip(sizes, sizes[1:]))
    if not spans:
        return []
    lines = ["", "What each further bucket costs, with its key and its two grants, between one size and the next. The flatness is the last of these",
             "over the first, for the module and for the bare script: 1 where the cost of an item does not depend on how many there are.", "",
             f"| case | {' | '.join(f'{small:,} to {large:,}' for small, large in spans)} | flatness, module / bare |",
             "|---" * (len(spans) + 2) + "|"]
    for number, (case, *_figures) in enumerate(results[sizes[0]]):
        steps = [[(results[large][number][side].seconds - results[small][number][side].seconds) / (large - small) for small, large in spans]
                 for side in (1, 2)]
        costs = " | ".join(f"{1000 * cost:.2f} ms" for cost in steps[0])
        flat = " / ".join(flatness(side) for side in steps)
        lines.append(f"| {case} | {costs} | {flat} |")
    return lines


def flatness(costs: list[float]) -> str:
    return f"{costs[-1] / costs[0]:.2f}" if len(costs) > 1 and min(costs) > 0 else "one span only" if len(costs) == 1 else "not measurable"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", nargs="*", type=int, default=[100, 1000])
    binary, sizes = obtain(), sorted(parser.parse_args().sizes)
    with tempfile.TemporaryDirectory(prefix="s3ops-bench-") as scratch:
        folder = Path(scratch)
        starts = []
        for _run in range(3):
            started = time.monotonic()
            play(folder, None, None)
            starts.append(time.monotonic() - started)
        # The largest size takes most of an hour on a small machine; what was measured before it is worth seeing if it is broken off.
        results: Results = {}
        for n in sizes:
            results[n] = bench(n, binary, folder)
            say(page(sorted(starts)[1], results))
    kept = PAGE.read_text(encoding="utf-8").partition("\n## ")
    PAGE.write_text(page(sorted(starts)[1], results) + "".join(kept[1:]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
