"""What a level does to beliefs, in decimals of sixty digits rounded outward.

What is shown to people must never be sharper than what is true, whatever double precision makes of
it: upper limits are rounded up, lower limits down, at every step (theory 1, 3.10b).

### 3.10b What a delta leaves of beliefs (new)

**Statement.** Let `F` be a fact about record `i`, and let an adversary's beliefs have the
population's conditional law for the rest. If the level is `(e, delta)`, then, whether `F` is true
or not, with probability at least `1 - 3 delta` the odds of `F` after seeing the output are between
`1 / (2 e^e)` and `2 e^e` times the odds before.

**Proof.** The laws of the output given `F` and given its opposite are mixtures of the laws `P[. |
x_i, x_K]`, over values `x_i` on either side; the inequality of 3.10 is linear in both, so it holds
for the mixtures: `P[A | F] <= e^e P[A | not F] + delta`, and the other way round. The odds change
by the likelihood ratio. Let `B` be the outputs where it is above `t e^e`, `t > 1`. Then `P[B |
F] >= t e^e P[B | not F]` and `P[B | F] <= e^e P[B | not F] + delta` give `P[B | F] <= delta t /
(t - 1)` and `P[B | not F] <= delta / (e^e (t - 1))`. At `t = 2` these are `2 delta` and at most
`delta`. The set where the ratio is below `1 / (2 e^e)` is the same with `F` and its opposite
exchanged. So under either the two sets together have a probability of at most `3 delta`. ∎

No factor below some `t e^e` with `t > 1` will do: the ratio may exceed `e^e` by a hair with a
probability near 1, at a `delta` near 0. `explain` therefore shows the table of beliefs at `2 e^e`,
with its exception.

*Checked:* random pairs of laws, with the smallest `delta` that is true of them at a given `e`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from bayesdp.errors import InputError
from bayesdp.numbers import UpperBound, float_above, float_below
from bayesdp.report.numbers import grouped, percent_down, percent_up, plain

PRIORS = (Decimal("0.01"), Decimal("0.10"), Decimal("0.50"))
"""How likely somebody thinks a fact is beforehand: the rows of every table of beliefs."""

IN_SHORT = Decimal("0.10")
"""The belief beforehand in the sentences that give an example."""

HEADER = ("before", "after, at least", "after, at most")
"""The columns of every table of beliefs."""

BEYOND = 10_000.0
"""Levels from here on are treated as no limit: e^level has thousands of digits."""

WEAK = math.log(99.0)
"""From this level on a belief of 1 % may become one of 50 %."""

EMPTY = math.log(891.0)
"""From this level on a belief of 1 % may become one of 90 %: nearly nothing is promised."""

EXCEPTIONS = 3
"""With a delta: the odds stay within `2 e^epsilon` except with a probability of `3 delta`."""

_EXACT = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)
_ONE, _TWO = Decimal(1), Decimal(2)
_MORE = _EXACT.add(_ONE, Decimal("1e-50"))
_LESS = _EXACT.subtract(_ONE, Decimal("1e-50"))
"""Factors just above and below 1, further from it than rounding to sixty digits can err."""


@dataclass(frozen=True, slots=True)
class Belief:
    """The probability that somebody gives to a fact: before, and the limits of it after."""

    before: Decimal
    at_least: Decimal
    at_most: Decimal

    def words(self) -> tuple[str, str, str]:
        """The belief in percent, limits rounded outward; with more digits near 0 % and 100 %."""
        least = _near_0(self.at_least) or percent_down(self.at_least)
        to_100 = _near_0(_EXACT.subtract(_ONE, self.at_most))
        most = f"{100 - Decimal(to_100.split()[0]):f} %" if to_100 else percent_up(self.at_most)
        return percent_up(self.before), least, most

    def to_dict(self) -> dict[str, float]:
        """The belief as doubles, the limits rounded outward."""
        return {
            "before": float(self.before),
            "at_least": float_below(Fraction(self.at_least)),
            "at_most": double_up(self.at_most),
        }


def odds_factor(level: float, delta: float = 0.0) -> Decimal:
    """The factor by which the odds of a fact can change, up or down: `e^level`, rounded up.

    `level` is in nats. With a `delta` the factor is `2 e^level`, which is exceeded with a
    probability of at most `3 delta`. Infinite where the level is not a limit. Raises `InputError`
    for a level below 0.
    """
    if not level >= 0.0:
        raise InputError("level", level, expected="a number of nats >= 0")
    if level >= BEYOND:
        return Decimal("Infinity")
    factor = _ONE
    if level > 0.0:
        factor = _EXACT.multiply(_EXACT.exp(Decimal(level)), _MORE)
    return _EXACT.multiply(factor, _TWO) if delta > 0.0 else factor


def belief(before: Decimal, factor: Decimal) -> Belief:
    """The limits of a belief whose odds change by at most `factor`, up or down.

    **What a level means to a person.** Bayes' rule turns the ratio into odds: a prior belief `b` in
    one fact about one record, against one alternative, becomes at most `b e^e / (1 - b + b e^e)`
    and at least `b / (b + (1 - b) e^e)` at level `e`. The same holds for a fact against its
    negation: averaging both conditional laws over values keeps the ratio.
    """
    if factor == 1:
        return Belief(before, before, before)
    if factor.is_infinite():
        return Belief(before, Decimal(0), _ONE)
    against = _EXACT.subtract(_ONE, before)
    raised = _EXACT.multiply(before, factor)
    most = _EXACT.divide(raised, _EXACT.add(against, raised))
    least = _EXACT.divide(before, _EXACT.add(before, _EXACT.multiply(against, factor)))
    return Belief(
        before,
        _EXACT.multiply(least, _LESS),
        min(_EXACT.multiply(most, _MORE), _ONE),
    )


def beliefs(
    level: float, delta: float = 0.0, priors: Iterable[Decimal] = PRIORS
) -> tuple[Belief, ...]:
    """What each of `priors` can become at this level and `delta`.

    Raises `InputError` for a level below 0.
    """
    factor = odds_factor(level, delta)
    return tuple(belief(before, factor) for before in priors)


def is_empty(level: float, delta: float = 0.0) -> bool:
    """Whether a level promises nearly nothing."""
    return level >= EMPTY or exception(delta) >= Decimal("0.5")


def table(level: float, delta: float = 0.0) -> tuple[tuple[str, str, str], ...]:
    """The rows of the table of beliefs in words, without its `HEADER`.

    Raises `InputError` for a level below 0.
    """
    return tuple(row.words() for row in beliefs(level, delta))


def becomes(level: float, delta: float = 0.0, before: Decimal = IN_SHORT) -> str:
    """The most and the least that the belief `before` can become, in words.

    `delta` is the chance of an exception, which is then named.

    Raises `InputError` for a level below 0.
    """
    _, least, most = belief(before, odds_factor(level, delta)).words()
    chance = exception_words(delta)
    but = f", except with a chance of at most {chance}" if chance else ""
    return f"at most {most} and at least {least}{but}"


def factor_words(factor: Decimal) -> str:
    """A factor, rounded up: two decimals, three digits from 100 on, then "more than a million"."""
    if factor > 10**6:
        return "more than a million"
    if factor < 100:
        return plain(factor.quantize(Decimal("0.01"), rounding=ROUND_CEILING))
    places = factor.adjusted() - 2
    rounded = factor.quantize(_ONE.scaleb(places), rounding=ROUND_CEILING)
    return grouped(int(rounded))


def _near_0(probability: Decimal) -> str:
    """Two digits of less than 0.1 %, rounded down; empty for more, and for nearly nothing."""
    if not Decimal("1e-6") <= probability < Decimal("1e-3"):
        return ""
    percent = probability.scaleb(2)
    places = _ONE.scaleb(percent.adjusted() - 1)
    return f"{plain(percent.quantize(places, rounding=ROUND_FLOOR))} %"


def chance_words(probability: Decimal) -> str:
    """A small probability as "1 in N", N rounded down to two digits so that none is hidden."""
    if probability >= Decimal("0.5"):
        return percent_up(min(probability, _ONE))
    count = _EXACT.divide(_ONE, probability)
    places = max(count.adjusted() - 1, 0)
    count = count.quantize(_ONE.scaleb(places), rounding=ROUND_FLOOR)
    if count >= 10**15:
        return f"1 in 10^{count.adjusted()}"
    return f"1 in {grouped(int(count))}"


def exception(delta: float) -> Decimal:
    """The largest probability that the odds leave their limits: `3 delta`, at most 1."""
    return min(_EXACT.multiply(Decimal(delta), Decimal(EXCEPTIONS)), _ONE)


def exception_words(delta: float) -> str:
    """The chance that the limits are broken, in words; empty without a delta."""
    return chance_words(exception(delta)) if delta > 0.0 else ""


def double_up(value: Decimal) -> UpperBound:
    """The smallest double that is not below the value, infinite beyond the doubles."""
    try:
        return float_above(Fraction(value))
    except OverflowError:
        return UpperBound(math.inf)
