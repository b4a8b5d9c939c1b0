"""Shares of rates where labels are observed with unequal exposures.

A record has label j with the chance p_j, proportional to e_j times the rate r_j; the shares of the
rates (they add up to 1) have a Dirichlet prior with numbers a. Then p has the density

    Dirichlet(p; a) / (sum of p_j / e_j)^A,   A the sum of a, up to a constant,

so the posterior is that of equal exposures with each draw weighted by this power.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesdp.programs.run.results.distributions import Joint, Samples

if TYPE_CHECKING:
    from bayesdp.arrays import Floats

DRAWS = 6_000


def with_exposures(equal: Joint, exposures: list[float], alpha: Floats) -> Samples:
    """The posterior of the rates' shares, from the posterior `equal` of the chances.

    The latter is that of equal exposures, for a Dirichlet prior with numbers `alpha`.
    """
    rng = np.random.default_rng()
    chances = equal.samples(DRAWS, rng)
    rates = chances / np.asarray(exposures)
    logs = -float(alpha.sum()) * np.log(rates.sum(axis=1))
    weights = np.exp(logs - logs.max())
    drawn_places = rng.choice(DRAWS, size=DRAWS, p=weights / weights.sum())
    shares = rates / rates.sum(axis=1, keepdims=True)
    ess = float(weights.sum() ** 2 / (weights**2).sum())
    about = {name: {"ess": ess, "r_hat": 1.0} for name in equal.names}
    return Samples("dirichlet", equal.names, np.array(shares[drawn_places]), about, equal.notes)
