"""What a certificate declares, read once and strictly.

`bayesdp.statements` reads populations, columns and queries; what it refuses is INVALID, and what
nobody here has a rule for UNKNOWN. Whether the parts can all be so: `consistency`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from bayesdp.kernel.arithmetic import InvalidError, UnknownError, require
from bayesdp.kernel.models.populations import MOST_RECORDS
from bayesdp.statements import (
    StatementError,
    column_sets,
    columns,
    conditions,
    graphs,
    populations,
)
from bayesdp.statements.base import NotKnownError
from bayesdp.statements.certificates import AnyCertificate, read_certificate
from bayesdp.statements.columns import AnyColumn
from bayesdp.statements.populations import Population, Single
from bayesdp.statements.program_steps import ProgramDerivation, read_derivation
from bayesdp.statements.steps import StepWithLevel, read_level, unknown_rules

MODELS = frozenset(populations.STRUCTURE) | {"gaussian", "family"}
"""The models that have a rule here."""

MOST_KEPT = 8
"""How many populations that were read are kept, the newest ones. Speed only."""
_READ: dict[str, Population] = {}
"""The last populations that were read, by what they say without `source` and `covers`.

The steps of a derivation repeat the population that is declared, or a member of a family. Kept for
speed: reading the same text again gives an equal population.
"""


@contextmanager
def as_invalid() -> Iterator[None]:
    """What is not a statement makes a certificate INVALID, and is named where it stands.

    What nobody here reads makes it UNKNOWN.
    """
    try:
        yield
    except StatementError as error:
        raise InvalidError(error.reason, error.place.lstrip(".")) from None
    except NotKnownError as error:
        raise UnknownError(error.reason, error.place) from None


def as_text(plain: Any) -> str:
    """Plain data as one text, in which a number and a truth value are told apart."""
    return json.dumps(plain, sort_keys=True)


def same(value: Any, other: Any) -> bool:
    """Whether two pieces of plain data say the same; 1 and 1.0 do."""
    text, other_text = as_text(value), as_text(other)
    return text == other_text or _of_whole_numbers(text) == _of_whole_numbers(other_text)


def _of_whole_numbers(text: str) -> str:
    """The text with 1 in place of 1.0."""
    return as_text(json.loads(text, parse_float=_whole_if_it_is))


def _whole_if_it_is(digits: str) -> float:
    value = float(digits)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def stated_population(plain: Any) -> Population:
    """The population that is declared: `InvalidError` for none, `UnknownError` for a new model."""
    require(isinstance(plain, Mapping), "the population is not a table of keys", "population")
    law = populations.law_of(plain)
    text = as_text(law)
    if len(law) == len(plain) and text in _READ:
        return _READ[text]
    # Read from text, so that what is kept can't change in anybody's hands.
    read = json.loads(text)
    if len(law) < len(plain):
        beside = {key: value for key, value in plain.items() if key not in law}
        read |= json.loads(as_text(beside))
    population = _read(read)
    while len(_READ) >= MOST_KEPT:
        del _READ[next(iter(_READ))]
    _READ[text] = population.model_copy(update={"source": "", "covers": ()})
    return population


def _read(plain: Mapping[str, Any]) -> Population:
    if not isinstance(plain.get("model"), str) or plain["model"] not in MODELS:
        raise UnknownError(f"no rule for the model {plain.get('model')!r}", "population")
    with as_invalid():
        population = populations.read_population(dict(plain))
    graphs = [member for member in members_of(population) if member.model == "graph"]
    if sum(_records_of_graph(graph) for graph in graphs) > MOST_RECORDS:
        raise UnknownError(f"graphs of more than {MOST_RECORDS} records together", "population")
    return population


def _check_rules(derivation: object) -> None:
    for rule in unknown_rules(derivation):
        raise UnknownError("no rule of this name", rule)


def stated_certificate(plain: Mapping[str, Any]) -> AnyCertificate:
    """What a document states: `InvalidError` for none, `UnknownError` for rules of other names."""
    _check_rules(plain.get("derivation"))
    with as_invalid():
        return read_certificate(plain)


def stated_step(plain: Mapping[str, Any]) -> StepWithLevel:
    """A conversion, or the DP level of costs at a delta: one step that has a level of its own."""
    _check_rules(plain)
    with as_invalid():
        return read_level(plain)


def stated_derivation(plain: Mapping[str, Any]) -> ProgramDerivation:
    """The derivation of a program's cost."""
    with as_invalid():
        return read_derivation(plain)


def stated_columns(plain: Any) -> dict[str, AnyColumn]:
    """The columns that are declared, each condition about the column that it is computed from."""
    with as_invalid():
        declared = column_sets.read_columns(plain)
    for name, column in declared.items():
        if isinstance(column, columns.Condition):
            source = declared.get(column.source)
            known = conditions.Operand() if source is None else column_sets.operand(source)
            check_condition(column.where, {column.source: known}, f"columns.{name}")
    return declared


def check_condition(text: str, operands: Mapping[str, conditions.Operand], where: str) -> None:
    """`InvalidError` unless the condition `text` is of these `operands`; it stands at `where`."""
    try:
        conditions.against(conditions.parse(text), operands)
    except conditions.ConditionError as error:
        raise InvalidError(str(error), where) from None


def members_of(population: Population) -> tuple[Single, ...]:
    """The members of a family; another population alone."""
    return population.members if isinstance(population, populations.Family) else (population,)


def _records_of_graph(graph: graphs.GraphGrid | graphs.GraphFactors | graphs.GraphEdges) -> int:
    return math.prod(graph.grid) if isinstance(graph, graphs.GraphGrid) else graph.records
