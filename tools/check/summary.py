# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Close a run with one plain line: how many tests passed and failed, integration targets counted as one each."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from tools.check.paths import RESULTS


def main() -> int:
    total: Counter[str] = Counter()
    for name in ("unit", "real"):
        total += show(name, pytest_outcomes(RESULTS / f"{name}.xml"))
    total += show("integration", Counter(passed=len(integration_targets(RESULTS / "integration"))))
    for name, lack in (("awx", "no Python of 3.12 or newer is here"), ("kubernetes", "no cluster can be had here")):
        if (RESULTS / f"{name}.xml").exists():
            total += show(name, pytest_outcomes(RESULTS / f"{name}.xml"))
        else:
            print(f"==> {name}: not run, as {lack}")
    print(f"{total['passed']} passed, {total['failed']} failed")
    return 1 if total["failed"] or not total["passed"] else 0


def show(name: str, outcomes: Counter[str]) -> Counter[str]:
    print(f"==> {name}: {', '.join(f'{count} {outcome}' for outcome, count in sorted(outcomes.items()))}")
    return outcomes


def pytest_outcomes(report: Path) -> Counter[str]:
    """The outcome of each test case in a report of pytest."""
    cases = ElementTree.parse(report).iter("testcase")
    return Counter(outcome({child.tag for child in case}) for case in cases)


def integration_targets(reports: Path) -> set[str]:
    """The targets that left a report; ansible-test ends at the first that fails, and the run with it."""
    return {report.name.partition("-")[0] for report in reports.glob("*.xml")}


def outcome(tags: set[str]) -> str:
    if tags & {"failure", "error"}:
        return "failed"
    return "skipped" if "skipped" in tags else "passed"


if __name__ == "__main__":
    sys.exit(main())
