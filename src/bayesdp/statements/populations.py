"""Populations as certificates state them: who depends on whom, one class for each form.

A model that can be declared in several ways has a class for each of them, and its keys decide which
one is meant; a key of another form beside them is refused. What a spec means (its joint law) is
`bayesdp.populations`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from bayesdp.statements.base import Count, PopulationStatement, Reader, Sequence, one_form
from bayesdp.statements.chains import Autoregressive, MarkovChain, MarkovIntervals
from bayesdp.statements.gaussian import (
    GaussianCorrelation,
    GaussianCovariance,
    GaussianPrecision,
    GaussianRegression,
    GaussianVectors,
)
from bayesdp.statements.graphs import Finite, GraphEdges, GraphFactors, GraphGrid
from bayesdp.statements.networks import NetworkFile, NetworkNodes, Tree
from bayesdp.statements.panels import Panel


class Independent(PopulationStatement):
    """No record depends on another."""

    model: Literal["independent"]


class Clusters(PopulationStatement):
    """Mutually independent clusters of at most `size` records, of any law."""

    model: Literal["clusters"]
    size: Count


class Unknown(PopulationStatement):
    """Any of the `records` may depend on any other."""

    model: Literal["unknown"]
    records: Count


_FORMS = {
    "markov": (("transition", "markov"), ("transition_lower", "markov intervals")),
    "gaussian": (
        ("precision", "gaussian precision"),
        ("columns", "gaussian vectors"),
        ("covariance", "gaussian covariance"),
        ("max_regression_sum", "gaussian regression"),
    ),
    "graph": (("factors", "graph factors"), ("edges", "graph edges"), ("grid", "graph grid")),
    "network": (("nodes", "network nodes"),),
}
_OTHERWISE = {
    "markov": "markov",
    "gaussian": "gaussian correlation",
    "graph": "graph factors",
    "network": "network file",
}


def _form(plain: object) -> str:
    """Which class reads a population: its model, and of a model with several forms its keys."""
    model = plain.get("model") if isinstance(plain, dict) else None
    if not isinstance(model, str):
        return ""
    return one_form(plain, _FORMS.get(model, ()), _OTHERWISE.get(model, model))


Single = Annotated[
    Annotated[Independent, Tag("independent")]
    | Annotated[Clusters, Tag("clusters")]
    | Annotated[Unknown, Tag("unknown")]
    | Annotated[MarkovChain, Tag("markov")]
    | Annotated[MarkovIntervals, Tag("markov intervals")]
    | Annotated[Autoregressive, Tag("autoregressive")]
    | Annotated[GaussianCovariance, Tag("gaussian covariance")]
    | Annotated[GaussianVectors, Tag("gaussian vectors")]
    | Annotated[GaussianPrecision, Tag("gaussian precision")]
    | Annotated[GaussianCorrelation, Tag("gaussian correlation")]
    | Annotated[GaussianRegression, Tag("gaussian regression")]
    | Annotated[Panel, Tag("panel")]
    | Annotated[Finite, Tag("finite")]
    | Annotated[GraphFactors, Tag("graph factors")]
    | Annotated[GraphEdges, Tag("graph edges")]
    | Annotated[GraphGrid, Tag("graph grid")]
    | Annotated[Tree, Tag("tree")]
    | Annotated[NetworkNodes, Tag("network nodes")]
    | Annotated[NetworkFile, Tag("network file")],
    Discriminator(_form),
]
"""Every population but a family."""

STRUCTURE = {
    "independent": "none",
    "clusters": "clusters",
    "finite": "clusters",
    "markov": "series",
    "autoregressive": "series",
    "panel": "panels",
    "unknown": "all records",
    "graph": "all records",
    "tree": "all records",
    "network": "all records",
}

OF_PEOPLE = ("independent", "clusters")
"""The models that may be about everything that people have in several tables (theory 2.10)."""


def structure(population: Any) -> str:
    """What a population speaks of: `clusters`, `series`, `panels`, `all records`, `none`."""
    if isinstance(population, Family):
        kinds = {structure(member) for member in population.members} - {"none"}
        return kinds.pop() if kinds else "none"
    if population.model == "gaussian":
        return "all records" if isinstance(population, GaussianPrecision) else "clusters"
    return STRUCTURE[population.model]


def law_of(declared: Mapping[str, Any]) -> dict[str, Any]:
    """The law that a declaration states, without who vouches for it, and for which columns."""
    return {key: value for key, value in declared.items() if key not in ("source", "covers")}


def in_short(declared: Mapping[str, Any]) -> str:
    """What a declaration states beside its model and its source, in one line, in order of its keys.

    Lists of more than `MOST_SHOWN` numbers or names are shown by how many they have.

    >>> in_short({"model": "clusters", "size": 15, "covers": ["weight"]})
    'covers ["weight"], size 15'
    """
    parts = sorted(
        (key, value) for key, value in declared.items() if key not in ("model", "source")
    )
    return ", ".join(f"{key} {_in_short(value)}" for key, value in parts)


MOST_SHOWN = 9
"""The most numbers and names of a list that is shown whole."""


def _in_short(value: Any) -> str:
    count = _count(value) if isinstance(value, list | dict) else 1
    if count > MOST_SHOWN:  # it may be long: its text is not needed
        return f"({count} entries)"
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if isinstance(value, list | dict) and len(text) > MOST_LETTERS:
        return f"({count} entries)"
    return text


MOST_LETTERS = 200
"""A longer list is not shown."""


def _count(value: Any) -> int:
    """How many numbers and names there are in lists inside of each other."""
    count, layer = 0, [value]
    while layer:
        below: list[Any] = []
        for part in layer:
            if isinstance(part, dict):
                below += part.values()
            elif isinstance(part, list):
                below += part
            else:
                count += 1
        layer = below
    return count


class Family(PopulationStatement):
    """A family of populations: a member is true, and it is not known which.

    Members cover what the family covers.
    """

    model: Literal["family"]
    members: Annotated[tuple[Single, ...], Sequence, Field(min_length=1)]

    @model_validator(mode="after")
    def _of_one_structure(self) -> Family:
        if any(member.covers for member in self.members):
            raise ValueError("a member covers columns of its own")
        if len({structure(member) for member in self.members} - {"none"}) > 1:
            raise ValueError("members of different structures")
        return self


Population = Annotated[
    Annotated[Family, Tag("family")] | Annotated[Single, Tag("single")],
    Discriminator(
        lambda plain: (
            "family" if isinstance(plain, dict) and plain.get("model") == "family" else "single"
        )
    ),
]
_POPULATION: Reader[Population] = Reader(Population)


def read_population(plain: object, place: str = "population") -> Population:
    """The population that plain data declares, as one of the classes above.

    Raises `StatementError` for anything that isn't exactly one of them.
    """
    return _POPULATION.read(plain, place)
