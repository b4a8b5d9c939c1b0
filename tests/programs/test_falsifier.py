"""The falsifier: honest claims stand, planted bugs are found with two databases that show them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import exp, inf, log, sqrt
from typing import Any

import pytest
from scipy import stats
from scipy.integrate import quad

from bayesdp.kernel.programs.rows import evaluate
from bayesdp.programs.check.checker import ProgramVerdict, check
from bayesdp.programs.falsify import Findings, falsify, losses
from bayesdp.programs.falsify.posteriors import distance_at_least
from bayesdp.programs.falsify.values import Evaluator
from bayesdp.programs.falsify.witnesses import evenly, rests, turning_points, witness_rows
from bayesdp.programs.ir import Expr, Program, nodes, plain
from tests.effort import runs
from tests.oracles.posteriors import distance
from tests.programs.mutant_probes import PROBES
from tests.programs.probes import GRID, coin, core

F = Fraction


def number(value: object) -> Any:
    return plain(Expr("const", (), (F(str(value)),)))


def claiming(
    program: Program, change: Callable[[dict[str, Any]], None], **costs: object
) -> ProgramVerdict:
    """The program's verdict with every release's claim changed."""
    import copy

    verdict = check(program)
    assert verdict.verdict == "ACCEPTED", verdict.reason
    derivation = copy.deepcopy(verdict.derivation)
    _each(derivation, change)
    return replace(verdict, derivation=derivation, **costs)  # type: ignore[arg-type]


def _each(node: Any, change: Callable[[dict[str, Any]], None]) -> None:
    if isinstance(node, dict):
        if "release" in node:
            change(node)
        for value in node.values():
            _each(value, change)
    elif isinstance(node, list):
        for value in node:
            _each(value, change)


def sensitivity(value: object) -> Callable[[dict[str, Any]], None]:
    def change(node: dict[str, Any]) -> None:
        node["sensitivity"] = {**node["sensitivity"], "value": number(value)}

    return change


def exceeded(findings: Findings) -> set[str]:
    return {item.obligation for item in findings.excess}


# -- planted bugs ------------------------------------------------------------------------------


def test_a_constant_that_hides_behind_the_slack_of_the_mechanism() -> None:
    """True sensitivity .4633, asserted .25: the loss is below 1, and the obligation shows it."""
    program = coin()
    counterexample = falsify(program, claiming(program, sensitivity("0.25")))
    assert "distance" in exceeded(counterexample)
    assert counterexample.worst["distance", "exponential_1"].ratio == pytest.approx(
        0.463251 / 0.25, abs=1e-4
    )
    assert "law" not in exceeded(counterexample)
    assert 0.85 < counterexample.tightness < 1


def test_jeffreys_prior_with_the_uniform_priors_constant() -> None:
    program = coin("1 / 2", "1 / 2", GRID)
    counterexample = falsify(program, claiming(program, sensitivity("0.4632513752")))
    assert exceeded(counterexample) == {"distance"}


def test_a_constant_rounded_down_in_its_tenth_digit() -> None:
    program = coin(candidates=GRID)
    assert not falsify(program, claiming(program, sensitivity("0.4632513752"))).excess
    counterexample = falsify(program, claiming(program, sensitivity("0.4632513751")))
    assert exceeded(counterexample) == {"distance"}


def test_the_constant_of_a_hundred_tosses_for_any_number() -> None:
    program = coin(candidates=GRID)
    assert "distance" in exceeded(falsify(program, claiming(program, sensitivity("0.3389401"))))


def test_one_coordinate_for_a_joint_release() -> None:
    body = "laplace(sum(onehot(r.c) for r in db), epsilon=1)"
    program = core(body, returns="Vector")
    counterexample = falsify(program, claiming(program, sensitivity(1)))
    assert exceeded(counterexample) >= {"sensitivity", "law"}
    assert counterexample.tightness == pytest.approx(2)
    shown = counterexample.worst["law", ""].witness
    assert shown is not None
    assert sum(a != b for a, b in zip(shown.left, shown.right, strict=True)) == 1


def test_parallel_composition_over_a_private_partition() -> None:
    body = 'for piece in partition(db, by="c"):\n    noisy = laplace(count(piece), epsilon=1)\n0'
    program = core(body, returns="Int")
    counterexample = falsify(program, claiming(program, lambda _: None, dp_epsilon=F(1)))
    assert exceeded(counterexample) == {"law"}
    assert counterexample.tightness == pytest.approx(2)


def test_the_width_where_a_record_enters() -> None:
    body = "laplace(sum(clip(r.x, 2, 8) for r in db if r.b), epsilon=1)"
    program = core(body)
    counterexample = falsify(program, claiming(program, sensitivity(6)))
    assert exceeded(counterexample) >= {"sensitivity", "law"}
    assert counterexample.tightness == pytest.approx(8 / 6)


def test_a_cost_of_entering_that_is_too_small() -> None:
    program = core("laplace(sum(clip(r.x, 2, 8) for r in db), epsilon=1)")
    assert not falsify(program, check(program)).excess  # 8 / 6 of the cost

    def parallel(node: dict[str, Any]) -> None:
        node["entering"] = "1"

    assert exceeded(falsify(program, claiming(program, parallel))) == {"entering"}


def test_replace_one_at_the_price_of_add_remove() -> None:
    program = core("laplace(sum(r.b for r in db) - sum(not r.b for r in db), epsilon=1)")
    assert "sensitivity" in exceeded(falsify(program, claiming(program, sensitivity(1))))


def test_two_releases_billed_as_one() -> None:
    body = "a = laplace(sum(r.x for r in db), epsilon=1)\nlaplace(sum(r.y for r in db), epsilon=1)"
    program = core(body)
    counterexample = falsify(program, claiming(program, lambda _: None, dp_epsilon=F(1)))
    assert exceeded(counterexample) == {"law"}


def test_the_cheaper_side_of_a_branch() -> None:
    body = """
    gate = laplace(sum(r.y for r in db), epsilon=1)
    if gate > 3:
        shown = laplace(sum(r.x for r in db), epsilon=2)
    else:
        shown = laplace(sum(r.x for r in db), epsilon=1)
    shown
    """
    program = core(body)
    assert not falsify(program, check(program), n_max=2).excess
    counterexample = falsify(program, claiming(program, lambda _: None, dp_epsilon=F(2)), n_max=2)
    assert exceeded(counterexample) == {"law"}


def test_gaussian_noise_for_one_coordinate() -> None:
    body = "gaussian((sum(r.b for r in db), sum(not r.b for r in db)), epsilon=1, delta=1e-5)"
    program = core(body, returns="Vector")
    honest = falsify(program, check(program))
    assert not honest.excess
    assert honest.tightness == pytest.approx(1, abs=1e-3)
    counterexample = falsify(program, claiming(program, sensitivity(1)))
    assert exceeded(counterexample) >= {"sensitivity", "law"}


def test_a_delta_claimed_too_small() -> None:
    program = core("gaussian(sum(r.b for r in db), epsilon=1, delta=1e-5)")
    counterexample = falsify(program, claiming(program, lambda _: None, dp_delta=F(1, 10**6)))
    assert exceeded(counterexample) == {"law"}


def test_sigma_of_the_continuous_curve_on_whole_numbers() -> None:
    program = core("gaussian(sum(r.b for r in db), epsilon=1, delta=1e-5, sigma=3.76)")
    verdict = check(program)
    assert not falsify(program, verdict).excess
    release = program.body[0]
    options = {**dict(release.options), "sigma": Expr("const", (), (F("3.73063"),))}
    tampered = replace(program, body=(replace(release, options=tuple(sorted(options.items()))),))
    assert "noise" in exceeded(falsify(tampered, verdict))


def test_a_posterior_sample_with_the_range_forgotten() -> None:
    body = """
    model = observe(db, bernoulli, prior=beta(1, 1))
    posterior_sample(model, grid=linspace(0.05, 0.95, 19), log_likelihood=(-3, 0), power=1)
    """
    program = core(body, record="Bool")
    assert check(program).dp_epsilon == 6
    assert not falsify(program, check(program)).excess
    cheap = claiming(program, sensitivity(1), dp_epsilon=F(1))
    assert exceeded(falsify(program, cheap)) >= {"sensitivity"}


def test_a_kind_that_does_not_hold() -> None:
    program = core("laplace(sum(abs(r.x) for r in db), epsilon=1)")

    def lipschitz(node: dict[str, Any]) -> None:
        node.update(kind="lipschitz", column="x", interval=["-2", "8"])

    assert exceeded(falsify(program, claiming(program, lipschitz))) == {"lipschitz"}
    honest = core("laplace(sum(clip(r.x, 0, 5) for r in db), epsilon=1)")
    counterexample = falsify(honest, check(honest))
    assert not counterexample.excess
    assert counterexample.worst["lipschitz", "laplace_1"].ratio == 1


def test_a_private_value_that_is_called_public() -> None:
    program = core("laplace(sum(r.b for r in db), epsilon=1)")
    leaked = program.body[0].args[0]
    counterexample = falsify(replace(program, returns=(leaked,)), check(program))
    assert exceeded(counterexample) == {"public"}
    assert not falsify(replace(program, returns=(_sum("z"),)), check(program)).excess


def _sum(column: str) -> Expr:
    data = Expr("data", (Expr("const", (), (True,)), Expr("field", (), (column,))), ((),))
    return Expr("sum", (data,))


def test_an_exception_in_a_row() -> None:
    program = core("laplace(sum(clip(r.x, 0, 1) for r in db), epsilon=1)")
    verdict = check(program)
    hidden = Expr("div", (Expr("field", (), ("x",)), Expr("field", (), ("y",))))
    data = Expr("data", (Expr("const", (), (True,)), hidden), ((),))
    release = replace(program.body[0], args=(Expr("sum", (data,)),))
    counterexample = falsify(replace(program, body=(release,)), verdict)
    assert "row can't fail" in exceeded(counterexample)


def test_answers_of_a_private_filter_tell_how_many_there_are() -> None:
    program = core("randomized_response((r.b for r in db), epsilon=1)", returns="Vector")
    assert not falsify(program, check(program)).excess
    release = program.body[0]
    data = release.args[0]
    filtered = Expr("data", (Expr("field", (), ("b",)), data.args[1]), data.data)
    counterexample = falsify(
        replace(program, body=(replace(release, args=(filtered,)),)), check(program)
    )
    assert counterexample.tightness == inf


def test_a_fold_whose_rows_come_in_an_order() -> None:
    program = core("laplace(fold(db, 0, grown), epsilon=1)")
    verdict = check(program)
    counterexample = falsify(program, verdict, n_max=3)
    assert not counterexample.excess
    assert counterexample.largest("sensitivity") == 1
    assert "sensitivity" in exceeded(falsify(program, claiming(program, sensitivity(4)), n_max=3))


def test_databases_of_the_sizes_that_are_admitted() -> None:
    program = core("require(db.size >= 7)\nlaplace(sum(r.b for r in db) / db.size, epsilon=1)")
    counterexample = falsify(program, check(program))
    witness = counterexample.worst["sensitivity", "laplace_1"].witness
    assert witness is not None
    assert len(witness.left) == 7
    assert counterexample.sizes == [7, 8, 9, 10]
    seven = replace(coin(candidates=GRID), requires=program.requires)
    counterexample = falsify(seven, check(seven))
    assert counterexample.complete
    assert counterexample.sizes == [7, 8, 9, 10]
    # As many tables of the others as there may be heads among them; a head may enter or leave.
    assert counterexample.pairs == sum((1 + 2) * size for size in counterexample.sizes)
    few = falsify(seven, check(seven), most_pairs=5)
    assert few.left_out == {"the other records of a table"}
    assert not few.complete


@pytest.mark.parametrize("ordered", [False, True])
def test_a_selection_of_databases_is_not_called_complete(ordered: bool) -> None:
    everything, complete = rests(4, 2, ordered=ordered, alike=False, most=99)
    assert complete
    assert len(set(everything)) == len(everything) == (16 if ordered else 10)
    some, complete = rests(4, 2, ordered=ordered, alike=False, most=5)
    assert not complete
    assert len(set(some)) == 5
    assert set(some) < set(everything)
    _, complete = rests(2, 4, ordered=ordered, alike=False, most=99)
    assert not complete  # three records are free, the fourth is a copy


def test_a_selection_is_even() -> None:
    assert evenly(list(range(10)), 10) == list(range(10))
    assert evenly(list(range(10)), 5) == [0, 2, 4, 6, 8]
    assert evenly(list(range(10)), 4) == [0, 2, 5, 7]


# -- its parts ---------------------------------------------------------------------------------


def test_witnesses_are_ends_zero_inside_and_where_the_program_turns() -> None:
    program = core("laplace(sum(clip(2 * r.x + 1, 0, 5) for r in db if r.y > 1), epsilon=1)")
    assert turning_points(program) == {"x": {F(-1, 2), F(2)}, "y": {F(1)}}
    rows = witness_rows(program)
    assert rows.all
    seen = {row["x"] for row in rows.rows}
    assert {F(-2), F(8), F(0), F(-1, 2), F(2), F(7, 4)} <= seen
    assert {row["y"] for row in rows.rows} == {F(0), F(1), F(2), F(3)}
    assert all(set(row) == {"x", "y"} for row in rows.rows)


def test_what_rows_are_worth_by_two_readings() -> None:
    """The falsifier's evaluator and the checker's agree on random row expressions."""
    program = core("laplace(sum(r.x for r in db), epsilon=1)")
    kinds = dict(program.record)
    generator = random.Random(8)
    rows = witness_rows(
        core('laplace(sum(r.x + r.y for r in db if r.b and r.c == "u" and r.d == "v"), epsilon=1)')
    ).rows
    at = Evaluator(rows, kinds, {})
    for _ in range(runs(6000)):
        expr = _random(generator, 3)
        row = generator.choice(rows)
        assert at.of_row(expr, row) == evaluate(expr, row, kinds), plain(expr)


OPERATIONS = (
    *("add", "sub", "mul", "neg", "abs", "min", "max", "clip", "lt", "ge", "eq", "and", "or"),
    *("not", "if", "item", "label"),
)


def _random(generator: random.Random, depth: int) -> Expr:
    if depth == 0 or generator.random() < 0.15:
        kind = generator.choice(("x", "y", "b", "const"))
        if kind == "const":
            return Expr("const", (), (F(generator.randint(-3, 3), generator.randint(1, 3)),))
        return Expr("field", (), (kind,))
    op = generator.choice(OPERATIONS)

    def deeper() -> Expr:
        return _random(generator, depth - 1)

    if op == "label":
        other = generator.choice((Expr("const", (), ("u",)), Expr("field", (), ("d",))))
        return Expr(generator.choice(("eq", "ne")), (Expr("field", (), ("c",)), other))
    if op == "item":
        cells = Expr("cross", (Expr("field", (), ("c",)), Expr("field", (), ("b",))))
        hot = Expr("onehot", (cells,), (F(6),))
        moments = Expr("moments", (Expr("tuple", (deeper(), deeper())),))
        whole, size = generator.choice(((hot, 6), (moments, 3)))
        return Expr("item", (whole,), (F(generator.randrange(size)),))
    arity = {"neg": 1, "abs": 1, "not": 1, "clip": 3, "if": 3, "min": 3, "max": 3}.get(op, 2)
    args = [deeper() for _ in range(arity)]
    if op == "clip":
        args[1:] = [Expr("const", (), (F(-1),)), Expr("const", (), (F(2),))]
    if op == "if":
        args[0] = Expr("lt", (args[0], deeper()))
    return Expr(op, tuple(args))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (("dirichlet", (F(2), F(1))), ("dirichlet", (F(1), F(2)))),
        (("dirichlet", (F(1, 2), F(9, 2))), ("dirichlet", (F(3, 2), F(7, 2)))),
        (("gamma", (F(2), F(4))), ("gamma", (F(7), F(4)))),
        (("gamma", (F(2), F(4))), ("gamma", (F(5), F(9, 2)))),
        (("normal", (F(0), F(1, 2))), ("normal", (F(1, 3), F(1, 2)))),
        (("normal", (F(0), F(1, 2))), ("normal", (F(1, 3), F(2)))),
    ],
)
def test_distances_by_quadrature(a: Any, b: Any) -> None:
    def density(item: Any) -> Any:
        x, y = map(float, item[1])
        if item[0] == "normal":
            return stats.norm(x, sqrt(y)).pdf
        return stats.gamma(x, scale=1 / y).pdf if item[0] == "gamma" else stats.beta(x, y).pdf

    low, high = (-15, 15) if a[0] == "normal" else (0, 1 if a[0] == "dirichlet" else 30)
    p, q = density(a), density(b)
    overlap, _ = quad(lambda x: sqrt(p(x) * q(x)), low, high, limit=400)
    assert distance(a, b) == pytest.approx(sqrt(1 - overlap), abs=2e-6)
    assert float(distance_at_least(a, b)) == pytest.approx(distance(a, b), abs=1e-9)
    assert distance_at_least(a, a) == 0


def test_losses_of_transcripts() -> None:
    two = losses.together([losses.laplace([1.0, -2.0], 2.0), losses.laplace([0.5], 1.0)])
    assert two.pure == pytest.approx(2.0)
    assert two.delta(2.0) == 0
    # Laplace noise moved by t has delta 1 - exp((epsilon - t) / 2) at epsilon.
    item = losses.laplace([1.5], 1.0)
    for epsilon in (0.0, 0.5, 1.0):
        exact = 1 - exp((epsilon - 1.5) / 2)
        assert item.delta(epsilon) == pytest.approx(exact, abs=0.03)
        assert item.delta(epsilon) <= exact + 1e-12
    both = losses.together([losses.gaussian(1, 2.0), losses.gaussian(4, 4.0)])
    assert both.delta(1.0) == pytest.approx(losses.gaussian(2, 2.0).delta(1.0))
    mixed = losses.together([losses.gaussian(1, 2.0), losses.laplace([1.0], 2.0)])
    assert (
        losses.gaussian(1, 2.0).delta(0.5) * 0.5
        < mixed.delta(1.0)
        < losses.gaussian(1, 2.0).delta(0.5)
    )
    assert losses.laplace([1.0], 0.0).pure == inf
    assert losses.laplace([0.0], 0.0).pure == 0
    channel = losses.channel((log(0.25), log(0.75)), (log(0.5), log(0.5)))
    assert (channel.forward, channel.backward) == (
        pytest.approx(log(1.5)),
        pytest.approx(log(2)),
    )
    assert channel.delta(0) == pytest.approx(0.25)


def test_nothing_private_is_read_twice_or_skipped() -> None:
    body = """
    noisy = laplace(sum(r.b for r in db), epsilon=1)
    second = observe((r.b for r in db), bernoulli, prior=beta(1, 1))
    laplace(statistics(second) + noisy, epsilon=1)
    """
    program = core(body)
    counterexample = falsify(program, check(program))
    assert not counterexample.skipped
    assert not counterexample.excess
    assert sum(1 for node in nodes(program.body[1].args[0]) if node.op == "sum") == 1


@pytest.mark.parametrize(
    "name", ["coin", "rate", "mean", "branch", "private pieces", "cells", "fold"]
)
def test_claims_that_are_sharp_are_seen_to_be(name: str) -> None:
    """An evaluator that moves too little would find no excess anywhere."""
    program = PROBES[name]().program
    counterexample = falsify(program, check(program))
    assert counterexample.largest("sensitivity", "distance") == pytest.approx(1, abs=1e-8)
    if name not in ("coin", "rate", "mean"):
        assert counterexample.tightness == pytest.approx(1)
