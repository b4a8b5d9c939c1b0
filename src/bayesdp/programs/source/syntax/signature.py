"""A program's signature: its database, and the values of its public arguments."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from fractions import Fraction

from bayesdp.errors import InputError
from bayesdp.programs.ir import Type
from bayesdp.programs.source.syntax.annotations import read_type
from bayesdp.programs.source.syntax.diagnostics import refuse
from bayesdp.programs.source.syntax.literals import Literal, LiteralDictionary, literal
from bayesdp.programs.source.syntax.source_file import SourceFile
from bayesdp.statements.base import exact_text

SIGNATURE = "def name(people: Database[Person], *, level: Public[Real[0, 1]] = 0.5) -> ..."


def has_plain_parameters(signature: ast.arguments) -> bool:
    """Whether all parameters are names by position, without defaults."""
    return not any(
        (
            *(signature.posonlyargs, signature.kwonlyargs, signature.defaults),
            *(signature.vararg, signature.kwarg),
        )
    )


def database_of(
    source: SourceFile, function: ast.FunctionDef
) -> tuple[str, tuple[tuple[str, Type], ...], bool]:
    """The database's name, its columns, and whether its records are single values."""
    signature = function.args
    if signature.vararg or signature.kwarg or signature.posonlyargs or signature.defaults:
        raise refuse(
            "signature",
            function if not signature.defaults else signature.defaults[0],
            "A program takes one Database, without a default, and public arguments by keyword.",
            SIGNATURE,
        )
    if len(signature.args) != 1:
        raise refuse(
            "signature",
            signature.args[1] if len(signature.args) > 1 else function,
            "A program takes exactly one Database, and public arguments by keyword.",
            SIGNATURE,
        )
    argument = signature.args[0]
    node = argument.annotation
    if (
        not isinstance(node, ast.Subscript)
        or not isinstance(node.value, ast.Name)
        or node.value.id != "Database"
        or "Database" not in source.surface
    ):
        raise refuse(
            "signature",
            node or argument,
            f"'{argument.arg}' is not declared as Database[...].",
            "Its records are a @record class or a type: Database[Person], Database[Bool].",
        )
    if isinstance(node.slice, ast.Name) and node.slice.id in source.records:
        return argument.arg, source.records[node.slice.id], False
    kind = read_type(node.slice, source)
    return argument.arg, (("", kind),), True


def parameters_of(
    source: SourceFile, function: ast.FunctionDef, arguments: Mapping[str, Literal]
) -> tuple[tuple[ast.arg, Type, bool | Fraction | str], ...]:
    """The public arguments with their types and values: those given, else the defaults.

    Raises `InputError` for an argument that the program doesn't have, or of another type.
    """
    parameters: list[tuple[ast.arg, Type, bool | Fraction | str]] = []
    signature = function.args
    known = [parameter.arg for parameter in signature.kwonlyargs]
    for name in arguments:
        if name not in known:
            raise InputError(
                name,
                expected=f"a public argument of {function.name}",
                remedy=f"It has {', '.join(known) or 'none'}.",
                shown=False,
            )
    for argument, default in zip(signature.kwonlyargs, signature.kw_defaults, strict=True):
        kind = _public_type(source, argument)
        if argument.arg in arguments:
            value = arguments[argument.arg]
            if not admitted(value, kind):
                raise InputError(
                    argument.arg, _shown_value(value), expected=f"a value of {_declared(kind)}"
                )
        elif default is not None:
            value = literal(default, source.constants)
        else:
            raise refuse(
                "arguments",
                argument,
                f"'{argument.arg}' has no value.",
                "Give it a default, or a value when the program is checked.",
            )
        if not admitted(value, kind):
            raise refuse(
                "bounds",
                default or argument,
                f"{_shown_value(value)} is not a value of {_declared(kind)}.",
                "Change the default, or the declared type.",
            )
        assert not isinstance(value, tuple | LiteralDictionary)
        parameters.append((argument, kind, value))
    return tuple(parameters)


def _public_type(source: SourceFile, argument: ast.arg) -> Type:
    node = argument.annotation
    kind = read_type(node, source) if node is not None else None
    if kind is None or not kind.public:
        raise refuse(
            "signature",
            argument,
            f"'{argument.arg}' is not declared as Public[...].",
            "Only the database is private: Public[Real[0, 1]], for example.",
        )
    return kind


def admitted(value: Literal, kind: Type) -> bool:
    """Whether a public argument's value is of its declared type."""
    if kind.kind == "bool":
        return isinstance(value, bool)
    if kind.kind == "category":
        return isinstance(value, str) and value in kind.labels
    assert kind.low is not None
    assert kind.high is not None
    return (
        isinstance(value, Fraction)
        and kind.low <= value <= kind.high
        and (kind.kind == "real" or value.denominator == 1)
    )


def _shown_value(value: Literal) -> object:
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value


def _declared(kind: Type) -> str:
    if kind.kind == "category":
        return f"Category[{', '.join(repr(label) for label in kind.labels)}]"
    if kind.kind == "bool":
        return "Bool (true or false)"
    assert kind.low is not None
    assert kind.high is not None
    low, high = exact_text(float(kind.low)), exact_text(float(kind.high))
    return f"{kind.kind.capitalize()}[{low}, {high}]"
