"""Distributions of released numbers, draws of released posteriors, and new records."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from bayesdp import kernel
from bayesdp.kernel.programs.cancelled import least
from bayesdp.programs.certificate import program_certificate
from bayesdp.programs.checked_files import verdict_in
from bayesdp.programs.falsify import falsify
from bayesdp.programs.ir import Expr
from bayesdp.programs.run.machine.predictive import predicted
from bayesdp.programs.run.results import distributions as d
from bayesdp.programs.source import ProgramError, read_text
from tests.programs.run.helpers import IMPORTS, Noted, accepted, done

RECORD = """
@record
class R:
    b: Bool
    c: Category["u", "v", "w"]
    x: Real[0, 10]
    k: Int[0, 9]

@program
def f(db: Database[R]) -> Private[{kind}]:
    noisy = laplace(sum(onehot(r.c) for r in db), epsilon=1/2)
    n = clip(laplace(count(r for r in db if r.b), epsilon=1/2), 0, db.size)
{body}
"""
TABLE = [{"b": b, "c": c, "x": 5, "k": 3} for b, c in zip((True, False) * 3, "uuuvvw", strict=True)]


def program(kind: str, *lines: str) -> str:
    return RECORD.format(kind=kind, body="\n".join(f"    {line}" for line in lines))


def test_a_law_has_the_released_numbers() -> None:
    core, verdict = accepted(
        program(
            "tuple[Beta, Dirichlet, Gamma, Normal, Real, Real]",
            "rate = beta(1 + n, 1 + db.size - n)",
            "counts = tuple(1 + max(noisy[i], 0) for i in range(3))",
            "far = normal(n, sd=2)",
            "return rate, dirichlet(counts), gamma(1 + n, rate=3), far, rate.mean, "
            "far.quantile(0.5)",
        )
    )
    assert verdict.dp_epsilon == 1
    rate, labels, waits, far, mean, middle = done(core, verdict, TABLE, Noted()).outputs
    assert rate.parameters == (4, 4)
    assert labels.parameters == (4, 3, 2)
    assert waits.parameters == (4, 3)
    assert far.parameters == (3, 2)
    assert (mean, middle) == (0.5, 3)
    findings = falsify(core, verdict, n_max=3, most_pairs=200)
    assert not findings.excess
    assert kernel.check(program_certificate(core, verdict).to_dict()).verdict.startswith("VALID")


def test_a_law_may_be_a_prior_too_and_one_of_two() -> None:
    core, verdict = accepted(
        program(
            "tuple[Beta, Beta]",
            "p = beta(1 + n, 2) if n > 1 else beta(3, 2 + n)",
            "rows = (r.b for r in db)",
            "noisy = laplace(statistics(observe(rows, bernoulli, prior=p)), epsilon=1)",
            "return p, plug_in(noisy)",
        )
    )
    assert verdict.dp_epsilon == 2
    before, after = done(core, verdict, TABLE, Noted()).outputs
    assert before.parameters == (4, 2)
    assert after.mean == pytest.approx((4 + 3) / (6 + 6))


def test_draws_are_of_the_posterior() -> None:
    core, verdict = accepted(
        program(
            "tuple[Samples, Samples]",
            "many = dirichlet(tuple(1 + max(noisy[i], 0) for i in range(3)))",
            "return beta(1 + n, 1 + db.size - n).samples(20000), many.samples(10000)",
        )
    )
    rate, labels = done(core, verdict, TABLE, Noted()).outputs
    assert rate.draws.shape == (20000, 1)
    assert labels.draws.shape == (10000, 3)
    assert rate.mean[0] == pytest.approx(0.5, abs=6 * rate.sd[0] / math.sqrt(20000))
    assert labels.mean == pytest.approx((4 / 9, 3 / 9, 2 / 9), abs=0.02)


@pytest.mark.parametrize(
    ("posterior", "likelihood", "mean", "variance"),
    [
        ("beta(1 + n, 1)", "bernoulli", 0.8, 0.16),
        ("gamma(1 + n, rate=2)", "poisson(exposure=3)", 6, 6 + 9),
        ("normal(n, sd=2)", "normal(sd=1)", 3, 5),
    ],
)
def test_new_records_have_the_law_of_the_model(
    posterior: str, likelihood: str, mean: float, variance: float
) -> None:
    """Two-sided: mean and variance; a rate or spread that is left out is told."""
    text = program("Samples", f"return predictive({posterior}, {likelihood}, draws=40000)")
    core, verdict = accepted(text)
    (answers,) = done(core, verdict, TABLE, Noted()).outputs
    values = np.asarray(answers.values, dtype=float)
    assert len(values) == 40000
    assert values.mean() == pytest.approx(mean, abs=6 * math.sqrt(variance / 40000))
    assert values.var() == pytest.approx(variance, rel=0.1)


def test_new_labels_are_drawn_jointly() -> None:
    core, verdict = accepted(
        program("Samples", "return predictive(dirichlet(1 + n, 2, 2), categorical, draws=50000)")
    )
    (answers,) = done(core, verdict, TABLE, Noted()).outputs
    shares = np.bincount(answers.values, minlength=3) / 50000
    assert shares == pytest.approx((0.5, 0.25, 0.25), abs=0.02)
    assert answers.to_dict()["labels"] == ["0", "1", "2"]


def test_extremes_are_drawn() -> None:
    rng = np.random.default_rng(3)
    for family, law in (
        ("poisson", d.single("gamma", 1e6, 1e-12)),
        ("bernoulli", d.single("beta", 1e-12, 1e12)),
        ("normal", d.single("normal", 1e12, 1e-12)),
    ):
        about = [] if family == "bernoulli" else [1.0]
        assert len(predicted(family, about, law, 100, rng).values) == 100


NEAR_MISSES = [
    ("Beta", "beta(count(r for r in db if r.b), 1)", "depends on private data"),
    ("Dirichlet", "dirichlet(sum(onehot(r.c) for r in db))", "private data"),
    ("Beta", "beta(n, 1)", "may be 0 or less"),
    ("Beta", "beta(1 + noisy[0], 1)", "may be 0 or less"),
    ("Beta", "beta(1 + n, 1 + db.size - 2 * n)", "may be 0 or less"),
    ("Beta", "beta(1, 1)", "known as it stands"),
    ("Gamma", "beta(1 + n, 1)", "returned as Gamma"),
    ("Beta", "infer(MODEL)", "not been released"),
    ("Real", "infer(MODEL).mean", "not part of the language"),
    ("Samples", "predictive(infer(MODEL), bernoulli, draws=9)", "of private data"),
    ("Samples", "predictive(MODEL, bernoulli, draws=9)", "of private data"),
    (
        "Samples",
        "predictive(beta(1 + n, 1), bernoulli, draws=count(r for r in db if r.b))",
        "depends on private data",
    ),
    (
        "Samples",
        "predictive(beta(1 + n, 1), poisson(exposure=sum(r.x for r in db)), draws=9)",
        "depends on private data",
    ),
    (
        "Samples",
        "predictive(beta(1 + n, 1), poisson(exposure=1), draws=9)",
        "not drawn from a beta",
    ),
    (
        "Samples",
        "predictive(normal(n, sd=1), linear_model(noise_sd=1), draws=9)",
        "one number or label",
    ),
    ("Samples", "beta(1 + n, 1).samples(1000000)", "from 1 to 100,000"),
    ("Samples", "dirichlet(1 + n, 1).samples(100000)", "from 1 to 10,000"),
    ("Real", "dirichlet(1 + n, 1).mean", "several numbers"),
    ("Real", "beta(1 + n, 1).samples", "takes numbers"),
]
MODEL = "observe((r.b for r in db), bernoulli, prior=beta(1, 1))"


@pytest.mark.parametrize(("kind", "value", "message"), NEAR_MISSES)
def test_near_misses_are_refused(kind: str, value: str, message: str) -> None:
    text = program(kind, "return " + value.replace("MODEL", MODEL))
    try:
        verdict = verdict_in(read_text(IMPORTS + text, "f.py"))
    except ProgramError as error:
        assert message in str(error)  # noqa: PT017
        return
    assert verdict.verdict == "REJECTED"
    assert message in f"{verdict.reason} {verdict.accepted}"


def test_a_quotient_in_a_logarithm_is_a_difference() -> None:
    core, verdict = accepted(
        program(
            "tuple[Real, Real]",
            "a = max(noisy[0], 1)",
            "return log(a / max(n, 1)), log(db.size / 2)",
        )
    )
    ratio, half = done(core, verdict, TABLE, Noted()).outputs
    assert ratio == pytest.approx(0, abs=1e-15)
    assert half == pytest.approx(math.log(3), rel=1e-15)


def test_what_cancels_is_seen() -> None:
    n, x = Expr("public", (), ("db.size",)), Expr("public", (), ("x",))

    def number(value: int) -> Expr:
        return Expr("const", (), (Fraction(value),))

    def ends(node: Expr) -> tuple[Fraction | float, Fraction | float]:
        if node.op == "const":
            return node.data[0], node.data[0]  # type: ignore[return-value]
        return (Fraction(1), math.inf) if node == n else (-math.inf, math.inf)

    held = Expr("clip", (x, number(0), n))
    inner = Expr("clip", (x, number(1), Expr("sub", (n, number(1)))))
    cases = [
        (Expr("sub", (n, held)), 0),
        (Expr("sub", (Expr("add", (number(1), n)), held)), 1),
        (Expr("add", (Expr("sub", (n, inner)), number(1))), 2),
        (Expr("sub", (n, Expr("min", (x, n)))), 0),
        (Expr("sub", (Expr("max", (x, n)), n)), 0),
        (Expr("neg", (Expr("sub", (held, n)),)), 0),
        (Expr("sub", (held, n)), -math.inf),
        (Expr("add", (n, held)), -math.inf),
        (Expr("sub", (n, Expr("max", (x, n)))), -math.inf),
        (Expr("sub", (n, Expr("add", (held, held)))), -math.inf),
        (Expr("sub", (n, Expr("clip", (x, n, number(9))))), -math.inf),
    ]
    for node, due in cases:
        assert least(node, ends) == due, node
