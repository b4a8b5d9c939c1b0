"""A released sum is observed like the noisy statistics of a model."""

from __future__ import annotations

from fractions import Fraction

import pytest

from bayesdp.programs.falsify import falsify
from bayesdp.programs.source import ProgramError
from tests.programs.run.helpers import Noted, accepted, done

PROGRAM = """
@record
class R:
    b: Bool
    c: Category["u", "v", "w"]
    x: Real[0, 10]
    k: Int[0, 4]
    p: Public[Bool]

@program
def f(db: Database[R]) -> Private[tuple[{kind}, {kind}]]:
    noisy = {release}
    other = observe({rows}, {likelihood}, prior={prior})
    direct = noise_aware(laplace(statistics(other), epsilon=1))
    return noise_aware(observe(noisy, {likelihood}, prior={prior})), direct
"""
ROWS = [(True, "u", 1.0, 2, True), (False, "v", 5.5, 4, True), (True, "v", 9.0, 0, False)] * 3
TABLE = [dict(zip("bcxkp", row, strict=True)) for row in ROWS]
CASES = {
    "labels": ("Dirichlet", "sum(onehot(r.c) for r in db)", "(r.c for r in db)", "categorical",
               "dirichlet(1, 2, 3)"),
    "labels of a filter": ("Dirichlet", "sum(onehot(r.c) for r in db if r.b)",
                           "(r.c for r in db if r.b)", "categorical", "dirichlet(1, 1, 1)"),
    "cells of whole numbers": ("Dirichlet", "sum(onehot(r.k // 2, 3) for r in db)",
                               "(r.c for r in db)", "categorical", "dirichlet(1, 1, 1)"),
    "crossed labels": ("Dirichlet", "sum(onehot(cross(r.b, r.p)) for r in db)",
                       "(cross(r.b, r.p) for r in db)", "categorical", "dirichlet(1, 1, 1, 1)"),
    "truth values": ("Beta", "sum(r.b for r in db)", "(r.b for r in db)", "bernoulli",
                     "beta(1, 1)"),
    "counted truth values": ("Beta", "count(r.x > 3 for r in db if r.p)",
                             "(r.x > 3 for r in db if r.p)", "bernoulli", "beta(2, 1)"),
    "counts": ("Gamma", "sum(r.k for r in db if r.b)", "(r.k for r in db if r.b)",
               "poisson(exposure=db.size)", "gamma(1, rate=1)"),
    "numbers": ("Normal", "sum(r.x for r in db)", "(r.x for r in db)", "normal(sd=2)",
                "normal(5, sd=3)"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("noise", ["laplace({}, epsilon=1)", "gaussian({}, epsilon=1, delta=1e-5)"])
def test_the_posterior_is_that_of_the_statistics(name: str, noise: str) -> None:
    kind, value, rows, likelihood, prior = CASES[name]
    core, verdict = accepted(
        PROGRAM.format(
            kind=kind, release=noise.format(value), rows=rows, likelihood=likelihood, prior=prior
        )
    )
    assert verdict.dp_epsilon == 2
    observed, direct = done(core, verdict, TABLE, Noted()).outputs
    if noise.startswith("laplace") and name != "cells of whole numbers":
        assert observed.mean == pytest.approx(direct.mean, rel=1e-9)
        assert observed.sd == pytest.approx(direct.sd, rel=1e-9)
    assert len(str(observed.mean)) > 2
    assert not falsify(core, verdict, n_max=2, most_pairs=20).excess


@pytest.mark.parametrize(
    ("release", "likelihood", "prior", "message"),
    [
        ("laplace(count(r for r in db if r.b), epsilon=1)", "bernoulli", "beta(1, 1)",
         "not a noisy sum that bernoulli observes"),
        ("laplace(sum(r.b for r in db if r.b), epsilon=1)", "bernoulli", "beta(1, 1)",
         "not a noisy sum"),
        ("laplace(sum(r.k for r in db), epsilon=1)", "bernoulli", "beta(1, 1)", "not a noisy sum"),
        ("laplace(sum(r.x for r in db), epsilon=1)", "poisson(exposure=3)", "gamma(1, rate=1)",
         "not a noisy sum"),
        ("laplace(sum(r.x for r in db if r.b), epsilon=1)", "normal(sd=1)", "normal(0, sd=1)",
         "not a noisy sum"),
        ("laplace(sum(r.x for r in db) / db.size, epsilon=1)", "normal(sd=1)", "normal(0, sd=1)",
         "not a noisy sum"),
        ("2 * laplace(sum(r.k for r in db), epsilon=1)", "poisson(exposure=3)", "gamma(1, rate=1)",
         "not a noisy sum"),
        ("clip(laplace(sum(r.b for r in db), epsilon=1), 0, 9)", "bernoulli", "beta(1, 1)",
         "not a noisy sum"),
        ("laplace(sum((r.k, r.x) for r in db), epsilon=1)", "categorical", "dirichlet(1, 1)",
         "not a noisy sum"),
        ("laplace(sum(onehot(r.c) for r in db), epsilon=1)", "categorical", "dirichlet(1, 1)",
         "3 categories and 2 prior numbers"),
        ("laplace(2 * sum(onehot(r.c) for r in db), epsilon=1)", "categorical",
         "dirichlet(1, 1, 1)", "not a noisy sum"),
        ("laplace(sum(onehot(r.c) * r.x for r in db), epsilon=1)", "categorical",
         "dirichlet(1, 1, 1)", "not a noisy sum"),
        ("sum(onehot(r.c) for r in db)", "categorical", "dirichlet(1, 1, 1)", "observe takes data"),
    ],
)  # fmt: skip
def test_near_misses_are_refused(release: str, likelihood: str, prior: str, message: str) -> None:
    text = PROGRAM.format(
        kind="Beta", release=release, rows="db", likelihood=likelihood, prior=prior
    )
    start, end = text.index("    other ="), text.index("    return")
    text = text[:start] + text[end:].replace(", direct", ", 1")
    with pytest.raises(ProgramError, match=message):
        accepted(text)


def test_a_chosen_sum_may_not_be_one() -> None:
    """After a branch a name stands for either of two noisy sums, and no longer for a statistic."""
    text = """
@program
def f(db: Database[Bool]) -> Private[Beta]:
    n = laplace(sum(db), epsilon=1)
    if n > 3:
        m = laplace(sum(db), epsilon=1)
    else:
        m = laplace(sum(db), epsilon=2)
    return noise_aware(observe(m, bernoulli, prior=beta(1, 1)))
"""
    with pytest.raises(ProgramError, match="not a noisy sum"):
        accepted(text)
    assert Fraction(3) == accepted(text.replace("observe(m", "observe(n"))[1].dp_epsilon
