# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which requirements of docs/requirements.md are named by a test, and which are not.

``python -m tools.trace [-v | --missing] [--root DIR]``

Exit status: 0; 1 when a test names an id that is not stated, or an id is stated twice; 2 when a file cannot be read.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCUMENT = "docs/requirements.md"
EVIDENCE = ("test", "docs", "-")
_ROW = re.compile(r"\|\s*([A-Z]{2}-\d+)\s*\|\s*(.+?)\s*\|\s*(\S+)\s*\|\s*")
_COMMENT = re.compile(r"\s*#\s*requirement:\s*(.+)")


@dataclass(frozen=True)
class Requirement:
    """One row of the document. `evidence` is one of EVIDENCE, `line` counts from 1."""

    id: str
    statement: str
    evidence: str
    line: int

    @property
    def group(self) -> str:
        return self.id.partition("-")[0]


@dataclass(frozen=True)
class Mention:
    """A test at `path` (relative to the root) and `line` names the id."""

    id: str
    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


def read_requirements(root: Path) -> list[Requirement]:
    """All rows in the order of the document, an id stated twice included twice. Raises OSError, ValueError."""
    found = []
    for number, line in enumerate((root / DOCUMENT).read_text(encoding="utf-8").splitlines(), start=1):
        row = _ROW.fullmatch(line)
        if row is None:
            if re.match(r"\|\s*[A-Z]{2}-\d", line):
                raise ValueError(f"{DOCUMENT}:{number}: not a row of id, statement and evidence")
            continue
        if row[3] not in EVIDENCE:
            raise ValueError(f"{DOCUMENT}:{number}: evidence {row[3]!r} is none of {', '.join(EVIDENCE)}")
        found.append(Requirement(row[1], row[2], row[3], number))
    return found


def python_mentions(source: str, path: str) -> Iterator[Mention]:
    """Ids in `pytest.mark.requirement(...)`, be it a decorator, a `pytestmark` or a `marks=`. Raises SyntaxError."""
    for node in ast.walk(ast.parse(source, filename=path)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("mark.requirement"):
            for argument in node.args:
                # An id that only exists at run time cannot be traced: its expression stands for it and is unknown.
                plain = isinstance(argument, ast.Constant) and isinstance(argument.value, str)
                yield Mention(argument.value if plain else ast.unparse(argument), path, argument.lineno)


def yaml_mentions(source: str, path: str) -> Iterator[Mention]:
    """Ids in comment lines `# requirement: FC-029, FC-041`."""
    for number, line in enumerate(source.splitlines(), start=1):
        comment = _COMMENT.fullmatch(line)
        if comment is not None:
            for name in re.split(r"[,\s]+", comment[1].strip(", \t")):
                yield Mention(name, path, number)


def read_mentions(root: Path) -> list[Mention]:
    """Every id a test below the root names. Raises OSError, SyntaxError, UnicodeDecodeError."""
    readers = {"tests": (python_mentions, {".py"})}
    for folder in ("tests/integration/targets", "molecule"):
        readers[folder] = (yaml_mentions, {".yml", ".yaml"})
    found = []
    for folder, (reader, suffixes) in readers.items():
        for file in sorted((root / folder).rglob("*")):
            path = file.relative_to(root)
            # ansible-test keeps copies of the collection in tests/output.
            if file.suffix in suffixes and path.parts[:2] != ("tests", "output") and file.is_file():
                found.extend(reader(file.read_text(encoding="utf-8"), path.as_posix()))
    return found


def faults(requirements: list[Requirement], mentions: list[Mention]) -> list[str]:
    """One line for each id that is stated twice, and for each mention of an id that is not stated."""
    first: dict[str, Requirement] = {}
    found = []
    for item in requirements:
        known = first.setdefault(item.id, item)
        if known is not item:
            found.append(f"{DOCUMENT}:{item.line}: {item.id} is stated already in line {known.line}")
    found += [f"{mention}: {mention.id} is not stated in {DOCUMENT}" for mention in mentions if mention.id not in first]
    return found


def report(requirements: list[Requirement], mentions: list[Mention], verbose: bool = False) -> Iterator[str]:
    """Per group a summary such as `MH 18/24`, counting ids that ask for a test, and what is and is not tested."""
    places: dict[str, list[str]] = {}
    for mention in mentions:
        places.setdefault(mention.id, []).append(str(mention))
    for group in dict.fromkeys(item.group for item in requirements):
        members = [item for item in requirements if item.group == group]
        wanted = [item for item in members if item.evidence == "test"]
        tested = [item for item in members if item.id in places]
        untested = [item for item in wanted if item.id not in places]
        yield f"{group} {len(wanted) - len(untested)}/{len(wanted)}"
        if verbose:
            for item in tested:
                yield f"  {item.id}  {', '.join(places[item.id])}"
            yield from (f"  {item.id}  no test: {item.statement}" for item in untested)
        else:
            for label, items in (("tested ", tested), ("no test", untested)):
                if items:
                    yield f"  {label}  {' '.join(item.id for item in items)}"


def missing(requirements: list[Requirement], mentions: list[Mention]) -> Iterator[str]:
    """One line for each id that asks for a test and has none."""
    named = {mention.id for mention in mentions}
    for item in requirements:
        if item.evidence == "test" and item.id not in named:
            yield f"{item.id}  {item.statement}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.trace", description="Requirements and the tests that name them.")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("-v", "--verbose", action="store_true", help="show file and line of each test")
    choice.add_argument("--missing", action="store_true", help="show only the ids that ask for a test and have none")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1], help="checkout to look at")
    options = parser.parse_args(arguments)
    try:
        requirements, mentions = read_requirements(options.root), read_mentions(options.root)
    except (OSError, SyntaxError, ValueError) as error:  # UnicodeDecodeError is a ValueError
        print(f"cannot read: {error}", file=sys.stderr)
        return 2
    lines = missing(requirements, mentions) if options.missing else report(requirements, mentions, options.verbose)
    for line in lines:
        print(line)
    wrong = faults(requirements, mentions)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
