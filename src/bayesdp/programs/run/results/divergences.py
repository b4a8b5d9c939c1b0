"""How far two distributions are apart, by PrivInfer's four divergences: to look at, not to rely on.

For densities p and q, the first against the second (theory 8.1): statistical distance, half the
integral of |p - q|; squared Hellinger distance, 1 minus that of sqrt(p q); KL, that of p log(p/q),
in nats; eps-skew, that of max(p - e^eps q, 0), the least delta at this epsilon one way round.
"""

from __future__ import annotations

import itertools
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayesdp.errors import InputError

if TYPE_CHECKING:
    from bayesdp.programs.run.results.univariate_law import Law

DivergenceKind = Literal["statistical", "squared-hellinger", "kl", "skew"]
KINDS: tuple[DivergenceKind, ...] = ("statistical", "squared-hellinger", "kl", "skew")


def of_densities(kind: DivergenceKind, p: Law, q: Law, epsilon: float = 0.0) -> float:
    """The divergence of two distributions of one number, by quadrature.

    Raises `InputError` for an unknown kind, and for an epsilon below 0 or of another kind than
    "skew".
    """
    from scipy.integrate import quad

    _check(kind, epsilon)
    levels = (1e-13, 1e-9, 1e-6, 1e-3, 0.05, 0.3, 0.5, 0.7, 0.95, 0.999, 1 - 1e-6, 1 - 1e-13)
    ends = sorted({float(np.asarray(law.quantile(u))) for law in (p, q) for u in levels})

    def at(x: float) -> float:
        return _at(kind, epsilon, float(p.density(x)), float(q.density(x)))

    parts = [quad(at, a, b, limit=200)[0] for a, b in itertools.pairwise(ends)]
    return float(max(np.sum(parts), 0.0))


def _at(kind: DivergenceKind, epsilon: float, p: float, q: float) -> float:
    _check(kind, epsilon)
    if kind == "statistical":
        return abs(p - q) / 2
    if kind == "squared-hellinger":
        return (sqrt(p) - sqrt(q)) ** 2 / 2
    if kind == "skew":
        return max(p - exp(epsilon) * q, 0.0)
    if p == 0.0:
        return q
    # p log(p/q) - p + q is never below 0, and has the same integral.
    return inf if q == 0.0 else p * log(p / q) - p + q


def _check(kind: str, epsilon: float) -> None:
    if kind not in KINDS:
        raise InputError("kind", kind, expected=f"one of {', '.join(KINDS)}")
    if epsilon < 0.0 or (epsilon and kind != "skew"):
        raise InputError("epsilon", epsilon, expected='at least 0, and only for "skew"')
