"""Populations with stronger dependence than a declared one, for a stress test.

Each is made from the declared population by one stated change, so that a reader can judge whether
the truth may be like that. Nothing here is a bound: a level is asked of each of them as of any
other population.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, singledispatch
from typing import TYPE_CHECKING, Any

from bayesdp.errors import InputError
from bayesdp.populations import (
    Autoregressive,
    Clusters,
    Family,
    Finite,
    Gaussian,
    Graph,
    Independent,
    MarkovChain,
    Network,
    Panel,
    Population,
    Tree,
    Unknown,
)
from bayesdp.populations.panel import ODDS_RATIOS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STEPS = (0.1, 0.3)
"""How far a parameter is moved towards the strongest dependence, as a share of the way."""

MOST_ENTRIES = 100_000
"""The most probabilities in the table of the next order."""


@dataclass(frozen=True, slots=True)
class Stronger:
    """A population with stronger dependence, and the change that made it, in words.

    `population` is `None` where there is none: `reason` then says why.
    """

    name: str
    change: str
    population: Population | None
    reason: str = ""


def stronger(population: Population, n: int | None = None) -> tuple[Stronger, ...]:
    """Populations with stronger dependence than this one, weakest first; arbitrary dependence last.

    `n` is the number of records, where it is known.
    """
    return (*_same_kind(population), *_arbitrary(population, n))


def _arbitrary(population: Population, n: int | None) -> Iterator[Stronger]:
    """Any dependence at all, within the groups of the population."""
    if isinstance(population, Independent):
        yield _tried("pairs", "any two records may depend on each other, in any way", _clusters(2))
        if n is not None and n > 2:
            change = f"all {n} records may depend on each other, in any way"
            yield _tried("anything", change, lambda: Unknown(records=n))
    elif not isinstance(population, Clusters | Unknown) and population.group_size > 1:
        size = population.group_size
        whole = {"series": "a series", "cluster": "a cluster", "panel": "a cluster"}.get(
            population.structure, "each connected part"
        )
        change = f"any dependence at all among the {size} records of {whole}"
        yield _tried("anything", change, _clusters(size))


def _clusters(size: int) -> Callable[[], Population]:
    return lambda: Clusters(size=size)


def _tried(name: str, change: str, make: Callable[[], Population]) -> Stronger:
    """The population, or why it can't be made."""
    try:
        return Stronger(name, change, make())
    except InputError as error:
        return Stronger(name, change, None, str(error))


def _percent(share: float) -> str:
    return f"{share:.0%}"


@singledispatch
def _same_kind(population: Population) -> tuple[Stronger, ...]:
    """Populations of the same kind with stronger dependence; none for independent and unknown."""
    return ()


@_same_kind.register
def _(population: Clusters) -> tuple[Stronger, ...]:
    sizes = {population.size + 1: "larger by 1", 2 * population.size: "twice as large"}
    return tuple(
        _tried(
            name,
            f"clusters of at most {size} records instead of {population.size}",
            _clusters(size),
        )
        for size, name in sizes.items()
    )


@_same_kind.register
def _(population: Autoregressive) -> tuple[Stronger, ...]:
    sign = -1.0 if population.coefficient < 0.0 else 1.0
    rows = []
    for step in STEPS:
        raised = population.coefficient + step * (sign - population.coefficient)
        change = (
            f"the coefficient {raised:.4g} instead of {population.coefficient:.4g}: "
            f"{_percent(step)} of the way to {sign:g}"
        )
        made = Autoregressive(coefficient=raised, length=population.length)
        rows.append(Stronger(f"stronger by {_percent(step)}", change, made))
    reason = "there is no theorem about autoregressive series of order 2"
    return (
        *rows,
        Stronger("next order", "each record also depends on the last but one", None, reason),
    )


def _to_the_power(panel: Panel, names: Sequence[str], power: float) -> Panel:
    """The panel with these odds ratios to a power, at most `e^700`."""
    logs = {name: power * math.log(getattr(panel, name)) for name in names}
    return panel.model_copy(update={name: math.exp(min(log, 700.0)) for name, log in logs.items()})


@_same_kind.register
def _(population: Panel) -> tuple[Stronger, ...]:
    names = [name for name in ODDS_RATIOS if (getattr(population, name) or 1.0) > 1.0]
    powers = {1.0 + step: f"stronger by {_percent(step)}" for step in STEPS}
    rows = [
        _tried(
            name,
            f"all declared odds ratios to the power {power:g}",
            partial(_to_the_power, population, names, power),
        )
        for power, name in powers.items()
        if names
    ]
    if population.others_now is not None and population.series > 1:
        change = "anything is possible between members at the same step"
        open_ = population.model_copy(update={"others_now": None})
        rows.append(Stronger("anything at one step", change, open_))
    return tuple(rows)


# -- chains --------------------------------------------------------------------------------------


@_same_kind.register
def _(population: MarkovChain) -> tuple[Stronger, ...]:
    if population.length == 1:
        return ()
    staying = _stays(population)
    where = "staying in the same state" if staying else "leaving the state"
    rows = [
        _tried(
            f"stronger by {_percent(step)}",
            f"each row of the transition moved {_percent(step)} of the way to {where}",
            partial(_moved, population, step, staying),
        )
        for step in STEPS
    ]
    step = STEPS[0]
    change = (
        f"order {population.order + 1} instead of {population.order}: with probability "
        f"{_percent(step)} a record repeats the one {population.order + 1} before it"
    )
    return (*rows, _tried("next order", change, lambda: _next_order(population, step)))


def _tables(chain: MarkovChain) -> dict[str, NDArray[np.float64]]:
    """The transition, or both of its bounds, by the names of the fields."""
    import numpy as np

    names = ("transition", "transition_lower", "transition_upper")
    given = {name: getattr(chain, name) for name in names}
    return {name: np.asarray(table) for name, table in given.items() if table is not None}


def _stays(chain: MarkovChain) -> bool:
    """Whether records tend to repeat the one before: on average over the rows, more than by chance.

    For two states and order 1 that is a correlation of at least 0 between neighbours.
    """
    import numpy as np

    middle = np.mean(list(_tables(chain).values()), axis=0)
    return bool(np.diagonal(middle, axis1=-2, axis2=-1).mean() * chain.states >= 1.0 - 1e-12)


def _moved(chain: MarkovChain, step: float, staying: bool) -> MarkovChain:
    """The chain whose rows are mixed with those of a chain that always stays, or always leaves."""
    import numpy as np

    same = np.eye(chain.states)
    towards = same if staying else (1.0 - same) / (chain.states - 1)
    tables: dict[str, Any] = {
        name: np.clip((1.0 - step) * table + step * towards, 0.0, 1.0)
        for name, table in _tables(chain).items()
    }
    return MarkovChain(
        **tables,
        order=chain.order,
        initial=chain.initial,
        length=chain.length,
        complete=chain.complete,
    )


def _next_order(chain: MarkovChain, step: float) -> MarkovChain:
    """The chain that, with probability `step`, repeats the record before all that it looks at."""
    import numpy as np

    states, order = chain.states, chain.order
    if states ** (order + 2) > MOST_ENTRIES:
        raise InputError(
            "population.order",
            order + 1,
            expected=f"a table of at most {MOST_ENTRIES} probabilities",
            remedy="Leave out the stress test by a higher order, or merge states.",
        )
    # The new first axis is the record further back; the last is the next record.
    repeats = np.eye(states).reshape(states, *(1,) * order, states)
    tables: dict[str, Any] = {
        name: np.clip((1.0 - step) * table[None, ...] + step * repeats, 0.0, 1.0)
        for name, table in _tables(chain).items()
    }
    initial: Any = chain.initial
    if initial != "stationary":
        if chain.transition is None:
            raise InputError(
                "population.initial",
                expected="a transition, where the law of the first records is given: it says what "
                "the next of them is",
                shown=False,
            )
        initial = np.asarray(initial)[..., None] * np.asarray(chain.transition)
    return MarkovChain(
        **tables, order=order + 1, initial=initial, length=chain.length, complete=chain.complete
    )


# -- correlations --------------------------------------------------------------------------------


@_same_kind.register
def _(population: Gaussian) -> tuple[Stronger, ...]:
    if population.group_size == 1:
        return ()
    if population.precision is not None:
        return tuple(_coupled(population, step) for step in STEPS)
    if population.max_correlation is not None:
        rho = population.max_correlation
        return tuple(
            Stronger(
                f"stronger by {_percent(step)}",
                f"the largest correlation {rho + step * (1.0 - rho):.4g} instead of {rho:.4g}: "
                f"{_percent(step)} of the way to 1",
                Gaussian(size=population.size, max_correlation=rho + step * (1.0 - rho)),
            )
            for step in STEPS
        )
    if population.max_regression_sum is not None:
        stated, most = population.max_regression_sum, population.group_size - 1.0
        return tuple(
            Stronger(
                f"stronger by {_percent(step)}",
                f"the largest sum of regressions {largest:.4g} instead of {stated:.4g}: "
                f"{_percent(step)} of the way to {most:g}",
                Gaussian(size=population.size, max_regression_sum=largest),
            )
            for step in STEPS
            if (largest := stated + step * (most - stated)) > stated
        )
    return tuple(_correlated(population, step) for step in STEPS)


def _correlated(population: Gaussian, step: float) -> Stronger:
    """All correlations between records times the same, towards the largest that is possible."""
    import numpy as np
    from scipy.linalg import eigh

    name = f"stronger by {_percent(step)}"
    covariance = np.asarray(population.covariance)
    within = len(population.columns or ("",))
    records = np.arange(len(covariance)) // within
    own = np.where(records[:, None] == records[None, :], covariance, 0.0)
    smallest = float(eigh(covariance - own, own, eigvals_only=True)[0])
    if smallest >= -1e-12:
        reason = "all correlations between records are 0: there are none to raise"
        return Stronger(name, "the correlations between records raised", None, reason)
    times = 1.0 + step * (-1.0 / smallest - 1.0)
    change = (
        f"every correlation between records times {times:.4g}: {_percent(step)} of the way to the "
        "largest multiple that is possible"
    )
    raised = own + times * (covariance - own)
    return _tried(
        name,
        change,
        lambda: Gaussian(
            covariance=((raised + raised.T) / 2.0).tolist(),
            size=population.size,
            roles=population.roles,
            bounds=population.bounds,
            columns=population.columns,
        ),
    )


def _coupled(population: Gaussian, step: float) -> Stronger:
    """The entries beside the diagonal of a precision, times `1 + step`."""
    from scipy.sparse import diags_array

    assert population.precision is not None
    matrix = population.precision.matrix
    diagonal = diags_array(matrix.diagonal())
    raised = (diagonal + (matrix - diagonal) * (1.0 + step)).tocsr()
    return _tried(
        f"stronger by {_percent(step)}",
        f"every entry of the precision beside its diagonal times {1.0 + step:g}",
        lambda: Gaussian(precision=raised),
    )


# -- tables of weights and probabilities -----------------------------------------------------------

_SQUARED = "squared"


@_same_kind.register
def _(population: Graph) -> tuple[Stronger, ...]:
    import numpy as np

    def squared() -> Population:
        given: dict[str, Any] = {"records": population.records, "states": population.states}
        if population.factors is not None:
            given["factors"] = [
                {
                    "between": factor.between,
                    "table": (np.asarray(factor.table) ** min(len(factor.between), 2)).tolist(),
                }
                for factor in population.factors
            ]
        else:
            table = (np.asarray(population.table) ** 2).tolist()
            given |= {"edges": population.edges, "grid": population.grid, "table": table}
        return Graph(**given)

    change = "the weights of every factor of two or more records squared"
    return (_tried(_SQUARED, change, squared),)


def _sharper(rows: Any) -> Any:
    """Laws along the last axis, with every probability squared and the rows rescaled."""
    import numpy as np

    squares = np.asarray(rows, dtype=float) ** 2
    return (squares / squares.sum(axis=-1, keepdims=True)).tolist()


_GIVEN_PARENTS = (
    "every probability of a record given its parents squared, and the rows rescaled to sum to 1"
)


@_same_kind.register
def _(population: Tree) -> tuple[Stronger, ...]:
    def squared() -> Population:
        nodes: Any = [
            {"name": node.name, "law": node.law}
            if node.parent is None
            else {
                "name": node.name,
                "parent": node.parent,
                "transition": _sharper(node.transition),
            }
            for node in population.nodes
        ]
        return Tree(nodes=nodes)

    return (_tried(_SQUARED, _GIVEN_PARENTS, squared),)


@_same_kind.register
def _(population: Network) -> tuple[Stronger, ...]:
    def squared() -> Population:
        nodes: Any = [
            node.spec() | ({"table": _sharper(node.table)} if node.parents else {})
            for node in population.nodes
        ]
        return Network(nodes=nodes)

    return (_tried(_SQUARED, _GIVEN_PARENTS, squared),)


@_same_kind.register
def _(population: Finite) -> tuple[Stronger, ...]:
    def squared() -> Population:
        squares = population.array**2
        return Finite(probabilities=(squares / squares.sum()).tolist(), roles=population.roles)

    change = "every probability of the joint law squared, and all rescaled to sum to 1"
    return (_tried(_SQUARED, change, squared),)


# -- families ------------------------------------------------------------------------------------


@_same_kind.register
def _(population: Family) -> tuple[Stronger, ...]:
    """Each member made stronger, as far as it can be; one without a stronger one stays."""
    ways = [_same_kind(member) for member in population.members]
    rows = []
    for position in range(max(map(len, ways))):
        changes = [way[min(position, len(way) - 1)] if way else None for way in ways]
        names = dict.fromkeys(change.name for change in changes if change is not None)
        words = dict.fromkeys(change.change for change in changes if change is not None)
        missing = [c.reason for c in changes if c is not None and c.population is None]
        members: list[Any] = [
            member if change is None else change.population
            for member, change in zip(population.members, changes, strict=True)
        ]
        name, change = ", ".join(names), f"in the members of the family: {'; '.join(words)}"
        if missing:
            rows.append(Stronger(name, change, None, missing[0]))
        else:
            rows.append(_tried(name, change, partial(Family, members=tuple(members))))
    return tuple(rows)
