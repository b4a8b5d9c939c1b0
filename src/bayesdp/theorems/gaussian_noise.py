"""Gaussian noise on a clipped sum of Gaussian records: its `(epsilon, delta)` curve.

#### e. Gaussian noise, and exact levels

**On a clipped sum** (`gaussian_noise`). With the factor `F` of 3.8 b, c or d and a clipping
interval of width `M`, the clipped sum plus `N(0, sigma^2)` is, for secrets inside the interval,
`(epsilon, delta)`-BDP for every `epsilon >= 0` with

```text
delta = Phi(d/2 - epsilon/d) - e^epsilon Phi(-d/2 - epsilon/d),      d = F M / sigma.
```

**Proof.** Along the coupling of 3.8 b the two sums are at most `F M` apart, so given the coupled
draw the outcomes are normal laws at most that far apart. The hockey-stick divergence `sup_S P(S) -
e^epsilon P'(S)` of two normal laws grows with their distance, and is the expression above (Balle &
Wang, ICML 2018). The outcome's two laws mix these pairs with the same weights; the divergence is
jointly convex, so that of the mixtures is at most the largest one mixed. ∎ For the discrete
Gaussian law on the grid of section 6 the sums are integers apart, at most `F M` in steps and two
more for each other record that moves, and the exact curve of the discrete law takes the place of
the normal one. This speaks of Gaussian noise on this query. It is not a conversion of `(eps,
delta)`-DP: other mechanisms of the same `(eps, delta)` need not obey it, so the conversions of 3.10
don't use it. Counts and histograms are not Lipschitz (7).
"""

from __future__ import annotations

import math

from bayesdp.errors import InputError, UnsupportedError, finite_number
from bayesdp.leakage.normal_curve import normal_delta
from bayesdp.mechanisms.gaussian import discrete_gaussian_delta
from bayesdp.notions import Adversary, Cost
from bayesdp.numbers import UpperBound, up
from bayesdp.populations import Population
from bayesdp.theorems import REGISTRY, ApproximateBound
from bayesdp.theorems.base import Question
from bayesdp.theorems.gaussian import FactorTheorem

SOURCE = "Balle & Wang, ICML 2018, along a shift coupling; theory 3.8 e"


def gaussian_noise(
    population: Population,
    sigma: float,
    width: float,
    bdp_epsilon: float,
    *,
    adversary: Adversary = "any",
    discrete: bool = False,
) -> ApproximateBound:
    """The `delta` at `bdp_epsilon` of a clipped sum with Gaussian noise, an upper bound.

    `width` is that of the clipping interval and `sigma` the noise's standard deviation in the same
    unit. `discrete` says that the noise is the discrete Gaussian on a grid, both in (whole) steps
    of it. `bdp_epsilon` is in nats, at least 0. The population must be Gaussian; secrets lie inside
    the interval. Raises `InputError` naming the argument, `UnsupportedError` where no theorem gives
    a factor. Source: Balle & Wang, ICML 2018, along a shift coupling; theory 3.8 e.

    >>> from bayesdp.populations import Gaussian
    >>> pair = Gaussian(covariance=[[1.0, 0.4483], [0.4483, 1.0]])
    >>> round(gaussian_noise(pair, sigma=4.0, width=1.0, bdp_epsilon=1.0).delta, 6)
    0.000509
    """
    for key, value in (("sigma", sigma), ("width", width)):
        finite_number(key, value, expected="a finite number above 0")
    expected = "a finite number of at least 0"
    finite_number("bdp_epsilon", bdp_epsilon, expected=expected, zero=True)
    if discrete and width != int(width):
        raise InputError("width", width, expected="a whole number of steps for discrete noise")
    theorem, factor = _factor(population, adversary)
    if discrete:
        others = Question(population, adversary).group_size - 1
        shift = math.ceil(up(factor * width, 4)) + 2 * others
        delta = discrete_gaussian_delta(sigma, shift, bdp_epsilon)
    else:
        distance = up(max(factor * width / sigma, math.ulp(0.0)), 2)
        delta = normal_delta(distance, bdp_epsilon)
    return ApproximateBound(theorem, UpperBound(bdp_epsilon), delta, SOURCE)


def _factor(population: Population, adversary: Adversary) -> tuple[str, float]:
    """The least factor of the theorems that apply."""
    question, cost = Question(population, adversary), Cost.of(1.0, "lipschitz")
    if adversary == "informed":
        return "informed", 1.0
    factors = [
        (theorem.factor(population)[0], theorem.name)
        for theorem in REGISTRY
        if isinstance(theorem, FactorTheorem)
        and theorem.concerns(population)
        and theorem.refusal(question, cost) is None
    ]
    if not factors:
        raise UnsupportedError(
            "population",
            population.model,
            expected="a Gaussian population with a factor (theory 3.8 b to d)",
            remedy="Use Laplace noise, or convert the mechanism's (epsilon, delta) by theory 3.10.",
        )
    factor, name = min(factors)
    return name, factor
