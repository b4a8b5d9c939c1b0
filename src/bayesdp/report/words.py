"""What a level means, in plain English.

Every number that is shown is rounded so that the sentence stays true: levels, costs and posterior
beliefs up, lower limits down.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from bayesdp.accounting.rounded import up
from bayesdp.notions import ADVERSARY_MEANING, Adversary, Secrets

PRIORS = (0.01, 0.10, 0.50)
"""The prior beliefs of `belief_table`."""

DEMONSTRATION = "for demonstration only"
"""Occurs in the `source` of a population that was estimated from the data that it protects."""


@dataclass(frozen=True, slots=True)
class BeliefRow:
    """What a prior belief in a fact about one record may become: probabilities."""

    prior: float
    at_least: float
    at_most: float


def highest_belief(prior: float, epsilon: float) -> float:
    """The most that a belief of `prior` can become: `b e^e / (1 - b + b e^e)` (theory 1).

    `prior` is a probability, `epsilon` a level in nats. Raises `ValueError` outside those ranges.
    """
    _check(prior, epsilon)
    if prior == 0.0:
        return 0.0
    return prior / (prior + (1.0 - prior) * math.exp(-epsilon))


def lowest_belief(prior: float, epsilon: float) -> float:
    """The least that a belief of `prior` can become: `b / (b + (1 - b) e^e)` (theory 1)."""
    _check(prior, epsilon)
    shrunk = prior * math.exp(-epsilon)
    return shrunk / (shrunk + 1.0 - prior)


def level_of_beliefs(epsilon: float, delta: float) -> float:
    """The level whose table of beliefs is shown: with a delta, that of `2 e^epsilon`."""
    return epsilon + (math.nextafter(math.log(2.0), 1.0) if delta > 0.0 else 0.0)


def belief_table(epsilon: float, priors: Iterable[float] = PRIORS) -> tuple[BeliefRow, ...]:
    """What the beliefs `priors` may become at level `epsilon`."""
    return tuple(
        BeliefRow(prior, lowest_belief(prior, epsilon), highest_belief(prior, epsilon))
        for prior in priors
    )


def delta_sentence(epsilon: float, delta: float) -> str:
    """What a delta is. It is not "the probability that the promise fails"."""
    return (
        "For every set of results, its probability given one value of the record is at most "
        f"e^{up(epsilon)} times its probability given another, plus delta = {up(delta)}."
    )


def level_sentences(
    epsilon: float,
    adversary: Adversary,
    interval: str | None = None,
    prior: float = 0.10,
    seen: str = "everything that was released here",
    delta: float = 0.0,
) -> tuple[str, ...]:
    """What level `epsilon` against `adversary` promises about one record, as sentences.

    `interval` names where secret values lie, if the guarantee is restricted to that. `seen` names
    what the level counts. With a `delta`, beliefs stay within the limits of the level
    `epsilon + ln 2` except with a probability of at most `3 delta` (theory 3.10b).
    """
    shown = level_of_beliefs(epsilon, delta)
    most = percent_up(highest_belief(prior, shown))
    least = percent_down(lowest_belief(prior, shown))
    but = f", except with a probability of at most {_thrice(delta)}" if delta > 0.0 else ""
    sentences = [
        f"Take a fact about one record that somebody believes with probability "
        f"{percent_up(prior)}. Having seen {seen}, they believe it "
        f"with at most {most} and at least {least}{but}.",
        *([delta_sentence(epsilon, delta)] if delta > 0.0 else []),
        f"This holds for an adversary of the class '{adversary}': {ADVERSARY_MEANING[adversary]}.",
        "It holds if their beliefs about who depends on whom are those of the declared population, "
        "and it is as good as that declaration.",
    ]
    if interval:
        sentences.append(f"The secret values that it speaks of lie {interval}.")
    return tuple(sentences)


def not_promised(secrets: Secrets | None = None) -> tuple[str, ...]:
    """What no level promises, whatever it is; `docs/limits.md` says more."""
    bounded = (
        ("Nothing is promised about people whose values lie outside the secrets interval.",)
        if secrets == "bounded"
        else ()
    )
    return (
        "That a record is in the table, and how many there are, is not protected: "
        "adjacency is replace one record.",
        "Facts about the group are not protected: that is what was released.",
        "If records depend on each other in another way than declared, the level doesn't hold.",
        *bounded,
    )


def level_up(epsilon: float) -> str:
    """A level or a cost, rounded up to four decimals."""
    return _decimals(epsilon, 4, ROUND_CEILING)


def percent_up(probability: float | Decimal) -> str:
    """A probability in percent, rounded up to one decimal."""
    return _percent(probability, ROUND_CEILING)


def percent_down(probability: float | Decimal) -> str:
    """A probability in percent, rounded down to one decimal."""
    return _percent(probability, ROUND_FLOOR)


def number(value: float, error: float) -> str:
    """`value` with as many decimals as two significant digits of its `error` have."""
    return typeset(value, _places(error))


def error_up(error: float) -> str:
    """An error, rounded up to two significant digits (whole numbers from 10 on)."""
    places = _places(error)
    return typeset(float(_decimals(error, places, ROUND_CEILING)), places)


def typeset(value: float, places: int) -> str:
    """`value` with a proper minus sign and narrow spaces between thousands."""
    shown = f"{value:,.{places}f}"
    if not any(digit in shown for digit in "123456789"):
        shown = shown.removeprefix("-")
    return shown.replace("-", "\N{MINUS SIGN}").replace(",", "\N{NARROW NO-BREAK SPACE}")


def _places(error: float) -> int:
    if not (error > 0.0 and math.isfinite(error)):
        return 4
    return min(max(1 - math.floor(math.log10(error)), 0), 12)


def _decimals(value: float, places: int, rounding: str) -> str:
    if not math.isfinite(value):
        return "unlimited" if value > 0 else str(value)
    # The shortest text that names the double, so that 0.1 is shown as 0.1 and not as 0.1001.
    exact = Decimal(repr(float(value)))
    return f"{exact.quantize(Decimal(1).scaleb(-places), rounding=rounding):f}"


def _percent(probability: float | Decimal, rounding: str) -> str:
    exact = probability
    if not isinstance(exact, Decimal):
        exact = Decimal(repr(float(exact)))
    rounded = exact.quantize(Decimal("0.001"), rounding=rounding) * 100
    whole = rounded == rounded.to_integral_value()
    return f"{rounded:.0f} %" if whole else f"{rounded:.1f} %"


def _thrice(delta: float) -> str:
    """Three times a delta: exact, then rounded up to six digits as `up` does."""
    exact = 3 * Decimal(repr(delta))
    return f"{float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 5), ROUND_CEILING)):.6g}"


def _check(prior: float, epsilon: float) -> None:
    if not 0.0 <= prior <= 1.0:
        raise ValueError(f"prior is {prior!r}: expected a probability in [0, 1]")
    if not epsilon >= 0.0:
        raise ValueError(f"epsilon is {epsilon!r}: expected a level >= 0")
