# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the documentation that ships: every page complete as ansible-doc shows it, every reference and markup right."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.check.paths import VENV, environment
from tools.check.stage import staged_copy

PAGE = ("short_description", "description", "author", "version_added", "attributes")


def main() -> int:
    with staged_copy("docs") as staged:
        return check(staged)


def check(staged: Path) -> int:
    modules = sorted(file.stem for file in (staged / "plugins" / "modules").glob("*.py"))
    faults = [fault for name, page in pages(staged, modules).items() for fault in page_faults(name, page)]
    faults += [f"role {role}: no argument specification" for role in roles_without_page(staged)]
    print("\n".join([*faults, f"{len(modules)} module pages read, {len(faults)} fault(s)"]), flush=True)
    lint = tool(
        "antsibull-docs",
        "lint-collection-docs",
        "--plugin-docs",
        "--check-extra-docs-refs",
        "--validate-collection-refs=all",
        str(staged),
        staged=staged,
        check=False,
    )
    print(lint.stdout, end="")
    return 1 if faults or lint.returncode or not modules else 0


def pages(staged: Path, modules: list[str]) -> dict[str, Any]:
    names = [f"s3ops.garage.{module}" for module in modules]
    return json.loads(tool("ansible-doc", "--json", "--type", "module", *names, staged=staged).stdout)


def page_faults(name: str, page: dict[str, Any]) -> Iterator[str]:
    """One line for each part that a reader would miss on the page of the module ``name``."""
    yield from (f"{name}: no {part}" for part in PAGE if not page["doc"].get(part))
    yield from entry_faults(f"{name}: option ", page["doc"].get("options") or {}, "suboptions", ())
    if not (page.get("examples") or "").strip():
        yield f"{name}: no examples"
    if not page.get("return"):
        yield f"{name}: no return values"
    yield from entry_faults(f"{name}: return value ", page.get("return") or {}, "contains", ("returned", "type"))


def entry_faults(label: str, entries: dict[str, Any], nested: str, top_parts: tuple[str, ...]) -> Iterator[str]:
    """The same for options or return values; ``top_parts`` are asked for beside the description on the first level."""
    for key, entry in entries.items():
        yield from (f"{label}{key}: no {part}" for part in ("description", *top_parts) if not entry.get(part))
        yield from entry_faults(f"{label}{key}.", entry.get(nested) or {}, nested, ())


def roles_without_page(staged: Path) -> list[str]:
    wanted = {folder.name for folder in (staged / "roles").glob("*") if folder.is_dir()}
    listed = json.loads(tool("ansible-doc", "--json", "--list", "--type", "role", "s3ops.garage", staged=staged).stdout)
    return sorted(wanted - {name.rpartition(".")[2] for name in listed})


def tool(name: str, *arguments: str, staged: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a tool of the environment that sees the staged collection before any other of its name."""
    variables = environment(ANSIBLE_COLLECTIONS_PATH=str(staged.parents[2]))
    command = [str(VENV / "bin" / name), *arguments]
    return subprocess.run(command, cwd=staged, env=variables, stdout=subprocess.PIPE, text=True, check=check)


if __name__ == "__main__":
    sys.exit(main())
