"""Releases that choose: the exponential mechanism, one answer for each record, posterior samples.

All are softmax draws over whole scores, P(i) proportional to exp(score_i / scale), by OpenDP's
Gumbel noise. If one record moves every score by at most D steps, each probability moves by at most
exp(2 D / scale).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, comb, floor, inf, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesdp.errors import InputError, UnsupportedError
from bayesdp.kernel.programs.rows import labels_of
from bayesdp.programs.check.candidates import MOST_CANDIDATES, fixed_size, labels_in, sizes_of
from bayesdp.programs.ir import Expr, Release
from bayesdp.programs.run.draws.distances import ERROR, STEP, hellinger_scores
from bayesdp.programs.run.draws.noise import NoiseCalibration, Samplers, in_range
from bayesdp.programs.run.posteriors.from_releases import prior_of
from bayesdp.programs.run.results import distributions as d
from bayesdp.programs.run.values.private import (
    MOST,
    RESOLUTION,
    PrivateValues,
    common,
    power_of_two,
    steps_of,
    whole_sum,
)

if TYPE_CHECKING:
    from bayesdp.arrays import Floats, Ints
    from bayesdp.programs.run.tables.rows import RowValues


@dataclass(frozen=True, repr=False)
class Selection:
    """A softmax over candidates: their scores in steps (private), and the scale."""

    candidates: Sequence[Any]
    scores: tuple[int, ...]
    scale: float

    def __repr__(self) -> str:
        return f"<a choice among {len(self.candidates)} candidates>"

    def draw(self, samplers: Samplers) -> Any:
        """A candidate, drawn at random."""
        top = max(self.scores)
        # Shifting all scores changes nothing, and what lies 2^61 steps below the best is never
        # drawn; a floor that moves with the best keeps the ratio of probabilities.
        return self.candidates[
            samplers.choose([max(score - top, -MOST) for score in self.scores], self.scale)
        ]

    def probabilities(self) -> tuple[float, ...]:
        """The law from which `draw` samples. Private: for benchmarks and tests of the claims."""
        top = max(self.scores)
        weights = np.exp([(score - top) / self.scale for score in self.scores])
        return tuple((weights / weights.sum()).tolist())


# -- candidates ------------------------------------------------------------------------------------

Known = Callable[[Expr], bool]


def always(expr: Expr) -> bool:
    """Every expression is known."""
    return True


def numbers_of(candidates: Expr, values: PrivateValues) -> list[Fraction]:
    """Candidates that are numbers, as exact fractions."""
    public = values.public
    parts = [public.number(part) for part in candidates.args]
    if candidates.op == "values":
        return parts
    if candidates.op == "range":
        start, stop, step = (int(part) for part in parts)
        return [Fraction(number) for number in range(start, stop, step)]
    low, high = parts[:2]
    (many,) = numbers_in(candidates, values)
    return [low + (high - low) * i / (many - 1) for i in range(many)]


def numbers_in(candidates: Expr, values: PrivateValues, known: Known = always) -> list[int]:
    """The sizes that candidates are listed by, whole and within their limits.

    The checker has shown it for what depends on released values, so `InputError` is raised by a
    rehearsal only, which asks about what is `known` beforehand.
    """
    sizes = []
    for name, size, least in sizes_of(candidates):
        if not known(size):
            continue
        value = values.public.number(size)
        if value.denominator != 1 or value < least or value > MOST_CANDIDATES:
            raise InputError(
                f"candidates: {name}",
                float(value),
                expected=f"a whole number from {least} to {MOST_CANDIDATES}",
                remedy="It follows from the number of records: hold it in the program by max(...) "
                "and min(...), or by require(...).",
            )
        sizes.append(int(value))
    together = prod(sizes)
    if candidates.op == "grid-of":
        together *= prod(fixed_size(axis) for axis in candidates.args)
    if candidates.op == "posteriors-of" and sizes and labels_in(candidates) > 2:
        together = comb(sizes[0] + labels_in(candidates) - 1, labels_in(candidates) - 1)
    if together > MOST_CANDIDATES:
        raise InputError(
            "candidates",
            together,
            expected=f"at most {MOST_CANDIDATES} of them together",
            remedy="Try fewer values of each argument."
            if candidates.op == "grid-of"
            else "Merge labels, or release noise_aware(laplace(statistics(model), epsilon=...)).",
        )
    return sizes


def laws_of(candidates: Expr, values: PrivateValues) -> tuple[str, list[tuple[Fraction, ...]]]:
    """The family and exact parameters of candidate distributions; impossible ones are left out.

    Raises `InputError` where none is left.
    """
    if candidates.op == "posteriors-of":
        before, (n,) = exact_prior(candidates.args[0], values), numbers_in(candidates, values)
        family = "dirichlet" if candidates.args[0].data[:1] == ("dirichlet",) else "beta"
        return family, [
            tuple(a + k for a, k in zip(before, shared, strict=True))
            for shared in ways_to_share(n, len(before))
        ]
    family = str(candidates.data[0])
    first, second = (numbers_of(axis, values) for axis in candidates.args)
    pairs: list[tuple[Fraction, ...]] = [
        (x, y) for x in first for y in second if y > 0 and (x > 0 or family == "normal")
    ]
    if not pairs:
        raise InputError(
            "candidates",
            expected="parameters above 0",
            remedy="Begin the ranges of the grid above 0.",
            shown=False,
        )
    return family, pairs


def ways_to_share(n: int, labels: int) -> Iterator[tuple[int, ...]]:
    """Every table of counts of n records: of two labels by the first one's count."""
    if labels == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in ways_to_share(n - first, labels - 1):
            yield (first, *rest)


def exact_prior(prior: Expr, values: PrivateValues) -> tuple[Fraction, ...]:
    """The exact parameters of a prior."""
    if prior.op == "prior":
        return tuple(values.public.number(parameter) for parameter in prior.args)
    prior_law = values.public.names[str(prior.data[0])]
    if isinstance(prior_law, d.Joint) and prior_law.parameters is not None:
        return tuple(Fraction(parameter) for parameter in prior_law.parameters)
    assert isinstance(prior_law, d.Mixture)
    return tuple(Fraction(parameter) for parameter in prior_law.parameters)


# -- the exponential mechanism ---------------------------------------------------------------------


def exponential(
    release: Release, values: PrivateValues, calibration: NoiseCalibration
) -> Selection:
    """The choice that a release makes, its scale at least 2 (D + rounding) / epsilon.

    **Exponential mechanism** (`exponential`). Softmax of `e u(c) / (2 S)`, where `S` bounds how far
    the score `u(c)` of any one candidate moves: numerator and normaliser each change by a factor of
    at most `exp(e / 2)`. Candidates are public. For the score `-H(c, posterior)` the triangle
    inequality bounds the move by the distance of the two posteriors (8.4). Scores that are computed
    with an error `eta` each move by at most `S + 2 eta`, which is what the interpreter uses.
    """
    score, candidates = release.args
    if score.op == "hellinger":
        return _hellinger(score, candidates, values, calibration)
    variable = str(score.data[0])
    numbers = numbers_of(candidates, values)
    amounts = [
        values.amount(values.public.filled(score.args[0], {variable: number})) for number in numbers
    ]
    lattice, slack = Fraction(0), max(amount.slack for amount in amounts)
    for amount in amounts:
        lattice = common(common(lattice, amount.lattice), amount.offsets[0])
    totals = [amount.totals[0] for amount in amounts]
    if not calibration.sensitivity:
        # Public scores: the best is chosen.
        best = max(range(len(totals)), key=totals.__getitem__)
        return Selection((numbers[best],), (0,), 1.0)
    unit, slack = calibration.grid(lattice, slack)
    scores = tuple(round(total / unit) for total in totals)
    return Selection(tuple(numbers), scores, calibration.choice(unit, slack))


def _hellinger(
    score: Expr, candidates: Expr, values: PrivateValues, calibration: NoiseCalibration
) -> Selection:
    family, laws, posterior, scale = hellinger_law(score, candidates, values, calibration)
    parameters: Sequence[tuple[Fraction, ...]] = laws
    if family == "normal":
        parameters = [(mean, sd * sd) for mean, sd in laws]
    ordered = candidates.op == "posteriors-of" and family == "beta"
    scores = hellinger_scores(family, parameters, posterior, ordered)
    if family == "dirichlet":
        labels = labels_of(score.args[0].args[0].args[0].args[1], values.public.kinds)
        return Selection(_Dirichlets(laws, labels), tuple(scores), scale)
    results = tuple(d.single(family, float(a), float(b)) for a, b in laws)
    return Selection(results, tuple(scores), scale)


class _Dirichlets(Sequence[Any]):
    """Dirichlet laws by their parameters: there may be very many, of which one is looked at."""

    def __init__(self, laws: Sequence[tuple[Fraction, ...]], labels: tuple[str, ...]) -> None:
        self.laws, self.labels = laws, labels

    def __len__(self) -> int:
        return len(self.laws)

    def __getitem__(self, at: Any) -> Any:
        return d.dirichlet(np.asarray([float(a) for a in self.laws[at]]), self.labels)


def hellinger_law(
    score: Expr, candidates: Expr, values: PrivateValues, calibration: NoiseCalibration
) -> tuple[str, list[tuple[Fraction, ...]], tuple[Fraction, ...], float]:
    """The candidates' family and parameters, the posterior's parameters, and the scale."""
    family, laws = laws_of(candidates, values)
    posterior, extra = exact_posterior(score.args[0].args[0], values)
    return family, laws, posterior, calibration.choice(STEP, 2 * ERROR + extra)


def exact_posterior(model: Expr, values: PrivateValues) -> tuple[tuple[Fraction, ...], Fraction]:
    """The conjugate posterior's parameters, exact; a normal's are its mean and variance.

    And how much farther than the checker's bound its Hellinger distance may move: what the grid of
    the sum adds.
    """
    data, likelihood, prior = model.args
    family = str(likelihood.data[0])
    data = values.public.filled(data)
    before = exact_prior(prior, values)
    if family == "categorical":
        size = Fraction(len(before))
        cells = Expr("data", (data.args[0], Expr("onehot", (data.args[1],), (size,))), data.data)
        counts = values.amount(Expr("sum", (cells,))).totals
        return tuple(a + c for a, c in zip(before, counts, strict=True)), Fraction(0)
    total = values.amount(Expr("sum", (data,)))
    if family == "poisson":
        exposure = values.public.number(likelihood.args[0])
        return (before[0] + total.totals[0], before[1] + exposure), Fraction(0)
    many = values.amount(Expr("count", (data,))).totals[0]
    if family == "bernoulli":
        good = total.totals[0]
        return (before[0] + good, before[1] + many - good), Fraction(0)
    sd = values.public.number(likelihood.args[0])
    variance = 1 / (1 / before[1] ** 2 + many / sd**2)
    mean = variance * (before[0] / before[1] ** 2 + total.totals[0] / sd**2)
    # H = sqrt(1 - exp(-x^2 / (8 v))) <= x / sqrt(8 v).
    moved = total.slack * variance / sd**2
    return (mean, variance), moved * (1 + 1 / (8 * variance))


def _unit(width: Fraction, ends: Sequence[Fraction]) -> Fraction:
    """A step far below the width, and so coarse that doubles hold every number of steps exactly."""
    largest = max((abs(end) for end in ends), default=Fraction(0))
    finest = power_of_two(largest) - 51 if largest else power_of_two(width) - RESOLUTION
    return Fraction(2) ** max(power_of_two(width) - RESOLUTION, finest)


# -- answers of records ----------------------------------------------------------------------------


def per_record(
    release: Release, values: PrivateValues, calibration: NoiseCalibration, samplers: Samplers
) -> Floats:
    """A noisy answer for each record: a softmax draw among numbers.

    Raises `InputError` for a score that doesn't depend on the record.

    **One answer for each record** (`randomized-response`, `per-record-exponential`). Answers are
    independent given the records, and replacing one record changes the law of one answer: the cost
    is one record's, not `n` times it. The number of answers is the number of records; so it must be
    public, and a filter on private columns is refused, as is add-remove. For a score of one record,
    `S` is the width of the interval that all its values lie in, whatever row and candidate.
    """
    row_mask = values.rows.mask(values.public.filled(release.args[0]))
    floats, scores, scale = answer_scores(release, values, calibration)
    table = scores(values.rows)
    table = table if row_mask is None else table[row_mask]
    if not len(table):
        return np.zeros(0)
    return np.asarray(floats[list(samplers.choose_each(table, scale))])


def answer_scores(
    release: Release, values: PrivateValues, calibration: NoiseCalibration
) -> tuple[Floats, Callable[[RowValues], Ints], float]:
    """What each record chooses among, its scores in steps below the best, and the scale.

    The scores are a function of rows, of which each has a row of the table. Raises `InputError` for
    a score that doesn't depend on the record.
    """
    _, score, candidates = release.args
    variable = str(score.data[0])
    numbers = numbers_of(candidates, values)
    bodies = [values.public.filled(score.args[0], {variable: number}) for number in numbers]
    limits = [values.context.range(body) for body in bodies]
    width = calibration.sensitivity
    if not width:
        raise InputError(
            "score",
            expected="a score that depends on the record",
            remedy="Let it read a column of the record.",
            shown=False,
        )
    ends = [end for each in limits for end in (each.low, each.high)]
    unit = _unit(width, [end for end in ends if isinstance(end, Fraction)])

    def scores(rows: RowValues) -> Ints:
        columns = [
            steps_of(rows.numbers(body), each, unit)[0]
            for body, each in zip(bodies, limits, strict=True)
        ]
        table = np.stack(columns, axis=1)
        return np.asarray(table - table.max(axis=1, keepdims=True))

    floats = np.asarray([float(number) for number in numbers])
    return floats, scores, calibration.choice(unit, Fraction(0))


# -- posterior samples -----------------------------------------------------------------------------


def posterior_sample(release: Release, values: PrivateValues) -> Selection:
    """One draw from the tempered grid posterior with clipped log-likelihoods.

    Score: the prior's log-density plus `power` times the sum over records of their log-likelihood
    held in [low, high] and rounded to steps inside; one record moves it by at most
    power (high - low), so the softmax with scale 1 costs twice that; one that enters or
    leaves costs it once, for what all candidates share drops out (theory 8.5). With a Poisson model
    each record has an equal share of the total exposure.

    **A posterior sample** (`posterior-sample`). The grid weight of a candidate `c` is its prior
    weight times `exp(w sum of l(c, x_i))`, with each record's log-likelihood `l` held in `[lo,
    hi]`; let `M = hi - lo`. A record that enters or leaves costs `w M`, whether or not 0 lies in
    `[lo, hi]`, and a record that is replaced costs `2 w M`, whether or not a private filter or
    piece decides if it counts.

    *Proof.* Let `p` be the law without the record and `p'` with it. The weights differ by `exp(w
    l(c))`, so `p'(c) / p(c) = exp(w l(c)) / E`, `E` the mean of `exp(w l)` under `p`. Both
    numerator and `E` lie in `[exp(w lo), exp(w hi)]`: the quotient lies in `[exp(-w M), exp(w M)]`.
    Replacing is one record that leaves and one that enters, so two such steps at most; where a
    filter keeps only one of the two, or none, there are fewer. ∎ (Both records kept: `l(c, x') -
    l(c, x)` is in `[-M, M]`, and the same quotient with an interval of length `2 M` says the same.)

    *What is drawn.* The interpreter's score of a record is a whole number of steps inside `[lo,
    hi]` (a constant, if no step lies inside), whatever doubles make of the likelihood; scores are
    added exactly, and the softmax's scale `1 / (w step)` is rounded up, which is a smaller `w`. The
    prior's weight is the same for both tables. So the proof is about what is drawn. A Poisson
    record's likelihood has its share of the total exposure; the number of records that share it is
    public, and under add-remove such a sample isn't run.
    """
    model, grid = release.args
    options = {name: values.public.number(option) for name, option in release.options}
    low, high, power = options["low"], options["high"], options["power"]
    data, likelihood, prior = model.args
    data = values.public.filled(data)
    numbers = numbers_of(grid, values)
    unit = _unit(high - low, [low, high])
    floor_, ceiling = ceil(low / unit), floor(high / unit)
    if floor_ > ceiling:  # no step lies inside: one constant for all, no larger than the bounds
        floor_ = ceiling = int(low / unit)
    family = str(likelihood.data[0])
    about = [float(values.public.number(parameter)) for parameter in likelihood.args]
    held = values.rows.numbers(data.args[1])
    row_mask = values.rows.mask(data)
    held = held if row_mask is None else held[row_mask]
    law = prior_of(prior, values.public)
    assert isinstance(law, d.Univariate)
    # Where a private column decides who is observed, how many these are is not known.
    sharing = values.public.public_size(data) or values.size
    share = about[0] / sharing if family == "poisson" else 0.0
    scores = []
    for number in numbers:
        theta = float(number)
        if family == "bernoulli":
            count = int((held != 0).sum())
            with np.errstate(divide="ignore", invalid="ignore"):
                both = np.log(np.asarray([1.0 - theta, theta]))
            no, yes = (_held(x, unit, floor_, ceiling) for x in both.tolist())
            total = count * yes + (len(held) - count) * no
        else:
            with np.errstate(all="ignore"):
                logs = _log_likelihood(family, held, theta, about, share)
                inside = np.nan_to_num(logs / float(unit), nan=-inf)
            total = whole_sum(np.clip(np.rint(inside), floor_, ceiling).astype(np.int64))
        with np.errstate(all="ignore"):
            before = float(law.log_density(theta))
        scores.append(total + _prior_steps(before, power * unit))
    return Selection(tuple(numbers), tuple(scores), in_range(1 / (power * unit)))


def _held(value: float, unit: Fraction, low: int, high: int) -> int:
    if not value > -inf:
        return low
    return min(max(round(Fraction(value) / unit), low), high)


def _prior_steps(log_density: float, unit: Fraction) -> int:
    if not -inf < log_density < inf:
        return -(2**59) if not log_density > 0 else 2**59
    return round(Fraction(log_density) / unit)


def _log_likelihood(
    family: str, x: Floats, theta: float, about: list[float], share: float
) -> Floats:
    if family == "normal":
        sd = about[0]
        return np.asarray(-0.5 * ((x - theta) / sd) ** 2 - np.log(sd * np.sqrt(2 * np.pi)))
    if family != "poisson":
        raise UnsupportedError("posterior_sample", family, expected="one number's likelihood")
    from scipy.special import gammaln

    rate = theta * share
    return np.asarray(x * np.log(rate) - rate - gammaln(x + 1.0))
