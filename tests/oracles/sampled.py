"""Brute force over mechanisms for a few attacks only: a lower bound on the truth."""

from __future__ import annotations

import itertools
import math

import numpy as np

from tests.oracles.finite import (
    _grouped,
    enumerable,
    known_sets,
    ratio_by_enumeration,
    ratio_by_program,
)


def worst_of(
    rng: np.random.Generator,
    joint: np.ndarray,
    eps: float,
    adversary: str,
    attacks: int,
    cells: int,
) -> float:
    """The largest leakage that some eps-DP mechanism has in some of the attacks, picked at random.

    Sets of known records that leave more than `cells` cells unknown are not tried.
    """
    n = joint.ndim
    options = [(i, known) for i in range(n) for known in known_sets(n, i, adversary)]
    best = eps
    for index in rng.permutation(len(options))[:attacks].tolist():
        record, known = options[index]
        shape = tuple(joint.shape[j] for j in range(n) if j != record and j not in known)
        if math.prod(shape) > cells or not shape:
            continue
        blocks = _grouped(joint, record, known)
        mass = blocks.sum(axis=2)
        column = int(rng.integers(mass.shape[1]))
        for value, other in itertools.permutations(np.flatnonzero(mass[:, column] > 0).tolist(), 2):
            p = blocks[value, column] / mass[value, column]
            q = blocks[other, column] / mass[other, column]
            if enumerable(shape):
                ratio = ratio_by_enumeration(p, q, shape, eps)
            else:
                ratio = ratio_by_program(p, q, shape, eps)[0]
            best = max(best, eps + math.log(ratio))
    return best
