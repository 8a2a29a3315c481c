# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What texts an expression of a source file may give, as far as they are written in that file; what is filled in at run time is ``…``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

GAP = "…"
LISTS = (ast.List, ast.Tuple, ast.Set, ast.ListComp, ast.GeneratorExp)


class Source:
    """One file of Python."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.tree = ast.parse(text)
        self._parents = {inner: outer for outer in ast.walk(self.tree) for inner in ast.iter_child_nodes(outer)}
        self._entered: set[str] = set()
        self._functions = {node.name: node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)}

    def find(self, *kinds: type) -> Iterator[ast.AST]:
        yield from (node for node in ast.walk(self.tree) if isinstance(node, kinds))

    def function_of(self, node: ast.AST) -> ast.FunctionDef | None:
        while node in self._parents:
            node = self._parents[node]
            if isinstance(node, ast.FunctionDef):
                return node
        return None

    def texts(self, node: ast.AST) -> list[str]:
        """Each text that ``node`` may be, or hold when it is a list; ``…`` alone where this file does not tell. None is no text."""
        if isinstance(node, ast.Constant):
            return [node.value] if isinstance(node.value, str) else []
        if isinstance(node, ast.JoinedStr):
            return [re.sub(f"{GAP}(?:,? ?{GAP})+", GAP, "".join(self._piece(piece) for piece in node.values))]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            if isinstance(node.left, LISTS) or isinstance(node.right, LISTS):
                return self._all([node.left, node.right])
            return [left + right for left in self.texts(node.left) or [""] for right in self.texts(node.right) or [""]]
        if isinstance(node, (ast.IfExp, ast.BoolOp)):
            inner = [node.body, node.orelse] if isinstance(node, ast.IfExp) else node.values
            return self._all(inner)
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return self._all(node.elts)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self.texts(node.elt)
        if isinstance(node, ast.Starred):
            return self.texts(node.value)
        if isinstance(node, ast.Call):
            return self._called(node)
        if isinstance(node, ast.Name):
            return self._named(node)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            return self._entry(self._constant(node.value.id), ast.unparse(node.slice))
        return [GAP]

    def _all(self, nodes: list[ast.expr]) -> list[str]:
        return list(dict.fromkeys(text for node in nodes for text in self.texts(node)))

    def _piece(self, piece: ast.expr) -> str:
        """One part of an f-string: its own words, or those of a constant of this file."""
        if isinstance(piece, ast.Constant):
            return str(piece.value)
        value = piece.value
        constant = self._constant(value.id) if isinstance(value, ast.Name) else None
        text = next(iter(self.texts(constant)), GAP) if isinstance(constant, (ast.Constant, ast.JoinedStr)) else GAP
        return repr(text) if piece.conversion == ord("r") and text != GAP else text

    def _constant(self, name: str) -> ast.expr | None:
        for node in self.tree.body:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and self._sets(node, name):
                return node.value
        return None

    def _entry(self, constant: ast.expr | None, key: str) -> list[str]:
        """What a dictionary of this file holds."""
        if not isinstance(constant, ast.Dict):
            return [GAP]
        return self._all([value for name, value in zip(constant.keys, constant.values) if name is not None and ast.unparse(name) == key]) or [GAP]

    def default(self, function: str, parameter: str) -> ast.expr | None:
        """What a parameter of a function of this file is when it is not given."""
        arguments = self._functions[function].args
        names = [argument.arg for argument in arguments.args][-len(arguments.defaults):]
        return dict(zip(names, arguments.defaults)).get(parameter)

    def _called(self, call: ast.Call) -> list[str]:
        """What a function of this file returns; of ``"; ".join(x)``, what is in x."""
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr == "join" and isinstance(function.value, ast.Constant):
            return self.texts(call.args[0])
        name = function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
        if name not in self._functions or name in self._entered:
            return [GAP]
        self._entered.add(name)
        given = self._all([node.value for node in ast.walk(self._functions[name]) if isinstance(node, (ast.Return, ast.Yield)) and node.value])
        self._entered.remove(name)
        return [text for text in given if text.strip(GAP)] or [GAP]

    def _named(self, name: ast.Name) -> list[str]:
        """What a name of a function is given in it, or a name of the file."""
        function = self.function_of(name)
        given: list[ast.expr | None] = []
        if function:
            given = [node.value for node in ast.walk(function) if isinstance(node, (ast.Assign, ast.NamedExpr)) and self._sets(node, name.id)]
            given = given or self._looped(function, name.id)
        known = [value for value in given or [self._constant(name.id)] if value is not None and not self._speaks_of(value, name.id)]
        return self._all(known) or [GAP]

    @staticmethod
    def _speaks_of(value: ast.expr, name: str) -> bool:
        return any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(value))

    def _looped(self, function: ast.FunctionDef, name: str) -> list[ast.expr]:
        """What a name goes through in a loop over the rows of a table of this file."""
        for loop in ast.walk(function):
            if isinstance(loop, ast.For) and isinstance(loop.target, ast.Tuple) and isinstance(loop.iter, ast.Name):
                columns, table = [ast.unparse(column) for column in loop.target.elts], self._constant(loop.iter.id)
                if name in columns and isinstance(table, ast.Tuple):
                    return [row.elts[columns.index(name)] for row in table.elts if isinstance(row, ast.Tuple)]
        return []

    @staticmethod
    def _sets(node: ast.Assign | ast.AnnAssign | ast.NamedExpr, name: str) -> bool:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(isinstance(target, ast.Name) and target.id == name for target in targets)
