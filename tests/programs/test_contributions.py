"""Tables that a program can't tell apart are compared once: nothing is lost by it.

The oracle goes over all tables as sequences of rows, in every order and with every place, and
compares each pair by itself.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import pytest

from bayesdp.programs.check.checker import ProgramVerdict, check
from bayesdp.programs.falsify import Findings, falsify
from bayesdp.programs.falsify.contributions import Contributions
from bayesdp.programs.falsify.losses import together
from bayesdp.programs.falsify.paths import paths
from bayesdp.programs.falsify.releases import Trial
from bayesdp.programs.falsify.search import independent_of_others
from bayesdp.programs.falsify.values import Evaluator
from bayesdp.programs.falsify.witnesses import Neighbours, witness_rows
from bayesdp.programs.ir import Expr, Program
from tests.effort import runs
from tests.programs.probes import GRID, coin, core
from tools.make_program_audit import audited, completeness, programs

F = Fraction
Ratios = dict[tuple[str, str], float]


@cache
def accepted() -> dict[str, Program]:
    return dict(programs())


def trials_of(program: Program, verdict: ProgramVerdict, size: int) -> Iterator[list[Trial]]:
    """The releases of every path."""
    rows, kinds = witness_rows(program).rows, dict(program.record)
    private = program.adjacency == "add-remove"
    for path in paths(program, verdict.derivation, None if private else size):
        at = Evaluator(rows, kinds, path.names)
        yield [Trial(release, node, at, size) for release, node in path.releases]


def ratios(
    program: Program, verdict: ProgramVerdict, trials: list[Trial], pair: Neighbours
) -> Ratios:
    """Every obligation on one pair of tables."""
    compared = [trial.compare(pair) for trial in trials]
    worst = {(item.obligation, item.release): item.ratio for seen, _ in compared for item in seen}
    if not verdict.dp_delta:
        loss = together([loss for _, loss in compared])
        worst["law", ""] = loss.pure / float(verdict.dp_epsilon)
    return worst


def replaceable(program: Program) -> list[list[int]]:
    """For each witness row those that it may be replaced by."""
    rows = witness_rows(program).rows
    shared = [name for name, kind in program.record if kind.public]
    return [
        [j for j, there in enumerate(rows) if all(here.get(n) == there.get(n) for n in shared)]
        for here in rows
    ]


def worst_of_all(program: Program, sizes: list[int]) -> Ratios:
    """The largest ratio of every obligation that a pair of tables has, of these sizes."""
    verdict, others = check(program), replaceable(program)
    worst: Ratios = {}
    for size in sizes:
        for trials in trials_of(program, verdict, size):
            for table in product(range(len(others)), repeat=size):
                for place, here in enumerate(table):
                    rest = (*table[:place], *table[place + 1 :])
                    leaves = program.adjacency == "add-remove"
                    for there in [None] if leaves else others[here]:
                        pair = Neighbours(rest, place, here, there)
                        for key, ratio in ratios(program, verdict, trials, pair).items():
                            worst[key] = max(worst.get(key, 0.0), ratio)
    return worst


def assert_as_bad(findings: Findings, everything: Ratios) -> None:
    assert everything
    for key, ratio in everything.items():
        assert findings.worst[key].ratio == pytest.approx(ratio, abs=1e-9), key


BODIES = [
    ("laplace(sum(clip(r.x, 0, 2) for r in db if r.b), epsilon=1)", 2),
    ("laplace(abs(sum(r.y for r in db) - 2 * count(r for r in db if r.b)), epsilon=1)", 3),
    ("laplace(max(sum(r.y for r in db), count(r for r in db if r.b)), epsilon=1)", 3),
    ("laplace(max(sum(r.y for r in db) - 4, 0), epsilon=1)", 3),
    ("laplace(fold(db, 0, grown), epsilon=1)", 2),
    ("laplace(min(sum(r.y if r.b else -r.y for r in db), 2), epsilon=1)", 3),
    ("laplace(min(fold(db, 0, kept), count(r for r in db if r.b)), epsilon=1)", 2),
    ("exponential(score=lambda c: -abs(count(r for r in db if r.y <= c) - 1), "
     "candidates=(0, 1, 2), epsilon=1)", 3),
    ("posterior_sample(observe((r.y for r in db), poisson(exposure=2), prior=gamma(1, 1)), "
     "grid=linspace(0.1, 3, 4), log_likelihood=(-3, 0), power=1)", 3),
    ("exponential(score=hellinger(infer(observe((r.b for r in db if r.y > 1), bernoulli, "
     "prior=beta(1, 1)))), candidates=grid_of(beta, a=(1, 2, 3), b=(1, 2)), epsilon=1)", 3),
    ("randomized_response((r.c for r in db), epsilon=1)", 1),
    ("per_record_exponential((r.x for r in db), score=lambda x, c: -abs(x - c), "
     "candidates=(0, 3), epsilon=1)", 1),
    ("laplace(transition_counts(db.b, order='z'), epsilon=1)", 3),
]  # fmt: skip


def returns(body: str) -> str:
    """The type that a program of this body announces."""
    if "hellinger" in body:
        return "Beta"
    vectors = ("randomized_response", "per_record_exponential", "laplace(transition_counts")
    return "Vector" if body.startswith(vectors) else "Real"


@pytest.mark.parametrize(("body", "most"), BODIES, ids=[body for body, _ in BODIES])
def test_as_bad_as_the_worst_of_all_sequences(body: str, most: int) -> None:
    program = core(body, returns=returns(body))
    verdict = check(program)
    assert verdict.verdict == "ACCEPTED", verdict.reason
    findings = falsify(program, verdict, n_max=most, most_pairs=100_000)
    assert findings.complete
    assert_as_bad(findings, worst_of_all(program, list(range(1, most + 1))))


def test_tosses_are_told_apart_by_their_number() -> None:
    program = coin(candidates=GRID)
    findings = falsify(program, check(program), n_max=4)
    assert findings.complete
    assert_as_bad(findings, worst_of_all(program, [1, 2, 3, 4]))


NAMES = sorted(accepted())
MOST_COMPARISONS = runs(40_000, least=1000)


@pytest.mark.prove
@pytest.mark.parametrize("name", NAMES[:: max(1, len(NAMES) // runs(len(NAMES), least=50))])
def test_accepted_programs_as_bad_as_the_worst_of_all_sequences(name: str) -> None:
    """Of up to three records, as many as there is time for."""
    program = accepted()[name]
    verdict, rows = check(program), len(witness_rows(program).rows)

    def comparisons(size: int) -> int:
        trials = [trial for trials in trials_of(program, verdict, size) for trial in trials]
        weights = [50 if trial.release.op in SLOW else 1 for trial in trials]
        return size * rows ** (size + 1) * sum(weights)

    if program.requires or comparisons(1) > MOST_COMPARISONS:
        return
    most = max(size for size in (1, 2, 3) if comparisons(size) <= MOST_COMPARISONS)
    findings = falsify(program, verdict, most, 100_000)
    assert findings.complete
    assert_as_bad(findings, worst_of_all(program, list(range(1, most + 1))))


SLOW = ("exponential", "per-record-exponential", "posterior-sample", "above-threshold")


def test_tables_of_a_required_size() -> None:
    program = core("require(db.size >= 5)\nlaplace(abs(sum(r.b for r in db) - 3), epsilon=1)")
    findings = falsify(program, check(program), n_max=2)
    assert findings.sizes == [5, 6]
    assert_as_bad(findings, worst_of_all(program, [5, 6]))


# -- what rows are unlike in ---------------------------------------------------------------------


def read_by(program: Program, public: tuple[Expr, ...] = ()) -> Contributions:
    """What the rows contribute to the first path of a program of two records."""
    trials = next(trials_of(program, check(program), 2))
    return Contributions(trials[0].at, trials, public)


def test_rows_that_can_not_be_read_are_unlike_all_others() -> None:
    """Else a row that adds nothing would stand for one that divides by 0."""
    program = core("laplace(sum(clip(r.x, 0, 1) for r in db), epsilon=1)")
    quotient = Expr("div", (Expr("field", (), ("x",)), Expr("field", (), ("x",))))
    release = program.body[0]
    data = Expr("data", (Expr("const", (), (True,)), quotient), ((),))
    failing = replace(program, body=(replace(release, args=(Expr("sum", (data,)),)),))
    trials = next(trials_of(program, check(program), 2))
    read = Contributions(trials[0].at, [replace(trials[0], release=failing.body[0])], ())
    zero = [row["x"] for row in trials[0].at.rows].index(F(0))
    assert read.of_rows[zero].whole is not None
    assert all(row.whole is None for i, row in enumerate(read.of_rows) if i != zero)


def test_public_sums_are_read_too() -> None:
    program = core("laplace(sum(r.b for r in db), epsilon=1)")
    of_y = core("laplace(sum(r.y for r in db), epsilon=1)").body[0].args[0]
    findings = falsify(replace(program, returns=(of_y,)), check(program))
    assert {item.obligation for item in findings.excess} == {"public"}
    as_fold = core("laplace(fold(db, 0, grown), epsilon=1)").body[0].args[0]
    folded = falsify(replace(program, returns=(as_fold,)), check(program), n_max=2)
    assert {item.obligation for item in folded.excess} == {"public"}
    assert folded.complete
    # The fold goes over other rows too, in both orders; for the sum it takes a single row of them.
    of_x = core("laplace(sum(r.x for r in db), epsilon=1)").body[0].args[0]
    summed = falsify(replace(program, returns=(of_x,)), check(program), n_max=2)
    assert folded.pairs > 2 * summed.pairs


def test_rows_that_a_sample_weighs_are_not_added_up() -> None:
    """Each has a likelihood of its own, held in bounds: the sum of two says nothing of theirs."""
    (body,) = [body for body, _ in BODIES if body.startswith("posterior_sample")]
    assert all(row.whole for row in read_by(core(body)).of_rows)


def test_each_row_has_scores_of_its_own() -> None:
    (body,) = [body for body, _ in BODIES if body.startswith("per_record")]
    program = core(body, returns="Vector")
    findings = falsify(program, check(program), n_max=1)
    assert findings.largest("sensitivity") == 1


def test_transitions_are_nothing_public() -> None:
    table = core("laplace(transition_counts(db.b, order='z'), epsilon=1)", returns="Vector")
    program = core("laplace(sum(r.y for r in db), epsilon=1)")
    findings = falsify(replace(program, returns=table.body[0].args), check(program), n_max=2)
    assert {item.obligation for item in findings.excess} == {"public"}


@pytest.mark.parametrize("private", ["sum(r.y for r in db)", "count(r for r in db if r.b)"])
def test_a_private_divisor_is_not_linear(private: str) -> None:
    """No rule accepts it; if one did, tables of one choice of others would not be enough."""
    (release,) = core(f"laplace({private}, epsilon=1)").body
    below = Expr("add", (release.args[0], Expr("const", (), (F(1),))))
    quotient = replace(release, args=(Expr("div", (Expr("const", (), (F(9),)), below)),))
    assert not independent_of_others(quotient)
    chosen = Expr("if", (Expr("lt", (below, below)), release.args[0], release.args[0]))
    assert not independent_of_others(replace(release, args=(chosen,)))
    product = Expr("mul", (release.args[0], below))
    assert not independent_of_others(replace(release, args=(product,)))
    half = Expr("div", (below, Expr("const", (), (F(2),))))
    assert independent_of_others(replace(release, args=(half,)))


def test_a_selection_says_what_it_leaves_out() -> None:
    program = core("laplace(max(sum(r.x for r in db), sum(r.y for r in db)), epsilon=1)")
    findings = falsify(program, check(program), n_max=2, most_pairs=5)
    assert findings.left_out == {"pairs of records", "the other records of a table"}
    assert completeness(findings) == (
        "without some of: pairs of records, the other records of a table"
    )
    turns = "clip(r.x, 0, 1) + clip(r.x, 2, 3) + clip(r.q, 1.5, 2) + clip(r.q, 2.5, 3)"
    many = core(f"laplace(sum({turns} + r.y + r.b for r in db), epsilon=1)")
    assert not witness_rows(many).all
    assert "values of columns" in falsify(many, check(many), 1, 5).left_out


# -- programs of which there was a selection only ------------------------------------------------

MANY = {
    "absolute_difference:f": (9, 3),
    "chain_of_sleep:falls_asleep": (15, 15),
    "chain_of_wards:chains": (20, 20),
    "chain_that_stays:changes": (24, 24),
    "columns_of_one_record_zipped:f": (180, 37),
    "conditions_in_rows:taxed": (144, 6),
    "cross_of_comparisons:f": (108, 12),
    "either_of_two_private_numbers:f": (18, 12),
    "factor_of_a_released_root:f": (8, 8),
    "fold_with_a_helper:folded": (6, 3),
    "helpers_with_statements:scores": (9**3, 59),
    "regression:from_parents": (9**3, 36),
    "regression:sampled": (9**3, 36),
    "rows_choose_from_a_dictionary:f": (240, 99),
    "transitions_of_a_panel:f": (24, 24),
    "who_stays_and_who_leaves:f": (20, 20),
}
"""How many witness rows they have, and of how many kinds."""
HUNDRED = {"require_a_size:coin": (100, 103), "normal_by_hellinger:f": (20, 23)}


@pytest.mark.parametrize("name", MANY)
def test_how_many_kinds_of_rows_there_are(name: str) -> None:
    program = accepted()[name]
    witnesses = witness_rows(program)
    assert witnesses.all
    read = read_by(program)
    assert (len(witnesses.rows), len(set(read.kind_of))) == MANY[name]


TRIED = [*MANY, *HUNDRED]


@pytest.mark.prove
@pytest.mark.parametrize("name", TRIED[:: max(1, len(TRIED) // runs(len(TRIED), least=4))])
def test_no_table_at_random_is_worse_than_all_that_were_compared(name: str) -> None:
    """Of all witness rows, in any order, of the largest size."""
    program = accepted()[name]
    verdict, others = check(program), replaceable(program)
    findings = audited(program)
    least, most = HUNDRED.get(name, (1, 4))
    assert completeness(findings) == ("yes" if least == 1 else f"yes, n = {least} to {most}")
    size = findings.sizes[-1]
    generator = random.Random(name)
    every = list(trials_of(program, verdict, size))
    for _ in range(runs(4000)):
        rows = generator.sample(range(len(others)), min(len(others), generator.randint(1, 12)))
        table = [generator.choice(rows) for _ in range(size)]
        place = generator.randrange(size)
        there = generator.choice(others[table[place]])
        pair = Neighbours((*table[:place], *table[place + 1 :]), place, table[place], there)
        for key, ratio in ratios(program, verdict, generator.choice(every), pair).items():
            assert ratio <= findings.worst[key].ratio + 1e-9, (key, pair)
