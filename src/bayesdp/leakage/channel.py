"""The exact leakage of a channel under a population, in words and as data (theory 3.9 a)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayesdp.errors import InputError, UnsupportedError, check_keys
from bayesdp.leakage.tensor import (
    MEMORY,
    AdversaryLevel,
    Attained,
    TensorLeakage,
    channel_of,
    tensor_leakage,
)
from bayesdp.notions import Adversary
from bayesdp.numbers import UpperBound, plain_number
from bayesdp.populations import Finite, Network, Population, Tree
from bayesdp.populations.files import json_object_in
from bayesdp.populations.joint import NoJointError, joint_of, sizes_of

MOST_CELLS = 2**24
"""The largest joint law, in cells, that is multiplied out for a channel."""


@dataclass(frozen=True, slots=True)
class ChannelLeakage:
    """What a channel leaks under a population: `tensor` has all levels, `level` the chosen one."""

    population: Population
    adversary: Adversary
    tensor: TensorLeakage

    @property
    def level(self) -> AdversaryLevel:
        """The level against the chosen adversaries."""
        return self.tensor.levels[self.adversary]

    @property
    def dp_epsilon(self) -> UpperBound:
        """The channel's DP level, rounded up."""
        return self.tensor.dp.upper

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `leakage --mechanism --json` prints it; an infinite level is None."""
        attained = self.level.attained
        return {
            "bdp": plain_number(self.level.bdp),
            "dp": plain_number(self.tensor.dp),
            "error": self.tensor.error,
            "attained_by": None if attained is None else attained.to_dict(),
            "by_adversary": {
                name: plain_number(level.bdp) for name, level in self.tensor.levels.items()
            },
            "by_record": [plain_number(level) for level in self.level.by_record],
        }

    def words(self) -> str:
        """The attack that learns most, as a sentence."""
        attained = self.level.attained
        return "" if attained is None else attack_words(self.population, attained)


def channel_leakage(
    population: Population,
    channel: Any,
    *,
    adversary: Adversary = "any",
    memory: int = MEMORY,
    progress: Callable[[float], None] | None = None,
) -> ChannelLeakage:
    """The exact leakage of `channel`, a nested array: one axis a record, the last for outcomes.

    The population must be a finite law over few records: `finite`, `network`, `tree`, `graph`, or
    a `markov` chain of as many records as the channel has. Rows of the channel sum to 1 within
    1e-9. `memory`, in bytes, and `progress` are as in `tensor_leakage`. Raises `InputError` for an
    array that is not a channel, `UnsupportedError` for what has no such law or is too large.
    Source: theory 3.9 a.
    """
    try:
        checked = channel_of(channel, sizes_of(population))
        joint = joint_of(population, MOST_CELLS)
    except NoJointError as error:
        raise UnsupportedError(
            "population",
            population.model,
            expected="a finite law of few records, if the exact leakage of a channel is asked for",
            remedy=f"Here {error}." if str(error).startswith("the ") else f"Here: {error}.",
        ) from None
    tensor = tensor_leakage(joint, checked, memory=memory, progress=progress)
    return ChannelLeakage(population, adversary, tensor)


def read_channel(path: Path) -> Any:
    """The nested array in a mechanism's file: `{"channel": [...]}`; `InputError` for others."""
    key = "--mechanism"
    expected = 'a JSON object such as {"channel": [...]}'
    content = json_object_in(path, key, expected)
    if "channel" not in content:
        raise InputError(key, str(path), expected=expected)
    check_keys("mechanism", content, ("channel", "source"))
    return content["channel"]


def attack_words(population: Population, attained: Attained) -> str:
    """An attack as a sentence."""
    name = record_namer(population)
    known = ", ".join(
        f"{name(j)} = {value_name(population, j, v)}"
        for j, v in zip(attained.known, attained.known_values, strict=True)
    )
    i = attained.record
    return (
        f"outcome {attained.outcome}, for {name(i)}: {value_name(population, i, attained.value)} "
        f"against {value_name(population, i, attained.other)}, to one who knows "
        f"{known or 'no record'}"
    )


def value_name(population: Population, record: int, value: int) -> str:
    """The name of the value with the number `value` of the record with the number `record`."""
    if isinstance(population, Network):
        states = population.nodes[record].states
        if not isinstance(states, int):
            return states[value]
    return str(value)


def record_namer(population: Population) -> Callable[[int], str]:
    """A function from a record's number to its name."""
    if isinstance(population, Tree | Network):
        nodes = population.nodes
        return lambda i: nodes[i].name
    if isinstance(population, Finite) and population.roles is not None:
        roles = population.roles
        return lambda i: roles[i]
    return lambda i: f"record {i}"
