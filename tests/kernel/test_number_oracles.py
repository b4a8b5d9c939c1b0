"""Numbers of the kernel against the same numbers by other means: exact laws and all cases."""

from __future__ import annotations

import itertools
import json
import math
import random
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from flint import arb, fmpq, fmpq_poly

from bayesdp.kernel import program_costs
from bayesdp.kernel.arithmetic import InvalidError, ball
from bayesdp.kernel.costs.collected import Evidence, _at_least, _check_interval
from bayesdp.kernel.costs.queries import sensitivity
from bayesdp.kernel.costs.series import PeriodSums, _furthest, matrix_column
from bayesdp.kernel.models import moves, thresholds
from bayesdp.kernel.releases.program_queries import _gaussians
from bayesdp.programs.certificate import program_certificate
from bayesdp.programs.check.checker import check
from bayesdp.programs.source import core_of, read_text
from tests.effort import runs


def _exact_tail(least: int, count: int, records: int, kept: Fraction, other: Fraction) -> Fraction:
    """The probability of at least so many answers, from the generating function."""

    def law(chance: Fraction, trials: int) -> fmpq_poly:
        ratio = fmpq(chance.numerator, chance.denominator)
        return fmpq_poly([1 - ratio, ratio]) ** trials

    product = law(kept, count) * law(other, records - count)
    tail = sum((product[k] for k in range(max(least, 0), records + 1)), fmpq(0))
    return Fraction(int(tail.p), int(tail.q))


@pytest.mark.parametrize("case", range(runs(200, 30)))
def test_tails_of_perturbed_answers(case: int) -> None:
    """Never below the truth, and hardly above it; some laws are cut off far from their means."""
    rng = random.Random(case)
    records = rng.choice([1, 2, 7, 30, 250])
    count = rng.choice([0, records, rng.randint(0, records)])
    kept, other = Fraction(rng.randint(1, 999), 1000), Fraction(rng.randint(1, 999), 1000)
    mean = count * kept + (records - count) * other
    least = round(mean) + rng.randint(-5, 5)
    bound = _at_least(least, count, records, ball(kept), ball(other))
    truth = ball(_exact_tail(least, count, records, kept, other))
    assert bound.upper() >= truth.lower()
    assert bound < truth + arb(2) ** -60


@pytest.mark.parametrize("periods", [1, 2, 3, 5])
@pytest.mark.parametrize("in_period", [1, 2])
@pytest.mark.parametrize("periods_filled", [1, 2, 3])
@pytest.mark.parametrize("strategy", ["square-root", "tree"])
def test_rows_move_sums_of_periods_at_most_where_they_come_first(
    strategy: str, periods: int, in_period: int, periods_filled: int
) -> None:
    """All ways to put the rows of a record into periods."""
    rows = min(in_period * periods_filled, in_period * periods)
    sums = PeriodSums(strategy, periods, "cumulative", stays=False)  # type: ignore[arg-type]
    placed = [
        counts
        for counts in itertools.product(range(in_period + 1), repeat=periods)
        if sum(counts) == rows
    ]
    column = matrix_column(periods)
    squares = [
        _of_tree(counts, sums.levels) if strategy == "tree" else _of_matrix(counts, column)
        for counts in placed
    ]
    assert sums._most(rows, in_period) == max(squares)


def _of_matrix(counts: tuple[int, ...], column: tuple[int, ...]) -> int:
    """The squares of what a lower triangular matrix with this first column makes of them."""
    sums = [sum(counts[t] * column[k - t] for t in range(k + 1)) for k in range(len(counts))]
    return sum(entry**2 for entry in sums)


def _of_tree(counts: tuple[int, ...], levels: int) -> int:
    """The squares of the sums at each level; that of all periods counts half, rounded up."""
    total = 0
    for level in range(levels):
        width = 2**level
        parts = [sum(counts[start : start + width]) for start in range(0, len(counts), width)]
        squares = sum(part**2 for part in parts)
        last = level > 0 and level == levels - 1
        total += -(-squares // 2) if last else squares
    return total


@pytest.mark.parametrize("case", range(runs(40, 8)))
def test_an_interval_leaves_out_just_what_is_implausible(case: int) -> None:
    """One number less at either end is refused, and one more."""
    rng = random.Random(case)
    records, epsilon, confidence = 200, rng.uniform(0.5, 3.0), rng.choice([0.8, 0.95])
    answers = rng.randint(60, 140)
    evidence = Evidence(answers, records, epsilon, 2)
    allowed = (1 - confidence) / 2
    kept = Fraction(float(evidence.kept))

    def tail(least: int, count: int, chance: Fraction) -> float:
        return float(_exact_tail(least, count, records, chance, 1 - chance))

    plausible = [
        count
        for count in range(records + 1)
        if tail(answers, count, kept) > allowed
        and tail(records - answers, count, 1 - kept) > allowed
    ]
    low, high = plausible[0], plausible[-1]

    def refused(start: int, end: int) -> bool:
        between = SimpleNamespace(low=start, high=end, confidence=confidence)
        try:
            _check_interval(SimpleNamespace(between=between), evidence, "here")  # type: ignore[arg-type]
        except InvalidError:
            return True
        return False

    assert not refused(low, high)
    assert refused(low + 1, high)
    assert refused(low, high - 1)
    assert low == 0 or refused(low - 1, high)
    assert high == records or refused(low, high + 1)


@pytest.mark.parametrize("periods", range(2, 9))
def test_a_row_that_leaves_a_period_for_another_moves_sums_at_most_so_far(periods: int) -> None:
    column = matrix_column(periods)
    columns = [(0,) * start + column[: periods - start] for start in range(periods)]
    distances = [
        sum((a - b) ** 2 for a, b in zip(first, second, strict=True))
        for first, second in itertools.combinations(columns, 2)
    ]
    assert _furthest(periods) == max(distances)


BY_REGION = """from bayesdp.programs import (
    Category, Database, Private, Public, Real, clip, gaussian, laplace, partition, program, record,
)


@record
class Person:
    age: Real[0, 100]
    region: {region}


@program
def by_region(people: Database[Person]) -> Private[tuple[Real, ...]]:
    answers = ()
    for region, group in partition(people, by="region"):
        noisy = gaussian(sum(clip(p.age, 0, 10) for p in group), epsilon=0.5, delta=1e-6)
        other = laplace(sum(clip(p.age, 0, 10) for p in {read}), epsilon=0.25)
        answers = answers + (noisy, other)
    return answers
"""


@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize("read", ["group", "people"])
def test_pieces_of_a_program_cost_the_dearest_or_all_together(public: bool, read: str) -> None:
    """All together unless the column is public and no piece reads another one."""
    column = 'Category["n", "s"]'
    text = BY_REGION.format(region=f"Public[{column}]" if public else column, read=read)
    program = core_of(read_text(text, "people.py"), "by_region", {})
    derivation = json.loads(program_certificate(program, check(program)).to_json())["derivation"]
    names = list(_gaussians(program.body))
    rhos = dict(zip(names, (Fraction(1, 16), Fraction(1, 8)), strict=True))
    apart = public and read == "group"
    due = (Fraction(1, 4), max(rhos.values())) if apart else (Fraction(1, 2), sum(rhos.values()))
    assert program_costs(derivation, rhos) == due


def test_a_value_that_rounding_may_forbid_hides_what_every_row_allows() -> None:
    """Between these bounds the first value has at least half a rounding: so little may be none."""
    half = moves.ROUNDED / 2
    low = [Fraction(0), Fraction(3, 10), Fraction(1, 5)]
    high = [Fraction(1, 2), Fraction(3, 5) - half, Fraction(2, 5)]
    assert moves._between(low, high) == (frozenset({0, 1, 2}), None, None)
    high[1] -= 2 * half  # and now more than a rounding
    assert moves._between(low, high) == (frozenset({0, 1, 2}), frozenset({0, 1, 2}), None)


def test_evidence_that_tells_nothing_apart_still_passes_on_a_cost() -> None:
    """Weights 3 and 1 against 1 and 1, and no other evidence: by hand, for costs of all sizes."""
    three, even, none = [Fraction(3), Fraction(1)], [Fraction(1)] * 2, [[arb(1)] * 2] * 2
    step = thresholds._Pair(three, even, none).step([0], [1])
    assert step is not None
    for s in (0.1, 1.0, 10.0):
        due = math.log((3 * math.exp(s) + 1) / 4 / ((math.exp(s) + 1) / 2))
        assert float(step.passed(arb(s))) == pytest.approx(due, rel=1e-12)


@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize("squared", [False, True])
def test_a_record_moves_the_scores_of_a_quantile_at_most_so_far(
    *, between: bool, squared: bool
) -> None:
    """A row adds b - a to a candidate's score below it, -a above it, and 0 to another group's."""
    power = 2 if squared else 1
    for b in range(2, 15):
        for probability in {Fraction(a, b) for a in range(1, b)}:
            above, whole = probability.numerator, probability.denominator
            adds = (whole - above, -above)
            stays = max(abs(x - y) ** power for x in adds for y in adds)
            moves = max(abs(x) ** power + abs(y) ** power for x in adds for y in adds)
            asked: Any = SimpleNamespace(
                series=None, probability=probability, moves_between_groups=between
            )
            due = max(stays, moves) if between else stays
            assert sensitivity(asked, None, 1, 1, squared=squared) == due
