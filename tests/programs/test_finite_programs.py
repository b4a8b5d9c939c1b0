"""Programs of finite models: costs, how far a record moves what they release, what is refused."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from bayesdp.programs.checked_files import refused, verdict_in
from bayesdp.programs.falsify import falsify
from bayesdp.programs.source import ProgramError, read_text
from tests.programs.run.helpers import IMPORTS, Noted, accepted, done, rng, seen

RECORD = """
@record
class P:
    k: Int[2, 4]
    b: Bool
    g: Category["a", "b", "c"]
    h: Category["u", "v"]
    x: Real[0, 10]
    z: Public[Bool]
"""
COIN = "chances(lambda h: h)"
GRID = "hypotheses((0.2, 0.5, 0.9))"
TWO = 'hypotheses({"u": 3, "v": 1})'
SHARES = 'chances({"u": (0.2, 0.3, 0.5), "v": (0.5, 0.5, 0)})'
BOTH = "chances(lambda h, first, second: (h if first else 1 - h) * (h if second else 1 - h))"
CASES: dict[str, tuple[str, str, str]] = {
    # rows, likelihood, prior
    "truth": ("p.b", COIN, GRID),
    "truth_by_both": ("p.b", "chances(lambda h, x: h if x else 1 - h)", GRID),
    "labels": ("p.g", SHARES, TWO),
    "numbers": ("p.k", "chances(lambda h, k: h if k == 2 else (1 - h) / 2)", GRID),
    "classes": ("floor(p.x / 4)", SHARES, TWO),
    "pairs": ("(p.b, p.x > 5)", BOTH, GRID),
    "numbers_and_truths": (
        "(p.k, p.b)",
        "chances(lambda h, k, x: (h if x else 1 - h) / 3)",
        GRID,
    ),
    "labels_and_truths": (
        "(p.g, p.b)",
        "chances(lambda h, g, x: (h if x else 1 - h) * (0.5 if g == 'a' else 0.25))",
        GRID,
    ),
    "two_axes": ("p.b", "chances(lambda a, c: a * c)", "hypotheses((0.2, 0.5), linspace(0, 1, 3))"),
    "functions": ("p.b", "chances(lambda h: 1 - exp(-h))", "hypotheses(range(1, 4))"),
}
NOISE = {"laplace": "epsilon=1", "gaussian": "epsilon=1, delta=1e-6"}


def text(case: str, kind: str = "laplace", op: str = "noise_aware", more: str = "") -> str:
    rows, likelihood, prior = CASES[case]
    return f"""{RECORD}
@program
def f(people: Database[P]) -> Private[Vector]:
    m = observe(({rows} for p in people{more}), {likelihood}, prior={prior})
    return {op}({kind}(statistics(m), {NOISE[kind]}))
"""


def bare(case: str) -> str:
    """The program that returns the noisy statistics as they are."""
    returned = text(case).replace("noise_aware(laplace", "(laplace")
    one_number = CASES[case][0] == "p.b"
    return returned.replace("Private[Vector]", "Private[Int]") if one_number else returned


VALUES: dict[str, tuple[Any, ...]] = {
    "k": (2, 3, 4),
    "b": (False, True),
    "g": ("a", "b", "c"),
    "h": ("u", "v"),
    "x": (0.0, 3.99, 4.0, 5.5, 10.0),
}


def table(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in ("k", "b", "g", "h", "x", "z")}


@pytest.mark.parametrize("case", CASES)
def test_nothing_moves_further_than_the_sampler_is_told(case: str) -> None:
    """One record against every other one; the sampler's scale is at least the move over epsilon."""
    program, verdict = accepted(bare(case))
    assert (verdict.dp_epsilon, verdict.dp_delta) == (1, 0)
    used = [name for name in VALUES if f"p.{name}" in CASES[case][0]]
    other = {"k": 2, "b": True, "g": "a", "h": "u", "x": 1.0, "z": True}
    given = []
    for values in product(*(VALUES[name] for name in used)):
        row = {**other, **dict(zip(used, values, strict=True))}
        [(kind, numbers, scale)] = seen(program, verdict, table([row, other]))
        assert kind == "laplace"
        assert sum(numbers) == 2 or len(numbers) == 1
        given.append((np.asarray(numbers, dtype=float), scale))
    furthest = max(float(np.abs(a - b).sum()) for (a, _), (b, _) in product(given, given))
    assert furthest == (1 if CASES[case][0] == "p.b" else 2)
    assert furthest <= min(scale for _, scale in given) * (1 + 1e-12)


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_found_against_a_claim(case: str) -> None:
    for kind in NOISE:
        program, verdict = accepted(text(case, kind))
        report = falsify(program, verdict, n_max=2, most_pairs=120)
        assert not report.excess, report
        assert report.pairs > 0


@pytest.mark.parametrize("case", CASES)
def test_no_run_stops_after_it_has_paid(case: str) -> None:
    """With any noise, however far off, there is a posterior."""
    program, verdict = accepted(text(case))
    r, n = rng(3), 12
    rows = {name: [VALUES[name][i] for i in r.integers(0, len(VALUES[name]), n)] for name in VALUES}
    for shift in (0, 2**36, -(2**36)):
        value = done(program, verdict, {**rows, "z": [True, False] * 6}, Noted(shift=shift)).value
        assert min(value) >= 0
        assert sum(value) == pytest.approx(1)


def test_a_posterior_is_a_dictionary_and_a_law() -> None:
    """Four records, two of them true, with noise that adds nothing: near the truth's own."""
    rows = table([{"k": 2, "b": b, "g": "a", "h": "u", "x": 1.0, "z": True} for b in (0, 1, 1, 0)])
    returned = """
@program
def f(people: Database[P]) -> Private[tuple[Real, ...]]:
    m = observe(people.b, chances(lambda h: h), prior=hypotheses((0.2, 0.5, 0.9)))
    post = noise_aware(laplace(statistics(m), epsilon=1000))
    again = observe(people.b, chances(lambda h: h), prior=post)
    twice = noise_aware(laplace(statistics(again), epsilon=1000))
    return (
        post[0.5], post.mean, post.sd, post.quantile(0.5), post.probability(0.2, 0.9),
        sum(h * chance for h, chance in post.items()), twice[0.5],
    )
"""
    program, verdict = accepted(RECORD + returned)
    assert verdict.dp_epsilon == 2000
    half, mean, sd, median, above, again, twice = done(program, verdict, rows).value
    weights = np.asarray([(p * (1 - p)) ** 2 for p in (0.2, 0.5, 0.9)])
    weights /= weights.sum()
    points = np.asarray([0.2, 0.5, 0.9])
    assert half == pytest.approx(weights[1])
    assert mean == pytest.approx(again) == pytest.approx(weights @ points)
    assert sd == pytest.approx((weights @ (points - mean) ** 2) ** 0.5)
    assert (median, above) == (0.5, pytest.approx(weights[1] + weights[2]))
    assert twice == pytest.approx(weights[1] ** 2 / (weights @ weights))


def test_pairs_of_axes_are_entries() -> None:
    returned = """
@program
def f(people: Database[P]) -> Private[tuple[Real, ...]]:
    m = observe(people.b, chances(lambda a, c: a * c), prior=hypotheses({0.2: 1, 0.5: 2}, (0.5, 1)))
    post = noise_aware(laplace(statistics(m), epsilon=1000))
    return (post[0.5, 1], *(0, 0)) if False else (post[0.2, 1], post[0.5, 0.5], post[0.5, 1])
"""
    text_ = returned.replace("(post[0.5, 1], *(0, 0)) if False else ", "")
    rows = table([{"k": 2, "b": b, "g": "a", "h": "u", "x": 1.0, "z": True} for b in (0, 1)])
    program, verdict = accepted(RECORD + text_)
    weights = {(a, c): w * a * c * (1 - a * c) for a, w in ((0.2, 1), (0.5, 2)) for c in (0.5, 1)}
    due = [weights[key] / sum(weights.values()) for key in ((0.2, 1), (0.5, 0.5), (0.5, 1))]
    assert done(program, verdict, rows).value == pytest.approx(due)


def test_released_counts_and_answers_are_observed() -> None:
    rows = table([{"k": 2, "b": True, "g": g, "h": "u", "x": 1.0, "z": True} for g in "aabc"])
    for release, due in (
        ("laplace(sum(onehot(p.g) for p in people), epsilon=1000)", None),
        ("randomized_response((p.g for p in people), epsilon=1000)", None),
        ("randomized_response((p.b for p in people), epsilon=1000)", 0.9),
    ):
        likelihood = SHARES if due is None else 'chances({"u": 0.2, "v": 0.8})'
        program, verdict = accepted(f"""{RECORD}
@program
def f(people: Database[P]) -> Private[Vector]:
    r = {release}
    return noise_aware(observe(r, {likelihood}, prior={TWO}))
""")
        assert verdict.dp_epsilon == 1000
        first, second = done(program, verdict, rows).value
        if due is None:
            assert (first, second) == (pytest.approx(1), pytest.approx(0))  # c is impossible for v
        else:
            assert first / second == pytest.approx(3 * 0.2**4 / 0.8**4)


REFUSED: dict[str, tuple[str, str]] = {
    # what is wrong: the program's model line (and what follows), a part of the message
    "private weights": (
        'observe(people.b, chances(lambda h: 0.5), prior=hypotheses({"u": r, "v": 1}))',
        "The weights of hypotheses are literals above 0",
    ),
    "hypotheses that are private": (
        "observe(people.b, chances(lambda h: h), prior=hypotheses((sum(people.x), 1)))",
        "Hypotheses are known before the data is read",
    ),
    "a column of hypotheses": (
        "observe(people.b, chances(lambda h: h), prior=hypotheses(people.x))",
        "Hypotheses are known before the data is read",
    ),
    "a released hypothesis": (
        "observe(people.b, chances(lambda h: h), prior=hypotheses((r, 1)))",
        "Hypotheses are known before the data is read",
    ),
    "private chances": (
        "observe(people.b, chances(lambda h: count(p for p in people if p.b)), prior=" + GRID + ")",
        "A chance depends on private data",
    ),
    "chances of a released value": (
        "observe(people.b, chances(lambda h: clip(r, 0, 1)), prior=" + GRID + ")",
        "A chance is a number that is known before the data is read",
    ),
    "a release inside": (
        "observe(people.b, chances(lambda h: (laplace(count(people), epsilon=1), h)[1]), prior="
        + GRID
        + ")",
        "Chances release nothing",
    ),
    "a row's value inside": (
        "observe(people.b, chances(lambda h: people.x), prior=" + GRID + ")",
        "a number is wanted",
    ),
    "above 1": (
        "observe(people.b, chances(lambda h: 2 * h), prior=" + GRID + ")",
        "Chances lie from 0 to 1",
    ),
    "not 1 together": (
        "observe(people.g, chances(lambda h, g: h), prior=" + GRID + ")",
        "add up to 0.6",
    ),
    "a private number of records": (
        "observe((p.g for p in people if p.b), " + SHARES + ", prior=" + TWO + ")",
        "How many records chances observes must be public",
    ),
    "numbers without end": (
        "observe(people.x, " + SHARES + ", prior=" + TWO + ")",
        "chances observes truth values, labels, whole numbers",
    ),
    "too few chances": (
        'observe(people.g, chances({"u": (0.5, 0.5), "v": (0.5, 0.5)}), prior=' + TWO + ")",
        "not one chance for each of 3 values",
    ),
    "a hypothesis without chances": (
        'observe(people.b, chances({"u": 0.5}), prior=' + TWO + ")",
        "The table has no chances for 'v'",
    ),
    "too many arguments": (
        "observe(people.b, chances(lambda a, c, e, g: 1), prior=" + GRID + ")",
        "This is a function of 4",
    ),
    "another prior": (
        "observe(people.b, " + COIN + ", prior=beta(1, 1))",
        "Its prior is hypotheses",
    ),
    "a prior of another likelihood": (
        "observe(people.b, bernoulli, prior=" + GRID + ")",
        "Its prior is beta",
    ),
    "labels beside numbers": (
        "observe(((p.g, p.k) for p in people), chances(lambda h, g, k: 1 / 9), prior=" + GRID + ")",
        "Labels and whole numbers are not counted together",
    ),
    "an exact posterior of private data": (
        "infer(observe(people.b, " + COIN + ", prior=" + GRID + "))",
        "A posterior over hypotheses is released through its statistics",
    ),
    "declared dependence": (
        "observe(people.b, " + COIN + ", prior=" + GRID + ', dependence="declared")',
        "How chances records depend on each other",
    ),
    "twice the same": (
        "observe(people.b, " + COIN + ", prior=hypotheses((0.5, 0.2, 0.5)))",
        "A hypothesis stands here twice",
    ),
    "only one": (
        "observe(people.b, " + COIN + ", prior=hypotheses((0.5,)))",
        "a model has 2 to 1000",
    ),
    "too many": (
        "observe(people.b, " + COIN + ", prior=hypotheses(linspace(0, 1, 40), range(40)))",
        "a model has 2 to 1000",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_nearly_right_is_refused(case: str) -> None:
    model, due = REFUSED[case]
    refused_with(
        "    r = laplace(count(p for p in people if p.b), epsilon=1)\n"
        f"    m = {model}\n    noisy = laplace(statistics(m), epsilon=1)\n    return r\n",
        "Int",
        due,
    )


AFTER: dict[str, tuple[str, str, str]] = {
    # what is wrong: the line after the noisy statistics, what is announced, a part of the message
    "noise that rules out": ("plug_in(noisy)", "Vector", "noise would seem to rule it out"),
    "draws": ("nuts(noisy, draws=100)", "Samples", "The posterior of a finite model is exact"),
    "its samples": ("noise_aware(noisy).samples(10)", "Samples", "Hypotheses are not drawn"),
    "the mean of names": ("noise_aware(noisy).mean", "Real", "These hypotheses have no mean"),
    "none of them": ('noise_aware(noisy)["w"]', "Real", "This is none of the hypotheses"),
    "a Dirichlet": ("noise_aware(noisy)", "Dirichlet", "returned as Dirichlet"),
    "changed statistics": ("noise_aware(noisy + 1)", "Vector", "not the noisy statistics"),
    "the prior itself": (TWO, "Vector", "A prior of public numbers is not a result"),
}


@pytest.mark.parametrize("case", AFTER)
def test_what_has_no_meaning_afterwards_is_refused(case: str) -> None:
    line, kind, due = AFTER[case]
    refused_with(
        f"    m = observe(people.g, {SHARES}, prior={TWO})\n"
        f"    noisy = laplace(statistics(m), epsilon=1)\n    return {line}\n",
        kind,
        due,
    )


def test_a_posterior_that_a_condition_chose_has_lost_its_hypotheses() -> None:
    refused_with(
        "    r = laplace(count(p for p in people if p.b), epsilon=1)\n"
        f"    m = observe(people.g, {SHARES}, prior={TWO})\n"
        "    if r > 3:\n"
        "        post = noise_aware(laplace(statistics(m), epsilon=1))\n"
        "    else:\n"
        "        post = noise_aware(laplace(statistics(m), epsilon=2))\n"
        '    return post["u"]\n',
        "Real",
        "depends on a condition",
    )


def refused_with(body: str, kind: str, due: str) -> None:
    whole = f"{IMPORTS}{RECORD}\n@program\ndef f(people: Database[P]) -> Private[{kind}]:\n{body}"
    try:
        verdict = verdict_in(read_text(whole, "test"))
    except ProgramError as error:
        verdict = refused(error, None)
    assert verdict.verdict == "REJECTED", verdict
    assert due in f"{verdict.reason} {verdict.accepted}"


PARTS = {
    # what may stand in a row, and how many values it has
    "p.b": 2,
    "p.k": 3,
    "p.x > 4": 2,
    "min(p.k, 3)": 2,
    "floor(p.x / 3)": 4,
    "p.k - 2": 3,
}
LABELS_OF = {"p.g": 3, "p.h": 2, "p.b": 2, "p.x > 4": 2}


@pytest.mark.parametrize("seed", range(12))
def test_random_models_move_no_further_than_the_sampler_is_told(seed: int) -> None:
    """Rows of random parts, with random chances: every pair of values of one record."""
    r = rng(seed)
    pool = LABELS_OF if seed % 2 else PARTS
    names = list(r.choice(list(pool), size=int(r.integers(1, 4)), replace=False))
    many = int(np.prod([pool[name] for name in names]))
    chances = [r.integers(0, 9, many) + 1 for _ in range(2)]
    tuples = [", ".join(f"{int(c)} / {int(row.sum())}" for c in row) for row in chances]
    rows = f"({', '.join(names)})" if len(names) > 1 else names[0]
    single = len(names) == 1 and names[0] in ("p.b", "p.x > 4")
    program, verdict = accepted(f"""{RECORD}
@program
def f(people: Database[P]) -> Private[{"Int" if single else "Vector"}]:
    table = {{"u": ({tuples[0]}), "v": ({tuples[1]})}}
    m = observe(({rows} for p in people), chances(table), prior={TWO})
    return laplace(statistics(m), epsilon=1)
""")
    assert verdict.dp_epsilon == 1
    used = [name for name in VALUES if f"p.{name}" in rows]
    other = {"k": 2, "b": True, "g": "a", "h": "u", "x": 1.0, "z": True}
    given = []
    for values in product(*(VALUES[name] for name in used)):
        row = {**other, **dict(zip(used, values, strict=True))}
        [(_, numbers, scale)] = seen(program, verdict, table([row, other]))
        assert len(numbers) == (1 if single else many)
        assert sum(numbers) == 2 or single
        given.append((np.asarray(numbers, dtype=float), scale))
    furthest = max(float(np.abs(a - b).sum()) for (a, _), (b, _) in product(given, given))
    assert furthest <= min(scale for _, scale in given) * (1 + 1e-12)
