"""Posteriors of how long it takes: failures before successes, and times to an event.

`negative_binomial`: the sum s of failures before n r successes of chance x has the law
C(s + n r - 1, s) x^(n r) (1 - x)^s; the noise is summed out over s. `exponential_time`: with total
time T and d events of rate x the likelihood is x^d e^(-x T). Without censoring all n events come
and T is gamma distributed; with it d is taken as Poisson with mean x T, and T has a flat prior.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from bayesdp.programs.run.numerics.hidden_counts import DROP
from bayesdp.programs.run.numerics.poisson_events import log_events
from bayesdp.programs.run.numerics.quadrature import by_quadrature
from bayesdp.programs.run.results import distributions as d

if TYPE_CHECKING:
    from bayesdp.arrays import Floats
    from bayesdp.programs.run.numerics.observed import Noisy

FLAT_TIME = "The total time has a flat prior, and events are Poisson given it."
POINTS = 601


def log_time_likelihood(source: Noisy, longest: float) -> Callable[[Floats], Floats]:
    """The log-likelihood of a rate, from noisy sums of times and, where censored, of events.

    Sums of times are in units of the `longest` time that a record can have.
    """
    n = float(source.size or 0)
    censored = len(source.values) == 2
    seen = source.floats[-1]
    reach = (DROP if source.noise.kind == "laplace" else (2 * DROP) ** 0.5) * source.noise.scale
    middle = min(max(seen, 0.0), n)
    low, high = max(middle - reach, 0.0), min(middle + reach, n)
    # A node at the released number itself: there the noise's density has its peak.
    shares = np.unique(
        np.concatenate([np.linspace(low, high, POINTS), [min(max(seen, low), high)]])
    )
    shares = shares[shares > 0]
    widths = np.gradient(shares) if len(shares) > 1 else np.ones(1)
    times = shares * longest
    weights = source.noise.log(seen - shares) + np.log(widths)
    if censored:
        known = log_events(source.floats[0], source.noise, n)
    else:
        weights = weights + (n - 1) * np.log(times)

    def logs(rate: Floats) -> Floats:
        from scipy.special import logsumexp

        sums = np.empty(len(rate))
        for start in range(0, len(rate), 256):
            part = rate[start : start + 256, None] * times[None, :]
            each = known(part) if censored else -part
            sums[start : start + 256] = logsumexp(weights[None, :] + each, axis=1)
        return sums if censored else np.asarray(sums + n * np.log(rate))

    return logs


def exponential_time(
    source: Noisy,
    longest: float,
    prior: d.Univariate,
    space: tuple[str, d.CredibleInterval],
    aware: bool,
) -> d.Univariate:
    """The posterior of a rate of events; `aware`: the noise on the sums counts.

    `longest` is the longest time of a record, `space` where `by_quadrature` looks for the rate.
    """
    n = float(source.size or 0)
    # Where a prior lies near 0 or far out, the records may still say otherwise.
    name, (low, high) = space
    space = name, (min(low, -40.0), max(high, 40.0))
    if aware:
        logs = log_time_likelihood(source, longest)
        notes: tuple[str, ...] = (FLAT_TIME,) if len(source.values) == 2 else ()
    else:
        time = min(max(source.floats[-1], 0.0), n) * longest
        events = min(max(source.floats[0], 0.0), n) if len(source.values) == 2 else n

        def logs(rate: Floats) -> Floats:
            return np.asarray(events * np.log(rate) - rate * time)

        notes = ()
        if isinstance(prior, d.Mixture) and len(prior.weights) == 1:
            shape, rate = prior.parameters
            return d.single("gamma", shape + events, rate + time)

    def density(rate: Floats) -> Floats:
        return np.asarray(logs(rate) + prior.log_density(rate))

    return by_quadrature("gamma", density, *space, notes)
