"""How far conjugate posteriors of neighbouring databases are apart, in Hellinger distance.

`H = sqrt(1 - BC)`, BC the Bhattacharyya coefficient; each function gives a ball that is certainly
not below the largest distance. Proofs: theory 8.4.

### 8.4 Distances of posteriors

`H^2 = 1 - BC` with `BC` the integral of the root of the product of two densities. Let

```text
r(a) = Gamma(a + 1/2) / sqrt( Gamma(a) Gamma(a + 1) )
```

`log r` increases, from minus infinity at 0 to 0, and is concave: its derivative `psi(a + 1/2) -
(psi(a) + psi(a + 1)) / 2` is positive because the digamma function `psi` is concave, and its second
derivative negative because `psi'` is convex.

**Bernoulli, Beta(a, b) prior.** From the Beta integral, `BC = r(a') r(b')` between Beta(a' + 1, b')
and Beta(a', b' + 1), and `BC = r(a') / r(a' + b')` between Beta(a', b') and Beta(a' + 1, b').

*A public number n of records, one replaced.* The others have `k` successes and `m - k` failures,
`m = n - 1`: `BC = r(a + k) r(b + m - k)`. Its logarithm is concave in `k`, so it is least at an
end: `min(r(a) r(b + m), r(a + m) r(b))`, which grows with `n`. So the fewest admitted records are
the worst. A piece of a public partition, or a public filter, may have one record, whatever is
required of the whole.

*A private number of records* (a private filter or piece). A replaced record may flip: `BC >= r(a)
r(b)`. It may come or go: `BC >= r(a')`, `a'` at least the smaller of `a`, `b`, because `r < 1`. The
first is less. Under add-remove only the second happens: `sqrt(1 - r(min(a, b)))`, the limit for
many records of the other kind.

So `sqrt(1 - pi/4)` is the constant for parameters of at least 1: `r(1) = sqrt(pi) / 2`. For
Jeffreys' prior it is `sqrt(1 - 2/pi)`.

**Categorical, Dirichlet prior.** Two categories trade one count: the same integral gives `r(a')
r(b')` of the two, at least that of the two smallest parameters; one count more gives `r(a') /
r(total)`, at least `r` of the smallest one. A filter changes nothing: both may happen then.

**Poisson, Gamma(shape, rate) prior, public exposure.** Both posteriors have one rate, and shapes
`s` and `s + d`, where `s` is at least the prior's: `BC = Gamma(s + d/2) / sqrt(Gamma(s) Gamma(s +
d))`. It grows with `s` (as above, `psi` is concave) and falls with `d`. `d` is at most the width of
the clipped counts, or their largest one where a record may come or go.

**Normal mean, known variances** `s^2` of a record and `t^2` of the prior, `n` records, public. The
posteriors have one variance `v = s^2 t^2 / (s^2 + n t^2)`, and means `D = w t^2 / (s^2 + n t^2)`
apart, `w` the width of a clipped record: `BC = exp(-D^2 / (8 v)) = exp( -w^2 t^2 / (8 s^2 (s^2 + n
t^2)) )`, least for the fewest records. Where the number of records is private the variance moves
too, and no bound is derived.

**Rounding.** Constants are computed in balls and rounded up to ten digits. That a score is `-H(c,
posterior)` of the nearest double is the interpreter's business (8.5). No distance of a *prior* is
ever carried to its posterior: a prior of standard deviation 1e-6 can become a posterior of 0.17.
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
