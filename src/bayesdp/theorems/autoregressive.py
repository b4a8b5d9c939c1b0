"""Stationary Gaussian AR(1) series.

Statement (theory 3.8 d). For a stationary AR(1) series with coefficient `phi`, under the hypotheses
of theory 3.8 b (Lipschitz mechanism, bounded secrets), the level is at most
`eps (1 + |phi|) / (1 - |phi|)`, for every length and with records absent at public positions. A
series of `n` records has the smaller factor `max_i sum_j |phi|^|i - j|`.

It is false for other starts (phi = .1 and a first record of variance 1e4 leaks 1.9964 where 1.2222
would be claimed): those are covariances (3.8 b).

Proof. Given known records, only the nearest one on each side matters. On a side without one, the
regression coefficient of the record at distance `k` on the target is `phi^k`. On a side with one at
distance `d`, it is `phi^k (1 - phi^(2(d-k))) / (1 - phi^(2d))`, which is smaller. So knowing
nothing is worst, and the sums are geometric; the target in the middle has the largest. Absent
records only remove terms. The rest is theory 3.8 b.
"""

from __future__ import annotations

from typing import Any

from bayesdp.leakage.normal import autoregressive_factor
from bayesdp.populations import Autoregressive
from bayesdp.theorems.gaussian import FactorTheorem


class AutoregressiveSeries(FactorTheorem):
    """Factor `(1 + |phi|) / (1 - |phi|)`, less for short series (theory 3.8 d)."""

    name = "autoregressive"
    statement = "a stationary AR(1) series: at most (1 + |phi|)/(1 - |phi|) eps, less if short"
    source = "bayesdp; theory 3.8 d"
    uses = "the coefficient and the length"
    ignores = "nothing but the shape of the mechanism"
    models = (Autoregressive,)

    def factor(self, population: Autoregressive) -> tuple[float, dict[str, Any]]:
        """The largest sum of `|phi|^|i - j|`. The start is stationary by declaration."""
        return autoregressive_factor(population.coefficient, population.length), {}
