"""Helpers: their bodies are written out where they are called."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from bayesdp.programs.language_names import BUILTINS
from bayesdp.programs.source.drafts.arguments import bind
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.scope import FunctionScope
from bayesdp.programs.source.drafts.values import LoweredValue, Named, static
from bayesdp.programs.source.syntax.diagnostics import refuse, written
from bayesdp.programs.source.syntax.literals import literal
from bayesdp.programs.source.syntax.source_file import SourceFile
from bayesdp.programs.source.syntax.whitelist import check_syntax

MOST_DEPTH = 40
PLAIN_TYPES = ("bool", "int", "float", "str", "tuple", "list")
ANNOTATION = (
    *(ast.Name, ast.Load, ast.Subscript, ast.Tuple, ast.List, ast.Constant, ast.UnaryOp),
    *(ast.USub, ast.BinOp, ast.BitOr, ast.operator),
)


def inlined(name: str, node: ast.Call, context: Context) -> LoweredValue:
    """The value of a helper's call: its body, written out."""
    function = _helper(name, context)
    signature = function.args
    plain = [parameter.arg for parameter in signature.args]
    named = [parameter.arg for parameter in signature.kwonlyargs]
    bound = bind(node, plain, needed=0, keyword=named)
    values = {key: context.value(argument) for key, argument in bound.given.items()}
    defaults: list[tuple[str, ast.expr | None]] = [
        *zip(plain[len(plain) - len(signature.defaults) :], signature.defaults, strict=True),
        *zip(named, signature.kw_defaults, strict=True),
    ]
    for parameter, default in defaults:
        if default is not None:
            values.setdefault(
                parameter, static(literal(default, context.draft.source.constants), default)
            )
    missing = [parameter for parameter in (*plain, *named) if parameter not in values]
    if missing:
        raise refuse("arguments", node, f"{name} needs {', '.join(missing)}.")
    return _written_out(function, values, node, context)


def applied(
    helper: str, values: Sequence[LoweredValue], node: ast.AST, context: Context
) -> LoweredValue:
    """The value of a helper for these arguments."""
    function = _helper(helper, context)
    known = [parameter.arg for parameter in function.args.args]
    if len(known) != len(values):
        raise refuse("arguments", node, f"{helper} takes {len(known)} arguments.")
    with context.draft.without_release(node, "A step of fold releases nothing."):
        return _written_out(function, dict(zip(known, values, strict=True)), node, context)


def _written_out(
    function: ast.FunctionDef, values: dict[str, LoweredValue], node: ast.AST, context: Context
) -> LoweredValue:
    draft = context.draft
    if function.name in draft.stack or len(draft.stack) > MOST_DEPTH:
        raise refuse(
            "recursion",
            node,
            f"'{function.name}' ends up calling itself.",
            "Helpers are written out where they are called: use a loop of known length.",
        )
    draft.tick(node)
    for value in values.values():
        draft.weigh(value, node)
    draft.stack.append(function.name)
    outer = (draft.database, *(argument.arg for argument in draft.function.args.kwonlyargs))
    gone = dict.fromkeys(outer, "belongs to the program: hand it to the helper as an argument.")
    names = {**global_names(draft.source), **values}
    for name in names:
        gone.pop(name, None)
    value = body_value(function, context.inside(FunctionScope(names, gone)))
    draft.stack.pop()
    draft.weigh(value, node)
    return value


def body_value(function: ast.FunctionDef, context: Context) -> LoweredValue:
    """The value that a function returns, after its statements."""
    body = list(function.body)
    if not body or not isinstance(body[-1], ast.Return) or body[-1].value is None:
        raise refuse(
            "return",
            body[-1] if body else function,
            "The last statement is the return of a value.",
            "Programs and helpers end with `return ...`.",
        )
    context.run(body[:-1])
    last = body[-1]
    assert last.value is not None
    return context.value(last.value)


def _helper(name: str, context: Context) -> ast.FunctionDef:
    """A helper, checked when it is first called."""
    function = context.draft.source.helpers[name]
    if name not in context.draft.checked_helpers:
        signature = function.args
        check_syntax(function, context.draft.source.surface)
        for parameter in (*signature.args, *signature.kwonlyargs):
            check_annotation(parameter.annotation, context.draft.source)
        check_annotation(function.returns, context.draft.source)
        for default in (*signature.defaults, *signature.kw_defaults):
            if isinstance(default, ast.List | ast.Dict | ast.Set):
                raise refuse("static", default, "A default that can change.", "Use a tuple.")
        context.draft.checked_helpers.add(name)
    return function


def check_annotation(node: ast.expr | None, file: SourceFile) -> None:
    """Refuse an annotation of a helper that is not a type. Annotations clamp nothing there."""
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return
    known = (*(name for name in file.surface if name[:1].isupper()), *file.types, *file.records)
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id not in (*known, *PLAIN_TYPES):
            raise refuse(
                "annotation",
                part,
                f"{part.id} is not a type of the language.",
                "A helper's annotations name types of bayesdp.programs, aliases and records.",
            )
        if not isinstance(part, ANNOTATION):
            raise refuse(
                "annotation",
                node,
                f"{written(node)} is not a type of the language.",
                "A helper's annotations name types of bayesdp.programs, aliases and records.",
            )


def global_names(source: SourceFile) -> dict[str, LoweredValue]:
    """The names that all functions of a file share: language, Python's own, helpers, constants."""
    surface = (name for name in source.surface if not name[:1].isupper())
    names: dict[str, LoweredValue] = {name: Named("surface", name) for name in surface}
    names |= {name: Named("builtin", name) for name in BUILTINS}
    names |= {name: Named("helper", name) for name in source.helpers}
    names |= {name: static(value) for name, value in source.constants.items()}
    return names
