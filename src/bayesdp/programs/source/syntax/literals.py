"""Literals: exact numbers, texts, truth values and tuples of them, with static arithmetic.

0.1 is one tenth: a number is read from its source text, not from the double next to it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from bayesdp.programs.source.syntax.diagnostics import refuse


@dataclass(frozen=True)
class LiteralDictionary:
    """A dictionary of literals: its keys, texts, numbers or truth values, each with its value."""

    pairs: tuple[tuple[bool | Fraction | str, Literal], ...]


Literal = bool | Fraction | str | tuple["Literal", ...] | LiteralDictionary

MOST_DIGITS = 50
"""The most digits of a written number: what is computed from several must fit the kernel."""


def number(node: ast.Constant) -> Fraction:
    """The exact value of a numeric literal. Source text is kept on the node by the parser."""
    value = node.value
    if isinstance(value, int):
        if abs(value) >= 10**MOST_DIGITS:
            raise refuse("static", node, f"This number has more than {MOST_DIGITS} digits.")
        return Fraction(value)
    if not isinstance(value, float):
        raise refuse("type", node, "Numbers are integers or decimals.")
    exact: Fraction | None = getattr(node, "exact", None)  # from the source text, see `attach`
    if exact is None:
        raise refuse(
            "static",
            node,
            f"This is not a finite number, or one of more than {MOST_DIGITS} digits.",
        )
    return exact


def attach(tree: ast.AST, text: str) -> None:
    """Keep on each decimal literal the number that its text means."""
    lines = [line.encode("utf-8") for line in lines_of(text)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            assert node.end_col_offset is not None
            written = lines[node.lineno - 1][node.col_offset : node.end_col_offset]
            try:
                decimal = Decimal(written.decode("utf-8").replace("_", ""))
            except InvalidOperation:
                continue
            short = len(decimal.as_tuple().digits) < MOST_DIGITS
            if decimal.is_finite() and abs(decimal.adjusted()) < MOST_DIGITS and short:
                node.exact = Fraction(decimal)  # type: ignore[attr-defined]  # read by `exact_of`


def lines_of(text: str) -> list[str]:
    """The lines as Python's parser counts them."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def literal(node: ast.expr, constants: Mapping[str, Literal]) -> Literal:
    """The value of a literal expression."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool | str):
            return node.value
        if isinstance(node.value, int | float):
            return number(node)
    if isinstance(node, ast.Name) and node.id in constants:
        return constants[node.id]
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(literal(entry, constants) for entry in node.elts)
    if isinstance(node, ast.Dict):
        return _dictionary(node, constants)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = literal(node.operand, constants)
        if isinstance(value, Fraction):
            return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        left, right = literal(node.left, constants), literal(node.right, constants)
        if isinstance(left, tuple) and isinstance(right, tuple) and isinstance(node.op, ast.Add):
            return left + right
        if isinstance(left, Fraction) and isinstance(right, Fraction):
            return arithmetic(node, left, right)
    raise refuse(
        "static",
        node,
        "A literal is wanted here.",
        "It is a number, a text, True, False, a tuple or a dictionary of those, or arithmetic on "
        "them.",
    )


def _dictionary(node: ast.Dict, constants: Mapping[str, Literal]) -> LiteralDictionary:
    pairs: list[tuple[bool | Fraction | str, Literal]] = []
    for at, value in zip(node.keys, node.values, strict=True):
        key = None if at is None else literal(at, constants)
        if key is None or isinstance(key, tuple | LiteralDictionary):
            raise refuse("static", at or node, "A key is a text, a number or a truth value.", "")
        if any(type(held) is type(key) and held == key for held, _ in pairs):
            raise refuse("construct", at or node, "This key stands here twice.", "")
        pairs.append((key, literal(value, constants)))
    if not pairs:
        raise refuse("static", node, "This dictionary is empty.", "")
    return LiteralDictionary(tuple(pairs))


def setting(text: str) -> Literal:
    """A public argument as it is typed on a command line: 0.5, 1/2, true, or a text."""
    if not text.isascii():
        return text  # digits of other scripts may look like other numbers
    lowered = text.strip().lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    try:
        decimal = Decimal(text)
    except InvalidOperation:
        decimal = None
    if decimal is not None:
        # 1e99999999 is a short text, and no number that anybody could hold.
        short = decimal.is_finite() and abs(decimal.adjusted()) < MOST_DIGITS
        return Fraction(decimal) if short and len(text) < MOST_DIGITS else text
    try:
        return Fraction(text) if len(text) < MOST_DIGITS and "e" not in lowered else text
    except (ValueError, ZeroDivisionError):
        return text


def arithmetic(node: ast.BinOp, left: Fraction, right: Fraction) -> Fraction:
    """The exact value of arithmetic on literals."""
    if isinstance(node.op, ast.Add):
        result = left + right
    elif isinstance(node.op, ast.Sub):
        result = left - right
    elif isinstance(node.op, ast.Mult):
        result = left * right
    elif isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod):
        if right == 0:
            raise refuse("division", node, "This divides by zero.")
        if isinstance(node.op, ast.Div):
            result = left / right
        elif isinstance(node.op, ast.FloorDiv):
            result = Fraction(left // right)
        else:
            result = left % right
    elif isinstance(node.op, ast.Pow) and abs(right) > 64:
        raise refuse("static", node, "This is too large a power.", "Powers are from -64 to 64.")
    elif isinstance(node.op, ast.Pow) and right.denominator == 1:
        if left == 0 and right < 0:
            raise refuse("division", node, "This divides by zero.")
        result = left ** int(right)
    else:
        raise refuse(
            "construct",
            node,
            "This operation is not one of programs.",
            "They have + - * / // % **.",
        )
    if max(abs(result.numerator), result.denominator) >= 10**MOST_DIGITS:
        raise refuse("static", node, f"This number has more than {MOST_DIGITS} digits.")
    return result
