"""Lies about bounds: what a rule that takes the other end, or the other side, would let pass.

Each states less than follows by one operation, comparison or rule: see `rule_lies`.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.kernel.mutations import sealed
from tests.kernel.program_lies import claimed, evidence, number_of
from tests.kernel.rule_stories import (
    ILL,
    OF_THE_ILL,
    SIZE,
    VISITS,
    Document,
    Expression,
    branch,
    counted,
    derived,
    expr,
    field,
    folded,
    gaussian,
    noisy,
    partition,
    public,
    total,
    written,
)

Lie = Callable[[], Document]
ZERO, ONE, TWO, FIVE, NINE, TEN, TWENTY = (
    number_of(text) for text in ("0", "1", "2", "5", "9", "10", "20")
)
SHOWN = public("laplace_1")
PER_RECORD = expr("div", OF_THE_ILL, SIZE)
TENTH, WHOLE = expr("div", ONE, SIZE), expr("div", TEN, SIZE)


def _sum(value: Expression, moved: str) -> Lie:
    """A sum of this value of all rows."""
    return lambda: written(noisy(total(value), moved))


def _noisy(value: Expression, moved: str | Expression) -> Lie:
    return lambda: written(noisy(value, moved))


def _second(value: Expression, moved: str) -> Lie:
    return lambda: written(noisy(counted(ILL)), noisy(value, moved, "laplace_2"), epsilon="2")


def _entries(value: Expression, *places: int) -> list[Expression]:
    return [expr("item", value, data=[{"number": str(place)}]) for place in places]


# -- where values of a row lie ---------------------------------------------------------------------

RANGES: dict[str, Lie] = {
    "an absolute value": _sum(expr("abs", expr("sub", VISITS, TWENTY)), "1"),
    "the smaller of two": _sum(expr("min", VISITS, FIVE), "4"),
    "the larger of two": _sum(expr("max", VISITS, number_of("3")), "3"),
    "the smaller of two scores": _sum(expr("min", field("score"), FIVE), "4"),
    "the larger of two scores": _sum(expr("max", field("score"), FIVE), "4"),
    "a choice of two": _sum(expr("if", ILL, field("score"), TWENTY), "10"),
    "a product": _sum(expr("mul", VISITS, field("score")), "1"),
    "a square": _sum(
        expr("mul", expr("add", field("score"), ONE), expr("add", field("score"), ONE)), "1"
    ),
    "a clip at the upper end": _sum(expr("clip", VISITS, ZERO, number_of("8")), "1"),
    "a clip at the lower end": _sum(expr("clip", VISITS, ONE, NINE), "1"),
    "divided by what may be 0 from below": lambda: written(
        noisy(counted(value=expr("div", ONE, expr("neg", VISITS))))
    ),
    "below the largest": _sum(expr("if", expr("lt", VISITS, NINE), ZERO, FIVE), "1"),
    "at least the largest": _sum(expr("if", expr("ge", VISITS, NINE), FIVE, ZERO), "1"),
    "at most the least": _sum(expr("if", expr("le", VISITS, ZERO), FIVE, ZERO), "1"),
    "above the least": _sum(expr("if", expr("gt", VISITS, ZERO), ZERO, FIVE), "1"),
    "a logarithm of the gamma function": _second(
        expr("mul", counted(ILL), expr("lgamma", expr("clip", SHOWN, ONE, FIVE))), "1"
    ),
    "over a released number": _second(
        expr("div", counted(ILL), expr("clip", SHOWN, TWO, FIVE)), "1/4"
    ),
}
"""Values of a row, or of what was released, that reach further."""

# -- rules of vectors ------------------------------------------------------------------------------

ARMS = expr("onehot", field("arm"), data=[{"number": "3"}])
CELLS = total(ARMS)
PRODUCTS = total(expr("moments", expr("tuple", ILL, ILL)))
FIRST, SECOND, THIRD = _entries(PRODUCTS, 0, 1, 2)
VECTORS: dict[str, Lie] = {
    "two truth values at once": _sum(
        expr("tuple", expr("mul", ILL, VISITS), expr("mul", ILL, TWO)), "1"
    ),
    "the squares of two at once": lambda: written(
        _squared(total(expr("tuple", expr("mul", ILL, VISITS), expr("mul", ILL, TWO))), "1"),
        delta="1/10000",
    ),
    "moments of a large number": _sum(expr("moments", expr("tuple", ILL, VISITS)), "3"),
    "the square of one number": lambda: written(
        _squared(total(expr("moments", expr("tuple", ILL))), "1/2"), delta="1/10000"
    ),
    "moments of which one counts five times": _noisy(
        expr("tuple", FIRST, expr("mul", FIVE, SECOND), THIRD), "3"
    ),
    "numbers of both signs in cells": _sum(
        expr("mul", ARMS, expr("sub", VISITS, number_of("4"))), "9"
    ),
    "a cell and a sum": _noisy(
        expr("tuple", expr("add", _entries(CELLS, 0)[0], OF_THE_ILL), _entries(CELLS, 1)[0]), "2"
    ),
    "the larger of two sums": _noisy(expr("max", OF_THE_ILL, counted(ILL)), "1"),
}
"""Vectors that move further."""


def _squared(value: Expression, moved: str) -> tuple[Document, Document]:
    """Gaussian noise for a move whose square is this."""
    command, node = gaussian(value, "1/10000", "gaussian_1")
    node["sensitivity"]["value"] = number_of(moved)
    return command, node


# -- numbers of records ----------------------------------------------------------------------------

SIZES: dict[str, Lie] = {
    "the least of two numbers": _noisy(counted(ILL), expr("min", ZERO, FIVE)),
    "the least of two for each record": _noisy(PER_RECORD, expr("min", WHOLE, TENTH)),
    "the largest of two for each record": _noisy(
        expr("max", PER_RECORD, expr("div", counted(ILL), SIZE)), TENTH
    ),
    "a clip for each record": _noisy(PER_RECORD, expr("clip", WHOLE, ZERO, TENTH)),
    "less with each record": _noisy(counted(ILL), expr("sub", number_of("50"), SIZE)),
}
"""What is stated by the number of records."""

# -- commands, and what is said of them ------------------------------------------------------------


def _site(label: str, place: int) -> tuple[str, list[tuple[Document, Document]]]:
    """A piece that reads all rows too."""
    own = noisy(counted(ILL, pieces=[["site", label]]), "1", f"laplace_{place}", entering="1")
    return label, [own, noisy(counted(ILL), "1", f"laplace_{place + 1}", entering="1")]


def _of_one_column() -> Document:
    """A claim about one column where another release is about all of them."""
    clipped = noisy(total(VISITS), "9", kind="lipschitz", column="visits", interval=["0", "9"])
    document = written(clipped, noisy(counted(ILL), "1", "laplace_2"), epsilon="2")
    claimed(document, kind="lipschitz", column="visits", interval=["0", "9"])
    return sealed(document)


def _for_nothing() -> Document:
    command, node = noisy(counted(ILL), "1", epsilon="0")
    command["options"]["epsilon"] = ZERO
    return written((command, node), epsilon="0")


def _by_two_rules() -> Document:
    document = written(noisy(counted(ILL)))
    node = evidence(document)["derivation"]["sequence"][0]
    node["sensitivity"]["by"] = "sum of box, magic"
    return sealed(document)


def _declared() -> Document:
    document = folded("doses")
    for item in evidence(document)["obligations"]:
        item["text"] = item["text"].replace("v1 Real)", "v1 (Real))")
    return sealed(document)


COMMANDS: dict[str, Lie] = {
    "the smaller of two deltas": lambda: written(
        noisy(counted(ILL)),
        branch(
            expr("gt", SHOWN, ONE),
            [gaussian(counted(ILL), "1/4", "gaussian_1")],
            [gaussian(counted(ILL), "1/8", "gaussian_2")],
        ),
        epsilon="2",
        delta="1/8",
    ),
    "pieces that read their own rows and others": lambda: written(
        partition("site", True, _site("n", 0), _site("s", 2)), more=("site",), epsilon="2"
    ),
    "one of two names again": lambda: written(
        noisy(counted(ILL)),
        derived("k_1", ONE),
        branch(expr("gt", SHOWN, ONE), [derived("k_1", TWO), derived("k_2", ONE)]),
    ),
    "one column of two releases": _of_one_column,
    "noise for nothing": _for_nothing,
    "by a rule and another": _by_two_rules,
    "a kind in brackets": _declared,
    "a vector with a label": lambda: written(
        noisy(counted(value=expr("tuple", field("arm"), ONE)))
    ),
}
"""Commands of which a part would do."""

LIES: dict[str, Lie] = {**RANGES, **VECTORS, **SIZES, **COMMANDS}
"""Each lie, and the certificate that tells it."""
