"""Posteriors of chains: against all series of a few records, two priors, and by coverage."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.special import betaln, logsumexp

from bayesdp.arrays import Floats
from bayesdp.programs.run import load
from bayesdp.programs.run.numerics.hidden_counts import AddedNoise
from bayesdp.programs.run.numerics.observed import Noisy
from bayesdp.programs.run.posteriors import chains
from bayesdp.programs.run.posteriors.chains import (
    APART,
    DRAWS,
    ORDER,
    SeriesCounts,
    long_run,
    posterior,
)
from bayesdp.programs.run.results.distributions import Samples
from tests.effort import in_full, runs
from tests.programs.run.helpers import accepted, run_on

LAPLACE, GAUSSIAN = AddedNoise("laplace", 3.0), AddedNoise("gaussian", 2.0)


def noisy(counts: Sequence[int], noise: AddedNoise, pairs: int, series: int = 1) -> Noisy:
    values = tuple(map(Fraction, counts))
    return Noisy(values, noise, pairs, ("a", "b"), (), series)


def laws(pairs: int, alpha: Floats) -> dict[tuple[int, ...], float]:
    """The log-probability of each table of counts: all series of so many records, one by one."""
    listed: dict[tuple[int, ...], list[float]] = {}
    for states in product((0, 1), repeat=pairs + 1):
        counts = np.zeros((2, 2))
        for a, b in pairwise(states):
            counts[a, b] += 1
        log = np.log(0.5) + sum(betaln(*(alpha + row)) - betaln(*alpha) for row in counts)
        listed.setdefault(tuple(counts.astype(int).ravel().tolist()), []).append(float(log))
    return {key: float(logsumexp(logs)) for key, logs in listed.items()}


@pytest.mark.parametrize("pairs", [1, 2, 5, 9])
@pytest.mark.parametrize("alpha", [(1.0, 1.0), (0.3, 2.5)])
def test_the_law_of_counts_is_that_of_all_series(pairs: int, alpha: tuple[float, float]) -> None:
    prior = np.asarray(alpha)
    series, expected = (
        SeriesCounts(noisy((0, 0, 0, 0), LAPLACE, pairs), prior, pairs),
        laws(pairs, prior),
    )
    seen = 0.0
    for excess in (-1, 0, 1):
        left, stayed = np.meshgrid(np.arange(pairs + 1), np.arange(pairs + 1), indexing="ij")
        for log, n01, n00 in zip(
            series.log_law(left, stayed, excess).ravel(), left.ravel(), stayed.ravel(), strict=True
        ):
            key = (n00, n01, n01 - excess, pairs - n00 - 2 * n01 + excess)
            assert np.exp(log) == pytest.approx(np.exp(expected.get(key, -np.inf)), abs=1e-12)
            seen += float(np.exp(log))
    assert seen == pytest.approx(1)


@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN])
def test_the_posterior_is_that_of_all_series(noise: AddedNoise) -> None:
    seen, alpha = (4, 1, 3, -2), np.asarray([1.5, 0.7])
    expected = laws(9, alpha)
    logs = np.array([
        log + sum(noise.log(z - n) for z, n in zip(seen, key, strict=True))
        for key, log in expected.items()
    ])  # fmt: skip
    weights = np.exp(logs - logsumexp(logs))
    counts = np.array(list(expected), dtype=float).reshape(-1, 2, 2)
    mean = weights @ ((alpha + counts) / (alpha + counts).sum(axis=2, keepdims=True)).reshape(-1, 4)
    law = posterior(noisy(seen, noise, 9), alpha)
    assert law.notes == (ORDER,)
    np.testing.assert_allclose(law.mean[:4], mean, atol=5 * max(law.sd) / DRAWS**0.5)


@pytest.mark.parametrize("scale", [0.5, 4.0, 30.0, 900.0])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_narrowing_leaves_nothing_out(kind: str, scale: float) -> None:
    """The grid that is summed over against all counts, for priors that pull either way."""
    for alpha in ([1.0, 1.0], [40.0, 0.5]):
        series = SeriesCounts(
            noisy((60, 22, 17, 31), AddedNoise(kind, scale), 120), np.array(alpha), 120
        )
        left, stayed, logs = series.grid()
        whole = series.weights(np.arange(61), np.arange(121))
        every = np.exp(whole - whole.max())
        some = np.exp(logs - logs.max())
        for axis, values in ((1, left), (2, stayed)):
            others = tuple(i for i in (0, 1, 2) if i != axis)
            mean = (some.sum(axis=others) @ values) / some.sum()
            true = (every.sum(axis=others) @ np.arange(every.shape[axis])) / every.sum()
            assert mean == pytest.approx(true, abs=0.02 * min(scale, 10) + 1e-9)


@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN])
def test_what_is_narrowed_has_the_law_of_all(noise: AddedNoise) -> None:
    """More counts than are looked at at once, against all of them: mean and spread."""
    series = SeriesCounts(noisy((700, 101, 93, 106), noise, 1000), np.ones(2), 1000)
    left, stayed, logs = series.grid()
    assert len(left) < 300
    assert len(stayed) < 600
    every = series.weights(np.arange(501), np.arange(1001))
    for axis, values, all_values in ((1, left, np.arange(501)), (2, stayed, np.arange(1001))):
        others = tuple(i for i in (0, 1, 2) if i != axis)
        for power in (1, 2):
            mean, true = (
                np.exp(part - part.max()).sum(axis=others)
                @ held.astype(float) ** power
                / np.exp(part - part.max()).sum()
                for part, held in ((logs, values), (every, all_values))
            )
            assert mean == pytest.approx(true, rel=1e-9)


def test_large_series_are_narrowed_to_the_noise() -> None:
    for kind in ("laplace", "gaussian"):
        seen = (7_000_000, 1_000_003, 999_998, 1_000_010)
        series = SeriesCounts(
            noisy(seen, AddedNoise(kind, 8.0), 10_000_000), np.ones(2), 10_000_000
        )
        left, stayed, logs = series.grid()
        assert logs.size < 10**6
        best = np.unravel_index(int(logs.argmax()), logs.shape)
        assert abs(int(left[best[1]]) - 1_000_000) < 20
        assert abs(int(stayed[best[2]]) - 7_000_000) < 20
        assert int(np.diff(left).max()) <= 4


def test_both_directions_of_a_change_tell_about_one_number() -> None:
    """A state is left as often as entered, so two noisy counts of it are better than one."""
    seen, noise = (700, 100, 100, 99), AddedNoise("laplace", 40.0)
    together = posterior(noisy(seen, noise, 999), np.ones(2))
    apart = posterior(noisy(seen, noise, 999, series=2), np.ones(2))
    assert apart.notes == (ORDER, APART)
    assert together.sd[1] < 0.85 * apart.sd[1]


def test_without_pairs_it_is_the_prior_and_plugged_in_it_is_a_dirichlet() -> None:
    alpha = np.asarray([3.0, 1.0])
    prior = posterior(noisy((5, -3, 2, 9), LAPLACE, 0, series=0), alpha)
    assert prior.mean[0] == pytest.approx(0.75, abs=0.02)
    plugged = posterior(noisy((97, -3, 0, 9), LAPLACE, 103), alpha, aware=False)
    assert plugged.mean[0] == pytest.approx(100 / 101, abs=0.002)
    assert plugged.mean[2] == pytest.approx(3 / 13, abs=0.02)


def test_shares_are_those_of_the_long_run() -> None:
    rng = np.random.default_rng(4)
    matrices = rng.dirichlet(np.ones(4), size=(5, 4))
    shares = long_run(matrices)
    np.testing.assert_allclose((shares[:, None, :] @ matrices)[:, 0], shares, atol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    stuck = long_run(np.stack([np.eye(2), matrices[0][:2, :2]]))
    assert np.all((stuck >= 0) & (stuck <= 1))


def walked(matrix: Floats, pairs: int, rng: np.random.Generator) -> Floats:
    """Counts of a stationary series of two states."""
    share = matrix[1, 0] / (matrix[0, 1] + matrix[1, 0])
    state, counts = int(rng.random() > share), np.zeros((2, 2))
    for u in rng.random(pairs):
        behind = int(u > matrix[state, 0])
        counts[state, behind] += 1
        state = behind
    return counts


@pytest.mark.prove
@pytest.mark.parametrize(("pairs", "series"), [(200, 1), (4, 50)])
def test_intervals_hold_as_often_as_they_say(
    pairs: int, series: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chances from the prior, 90 % intervals; of all runs together, each number for itself."""
    rng = np.random.default_rng(pairs)
    monkeypatch.setattr(np.random, "default_rng", lambda *_: rng)
    monkeypatch.setattr(chains, "DRAWS", 500)
    many, held = runs(10_000) if in_full() else 200, np.zeros(6)
    if series > 1:
        many = max(many // 10, 60)
    for _ in range(many):
        matrix = rng.dirichlet(np.ones(2), size=2)
        counts = sum(walked(matrix, pairs, rng) for _ in range(series))
        seen = (counts + np.round(rng.laplace(scale=8, size=(2, 2)))).astype(int)
        law = posterior(
            noisy(seen.ravel().tolist(), AddedNoise("laplace", 8.0), pairs * series, series),
            np.ones(2),
        )
        low, high = np.quantile(law.draws, [0.05, 0.95], axis=0)
        true = [*matrix.ravel(), *long_run(matrix[None])[0]]
        held += (low <= true) & (true <= high)
    allowed = 4.5 * (0.09 / many) ** 0.5 + 0.01
    assert np.all(np.abs(held / many - 0.9) < (allowed if series == 1 else allowed + 0.04))


PROGRAM = """
@record
class Month:
    person: Public[Int[1, 99]]
    month: Public[Int[1, 99]]
    state: Category["busy", "idle", "away"]

@program
def f(months: Database[Month]) -> Private[tuple[Vector, Samples]]:
    n = laplace(transition_counts({rows}, order="month", by="person"), epsilon=1)
    return n, noise_aware(observe(n, markov_chain, prior=dirichlet({prior})))
"""


@pytest.mark.parametrize(
    ("rows", "prior", "names"),
    [
        ("months.state", "1, 1, 1", ("busy", "idle", "away")),
        ('(m.state == "busy" for m in months)', "1, 2", ("False", "True")),
        ('(onehot(0 if m.state == "busy" else 1, 2) for m in months)', "1, 1", ("0", "1")),
    ],
)
def test_a_program_returns_chances_and_shares(
    rows: str, prior: str, names: tuple[str, ...]
) -> None:
    core, verdict = accepted(PROGRAM.format(rows=rows, prior=prior))
    table = [
        {"person": i // 20 + 1, "month": i % 20 + 1, "state": ("busy", "idle", "away")[i % 3]}
        for i in range(60)
    ]
    counts, law = run_on(core, verdict, load(core, table)).outputs
    assert len(counts) == len(names) ** 2
    assert isinstance(law, Samples)
    shown = tuple(f"{a} -> {b}" for a in names for b in names)
    assert law.names == (*shown, *(f"share of {name}" for name in names))
    shares = law.draws[:, -len(names) :]
    np.testing.assert_allclose(shares.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        (("dirichlet(1, 1, 1)", "dirichlet(1, 1)"), "prior"),
        (("dirichlet(1, 1, 1)", "beta(1, 1)"), "prior"),
        (("observe(n, markov_chain", "observe(months, markov_chain"), "type"),
        (("observe(n, markov_chain", "observe(2 * n, markov_chain"), "type"),
        (("observe(n, markov_chain", "observe(n, categorical"), "type"),
        (('transition_counts(months.state, order="month", by="person")',
          "sum(onehot(m.state) for m in months)"), "type"),
        (("Samples", "Dirichlet"), "type"),
    ],
)  # fmt: skip
def test_what_is_no_chain_is_refused(changed: tuple[str, str], code: str) -> None:
    from bayesdp.programs.checked_files import verdict_in
    from bayesdp.programs.source import read_text
    from tests.programs.run.helpers import IMPORTS

    text = PROGRAM.format(rows="months.state", prior="1, 1, 1").replace(*changed)
    verdict = verdict_in(read_text(IMPORTS + text), None, None, {})
    assert (verdict.verdict, verdict.code) == ("REJECTED", code)
