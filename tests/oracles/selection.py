"""The laws by which a candidate is chosen, from their definitions, in exact fractions.

A score `u` has the weight `half^(-u)` relative to the score 0: with `half = 1/2` noise of the scale
`1 / ln 2`, at which all probabilities are fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, permutations
from math import factorial, prod

Law = tuple[Fraction, ...]


def permute_and_flip(scores: Sequence[int], half: Fraction = Fraction(1, 2)) -> Law:
    """Candidates in random order; each is taken with its weight relative to the best one's.

    Source: McKenna & Sheldon, NeurIPS 2020, Algorithm 1.
    """
    weights = [half ** (max(scores) - score) for score in scores]
    law = [Fraction(0)] * len(scores)
    for order in permutations(range(len(scores))):
        reached = Fraction(1, factorial(len(scores)))
        for place in order:
            law[place] += reached * weights[place]
            reached *= 1 - weights[place]
    return tuple(law)


def largest_with_exponential_noise(scores: Sequence[int], half: Fraction = Fraction(1, 2)) -> Law:
    """The candidate whose score is largest after independent exponential noise.

    The noise of one exceeds that of the best by `v >= 0`, and the others stay below: the integral
    of a product, multiplied out. `v` runs over what the noisy score has above the best score.
    """
    weights = [half ** (max(scores) - score) for score in scores]
    law = []
    for place, weight in enumerate(weights):
        others = [w for other, w in enumerate(weights) if other != place]
        terms = (
            (-1) ** size * prod(chosen, start=Fraction(1)) / (size + 1)
            for size in range(len(others) + 1)
            for chosen in combinations(others, size)
        )
        law.append(weight * sum(terms, Fraction(0)))
    return tuple(law)


def softmax(scores: Sequence[int], half: Fraction = Fraction(1, 2)) -> Law:
    """Each candidate with a probability proportional to its weight."""
    weights = [half ** (max(scores) - score) for score in scores]
    return tuple(weight / sum(weights) for weight in weights)
