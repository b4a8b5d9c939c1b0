"""Posteriors of counts as candidates: distances by definition, the whole channel, what is refused.

The sensitivity is held against every pair of neighbouring tables of up to four records.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, lgamma, pi, sqrt

import numpy as np
import pytest
from scipy import stats

from bayesdp.kernel.programs.ranges import folded
from bayesdp.programs.check.checker import ProgramVerdict, check
from bayesdp.programs.checked_files import refused, verdict_in
from bayesdp.programs.falsify import falsify
from bayesdp.programs.ir import expression
from bayesdp.programs.run import OpenDP, load
from bayesdp.programs.run.draws.choices import ways_to_share
from bayesdp.programs.source import ProgramError, core_of, read_text
from tests.programs.run.helpers import IMPORTS, accepted, exponential_channel, run_on

NOISY = "noisy = laplace(sum(r == 'a' for r in rows), epsilon=1)"
LABELS = ("a", "b", "c", "d")


def text(prior: str, labels: int = 3, n: str = "rows.size", options: str = "epsilon=1") -> str:
    column = ", ".join(f'"{label}"' for label in LABELS[:labels])
    return f"""
@program
def f(rows: Database[Category[{column}]]) -> Private[Dirichlet]:
    prior = {prior}
    posterior = infer(observe(rows, categorical, prior=prior))
    laws = posteriors_of(prior, n={n})
    return exponential(score=hellinger(posterior), candidates=laws, {options})
"""


def claimed_by(verdict: ProgramVerdict) -> Fraction:
    """The sensitivity that the derivation states."""
    value = folded(expression(verdict.derivation["sequence"][0]["sensitivity"]["value"]))
    assert value is not None
    return value


def distance(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """The Hellinger distance of two Dirichlet laws, from their normalising integrals."""

    def logs(parts: tuple[float, ...]) -> float:
        return sum(map(lgamma, parts)) - lgamma(sum(parts))

    middle = tuple((x + y) / 2 for x, y in zip(a, b, strict=True))
    return sqrt(max(0.0, 1 - np.exp(logs(middle) - (logs(a) + logs(b)) / 2)))


def test_the_distance_is_that_of_the_densities() -> None:
    """By integration, of two labels; and a mean of square roots of draws, of three."""
    x = np.linspace(1e-6, 1 - 1e-6, 200_001)
    roots = np.sqrt(stats.beta(3, 2).pdf(x) * stats.beta(2, 4).pdf(x))
    assert distance((3, 2), (2, 4)) == pytest.approx(sqrt(1 - roots.mean()), abs=1e-4)
    a, b = (2.0, 3.0, 1.5), (3.0, 2.0, 1.5)
    draws = np.random.default_rng(3).dirichlet(a, size=400_000)
    # Square roots of the density ratio under the first law: its mean is the coefficient.
    ratio = draws[:, 0] / draws[:, 1] * np.exp(lgamma(2) + lgamma(3) - lgamma(3) - lgamma(2))
    assert distance(a, b) == pytest.approx(sqrt(1 - np.sqrt(ratio).mean()), abs=0.01)


@pytest.mark.parametrize(
    ("prior", "labels"),
    [("1, 1, 1", 3), ("0.5, 0.5, 0.5", 3), ("2, 1, 0.3", 3), ("1, 3, 1, 2", 4)],
)
def test_the_sensitivity_is_the_largest_move_of_any_score(prior: str, labels: int) -> None:
    """Over all neighbours and all candidates: claimed and moved agree to ten digits."""
    _, verdict = accepted(text(f"dirichlet({prior})", labels))
    claimed = claimed_by(verdict)
    before = tuple(float(part) for part in prior.split(","))
    furthest = 0.0
    for n in (1, 2, 3, 4):
        laws = [tuple(a + k for a, k in zip(before, counts, strict=True))
                for counts in ways_to_share(n, labels)]  # fmt: skip
        for here, there in product(laws, laws):
            if sum(abs(x - y) for x, y in zip(here, there, strict=True)) == pytest.approx(2):
                moves = [abs(distance(c, here) - distance(c, there)) for c in laws]
                furthest = max(furthest, *moves)
    assert furthest == pytest.approx(float(claimed), abs=2e-10)
    assert float(claimed) >= furthest - 1e-12


def test_the_reference_constant() -> None:
    _, verdict = accepted(text("dirichlet(1, 1, 1)"))
    claimed = float(claimed_by(verdict))
    assert sqrt(1 - pi / 4) <= claimed <= sqrt(1 - pi / 4) + 1e-9
    assert (verdict.dp_epsilon, verdict.dp_delta) == (1, 0)


def test_no_loss_is_above_the_claim() -> None:
    """The whole channel of the real interpreter on all tables of three records."""
    program, verdict = accepted(text("dirichlet(1, 1, 1)"))
    laws = {}
    for rows in product("abc", repeat=3):
        candidates, chances = exponential_channel(program, verdict, {"rows": list(rows)})
        assert len(candidates) == comb(5, 2)
        assert candidates[0].parameters == (1, 1, 4)
        laws[rows] = np.log(chances)
    losses = [
        float(np.abs(laws[left] - laws[right]).max())
        for left, right in product(laws, laws)
        if sum(x != y for x, y in zip(left, right, strict=True)) == 1
    ]
    assert 0.3 < max(losses) <= 1 + 1e-9


def test_nothing_is_found_against_the_claim() -> None:
    for prior, labels in (("dirichlet(1, 1, 1)", 3), ("dirichlet(0.5, 2)", 2)):
        program, verdict = accepted(text(prior, labels))
        report = falsify(program, verdict, n_max=4, most_pairs=200)
        assert not report.excess
        assert report.pairs > 0


def test_a_run_gives_a_posterior_with_the_labels() -> None:
    program, verdict = accepted(text("dirichlet(1, 1, 1)", options="epsilon=1000"))
    rows = load(program, {"rows": ["a"] * 6 + ["c"] * 4})
    law = run_on(program, verdict, rows, samplers=OpenDP()).value
    assert law.names == ("a", "b", "c")
    assert law.parameters == pytest.approx((7, 1, 5), abs=3)


def test_too_many_posteriors_are_refused_before_anything_is_spent() -> None:
    program, verdict = accepted(text("dirichlet(1, 1, 1)"))
    assert comb(1446 + 2, 2) <= 2**20 < comb(1447 + 2, 2)
    with pytest.raises(Exception, match="candidates"):
        run_on(program, verdict, load(program, {"rows": ["a"] * 1447}))
    accepted(text("dirichlet(1, 1, 1)", n="1446"))
    core = core_of(read_text(IMPORTS + text("dirichlet(1, 1, 1)", n="1447"), "test"), None, {})
    assert check(core).code == "size"


REFUSED: dict[str, tuple[str, str]] = {
    "other labels": (
        text("dirichlet(1, 1, 1)").replace(
            "posteriors_of(prior,", "posteriors_of(dirichlet(1, 1),"
        ),
        "of another family than the posterior",
    ),
    "a beta": (
        text("dirichlet(1, 1, 1)").replace("posteriors_of(prior,", "posteriors_of(beta(1, 1),"),
        "The score is of dirichlet candidates",
    ),
    "too small a constant": (
        text("dirichlet(1, 1, 1)", options="epsilon=1, sensitivity=0.46"),
        "sensitivity=0.46 is asserted",
    ),
    "the constant of another prior": (
        text("dirichlet(0.5, 0.5, 0.5)", options="epsilon=1, sensitivity=0.4632513752"),
        "one record can move this by 0.602810275",
    ),
    "a private number of candidates": (
        text("dirichlet(1, 1, 1)", n="count(r for r in rows if r == 'a')"),
        "This number of records is private",
    ),
    "too many at once": (text("dirichlet(1, 1, 1)", n="2000"), "a choice is among at most 1048576"),
    "far too many": (text("dirichlet(1, 1, 1)", n="20000000"), "a choice is among at most 1048576"),
    "a private prior": (
        text("dirichlet(count(r for r in rows if r == 'a'), 1, 1)"),
        "The prior depends on private data",
    ),
    "a released prior of private counts": (
        text("dirichlet(1, 1, 1)")
        .replace("    prior =", "    noisy = laplace(count(rows), epsilon=1)\n    prior =")
        .replace("dirichlet(1, 1, 1)", "dirichlet(max(noisy, 1), 1, 1)"),
        "known for a prior that is written out only",
    ),
    "too many for a released number": (
        text("dirichlet(1, 1, 1)", n="clip(noisy, 1, 5000)").replace(
            "    prior =",
            "    noisy = laplace(sum(r == 'a' for r in rows), epsilon=1)\n    prior =",
        ),
        "a choice is among at most 1048576",
    ),
    "beyond all bounds": (
        text("dirichlet(1, 1, 1)", n="clip(noisy, 1, 50000000)").replace(
            "    prior =",
            "    noisy = laplace(sum(r == 'a' for r in rows), epsilon=1)\n    prior =",
        ),
        "a choice is among at most 1048576",
    ),
    "not Dirichlet": (
        text("dirichlet(1, 1, 1)").replace("Private[Dirichlet]", "Private[Beta]"),
        "returned as Beta",
    ),
    "below the cost": (
        text("dirichlet(1, 1, 1)").replace("@program", "@program(epsilon=0.5)"),
        "declares epsilon = 0.5 and costs 1",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_nearly_right_is_refused(case: str) -> None:
    whole, due = REFUSED[case]
    try:
        verdict = verdict_in(read_text(IMPORTS + whole, "test"))
    except ProgramError as error:
        verdict = refused(error, None)
    assert verdict.verdict in ("REJECTED", "UNKNOWN"), verdict
    assert due in f"{verdict.reason} {verdict.accepted}"
