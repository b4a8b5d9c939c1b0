"""Posteriors of a Markov chain's transitions from noisy counts of them.

**The law of the counts.** A series of given length has the probability p(x1) times the product of
`P(i, j)^n(i, j)`, so given its counts n, the posterior of each row of P is its Dirichlet prior with
the counts added. What noise hides is n. Its law is that product times the number of series that
have these counts, summed over priors: counts of one series are not free, since a state is entered
as often as it is left, but for the ends. For two states the number is one of binomials: n(0, 1) or
one more runs of a state share its n(i, i) repetitions (Whittle 1955 has all states). All true
counts are summed over, of both values of the first record, each taken for equally likely.

**Several series, or more states.** How many series have given counts is then no short formula.
Each row's counts are taken for themselves, with a flat prior of how often their state is left. That
a state is left as often as it is entered isn't counted on, so the posterior is wider than it might
be.

With much noise the sums go over every g-th count, g at most an eighth of the noise's scale or 1/300
of what there is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesdp.programs.run.numerics.hidden_counts import cells
from bayesdp.programs.run.results.distributions import Samples

if TYPE_CHECKING:
    from bayesdp.arrays import Bools, Floats, Ints
    from bayesdp.programs.run.numerics.observed import Noisy

DRAWS = 4000
DROP = 30.0
"""True counts whose weight is below e^-30 of the largest are left out."""
FINE, COARSE = 8, 300
"""Steps for each scale of the noise at least, and steps across what is looked at."""
ORDER = "The model is a chain: a record depends on the one before it alone."
APART = (
    "That a state is left as often as it is entered is not counted on: each row of transitions is "
    "taken for itself."
)


def posterior(source: Noisy, alpha: Floats, aware: bool = True) -> Samples:
    """Draws of all transition chances, row by row, and of the share of each state in the long run.

    `source` are the noisy counts with what is public of them, `alpha` the Dirichlet prior of every
    row. `aware`: the noise counts, else the released numbers are taken for the true ones.
    """
    rng = np.random.default_rng()
    states, notes = len(alpha), [ORDER]
    seen = np.asarray(source.floats).reshape(states, states)
    if source.size == 0:
        counts = np.zeros((DRAWS, states, states))
    elif not aware:
        counts = np.broadcast_to(np.maximum(seen, 0.0), (DRAWS, states, states))
    elif states == 2 and source.runs == 1 and source.size is not None:
        counts = SeriesCounts(source, alpha, source.size).draws(DRAWS, rng)
    else:
        notes.append(APART)
        rows = [cells(tuple(row), source.noise, alpha, None).draw(DRAWS, rng) for row in seen]
        counts = np.stack(rows, axis=1)
    gammas = rng.gamma(alpha + counts)
    # Of tiny parameters all may be 0 in doubles.
    gammas = np.maximum(gammas, 1e-300)
    chances = gammas / gammas.sum(axis=2, keepdims=True)
    table = np.hstack([chances.reshape(DRAWS, -1), long_run(chances)])
    labels = source.labels or tuple(map(str, range(states)))
    names = tuple(f"{before} -> {behind}" for before in labels for behind in labels)
    names += tuple(f"share of {label}" for label in labels)
    diagnostics = {name: {"ess": float(DRAWS), "r_hat": 1.0} for name in names}
    return Samples("chain", names, table, diagnostics, tuple(notes))


def long_run(chances: Floats) -> Floats:
    """The share of each state in the long run, of each matrix of transitions."""
    states = chances.shape[-1]
    equations = np.swapaxes(np.eye(states) - chances, -1, -2).copy()
    equations[:, -1, :] = 1.0
    right = np.zeros((len(chances), states, 1))
    right[:, -1] = 1.0
    try:
        shares = np.linalg.solve(equations, right)[:, :, 0]
    except np.linalg.LinAlgError:  # some matrix stays where it is, up to rounding
        shares = (np.linalg.pinv(equations) @ right)[:, :, 0]
    shares = np.clip(np.nan_to_num(shares), 0.0, 1.0)
    return np.asarray(shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300))


class SeriesCounts:
    """The true counts of one series of two states, given noisy ones.

    They are given by n(0, 1), n(0, 0) and the excess n(0, 1) - n(1, 0), which is -1, 0 or 1: the
    number of all pairs is public.
    """

    def __init__(self, source: Noisy, alpha: Floats, pairs: int) -> None:
        self.seen, self.noise = source.floats, source.noise
        self.alpha, self.pairs = alpha, pairs

    def log_law(self, left: Ints, stayed: Ints, excess: int) -> Floats:
        """The log-probability of counts under the prior: n(0, 1), n(0, 0) and the excess."""
        from scipy.special import betaln

        n00, n01, n10, n11 = self._counts(left, stayed, excess)
        possible = (n10 >= 0) & (n11 >= 0) & (n01 >= 0) & (n00 >= 0)
        n00, n01, n10, n11 = (np.where(possible, n, 0) for n in (n00, n01, n10, n11))
        ways = np.full(np.shape(n00), -np.inf)
        if excess >= 0:  # it may begin with 0
            ways = np.logaddexp(ways, log_choose(n00 + n10, n10) + _shared(n11, n01))
        if excess <= 0:
            ways = np.logaddexp(ways, log_choose(n11 + n01, n01) + _shared(n00, n10))
        to_0, to_1 = self.alpha
        rows = betaln(to_0 + n00, to_1 + n01) + betaln(to_0 + n10, to_1 + n11)
        logs = ways + rows - 2 * betaln(to_0, to_1) - np.log(2.0)
        return np.where(possible, logs, -np.inf)

    def _counts(
        self, left: Ints, stayed: Ints, excess: int | Ints
    ) -> tuple[Ints, Ints, Ints, Ints]:
        back = left - excess
        return stayed, left, back, self.pairs - stayed - left - back

    def weights(self, left: Ints, stayed: Ints) -> Floats:
        """Log-weights of an outer grid, for the excesses -1, 0 and 1."""
        grid = np.meshgrid(left, stayed, indexing="ij")
        made = []
        for excess in (-1, 0, 1):
            counts = self._counts(*grid, excess)
            noise = sum(self.noise.log(seen - n) for seen, n in zip(self.seen, counts, strict=True))
            made.append(self.log_law(*grid, excess) + noise)
        return np.stack(made)

    def grid(self) -> tuple[Ints, Ints, Floats]:
        """The values of n(0, 1) and n(0, 0) that weigh anything, and the weights.

        What is looked at is narrowed from all possible counts. A point may stand for others up to a
        step away, whose noise is as much likelier as the scale allows: that is left as a margin.
        """
        half = (self.pairs + 1) // 2
        box = [0, half, 0, self.pairs]
        finest = max(1, int(self.noise.scale / FINE))
        while True:
            steps = [max(1, -(-(box[i + 1] - box[i]) // COARSE)) for i in (0, 2)]
            left, stayed = (
                np.arange(box[i], box[i + 1] + 1, step, dtype=np.int64)
                for i, step in zip((0, 2), steps, strict=True)
            )
            logs = self.weights(left, stayed)
            if max(steps) <= finest:
                return left, stayed, logs
            keep = self._near(logs, -float(self.noise.log(4.0 * sum(steps))))
            each = (np.asarray(keep.any(axis=axis)) for axis in (1, 0))
            narrowed = [*_ends(left, next(each)), *_ends(stayed, next(each))]
            narrowed = [
                max(narrowed[0] - steps[0], 0), min(narrowed[1] + steps[0], half),
                max(narrowed[2] - steps[1], 0), min(narrowed[3] + steps[1], self.pairs),
            ]  # fmt: skip
            if narrowed == box:  # all of it counts: a finer grid would not be smaller
                return left, stayed, logs
            box = narrowed

    @staticmethod
    def _near(logs: Floats, margin: float) -> Bools:
        best = logs.max(axis=0)
        return np.asarray(best >= best.max() - DROP - 2 * margin)

    def draws(self, many: int, rng: np.random.Generator) -> Floats:
        """So many draws of all four counts, row by row."""
        left, stayed, logs = self.grid()
        mass = np.exp(logs - logs.max()).ravel()
        drawn_cells = rng.choice(len(mass), size=many, p=mass / mass.sum())
        excess, i, j = np.unravel_index(drawn_cells, logs.shape)
        counts = self._counts(left[i], stayed[j], np.asarray(excess - 1, dtype=np.int64))
        return np.stack(counts, axis=1).reshape(many, 2, 2).astype(np.float64)


def _ends(values: Ints, possible: Bools) -> tuple[int, int]:
    where = np.flatnonzero(possible)
    return int(values[where[0]]), int(values[where[-1]])


def log_choose(n: Ints, k: Ints) -> Floats:
    """The logarithm of a binomial coefficient, 0 <= k <= n."""
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def _shared(repeated: Ints, runs: Ints) -> Floats:
    """The ways in which so many runs of a state share its repetitions; none has only 0 of them."""
    ways = log_choose(repeated + np.maximum(runs, 1) - 1, np.maximum(runs, 1) - 1)
    return np.where(runs > 0, ways, np.where(repeated == 0, 0.0, -np.inf))
