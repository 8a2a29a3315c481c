# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every error that a user can meet, with its cure, read from the sources (``python -m tools.errors`` writes docs/errors.md).

An error is made in one of three forms, and each is found where it is made: an exception of ``_errors`` with a message and a ``hint``, a fault of
options or of a site file (a text among ``faults``, or of a ``ValueError``), and the ``fail_msg`` of a role or a playbook. What a message fills in is
shown as ``…``.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml
from ansible_collections.s3ops.garage.plugins.module_utils import _errors
from ansible_collections.s3ops.garage.plugins.module_utils._client import HINTS

from tools.error_texts import GAP, Source

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "errors.md"
KINDS: dict[str, type[_errors.GarageError]] = {name: value for name, value in vars(_errors).items()
                                               if isinstance(value, type) and issubclass(value, _errors.GarageError)}
# Methods that make an exception for their file: its class unless `kind` says another, and which argument the message is.
MAKERS = {"_transport.py": ("TransportError", 1), "_pods.py": ("TransportError", 1)}
# What is found like a fault and is none: what warns only, and what another message is made of.
NO_FAULTS = {"warnings.py", "vault_text.py"}
# Where faults are found, by what the reader has written.
PARTS = {
    "Site files": ("module_utils/_site/",),
    "Sites on Kubernetes": ("module_utils/_planners/workload", "module_utils/_planners/_claims", "module_utils/_models/pod.py"),
    "Credentials of a site": ("module_utils/_planners/credentials",),
    "Options": ("",),
}
HEAD = """\
<!--
SPDX-FileCopyrightText: 2026 s3ops.garage contributors
SPDX-License-Identifier: GPL-3.0-or-later
-->
# Every error, and what to do

Written by `python -m tools.errors` from the sources, where each message stands beside its cure. `…` is what a run fills in: search for words that
stay.

A module that fails says, in this order: what it tried and on what, what the server said, what it had done before and what it had not (a further run
goes on from there), and `What to do: …`. Its `error.kind` is for plays to branch on and keeps its meaning; the words may change. Faults of options
and of site files are told all at once, before anything is sent.
"""


@dataclass(frozen=True, order=True)
class Error:
    """The name of its class, what it says, and what to do: empty where nothing is said."""

    name: str
    message: str
    cure: str


@cache
def sources() -> list[Source]:
    folder = ROOT / "plugins"
    return [Source(path.relative_to(folder), path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.py"))]


def errors(source: Source) -> Iterator[Error]:
    """The exceptions that a file makes."""
    for call in source.find(ast.Call):
        made = _made(source, call)
        if made:
            name, message, hint = made
            cure = "; or: ".join(source.texts(hint)) if hint is not None else ""
            yield from (Error(name, text, cure) for text in source.texts(message))


def _made(source: Source, call: ast.Call) -> tuple[str, ast.expr, ast.expr | None] | None:
    """Class, message and hint of a call that makes an exception."""
    called = call.func.id if isinstance(call.func, ast.Name) else call.func.attr if isinstance(call.func, ast.Attribute) else ""
    options = {keyword.arg: keyword.value for keyword in call.keywords}
    if called in KINDS and called not in ("InputError", "LibraryMissing") and call.args:
        return called, call.args[0], options.get("hint", call.args[1] if len(call.args) > 1 else None)
    if called == "_failure" and source.path.name in MAKERS:
        name, position = MAKERS[source.path.name]
        return ast.unparse(options["kind"]) if "kind" in options else name, call.args[position], options.get("hint", source.default(called, "hint"))
    return None


def faults(source: Source) -> Iterator[str]:
    """The faults of options and site files that a file finds. Each says itself what is wanted, so there is no cure beside it."""
    found: list[ast.expr | None] = []
    for node in source.find(ast.Call, ast.Raise, ast.Assign, ast.AugAssign, ast.FunctionDef):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("InputError", "faults.append", "found.append"):
            found.append(node.args[0])
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and ast.unparse(node.exc.func) == "ValueError":
            found.append(node.exc.args[0])
        elif isinstance(node, (ast.Assign, ast.AugAssign)) and ast.unparse(getattr(node, "target", None) or node.targets[0]) == "faults":
            found.append(node.value)
        elif isinstance(node, ast.FunctionDef) and ("fault" in node.name or node.returns is not None and ast.unparse(node.returns) == "Iterator[str]"):
            found += [inner.value for inner in ast.walk(node) if isinstance(inner, (ast.Return, ast.Yield))]
    yield from (text for node in found if node is not None for text in source.texts(node) if " " in text.strip(f" {GAP}"))


def plays() -> Iterator[str]:
    """What roles and playbooks say when they end a run."""
    for path in sorted([*ROOT.glob("roles/*/tasks/*.yml"), *ROOT.glob("playbooks/*.yml")]):
        for task in _tasks(yaml.safe_load(path.read_text(encoding="utf-8"))):
            text = task.get("ansible.builtin.assert", {}).get("fail_msg") or task.get("ansible.builtin.fail", {}).get("msg")
            if text:
                yield " ".join(re.sub(r"\{\{.*?\}\}", GAP, text, flags=re.S).split())


def _tasks(node: object) -> Iterator[dict]:
    if isinstance(node, dict):
        yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _tasks(inner)


def answers() -> Iterator[Error]:
    """Error answers of the Admin API, and the one error that has words of its own."""
    for kind, cure in HINTS.items():
        yield Error(kind.__name__, f"{GAP} at {GAP}: HTTP {GAP}: {GAP}", re.sub(r"\{\w+\}", GAP, cure))
    library = _errors.LibraryMissing(GAP, GAP)
    yield Error("LibraryMissing", library.message, library.hint or "")


@cache
def all_errors() -> list[Error]:
    found = {error for source in sources() for error in errors(source)} | set(answers())
    # An error that only hands on another one's words has none of its own.
    return sorted(error for error in found if error.message.strip(f" {GAP}") or error.cure.strip(f" {GAP}"))


@cache
def all_faults() -> dict[str, list[str]]:
    """The faults of each part."""
    found: dict[str, set[str]] = {part: set() for part in PARTS}
    for source in sources():
        if source.path.name not in NO_FAULTS:
            part = next(part for part, places in PARTS.items() if any(source.path.as_posix().startswith(place) for place in places))
            found[part].update(faults(source))
    return {part: sorted(texts) for part, texts in found.items()}


def page() -> str:
    lines = [HEAD, "## Errors of a run", ""]
    by_kind: dict[str, list[Error]] = {}
    for error in all_errors():
        by_kind.setdefault(KINDS[error.name].kind, []).append(error)
    for kind in dict.fromkeys(each.kind for each in KINDS.values()):
        if kind in by_kind:
            lines += [f"### `{kind}`", "", _about(kind), "", "| what it says | what to do |", "| --- | --- |"]
            lines += [f"| {_code(error.message)} | {_plain(error.cure)} |" for error in by_kind[kind]] + [""]
    lines += ["## Faults of options and site files", "", "Their kind is `invalid_input`. Each begins with the option that it is about, and says what is",
              "wanted there: write that, and run it again. Nothing was sent or changed.", ""]
    for part, texts in all_faults().items():
        lines += [f"### {part}", "", *(f"- {_code(text)}" for text in texts), ""]
    lines += ["## Roles and playbooks", "", "They end a run with the faults above, or with one of these.", ""]
    lines += [f"- {_code(text)}" for text in sorted(set(plays()))]
    return "\n".join(lines) + "\n"


def _about(kind: str) -> str:
    """What the classes of a kind are for, in their own words, without the ids of requirements."""
    texts = [(each.__doc__ or "").partition("\n\n")[0] for each in KINDS.values() if each.kind == kind]
    return " ".join(_plain(" ".join(re.sub(r" \([^()]*\b[A-Z]{2}-[0-9]+[^()]*\)", "", text).split())) for text in texts)


def _code(text: str) -> str:
    """As code, also with backticks in it, and in a table."""
    if not text.strip(f" {GAP}:"):
        return f"{GAP} (what the server or the system says)"
    text = " ".join(text.split()).replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _plain(text: str) -> str:
    return re.sub(r"([|*<>\[\]{}])", r"\\\1", text.replace("``", "`"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.exit(0)
