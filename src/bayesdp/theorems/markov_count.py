"""Counts on negatively correlated chains: a theorem about one kind of mechanism.

**Statement** (theorem `markov-count`). Take a *negatively correlated chain* of two states (`det P
<= 0`), in one series without gaps. The level of **every** mechanism that sees the data only through
the count, and is `eps`-indistinguishable for counts that differ by one, is at most `eps`, for every
adversary, start and length. **Proof.** The rows given evidence on a side are those of `P` (or its
transpose) weighted and rescaled, so their determinants are `<= 0` too. Couple the two laws given
the values 1 and 0 of the target: by the sign of the determinant the next record can be drawn such
that it agrees or is 0 and 1 instead of 1 and 0; once two records agree, all further ones do. The
differences on a side are -1, +1, -1, ... until they stop, so they sum to -1 or 0. The target adds
+1: the count moves by at most one in all. ∎ Several such counts of one series add up, since one
coupling serves all of them. It is exact where some adversary knows both neighbours of a record that
could still be either value. It is asked only about spends whose mechanism is known to be such a
count. It is false for a series *with gaps* (every other record of an alternating chain is
positively correlated), and of no use to other mechanisms: randomized response still leaks 3.5.

By how much less? Symmetric, 200 records, a count with `eps = 1`:

| P(differs from the one before) | any adversary | uninformed | any mechanism (3.5) |
|---|---|---|---|
| 0.8 | 1.000000 | 0.629908 | 3.136150 |
| 0.9 | 1.000000 | 0.557867 | 5.220732 |

An uninformed adversary learns less than `eps`: the neighbours make up for the target. The worst
target stands at an end of the series then, with neighbours on one side only. In the long run its
level is the larger of `ln t` with `e^eps = t (P00 + P01 t) / (P10 + P11 t)` and the same with the
two states exchanged: what the outermost outcomes leak (seen to nine digits on chains of 200
records; that no other outcome leaks more in the limit is not proved here, and no level rests on
it).
"""

from __future__ import annotations

from fractions import Fraction

from bayesdp.notions import Bound, Cost
from bayesdp.numbers import NOT_NEGATIVE, LowerBound, UpperBound
from bayesdp.populations import MarkovChain, Population
from bayesdp.theorems.base import Question, tightness
from bayesdp.theorems.secret import has_secret

NAME = "markov-count"
SOURCE = "bayesdp; theory 3.9 b"


def count_mechanism(length: int) -> str:
    """The mechanism of a spend: discrete Laplace noise on the count over a series without gaps."""
    return f"discrete-laplace on a count over a complete series of {length}"


def refusal(population: Population, mechanism: str) -> str | None:
    """The hypothesis that fails for spends of this mechanism, or `None`."""
    if not isinstance(population, MarkovChain) or population.order != 1:
        return "the population is not a Markov chain of order 1"
    if population.states != 2 or population.transition is None:
        return "the chain has more than two states, or its transitions are intervals"
    if mechanism != count_mechanism(population.length):
        return "the mechanism is not a count over a complete series of this length"
    (stay, leave), (come, keep) = population.transition
    if Fraction(stay) * Fraction(keep) > Fraction(leave) * Fraction(come):
        return "the chain is positively correlated: the mechanism attains the DP level"
    return None


def bound(question: Question, cost: Cost, mechanism: str) -> Bound:
    """The level of spends of this `mechanism`: the sum of their costs.

    Call only where `refusal` is `None`.
    An adversary who knows all other records learns that much, if two values remain possible.
    """
    epsilon, attained = UpperBound(cost.dp_epsilon), NOT_NEGATIVE
    if question.adversary != "uninformed" and has_secret(question.population, "informed"):
        attained = LowerBound(epsilon)
    tight = tightness(epsilon, attained)
    return Bound(NAME, epsilon, tight, SOURCE, {"mechanism": mechanism})
