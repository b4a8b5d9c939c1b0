"""The programs that gain by a mutant, with their true verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from bayesdp.programs.ir import Expr, Parts, Program, Release
from tests.programs.probes import GRID, coin, core


class Probe(NamedTuple):
    """A program and what the checker says of it; the cost and kind count where it is accepted."""

    program: Program
    verdict: str = "ACCEPTED"
    cost: Fraction = Fraction(1)
    kind: str = "any"


def number(value: object) -> Expr:
    return Expr("const", (), (value if isinstance(value, bool) else Fraction(str(value)),))


def field(name: str) -> Expr:
    return Expr("field", (), (name,))


def named(name: str) -> Expr:
    return Expr("public", (), (name,))


def total(value: Expr, kept: Expr | None = None) -> Expr:
    return Expr("sum", (Expr("data", (kept or number(True), value), ((),)),))


ENTERING = 'adjacency="add-remove"'
GAUSS = "epsilon=1, delta=1e-5"


def built(body: str, returns: str = "Real", options: str = "") -> Program:
    return core(body, returns=returns, options=options)


def noisy(value: str, returns: str = "Real", options: str = "") -> Program:
    return built(f"laplace({value}, epsilon=1)", returns, options)


def gaussian(value: str, returns: str = "Real") -> Program:
    return built(f"gaussian({value}, {GAUSS})", returns)


def released(body: str) -> Program:
    return built(f"shown = laplace(sum(r.y for r in db), epsilon=1)\n{body}")


TRANSITIONS = 'transition_counts(db.c, order="z")'


HOT = Expr("onehot", (Expr("field", (), ("c",)),), (Fraction(3),))


def transitions(
    row: Expr = HOT,
    keys: tuple[Expr, ...] = (Expr("field", (), ("z",)),),
    kept: Expr | None = None,
    pieces: tuple[tuple[str, str], ...] = (),
) -> Expr:
    return Expr("transitions", (Expr("data", (kept or number(True), row), (pieces,)), *keys))


def of_transitions(value: Expr, options: str = "") -> Program:
    """A program that releases these transitions."""
    made = noisy("sum(onehot(r.c) for r in db)", "Vector", options)
    (release,) = made.body
    assert isinstance(release, Release)
    return replace(made, body=(replace(release, args=(value,)),))


def left(value: str) -> Program:
    """A logarithm of what is left of a size."""
    return released(f"log({value})")


def searched(queries: str) -> Program:
    return built(f"above_threshold({queries}, threshold=1, epsilon=1)", "Int")


def pieces(by: str, body: str) -> Program:
    inside = "\n".join(f"    {part}" for part in body.split("\n"))
    return built(f'for piece in partition(db, by="{by}"):\n{inside}\n0', "Int")


def valued(value: Expr, program: Program | None = None) -> Program:
    """The plain sum's program with another value released."""
    base = program or noisy("sum(r.x for r in db)")
    return replace(base, body=(replace(base.body[0], args=(value,)),))


def sized(program: Program, *requires: Expr) -> Program:
    return replace(program, requires=requires)


def size(op: str, value: object, *, turned: bool = False) -> Expr:
    both = (named("db.size"), number(value))
    return Expr(op, both[::-1] if turned else both)


def hellinger(body: str, candidates: str, returns: str) -> Program:
    return built(
        f"model = {body}\nexponential(score=hellinger(infer(model)), candidates={candidates}, "
        "epsilon=1)",
        returns,
    )


MEANS = "grid_of(normal, a=(0, 1), b=(1, 2))"
RATES = "grid_of(gamma, a=(1, 2), b=(1, 2))"


def without_public(program: Program, **changes: bool) -> Program:
    parts = [
        replace(statement, public=True) if isinstance(statement, Parts) else statement
        for statement in program.body
    ]
    return replace(program, body=tuple(parts))


def piece_twice(program: Program) -> Program:
    (item,) = (part for part in program.body if isinstance(part, Parts))
    (first, (_, second), *_) = item.parts
    return replace(program, body=(replace(item, parts=(first, (first[0], second))),))


def crossed() -> Program:
    both = 'cross(r.c, r.d) for r in db if (r.c == "v" and r.d == "w") or r.c == "w" and r.d == "u"'
    program = noisy(f"sum(onehot({both.split(' for ')[0]}) for {both.split(' for ')[1]})", "Vector")
    kinds = dict(program.record)
    # "v" + "w|x" and "v|w" + "x" are both "v|w|x".
    kinds["c"] = replace(kinds["c"], labels=("u", "v", "v|w"))
    kinds["d"] = replace(kinds["d"], labels=("x", "v", "w|x"))

    def renamed(expr: Expr) -> Expr:
        names = {("c", "w"): "v|w", ("d", "w"): "w|x", ("d", "u"): "x"}
        if expr.op == "eq":
            column = str(expr.args[0].data[0])
            label = str(expr.args[1].data[0])
            changed = Expr("const", (), (names.get((column, label), label),))
            return Expr("eq", (expr.args[0], changed))
        return Expr(expr.op, tuple(renamed(argument) for argument in expr.args), expr.data)

    release = program.body[0]
    assert isinstance(release, Release)
    body = (replace(release, args=(renamed(release.args[0]),)),)
    return replace(program, record=tuple(kinds.items()), body=body)


def answer_that_fails() -> Program:
    program = built(ANSWERS.format("db"), "Vector")
    release = program.body[0]
    data, score, candidates = release.args
    inside = Expr("div", (number(1), Expr("sub", (field("y"), number(1)))))
    changed = Expr("row-score", (Expr("clip", (inside, number(0), number(1))),), score.data)
    return replace(program, body=(replace(release, args=(data, changed, candidates)),))


def answers_filtered() -> Program:
    program = built("randomized_response((r.b for r in db), epsilon=1)", "Vector")
    release = program.body[0]
    data = Expr("data", (field("b"), field("b")), ((),))
    return replace(program, body=(replace(release, args=(data,)),))


def candidates_from_data() -> Program:
    program = built(SCORE)
    release = program.body[0]
    listed = Expr("linspace", (number(0), total(field("y")), number(3)))
    return replace(program, body=(replace(release, args=(release.args[0], listed)),))


def noisy_grid(points: str) -> Program:
    """A choice on a grid that a released count has to do with."""
    return core(
        "k = laplace(count(r for r in db if r.b), epsilon=1)\n"
        "exponential(score=lambda t: t * count(r for r in db if r.b), "
        f"candidates=linspace(0, 1, {points}), epsilon=1)"
    )


def observing(program: Program, place: int, changed: Expr) -> Program:
    """The hellinger release's model with its likelihood (1) or prior (2) changed."""
    release = program.body[0]
    score, candidates = release.args
    model = score.args[0].args[0]
    args = tuple(changed if i == place else item for i, item in enumerate(model.args))
    posterior = Expr("posterior", (Expr("observe", args),))
    new = replace(release, args=(Expr("hellinger", (posterior,)), candidates))
    return replace(program, body=(new,))


def with_option(program: Program, name: str, value: Expr) -> Program:
    release = program.body[0]
    options = {**dict(release.options), name: value}
    return replace(program, body=(replace(release, options=tuple(sorted(options.items()))),))


ANSWERS = (
    "per_record_exponential({}, score=lambda r, c: -abs(r.x - c), candidates=(0, 3), epsilon=1)"
)
SCORE = "exponential(score=lambda c: -abs(sum(r.y for r in db) - c), candidates=(0, 3), epsilon=1)"
SAMPLE = (
    "model = observe({}, bernoulli, prior=beta(1, 1))\n"
    "posterior_sample(model, grid=linspace(0.05, 0.95, 19), log_likelihood={}, power=1 / 4)"
)
SAMPLES = """
for piece in partition(db, by="c"):
    model = observe((r.b for r in piece), bernoulli, prior=beta(1, 1))
    one = posterior_sample(model, grid=linspace(0.05, 0.95, 19), log_likelihood=(-3, -1),
        power=1 / 4)
0
"""
RATE = "observe((clip(r.y, {}) for r in db{}), poisson(exposure=db.size), prior=gamma(2, rate=1))"
COINS = f"""
for piece in partition(db, by="p"):
    model = observe((r.b for r in piece), bernoulli, prior=beta(1, 1))
    found = exponential(score=hellinger(infer(model)), candidates={GRID}, epsilon=1)
0
"""
BRANCH = """
shown = laplace(sum(r.y for r in db), epsilon=1)
if shown > 3:
    more = laplace(sum(r.x for r in db), epsilon=1)
else:
    more = laplace(sum(r.x for r in db), epsilon=2)
more
"""
MORE = "    if shown > 3:\n        more = laplace(count(piece), epsilon=1)\n    else:\n        more"
PIECES_BRANCH = f"""
shown = laplace(sum(r.y for r in db), epsilon=1)
for piece in partition(db, by="c"):
{MORE} = laplace(count(piece), epsilon=2)
0
"""
NESTED = """
for piece in partition(db, by="c"):
    for inner in partition(piece, by="p"):
        more = laplace(count(piece), epsilon=1)
0
"""
MOMENTS = "statistics(observe(((1, clip(r.x, -1, 1), clip(r.y, 0, 1)) for r in db), {}))".format(
    "linear_model(noise_sd=1), prior=normal(0, sd=1)"
)
WIDE = MOMENTS.replace("clip(r.x, -1, 1)", "r.x")
HALVES = '(sum(r.x for r in db if r.p == "north"), sum(r.x for r in db if r.p == "south"))'
LEFT = "laplace(sum(r.x for r in db) / {}, epsilon=1)"
LIPSCHITZ = "lipschitz"
TWO = Fraction(2)


def _ratio(a: int, b: int) -> Fraction:
    return Fraction(a, b)


PROBES: dict[str, Callable[[], Probe]] = {
    "half and half": lambda: Probe(noisy("sum(r.b for r in db)")),
    "square": lambda: Probe(noisy("sum(r.x * r.x for r in db)")),
    "product": lambda: Probe(noisy("sum(r.x * (r.b - 1 / 4) for r in db)")),
    "over the size in rows": lambda: Probe(noisy("sum(r.x / db.size for r in db)")),
    "clipped": lambda: Probe(noisy("sum(clip(r.x, 0, 5) for r in db)"), kind=LIPSCHITZ),
    "absolute": lambda: Probe(noisy("sum(abs(r.x - 6) for r in db)")),
    "filtered": lambda: Probe(noisy("sum(clip(r.x, 2, 8) for r in db if r.b)")),
    "below 0, entering": lambda: Probe(noisy("sum(r.x - 6 for r in db)", options=ENTERING)),
    "difference in rows": lambda: Probe(noisy("sum(r.x - r.y for r in db)")),
    "choice in rows": lambda: Probe(noisy("sum((r.x if r.b else 3 * r.x) for r in db)")),
    "smaller of two": lambda: Probe(noisy("sum(min(r.x, 3) for r in db)")),
    "larger of two": lambda: Probe(noisy("sum(max(r.x, 3) for r in db)")),
    "a size less 1": lambda: Probe(built(LEFT.format("(db.size - 1)")), "REJECTED"),
    "times a public sum": lambda: Probe(
        sized(noisy("sum(r.x for r in db) * sum(r.q for r in db)"), size("le", 3)), kind=LIPSCHITZ
    ),
    "private pieces at 2": lambda: Probe(
        pieces("c", "more = laplace(sum(clip(r.x, 2, 8) for r in piece), epsilon=1)"), cost=TWO
    ),
    "at 2": lambda: Probe(noisy("sum(clip(r.x, 2, 8) for r in db)"), kind=LIPSCHITZ),
    "plain sum": lambda: Probe(noisy("sum(r.x for r in db)"), kind=LIPSCHITZ),
    "plain sum, entering": lambda: Probe(noisy("sum(r.x for r in db)", options=ENTERING)),
    "three times": lambda: Probe(noisy("3 * sum(r.x for r in db)"), kind=LIPSCHITZ),
    "a division in a row": lambda: Probe(
        valued(total(Expr("clip", (Expr("div", (field("x"), field("y"))), number(0), number(1))))),
        "REJECTED"),
    "a clip that may be turned": lambda: Probe(
        released("laplace(sum(clip(r.x, 3, clip(shown, 1, 5)) for r in db), epsilon=1)"),
        "REJECTED"),
    "two cells of one name": lambda: Probe(crossed(), "REJECTED"),
    "clipped whole number": lambda: Probe(noisy("sum(clip(r.y, 1, 2) for r in db)"),
                                          kind=LIPSCHITZ),
    "sum in rows": lambda: Probe(noisy("sum(r.y + 3 * r.b for r in db)")),
    "product of whole numbers": lambda: Probe(noisy("sum(r.y * (2 * r.b) for r in db)")),
    "count of some": lambda: Probe(noisy("count(r.x for r in db if r.b)")),
    "three whole numbers": lambda: Probe(noisy("3 * sum(r.y for r in db)"), kind=LIPSCHITZ),
    "whole number": lambda: Probe(noisy("sum(r.y for r in db)"), kind=LIPSCHITZ),
    "whole number, entering": lambda: Probe(
        noisy("sum(clip(r.y, 1, 3) for r in db)", options=ENTERING)),
    "one label": lambda: Probe(noisy('sum(r.c == "v" for r in db)')),
    "absolute whole number": lambda: Probe(noisy("sum(abs(r.y - 2) for r in db)")),
    "one number for each entry": lambda: Probe(
        noisy("sum(onehot(r.c) for r in db) + clip(sum(r.y for r in db), 0, 5)", "Vector")),
    "count, entering": lambda: Probe(noisy("count(db)", options=ENTERING)),
    "fold": lambda: Probe(noisy("fold(db, 0, grown)")),
    "transitions": lambda: Probe(of_transitions(transitions())),
    "transitions with Gaussian noise": lambda: Probe(gaussian(TRANSITIONS, "Vector")),
    "who stays": lambda: Probe(noisy(f"{TRANSITIONS}[4]", "Int")),
    "who stays, with Gaussian noise": lambda: Probe(gaussian(f"{TRANSITIONS}[4]", "Int")),
    "who leaves": lambda: Probe(noisy(f"{TRANSITIONS}[5]", "Int")),
    "transitions in a private order": lambda: Probe(
        of_transitions(transitions(keys=(field("y"),))), "REJECTED"),
    "transitions in an order of numbers": lambda: Probe(
        of_transitions(transitions(keys=(field("q"),))), "REJECTED"),
    "transitions, entering": lambda: Probe(
        of_transitions(transitions(keys=(field("z"),)), ENTERING), "UNKNOWN"),
    "transitions behind a private filter": lambda: Probe(
        of_transitions(transitions(kept=field("b"))), "REJECTED"),
    "transitions in a private piece": lambda: Probe(
        of_transitions(transitions(pieces=(("c", "u"),))), "REJECTED"),
    "transitions by three": lambda: Probe(
        of_transitions(transitions(keys=(field("z"), field("p"), field("p")))), "REJECTED"),
    "transitions of numbers": lambda: Probe(
        of_transitions(transitions(row=Expr("item", (HOT,), (Fraction(1),)))), "REJECTED"),
    "sum of sums": lambda: Probe(noisy("sum(r.x for r in db) + sum(r.y for r in db)")),
    "over a half": lambda: Probe(noisy("sum(r.x for r in db) / (1 / 2)"), kind=LIPSCHITZ),
    "two sums": lambda: Probe(noisy("(sum(r.x for r in db), sum(r.y for r in db))", "Vector")),
    "fold with Gaussian noise": lambda: Probe(gaussian("fold(db, 0, grown)")),
    "a clip at a private value": lambda: Probe(
        valued(Expr("clip", (total(field("x")), number(0), total(field("y"))))), "REJECTED"),
    "larger of two sums": lambda: Probe(noisy("max(sum(r.y for r in db), sum(r.x for r in db))")),
    "clipped sum and sum": lambda: Probe(
        noisy("clip(sum(r.x for r in db), -50, 50) + sum(r.y for r in db)")),
    "clipped sums with Gaussian noise": lambda: Probe(
        gaussian("clip(sum(r.x for r in db), -50, 50) + clip(sum(r.y for r in db), 0, 50)")),
    "a product of two sums": lambda: Probe(
        sized(valued(Expr("mul", (total(field("x")), total(field("y"))))), size("le", 3)),
        "REJECTED"),
    "a private divisor": lambda: Probe(
        valued(Expr("div", (total(field("x")), total(Expr("add", (number(1), field("y"))))))),
        "REJECTED"),
    "times the size with Gaussian noise": lambda: Probe(gaussian("sum(r.x for r in db) * db.size")),
    "over a released value": lambda: Probe(released(LEFT.format("clip(shown, 2, 50)")),
                                           cost=TWO),
    "over a released value below 0": lambda: Probe(released(LEFT.format("clip(shown, -50, -2)")),
                                                   cost=TWO),
    "times a released value": lambda: Probe(
        released("laplace(sum(r.x for r in db) * clip(shown, -7, 3), epsilon=1)"), cost=TWO),
    "two sums with Gaussian noise": lambda: Probe(
        gaussian("(sum(r.x for r in db), sum(r.x / 2 for r in db))", "Vector")),
    "at 2, entering": lambda: Probe(noisy("sum(clip(r.x, 2, 8) for r in db)", options=ENTERING)),
    "cells of different weight": lambda: Probe(
        built("k = sum(onehot(r.c) for r in db)\nlaplace((k[0], k[1], 5 * k[2]), epsilon=1)",
           "Vector")),
    "cells of two tables": lambda: Probe(
        built("k = sum(onehot(r.c) for r in db)\nm = sum(onehot(r.d) for r in db)\n"
           "laplace((k[0], m[1], k[2]), epsilon=1)", "Vector")),
    "one cell twice": lambda: Probe(
        built("k = sum(onehot(r.c) for r in db)\nlaplace((k[0], k[1], k[1]), epsilon=1)",
              "Vector")),
    "cells": lambda: Probe(noisy("sum(onehot(r.c) for r in db)", "Vector")),
    "three times cells with Gaussian noise": lambda: Probe(
        gaussian("3 * sum(onehot(r.c) for r in db)", "Vector")),
    "a logarithm in rows": lambda: Probe(noisy("sum(log(r.x + 3) for r in db)")),
    "an exponential in rows": lambda: Probe(noisy("sum(exp(r.x / 4) for r in db)")),
    "a floor in rows": lambda: Probe(noisy("sum(r.x // 3 for r in db)")),
    "an exponential of a released value": lambda: Probe(released("exp(shown)"), "REJECTED"),
    "an exponential without an end": lambda: Probe(released("exp(max(shown, 0))"), "REJECTED"),
    "searched": lambda: Probe(searched("(count(r for r in db if r.b), sum(r.x for r in db))")),
    "searched in pieces": lambda: Probe(pieces("c", "n = above_threshold((count(piece), "
        "sum(r.x for r in piece)), threshold=1, epsilon=1)"),
        cost=Fraction(8, 5)),
    "a clip less its end": lambda: Probe(left("clip(shown, 0, db.size) - db.size + 1"), "REJECTED"),
    "the size less a maximum": lambda: Probe(left("1 + db.size - max(shown, db.size)"), "REJECTED"),
    "the size less a clip from there": lambda: Probe(
        left("1 + db.size - clip(shown, db.size, 2 * db.size)"), "REJECTED"
    ),
    "the size less two clips": lambda: Probe(
        left("1 + db.size - clip(shown, 0, db.size) - clip(shown, 0, 5)"), "REJECTED"
    ),
    "the size less a clip and more": lambda: Probe(
        left("db.size - clip(shown, 0, db.size) - 1 + 1 / 2"), "REJECTED"
    ),
    "a logarithm of a released value": lambda: Probe(released("log(shown)"), "REJECTED"),
    "a root of a released value": lambda: Probe(released("sqrt(shown)"), "REJECTED"),
    "times a root": lambda: Probe(
        released("laplace(sum(r.x for r in db) * sqrt(clip(shown, 4, 9)), epsilon=1)"), cost=TWO),
    "times a lgamma": lambda: Probe(
        released("laplace(sum(r.x for r in db) * lgamma(clip(shown, 1, 5)), epsilon=1)"), cost=TWO),
    "a logarithm as a factor": lambda: Probe(noisy("sum(r.x for r in db if r.b) * log(5)")),
    "an exponential without a lower end": lambda: Probe(released("exp(min(shown, 0))"), "REJECTED"),
    "a mean of a number": lambda: Probe(
        replace(released("shown"), returns=(Expr(
            "summary", (named("laplace_1"),), ("mean", Fraction(0), Fraction(0))),)), "UNKNOWN"),
    "numbers in cells": lambda: Probe(noisy("sum(onehot(r.c) * r.x for r in db)", "Vector")),
    "numbers in cells with Gaussian noise": lambda: Probe(
        gaussian("sum(r.x * onehot(r.c) for r in db)", "Vector")),
    "numbers in cells, entering": lambda: Probe(
        noisy("sum(onehot(r.c) * (r.x - 9) for r in db)", "Vector", options=ENTERING)),
    "numbers in cells of different weight": lambda: Probe(
        built("k = sum(onehot(r.c) * r.x for r in db)\n"
              "laplace((k[0], 5 * k[1], k[2] / 5), epsilon=1)", "Vector")),
    "numbers of both signs in one cell": lambda: Probe(
        built("k = sum(onehot(r.c) * (r.x - 1) for r in db)\n"
              "laplace((k[0], k[1] / 9, k[2] / 9), epsilon=1)", "Vector")),
    "numbers in filtered cells": lambda: Probe(
        noisy("sum(onehot(r.p) * r.x for r in db if r.b)", "Vector")),
    "numbers above 0 in filtered cells": lambda: Probe(
        noisy("sum(onehot(r.p) * (r.x + 4) for r in db if r.b)", "Vector")),
    "a cell and a sum": lambda: Probe(
        built("k = sum(onehot(r.c) * r.x for r in db)\n"
              "laplace((k[0] + sum(r.x for r in db), k[1]), epsilon=1)", "Vector")),
    "numbers in cells, below 0": lambda: Probe(
        built("k = sum(onehot(r.c) * r.x for r in db)\n"
              "laplace((k[0] * (-3), k[1] / 9), epsilon=1)", "Vector")),
    "wide moments": lambda: Probe(noisy(WIDE, "Vector")),
    "moments": lambda: Probe(noisy(MOMENTS, "Vector")),
    "moments with Gaussian noise": lambda: Probe(gaussian(MOMENTS.replace("r.y, 0", "r.q - 2, -1"),
                                                          "Vector")),
    "two whole numbers with Gaussian noise": lambda: Probe(
        gaussian("(sum(r.y for r in db), sum(r.b for r in db))", "Vector")),
    "a truth value in rows": lambda: Probe(noisy("sum(r.x > 1 for r in db)")),
    "twice the same choice": lambda: Probe(
        noisy("sum((r.x if r.b else 0) + (0 if r.b else 3 * r.x) for r in db)")),
    "a cut, entering": lambda: Probe(
        noisy("count(r for r in db if r.x <= 1) - count(r for r in db if r.x > 1)",
              options=ENTERING)),
    "public halves": lambda: Probe(noisy(HALVES, "Vector")),
    "a private cut": lambda: Probe(
        noisy("count(r for r in db if r.x <= 1) - count(r for r in db if r.x > 1)")),
    "private halves": lambda: Probe(
        noisy("(sum(r.x for r in db if r.b), sum(r.x for r in db if not r.b))", "Vector")),
    "all and some of them at 2, entering": lambda: Probe(
        noisy("sum(clip(r.x, 2, 8) for r in db) + sum(clip(r.x, 2, 8) for r in db if r.b)",
              options=ENTERING)),
    "public halves below 0, entering": lambda: Probe(
        noisy(HALVES.replace("r.x", "clip(r.x - 9, -9, -2)"), "Vector", ENTERING)),
    "public halves with Gaussian noise": lambda: Probe(gaussian(HALVES, "Vector")),
    "all and some of them": lambda: Probe(
        noisy("sum(r.x for r in db) + sum(r.x for r in db if r.b)")),
    "three times a cut": lambda: Probe(noisy("3 * count(r for r in db if r.x > 1)")),
    "all less some of them": lambda: Probe(
        noisy("sum(r.x for r in db) - sum(r.x for r in db if r.b)")),
    "all less a piece": lambda: Probe(
        pieces("c", "more = laplace(sum(r.x for r in db) - sum(r.x for r in piece), epsilon=1)"),
        cost=Fraction(3)),
    "a public number, less some": lambda: Probe(
        noisy("2 * sum(r.q for r in db) - sum(r.q for r in db if r.b)")),
    "one of two conditions, entering": lambda: Probe(
        noisy("count(r for r in db if r.b or r.x > 1) + count(r for r in db if not r.b)",
              options=ENTERING)),
    "clipped outside": lambda: Probe(noisy("sum(clip(r.x, 20, 30) for r in db)")),
    "public sum": lambda: Probe(noisy("sum(r.z for r in db)")),
    "sigma of whole numbers for others": lambda: Probe(
        built("gaussian(sum(r.x for r in db), epsilon=1, delta=1e-5, sigma=37.5)"), "REJECTED"),
    "a score that grows with its candidate": lambda: Probe(
        built("exponential(score=lambda c: clip(sum(r.y for r in db), 0, 9) * c, "
           "candidates=(-3, 1), epsilon=1)")),
    "coin": lambda: Probe(coin(candidates=GRID)),
    "four tosses, a lopsided prior": lambda: Probe(sized(coin(5, 1, GRID), size("ge", 4))),
    "coin behind a filter": lambda: Probe(
        hellinger("observe((r.b for r in db if r.y > 0), bernoulli, prior=beta(1, 1))", GRID,
                  "Beta")),
    "coin with a strong prior, entering": lambda: Probe(coin(1, 9, GRID, ENTERING)),
    "rate": lambda: Probe(hellinger(RATE.format("0, 3", ""), RATES, "Gamma")),
    "rate behind a filter": lambda: Probe(
        hellinger(RATE.format("1, 3", " if r.b"), RATES, "Gamma")),
    "mean": lambda: Probe(
        hellinger("observe((r.x for r in db), normal(sd=9), prior=normal(0, sd=3))", MEANS,
                  "Normal")),
    "mean behind a filter": lambda: Probe(
        hellinger("observe((r.x for r in db if r.b), normal(sd=9), prior=normal(0, sd=3))", MEANS,
                  "Normal"), "UNKNOWN"),
    "coins of pieces": lambda: Probe(sized(built(COINS, "Int"), size("ge", 4))),
    "a grid of one point": lambda: Probe(
        core("exponential(score=lambda t: t * count(r for r in db if r.b), epsilon=1, "
             "candidates=linspace(0, 1, db.size))"), "REJECTED"),
    "as many points as noise says": lambda: Probe(noisy_grid("max(k, 2)"), "REJECTED"),
    "too many points": lambda: Probe(
        core("exponential(score=lambda t: t * count(r for r in db if r.b), epsilon=1, "
             "candidates=linspace(0, 1, 2_000_000))"), "REJECTED"),
    "a clip that is too wide": lambda: Probe(noisy_grid("clip(k, 2, 2_000_000)"), "REJECTED"),
    "counts below 0": lambda: Probe(
        hellinger(RATE.format("0, 3", "").replace("clip(r.y, 0, 3)", "clip(r.y - 2, -2, 1)"),
                  RATES, "Gamma"), "REJECTED"),
    "coin with a size above 0": lambda: Probe(sized(coin(candidates=GRID), size("gt", 0))),
    "coin with at most five": lambda: Probe(sized(coin(candidates=GRID), size("le", 5))),
    "coin with at most five, turned": lambda: Probe(
        sized(coin(candidates=GRID), size("ge", 5, turned=True))),
    "coin with five or one": lambda: Probe(
        sized(coin(candidates=GRID), Expr("or", (size("ge", 5), size("ge", 1))))),
    "no size at all": lambda: Probe(
        sized(noisy("sum(r.x for r in db)"), size("ge", 5), size("lt", 5)), "REJECTED"),
    "fold, entering": lambda: Probe(noisy("fold(db, 0, grown)", options=ENTERING), "UNKNOWN"),
    "a fold that doubles": lambda: Probe(noisy("fold(db, 0, doubled)"), "UNKNOWN"),
    "fold over some": lambda: Probe(noisy("fold((r for r in db if r.b), 0, ticked)")),
    "nine over the size": lambda: Probe(
        built("laplace(sum(r.x for r in db) / db.size, epsilon=1, sensitivity=9 / db.size)"),
        "REJECTED"),
    "sigma for a vector": lambda: Probe(
        built(f"gaussian((sum(r.b for r in db), sum(r.y for r in db)), {GAUSS}, sigma=9.3)",
              "Vector"),
        "REJECTED"),
    "sigma for three times": lambda: Probe(
        built(f"gaussian(3 * sum(r.b for r in db), {GAUSS}, sigma=4)"), "REJECTED"),
    "half a bit": lambda: Probe(noisy("sum(r.b for r in db) / 2")),
    "sum with Gaussian noise": lambda: Probe(gaussian("sum(r.x for r in db)")),
    "an assertion below": lambda: Probe(
        built("laplace(sum(r.x for r in db), epsilon=1, sensitivity=9.99)"), "REJECTED"),
    "answers": lambda: Probe(built(ANSWERS.format("db"), "Vector")),
    "answers behind a filter": lambda: Probe(answers_filtered(), "REJECTED"),
    "sample": lambda: Probe(built(SAMPLE.format("(r.b for r in db)", "(-3, 0)")),
                            cost=Fraction(3, 2)),
    "sample behind a filter": lambda: Probe(
        built(SAMPLE.format("(r.b for r in db if r.y > 1)", "(-3, -1)"))),
    "sample, entering": lambda: Probe(
        built(SAMPLE.format("(r.b for r in db)", "(-4, -1)"), options=ENTERING),
              cost=Fraction(3, 4)),
    "samples of private pieces": lambda: Probe(built(SAMPLES, "Int")),
    "a private result": lambda: Probe(
        replace(noisy("sum(r.x for r in db)"), returns=(total(field("y")),)), "REJECTED"),
    "candidates from data": lambda: Probe(candidates_from_data(), "REJECTED"),
    "exposure from data": lambda: Probe(
        observing(hellinger(RATE.format("0, 3", ""), RATES, "Gamma"), 1,
                  Expr("likelihood", (total(Expr("add", (number(1), field("y")))),), ("poisson",))),
        "REJECTED"),
    "a negative power": lambda: Probe(
        with_option(built(SAMPLE.format("(r.b for r in db)", "(-3, 0)")), "power", number(-1)),
        "REJECTED"),
    "an answer that fails": lambda: Probe(answer_that_fails(), "REJECTED"),
    "two releases": lambda: Probe(
        released("laplace(sum(r.x for r in db), epsilon=1)"), cost=TWO),
    "branch": lambda: Probe(built(BRANCH), cost=Fraction(3)),
    "pieces that read everything": lambda: Probe(
        pieces("p", "more = laplace(sum(r.x for r in db), epsilon=1)"), cost=TWO, kind=LIPSCHITZ),
    "private pieces": lambda: Probe(
        pieces("c", "more = laplace(count(piece), epsilon=1)"), cost=TWO),
    "private pieces over the size": lambda: Probe(
        pieces("c", "more = laplace(clip(sum(r.x for r in piece), 0, 9) / db.size, epsilon=1)"),
        "REJECTED"),
    "private pieces twice": lambda: Probe(
        pieces("c", "more = laplace(count(piece), epsilon=1)\n"
               "again = laplace(count(piece), epsilon=1)"), cost=Fraction(4)),
    "private pieces with a branch": lambda: Probe(built(PIECES_BRANCH, "Int"), cost=Fraction(5)),
    "pieces of pieces that read all of them": lambda: Probe(built(NESTED, "Int"), cost=Fraction(4)),
    "a private column called public": lambda: Probe(
        without_public(pieces("c", "more = laplace(count(piece), epsilon=1)")), "REJECTED"),
    "a piece twice": lambda: Probe(
        piece_twice(pieces("p", "more = laplace(count(r.x for r in piece if r.b), epsilon=1)")),
        "REJECTED"),
    "declared too little": lambda: Probe(
        noisy("sum(r.x for r in db)", options="epsilon=0.999999999"), "REJECTED"),
    "a delta that is not declared": lambda: Probe(
        built(f"gaussian(sum(r.x for r in db), {GAUSS})", options="epsilon=1"), "REJECTED"),
    "a private size": lambda: Probe(
        replace(noisy("sum(r.x for r in db)", options=ENTERING), returns=(named("db.size"),)),
        "REJECTED"),
    "sums of two columns": lambda: Probe(
        released("laplace(sum(r.x for r in db), epsilon=1)"), cost=TWO),
}  # fmt: skip
