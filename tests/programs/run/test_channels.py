"""What really runs, on small domains: every pair of neighbours, against the claim."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from math import exp, log, pi, sqrt

import pytest

from bayesdp.programs.check.noise import fine_delta, gaussian_delta
from tests.programs.run.helpers import accepted, exponential_channel, seen

COIN = """
@program
def coin(obs: Database[Bool]) -> Private[Beta]:
    posterior = infer(observe(obs, bernoulli, prior=beta({a}, {b})))
    return exponential(score=hellinger(posterior),
        candidates=posteriors_of(beta({a}, {b}), n=obs.size), epsilon=1.0)
"""


def test_the_reference_law_of_the_hellinger_mechanism() -> None:
    core, verdict = accepted(COIN.format(a=1, b=1))
    candidates, law = exponential_channel(core, verdict, [True, True, False])
    assert [candidate.parameters for candidate in candidates] == [(1, 4), (2, 3), (3, 2), (4, 1)]
    assert law == pytest.approx((0.174178, 0.243102, 0.351343, 0.231377), abs=6e-7)


def test_the_reference_losses_of_the_hellinger_mechanism() -> None:
    """With the constant for every n and with that of n = 3 (PROGRAMS' table)."""
    for n, expected in ((None, 0.5244), (3, 0.6210)):
        core, verdict = accepted(COIN.format(a=1, b=1), n)
        laws = [
            exponential_channel(core, verdict, [True] * k + [False] * (3 - k))[1] for k in range(4)
        ]
        worst = max(
            abs(log(p / q)) for i in range(3) for p, q in zip(laws[i], laws[i + 1], strict=True)
        )
        assert worst == pytest.approx(expected, abs=6e-5)


def test_permute_and_flip_is_another_release() -> None:
    """Its own numbers: what the scores would give there."""
    core, verdict = accepted(COIN.format(a=1, b=1))

    def flipped(table: list[bool]) -> list[float]:
        _, scores, scale = seen(core, verdict, table)[0]
        top = max(scores)
        kept = [exp((score - top) / scale) for score in scores]
        actual = []
        for i in range(4):
            others = kept[:i] + kept[i + 1 :]
            # Its turn comes after j others that were not kept, in a random order.
            total = 0.0
            for mask in product((0, 1), repeat=3):
                j, chance = sum(mask), 1.0
                for take, item in zip(mask, others, strict=True):
                    chance *= (1 - item) if take else 1.0
                total += chance / (4 * [1, 3, 3, 1][j])
            actual.append(kept[i] * total)
        return actual

    law = flipped([True, True, False])
    assert sum(law) == pytest.approx(1.0)
    assert law == pytest.approx((0.155116, 0.231672, 0.395469, 0.217742), abs=6e-7)
    laws = [flipped([True] * k + [False] * (3 - k)) for k in range(4)]
    worst = max(
        abs(log(p / q)) for i in range(3) for p, q in zip(laws[i], laws[i + 1], strict=True)
    )
    assert worst == pytest.approx(0.7307, abs=6e-5)


@pytest.mark.parametrize("prior", [(1, 1), (2, 5)])
def test_the_hellinger_mechanism_stays_below_its_cost(prior: tuple[int, int]) -> None:
    core, verdict = accepted(COIN.format(a=prior[0], b=prior[1]))
    for n in (1, 2, 5):
        laws = [
            exponential_channel(core, verdict, [True] * k + [False] * (n - k))[1]
            for k in range(n + 1)
        ]
        for first, second in pairwise(laws):
            for p, q in zip(first, second, strict=True):
                assert abs(log(p / q)) <= 1.0


def test_scores_move_by_no_more_than_the_scale_allows() -> None:
    """Steps and scale as the sampler gets them: 2 * move <= epsilon * scale, exactly."""
    core, verdict = accepted(COIN.format(a=1, b=1), n=1)
    actual = [seen(core, verdict, [item])[0] for item in (False, True)]
    moved = max(abs(a - b) for a, b in zip(actual[0][1], actual[1][1], strict=True))
    assert 2 * moved <= Fraction(actual[0][2])
    # and it is tight: the reference constant to six digits
    assert moved / 2**30 == pytest.approx(sqrt(1 - pi / 4), abs=1e-9)


def test_one_bit_kept_with_the_reference_probability() -> None:
    core, verdict = accepted("""
@program
def bit(obs: Database[Bool]) -> Private[Int]:
    return exponential(score=lambda c: -abs(count(obs) - c), candidates=(0, 1), epsilon=1)
""")
    _, law = exponential_channel(core, verdict, [True])
    assert law[1] == pytest.approx(0.622459, abs=1e-6)
    _, other = exponential_channel(core, verdict, [False])
    assert log(law[1] / other[1]) == pytest.approx(0.5, abs=1e-9)


def test_the_posterior_sample_is_as_private_as_it_says() -> None:
    core, verdict = accepted("""
@program
def draw(obs: Database[Bool]) -> Private[Real]:
    model = observe(obs, bernoulli, prior=beta(2, 3))
    return posterior_sample(model, grid=linspace(0.01, 0.99, 7), log_likelihood=(-3, 0),
        power=1 / 6)
""")
    assert verdict.dp_epsilon == 1
    laws = [exponential_channel(core, verdict, [True] * k + [False] * (4 - k))[1] for k in range(5)]
    worst = max(
        abs(log(p / q)) for i in range(4) for p, q in zip(laws[i], laws[i + 1], strict=True)
    )
    assert 0.3 < worst <= 1.0
    weights = [
        t * (1 - t) ** 2 * exp((2 * max(log(t), -3) + 2 * max(log(1 - t), -3)) / 6)
        for t in (0.01 + 0.98 * i / 6 for i in range(7))
    ]
    assert laws[2] == pytest.approx([weight / sum(weights) for weight in weights], abs=1e-7)


@pytest.mark.parametrize(
    ("options", "ends", "cost"),
    [
        ('(adjacency="add-remove")', "(-4, -1)", Fraction(3)),
        ('(adjacency="add-remove")', "(0.5, 2)", Fraction(3, 2)),
        ('(adjacency="add-remove")', "(-1, 1)", Fraction(2)),
        ("", "(-4, -1)", Fraction(6)),
    ],
)
def test_a_sample_costs_what_one_log_likelihood_spreads(
    options: str, ends: str, cost: Fraction
) -> None:
    """Records that enter, leave, or are replaced behind a filter; 0 is in the interval or not.

    Nearly all the prior's weight lies on one candidate, so that the bound is nearly reached.
    """
    core, verdict = accepted(f"""
@record
class R:
    x: Int[-1, 1]
    b: Bool

@program{options}
def draw(db: Database[R]) -> Private[Real]:
    model = observe((r.x for r in db if r.b), normal(sd=0.05), prior=normal(-1, sd=0.2))
    return posterior_sample(model, grid=(-1, 0, 1), log_likelihood={ends})
""")
    assert verdict.dp_epsilon == cost
    rows = list(product((-1, 0, 1), (False, True)))
    tables = [list(case) for n in (1, 2) for case in combinations_with_replacement(rows, n)]
    laws = {
        tuple(table): exponential_channel(
            core, verdict, {"x": [x for x, _ in table], "b": [b for _, b in table]}
        )[1]
        for table in tables
    }
    worst = 0.0
    for item, two in product(laws, repeat=2):
        gone = (Counter(item) - Counter(two)).total(), (Counter(two) - Counter(item)).total()
        if gone == ((1, 0) if options else (1, 1)):
            pairs = zip(laws[item], laws[two], strict=True)
            worst = max([worst, *(abs(log(p / q)) for p, q in pairs)])
    assert float(cost) * 0.9 < worst <= float(cost) + 1e-12


LAPLACE = {
    "filter": """
@record
class R:
    x: Int[-2, 3]
    keep: Bool
@program
def f(db: Database[R]) -> Private[Real]:
    return laplace(sum(r.x for r in db if r.keep), epsilon=0.7)
""",
    "fractions": """
@record
class R:
    x: Int[-1, 2]
    keep: Bool
@program
def f(db: Database[R]) -> Private[Vector]:
    v = (sum(r.x / 3 for r in db), count(r for r in db if r.keep) / 7)
    return laplace(v, epsilon=0.7)
""",
    "real": """
@record
class R:
    x: Real[-1.1, 0.7]
    keep: Bool
@program
def f(db: Database[R]) -> Private[Vector]:
    v = (sum(clip(r.x * r.x, 0, 1) for r in db), sum(r.x / 3 for r in db if r.keep), 3 - count(db))
    return laplace(v, epsilon=0.7)
""",
    "thirds": """
@record
class R:
    x: Real[-1, 1]
    keep: Bool
@program
def f(db: Database[R]) -> Private[Real]:
    return laplace(sum(r.x * 5 / 6 for r in db), epsilon=0.7)
""",
    "clip": """
@record
class R:
    x: Real[0, 1]
    keep: Bool
@program
def f(db: Database[R]) -> Private[Real]:
    return laplace(clip(sum(r.x for r in db), 0.3, 1 / 3) / db.size, epsilon=0.7)
""",
    "cells": """
@record
class R:
    x: Real[0, 1]
    keep: Category["a", "b", "c"]
@program
def f(db: Database[R]) -> Private[Vector]:
    return laplace(sum(onehot(r.keep) for r in db) / 3, epsilon=0.7)
""",
    "moments": """
@record
class R:
    x: Real[-1, 1]
    keep: Bool
@program
def f(db: Database[R]) -> Private[Vector]:
    rows = ((1, r.x, 1 / 3 * r.x) for r in db)
    model = observe(rows, linear_model(noise_sd=1), prior=normal(0, sd=1))
    return laplace(statistics(model), epsilon=0.7)
""",
    "released": """
@record
class R:
    x: Real[0, 1]
    keep: Bool
@program
def f(db: Database[R]) -> Private[Real]:
    high = clip(laplace(count(r for r in db if r.keep), epsilon=0.7), 1, 2)
    return laplace(sum(clip(r.x * 3, 0, high) for r in db), epsilon=0.7)
""",
}


def _witnesses(name: str) -> list[dict[str, object]]:
    keeps: tuple[object, ...] = ("a", "b", "c") if name == "cells" else (False, True)
    xs: tuple[object, ...] = (-2, 0, 3) if name == "filter" else (-1.1, 0.0, 1 / 3, 0.7, 1.0)
    if name == "fractions":
        xs = (-1, 0, 2)
    return [{"x": x, "keep": keep} for x in xs for keep in keeps]


@pytest.mark.parametrize("name", sorted(LAPLACE))
def test_laplace_steps_move_within_the_scale(name: str) -> None:
    """For every pair of neighbours: the l1 move of the integers is at most epsilon times scale."""
    core, verdict = accepted(LAPLACE[name])
    rows = _witnesses(name)
    largest = Fraction(0)
    for rest in combinations_with_replacement(rows, 1):
        actual = [seen(core, verdict, [*rest, row]) for row in rows]
        for a, b in combinations_with_replacement(actual, 2):
            # later releases are compared for the same released values only
            if len(a) > 1 and a[0][1] != b[0][1]:
                a, b = a[:1], b[:1]
            (_, first, scale), (_, second, other) = a[-1], b[-1]
            assert scale == other
            moved = sum(abs(x - y) for x, y in zip(first, second, strict=True))
            assert moved <= Fraction(7, 10) * Fraction(scale)
            largest = max(largest, Fraction(moved) / (Fraction(7, 10) * Fraction(scale)))
    # The scale is no larger than it must be (clip: the two ends that the clip leaves are near).
    assert largest > (0.03 if name == "clip" else 0.3)


def test_steps_beyond_the_bounds_are_not_summed() -> None:
    """5/6 is not a step, and the nearest one lies outside: the move would be above the bound."""
    core, verdict = accepted(LAPLACE["thirds"])
    rows = [{"x": x, "keep": True} for x in (-1.0, 1.0)]
    ((_, first, scale),), ((_, second, _),) = (seen(core, verdict, [row]) for row in rows)
    assert second[0] - first[0] <= Fraction(7, 10) * Fraction(scale)
    assert second[0] + 1 - (first[0] - 1) > Fraction(7, 10) * Fraction(scale)


def test_clipped_log_likelihoods_of_real_records() -> None:
    core, verdict = accepted("""
@program
def draw(db: Database[Real[-50, 50]]) -> Private[Real]:
    model = observe(db, normal(sd=0.3), prior=normal(0, sd=2))
    return posterior_sample(model, grid=linspace(-3, 3, 5), log_likelihood=(-2, 0.1), power=1 / 4)
""")
    laws = [
        exponential_channel(core, verdict, [0.2, x])[1] for x in (-50.0, -3.0, -1.4, 0.0, 3.0, 50.0)
    ]
    worst = max(abs(log(p / q)) for a in laws for b in laws for p, q in zip(a, b, strict=True))
    assert 0.5 < worst <= verdict.dp_epsilon == Fraction(21, 20)


def test_whole_counts_have_the_textbook_scale() -> None:
    core, verdict = accepted("""
@program
def f(db: Database[Bool]) -> Private[Int]:
    return laplace(count(db), epsilon=0.5)
""")
    assert seen(core, verdict, [True, False, True]) == [("laplace", (2,), 2.0)]


def test_asserted_sensitivity_scales_the_noise() -> None:
    core, verdict = accepted("""
@program
def f(db: Database[Bool]) -> Private[Int]:
    return laplace(count(db), epsilon=0.5, sensitivity=3)
""")
    assert seen(core, verdict, [True]) == [("laplace", (1,), 6.0)]


PIECES = """
@record
class R:
    x: Real[1, 3]
    group: Category["a", "b"]
@program
def f(db: Database[R]) -> Private[tuple[Real, ...]]:
    found = []
    for piece in partition(db, by="group"):
        found = found + [laplace(clip(sum(r.x for r in piece), 0.1, 100), epsilon=0.7)]
    return found
"""


def test_a_record_that_changes_pieces_costs_what_was_derived() -> None:
    core, verdict = accepted(PIECES)
    rows = [{"x": x, "group": g} for x in (1.0, 2.123456789, 3.0) for g in "ab"]
    worst = Fraction(0)
    for rest in rows:
        actual = [seen(core, verdict, [rest, row]) for row in rows]
        for a, b in combinations_with_replacement(actual, 2):
            loss = sum(
                (
                    Fraction(abs(x[1][0] - y[1][0])) / Fraction(x[2])
                    for x, y in zip(a, b, strict=True)
                ),
                Fraction(0),
            )
            worst = max(worst, loss)
    assert worst <= verdict.dp_epsilon
    assert worst > verdict.dp_epsilon * Fraction(4, 5)


def test_add_remove_neighbours() -> None:
    core, verdict = accepted("""
@record
class R:
    x: Real[-1, 2]
    keep: Bool
@program(adjacency="add-remove")
def f(db: Database[R]) -> Private[Vector]:
    return laplace((sum(r.x for r in db if r.keep), count(db)), epsilon=0.7)
""")
    rows = [{"x": x, "keep": k} for x in (-1.0, 0.1, 2.0) for k in (False, True)]
    worst = Fraction(0)
    for size in (0, 1, 2):
        for rest in combinations_with_replacement(rows, size):
            if not rest:
                continue
            ((_, before, scale),) = seen(core, verdict, list(rest))
            for row in rows:
                ((_, after, same),) = seen(core, verdict, [*rest, row])
                assert same == scale  # the private size decides nothing public
                moved = sum(abs(a - b) for a, b in zip(before, after, strict=True))
                worst = max(worst, Fraction(moved) / Fraction(scale))
    assert Fraction(69, 100) < worst <= Fraction(7, 10)


def test_folds_move_within_the_scale() -> None:
    core, verdict = accepted("""
@helper
def step(so_far, x):
    return clip(so_far + x / 3, 0, 2)
@program
def f(db: Database[Real[0, 1]]) -> Private[Real]:
    return laplace(fold(db, 0, step), epsilon=0.5)
""")
    values = (0.0, 0.1, 1 / 3, 1.0)
    for rest in product(values, repeat=2):
        actual = [seen(core, verdict, [rest[0], value, rest[1]])[0] for value in values]
        for a, b in combinations_with_replacement(actual, 2):
            assert a[2] == b[2]
            assert abs(a[1][0] - b[1][0]) <= Fraction(1, 2) * Fraction(a[2])
    value = Fraction(actual[-1][1][0])
    assert value > 0


@pytest.mark.parametrize(
    ("offset", "weight"), [("5000000.3", "0.7"), ("400000000.1", "0.6"), ("2147483648", "1")]
)
def test_scores_far_from_zero_move_no_farther(offset: str, weight: str) -> None:
    core, verdict = accepted(f"""
@program
def f(db: Database[Real[0, 1]]) -> Private[Vector]:
    return per_record_exponential(db, score=lambda x, c: {offset} - {weight} * abs(x - c),
        candidates=(0, 1), epsilon=1)
""")
    (_, a, scale), (_, b, _), _ = seen(core, verdict, [0.0, 1.0, 0.4])
    moves = [x - y for x, y in zip(a, b, strict=True)]
    # The weights' ratio moves by this much at most, up and down.
    assert Fraction(max(moves) - min(moves)) / Fraction(scale) <= 1


def test_a_log_likelihood_far_from_zero_moves_no_farther() -> None:
    core, verdict = accepted("""
@program
def f(db: Database[Real[-1, 1]]) -> Private[Real]:
    model = observe(db, normal(sd=0.000001), prior=normal(0, sd=1))
    return posterior_sample(model, grid=(-1, 1), log_likelihood=(-100000000.3, -99999999.6))
""")
    (_, a, scale), (_, b, _) = (seen(core, verdict, [item])[0] for item in (-1.0, 1.0))
    moves = [x - y for x, y in zip(a, b, strict=True)]
    assert Fraction(max(moves) - min(moves)) / Fraction(scale) <= verdict.dp_epsilon


def test_per_record_scores_move_within_the_scale() -> None:
    core, verdict = accepted("""
@program
def f(db: Database[Real[0, 1]]) -> Private[Vector]:
    return per_record_exponential(db, score=lambda x, c: -abs(x - c), candidates=(0, 0.5, 1),
        epsilon=1)
""")
    actual = seen(core, verdict, [0.0, 0.3, 0.5, 1.0])
    assert len(actual) == 4
    for a, b in combinations_with_replacement(actual, 2):
        assert a[2] == b[2]
        law = []
        for item in (a, b):
            weights = [exp(s / item[2]) for s in item[1]]
            law.append([w / sum(weights) for w in weights])
        assert max(abs(log(p / q)) for p, q in zip(*law, strict=True)) <= 1.0


GAUSSIAN = """
@record
class R:
    x: Real[-1, 1]
    keep: Bool
@program
def f(db: Database[R]) -> Private[{kind}]:
    return gaussian({value}, epsilon=1, delta=1e-5{more})
"""


def test_gaussian_noise_on_one_whole_number_takes_the_exact_sum() -> None:
    text = GAUSSIAN.format(kind="Int", value="count(r for r in db if r.keep)", more="")
    core, verdict = accepted(text)
    ((_, _, scale),) = seen(core, verdict, [{"x": 0.0, "keep": True}])
    delta = gaussian_delta(Fraction(scale), Fraction(1), Fraction(1), True)
    assert delta <= Fraction(1, 10**5)
    smaller = Fraction(scale) * Fraction(9999, 10000)
    assert gaussian_delta(smaller, Fraction(1), Fraction(1), True) > Fraction(1, 10**5)
    # Balle & Wang's 3.73063 is refused for the integers; this is a little more.
    assert 3.7306 < scale < 3.80


def test_gaussian_noise_on_real_values_takes_the_curve_of_fine_grids() -> None:
    text = GAUSSIAN.format(kind="Vector", value="(sum(r.x for r in db), count(db))", more="")
    core, verdict = accepted(text)
    rows = [{"x": x, "keep": True} for x in (-1.0, 0.3, 1.0)]
    actual = [seen(core, verdict, [row])[0] for row in rows]
    for a, b in combinations_with_replacement(actual, 2):
        squared = Fraction(sum((x - y) ** 2 for x, y in zip(a[1], b[1], strict=True)))
        if squared:
            assert fine_delta(Fraction(a[2]), squared, Fraction(1), 2) <= Fraction(1, 10**5)
    squared = Fraction((actual[0][1][0] - actual[2][1][0]) ** 2)
    assert squared >= 2**48
    smaller = Fraction(actual[0][2]) * Fraction(999, 1000)
    assert fine_delta(smaller, squared, Fraction(1), 2) > Fraction(1, 10**5)
    # The conversion of its zCDP cost would ask for 8 % more.
    assert gaussian_delta(Fraction(actual[0][2]), squared, Fraction(1), False) > Fraction(3, 10**5)


def test_an_asserted_sigma_is_used_as_it_is() -> None:
    value = "count(r for r in db if r.keep)"
    core, verdict = accepted(GAUSSIAN.format(kind="Int", value=value, more=", sigma=5.5"))
    assert seen(core, verdict, [{"x": 0.0, "keep": True}]) == [("gaussian", (1,), 5.5)]
