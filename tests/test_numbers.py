"""Rounding goes where its name says, by as little as it may; what a number is known to be stays.

Upper and lower bounds, exact numbers and estimates are doubles that don't add up with each other.
"""

from __future__ import annotations

import copy
import json
import math
import operator
import pickle
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, get_type_hints

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import bayesdp as bdp
from bayesdp.accounting.costs.delta_composition import Approximate, basic
from bayesdp.accounting.costs.rounded import left
from bayesdp.accounting.costs.spend import as_zcdp, total_cost
from bayesdp.accounting.what_if import what_if
from bayesdp.leakage.tensor import tensor_leakage
from bayesdp.leakage.tree import tree_attained, tree_level
from bayesdp.leakage.tuples import influence_level
from bayesdp.notions import ZCDP, ApproxDP, ColumnCost, PureDP
from bayesdp.numbers import (
    Estimate,
    Exact,
    LowerBound,
    NotANumberError,
    UpperBound,
    as_upper_bound,
    down,
    float_above,
    float_below,
    largest,
    sum_above,
    times_above,
    up,
)
from bayesdp.report.study_section import StudySection
from bayesdp.theorems import REGISTRY, Question, approximate
from bayesdp.theorems.relations import RELATIONS, Relation

POSITIVE = st.floats(min_value=1e-300, max_value=1e300)


@given(st.fractions())
def test_the_nearest_doubles_on_either_side(exact: Fraction) -> None:
    above, below = float_above(exact), float_below(exact)
    assert Fraction(below) <= exact <= Fraction(above)
    assert Fraction(math.nextafter(above, -math.inf)) < exact
    assert Fraction(math.nextafter(below, math.inf)) > exact


def test_no_double_is_above_what_is_beyond_all() -> None:
    with pytest.raises(OverflowError):
        float_above(Fraction(10) ** 400)


@given(st.lists(st.floats(min_value=1e-30, max_value=1e30), min_size=2, max_size=5))
def test_sums_are_within_their_rounded_operations(values: list[float]) -> None:
    exact, rounded = sum(map(Fraction, values)), 0.0
    for value in values:
        rounded += value
    above, below = up(rounded, len(values)), down(rounded, len(values))
    assert Fraction(below) < exact < Fraction(above)
    assert above <= rounded * (1.0 + 2e-15)


@given(POSITIVE)
def test_widening_moves_a_number_even_where_its_share_is_too_small(value: float) -> None:
    assert down(value, 0) < value < up(value, 0)
    assert up(0.0, 4) == 5e-324


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_what_is_infinite_stays_so(value: float) -> None:
    assert up(value, 4) == down(value, 4) == value
    assert math.isnan(up(math.nan, 4))


def test_products_are_rounded_up_by_one_step_at_most() -> None:
    for count in (2, 3, 7, 591, 10**6):
        for value in (0.1, 0.3, 1 / 3, math.pi, 5e-324, 1e300):
            exact = Fraction(value) * count
            product = times_above(count, value)
            assert Fraction(product) >= exact
            assert Fraction(math.nextafter(product, 0.0)) < exact
    assert times_above(3, 1e308) == math.inf
    assert times_above(3, math.inf) == math.inf


def test_the_largest_bound_is_never_a_lost_one() -> None:
    assert largest(1, 2.5, np.array([0.0, 7.0])) == 7.0
    assert largest(1.0, math.inf) == math.inf
    for bounds in ((math.nan, 1.0), (1.0, math.nan), (1.0, np.array([2.0, math.nan]))):
        with pytest.raises(NotANumberError, match="not a number"):
            largest(*bounds)
    with pytest.raises(ValueError, match="zero-size"):
        largest(np.array([]))


def test_a_number_up_to_an_error_is_below_its_upper_end() -> None:
    assert Fraction(Exact(0.1, 0.2).upper) >= Fraction(0.1) + Fraction(0.2)
    assert Exact(0.0, 1e-12).upper == 1e-12
    assert Exact(math.inf, 0.0).upper == math.inf


# -- what is known of a number


SIZES = st.floats(min_value=0.0, max_value=1e300)


@given(SIZES, SIZES)
def test_upper_bounds_add_up_to_an_upper_bound(first: float, second: float) -> None:
    total = UpperBound(first) + UpperBound(second)
    exact = Fraction(first) + Fraction(second)
    assert type(total) is UpperBound
    assert Fraction(total) >= exact > Fraction(math.nextafter(total, -math.inf))


@given(st.lists(SIZES, max_size=30))
@example([0.1] * 10)
@example([1.0, 2.0**-60])
@example([5e-324] * 3)
@example([2.0**53, 1.0])
def test_a_sum_above_is_the_smallest_double_that_is_none_too_small(parts: list[float]) -> None:
    total = sum_above(*parts)
    exact = sum(map(Fraction, parts), Fraction(0))
    assert Fraction(total) >= exact > Fraction(math.nextafter(total, -math.inf))


def test_sums_beyond_the_doubles_are_infinite() -> None:
    assert UpperBound(1.7e308) + UpperBound(1.7e308) == math.inf
    assert UpperBound(math.inf) + UpperBound(1.0) == math.inf


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE, FINITE)
def test_lower_bounds_add_up_to_the_largest_lower_bound(first: float, second: float) -> None:
    total = LowerBound(first) + LowerBound(second)
    exact = Fraction(first) + Fraction(second)
    assert type(total) is LowerBound
    assert total == -math.inf or Fraction(total) <= exact
    above = math.nextafter(total, math.inf)
    assert above == math.inf or exact < Fraction(above)


def test_sums_of_lower_bounds_beyond_the_doubles() -> None:
    assert LowerBound(1.7e308) + LowerBound(1.7e308) == sys.float_info.max
    assert LowerBound(-1.7e308) + LowerBound(-1.7e308) == -math.inf
    assert LowerBound(math.inf) + LowerBound(1.0) == math.inf
    assert LowerBound(math.inf) + LowerBound(-math.inf) == -math.inf


def test_what_is_rounded_down_says_so() -> None:
    assert type(down(0.3, 2)) is type(float_below(Fraction(1, 3))) is LowerBound
    assert down(math.nan, 1) == down(-math.inf, 1) == -math.inf


@given(SIZES, SIZES, st.floats(0.0, 1e-3), st.floats(0.0, 1e-3))
def test_exact_numbers_add_up_with_their_errors(
    first: float, second: float, error: float, other: float
) -> None:
    total = Exact(first, error) + Exact(second, other)
    assert isinstance(total, Exact)
    off = abs(Fraction(first) + Fraction(second) - Fraction(total.value))
    assert Fraction(total.error) >= off + Fraction(error) + Fraction(other)


BOUND, EXACT, ESTIMATE = UpperBound(0.3), Exact(0.25, 1e-9), Estimate(0.2, 0.01)
BELOW = LowerBound(0.2)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (BOUND, EXACT),
        (BOUND, BELOW),
        (BELOW, BOUND),
        (BELOW, EXACT),
        (BELOW, ESTIMATE),
        (EXACT, BOUND),
        (BOUND, ESTIMATE),
        (ESTIMATE, BOUND),
        (EXACT, ESTIMATE),
        (ESTIMATE, EXACT),
        (ESTIMATE, 1.0),
        (1.0, ESTIMATE),
    ],
)
def test_numbers_of_two_types_do_not_add_up(first: float, second: float) -> None:
    with pytest.raises(TypeError):
        first + second
    with pytest.raises(TypeError):
        sum([first, second])


def test_sum_keeps_what_is_known() -> None:
    total = sum([UpperBound(0.1), UpperBound(0.2), UpperBound(0.3)])
    assert type(total) is UpperBound
    assert total >= Fraction(0.1) + Fraction(0.2) + Fraction(0.3)
    assert type(sum([Exact(0.5, 0.0), Exact(0.25, 0.0)])) is Exact


def test_the_refusal_names_both_and_the_remedy() -> None:
    with pytest.raises(
        TypeError, match=r"an upper bound and an exact number don't add up: .*upper"
    ):
        BOUND + EXACT
    with pytest.raises(TypeError, match=r"a lower bound and an upper bound don't add up"):
        BELOW + BOUND


@pytest.mark.parametrize("number", [BOUND, BELOW, EXACT])
@pytest.mark.parametrize("change", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_other_arithmetic_claims_nothing(
    number: float, change: Callable[[float, float], float]
) -> None:
    for result, right in (
        (change(number, 0.5), change(float(number), 0.5)),
        (change(0.5, number), change(0.5, float(number))),
    ):
        assert type(result) is float
        assert result == right


@pytest.mark.parametrize("number", [BOUND, BELOW, EXACT])
def test_they_are_used_as_doubles(number: float) -> None:
    plain = float(number)
    assert type(plain) is float
    assert number == plain
    assert hash(number) == hash(plain)
    assert repr(number) == repr(plain)
    assert f"{number:.3f}" == f"{plain:.3f}"
    assert json.dumps({"epsilon": number}) == json.dumps({"epsilon": plain})
    assert np.asarray([number]).dtype == np.float64
    assert type(max(number, 0.0)) is type(number)
    assert math.isfinite(number)
    assert math.exp(number) == math.exp(plain)


def test_copies_keep_what_is_known() -> None:
    for number in (BOUND, BELOW, EXACT):
        for other in (copy.copy(number), copy.deepcopy(number), pickle.loads(pickle.dumps(number))):
            assert type(other) is type(number)
            assert other == number
    assert copy.deepcopy(EXACT).error == pickle.loads(pickle.dumps(EXACT)).error == EXACT.error


def test_nan_bounds_nothing() -> None:
    assert UpperBound(math.nan) == math.inf
    assert LowerBound(math.nan) == -math.inf


def test_what_is_known_of_a_number_does_not_change() -> None:
    with pytest.raises(AttributeError):
        EXACT.error = 0.0  # type: ignore[misc]


def test_an_exact_number_has_an_upper_bound() -> None:
    assert type(EXACT.upper) is UpperBound
    assert EXACT.upper > EXACT.value + EXACT.error / 2.0
    assert Exact(0.0, 0.0).upper == 0.0
    assert Exact(0.0, 1e-12).upper == 1e-12
    assert Exact(math.inf, 1e-12).upper == math.inf


@given(st.one_of(st.integers(min_value=0), st.fractions(min_value=0)))
@example(2**53 + 1)
@example(10**400)
def test_a_stated_number_becomes_no_smaller_as_an_upper_bound(stated: int | Fraction) -> None:
    bound = as_upper_bound(stated)
    assert type(bound) is UpperBound
    assert bound >= stated
    assert math.isinf(bound) or Fraction(math.nextafter(bound, -math.inf)) < stated


def test_a_double_is_taken_at_its_word() -> None:
    assert as_upper_bound(0.1) == as_upper_bound(np.float64(0.1)) == 0.1
    assert as_upper_bound(BOUND) is BOUND
    assert as_upper_bound(math.nan) == math.inf
    assert type(float_above(Fraction(1, 3))) is type(times_above(3, 0.1)) is UpperBound
    assert type(times_above(3, math.inf)) is type(sum_above(1.7e308, 1.7e308)) is UpperBound


# -- levels that users are handed say what they are


TWINS = bdp.Finite(probabilities=[[0.4, 0.1], [0.1, 0.4]])
ASKED = [[[0.75, 0.25], [0.5, 0.5]], [[0.5, 0.5], [0.25, 0.75]]]
SPEND = bdp.Spend.from_dict(
    {"dataset": "d", "unit": "row", "query": "q", "kind": "any", "dp_epsilon": 0.5}
)


def test_proved_levels_are_upper_bounds() -> None:
    odometer = bdp.Odometer("d")
    odometer.add(SPEND)
    report = bdp.leakage(TWINS, 0.5)
    gaussian = bdp.calibrate_gaussian(TWINS, 1.0, 1e-6)
    bounds = {
        "leakage": [bound.epsilon for bound in report.bounds],
        "its delta": [bound.delta for bound in report.bounds],
        "calibrate": [bdp.calibrate(TWINS, 1.0).certified_epsilon],
        "calibrate_gaussian": [
            gaussian.certified_epsilon,
            gaussian.certified_delta,
            gaussian.dp_delta,
        ],
        "implied": [row.level for row in bdp.implied({"dp": 0.5}, TWINS).implied],
        "what they are implied by": [*bdp.implied({"dp": 0.5}, TWINS).given.values()],
        "odometer": [odometer.level(bdp.Reading("bdp", 9.0, TWINS.spec()))],
    }
    for name, levels in bounds.items():
        assert levels, name
        assert {type(level) for level in levels} == {UpperBound}, name


def test_budgets_are_lower_bounds() -> None:
    allowed = bdp.calibrate(TWINS, 1.0).dp_epsilon
    assert type(allowed) is type(left(1.0, 0.3)) is type(left(0.3, 1.0)) is LowerBound
    assert Fraction(left(1.0, 0.3)) <= 1 - Fraction(0.3)
    with pytest.raises(TypeError):
        allowed + bdp.leakage(TWINS, allowed).best.epsilon


def test_what_a_theorem_says_itself_is_an_upper_bound() -> None:
    question, cost = Question(TWINS), bdp.Cost(any=0.5)
    about = [row for row in REGISTRY if row.concerns(TWINS) and row.refusal(question, cost) is None]
    assert about
    assert {type(theorem.bound(question, cost).epsilon) for theorem in about} == {UpperBound}


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.name)
def test_a_relation_makes_an_upper_bound_of_an_upper_bound(relation: Relation) -> None:
    for level in (0.0, 0.3, 0.999, 1.0, 7.0):
        assert type(relation.level(UpperBound(level), 3)) is UpperBound


@pytest.mark.parametrize("states", [2, 3])
def test_a_tree_has_a_level_between_its_two_bounds(states: int) -> None:
    law = [1.0 / states] * states
    rows = [[0.8 if u == v else 0.2 / (states - 1) for v in range(states)] for u in range(states)]
    child = {"name": "b", "parent": "a", "transition": rows}
    tree = bdp.Tree(nodes=[{"name": "a", "law": law}, child])
    for cost in (0.0, 0.5):
        level, attained = tree_level(tree, cost), tree_attained(tree, cost)
        assert (type(level), type(attained)) == (UpperBound, LowerBound)
        assert cost <= level
        assert attained <= level
        assert states > 2 or level <= attained * (1.0 + 1e-12)


@pytest.mark.parametrize("cost", [1e-6, 0.1, 0.5, 1.0, 3.0, 20.0])
def test_the_true_level_of_a_tree_is_between_its_two_bounds(cost: float) -> None:
    child = {"name": "b", "parent": "a", "transition": [[0.75, 0.25], [0.25, 0.75]]}
    tree = bdp.Tree(nodes=[{"name": "a", "law": [0.5, 0.5]}, child])
    with localcontext() as context:
        context.prec = 60
        grown = Decimal(cost).exp()
        true = Decimal(cost) + ((3 * grown + 1) / (grown + 3)).ln()
        assert Decimal(tree_attained(tree, cost)) < true < Decimal(tree_level(tree, cost))


def test_sums_of_influences_are_upper_bounds() -> None:
    for kappa, length in (([], 1), ([0.2], 5), ([0.2], 10**6), ([0.45, 0.2], 5)):
        assert type(influence_level(kappa, length)) is UpperBound, (kappa, length)


def test_the_plain_data_of_a_report_are_taken_at_their_word() -> None:
    section = StudySection.from_dict(
        {
            "title": "Heights",
            "population_words": "",
            "population_source": "",
            "bounds": [{"theorem": "t", "epsilon": 3, "tight": "upper", "source": ""}],
            "refused": [],
            "results": [],
            "dp_epsilon": 1,
            "level": 1.5,
            "adversary": "any",
            "dataset": "d",
            "total": 2.0,
            "dataset_level": None,
        }
    )
    levels = section.level, section.dp_epsilon, section.level_so_far, section.bounds[0].epsilon
    assert levels == (1.5, 1.0, 1.5, 3.0)
    assert {type(level) for level in levels} == {UpperBound}
    assert section.dataset_level is None


def test_levels_of_a_channel_are_exact() -> None:
    tensor = tensor_leakage(np.asarray(TWINS.probabilities), np.asarray(ASKED))
    by_record = [level for by in tensor.levels.values() for level in by.by_record]
    assert {type(level) for level in by_record} == {Exact}
    assert {level.error for level in by_record} == {tensor.error}
    profile = bdp.profile(TWINS, ASKED)
    levels = [profile.dp, *profile.bdp.values(), profile.sp, profile.bsp, profile.mp]
    levels += [profile.do, profile.see, profile.bsp_known.level, profile.mp_of_prior.level]
    levels += [attained.level for attained in profile.levels.values()]
    assert {type(level) for level in levels} == {Exact}
    assert {level.error for level in levels} == {profile.error}


def test_what_if_tells_the_claim_the_bound_and_the_exact_level_apart() -> None:
    answer = what_if({"releases": [{"channel": ASKED}, {"channel": ASKED}]}, TWINS)
    assert [type(level) for level in (answer.naive, answer.sound, answer.exact)] == [
        float,
        UpperBound,
        Exact,
    ]
    assert {type(planned.bdp) for planned in answer.releases} == {UpperBound}
    assert answer.exact is not None
    with pytest.raises(TypeError):
        answer.sound + answer.exact


COSTS: dict[str, Callable[[float], object]] = {
    "PureDP": PureDP,
    "ApproxDP": lambda number: ApproxDP(number, 0.0),
    "its delta": lambda number: ApproxDP(1.0, number),
    "ZCDP": ZCDP,
    "Claim": lambda number: bdp.Claim("bdp", number),
    "Cost": lambda number: bdp.Cost(any=number),
    "its rho": lambda number: bdp.Cost(rho_lipschitz=number),
    "ColumnCost": lambda number: ColumnCost("height", 1.0, number),
    "Spend": lambda number: bdp.Spend("d", "row", "q", "any", number),
    "its delta beside it": lambda number: replace(SPEND, dp_delta=number),
}


@pytest.mark.parametrize("name", COSTS)
def test_what_was_spent_and_claimed_is_an_upper_bound(name: str) -> None:
    build = COSTS[name]
    plain, bound = build(0.25), build(UpperBound(0.25))
    assert plain == bound
    assert repr(plain) == repr(bound)
    for cost in (plain, bound):
        numbers = [getattr(cost, each.name) for each in fields(cost)]  # type: ignore[arg-type]
        assert {type(number) for number in numbers if isinstance(number, float)} <= {
            UpperBound,
            *([float] if name == "ColumnCost" else []),  # its width
        }
        assert UpperBound in {type(number) for number in numbers}
    for other in (LowerBound(0.25), Exact(0.25, 0.0)):
        with pytest.raises(TypeError, match="is not an upper bound"):
            build(other)
    with pytest.raises(bdp.InputError):
        build("much")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "cls", [bdp.Claim, PureDP, ApproxDP, ZCDP, ColumnCost, bdp.Cost, bdp.Spend]
)
def test_the_type_checker_is_told_so(cls: type[Any]) -> None:
    """No number of these is annotated as a plain one, but a width, which is in a column's unit."""
    hints = {name: hint for name, hint in get_type_hints(cls).items() if name != "width"}
    assert float not in hints.values()
    assert UpperBound in hints.values()


def test_a_budget_may_be_spent_whole() -> None:
    budget = bdp.calibrate(TWINS, 1.0).dp_epsilon
    assert type(budget) is LowerBound
    assert bdp.Cost.of(budget) == bdp.Cost(any=float(budget))
    assert bdp.leakage(TWINS, budget).best.epsilon <= 1.0


def test_sums_of_spends_are_upper_bounds_and_documents_hold_plain_numbers() -> None:
    gaussian = bdp.Spend("d", "row", "noise", "any", 0.0, rho=0.1)
    cost = total_cost([SPEND, gaussian, as_zcdp(SPEND)])
    parts = [getattr(cost, each.name) for each in fields(cost) if each.name != "by_column"]
    assert {type(part) for part in parts} == {UpperBound}
    assert Fraction(cost.rho_any) >= Fraction(0.1) + Fraction(1, 8)
    for spent in (SPEND, gaussian):
        kept = [value for value in spent.to_dict().values() if isinstance(value, float)]
        assert {type(value) for value in kept} == {float}
        assert bdp.Spend.from_dict(spent.to_dict()) == spent


def test_the_claim_of_the_literature_is_a_plain_number() -> None:
    assert type(basic([Approximate(0.1, 1e-8, 3)]).epsilon) is UpperBound
    assert type(what_if({"releases": [{"channel": ASKED}] * 2}, TWINS).naive) is float


def test_levels_and_costs_have_names_that_say_of_which_notion_they_are() -> None:
    report = bdp.leakage(TWINS, 0.5)
    assert (report.dp_epsilon, report.bdp_epsilon) == (0.5, report.best.epsilon)
    stated = ApproxDP(UpperBound(0.5), UpperBound(1e-6))
    pairs = approximate(Question(TWINS), stated)
    assert (pairs.dp_epsilon, pairs.bdp_epsilon) == (0.5, pairs.best.epsilon)
    assert (stated.dp_epsilon, stated.dp_delta) == (0.5, 1e-6)
    assert PureDP(UpperBound(0.5)).dp_epsilon == 0.5
    named = [report.bdp_epsilon, pairs.bdp_epsilon, stated.dp_epsilon, stated.dp_delta]
    assert {type(level) for level in named} == {UpperBound}
