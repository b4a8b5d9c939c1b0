"""The definitions of Tschantz, Sen and Datta (S&P 2020), and what implies what.

Every definition bounds a log ratio of the output's law *for all populations*. Here each is an
object that computes two numbers for a channel: its level over all populations (`everywhere`), and
the largest log ratio in one causal model (`here`); `worst` builds a model in which the latter
reaches the former. The implications, and the arrows that aren't there, are data. Proofs: theory
5.3. The lattice is drawn in docs/causality.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bayesdp.arrays import Floats
from bayesdp.causal.mechanism import ChannelTable, Compiled, dp_level, log_range
from bayesdp.causal.model import CausalModel
from bayesdp.causal.strength import weakened

Reading = Literal["seeing", "doing", "neither"]
Cell = tuple[int, ...]

SOURCE = "Tschantz, Sen & Datta, S&P 2020"


@dataclass(frozen=True, slots=True)
class Definition:
    """One definition: in words, as a formula, and computed.

    `everywhere(channel)` is the least level at which the channel satisfies it, for all
    populations; `here(model, channel)` is what its formula gives in one model, never more;
    `worst(channel)` is a model in which it gives as much. Levels in nats.
    """

    name: str
    title: str
    reading: Reading
    formula: str
    words: str
    everywhere: Callable[[Floats], float]
    here: Callable[[CausalModel, Floats], float]
    worst: Callable[[Floats], CausalModel]


@dataclass(frozen=True, slots=True)
class Implication:
    """Level `e` of `given` implies level `e` of `gives`, or `e` times the number of records."""

    given: str
    gives: str
    why: str
    times_records: bool = False


@dataclass(frozen=True, slots=True)
class Missing:
    """`given` at a level doesn't imply `gives` at that level: a case, with the two levels."""

    given: str
    gives: str
    case: str
    given_level: float
    gives_level: float


# ------------------------------------------------------ in one model


def _informed(model: CausalModel, channel: Floats) -> float:
    """Databases that are possible and differ in one record."""
    joint = model.marginal(*model.records)
    possible = np.where(joint[..., None] > 0.0, channel, np.nan)
    worst = 0.0
    for axis in range(joint.ndim):
        high, low = np.fmax.reduce(possible, axis=axis), np.fmin.reduce(possible, axis=axis)
        pair = (joint > 0.0).sum(axis=axis)[..., None] > 1
        seen = pair & (high > 0.0)
        if seen.any():
            with np.errstate(divide="ignore"):
                worst = max(worst, float((np.log(high[seen]) - np.log(low[seen])).max()))
    return worst


def _setting_all(model: CausalModel, channel: Floats) -> float:
    """Setting all data points leaves nothing of the model but the channel."""
    assert channel.shape[:-1] == model.sizes
    return dp_level(channel)


def _setting_one(model: CausalModel, channel: Floats) -> float:
    return max(model.do(channel, i).epsilon for i in range(len(model.data)))


def _learning_one(model: CausalModel, channel: Floats) -> float:
    return max(model.see(channel, i).epsilon for i in range(len(model.data)))


def _learning_independent(model: CausalModel, channel: Floats) -> float:
    """The same data points, each with its own law and independent of all others."""
    return _learning_one(weakened(model, 0.0), channel)


def _setting_value(model: CausalModel, channel: Floats) -> float:
    """Setting a person's attribute: whatever it causes moves too."""
    attributes = [node.name for node in model.nodes if node.role == "attribute"]
    return max((model.do(channel, name).epsilon for name in attributes), default=0.0)


# ------------------------------------------------------ models that reach the level


def _far(channel: Floats) -> float:
    """The largest log ratio between any two databases."""
    return log_range(channel, tuple(range(channel.ndim - 1)))


def _extremes(channel: Floats, *, adjacent: bool) -> tuple[Cell, Cell]:
    """Two databases that reach the level, which differ in one record if so asked."""
    sizes = channel.shape[:-1]
    if not adjacent:
        flat = channel.reshape(-1, channel.shape[-1])
        high, low = flat.max(axis=0), flat.min(axis=0)
        y = int(np.argmax(_gap(high, low)))
        return _cell(flat[:, y].argmax(), sizes), _cell(flat[:, y].argmin(), sizes)
    best: tuple[float, Cell, Cell] = (-1.0, (0,) * len(sizes), (0,) * len(sizes))
    for a, b in itertools.permutations(itertools.product(*map(range, sizes)), 2):
        if sum(u != v for u, v in zip(a, b, strict=True)) == 1:
            best = max(best, (float(_gap(channel[a], channel[b]).max()), a, b))
    return best[1], best[2]


def _gap(high: Floats, low: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(high > 0.0, np.log(high) - np.log(low), -1.0)


def _cell(flat: Any, sizes: tuple[int, ...]) -> Cell:
    return tuple(int(value) for value in np.unravel_index(int(flat), sizes))


def _point(size: int, value: int) -> list[float]:
    return [float(v == value) for v in range(size)]


def _roots(laws: list[list[float]]) -> CausalModel:
    """Independent people, recorded truthfully."""
    nodes: list[dict[str, Any]] = []
    for i, law in enumerate(laws):
        nodes.append({"name": f"person {i}", "role": "attribute", "states": len(law), "table": law})
        nodes.append({"name": f"record {i}", "role": "data", "parents": [f"person {i}"]})
    return CausalModel(nodes=nodes)


def _anyone(channel: Floats) -> CausalModel:
    """Every database is possible, and records are independent."""
    return _roots([[1.0 / size] * size for size in channel.shape[:-1]])


def _one_uncertain(channel: Floats) -> CausalModel:
    """All records but one are certain."""
    a, b = _extremes(channel, adjacent=True)
    laws = []
    for size, u, v in zip(channel.shape[:-1], a, b, strict=True):
        laws.append(_point(size, u) if u == v else [1.0 / size] * size)
    return _roots(laws)


def _two_databases(channel: Floats) -> CausalModel:
    """One hidden coin decides which of two databases it is."""
    a, b = _extremes(channel, adjacent=False)
    nodes: list[dict[str, Any]] = [
        {"name": "coin", "role": "latent", "states": 2, "table": [0.5, 0.5]}
    ]
    for i, size in enumerate(channel.shape[:-1]):
        table = [_point(size, a[i]), _point(size, b[i])]
        person = {"name": f"person {i}", "role": "attribute", "states": size}
        nodes.append(person | {"parents": ["coin"], "table": table})
        nodes.append({"name": f"record {i}", "role": "data", "parents": [f"person {i}"]})
    return CausalModel(nodes=nodes)


def _one_decides(channel: Floats) -> CausalModel:
    """One person's value decides everybody's."""
    a, b = _extremes(channel, adjacent=False)
    sizes = channel.shape[:-1]
    first = next((i for i in range(len(sizes)) if a[i] != b[i]), 0)
    law = [1.0 / sizes[first]] * sizes[first]
    nodes: list[dict[str, Any]] = [
        {"name": f"person {first}", "role": "attribute", "states": sizes[first], "table": law}
    ]
    for i, size in enumerate(sizes):
        if i != first:
            table = [_point(size, a[i] if v == a[first] else b[i]) for v in range(sizes[first])]
            person = {"name": f"person {i}", "role": "attribute", "states": size}
            nodes.append(person | {"parents": [f"person {first}"], "table": table})
    nodes.extend(
        {"name": f"record {i}", "role": "data", "parents": [f"person {i}"]}
        for i in range(len(sizes))
    )
    return CausalModel(nodes=nodes)


# ------------------------------------------------------ the lattice

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        "dp",
        "differential privacy",
        "neither",
        "P[y | x] <= e^eps P[y | x'], x and x' differ in one record",
        "Replacing one record in the table changes the probability of any outcome by at most this. "
        "No population occurs in it.",
        dp_level,
        lambda model, channel: dp_level(channel),
        _anyone,
    ),
    Definition(
        "strong-adversary",
        "strong adversary DP",
        "seeing",
        "P[y | X = x] <= e^eps P[y | X = x'], for possible x, x' that differ in record i",
        "Somebody who knows all other records learns at most this about the last one.",
        dp_level,
        _informed,
        _anyone,
    ),
    Definition(
        "whole-database-intervention",
        "intervening on the whole database",
        "doing",
        "P[y | do(X = x)] <= e^eps P[y | do(X = x')], x and x' differ in record i",
        "If all records are set, setting one of them otherwise changes at most this.",
        dp_level,
        _setting_all,
        _anyone,
    ),
    Definition(
        "data-point-intervention",
        "intervening on one data point",
        "doing",
        "P[y | do(X_i = v)] <= e^eps P[y | do(X_i = v')], for every population",
        "Setting one record, while the others follow their causes, changes at most this, however "
        "records depend on each other.",
        dp_level,
        _setting_one,
        _one_uncertain,
    ),
    Definition(
        "independent-bayesian0",
        "independent Bayesian_0 DP (mutual independence)",
        "seeing",
        "P[y | X_i = v] <= e^eps P[y | X_i = v'], for every population of mutually independent "
        "records",
        "Learning one record changes at most this, if records are mutually independent.",
        dp_level,
        _learning_independent,
        _one_uncertain,
    ),
    Definition(
        "bayesian0",
        "Bayesian_0 DP",
        "seeing",
        "P[y | X_i = v] <= e^eps P[y | X_i = v'], for every population",
        "Learning one record changes at most this, however records depend on each other.",
        _far,
        _learning_one,
        _two_databases,
    ),
    Definition(
        "attribute-intervention",
        "intervening on a person (the naive causal reading)",
        "doing",
        "P[y | do(R_i = v)] <= e^eps P[y | do(R_i = v')], R_i the attribute behind record i, for "
        "every model",
        "If one person were otherwise, with everything that this would cause in others, the output "
        "would change by at most this.",
        _far,
        _setting_value,
        _one_decides,
    ),
)

IMPLICATIONS: tuple[Implication, ...] = (
    Implication("dp", "whole-database-intervention", "setting all records leaves only the channel"),
    Implication(
        "whole-database-intervention",
        "data-point-intervention",
        "setting one record leaves the law of the others alone: average over it",
    ),
    Implication(
        "data-point-intervention",
        "independent-bayesian0",
        "among independent records, learning one leaves the law of the others alone too",
    ),
    Implication(
        "independent-bayesian0",
        "strong-adversary",
        "take the population in which the others are certain",
    ),
    Implication("strong-adversary", "dp", "take a population in which every database is possible"),
    Implication("bayesian0", "independent-bayesian0", "fewer populations"),
    Implication("bayesian0", "attribute-intervention", "any two databases are within the level"),
    Implication("attribute-intervention", "bayesian0", "any two databases are within the level"),
    Implication("dp", "bayesian0", "replace the records one after the other", times_records=True),
)

MISSING: tuple[Missing, ...] = (
    Missing("dp", "bayesian0", "three identical relatives, a count with eps 1", 1.0, 3.0),
    Missing(
        "dp",
        "attribute-intervention",
        "one infects the other with probability .9, two records, a count with eps 1",
        1.0,
        1.0 + math.log((0.9 * math.e + 0.1) / (0.9 + 0.1 * math.e)),
    ),
)


def definition(name: str) -> Definition:
    """The definition of this name; `KeyError` for others."""
    return {definition.name: definition for definition in DEFINITIONS}[name]


def as_channel(mechanism: Compiled, sizes: Sequence[int]) -> Floats:
    """A mechanism as a table over all databases, of which there are few."""
    if isinstance(mechanism, ChannelTable):
        return mechanism.channel
    total = np.zeros((), dtype=np.int64)
    for scores in mechanism.scores:
        total = total[..., None] + np.asarray(scores)
    channel: Floats = mechanism.kernel[total]
    assert channel.shape[:-1] == tuple(sizes)
    return channel


def levels(model: CausalModel, mechanism: Any = None) -> dict[str, float]:
    """What every definition's formula gives in one model; all data points, few of them."""
    channel = as_channel(model.compiled(mechanism), model.sizes)
    return {definition.name: definition.here(model, channel) for definition in DEFINITIONS}


def diagram() -> str:
    """The lattice in the Mermaid language; dotted arrows are the ones that aren't there."""
    lines = ["flowchart TD"]
    for definition in DEFINITIONS:
        mark = {"seeing": ("([", "])"), "doing": ("[", "]"), "neither": ("{{", "}}")}[
            definition.reading
        ]
        lines.append(f'    {_id(definition.name)}{mark[0]}"{definition.title}"{mark[1]}')
    for arrow in IMPLICATIONS:
        label = '|"times the number of records"| ' if arrow.times_records else ""
        lines.append(f"    {_id(arrow.given)} --> {label}{_id(arrow.gives)}")
    for gap in MISSING:
        label = f"not: {gap.given_level:g} gives {gap.gives_level:.4g}"
        lines.append(f'    {_id(gap.given)} -. "{label}" .-x {_id(gap.gives)}')
    return "\n".join(lines) + "\n"


def _id(name: str) -> str:
    return name.replace("-", "_")
