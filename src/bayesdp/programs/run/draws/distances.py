"""Hellinger distances of distributions in ball arithmetic, as scores in whole steps.

A score is minus the distance, rounded to a multiple of `STEP`; its error is at most `ERROR`: half a
step and the ball. Two neighbours' scores are then at most `2 ERROR` farther apart than the exact
ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

BITS = 30
STEP = Fraction(1, 2**BITS)
ERROR = STEP / 2 + STEP / 1024
LawParameters = tuple[Fraction, ...]


def hellinger_scores(
    family: str,
    candidates: Sequence[LawParameters],
    posterior: LawParameters,
    ordered: bool = False,
) -> list[int]:
    """The score of every candidate in steps: minus its distance to the posterior.

    `ordered`: the candidates lie on a line of natural parameters (posteriors of n records). Along a
    line the Bhattacharyya coefficient falls on either side of the posterior, for the log-partition
    is convex; so beyond a candidate whose score is the least, so are all others.
    """
    score = _scorer(family, posterior)
    if not ordered or len(candidates) < 64:
        return [score(candidate) for candidate in candidates]
    nearest = min(range(len(candidates)), key=lambda i: abs(candidates[i][0] - posterior[0]))
    scores = [-(2**BITS)] * len(candidates)
    for way in (range(nearest, len(candidates)), range(nearest - 1, -1, -1)):
        for i in way:
            scores[i] = score(candidates[i])
            if scores[i] == -(2**BITS):
                break
    return scores


def _scorer(family: str, posterior: LawParameters) -> Callable[[LawParameters], int]:
    log_bc = {"beta": _beta, "gamma": _gamma, "normal": _normal, "dirichlet": _dirichlet}[family]

    def score(candidate: LawParameters) -> int:
        if candidate == posterior:
            return 0
        for bits in (160, 320, 640, 1280):
            rounded = _rounded(log_bc, candidate, posterior, bits)
            if rounded is not None:
                return rounded
        raise AssertionError("a distance that balls don't settle")

    return score


def _rounded(
    log_bc: Callable[..., Any], a: LawParameters, b: LawParameters, bits: int
) -> int | None:
    import flint

    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        squared = -(log_bc(a, b, _ball)).expm1()
        distance = squared.max(0).min(1).sqrt() * 2**BITS
        if not float(distance.rad()) < 2.0**-11:
            return None
        mantissa, exponent = distance.mid().man_exp()
        return -min(int(2**BITS), round(Fraction(int(mantissa)) * Fraction(2) ** int(exponent)))
    finally:
        flint.ctx.prec = before


def _ball(value: Fraction) -> Any:
    import flint

    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def _beta(a: LawParameters, b: LawParameters, ball: Any) -> Any:
    return _dirichlet(a, b, ball)


@lru_cache(maxsize=2**16)
def _lgamma(value: Fraction, bits: int) -> Any:
    """The logarithm of the gamma function with the precision that is set: `bits`.

    Candidates share the numbers of their parameters.
    """
    return _ball(value).lgamma()


def _dirichlet(a: LawParameters, b: LawParameters, ball: Any) -> Any:
    import flint

    def log_norm(parts: Sequence[Fraction]) -> Any:
        total = -_lgamma(sum(parts, Fraction(0)), flint.ctx.prec)
        for part in parts:
            total += _lgamma(part, flint.ctx.prec)
        return total

    middle = [(x + y) / 2 for x, y in zip(a, b, strict=True)]
    return log_norm(middle) - (log_norm(a) + log_norm(b)) / 2


def _gamma(a: LawParameters, b: LawParameters, ball: Any) -> Any:
    """Shape and rate."""

    def log_norm(shape: Fraction, rate: Fraction) -> Any:
        return ball(shape).lgamma() - ball(shape) * ball(rate).log()

    middle = log_norm((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
    return middle - (log_norm(*a) + log_norm(*b)) / 2


def _normal(a: LawParameters, b: LawParameters, ball: Any) -> Any:
    """Mean and variance."""
    (m, v), (p, w) = a, b
    return (2 * (ball(v) * ball(w)).sqrt() / ball(v + w)).log() / 2 - ball(
        (m - p) ** 2 / (4 * (v + w))
    )
