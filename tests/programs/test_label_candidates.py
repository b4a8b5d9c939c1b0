"""Texts as candidates: the law of the choice, what comes back, and what is refused."""

from __future__ import annotations

from math import exp

import pytest

from bayesdp.programs.falsify import falsify
from bayesdp.programs.source import ProgramError
from tests.programs.run.helpers import Noted, accepted, done, exponential_channel

PROGRAM = """
@record
class R:
    c: Category["u", "v", "w"]
    b: Bool

@program
def f(db: Database[R]) -> Private[Category]:
    return exponential(score=lambda g: {score}, candidates={candidates}, epsilon=1)
"""
COUNT = "count(r for r in db if r.c == g)"
TABLE = [{"c": c, "b": b} for c, b in zip("uuuvvw", (True, False) * 3, strict=True)]


@pytest.mark.parametrize("candidates", ['("u", "v", "w")', '["w", "u"]'])
def test_the_law_is_that_of_the_counts(candidates: str) -> None:
    core, verdict = accepted(PROGRAM.format(score=COUNT, candidates=candidates))
    assert verdict.dp_epsilon == 1
    listed = [text for text in candidates if text in "uvw"]
    places, chances = exponential_channel(core, verdict, TABLE)
    assert list(places) == list(range(len(listed)))
    weights = [exp(sum(row["c"] == label for row in TABLE) / 2) for label in listed]
    assert chances == pytest.approx([weight / sum(weights) for weight in weights], rel=1e-6)
    for pick, label in enumerate(listed):
        assert done(core, verdict, TABLE, Noted(pick=pick)).value == label
    findings = falsify(core, verdict, n_max=2, most_pairs=200)
    assert not findings.excess
    assert not findings.skipped


def test_other_comparisons() -> None:
    scores = {
        "-count(r for r in db if r.c != g)": (-3, -4, -5),
        "count(r for r in db if (r.b and g == r.c) or g == 'w')": (2, 1, 6),
        "sum(r.b for r in db) if g == 'u' else 0": (3, 0, 0),
        "5 if g == 'v' else count(r for r in db if r.c == g)": (3, 5, 1),
    }
    for score, due in scores.items():
        core, verdict = accepted(PROGRAM.format(score=score, candidates='("u", "v", "w")'))
        assert verdict.dp_epsilon == 1
        _, chances = exponential_channel(core, verdict, TABLE)
        weights = [exp(value / 2) for value in due]
        assert chances == pytest.approx([weight / sum(weights) for weight in weights], rel=1e-6)


def test_a_second_choice_leaves_the_first_out() -> None:
    core, verdict = accepted(
        """
@record
class R:
    c: Category["u", "v", "w"]

@program
def f(db: Database[R]) -> Private[tuple[Category, Category, Int]]:
    first = exponential(
        score=lambda g: count(r for r in db if r.c == g), candidates=("u", "v", "w"), epsilon=60
    )
    second = exponential(
        score=lambda g: count(r for r in db if r.c == g and g != first),
        candidates=("w", "v", "u"),
        epsilon=60,
    )
    return first, second, laplace(count(r for r in db if r.c == second), epsilon=60)
"""
    )
    assert verdict.dp_epsilon == 180
    from tests.programs.run.helpers import load, run_on

    rows = load(core, [{"c": c} for c in "uuuvvw" * 5])
    assert run_on(core, verdict, rows).outputs[:2] == ("u", "v")


@pytest.mark.parametrize(
    ("score", "candidates", "message"),
    [
        ("count(r for r in db if r.c < g)", '("u", "v")', "by == or !="),
        ("g", '("u", "v")', "not a number"),
        ("count(r for r in db if g > 0)", '("u", "v")', "by == or !="),
        (COUNT + " + g", '("u", "v")', "not a number"),
        ("count(r for r in db if r.b == g)", '("u", "v")', "compared with a label"),
        (COUNT, '("x", "y")', "No candidate is one of the labels"),
        (COUNT, '("u", "u")', "each of them once"),
        (COUNT, '("u", 1)', "here stands a tuple"),
        ("sum(onehot(r.c) for r in db) if g == 'u' else 0", '("u", "v")', "not single numbers"),
        ("count(r for r in db if onehot(g)[0] == 1)", '("u", "v")', "onehot"),
        (COUNT, "tuple(r.c for r in db)", "Private rows are not collected"),
        (COUNT + " ** 2", '("u", "v")', "product of two private values"),
        (COUNT, "()", "fixed without the data"),
    ],
)
def test_near_misses_are_refused(score: str, candidates: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        accepted(PROGRAM.format(score=score, candidates=candidates))


@pytest.mark.parametrize("use", ["g", "laplace(sum(db), epsilon=1)"])
def test_a_candidate_ends_with_its_score(use: str) -> None:
    text = PROGRAM.format(score=COUNT, candidates='("u", "v")') + f"    return {use}\n"
    with pytest.raises(ProgramError):
        accepted(text.replace("    return exp", "    x = exp"))
