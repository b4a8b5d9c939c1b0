"""How far conjugate posteriors of neighbouring databases are apart, in Hellinger distance.

`H = sqrt(1 - BC)`, BC the Bhattacharyya coefficient; each function gives a ball that is certainly
not below the largest distance. Proofs: theory 8.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from bayesdp.kernel.arithmetic import ball, largest, require

HALF = Fraction(1, 2)
"""The number 1/2, exactly."""


def log_r(a: Fraction) -> arb:
    """`r(a) = Gamma(a + 1/2) / sqrt(Gamma(a) Gamma(a + 1))`: rises to 1, log-concave."""
    require(a > 0, "a prior's parameter is not above 0")
    return ball(a + HALF).lgamma() - (ball(a).lgamma() + ball(a + 1).lgamma()) / 2


def from_log(log_coefficient: arb) -> arb:
    """`sqrt(1 - BC)`, rounded up. BC is held at 1, since a ball around 1 may reach above it."""
    if not log_coefficient.is_finite():
        return arb(1)
    squared = (1 - log_coefficient.min(arb(0)).exp()).upper()
    return squared.sqrt() if squared > 0 else arb(0)


def traded(a: Fraction, b: Fraction) -> arb:
    """Two categories trade one count: from (a + 1, b) to (a, b + 1)."""
    return from_log(log_r(a) + log_r(b))


def gained(a: Fraction) -> arb:
    """A category gains a count, whatever the others hold: furthest where these are large."""
    return from_log(log_r(a))


def replaced_of(a: Fraction, b: Fraction, records: int) -> arb:
    """Beta prior, public size: one of `records` or more bits is replaced.

    The sum of two log-concave terms is least at an end: all others are 0, or all are 1.
    """
    others = records - 1
    require(others >= 0, "the number of records is below 1")
    return largest([traded(a + others, b), traded(a, b + others)])


def of_labels(prior: Sequence[Fraction], replaced: bool) -> arb:
    """Beta or Dirichlet prior, any number of records: two counts change, or one does."""
    low = sorted(prior)
    require(len(low) >= 2, "a Dirichlet prior has fewer than two labels")
    gain = gained(low[0])
    return largest([gain, traded(low[0], low[1])]) if replaced else gain


def of_counts(shape: Fraction, shift: Fraction) -> arb:
    """Gamma posteriors of one rate, shapes `shift` apart: furthest at the prior's own shape."""
    require(shape > 0 and shift >= 0, "a prior's parameter is not above 0")
    middle = ball(shape + shift / 2).lgamma()
    return from_log(middle - (ball(shape).lgamma() + ball(shape + shift).lgamma()) / 2)


def of_means(shift: Fraction, prior_sd: Fraction, sd: Fraction, records: int) -> arb:
    """Normal posteriors of one variance: means apart by `shift t^2 / (s^2 + n t^2)`."""
    require(prior_sd > 0 and sd > 0 and records >= 1, "a standard deviation is not above 0")
    within, before = sd * sd, prior_sd * prior_sd
    precision = (within + records * before) / (within * before)
    apart = shift * before / (within + records * before)
    return from_log(-ball(apart * apart * precision / 8))
