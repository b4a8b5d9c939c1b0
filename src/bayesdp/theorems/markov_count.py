"""Counts on negatively correlated chains: a theorem about one kind of mechanism.

Statement (theory 3.9 b). Let the records form a Markov chain of two states, in one series without
gaps, with `det P <= 0`, that is `P[0,0] + P[1,1] <= 1` (a record is no more likely to repeat the
one before it than to differ). Mechanisms that see the data only through the number of records in a
state, and whose outcomes' probabilities change by at most `e^eps` when that number changes by one,
have together a level of at most the sum of their `eps`, for every adversary, start and length.

Proof. Given the target and the nearest known record on a side, the records of that side form a
chain whose rows are those of `P` (to the left: of its transpose) weighted by evidence and rescaled,
so their determinants are <= 0 too. Couple the two laws, given the values 1 and 0 of the target: by
the sign of the determinant the next record can be drawn such that it agrees, or is 0 and 1 instead
of 1 and 0. Where two records agree, all further ones do. So the differences on one side are
-1, +1, -1, ... and then 0 for good: they add up to -1 or 0. The target contributes +1, the two
sides 0 to -2: the number moves by at most one, in either direction. Hence along the coupling the
probability of an outcome changes by at most `e^eps`, all mechanisms at once; average over it. Exact
where some adversary knows both neighbours of a record that could still be either: the number then
moves by one.

It is not a conversion of differential privacy: another mechanism of the same cost, randomized
response for example, leaks the level of `markov-recursion` (theory 3.5). So it is not in the
registry, and is asked only about spends whose mechanism is known to be such a count. Gaps matter: a
count of every other record of a strongly alternating chain is a count on a positively correlated
one. For positively correlated chains the outermost outcomes of a noisy count attain the recursion,
so there is nothing to gain from knowing the mechanism.
"""

from __future__ import annotations

from fractions import Fraction

from bayesdp.notions import Bound, Cost
from bayesdp.populations import MarkovChain, Population
from bayesdp.theorems.base import Question, tightness
from bayesdp.theorems.secret import has_secret

NAME = "markov-count"
SOURCE = "bayesdp; theory 3.9 b"


def count_mechanism(length: int) -> str:
    """How a spend names discrete Laplace noise on the count over one series without gaps."""
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
    """The sum of the costs. Call only where `refusal` is `None`.

    One who knows all other records learns that much, if they leave two values possible.
    """
    attained = 0.0
    if question.adversary != "uninformed" and has_secret(question.population, "informed"):
        attained = cost.dp_epsilon
    tight = tightness(cost.dp_epsilon, attained)
    return Bound(NAME, cost.dp_epsilon, tight, SOURCE, {"mechanism": mechanism})
