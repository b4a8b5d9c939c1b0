"""Joint releases, kinds, names, released values and declarations that would be unsound."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from bayesdp.programs.check.checker import ProgramVerdict, check
from bayesdp.programs.falsify import falsify
from bayesdp.programs.ir import Branch, Derive, Expr, Program
from tests.programs.probes import core


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
    verdict = check(replace(program, record=tuple(kinds.items())))
    assert (verdict.verdict, verdict.code) == ("REJECTED", "type")


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
    sentence = says("laplace(3 * sum(clip(r.x, 0, 5) for r in db) / db.size, epsilon=1)")
    assert (sentence.kind, sentence.column, sentence.interval) == ("lipschitz", "x", (0, 5))
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
    assert check(core(body, returns="Vector")).code == "division"
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
    sentence = says(body)
    assert (sentence.dp_epsilon, sentence.dp_delta) == (3, Fraction(1, 10**6))


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
