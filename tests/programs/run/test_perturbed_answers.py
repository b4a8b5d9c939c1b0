"""Posteriors of numbers that each record perturbed: the law of an answer, exactness, coverage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from bayesdp.arrays import Floats
from bayesdp.programs.checked_files import refused, verdict_in
from bayesdp.programs.run import Machine, OpenDP, load
from bayesdp.programs.run.numerics.observed import AnswerChannel, Answers
from bayesdp.programs.run.posteriors import perturbed_answers
from bayesdp.programs.run.results import distributions as d
from bayesdp.programs.source import ProgramError, read_text
from tests.effort import in_full, runs
from tests.programs.run.helpers import IMPORTS, Noted, accepted, done, rng, run_on

REAL_LINE = ("identity", (-40.0, 50.0))


def channel(
    low: float, high: float, many: int, epsilon: float, whole: bool = False
) -> AnswerChannel:
    """Scores -|v - c|, of which one record moves each by at most the reach."""
    answers = np.linspace(low, high, many)

    def law(at: Floats) -> Floats:
        off = np.abs(np.asarray(at)[:, None] - answers)
        weights = np.exp(-off * epsilon / (2 * (high - low)))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    return AnswerChannel(answers, low, high, whole, law)


def answered(about: AnswerChannel, values: Floats, r: np.random.Generator) -> Answers:
    held = np.clip(values, about.low, about.high)
    below = about.law(held).cumsum(axis=1)
    chosen = (r.random((len(held), 1)) < below).argmax(axis=1)
    return Answers(about.answers[chosen], channel=about)


def density_of(about: AnswerChannel, answers: Answers, prior: Any, each: Any) -> tuple[Any, Any]:
    """A grid and the posterior's density there, from each answer's chance by quadrature."""
    counts = perturbed_answers.counts_of(answers, about)
    grid = np.linspace(prior.ppf(1e-7), prior.ppf(1 - 1e-7), 401)
    logs = np.asarray([np.log(each(theta)) @ counts for theta in grid]) + prior.logpdf(grid)
    weight = np.exp(logs - logs.max())
    return grid, weight / weight.sum()


def test_a_mean_is_that_of_the_definition() -> None:
    about = channel(0, 10, 5, 6.0)
    answers = Answers(np.asarray([0, 2.5, 7.5, 10, 10, 5, 10]), channel=about)
    sd = 2.0

    at = np.linspace(0, 10, 8001)
    answer = about.law(at)

    def each(mean: float) -> Floats:
        law = stats.norm(mean, sd)
        inside = integrate.simpson(law.pdf(at)[:, None] * answer, x=at, axis=0)
        ends = law.cdf(0) * about.law(np.zeros(1))[0] + law.sf(10) * about.law(np.full(1, 10.0))[0]
        return np.asarray(inside) + ends

    grid, weight = density_of(about, answers, stats.norm(4, 3), each)
    law = perturbed_answers.posterior(answers, "normal", [sd], d.single("normal", 4, 3), REAL_LINE)
    assert law.mean == pytest.approx(grid @ weight, rel=1e-4)
    assert law.sd**2 == pytest.approx(grid**2 @ weight - (grid @ weight) ** 2, rel=1e-3)
    assert law.error < 1e-8


def test_a_rate_is_that_of_the_definition() -> None:
    about = channel(2, 6, 3, 5.0, whole=True)
    answers = Answers(np.asarray([2.0, 4, 6, 2, 2]), channel=about)

    def each(rate: float) -> Floats:
        counts = np.arange(0, 200)
        return stats.poisson(rate * 10 / 5).pmf(counts) @ about.law(np.clip(counts, 2.0, 6.0))

    grid, weight = density_of(about, answers, stats.gamma(2, scale=1), each)
    law = perturbed_answers.posterior(
        answers, "poisson", [10.0], d.single("gamma", 2, 1), ("log", (-25.0, 15.0))
    )
    assert law.mean == pytest.approx(grid @ weight, rel=1e-3)


def test_whole_numbers_are_rounded_normal_ones() -> None:
    about = channel(0, 4, 5, 400.0, whole=True)  # nearly every answer is true
    answers = Answers(np.asarray([1.0, 2, 2, 4]), channel=about)
    grid, weight = density_of(
        about, answers, stats.norm(2, 2),
        lambda m: np.diff(stats.norm(m, 1.5).cdf([-np.inf, 0.5, 1.5, 2.5, 3.5, np.inf])),
    )  # fmt: skip
    law = perturbed_answers.posterior(answers, "normal", [1.5], d.single("normal", 2, 2), REAL_LINE)
    assert law.mean == pytest.approx(grid @ weight, rel=1e-4)


@pytest.mark.parametrize("case", ["mean", "rate"])
def test_intervals_hold_the_truth_as_often_as_they_say(case: str) -> None:
    """Truths from the prior; clipped cells; a little noise and much of it."""
    many, r, inside = runs(300, 16), rng(len(case)), []
    for i in range(many):
        epsilon = (1.0, 8.0)[i % 2]
        if case == "mean":
            truth = r.normal(5, 3)
            about = channel(0, 10, 11, epsilon)
            answers = answered(about, r.normal(truth, 2, 150), r)
            law = perturbed_answers.posterior(
                answers, "normal", [2.0], d.single("normal", 5, 3), REAL_LINE
            )
        else:
            truth = r.gamma(3, 1.0)
            about = channel(0, 8, 9, epsilon, whole=True)
            answers = answered(about, r.poisson(truth, 150).astype(float), r)
            prior = d.single("gamma", 3, 1)
            law = perturbed_answers.posterior(
                answers, "poisson", [150.0], prior, ("log", (-25.0, 15.0))
            )
        inside.append(float(law.cdf(truth)))
    for level in (0.5, 0.9):
        held = int((np.abs(np.asarray(inside) - 0.5) <= level / 2).sum())
        assert stats.binomtest(held, many, level).pvalue > 1e-5, (held, level)


def line_of(r: np.random.Generator, shape: str) -> tuple[Floats, Floats, Answers, Answers]:
    """Coefficients from the prior, values, and answers; the feature's law has a shape."""
    n = 400
    x = {"even": r.uniform(0, 10, n), "lean": 10 * r.beta(2, 6, n)}[shape]
    truth = r.normal(0, 1, 2)
    y = truth[0] + truth[1] * x + r.normal(0, 1, n)
    feature, response = channel(0, 10, 11, 12.0), channel(-12, 12, 13, 12.0)
    return truth, x, answered(feature, x, r), answered(response, y, r)


@pytest.mark.prove
@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("shape", ["even", "lean"])
def test_a_line_through_answers_holds_its_coefficients(shape: str) -> None:
    """And the line through the answers as they are is flatter by far.

    A few posteriors tell a wrong centre or spread by how many standard deviations they are off; how
    often intervals hold the truth takes many.
    """
    many, r = runs(200) if in_full() else 3, rng(3)
    inside, off, steepness, naive = [], [], [], []
    for _ in range(many):
        truth, _, feature, response = line_of(r, shape)
        law = perturbed_answers.line(feature, response, (1.0, 1.0), d.single("normal", 0, 1))
        inside.append((law.draws <= truth).mean(axis=0))
        off.append((np.asarray(law.mean) - truth) / np.asarray(law.sd))
        naive.append(np.polyfit(feature.values, response.values, 1)[0] * truth[1])
        steepness.append(truth[1] ** 2)
    assert sum(naive) < 0.75 * sum(steepness)
    assert 0.2 < np.sqrt(np.mean(np.square(off))) < 3
    for column in np.asarray(inside).T:
        for level in (0.5, 0.9):
            held = int((np.abs(column - 0.5) <= level / 2).sum())
            assert stats.binomtest(held, many, level).pvalue > 1e-5, (held, level)


@pytest.mark.usefixtures("few_draws")
def test_a_line_through_the_origin_has_one_coefficient() -> None:
    r = rng(8)
    x = r.uniform(0, 10, 3000)
    feature, response = channel(0, 10, 11, 40.0), channel(-12, 12, 25, 40.0)
    answers = answered(feature, x, r), answered(response, 0.7 * x + r.normal(0, 1, 3000), r)
    law = perturbed_answers.line(*answers, (1.0, 0.0), d.single("normal", 0, 1))
    assert law.names == ("b0",)
    assert law.mean[0] == pytest.approx(0.7, abs=0.05)


# -- programs --------------------------------------------------------------------------------------

RECORD = """
@record
class P:
    x: Real[0, 10]
    y: Real[-5, 15]
    k: Int[0, 20]
    w: Int[0, 100000]
    z: Public[Bool]
"""


def answers_of(column: str, score: str = "-abs(x - c)", many: int = 11) -> str:
    grid = {"x": "0, 10", "y": "-5, 15", "k": "0, 20"}.get(column, "0, 10")
    rows = f"people.{column}" if column in "xykw" else column
    return (
        f"per_record_exponential({rows}, score=lambda x, c: {score}, "
        f"candidates=linspace({grid}, {many}), epsilon=2)"
    )


def text(body: str, kind: str = "Normal") -> str:
    return f"{RECORD}\n@program\ndef f(people: Database[P]) -> Private[{kind}]:\n{body}"


MEAN = "    return {}(observe(" + answers_of("x") + ", normal(sd=2), prior=normal(5, sd=3)))\n"
LINE = (
    f"    a = {answers_of('x')}\n    b = {answers_of('y')}\n"
    "    return {}(observe({}, linear_model(noise_sd=1), prior=normal(0, sd=1)))\n"
)


def table(n: int = 4) -> dict[str, list[Any]]:
    r = rng(1)
    return {
        "x": list(r.uniform(0, 10, n)), "y": list(r.uniform(-5, 15, n)),
        "k": [int(k) for k in r.integers(0, 21, n)], "w": [1] * n, "z": [True] * n,
    }  # fmt: skip


def test_the_law_of_an_answer_is_the_law_that_it_is_drawn_from() -> None:
    """The softmax of exact scores over twice their move, whatever a record's value is."""
    program, verdict = accepted(text(MEAN.format("noise_aware")))
    assert verdict.dp_epsilon == 2
    machine = Machine(program, verdict, load(program, table()), OpenDP())
    machine.run()
    [answers] = machine.noisy.values()
    assert isinstance(answers, Answers)
    about = answers.channel
    assert about is not None
    assert (about.low, about.high, about.whole) == (0, 10, False)
    at = np.asarray([0.0, 3.3, 5.0, 10.0])
    weights = np.exp(-np.abs(at[:, None] - np.linspace(0, 10, 11)) * 2 / (2 * 10))
    assert about.law(at) == pytest.approx(weights / weights.sum(axis=1, keepdims=True), rel=1e-6)


@pytest.mark.usefixtures("few_draws")
def test_programs_return_what_is_computed() -> None:
    rows = table(300)
    program, verdict = accepted(text(LINE.format("noise_aware", "(1, a, b)")))
    assert verdict.dp_epsilon == 4
    law = run_on(program, verdict, load(program, rows)).value
    assert law.names == ("intercept", "b1")
    assert law.notes[0] == perturbed_answers.HISTOGRAM
    program, verdict = accepted(text(LINE.format("noise_aware", "(a, b)")))
    assert run_on(program, verdict, load(program, rows)).value.names == ("b0",)
    rate = "    return noise_aware(observe(" + answers_of("k") + ", poisson(exposure=people.size), "
    program, verdict = accepted(text(rate + "prior=gamma(2, rate=1)))\n", "Gamma"))
    assert run_on(program, verdict, load(program, rows)).value.mean > 0


@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("pick", [0, 10])
@pytest.mark.parametrize(
    "body", [MEAN.format("noise_aware"), LINE.format("noise_aware", "(1, a, b)")]
)
def test_no_run_stops_after_it_has_paid(body: str, pick: int) -> None:
    """All records answer the same."""
    program, verdict = accepted(text(body))
    value = done(program, verdict, table(50), Noted(pick=pick)).value
    assert np.all(np.isfinite(value.mean))


REFUSED: dict[str, tuple[str, str]] = {
    "two columns": (
        MEAN.format("noise_aware").replace("people.x", "(p.x + p.k for p in people)"),
        "depends on more than one column's value",
    ),
    "a function of a column": (
        MEAN.format("noise_aware").replace("people.x", "(p.x / 2 for p in people)"),
        "depends on more than one column's value",
    ),
    "too many whole numbers": (
        MEAN.format("noise_aware").replace("people.x", "people.w"),
        "depends on more than one column's value",
    ),
    "draws": (
        MEAN.replace("{}(", "nuts(").replace("sd=3)))", "sd=3)), draws=100)"),
        "This posterior is exact",
    ),
    "an unknown spread": (
        MEAN.format("noise_aware")
        .replace("normal(sd=2)", "normal")
        .replace("normal(5, sd=3)", "normal_inverse_gamma(0, 1, 1, 1)"),
        "does not observe these noisy answers",
    ),
    "a line as if answers were true": (
        LINE.format("plug_in", "(1, a, b)"),
        "A feature with noise makes a line flatter",
    ),
    "a line by nuts": (
        LINE.format("nuts", "(1, a, b)").replace("sd=1)))", "sd=1)), draws=10)"),
        "A feature with noise makes a line flatter",
    ),
    "two features": (LINE.format("noise_aware", "(1, a, a, b)"), "a feature and a response"),
    "another constant": (LINE.format("noise_aware", "(2, a, b)"), "a feature and a response"),
    "a true response": (LINE.format("noise_aware", "(1, a, people.y)"), "a feature and a response"),
    "one list": (LINE.format("noise_aware", "(1, b)"), "a feature and a response"),
    "a logistic line": (
        LINE.format("noise_aware", "(1, a, b)").replace("linear_model(noise_sd=1)", "logistic"),
        "a feature and a response",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_nearly_right_is_refused(case: str) -> None:
    body, due = REFUSED[case]
    try:
        verdict = verdict_in(read_text(IMPORTS + text(body), "test"))
    except ProgramError as error:
        verdict = refused(error, None)
    assert verdict.verdict == "REJECTED", verdict
    assert due in f"{verdict.reason} {verdict.accepted}"
