"""Steps that would be unsound, each with the program that would gain by it.

Every one of these was, or could have been, accepted too cheaply by a simpler rule.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from bayesdp.kernel.programs import distances
from bayesdp.kernel.programs.levels import Scope
from bayesdp.kernel.programs.ranges import AdjacencyContext, Range
from bayesdp.kernel.programs.releases import hellinger
from bayesdp.kernel.programs.setting import Setting
from bayesdp.programs.check.checker import ProgramVerdict, check
from bayesdp.programs.check.reading import read
from bayesdp.programs.falsify import falsify
from bayesdp.programs.ir import Expr, Parts, Program, Release
from tests.programs.probes import GRID, coin, core


def node(program: Program, place: int = 0) -> dict:
    """The derivation's node of one command; the program is accepted."""
    verdict = check(program)
    assert verdict.verdict == "ACCEPTED", verdict.reason
    return verdict.derivation["sequence"][place]


def moved(body: str, place: int = 0, **options: str) -> object:
    """The derived sensitivity: a number, or the plain expression."""
    value = node(core(body, **options), place)["sensitivity"]["value"]
    return Fraction(value[2][0]["number"]) if value[0] == "const" else value


def says(body: str, **options: str) -> ProgramVerdict:
    return check(core(body, **options))


def number(value: object) -> Expr:
    return Expr("const", (), (Fraction(str(value)),))


def named(name: str) -> Expr:
    return Expr("public", (), (name,))


# -- divisors, factors, lengths ----------------------------------------------------------------


def test_a_public_divisor_counts_at_its_least() -> None:
    # With one row the public sum may be 1: dividing by its largest value would claim 10 / 400.
    body = """
    require(db.size <= 100)
    scale = sum(r.q for r in db)
    laplace(sum(r.x for r in db) / scale, epsilon=1)
    """
    assert moved(body) == 10
    assert not falsify(core(body), check(core(body))).excess


def test_a_released_divisor_counts_at_its_least() -> None:
    body = """
    noisy = laplace(sum(r.y for r in db), epsilon=1)
    laplace(sum(r.x for r in db) / clip(noisy, 2, 50), epsilon=1)
    """
    assert moved(body, 1) == 5


def test_a_released_factor_counts_at_its_largest() -> None:
    body = """
    noisy = laplace(sum(r.y for r in db), epsilon=1)
    laplace(sum(r.x for r in db) * clip(noisy, -7, 3), epsilon=1)
    """
    assert moved(body, 1) == 70


def test_a_factor_without_bounds_is_refused() -> None:
    body = """
    noisy = laplace(sum(r.y for r in db), epsilon=1)
    laplace(sum(r.x for r in db) * noisy, epsilon=1)
    """
    assert says(body).code == "bounds"


def test_a_divisor_that_may_be_0_is_refused_in_rows_and_outside() -> None:
    assert says(
        "laplace(sum(clip(1 / (db.size - 5), 0, 1) * r.x for r in db), epsilon=1)"
    ).code == ("division")
    body = "laplace(sum(r.x for r in db) / (db.size - 5), epsilon=1)"
    assert says(body).code == "division"
    inside = "laplace(sum(r.x for r in db) * (1 / (db.size - 1)), epsilon=1)"
    assert says(inside).code == "division"
    assert says(f"require(db.size > 1)\n    {inside}").verdict == "ACCEPTED"


def test_one_private_number_added_to_a_released_vector_counts_for_each_entry() -> None:
    body = """
    noisy = laplace(sum(onehot(r.c) for r in db), epsilon=1)
    laplace(noisy + sum(r.b for r in db), epsilon=1)
    """
    assert moved(body, 1, returns="Vector") == 3


def test_one_private_number_added_to_a_private_vector_counts_for_each_entry() -> None:
    body = """
    laplace(sum(onehot(r.c) for r in db) + clip(sum(r.b for r in db), 0, 5), epsilon=1)
    """
    assert moved(body, returns="Vector") == 2 + 3
    actual = core(body, returns="Vector")
    assert not falsify(actual, check(actual)).excess


def test_a_vector_of_factors_is_refused() -> None:
    assert says("laplace((2, 3) * sum(r.b for r in db), epsilon=1)", returns="Vector").verdict == (
        "REJECTED"
    )
    assert says("laplace(sum(r.b for r in db) / (2, 3), epsilon=1)", returns="Vector").verdict == (
        "REJECTED"
    )


def test_the_sum_over_the_size_is_known_with_the_size() -> None:
    value = moved("laplace(sum(r.x for r in db) / db.size, epsilon=1)")
    assert isinstance(value, list)
    assert value[0] == "div"


# -- private sizes -----------------------------------------------------------------------------


def test_a_filter_on_a_private_column_makes_rows_come_and_go() -> None:
    assert moved("laplace(sum(r.x + 3 for r in db if r.b), epsilon=1)") == 11  # not 10
    assert moved("laplace(sum(clip(r.x, 2, 8) for r in db if r.b), epsilon=1)") == 8  # not 6
    assert moved("laplace(sum(clip(r.x, 2, 8) for r in db if r.z > 1), epsilon=1)") == 6


def test_a_dirichlet_posterior_behind_a_private_filter_still_trades_counts() -> None:
    body = """
    model = observe((r.c for r in db if r.b), categorical, prior=dirichlet(1, 1, 1))
    noisy = laplace(statistics(model), epsilon=1)
    plug_in(noisy)
    """
    assert moved(body, returns="Dirichlet") == 2
    # Replaced inside the filter, a record trades one category for another: .4633, not .3374.
    data = Expr(
        "data",
        (Expr("field", (), ("b",)), Expr("field", (), ("c",))),
        ((),),
    )
    prior = Expr("prior", (number(1),) * 3, ("dirichlet",))
    model = Expr("observe", (data, Expr("likelihood", (), ("categorical",)), prior))
    program = read(core("laplace(sum(r.b for r in db), epsilon=1)"))
    context = AdjacencyContext(program, Range(Fraction(1)), "replace-one")
    moves = hellinger(model, Setting(Scope(context, {}), lambda _: Fraction(0)), context)
    assert float(moves) == float(distances.of_labels([Fraction(1)] * 3, True))
    assert float(moves) == pytest.approx(0.463251375, abs=1e-9)


def test_a_bernoulli_posterior_behind_a_private_filter() -> None:
    body = f"""
    posterior = infer(observe((r.b for r in db if r.y > 0), bernoulli, prior=beta(1, 1)))
    exponential(score=hellinger(posterior), candidates={GRID}, epsilon=1)
    """
    program = core(body, returns="Beta")
    verdict = check(program)
    assert moved(body, returns="Beta") >= Fraction("0.4632513751")
    assert not falsify(program, verdict, most_pairs=400).excess


def test_sizes_of_pieces_are_not_the_size_of_the_database() -> None:
    # n >= 100 says nothing of a piece: it may have one record.
    body = """
    require(db.size >= 100)
    for piece in partition(db, by="p"):
        posterior = infer(observe((r.b for r in piece), bernoulli, prior=beta(1, 1)))
        found = exponential(score=hellinger(posterior), candidates={0}, epsilon=1)
    0
    """.replace("{0}", GRID)
    program = core(body, returns="Int")
    inside = check(program).derivation["sequence"][0]["parts"]["of"][0]["sequence"][0]
    value = Fraction(inside["sensitivity"]["value"][2][0]["number"])
    assert float(value) == pytest.approx(0.463251375, abs=1e-9)
    whole = coin(candidates=GRID)
    large = replace(whole, requires=(Expr("ge", (named("db.size"), number(100))),))
    actual = Fraction(node(large)["sensitivity"]["value"][2][0]["number"])
    assert float(actual) == pytest.approx(0.338940, abs=1e-6)


def test_a_posterior_mean_behind_a_private_filter_has_no_bound() -> None:
    body = """
    posterior = infer(observe((r.x for r in db if r.b), normal(sd=1), prior=normal(0, sd=1)))
    several = grid_of(normal, a=(0, 1), b=(1, 2))
    exponential(score=hellinger(posterior), candidates=several, epsilon=1)
    """
    sentence = says(body, returns="Normal")
    assert (sentence.verdict, sentence.code) == ("UNKNOWN", "unproved")


def test_one_answer_for_each_record_of_a_private_filter_tells_how_many() -> None:
    program = core("laplace(sum(r.b for r in db), epsilon=1)")
    data = Expr("data", (Expr("field", (), ("b",)), Expr("field", (), ("b",))), ((),))
    answers = Release("answers", "randomized-response", (data,), (("epsilon", number(1)),))
    verdict = check(replace(program, body=(answers,), returns=(), return_types=()))
    assert (verdict.verdict, verdict.code) == ("REJECTED", "private-output")


# -- partitions --------------------------------------------------------------------------------


def loop(by: str, value: str, adjacency: str = "") -> Program:
    options = f'adjacency="{adjacency}"' if adjacency else ""
    body = f'for piece in partition(db, by="{by}"):\n    noisy = laplace({value}, epsilon=1)\n0'
    return core(body, returns="Int", options=options)


@pytest.mark.parametrize(
    ("by", "value", "cost"),
    [
        ("p", "sum(r.x for r in piece)", 1),
        # A record that changes its label leaves one piece and enters another: two of 8 / 10.
        ("c", "sum(r.x for r in piece)", Fraction(8, 10) * 2),
        ("c", "count(piece)", 2),
        # Each part reads everything: nothing is parallel.
        ("p", "sum(r.x for r in db)", 2),
        ("c", "sum(r.x for r in db)", 3),
        ("c", "sum(r.x for r in piece) + sum(r.x for r in db)", 3),
    ],
)
def test_partitions(by: str, value: str, cost: object) -> None:
    program = loop(by, value)
    verdict = check(program)
    assert (verdict.verdict, verdict.dp_epsilon) == ("ACCEPTED", cost)
    assert not falsify(program, verdict, most_pairs=600).excess


def test_under_add_remove_a_record_is_in_one_piece() -> None:
    program = loop("c", "sum(r.x for r in piece)", "add-remove")
    assert check(program).dp_epsilon == 1
    assert not falsify(program, check(program), most_pairs=600).excess


def test_a_private_partition_with_branches_takes_two_of_the_dearest() -> None:
    body = """
    gate = laplace(sum(r.y for r in db), epsilon=1)
    for piece in partition(db, by="c"):
        if gate > 3:
            noisy = laplace(count(piece), epsilon=1)
        else:
            noisy = laplace(count(piece), epsilon=2)
    0
    """
    program = core(body, returns="Int")
    verdict = check(program)
    assert verdict.dp_epsilon == 1 + 2 * 2
    assert not falsify(program, verdict, n_max=2, most_pairs=300).excess


def test_the_same_partition_twice_costs_twice() -> None:
    body = """
    for piece in partition(db, by="c"):
        first = laplace(count(piece), epsilon=1)
    for piece in partition(db, by="c"):
        second = laplace(count(piece), epsilon=1)
    0
    """
    assert says(body, returns="Int").dp_epsilon == 4


def test_nested_partitions_by_one_private_column() -> None:
    body = """
    for outer in partition(db, by="c"):
        for inner in partition(outer, by="d"):
            noisy = laplace(count(inner), epsilon=1)
    0
    """
    program = core(body, returns="Int")
    verdict = check(program)
    assert verdict.dp_epsilon == 2
    assert not falsify(program, verdict, most_pairs=300).excess


def test_answers_inside_a_private_partition_are_refused() -> None:
    body = """
    for piece in partition(db, by="c"):
        posterior = infer(observe((r.x for r in piece), normal(sd=1), prior=normal(0, sd=1)))
        several = grid_of(normal, a=(0, 1), b=(1, 2))
        found = exponential(score=hellinger(posterior), candidates=several, epsilon=1)
    0
    """
    assert says(body, returns="Int").verdict == "UNKNOWN"


def test_a_fold_inside_a_private_partition_has_no_known_cost_of_entering() -> None:
    body = """
    noisy = laplace(fold(db, 0, grown), epsilon=1)
    noisy
    """
    assert node(core(body))["entering"] is None


# -- adjacency ---------------------------------------------------------------------------------


def test_a_fold_under_add_remove_is_not_the_fold_of_replaced_rows() -> None:
    sentence = says("laplace(fold(db, 0, grown), epsilon=1)", options='adjacency="add-remove"')
    assert sentence.verdict == "UNKNOWN"


def test_nothing_is_public_under_add_remove() -> None:
    sentence = says("laplace(sum(r.z for r in db), epsilon=1)", options='adjacency="add-remove"')
    assert sentence.derivation["sequence"][0]["sensitivity"]["value"][2] == [{"number": "3"}]
    # The size has no value there, whatever a program's text was turned into.
    program = core("laplace(sum(r.b for r in db), epsilon=1)", options='adjacency="add-remove"')
    assert check(replace(program, returns=(named("db.size"),))).code == "name"
    divided = Expr("div", (program.body[0].args[0], named("db.size")))
    body = (replace(program.body[0], args=(divided,)),)
    assert check(replace(program, body=body)).code == "name"


def test_a_run_is_not_held_to_a_private_number_of_records() -> None:
    program = core("laplace(sum(r.b for r in db), epsilon=1)", options='adjacency="add-remove"')
    assert check(program, n=50).n is None
    assert check(core("laplace(sum(r.b for r in db), epsilon=1)"), n=50).n == 50


def test_add_remove_costs_are_not_those_of_replacing() -> None:
    body = "laplace(sum(r.x for r in db), epsilon=1)"
    assert moved(body) == 10
    assert moved(body, options='adjacency="add-remove"') == 8
    assert (
        moved("laplace(sum(r.x + 3 for r in db), epsilon=1)", options='adjacency="add-remove"')
        == 11
    )


def test_parts_of_the_derivation_are_where_commands_are() -> None:
    program = loop("p", "sum(r.x for r in piece)")
    parts = [statement for statement in program.body if isinstance(statement, Parts)]
    actual = check(program).derivation["sequence"][program.body.index(parts[0])]["parts"]
    assert (actual["public"], actual["confined"], len(actual["of"])) == (True, True, 2)


def test_a_piece_is_there_once_and_public_only_if_its_column_is() -> None:
    program = loop("c", "count(piece)")
    (parts,) = (statement for statement in program.body if isinstance(statement, Parts))
    twice = replace(parts, parts=(parts.parts[0], parts.parts[0]))
    for changed in (twice, replace(parts, public=True), replace(parts, column="x")):
        assert (
            check(replace(program, body=(changed,), returns=(), return_types=())).verdict
            == "REJECTED"
        )
