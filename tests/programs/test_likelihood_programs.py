"""Programs of more likelihoods: what they cost, how far a record moves what they release, and what
is refused.

Their statistics are written out in operations that have rules. So each is held against exhaustion:
the integers that the sampler is given on neighbouring tables, and the scale that it is given.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from bayesdp.programs.checked_files import refused, verdict_in
from bayesdp.programs.falsify import falsify
from bayesdp.programs.run.numerics import ensemble
from bayesdp.programs.source import ProgramError, core_of, read_text
from tests.programs.run.helpers import IMPORTS, Noted, accepted, done, rng, seen

RECORD = """
@record
class P:
    x: Real[-3, 5]
    k: Int[0, 4]
    b: Bool
    g: Category["a", "b", "c"]
    t: Real[0, 12]
    s: Public[Category["n", "m"]]
    z: Public[Bool]
"""
ROWS: dict[str, tuple[str, str, str, str]] = {
    # rows, likelihood, prior, what is returned
    "logistic": ("(1, p.x, p.b)", "logistic", "normal(0, sd=2)", "Normal"),
    "logistic_two": ("(p.k, 1, p.x, p.b)", "logistic()", "normal(0, sd=2)", "Normal"),
    "logistic_public": ("(1, p.z, p.b)", "logistic", "normal(0, sd=2)", "Normal"),
    "logistic_alone": ("(p.x, p.b)", "logistic", "normal(0, sd=2)", "Normal"),
    "poisson_regression": ("(1, p.x, p.k)", "poisson_regression", "normal(0, sd=1)", "Normal"),
    "geometric": ("p.k", "geometric", "beta(1, 1)", "Beta"),
    "negative_binomial": ("p.k", "negative_binomial(r=3)", "beta(1, 1)", "Beta"),
    "times": ("p.t", "exponential_time", "gamma(2, rate=1)", "Gamma"),
    "censored": ("(p.t, p.b)", "exponential_time", "gamma(2, rate=1)", "Gamma"),
    "unknown_spread": ("p.x", "normal", "normal_inverse_gamma(0, 1, 2, 2)", "Normal"),
    "exposures": ("p.g", "categorical(exposure=(4, 2, 1))", "dirichlet(1, 1, 1)", "Dirichlet"),
}
POOL = 'partial_pooling(normal(0, sd=1), spread=1, by="s")'
ROWS |= {
    "pooled_shares": ("p.b", "bernoulli", POOL, "Samples"),
    "pooled_rates": ("p.k", "poisson(exposure=2 * people.size)", POOL, "Samples"),
    "pooled_means": ("p.x", "normal(sd=2)", POOL.replace('"s"', '"z"'), "Samples"),
}
ROWS |= {
    "mixture": ("p.x", "mixture(normal(sd=1), normal(sd=2), bins=6)", "normal(0, sd=2)", "Normal"),
    "mixture_of_counts": (
        "p.k",
        "mixture(normal(sd=1), normal(sd=1))",
        "normal(2, sd=1)",
        "Normal",
    ),
}
NOISE = {"laplace": "epsilon=1", "gaussian": "epsilon=1, delta=1e-6"}


def text(case: str, kind: str = "laplace", op: str = "noise_aware", more: str = "") -> str:
    rows, likelihood, prior, returns = ROWS[case]
    return f"""{RECORD}
@program
def f(people: Database[P]) -> Private[{returns}]:
    m = observe(({rows} for p in people{more}), {likelihood}, prior={prior})
    return {op}({kind}(statistics(m), {NOISE[kind]}))
"""


def bare(case: str, returns: str) -> str:
    """The program that returns the noisy statistics as they are."""
    lines = text(case).replace("noise_aware(laplace", "(laplace").split("\n")
    return "\n".join(
        f"def f(people: Database[P]) -> Private[{returns}]:" if line.startswith("def f") else line
        for line in lines
    )


VALUES: dict[str, tuple[Any, ...]] = {
    "x": (-3.0, 1.0, 5.0, 0.3),
    "k": (0, 4, 1),
    "b": (False, True),
    "g": ("a", "b", "c"),
    "t": (0.0, 12.0, 5.5),
}


def table(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in ("x", "k", "b", "g", "t", "s", "z")}


@pytest.mark.parametrize("case", ROWS)
def test_nothing_moves_further_than_the_sampler_is_told(case: str) -> None:
    """One record against every other one; the sampler's scale is at least the move over epsilon."""
    one_number = case in ("geometric", "negative_binomial", "times")
    program, verdict = accepted(bare(case, "Real" if one_number else "Vector"))
    assert (verdict.dp_epsilon, verdict.dp_delta) == (1, 0)
    used = [name for name in VALUES if f"p.{name}" in ROWS[case][0]]
    other = {"x": 1.0, "k": 1, "b": True, "g": "a", "t": 1.0, "s": "n", "z": True}
    given = []
    for values in product(*(VALUES[name] for name in used)):
        row = {**other, **dict(zip(used, values, strict=True))}
        [(kind, numbers, scale)] = seen(program, verdict, table([row, other]))
        assert kind == "laplace"
        given.append((np.asarray(numbers, dtype=float), scale))
    furthest = max(float(np.abs(a - b).sum()) for (a, _), (b, _) in product(given, given))
    assert furthest > 0
    assert furthest <= min(scale for _, scale in given) * (1 + 1e-12)


@pytest.mark.parametrize("case", ROWS)
def test_nothing_is_found_against_a_claim(case: str) -> None:
    for kind in NOISE:
        program, verdict = accepted(text(case, kind))
        report = falsify(program, verdict, n_max=2, most_pairs=120)
        assert not report.excess, report
        assert report.pairs > 0


@pytest.mark.parametrize("case", ROWS)
@pytest.mark.parametrize("op", ["plug_in", "noise_aware"])
def test_no_run_stops_after_it_has_paid(
    case: str, op: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With any noise, however far off, there is a posterior, and its summary is finite."""
    monkeypatch.setattr(ensemble, "KEPT", 4)
    program, verdict = accepted(text(case, "laplace", op))
    r = rng(3)
    n = 12
    rows = {
        "x": list(r.uniform(-3, 5, n)), "k": list(map(int, r.integers(0, 5, n))),
        "b": list(map(bool, r.integers(0, 2, n))), "g": list(r.choice(["a", "b", "c"], n)),
        "t": list(r.uniform(0, 12, n)), "s": ["n"] * n, "z": [True, False] * (n // 2),
    }  # fmt: skip
    for shift in (0, 2**36, -(2**36)):
        value = done(program, verdict, rows, Noted(shift=shift)).value
        assert np.all(np.isfinite(value.mean))
        assert np.all(np.asarray(value.sd) >= 0)


REFUSED: dict[str, tuple[str, str]] = {
    # what is wrong: the program's model line and release, a part of the message
    "private size": (
        "observe(((1, p.x, p.b) for p in people if p.b), logistic, prior=normal(0, sd=1))",
        "How many records logistic observes must be public",
    ),
    "private size of times": (
        "observe((p.t for p in people if p.k > 1), exponential_time, prior=gamma(1, rate=1))",
        "How many records exponential_time observes must be public",
    ),
    "private size of a spread": (
        "observe((p.x for p in people if p.b), normal, prior=normal_inverse_gamma(0, 1, 1, 1))",
        "normal without sd= observes must be public",
    ),
    "private size of exposures": (
        "observe((p.g for p in people if p.b), categorical(exposure=(1, 2, 3)), "
        "prior=dirichlet(1, 1, 1))",
        "categorical(exposure=) observes must be public",
    ),
    "private exposure": (
        "observe((p.g for p in people), categorical(exposure=(1, 2, sum(p.t for p in people))), "
        "prior=dirichlet(1, 1, 1))",
        "An exposure depends on private data",
    ),
    "private r": (
        "observe((p.k for p in people), negative_binomial(r=sum(p.k for p in people)), "
        "prior=beta(1, 1))",
        "r depends on private data",
    ),
    "private prior": (
        "observe((p.x for p in people), normal, "
        "prior=normal_inverse_gamma(sum(p.x for p in people), 1, 1, 1))",
        "The prior depends on private data",
    ),
    "response of numbers": (
        "observe(((1, p.b, p.x) for p in people), logistic, prior=normal(0, sd=1))",
        "The last entry of a logistic model's rows is a truth value",
    ),
    "counts below 0": (
        "observe(((1, p.x, p.k - 2) for p in people), poisson_regression, prior=normal(0, sd=1))",
        "a whole number from 0",
    ),
    "failures below 0": (
        "observe((p.k - 2 for p in people), geometric, prior=beta(1, 1))",
        "0 or more",
    ),
    "times below 0": (
        "observe((p.x for p in people), exponential_time, prior=gamma(1, rate=1))",
        "Times are 0 or more",
    ),
    "unbounded rows": (
        "observe(((1, p.x / (r + 1), p.b) for p in people), logistic, prior=normal(0, sd=1))",
        "between two numbers that are known beforehand",
    ),
    "too many exposures": (
        "observe((p.g for p in people), categorical(exposure=(1, 2)), prior=dirichlet(1, 1, 1))",
        "There are 3 categories and 2 exposures",
    ),
    "another prior": (
        "observe((p.k for p in people), geometric, prior=gamma(1, rate=1))",
        "negative_binomial(r=) with a gamma prior has no exact posterior",
    ),
    "no spread at all": (
        "observe((p.x for p in people), normal, prior=normal(0, sd=1))",
        "normal needs sd",
    ),
    "groups of a private column": (
        "observe((p.b for p in people), bernoulli, prior=partial_pooling(normal(0, sd=1), "
        'spread=1, by="g"))',
        "The groups are those of a public column of labels, and g is not one",
    ),
    "groups of no column": (
        "observe((p.b for p in people), bernoulli, prior=partial_pooling(normal(0, sd=1), "
        'spread=1, by="q"))',
        "by= is the name of a column",
    ),
    "groups of private sizes": (
        "observe((p.x for p in people if p.b), normal(sd=1), prior=partial_pooling(normal(0, "
        'sd=1), spread=1, by="s"))',
        "How many records partial_pooling observes must be public",
    ),
    "a private spread of groups": (
        "observe((p.x for p in people), normal(sd=1), prior=partial_pooling(normal(0, sd=1), "
        'spread=sum(p.t for p in people), by="s"))',
        "The spread depends on private data",
    ),
    "pooled labels": (
        "observe((p.g for p in people), categorical, prior=partial_pooling(normal(0, sd=1), "
        'spread=1, by="s"))',
        "categorical with a partial_pooling prior has no exact posterior",
    ),
    "a centre that is not a normal": (
        "observe((p.b for p in people), bernoulli, prior=partial_pooling(beta(1, 1), spread=1, "
        'by="s"))',
        "has a normal prior that is written out",
    ),
    "groups of numbers": (
        "observe((p.b for p in people), bernoulli, prior=partial_pooling(normal(0, sd=1), "
        'spread=1, by="k"))',
        "The groups are those of a public column of labels, and k is not one",
    ),
    "groups of private pieces": (
        "observe((p.b for p in people if p.k > 2), bernoulli, prior=partial_pooling(normal(0, "
        'sd=1), spread=1, by="s"))',
        "How many records partial_pooling observes must be public",
    ),
    "a private centre of groups": (
        "observe((p.x for p in people), normal(sd=1), prior=partial_pooling(normal(sum(p.x for p "
        'in people), sd=1), spread=1, by="s"))',
        "The prior depends on private data",
    ),
    "no spread of groups": (
        "observe((p.x for p in people), normal(sd=1), prior=partial_pooling(normal(0, sd=1), "
        'spread=0, by="s"))',
        "The spread must be above 0",
    ),
    "groups without bounds": (
        "observe((p.x / (r + 1) for p in people), normal(sd=1), prior=partial_pooling(normal(0, "
        'sd=1), spread=1, by="s"))',
        "may be 0",
    ),
    "pooled groups of two columns": (
        "observe((p.x for p in people), normal(sd=1), prior=partial_pooling(normal(0, sd=1), "
        'spread=1, by=("s", "z")))',
        "by= is the name of a column",
    ),
    "an exact posterior of groups": (
        "infer(observe((p.b for p in people), bernoulli, prior=partial_pooling(normal(0, sd=1), "
        'spread=1, by="s")))',
        "A posterior with partial pooling is released through its statistics",
    ),
    "a pooled private exposure": (
        "observe((p.k for p in people), poisson(exposure=sum(p.t for p in people)), "
        'prior=partial_pooling(normal(0, sd=1), spread=1, by="s"))',
        "The exposure depends on private data",
    ),
    "a mixture of a private number of records": (
        "observe((p.x for p in people if p.b), mixture(normal(sd=1), normal(sd=2)), "
        "prior=normal(0, sd=1))",
        "How many records mixture observes must be public",
    ),
    "a mixture of one": (
        "observe((p.x for p in people), mixture(normal(sd=1)), prior=normal(0, sd=1))",
        "A mixture is of 2 to 4 normal laws",
    ),
    "a mixture of labels": (
        "observe((p.g for p in people), mixture(normal(sd=1), normal(sd=2)), "
        "prior=normal(0, sd=1))",
        "mixture observes numbers",
    ),
    "a mixture with a private spread": (
        "observe((p.x for p in people), mixture(normal(sd=1), normal(sd=sum(p.t for p in people))),"
        " prior=normal(0, sd=1))",
        "The standard deviation depends on private data",
    ),
    "private bins": (
        "observe((p.x for p in people), mixture(normal(sd=1), normal(sd=2), "
        "bins=count(p for p in people if p.b)), prior=normal(0, sd=1))",
        "bins= is a whole number from 4",
    ),
    "two constants": (
        "observe(((1, 2, p.x, p.b) for p in people), logistic, prior=normal(0, sd=1))",
        "at most one number that is the same in all rows",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_nearly_right_is_refused(case: str) -> None:
    model, due = REFUSED[case]
    released = "    r = laplace(count(p for p in people if p.b), epsilon=1)\n"
    whole = (
        f"{IMPORTS}{RECORD}\n@program\ndef f(people: Database[P]) -> Private[Real]:\n{released}"
        f"    m = {model}\n    noisy = laplace(statistics(m), epsilon=1)\n    return r\n"
    )
    try:
        verdict = verdict_in(read_text(whole, "test"))
    except ProgramError as error:
        verdict = refused(error, None)
    assert verdict.verdict == "REJECTED"
    assert due in f"{verdict.reason} {verdict.accepted}"


@pytest.mark.parametrize("asserted", ["epsilon=1, sensitivity=5.9", "epsilon=1, sensitivity=1"])
def test_less_than_what_a_record_moves_is_refused(asserted: str) -> None:
    whole = IMPORTS + text("logistic").replace("epsilon=1", asserted)
    assert verdict_in(read_text(whole, "test")).code == "sensitivity"


def test_a_posterior_of_several_numbers_is_no_prior_of_one() -> None:
    for likelihood in ("normal(sd=1)", "normal"):
        whole = f"""{IMPORTS}{RECORD}
@program
def f(people: Database[P]) -> Private[Normal]:
    m = observe(((1, p.x, p.b) for p in people), logistic, prior=normal(0, sd=2))
    first = noise_aware(laplace(statistics(m), epsilon=1))
    again = observe((p.x for p in people), {likelihood}, prior=first)
    return noise_aware(laplace(statistics(again), epsilon=1))
"""
        with pytest.raises(ProgramError) as caught:
            core_of(read_text(whole, "test"), None, {})
        assert caught.value.diagnostic.code in ("prior", "arguments")


def test_the_rows_bounds_stand_in_the_model() -> None:
    program, _ = accepted(text("logistic_two"))
    [model] = [
        part for command in program.body if hasattr(command, "value")
        for part in command.value.walk() if part.op == "likelihood"
    ]  # fmt: skip
    numbers = [part.data[0] for part in model.args]
    assert numbers == [Fraction(x) for x in (1, 0, 4, 5, 1, 1, 1, -3, 5, 0)]


ANSWERED = """
@program
def f(people: Database[P]) -> Private[{returns}]:
    answers = per_record_exponential(
        ({row} for p in people), score=lambda v, c: -abs(v - c), candidates=linspace(-3, 5, 9),
        epsilon=2,
    )
    return {op}(observe(answers, {likelihood}, prior={prior}))
"""
NORMAL = ("p.x", "normal(sd=2)", "normal(0, sd=1)", "Normal")


def answered(row: str, likelihood: str, prior: str, returns: str, op: str = "plug_in") -> str:
    return RECORD + ANSWERED.format(
        row=row, likelihood=likelihood, prior=prior, returns=returns, op=op
    )


def test_answers_of_records_are_plugged_in() -> None:
    """Each record answers with the first candidate, -3: four times."""
    program, verdict = accepted(answered(*NORMAL))
    assert verdict.dp_epsilon == 2
    rows = table([{"x": 1.0, "k": 1, "b": True, "g": "a", "t": 1.0, "s": "n", "z": True}] * 4)
    law = done(program, verdict, rows, Noted(pick=0)).value
    assert law.parameters == pytest.approx((-12 / 4 / (1 + 4 / 4), (1 / (1 + 4 / 4)) ** 0.5))
    assert not falsify(program, verdict, n_max=2, most_pairs=60).excess
    rate = ("p.k", "poisson(exposure=3 * people.size)", "gamma(2, rate=1)", "Gamma")
    program, verdict = accepted(answered(*rate))
    law = done(program, verdict, rows, Noted(pick=8)).value
    assert law.parameters == pytest.approx((2 + 20, 1 + 12))


@pytest.mark.parametrize(
    ("case", "due"),
    [
        ((*NORMAL, "nuts"), "draws"),
        (("p.x", "bernoulli", "beta(1, 1)", "Beta"), "does not observe these noisy answers"),
        (("p.x", "normal", "normal_inverse_gamma(0, 1, 1, 1)", "Normal"), "does not observe"),
    ],
)
def test_other_uses_of_answers_are_refused(case: tuple[str, ...], due: str) -> None:
    try:
        verdict = verdict_in(read_text(IMPORTS + answered(*case), "test"))
    except ProgramError as error:
        verdict = refused(error, None)
    assert verdict.verdict == "REJECTED"
    assert due in f"{verdict.reason} {verdict.accepted}"
