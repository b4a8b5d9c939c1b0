"""Steps that would be unsound, each with the program that would gain by it.

Every one of these was, or could have been, accepted too cheaply by a simpler rule.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from bayesdp.programs.check.verdict import Verdict, check
from bayesdp.programs.falsify import falsify
from bayesdp.programs.ir import Branch, Derive, Expr, Parts, Program, Release
from tests.programs.probes import GRID, coin, core


def node(program: Program, place: int = 0) -> dict:
    """The derivation's node of one command; the program is accepted."""
    found = check(program)
    assert found.verdict == "ACCEPTED", found.reason
    return found.derivation["sequence"][place]


def moved(body: str, place: int = 0, **options: str) -> object:
    """The derived sensitivity: a number, or the plain expression."""
    value = node(core(body, **options), place)["sensitivity"]["value"]
    return Fraction(value[2][0]["number"]) if value[0] == "const" else value


def says(body: str, **options: str) -> Verdict:
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
    found = core(body, returns="Vector")
    assert not falsify(found, check(found)).excess


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
    from bayesdp.programs.check.lemmas import dirichlet
    from bayesdp.programs.check.scores import hellinger

    data = Expr(
        "data",
        (Expr("field", (), ("b",)), Expr("field", (), ("c",))),
        ((),),
    )
    prior = Expr("prior", (number(1),) * 3, ("dirichlet",))
    model = Expr("observe", (data, Expr("likelihood", (), ("categorical",)), prior))
    program = core("laplace(sum(r.b for r in db), epsilon=1)")
    from bayesdp.programs.check.intervals import Context, Interval
    from bayesdp.programs.check.sensitivity import World

    context = Context(dict(program.record), {"db.size": Interval(Fraction(1), None)})
    world = World("replace-one", context, lambda *_: Fraction(0))
    assert hellinger(model, world) == dirichlet([Fraction(1)] * 3, False)
    assert float(hellinger(model, world)) == pytest.approx(0.463251375, abs=1e-9)


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
    found = Fraction(node(large)["sensitivity"]["value"][2][0]["number"])
    assert float(found) == pytest.approx(0.338940, abs=1e-6)


def test_a_posterior_mean_behind_a_private_filter_has_no_bound() -> None:
    body = """
    posterior = infer(observe((r.x for r in db if r.b), normal(sd=1), prior=normal(0, sd=1)))
    several = grid_of(normal, a=(0, 1), b=(1, 2))
    exponential(score=hellinger(posterior), candidates=several, epsilon=1)
    """
    found = says(body, returns="Normal")
    assert (found.verdict, found.code) == ("UNKNOWN", "unproved")


def test_one_answer_for_each_record_of_a_private_filter_tells_how_many() -> None:
    program = core("laplace(sum(r.b for r in db), epsilon=1)")
    data = Expr("data", (Expr("field", (), ("b",)), Expr("field", (), ("b",))), ((),))
    answers = Release("answers", "randomized-response", (data,), (("epsilon", number(1)),))
    found = check(replace(program, body=(answers,), returns=()))
    assert (found.verdict, found.code) == ("REJECTED", "private-output")


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
    found = check(program)
    assert (found.verdict, found.dp_epsilon) == ("ACCEPTED", cost)
    assert not falsify(program, found, most_pairs=600).excess


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
    found = check(program)
    assert found.dp_epsilon == 1 + 2 * 2
    assert not falsify(program, found, n_max=2, most_pairs=300).excess


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
    found = check(program)
    assert found.dp_epsilon == 2
    assert not falsify(program, found, most_pairs=300).excess


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
    found = says("laplace(fold(db, 0, grown), epsilon=1)", options='adjacency="add-remove"')
    assert found.verdict == "UNKNOWN"


def test_nothing_is_public_under_add_remove() -> None:
    found = says("laplace(sum(r.z for r in db), epsilon=1)", options='adjacency="add-remove"')
    assert found.derivation["sequence"][0]["sensitivity"]["value"][2] == [{"number": "3"}]
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


# -- joint releases ----------------------------------------------------------------------------


def test_a_joint_release_is_not_one_coordinate() -> None:
    assert (
        moved("laplace((sum(r.x for r in db), sum(r.y for r in db)), epsilon=1)", returns="Vector")
        == 13
    )
    assert (
        moved(
            "gaussian((sum(r.x for r in db), sum(r.y for r in db)), epsilon=1, delta=1e-5)",
            returns="Vector",
        )
        == 109
    )
    assert moved("laplace(sum(onehot(r.c) for r in db), epsilon=1)", returns="Vector") == 2


def test_one_entry_of_a_vector() -> None:
    body = """
    cells = sum(onehot(r.c) for r in db)
    laplace(cells[1], epsilon=1)
    """
    assert moved(body) == 1
    both = """
    cells = sum(onehot(r.c) for r in db)
    laplace((cells[0], cells[1], cells[1]), epsilon=1)
    """
    assert moved(both, returns="Vector") == 3  # not 2: entry 1 stands there twice


def test_entries_with_different_factors_are_no_table() -> None:
    body = """
    cells = sum(onehot(r.c) for r in db)
    laplace((5 * cells[0], cells[1], cells[2]), epsilon=1)
    """
    assert moved(body, returns="Vector") == 6  # not 2


def test_two_cells_of_one_name() -> None:
    program = core("laplace(sum(onehot(cross(r.c, r.d)) for r in db), epsilon=1)", returns="Vector")
    assert node(program)["sensitivity"]["by"] in ("onehot", "enumerated")
    kinds = dict(program.record)
    kinds["c"] = replace(kinds["c"], labels=("u", "u|v", "w"))
    kinds["d"] = replace(kinds["d"], labels=("v|w", "w", "x"))
    found = check(replace(program, record=tuple(kinds.items())))
    assert (found.verdict, found.code) == ("REJECTED", "type")


# -- private numbers ---------------------------------------------------------------------------


def test_min_max_abs_and_clip_of_private_numbers() -> None:
    assert moved("laplace(max(sum(r.x for r in db), sum(r.y for r in db)), epsilon=1)") == 10
    assert moved("laplace(min(sum(r.x for r in db), 3), epsilon=1)") == 10
    assert moved("laplace(abs(sum(r.x for r in db)), epsilon=1)") == 10
    assert moved("laplace(clip(sum(r.x for r in db), 0, 5), epsilon=1)") == 10
    body = "laplace(max(sum(r.x for r in db), sum(r.y for r in db)), epsilon=1)"
    assert not falsify(core(body), check(core(body)), most_pairs=200).excess


def test_products_of_private_values_are_refused() -> None:
    program = core("laplace(sum(r.b for r in db), epsilon=1)")
    total = program.body[0].args[0]
    for op in ("mul", "div"):
        body = (replace(program.body[0], args=(Expr(op, (total, total)),)),)
        assert check(replace(program, body=body)).verdict == "REJECTED"


# -- kinds -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        "laplace(sum(r.x + r.y for r in db), epsilon=1)",
        "laplace(sum(clip(r.x, 0, 5) for r in db if r.b), epsilon=1)",
        "laplace(sum(clip(r.x, 20, 30) for r in db), epsilon=1)",
        "laplace(clip(sum(r.x for r in db), 0, 10), epsilon=1)",
        "laplace(sum(r.z for r in db), epsilon=1)",
        "gaussian(sum(r.x for r in db), epsilon=1, delta=1e-6)",
        "laplace(sum(r.b for r in db), epsilon=1)",
        "laplace(sum(r.x for r in db) + sum(r.y for r in db), epsilon=1)",
    ],
)
def test_other_kinds(value: str) -> None:
    assert says(value).kind == "any"


def test_lipschitz_kinds() -> None:
    found = says("laplace(3 * sum(clip(r.x, 0, 5) for r in db) / db.size, epsilon=1)")
    assert (found.kind, found.column, found.interval) == ("lipschitz", "x", (0, 5))
    mixed = """
    first = laplace(sum(r.x for r in db), epsilon=1)
    laplace(sum(r.y for r in db), epsilon=1)
    """
    assert says(mixed).kind == "any"
    under = says("laplace(sum(r.x for r in db), epsilon=1)", options='adjacency="add-remove"')
    assert under.kind == "any"


# -- names, and rows that can't fail -----------------------------------------------------------


def test_names_have_values_where_they_stand() -> None:
    program = core("laplace(sum(r.x for r in db), epsilon=1)")
    release = program.body[0]
    later = Derive("later", named("nobody"))
    assert check(replace(program, body=(release, later))).code == "name"
    twice = check(replace(program, body=(release, release)))
    assert (twice.verdict, twice.code) == ("REJECTED", "name")
    assert check(replace(program, returns=(named("candidate_1"),))).code == "name"


def test_a_name_of_one_side_of_a_branch_is_unknown_after_it() -> None:
    program = core("laplace(sum(r.x for r in db), epsilon=1)")
    first = program.body[0]
    test = Expr("gt", (named(first.name), number(0)))
    inner = Branch(test, (replace(first, name="inner"),), ())
    assert check(replace(program, body=(first, inner), returns=(named("inner"),))).code == "name"


def test_a_score_variable_ends_with_its_score() -> None:
    body = """
    several = (0, 4, 8)
    exponential(score=lambda c: -abs(sum(r.x for r in db) - c), candidates=several, epsilon=1)
    """
    program = core(body)
    variable = str(program.body[0].args[0].data[0])
    assert check(replace(program, returns=(named(variable),))).code == "name"


def test_rows_hold_row_operations_only() -> None:
    program = core("laplace(sum(r.x for r in db), epsilon=1)")
    total = program.body[0].args[0]
    data = total.args[0]
    for inside in (total, Expr("acc"), Expr("field", (), ("nothing",)), named("nothing")):
        changed = Expr("sum", (Expr("data", (data.args[0], inside), data.data),))
        body = (replace(program.body[0], args=(changed,)),)
        assert check(replace(program, body=body)).verdict == "REJECTED", inside.op


def test_the_score_of_a_record_can_not_fail() -> None:
    body = """
    score = (0, 1)
    per_record_exponential(db, score=lambda r, c: r.x / (r.y - c), candidates=score, epsilon=1)
    """
    with pytest.raises(Exception, match="divides by a value that depends on private data"):
        core(body, returns="Vector")
    fine = """
    per_record_exponential(db, score=lambda r, c: -abs(r.x - c), candidates=(0, 1, 2), epsilon=1)
    """
    program = core(fine, returns="Vector")
    data, score, candidates = program.body[0].args
    hidden = Expr("div", (number(1), Expr("sub", (Expr("field", (), ("y",)), number(1)))))
    clipped = Expr("clip", (hidden, number(0), number(1)))
    changed = Expr("row-score", (clipped,), score.data)
    body = (replace(program.body[0], args=(data, changed, candidates)),)
    assert check(replace(program, body=body)).code == "division"


def test_a_clip_is_ordered_in_rows() -> None:
    body = """
    noisy = laplace(sum(r.y for r in db), epsilon=1)
    laplace(sum(clip(r.x, 3, clip(noisy, 1, 5)) for r in db), epsilon=1)
    """
    assert says(body).code == "bounds"


# -- released values in rows: the sensitivity holds for each of them ---------------------------


def test_a_released_clip_counts_at_its_widest() -> None:
    body = """
    noisy = laplace(sum(r.y for r in db), epsilon=1)
    laplace(sum(clip(r.x, 0, clip(noisy, 1, 5)) for r in db), epsilon=1)
    """
    assert moved(body, 1) == 5
    program = core(body)
    assert not falsify(program, check(program), n_max=2, most_pairs=100).excess


def test_a_released_end_without_bounds_is_refused() -> None:
    body = """
    noisy = laplace(sum(r.y for r in db), epsilon=1)
    laplace(sum(clip(r.x, 0, noisy) for r in db), epsilon=1)
    """
    assert says(body).verdict == "REJECTED"


def test_a_released_filter_makes_no_size_public() -> None:
    body = """
    noisy = laplace(sum(r.y for r in db), epsilon=1)
    laplace(sum(clip(r.x, 2, 8) for r in db if r.y > noisy), epsilon=1)
    """
    assert moved(body, 1) == 8
    public = """
    noisy = laplace(sum(r.y for r in db), epsilon=1)
    laplace(sum(clip(r.x, 2, 8) for r in db if r.z > noisy), epsilon=1)
    """
    assert moved(public, 1) == 6


# -- assertions, declarations ------------------------------------------------------------------


def test_an_asserted_sensitivity_is_not_below_the_derived_one() -> None:
    below = "laplace(sum(r.x for r in db), epsilon=1, sensitivity=9.9999999999)"
    assert says(below).code == "sensitivity"
    assert says("laplace(sum(r.x for r in db), epsilon=1, sensitivity=10)").verdict == "ACCEPTED"


def test_an_assertion_in_the_size_holds_for_every_admitted_one() -> None:
    body = "laplace(sum(r.x for r in db) / db.size, epsilon=1, sensitivity={})"
    assert says(body.format("10 / db.size")).verdict == "ACCEPTED"
    assert says(body.format("9 / db.size")).code == "sensitivity"
    assert says("require(db.size >= 20)\n" + body.format("1 / 2")).verdict == "ACCEPTED"
    assert says("require(db.size >= 19)\n" + body.format("1 / 2")).code == "sensitivity"


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        ("delta=1e-6", "ACCEPTED"),
        ("delta=1e-7", "REJECTED"),
        ("epsilon=1", "REJECTED"),
        ("epsilon=1, delta=1e-6", "ACCEPTED"),
        ("epsilon=0.999999, delta=1e-6", "REJECTED"),
        ("", "ACCEPTED"),
    ],
)
def test_declared_costs(options: str, verdict: str) -> None:
    body = "gaussian(sum(r.x for r in db), epsilon=1, delta=1e-6)"
    assert says(body, options=options).verdict == verdict


def test_costs_of_a_sequence_and_of_a_branch() -> None:
    body = """
    gate = laplace(sum(r.y for r in db), epsilon=1)
    if gate > 3:
        shown = laplace(sum(r.x for r in db), epsilon=2)
    else:
        shown = gaussian(sum(r.x for r in db), epsilon=1, delta=1e-6)
    shown
    """
    found = says(body)
    assert (found.dp_epsilon, found.dp_delta) == (3, Fraction(1, 10**6))


def test_vacuous_and_false_preconditions() -> None:
    assert says("require(db.size >= 5 and db.size < 5)\nlaplace(count(db), epsilon=1)").code == (
        "precondition"
    )
    assert (
        says(
            "require(db.size > 5)\nrequire(db.size < 6)\nlaplace(sum(r.x for r in db), epsilon=1)"
        ).code
        == "precondition"
    )
    assert (
        says("require(db.size > 5)\nlaplace(sum(r.x for r in db), epsilon=1)").verdict == "ACCEPTED"
    )


def test_preconditions_do_not_read_private_data() -> None:
    program = core("laplace(sum(r.x for r in db), epsilon=1)")
    data = program.body[0].args[0].args[0]
    asked = Expr("ge", (Expr("sum", (data,)), number(3)))
    assert check(replace(program, requires=(asked,))).code == "private-output"


def test_parts_of_the_derivation_are_where_commands_are() -> None:
    program = loop("p", "sum(r.x for r in piece)")
    parts = [one for one in program.body if isinstance(one, Parts)]
    found = check(program).derivation["sequence"][program.body.index(parts[0])]["parts"]
    assert (found["public"], found["confined"], len(found["of"])) == (True, True, 2)


def test_a_piece_is_there_once_and_public_only_if_its_column_is() -> None:
    program = loop("c", "count(piece)")
    (parts,) = (one for one in program.body if isinstance(one, Parts))
    twice = replace(parts, parts=(parts.parts[0], parts.parts[0]))
    for changed in (twice, replace(parts, public=True), replace(parts, column="x")):
        assert check(replace(program, body=(changed,), returns=())).verdict == "REJECTED"
