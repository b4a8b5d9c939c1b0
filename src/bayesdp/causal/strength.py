"""The leakages by seeing and by doing, as the dependence between records grows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesdp.causal.model import CausalModel
from bayesdp.errors import InputError

STRENGTHS = tuple(k / 20 for k in range(21))


@dataclass(frozen=True, slots=True)
class Strengths:
    """`see` and `do` of one record at each of the `strengths` of the dependence, in nats."""

    record: str
    dp_epsilon: float
    strengths: tuple[float, ...]
    see: tuple[float, ...]
    do: tuple[float, ...]


def weakened(model: CausalModel, strength: float) -> CausalModel:
    """The same model with the dependence between any two data points multiplied by `strength`.

    Each data point, on its own, follows its causes with probability `sqrt(strength)` and is else
    drawn anew from its own law. Every data point keeps its law; every covariance between functions
    of two of them is multiplied by `strength`; at 0 they are independent, at 1 it is the model.
    Raises `InputError` unless `0 <= strength <= 1`.
    """
    if not 0.0 <= strength <= 1.0:
        raise InputError("strength", strength, expected="a number in [0, 1]")
    follows = math.sqrt(strength)
    nodes = []
    for node in model.nodes:
        if node.role == "data":
            own = model.marginal(node.name)
            mixed = follows * np.asarray(node.table) + (1.0 - follows) * own
            node = node.model_copy(update={"table": np.minimum(mixed, 1.0).tolist()})
        nodes.append(node)
    return CausalModel(nodes=tuple(nodes), mechanism=model.mechanism, source=model.source)


def strengths(
    model: CausalModel,
    channel: Any = None,
    record: str | int = 0,
    at: Sequence[float] = STRENGTHS,
) -> Strengths:
    """Both leakages of a record with the dependence weakened to each strength in `at`.

    `channel` and `record` are as in `CausalModel.see`. Raises `InputError` as it does, and for a
    strength outside [0, 1].
    """
    weaker = [weakened(model, strength) for strength in at]
    seeing = [variant.see(channel, record) for variant in weaker]
    doing = [variant.do(channel, record) for variant in weaker]
    return Strengths(
        model.see(channel, record).record,
        model.compiled(channel).dp_epsilon,
        tuple(at),
        tuple(effect.epsilon for effect in seeing),
        tuple(effect.epsilon for effect in doing),
    )
