"""A second reading of program files, for tests: run as Python on a small table.

Releases note the true value that they are given and answer with a number of their own, so that the
values can be held against those that the front end's representation has on the same table.
Generators become lists, because here a name stands for its rows however often it is used.
"""

from __future__ import annotations

import ast
from typing import Any

from tests.programs.as_python_functions import FUNCTIONS, ROWS, WRITTEN
from tests.programs.as_python_models import models
from tests.programs.as_python_releases import Log, releases
from tests.programs.as_python_values import Rows


class Plain(ast.NodeTransformer):
    """Generators as lists, decimals as fractions, types and decorators left out."""

    def __init__(self, text: str) -> None:
        self.text = text

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._listed(node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._listed(node)

    def _listed(self, node: Any) -> ast.AST:
        self.generic_visit(node)
        first = node.generators[0]
        _name_pieces(first)
        target = ast.dump(first.target).replace("Store", "Load")
        bare = target == ast.dump(node.elt)
        read = {
            node.attr
            for test in first.ifs
            for node in ast.walk(test)
            if isinstance(node, ast.Attribute)
        }
        plain = [
            node for test in first.ifs for node in ast.walk(test) if isinstance(node, ast.Call)
        ]
        if first.ifs and (plain or not read):
            read.add("?")
        columns = ast.Tuple([ast.Constant(item) for item in sorted(read)], ast.Load())
        comp = ast.ListComp(node.elt, node.generators)
        over = first.iter if isinstance(first.iter, ast.Name) else ast.Constant(None)
        return ast.Call(
            ast.Name("listed", ast.Load()), [comp, over, columns, ast.Constant(bare)], []
        )

    def visit_For(self, node: ast.For) -> ast.AST:
        _name_pieces(node)
        self.generic_visit(node)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, float):
            exact = ast.Constant(ast.get_source_segment(self.text, node) or str(node.value))
            return ast.Call(ast.Name("Fraction", ast.Load()), [exact], [])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):
            return ast.Call(ast.Name("quotient", ast.Load()), [node.left, node.right], [])
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list, node.returns = [], None
        for item in (*node.args.args, *node.args.kwonlyargs):
            item.annotation = None
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        assert node.value is not None
        return ast.Assign([node.target], node.value)


def _name_pieces(node: Any) -> None:
    """partition(...) gives pieces, or pairs of labels and pieces: the target says which."""
    _name_in(node.iter, node.target)


def _name_in(over: Any, target: Any) -> None:
    called = over.func if isinstance(over, ast.Call) else None
    if isinstance(called, ast.Name) and called.id == "partition":
        called.id = "pairs_of" if isinstance(target, ast.Tuple) else "pieces_of"
    elif isinstance(called, ast.Name) and called.id in ("zip", "enumerate"):
        targets = target.elts[called.id == "enumerate" :]
        for argument, inner in zip(over.args, targets, strict=True):
            _name_in(argument, inner)


def run(text: str, name: str, rows: Rows, public: frozenset[str]) -> tuple[Any, list[Any]]:
    """What the program returns on these rows, and what its releases were given."""
    tree = ast.parse(text)
    kept = [
        statement
        for statement in tree.body
        if isinstance(statement, ast.FunctionDef)
        or (isinstance(statement, ast.Assign) and not _is_type(statement.value))
    ]
    plain = Plain(text)
    module = ast.Module([plain.visit(item) for item in kept], [])
    log = Log()
    names = {**ROWS, **FUNCTIONS, **models(public), **releases(log), **WRITTEN}
    exec(compile(ast.fix_missing_locations(module), name, "exec"), names)  # the tests' own corpus
    return names[name](rows), log.given


def _is_type(node: ast.expr) -> bool:
    head = node.value if isinstance(node, ast.Subscript) else node
    return isinstance(head, ast.Name) and head.id[:1].isupper() and isinstance(node, ast.Subscript)
