"""The whitelist of constructs: what isn't in it is refused before anything gets a meaning."""

from __future__ import annotations

import ast
from collections.abc import Collection
from unicodedata import name as name_of

from bayesdp.programs.language_names import BUILTINS, SURFACE
from bayesdp.programs.source.syntax.diagnostics import refuse

ALLOWED: tuple[type[ast.AST], ...] = (
    *(ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign),
    *(ast.AnnAssign, ast.For, ast.If, ast.Expr, ast.Pass, ast.Break, ast.Name, ast.Load, ast.Store),
    *(ast.Constant, ast.Tuple, ast.List, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare),
    *(ast.IfExp, ast.Call, ast.keyword, ast.Attribute, ast.Subscript, ast.GeneratorExp),
    *(ast.ListComp, ast.comprehension, ast.Lambda, ast.Dict),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.USub, ast.UAdd),
    *(ast.Not, ast.And, ast.Or, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In),
    ast.NotIn,
)

_REQUIRE = "For a condition on public values write require(...)."
_IMPORT = ("import", "Programs import nothing inside a function.", "")
_OUTSIDE = ("effect", "Programs change nothing outside themselves.", "Return the value.")
_YIELD = ("construct", "Programs return once.", "Return a tuple.")
_DICTIONARY = (
    "construct",
    "A dictionary has keys that are known beforehand.",
    "List them: {'a': 1, 'b': 2}.",
)
_SET = ("construct", "Sets are not part of the language.", "Use tuples.")
_IDENTITY = ("construct", "`is` compares identities, not values.", "Use == or !=.")
REFUSED: dict[type[ast.AST], tuple[str, str, str]] = {
    ast.While: (
        "private-control",
        "A loop whose length is not known beforehand would be a channel.",
        "Use `for` over a literal tuple, a range of public literals, or partition(...). It may end "
        "on a released value, `if noisy > 100: break`.",
    ),
    ast.Try: (
        "exception",
        "An exception that depends on data is a channel.",
        "Programs neither raise nor catch: bounds are clamped and missing values refused on load.",
    ),
    ast.Raise: ("exception", "An exception that depends on data is a channel.", _REQUIRE),
    ast.Assert: ("exception", "An assertion that fails on data is a channel.", _REQUIRE),
    ast.Match: (
        "construct",
        "`match` is not part of the language.",
        "Use `if` on public or released values.",
    ),
    ast.With: ("effect", "Programs open nothing.", "They only read their database."),
    ast.Import: _IMPORT,
    ast.ImportFrom: _IMPORT,
    ast.Global: _OUTSIDE,
    ast.Nonlocal: _OUTSIDE,
    ast.Delete: ("effect", "Programs delete nothing.", ""),
    ast.ClassDef: ("construct", "A class stands at module level, as a @record.", ""),
    ast.JoinedStr: ("effect", "A text made from values is a way out for them.", "Return values."),
    ast.FormattedValue: ("effect", "A text made from values is a way out for them.", ""),
    ast.NamedExpr: ("construct", "`:=` is not part of the language.", "Assign on its own line."),
    ast.Yield: _YIELD,
    ast.YieldFrom: _YIELD,
    ast.Await: ("construct", "Programs don't wait for anything.", ""),
    ast.Continue: (
        "private-control",
        "A step of a loop runs to its end.",
        "Put what follows into an `else`; inside rows, use a condition.",
    ),
    ast.DictComp: _DICTIONARY,
    ast.Set: _SET,
    ast.SetComp: _SET,
    ast.Starred: ("construct", "Starred arguments are not part of the language.", "List them."),
    ast.Is: _IDENTITY,
    ast.IsNot: _IDENTITY,
    ast.Slice: ("construct", "Slices are not part of the language.", "Take single entries."),
    ast.MatMult: ("construct", "`@` is not part of the language.", "Use sums of products."),
}

DEEPEST = 60


def check_syntax(function: ast.FunctionDef, imported: Collection[str]) -> None:
    """Raise `ProgramError` for the first construct outside the whitelist.

    `imported` are the names of the language in this file: no function gives them another meaning.
    """
    taken = frozenset(imported) | BUILTINS
    signature = function.args
    for parameter in (*signature.posonlyargs, *signature.args, *signature.kwonlyargs):
        check_name(parameter.arg, parameter, taken)
    if signature.vararg or signature.kwarg or signature.posonlyargs:
        raise refuse(
            "signature",
            signature.vararg or signature.kwarg or signature.posonlyargs[0],
            "A function here lists its parameters: no *args, **kwargs or `/`.",
            "def name(people, level)",
        )
    for statement in function.body:
        _walk(statement, 0, taken, statement)


def check_name(name: str, node: ast.AST, taken: Collection[str] = SURFACE | BUILTINS) -> None:
    """Refuse another meaning for a name of the language, and names that look like others."""
    if name in taken:
        raise refuse(
            "name",
            node,
            f"'{name}' is a name of the language.",
            "Give the value another name: a reader must be able to trust what it says.",
        )
    if name.startswith("__"):
        raise refuse("name", node, f"'{name}' belongs to Python.", "Programs can't reach it.")
    scripts = {_script(letter) for letter in name if letter.isalpha()}
    if len(scripts) > 1:
        raise refuse(
            "name",
            node,
            f"'{name}' mixes letters of several alphabets ({', '.join(sorted(scripts))}), and so "
            "may look like another name.",
            "Write it in one alphabet.",
        )


def _script(letter: str) -> str:
    return "LATIN" if letter.isascii() else name_of(letter, "UNKNOWN").split()[0]


def _walk(node: ast.AST, depth: int, taken: Collection[str], near: ast.AST) -> None:
    if depth > DEEPEST:
        raise refuse("size", near, "This is nested too deeply.", "Name the parts.")
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        raise refuse(
            "construct",
            node,
            "A function inside a program could close over private data.",
            "Write it at module level as a @helper.",
        )
    _check(node, near)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        check_name(node.id, node, taken)
    if isinstance(node, ast.arg):
        check_name(node.arg, node, taken)
    for child in ast.iter_child_nodes(node):
        _walk(child, depth + 1, taken, node if hasattr(node, "lineno") else near)


def _check(node: ast.AST, near: ast.AST) -> None:
    at = node if hasattr(node, "lineno") else near  # an operator has no place of its own
    if type(node) in REFUSED:
        code, message, accepted = REFUSED[type(node)]
        raise refuse(code, at, message, accepted)
    if not isinstance(node, ALLOWED):
        construct = type(node).__name__
        raise refuse("construct", at, f"'{construct}' is not part of the language.", "")
    if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
        raise refuse(
            "attribute",
            node,
            f"'.{node.attr}' reaches into Python's own workings.",
            "Attributes are the columns of a row (row.height) and a database's size.",
        )
    if isinstance(node, ast.Name) and node.id.startswith("__"):
        raise refuse("name", node, f"'{node.id}' belongs to Python.", "Programs can't reach it.")
