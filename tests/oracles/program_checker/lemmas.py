"""Distances of posteriors: how far a conjugate posterior moves when one record changes.

The squared Hellinger distance is `H^2 = 1 - BC`, BC the Bhattacharyya coefficient. With
`r(a) = Gamma(a + 1/2) / sqrt(Gamma(a) Gamma(a + 1))`, which rises from 0 to 1, log-concave
(Watson 1959): BC of Beta(a+1, b) and Beta(a, b+1) is `r(a) r(b)`, of Beta(a, b) and
Beta(a+1, b) it is `r(a) / r(a+b)`. Constants are rounded up in ball arithmetic. Source: theory 8.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

DIGITS = 10


@dataclass(frozen=True)
class Size:
    """What is known of the number of rows: public and at least `least`, or private."""

    public: bool
    least: int = 1


def beta_binomial(a: Fraction, b: Fraction, size: Size, entering: bool) -> Fraction:
    """Largest Hellinger distance of adjacent posteriors under a Beta(a, b) prior, rounded up.

    `entering` says that a record may enter or leave. With a public size m the replaced record moves
    Beta(a+k+1, b+m-1-k) to Beta(a+k, b+m-k): concavity puts the worst k at an end.
    """
    if size.public and not entering:
        m = size.least - 1
        products = [(a, b + m), (a + m, b)]
        return max(_replaced(product) for product in products)
    moved = max(_entered(a), _entered(b))
    return moved if entering else max(moved, _replaced((a, b)))


def dirichlet(prior: Sequence[Fraction], entering: bool) -> Fraction:
    """The same under a Dirichlet prior, any number of records.

    Two categories trade one count; a record that enters or leaves moves one of them, which is less.
    """
    first, second = sorted(prior)[:2]
    return _entered(first) if entering else max(_replaced((first, second)), _entered(first))


def gamma_poisson(shape: Fraction, move: Fraction) -> Fraction:
    """Gamma(shape + s, rate) against Gamma(shape + s + d, rate), d <= move: worst at s = 0."""
    arb = _balls()
    a, d = arb(shape), arb(move)
    log_bc = (a + d / 2).lgamma() - (a.lgamma() + (a + d).lgamma()) / 2
    return _distance(log_bc)


def normal(move: Fraction, prior_sd: Fraction, sd: Fraction, least: int) -> Fraction:
    """Means of posteriors of equal variance, `least` records and more: worst at the fewest."""
    arb = _balls()
    s2, t2 = arb(sd * sd), arb(prior_sd * prior_sd)
    exponent = arb(move * move) * t2 / (8 * s2 * (s2 + least * t2))
    return _distance(-exponent)


def _replaced(pair: tuple[Fraction, Fraction]) -> Fraction:
    return _distance(_log_r(pair[0]) + _log_r(pair[1]))


def _entered(a: Fraction) -> Fraction:
    """Beta(x, y) against Beta(x+1, y), x >= a: at most sqrt(1 - r(a)), the limit for large y."""
    return _distance(_log_r(a))


def _log_r(a: Fraction) -> Any:
    arb = _balls()
    x = arb(a)
    half = arb(Fraction(1, 2))
    return (x + half).lgamma() - (x.lgamma() + (x + 1).lgamma()) / 2


def _distance(log_bc: Any) -> Fraction:
    """sqrt(1 - BC), rounded up to ten digits; at most 1."""
    squared = -(log_bc.expm1())
    upper = squared.max(0).sqrt().upper()
    if not upper < 1:  # also a ball so wide that its ends would be huge numbers
        return Fraction(1)
    scale = 10**DIGITS
    whole = (upper * scale).ceil().unique_fmpz() if hasattr(upper, "ceil") else None
    if whole is None:
        return Fraction(1)
    return min(Fraction(int(whole), scale), Fraction(1))


def _balls() -> Any:
    from flint import arb, ctx, fmpq

    ctx.prec = max(ctx.prec, 128)

    def ball(value: Fraction | int) -> Any:
        exact = Fraction(value)
        return arb(fmpq(exact.numerator, exact.denominator))

    return ball
