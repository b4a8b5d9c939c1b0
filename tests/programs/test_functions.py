"""Floor, roots, logarithms and exponentials: values, bounds, domains, and what rows add."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest

from bayesdp.kernel.programs.functions import (
    FUNCTIONS,
    function_range,
    function_value,
    in_domain,
)
from bayesdp.programs.falsify import falsify
from bayesdp.programs.falsify.values import operation
from bayesdp.programs.ir import Expr
from tests.programs.run.helpers import Noted, accepted, done, seen

DOUBLES = {
    "floor": math.floor,
    "sqrt": math.sqrt,
    "log": math.log,
    "exp": math.exp,
    "lgamma": math.lgamma,
}
BOUNDS = {"floor": (-50, 50), "sqrt": (0, 10**6), "log": (F(1, 10**6), 10**6), "exp": (-700, 700),
          "lgamma": (F(1, 1000), 10**4)}  # fmt: skip


def arguments(op: str, rng: np.random.Generator, many: int) -> list[F]:
    low, high = BOUNDS[op]
    return [F(low), F(high), *(F(x) for x in rng.uniform(float(low), float(high), many))]


@pytest.mark.parametrize("op", FUNCTIONS)
def test_values_are_those_of_two_other_ways(op: str) -> None:
    for x in arguments(op, np.random.default_rng(1), 50):
        value = function_value(op, x)
        assert float(value) == pytest.approx(DOUBLES[op](float(x)), rel=1e-12, abs=1e-300)
        other = operation(op, [x], Expr(op))
        assert isinstance(other, F)
        assert abs(value - other) <= abs(value) / 2 ** (61 if op != "lgamma" else 40)


@pytest.mark.parametrize("op", FUNCTIONS)
def test_values_lie_in_the_range_of_their_arguments(op: str) -> None:
    rng = np.random.default_rng(2)
    for _ in range(40):
        low, high = sorted(arguments(op, rng, 4)[int(rng.integers(0, 4)) :][:2])
        least, most = function_range(op, low, high)
        for part in range(9):
            value = function_value(op, low + (high - low) * part / 8)
            assert least <= value <= most
            near = DOUBLES[op](float(low + (high - low) * part / 8))
            assert least - 1e-12 * abs(near) - 1e-12 <= near <= most + 1e-12 * abs(near) + 1e-12
        if op not in ("floor", "lgamma"):  # tight, up to the margin
            assert most - least <= (function_value(op, high) - function_value(op, low)) * (
                1 + F(1, 10**9)
            ) + F(1, 10**9) * max(1, function_value(op, high))


def test_where_functions_have_values() -> None:
    inf = math.inf
    assert in_domain("floor", -inf, inf)
    assert in_domain("sqrt", F(0), inf)
    assert not in_domain("sqrt", F(-1, 10**9), F(1))
    assert in_domain("log", F(1, 10**9), inf)
    assert not in_domain("log", F(0), F(1))
    assert not in_domain("lgamma", F(0), F(1))
    assert in_domain("exp", F(-700), F(700))
    assert not in_domain("exp", F(-701), F(0))
    assert not in_domain("exp", F(0), inf)
    assert not in_domain("exp", -inf, F(0))
    assert function_range("log", F(1), inf)[1] == inf
    assert function_range("sqrt", F(0), inf) == (0, inf)
    assert function_range("floor", F(-3, 2), F(7, 2)) == (-2, 3)
    assert function_range("exp", F(-700), F(700))[0] > 0
    assert min(function_range("lgamma", F(1), F(2))) <= F("-0.1214863")
    assert function_value("floor", F(-1, 2)) == -1


RECORD = """
@record
class R:
    x: Real[{low}, {high}]
    k: Int[-3, 9]
    b: Bool

@program{options}
def f(db: Database[R]) -> Private[Real]:
    return laplace(sum({value} for r in db), epsilon=1)
"""
ROWS = {
    "log(r.x)": (1, 50),
    "log(r.x / 100)": (1, 50),
    "sqrt(r.x)": (0, 2),
    "exp(r.x)": (-1, 2),
    "floor(r.x)": (-2, 3),
    "round(r.x)": (-2, 3),
    "r.x // 0.3": (0, 1),
    "r.k // 4": (0, 1),
    "round(r.k / 2)": (0, 1),
    "log(r.k + 4)": (0, 1),
    "(sqrt(r.x) if r.b else 3)": (1, 4),
    "exp(-(r.x ** 2))": (-2, 2),
}


@pytest.mark.parametrize("value", ROWS)
@pytest.mark.parametrize("options", ["", '(adjacency="add-remove")'])
def test_what_rows_add_keeps_inside_the_noise(value: str, options: str) -> None:
    """On the very steps that noise is added to: no pair of records moves by more than its scale."""
    low, high = ROWS[value]
    core, verdict = accepted(RECORD.format(low=low, high=high, value=value, options=options))
    numbers = [low, high, 0.5 * low + 0.5 * high, 0.25 * low + 0.75 * high, 0.999 * high]
    if low <= 0 <= high:
        numbers.append(0)
    table = [
        {"x": x, "k": k, "b": b} for x, k, b in product(numbers, (-3, 0, 1, 3, 4, 9), (True, False))
    ]
    drawn = [seen(core, verdict, [row])[0] for row in table]
    scale = F(drawn[0][2])  # in steps: epsilon is 1
    values = [steps[0] for _, steps, _ in drawn]
    worst = max(map(abs, values)) if options else max(values) - min(values)
    assert worst <= scale
    if value != "exp(-(r.x ** 2))":
        assert worst >= scale * F(8, 10)
    assert not falsify(core, verdict, n_max=2, most_pairs=60).excess


def test_programs_mean_what_they_say() -> None:
    core, verdict = accepted(
        """
@record
class R:
    x: Real[1, 1000]
    k: Int[0, 20]
    c: Category["a", "b", "c"]

@program
def f(db: Database[R]) -> Private[tuple[Real, tuple[Real, Int, Int], Vector, Int, Real, Real]]:
    total = laplace(sum(log(r.x) for r in db), epsilon=1)
    mean = exp(clip(total / db.size, 0, 7))
    k = laplace(sum(r.k for r in db), epsilon=1)
    ages = laplace(sum(onehot(r.k // 7, 3) for r in db), epsilon=1)
    some = laplace(count(r for r in db if r.c in ("a", "c") and r.k not in range(3, 5)), epsilon=1)
    return mean, (sqrt(max(k, 0)), round(k / 2), k // 2), ages, some, lgamma(max(k, 1)), floor(2.5)
"""
    )
    table = [
        {"x": x, "k": k, "c": c}
        for x, k, c in ((1, 3, "a"), (10, 7, "b"), (100, 9, "c"), (1000, 20, "a"))
    ]
    result = done(core, verdict, table, Noted())
    mean, root, half, lower, ages, some, gamma, fixed = result
    assert mean == pytest.approx(10**1.5, rel=1e-8)
    assert root == pytest.approx(math.sqrt(39), rel=1e-15)
    assert (half, lower, fixed) == (20, 19, 2)
    assert ages == (1, 2, 1)
    assert some == 2
    assert gamma == pytest.approx(math.lgamma(39), rel=1e-12)
    assert result.types == ("Real", "Real", "Int", "Int", "Vector", "Int", "Real", "Real")


def test_numbers_about_released_posteriors() -> None:
    core, verdict = accepted(
        """
@program
def f(db: Database[Bool]) -> Private[tuple[Beta, Real, Real, Real, Real, Real]]:
    post = noise_aware(laplace(statistics(observe(db, bernoulli, prior=beta(1, 1))), epsilon=1))
    later = beta(1 + 10 * post.mean, 2)
    more = plug_in(laplace(statistics(observe(db, bernoulli, prior=later)), epsilon=1))
    return post, post.mean, post.sd, post.quantile(0.9), post.probability(0.2, 0.5), more.mean
"""
    )
    assert verdict.dp_epsilon == 2
    post, mean, sd, quantile, probability, more = done(core, verdict, [True, False, True] * 5)
    assert (mean, sd, quantile) == (post.mean, post.sd, post.quantile(0.9))
    assert probability == pytest.approx(post.cdf(0.5) - post.cdf(0.2))
    assert more == pytest.approx((1 + 10 * mean + 10) / (3 + 10 * mean + 15))


def test_a_posterior_of_either_side_has_its_mean() -> None:
    core, verdict = accepted(
        """
@program
def f(db: Database[Bool]) -> Private[tuple[Real, Int]]:
    n = laplace(sum(db), epsilon=1)
    if n > 3:
        post = plug_in(laplace(statistics(observe(db, bernoulli, prior=beta(1, 1))), epsilon=1))
    else:
        post = plug_in(laplace(statistics(observe(db, bernoulli, prior=beta(9, 1))), epsilon=1))
    above = laplace(count(x for x in db if x == (post.mean > 0.7)), epsilon=1)
    return post.mean, above
"""
    )
    assert verdict.dp_epsilon == 3
    assert done(core, verdict, [True, False] * 5).value == (0.5, 5)
    assert done(core, verdict, [True, False]).value == (10 / 12, 1)
