"""Finite models: a prior over hypotheses, and a likelihood that is a table.

`hypotheses(...)` lists what may be true and `chances(...)` says how likely each observed value is
then. Both are known before data is read, so the table is made here, entry by entry, and stands
among the likelihood's parameters: no rule is needed for it. The statistics are counts.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import cast

from bayesdp.kernel.programs.functions import FUNCTIONS, function_value, in_domain
from bayesdp.kernel.programs.ranges import folded
from bayesdp.programs.ir import Expr, Type
from bayesdp.programs.source.drafts.context import Context
from bayesdp.programs.source.drafts.values import (
    Data,
    Dictionary,
    Items,
    LoweredValue,
    ModelObject,
    Named,
    Scalar,
    constant,
    described,
    indicators,
    scalar,
    static,
    static_of,
)
from bayesdp.programs.source.records.bounded import check_public_size, lies
from bayesdp.programs.source.records.rows import row_value, summed
from bayesdp.programs.source.syntax.diagnostics import ProgramError, place, refuse
from bayesdp.programs.source.syntax.literals import Literal
from bayesdp.programs.source.syntax.signature import has_plain_parameters

CHANCES, HYPOTHESES = "chances", "hypotheses"
"""The families of the likelihood and of its prior."""
MOST_HYPOTHESES, MOST_VALUES, MOST_CELLS = 1000, 256, 8192
EXAMPLE = 'hypotheses({"fair": 0.9, "loaded": 0.1}) or hypotheses((4, 6, 8, 12, 20))'
RULE = "chances(lambda sides, roll: 1 / sides if roll <= sides else 0)"
NEAR = Fraction(1, 10**9)
"""How far the chances of a hypothesis may be from adding up to 1: logarithms are rounded."""
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class ChancesLikelihood(ModelObject):
    """`chances(...)`: its table or rule, and the context in which the rule was written."""

    rule: ast.Lambda | None = None
    table: LoweredValue | None = None
    context: Context | None = None


# -- the prior -------------------------------------------------------------------------------------


def call_hypotheses(node: ast.Call, context: Context) -> LoweredValue:
    """`hypotheses(axis, ...)`: a prior of what may be true: all combinations of the axes' values.

    An axis is a tuple, a range or a `linspace` of literals, all equally likely, or a dictionary
    with a weight for each.
    """
    if node.keywords or not node.args:
        raise refuse("arguments", node, "hypotheses lists what may be true.", EXAMPLE)
    axes = [_axis(context.value(argument), argument) for argument in node.args]
    many = prod(len(keys) for keys, _ in axes)
    if not 2 <= many <= MOST_HYPOTHESES:
        raise refuse(
            "size",
            node,
            f"These are {many} hypotheses, and a model has 2 to {MOST_HYPOTHESES}.",
            "Take a coarser grid." if many > 1 else EXAMPLE,
        )
    keys = [
        entry[0] if len(axes) == 1 else tuple(entry)
        for entry in product(*(axis for axis, _ in axes))
    ]
    weights = [prod(entry, start=Fraction(1)) for entry in product(*(each for _, each in axes))]
    parts = tuple(constant(weight, node) for weight in weights)
    about = tuple(static(key, node) for key in keys)
    return ModelObject("prior", Expr("prior", parts, (HYPOTHESES,), place(node)), HYPOTHESES, about)


def _axis(value: LoweredValue, node: ast.expr) -> tuple[list[Literal], list[Fraction]]:
    """The values of an axis and their weights."""
    keys: list[Literal]
    if isinstance(value, Dictionary):
        keys = list(value.keys)
        weights = [static_of(entry) for entry in value.values]
    else:
        keys = _listed(value, node)
        weights = [Fraction(1)] * len(keys)
    positive_weights = [weight for weight in weights if isinstance(weight, Fraction) and weight > 0]
    if len(positive_weights) < len(keys):
        raise refuse(
            "prior",
            node,
            "The weights of hypotheses are literals above 0.",
            "Leave out what is impossible. " + EXAMPLE,
        )
    if len({(type(key), key) for key in keys}) < len(keys):
        raise refuse("prior", node, "A hypothesis stands here twice.", "List each once.")
    return keys, positive_weights


def _listed(value: LoweredValue, node: ast.expr) -> list[Literal]:
    candidates = isinstance(value, ModelObject) and value.kind == "candidates"
    if candidates and isinstance(value, ModelObject):
        numbers = [part.data[0] if part.op == "const" else None for part in value.expr.args]
        known = [number for number in numbers if isinstance(number, Fraction)]
        if value.expr.op == "linspace" and len(known) == len(numbers):
            low, high, many = known
            if many <= MOST_HYPOTHESES:
                return [low + (high - low) * i / (many - 1) for i in range(int(many))]
        if value.expr.op == "range" and len(known) == len(numbers):
            within = range(*(int(number) for number in known))
            return [Fraction(number) for number in within[: MOST_HYPOTHESES + 1]]
    listed = [static_of(item) for item in value.items] if isinstance(value, Items) else []
    known_keys: list[Literal] = [
        entry for entry in listed if entry is not None and not isinstance(entry, tuple)
    ]
    if not listed or len(known_keys) < len(listed):
        depends = isinstance(value, Data) or (isinstance(value, Scalar) and value.of_records)
        raise refuse(
            "private-parameter" if depends else "static",
            node,
            "Hypotheses are known before the data is read; here stands "
            f"{described(value)}" + (" with others than literals." if listed else "."),
            EXAMPLE,
        )
    return known_keys


# -- the likelihood --------------------------------------------------------------------------------


def call_chances(node: ast.Call, context: Context) -> LoweredValue:
    """`chances(rule)`: how likely each value of a record is, under each hypothesis.

    `rule` is a function of the hypothesis (of each axis' value) and of the value, or a dictionary
    with the chances of all values for each hypothesis. Of truth values the chance to be true is
    enough.
    """
    if node.keywords or len(node.args) != 1:
        raise refuse("arguments", node, "chances takes a function or a dictionary.", RULE)
    (at,) = node.args
    expr = Expr("likelihood", (), (CHANCES,), place(node))
    if isinstance(at, ast.Lambda):
        signature = at.args
        if not has_plain_parameters(signature):
            raise refuse("construct", at, "A lambda of chances has plain parameters only.", RULE)
        return ChancesLikelihood(
            "likelihood", expr, CHANCES, rule=at, context=context.inside(context.scope.copied())
        )
    table = context.value(at)
    if isinstance(table, Named) and table.kind == "helper":
        raise refuse(
            "construct", at, "chances takes the call of a helper.",
            f"chances(lambda h, x: {table.name}(h, x))",
        )  # fmt: skip
    if not isinstance(table, Dictionary):
        raise refuse(
            "arguments",
            at,
            f"chances takes a function or a dictionary, and here stands {described(table)}.",
            RULE,
        )
    return ChancesLikelihood("likelihood", expr, CHANCES, table=table, context=context)


def with_table(
    likelihood: ModelObject, prior: ModelObject, values: Sequence[Literal], node: ast.AST
) -> ModelObject:
    """The likelihood with its table: the places of the hypotheses, then the chances of `values`.

    `prior` has the hypotheses, `node` is where messages point.
    """
    assert isinstance(likelihood, ChancesLikelihood)
    keys = keys_of(prior, node)
    if len(keys) * len(values) > MOST_CELLS:
        raise refuse(
            "size",
            node,
            f"A table of {len(keys)} hypotheses and {len(values)} values has more than "
            f"{MOST_CELLS} cells.",
            "Take a coarser grid, or merge values: min(p.visits, 10).",
        )
    chances = [chance for key in keys for chance in _row(likelihood, key, values, node)]
    numbers = [Fraction(len(keys)), *points(keys), *chances]
    parts = tuple(constant(number) for number in numbers)
    return replace(likelihood, expr=replace(likelihood.expr, args=parts))


def with_answers(
    likelihood: ModelObject, prior: ModelObject, answers: ModelObject, node: ast.AST
) -> ModelObject:
    """The likelihood with its table, where it is of noisy `answers` of records; else as it is.

    `prior` has the hypotheses, `node` is where messages point.
    """
    if likelihood.family != CHANCES:
        return likelihood
    labels = [static_of(label) for label in answers.about]
    values = [label for label in labels if label is not None]
    truths: list[Literal] = [False, True]
    return with_table(likelihood, prior, truths if answers.family == "bernoulli" else values, node)


def keys_of(owner: ModelObject, node: ast.AST) -> list[Literal]:
    """The hypotheses that a prior or a released posterior is about."""
    keys = [static_of(key) for key in owner.about]
    known = [key for key in keys if key is not None]
    if not known or len(known) < len(keys):
        raise refuse(
            "type",
            node,
            "Which hypotheses this posterior is about depends on a condition.",
            "Use it inside the branch that made it.",
        )
    return known


def points(keys: Sequence[Literal]) -> list[Fraction]:
    """Where the hypotheses lie as numbers: themselves, or their places where they are names."""
    numbers = [key for key in keys if isinstance(key, Fraction)]
    if len(numbers) == len(keys):
        return numbers
    return [Fraction(i) for i in range(len(keys))]


def _row(
    likelihood: ChancesLikelihood, key: Literal, values: Sequence[Literal], node: ast.AST
) -> list[Fraction]:
    """The chances of all values under one hypothesis, which add up to 1."""
    at: ast.AST = likelihood.rule or node
    truths = list(values) == [False, True]
    if likelihood.table is not None:
        chances = _from_table(likelihood, key, len(values), truths, node)
    else:
        chances = _from_rule(likelihood, key, values, truths)
    for chance in chances:
        if not -NEAR <= chance <= 1 + NEAR:
            raise refuse(
                "prior",
                at,
                f"Under the hypothesis {hypothesis_words(key)} a chance is {float(chance):.6g}.",
                "Chances lie from 0 to 1.",
            )
    total = sum(chances, Fraction(0))
    if abs(total - 1) > NEAR:
        listed = (
            f"{len(values)} values, {hypothesis_words(values[0])} to {hypothesis_words(values[-1])}"
        )
        raise refuse(
            "prior",
            at,
            f"Under the hypothesis {hypothesis_words(key)} the chances of the {listed}, add up to "
            f"{float(total):.9g}.",
            "They add up to 1, over all values that the column may have.",
        )
    nonnegative = [max(chance, Fraction(0)) for chance in chances]
    return [_short(chance / sum(nonnegative)) for chance in nonnegative]


def _short(chance: Fraction) -> Fraction:
    """The chance, or one near it with fewer digits; what is possible stays possible."""
    if chance.denominator < 10**30:
        return chance
    return max(Fraction(round(chance * 2**96), 2**96), Fraction(1, 2**96))


def _from_table(
    likelihood: ChancesLikelihood, key: Literal, many: int, truths: bool, node: ast.AST
) -> list[Fraction]:
    table, context = likelihood.table, likelihood.context
    assert isinstance(table, Dictionary)
    assert context is not None
    places = [i for i, held in enumerate(table.keys) if (type(held), held) == (type(key), key)]
    if not places:
        raise refuse("type", node, f"The table has no chances for {hypothesis_words(key)}.", "")
    entry = table.values[places[0]]
    if truths and isinstance(entry, Scalar):
        chance = _number(entry, context, node)
        return [1 - chance, chance]
    if not isinstance(entry, Items) or len(entry.items) != many:
        raise refuse(
            "arguments",
            node,
            f"For {hypothesis_words(key)} the table has not one chance for each of {many} values.",
            "A tuple of them, in the order of the column's values.",
        )
    return [_number(scalar(item, node), context, node) for item in entry.items]


def _from_rule(
    likelihood: ChancesLikelihood, key: Literal, values: Sequence[Literal], truths: bool
) -> list[Fraction]:
    rule, context = likelihood.rule, likelihood.context
    assert rule is not None
    assert context is not None
    names = [parameter.arg for parameter in rule.args.args]
    axes = key if isinstance(key, tuple) else (key,)
    first = values[0]
    width = len(first) if isinstance(first, tuple) else 1
    whole = len(names) == len(axes) + width
    if not whole and not (truths and len(names) == len(axes)):
        raise refuse(
            "arguments",
            rule,
            f"This is a function of {len(names)}; the hypotheses have {len(axes)} number"
            f"{'s' * (len(axes) != 1)} or names, and a record {width}.",
            RULE,
        )

    def chance(value: Literal) -> Fraction:
        rule_values = (*axes, *(value if isinstance(value, tuple) else (value,)))
        bound = {name: static(part, rule) for name, part in zip(names, rule_values, strict=False)}
        context.draft.tick(rule)
        inner = context.inside(context.scope.inside_rows(bound))
        with context.draft.without_release(rule, "Chances release nothing."):
            return _number(scalar(inner.value(rule.body), rule.body), context, rule.body)

    try:
        if whole:
            return [chance(value) for value in values]
        true = chance(True)
        return [1 - true, true]
    finally:
        for parameter in rule.args.args:
            context.scope.ended(parameter, "is a hypothesis or a value, inside its chances only.")


def _number(value: Scalar, context: Context, node: ast.AST) -> Fraction:
    """A chance that is known before the data is read; of functions to 64 bits."""
    if value.of_records:
        raise refuse("private-parameter", node, "A chance depends on private data.", "")
    number = static_of(value)
    if isinstance(number, bool | Fraction):
        return Fraction(number)
    known = _evaluated(value.expr)
    if value.type.kind in ("int", "real") and known is not None:
        return known
    raise refuse(
        "static",
        node,
        "A chance is a number that is known before the data is read.",
        "Use literals and public arguments.",
    )


def _evaluated(expr: Expr) -> Fraction | None:
    """The value of an expression of literals; functions to 64 bits. None for any other."""
    if expr.op in FUNCTIONS:
        at = _evaluated(expr.args[0])
        return (
            function_value(expr.op, at) if at is not None and in_domain(expr.op, at, at) else None
        )
    parts = [_evaluated(part) if part.op != "const" else None for part in expr.args]
    args = tuple(
        part if number is None else constant(number)
        for part, number in zip(expr.args, parts, strict=True)
    )
    if expr.op == "clip":
        held = Expr("max", args[:2])
        return folded(Expr("min", (held, args[2])))
    return folded(Expr(expr.op, args, expr.data))


def hypothesis_words(key: Literal) -> str:
    """A hypothesis or a value in words, for messages."""
    if isinstance(key, tuple):
        return f"({', '.join(map(hypothesis_words, key))})"
    return f"{float(key):.6g}" if type(key) is Fraction else repr(key)


# -- rows and statistics ---------------------------------------------------------------------------


def values_of(data: Data, node: ast.expr, context: Context) -> list[Literal]:
    """Every value that a row may have, in the order in which they are counted."""
    check_public_size(CHANCES, data, node, context)
    mapped, kind = row_value(data, node)
    if kind.kind != "vector":
        values = _values(mapped, kind, node, context)
    else:
        parts = mapped.args if mapped.op == "tuple" else ()
        if len(parts) != len(kind.items):
            raise _no_values(node)
        each = [
            _values(part, entry, node, context)
            for part, entry in zip(parts, kind.items, strict=True)
        ]
        values = list(product(*each)) if prod(map(len, each)) <= MOST_VALUES else []
    if not 2 <= len(values) <= MOST_VALUES:
        raise refuse(
            "size",
            node,
            f"A record of a finite model has 2 to {MOST_VALUES} values.",
            "min(p.visits, 10), for example; the last value then means 10 or more.",
        )
    return values


def _values(mapped: Expr, kind: Type, node: ast.expr, context: Context) -> list[Literal]:
    if kind.kind == "bool":
        return [False, True]
    if kind.kind == "category":
        return list(kind.labels)
    if kind.kind == "int":
        low, high = lies(mapped, context, node)
        return [Fraction(value) for value in range(int(low), min(int(high), int(low) + 1000) + 1)]
    raise _no_values(node)


def _no_values(node: ast.AST) -> ProgramError:
    return refuse(
        "type",
        node,
        "chances observes truth values, labels, whole numbers with bounds, or tuples of these.",
        "Of other numbers take classes: floor(p.x / 10).",
    )


def counts_of(data: Data, node: ast.AST, context: Context) -> Scalar:
    """How many rows have each value; of truth values how many are true."""
    mapped, kind = row_value(data, node)
    if kind.kind == "bool":
        return summed(data, mapped, kind, node, context)
    at, where = cast("ast.expr", node), place(node)
    if kind.kind != "vector":
        many = len(_values(mapped, kind, at, context))
        place_in = mapped if kind.kind == "category" else _from_zero(mapped, context, at)
    else:
        sizes = [
            len(_values(part, entry, at, context))
            for part, entry in zip(mapped.args, kind.items, strict=True)
        ]
        many = prod(sizes)
        kinds = {entry.kind for entry in kind.items}
        if kinds <= {"bool", "category"}:
            place_in = Expr("cross", mapped.args, (), where)
        elif kinds <= {"bool", "int"}:
            place_in = _from_zero(mapped.args[0], context, at)
            for part, size in zip(mapped.args[1:], sizes[1:], strict=True):
                moved = Expr("mul", (place_in, constant(Fraction(size))), (), where)
                place_in = Expr("add", (moved, _from_zero(part, context, at)), (), where)
        else:
            raise refuse(
                "type",
                node,
                "Labels and whole numbers are not counted together.",
                "Make labels of the numbers: p.visits > 0, or declare the column a Category.",
            )
    hot = Expr("onehot", (place_in,), (Fraction(many),), where)
    return summed(data, hot, indicators(many), node, context)


def _from_zero(mapped: Expr, context: Context, node: ast.expr) -> Expr:
    low, _ = lies(mapped, context, node)
    return Expr("sub", (mapped, constant(low)), (), place(node)) if low else mapped
