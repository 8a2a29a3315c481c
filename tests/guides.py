# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The blocks of the guides: the files that they show, and the commands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@dataclass(frozen=True)
class Block:
    """A fenced block; ``file`` is the name in its first line, when that is a comment with nothing else."""

    guide: str
    line: int
    language: str
    text: str

    @property
    def file(self) -> str | None:
        found = re.match(r"# ([\w/-]+\.\w+)\n", self.text)
        return found[1] if found else None

    @property
    def commands(self) -> list[str]:
        """Commands of a console block, each without its prompt and without a comment at its end."""
        return [re.sub(r"\s+# .*", "", line[2:]) for line in self.text.splitlines() if line.startswith("$ ")]


def blocks(path: Path) -> list[Block]:
    lines, found, start = path.read_text(encoding="utf-8").splitlines(), [], None
    for number, line in enumerate(lines):
        if line.lstrip().startswith("```"):
            if start is None:
                start = number
            else:
                indent = len(lines[start]) - len(lines[start].lstrip())
                text = "".join(f"{inner[indent:]}\n" for inner in lines[start + 1:number])
                found.append(Block(path.relative_to(ROOT).as_posix(), start + 1, lines[start].strip(" `"), text))
                start = None
    return found
