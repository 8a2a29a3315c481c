# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python sources of the collection, and what the static tests read in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "plugins"
COLLECTION = "ansible_collections.s3ops.garage.plugins."
DOCUMENTS = {"DOCUMENTATION", "EXAMPLES", "RETURN"}


def sources() -> dict[str, str]:
    """Text of each file, by its path below plugins/."""
    return {path.relative_to(PLUGINS).as_posix(): path.read_text(encoding="utf-8") for path in sorted(PLUGINS.rglob("*.py"))}


def modules() -> list[str]:
    """The names of the modules."""
    return sorted(path.stem for path in (PLUGINS / "modules").glob("*.py"))


def imports(text: str, path: str) -> Iterator[str]:
    """What a file imports, wherever in it: ``time``, ``requests``; ours as ``module_utils._models.bucket`` and, with the name that is taken from
    there, as ``module_utils._executor:Task``."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name.removeprefix(COLLECTION) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = path.split("/")[:-1]
                base = ".".join([*package[:len(package) - node.level + 1], *([base] if base else [])])
            base = base.removeprefix(COLLECTION)
            yield from (f"{base}:{alias.name}" for alias in node.names)


def is_ours(name: str) -> bool:
    return name.split(".")[0].split(":")[0] in ("module_utils", "modules", "doc_fragments", "filter", "lookup", "inventory", "plugin_utils",
                                                "ansible_collections")


def documents(text: str) -> dict[str, str]:
    """DOCUMENTATION, EXAMPLES and RETURN of a plugin."""
    return {node.targets[0].id: node.value.value for node in ast.parse(text).body if _is_document(node)}


def code_lines(text: str) -> int:
    """Lines that are neither documentation, docstring, comment, blank nor import."""
    tree = ast.parse(text)
    skipped = {line for node in tree.body if _is_document(node) or isinstance(node, (ast.Import, ast.ImportFrom)) for line in _lines(node)}
    skipped |= {line for node in _docstrings(tree) for line in _lines(node)}
    return sum(1 for number, line in enumerate(text.splitlines(), 1)
               if number not in skipped and line.strip() and not line.strip().startswith("#"))


def strings(text: str) -> Iterator[tuple[int, str]]:
    """Every piece of text in the code, with its line; documentation and docstrings are none."""
    tree = ast.parse(text)
    skipped = {id(node.value) for node in tree.body if _is_document(node)} | {id(node.value) for node in _docstrings(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


def calls(text: str) -> Iterator[tuple[int, str, ast.Call]]:
    """Every call, with its line and the last part of the name that is called."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
            yield node.lineno, name, node


def _is_document(node: ast.stmt) -> bool:
    return (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in DOCUMENTS
            and isinstance(node.value, ast.Constant))


def _docstrings(tree: ast.Module) -> Iterator[ast.Expr]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
                yield first


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, node.end_lineno + 1)
