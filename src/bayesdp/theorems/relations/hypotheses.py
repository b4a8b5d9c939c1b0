"""What relations need to know: derived from a population where it can be, else to be declared.

A checker answers `True` (the population shows that it holds), `False` (the population shows that it
does not) or `None` (nothing decides it). Where several laws meet a declaration, a hypothesis
holds if it does under all of them.

**Hypotheses** are derived from the population where it shows them, else declared, and listed under
what a certificate assumes; never taken for granted. A declaration that the population refutes is an
error.

* *Full support*: every database over the records' values is possible. (Finite laws, positive chains
  and graphical models; non-degenerate Gaussian laws, up to databases of probability zero.)
* *Mutual independence* of all records. Pairwise independence, or independence of two records given
  all others, is not enough.
* *Default in the domain*: the default of `sp` is a value that the mechanism accepts and its DP
  level covers. *Default possible*: whatever possible values the others have, the default is
  possible beside them. It follows from full support, if the default is in the domain.
* *Groups within size*: at most `size` records depend on each other.
* *Downward scalable family* (Li et al. 2013): the beliefs for which membership privacy holds may be
  scaled down to any two values of a record, one of them as unlikely as one likes, given any `x_S`.
* *Record secrets*: Pufferfish is about values of single records, as in 5.1 h.
* *Causal structure*: records cause nothing but the database (5.3).
* *Every population*: the *given* level holds for every population. What is derived with the help of
  anything about one population has lost this, so no path uses both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from bayesdp.errors import InputError, did_you_mean
from bayesdp.populations import (
    Autoregressive,
    Family,
    Finite,
    Gaussian,
    Graph,
    MarkovChain,
    Network,
    Population,
    Tree,
)
from bayesdp.populations.factors import FactorGraph, FactorGroup, live_cells
from bayesdp.theorems.relations.independence import acyclic, independent, of_all, of_parts, settled
from bayesdp.theorems.relations.supports import default_anywhere, every_series, series

Checker = Callable[[Population, float, int], bool | None]
"""From population, default value and group size to true, false or undecided (`None`)."""

EVERYWHERE = "every-population"
"""The hypothesis that the given level holds for every population. A conclusion that rests on
anything about a single population no longer has it."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A named condition. `derive` is `None` where no population can show it."""

    name: str
    statement: str
    derive: Checker | None = None


def full_support(population: Population, default: float, size: int) -> bool | None:
    """Whether every database is possible; `default` and `size` play no part."""
    if isinstance(population, Family):
        return of_all(full_support(member, default, size) for member in population.members)
    if isinstance(population, Finite):
        return bool((population.array > 0.0).all())
    if isinstance(population, MarkovChain):
        return every_series(series(population))
    if isinstance(population, Tree | Graph | Network):
        return all(bool((group.tables > 0.0).all()) for group in population.factor_graph.groups)
    if isinstance(population, Gaussian):
        return _gaussian_support(population)
    return True if isinstance(population, Autoregressive) else None


def _gaussian_support(population: Gaussian) -> bool | None:
    """Positive definite: the density is positive. Zero-probability exceptions don't count."""
    if population.max_regression_sum is not None:
        return population.group_size == 1 or population.max_regression_sum < 1.0
    if population.max_correlation is None:
        return True
    # With a bound of 1 the law may be singular.
    return Fraction(population.max_correlation) * (population.group_size - 1) < 1


def mutual_independence(population: Population, default: float, size: int) -> bool | None:
    """Whether all records are mutually independent; `default` and `size` play no part."""
    return independent(population)


def default_in_domain(population: Population, default: float, size: int) -> bool | None:
    """Whether `default` is a value that every record can be given; `size` plays no part."""
    if isinstance(population, Family):
        return of_all(default_in_domain(member, default, size) for member in population.members)
    if isinstance(population, Gaussian | Autoregressive):
        return True
    states = fewest_states(population)
    if states is None:
        return None
    return float(default).is_integer() and 0 <= default < states


def fewest_states(population: Population) -> int | None:
    """The least number of values of any record; `None` if records aren't discrete."""
    if isinstance(population, Finite):
        return min(population.sizes)
    if isinstance(population, MarkovChain):
        return population.states
    if isinstance(population, Tree | Graph | Network):
        return int(population.factor_graph.states.min())
    return None


def default_possible(population: Population, default: float, size: int) -> bool | None:
    """Whether `default` has positive probability given all possible values of the others.

    `size` plays no part.
    """
    if isinstance(population, Family):
        return of_all(default_possible(member, default, size) for member in population.members)
    if not default_in_domain(population, default, size):
        return default_in_domain(population, default, size)
    if isinstance(population, Finite):
        possible = population.array > 0.0
        return all(
            bool((np.take(possible, int(default), axis=i) | ~possible.any(axis=i)).all())
            for i in range(possible.ndim)
        )
    if isinstance(population, MarkovChain):
        return default_anywhere(series(population), int(default))
    if isinstance(population, Tree | Graph | Network):
        return _default_in_graph(population.factor_graph, int(default))
    return full_support(population, default, size)


def _default_in_graph(graph: FactorGraph, default: int) -> bool | None:
    """Whether no factor excludes the default from a cell that the factors, singly, leave possible.

    Where factors form cycles such a cell may be impossible all the same: small ones are multiplied.
    """
    if all(_default_in_group(group, graph.possible, default) for group in graph.groups):
        return True
    if acyclic(graph):
        return False if settled(graph) else None

    def replaceable(law: dict[tuple[int, ...], Fraction]) -> bool:
        return all(
            law[(*cell[:i], default, *cell[i + 1 :])] > 0
            for cell, weight in law.items()
            if weight > 0
            for i in range(len(cell))
        )

    return of_parts(graph, replaceable)


def _default_in_group(group: FactorGroup, possible: Any, default: int) -> bool:
    live = live_cells(group, possible)
    if live is None:
        return True
    positive = group.tables > 0.0
    return all(
        bool((np.take(positive, [default], axis=axis) | ~live.any(axis=axis, keepdims=True)).all())
        for axis in range(1, group.arity + 1)
    )


def groups_within_size(population: Population, default: float, size: int) -> bool | None:
    """Whether no more than `size` records depend on each other."""
    return population.group_size <= size


HYPOTHESES: dict[str, Hypothesis] = {
    hypothesis.name: hypothesis
    for hypothesis in (
        Hypothesis("full-support", "every database is possible under the population", full_support),
        Hypothesis(
            "mutual-independence",
            "all records are mutually independent under the population (pairwise independence, or "
            "independence of two records given the others, is not enough)",
            mutual_independence,
        ),
        Hypothesis(
            "default-in-domain",
            "the default record is a value that the mechanism accepts and its DP level covers",
            default_in_domain,
        ),
        Hypothesis(
            "default-possible",
            "the default record has positive probability, whatever possible values the others have",
            default_possible,
        ),
        Hypothesis(
            "groups-within-size",
            "no more than `size` records depend on each other",
            groups_within_size,
        ),
        Hypothesis(
            "downward-scalable-family",
            "the beliefs for which membership privacy holds may be scaled down to any two values "
            "of a record, one of them as unlikely as one likes, whatever is known of others",
        ),
        Hypothesis(
            "record-secrets",
            "the secrets are the values of single records, any two values of one record are a "
            "pair, and the family holds the population given any values of any other records",
        ),
        Hypothesis(
            "causal-structure",
            "no record causes another, and records cause nothing but the database: setting one "
            "leaves the law of the others as it is",
        ),
        Hypothesis(EVERYWHERE, "the given level holds for every population, not for this one only"),
    )
}
"""All hypotheses by name."""

CONSEQUENCES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("default-in-domain", ("default-possible",)),
    ("default-possible", ("full-support", "default-in-domain")),
)
"""What follows from other hypotheses: (conclusion, premises)."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known: `holds` maps a hypothesis to "derived" or "declared"; others are unknown."""

    holds: dict[str, str]
    refuted: frozenset[str]

    def missing(self, hypotheses: Iterable[str]) -> tuple[str, ...]:
        """The hypotheses that are neither derived nor declared."""
        return tuple(name for name in hypotheses if name not in self.holds)

    def with_declared(self, names: Iterable[str]) -> Facts:
        """These facts with more declarations."""
        holds = self.holds | dict.fromkeys(names, "declared")
        return Facts(closed(holds, self.refuted), self.refuted)


def facts(population: Population | None, assume: Iterable[str], default: float, size: int) -> Facts:
    """What the population shows, and what `assume` declares by the names of hypotheses.

    Raises `InputError` for an unknown hypothesis and for a declaration that is refuted.
    """
    holds: dict[str, str] = {}
    refuted: set[str] = set()
    for name, hypothesis in HYPOTHESES.items():
        if population is None or hypothesis.derive is None:
            continue
        answer = hypothesis.derive(population, default, size)
        if answer:
            holds[name] = "derived"
        elif answer is False:
            refuted.add(name)
    for name in assume:
        if name not in HYPOTHESES:
            raise InputError(
                "assume", name, expected="a hypothesis", remedy=did_you_mean(name, HYPOTHESES)
            )
        if name in refuted:
            raise InputError(
                "assume",
                name,
                expected="something that the population doesn't contradict",
                remedy=f"Under it, or under a law that it allows, this is false: "
                f"{HYPOTHESES[name].statement}.",
            )
        holds.setdefault(name, "declared")
    return Facts(closed(holds, refuted), frozenset(refuted))


def closed(holds: dict[str, str], refuted: Collection[str] = ()) -> dict[str, str]:
    """These facts and what follows from them, unless it is refuted.

    What follows from a declaration counts as declared.
    """
    known = dict(holds)
    for conclusion, premises in CONSEQUENCES * 2:
        if conclusion in known or conclusion in refuted:
            continue
        if all(premise in known for premise in premises):
            is_declared = any(known[premise] == "declared" for premise in premises)
            known[conclusion] = "declared" if is_declared else "derived"
    return known
