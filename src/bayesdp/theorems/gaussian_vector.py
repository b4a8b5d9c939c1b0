"""Gaussian clusters of records that are vectors: several covered columns at once.

#### f. Records with several columns (new)

**Statement** (theorem `gaussian-vector`). Let the records of a cluster be vectors, all numbers
jointly Gaussian with a known covariance, and let the secret values of column `c` lie in an interval
of width `W_c`. Let mechanism `e` be Lipschitz in column `c_e`, clipped to a width `M_e`, at the DP
cost `eps_e`. All of them together have a level of at most

```text
max over (i, K) of  sum_e eps_e (1 + sum_j min( sum_c' |B_(j c_e)(i c')| W_c' / M_e, 1 )),
```

`B` the regression of the unknown records on *all* columns of record `i` given the records in `K`.
Mechanisms of other kinds add `m eps`.

**Proof.** Given `x_K`, going from the vector `x_i` to `x_i'` adds `B (x_i' - x_i)` to the mean of
the unknown numbers and leaves their covariance alone, so one draw, shifted, serves for both. Column
`c` of record `j` shifts by at most `sum_c' |B_(jc)(ic')| W_c'`; after clipping it moves by no more
than that and no more than `M_e`, and the target by at most `M_e`. Mechanism `e` doesn't see other
columns. So along the coupling the density of its output changes by at most `exp(eps_e * (sum of
movements) / M_e)`; the coupling is the same for all mechanisms and for one `(i, K)`, so the
exponents add before the maximum is taken. Average over the draw. ∎ With one column and `W = M` it
is 3.8 b.

`W` is declared with the population (`bounds`), and not taken from the clipping intervals: a column
that is covered and never released moves the others as well, and a level must not fall because
something more is released. Where the mechanism's column is not known, the worst one is counted.

*By hand.* Two records, all numbers of variance 1, columns of widths 10 and 20; the first column of
record 2 has covariance 0.2 with the first and 0.3 with the second of record 1, the second has 0.1
with the second. Then record 1 moves the columns of record 2 by `0.2 * 10 + 0.3 * 20 = 8` and by 2:
the level is `1.8 eps` for a sum of the first column.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bayesdp.leakage.normal import vector_movements
from bayesdp.notions import Bound, Cost
from bayesdp.numbers import UpperBound, up
from bayesdp.populations import Gaussian
from bayesdp.populations.gaussian import MatrixRows
from bayesdp.theorems.base import Question
from bayesdp.theorems.gaussian import ShiftTheorem

LARGEST_CLUSTER = 10
"""Larger clusters are refused: all sets of known records are enumerated."""


class GaussianVector(ShiftTheorem[Gaussian]):
    """The largest sum, over columns, of how far all records together move (theory 3.8 f)."""

    name = "gaussian-vector"
    statement = "vector records: at most the sum over columns of eps times what the records move"
    source = "bayesdp; theory 3.8 f"
    uses = "the covariance between records and between columns, and which column was read"
    ignores = "nothing but the shape of the mechanism"
    models = (Gaussian,)
    reads_columns = True

    def applies(self, population: Gaussian) -> bool:
        """Records that are vectors."""
        return population.columns is not None

    def failed(self, population: Gaussian, cost: Cost) -> str | None:
        """Needs few records, and columns that the covariance describes."""
        if population.group_size > LARGEST_CLUSTER:
            return (
                f"the cluster has {population.group_size} records: all sets of known records are "
                f"enumerated up to {LARGEST_CLUSTER}"
            )
        unknown = [c.column for c in cost.by_column if c.column not in (population.columns or ())]
        if unknown:
            return f"the covariance does not describe {', '.join(unknown)}"
        if _movements(population) is None:
            return "the covariance is too ill-conditioned for a certain answer"
        return None

    def level(self, population: Gaussian, question: Question, cost: Cost) -> Bound:
        """The largest sum over adversaries; `cost.lipschitz` counts where it costs most."""
        moved = _movements(population)
        assert moved is not None
        assert population.columns is not None
        assert population.bounds is not None
        size, widths = population.group_size, _widths(population)
        sums = np.zeros(len(moved))
        for spent in cost.by_column:
            place = population.columns.index(spent.column)
            sums += spent.dp_epsilon * _units(moved[:, :, place], spent.width)
        if cost.lipschitz > 0.0:
            units = [_units(moved[:, :, c], width) for c, width in enumerate(widths)]
            sums += cost.lipschitz * np.max(units, axis=0)
        level = up(float(sums.max()), 4 * (size + len(cost.by_column) + 4))
        slack = float(cost.slack) + sum(float(spent.slack) for spent in cost.by_column)
        if slack > 0.0:
            level = up(level + (size - 1) * slack, 4 + len(cost.by_column))
        if cost.any > 0.0:
            level = up(level + size * cost.any, 4)
        bounds = dict(zip(population.columns, map(list, population.bounds), strict=True))
        return self._bound(UpperBound(level), size=size, bounds=bounds)

    def divergence(
        self, population: Gaussian, question: Question, cost: Cost, alpha: float
    ) -> UpperBound:
        """The worst adversary's sum, each mechanism's zCDP cost by how far its columns move."""
        moved = _movements(population)
        assert moved is not None
        assert population.columns is not None
        size = population.group_size
        sums = np.zeros(len(moved))
        for spent in cost.by_column:
            units = _units(moved[:, :, population.columns.index(spent.column)], spent.width)
            sums += spent.dp_epsilon * units + (size - 1) * spent.slack
            sums += alpha * _shifted(units, spent.rho, size - 1, spent.rho_slack)
        if cost.lipschitz > 0.0 or cost.rho_lipschitz > 0.0:
            by_column = [_units(moved[:, :, c], w) for c, w in enumerate(_widths(population))]
            most: NDArray[np.float64] = np.max(by_column, axis=0)
            sums += cost.lipschitz * most + (size - 1) * cost.slack
            sums += alpha * _shifted(most, cost.rho_lipschitz, size - 1, cost.rho_slack)
        worst = float(sums.max()) + size * cost.any + alpha * size * size * cost.rho_any
        return UpperBound(up(worst, 8 * (size + len(cost.by_column) + 8)))


def _shifted(
    units: NDArray[np.float64], rho: float, others: int, slack: float
) -> NDArray[np.float64]:
    """`leakage.zcdp.shifted` for each adversary; rounded by the caller."""
    root: NDArray[np.float64] = units * math.sqrt(rho) + others * math.sqrt(slack)
    return root * root


def _units(moved: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """`1 + sum_j min(movement / width, 1)` for each adversary."""
    units: NDArray[np.float64] = 1.0 + np.minimum(moved / width, 1.0).sum(axis=1)
    return units


def _widths(population: Gaussian) -> tuple[float, ...]:
    return tuple(up(high - low, 1) for low, high in population.bounds or ())


def _movements(population: Gaussian) -> NDArray[np.float64] | None:
    assert population.covariance is not None
    return _cached(population.covariance, len(population.columns or ()), _widths(population))


@lru_cache(maxsize=8)
def _cached(
    covariance: MatrixRows, columns: int, widths: tuple[float, ...]
) -> NDArray[np.float64] | None:
    return vector_movements(covariance, columns, widths)
