"""Whether records are mutually independent, and which databases are possible, exactly.

An answer is `True`, `False`, or `None` where the declaration decides nothing. Of a declaration that
several laws meet, `True` says that it holds under all, `False` that it fails under one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import combinations, product
from math import prod

from bayesdp.kernel.arithmetic import UnknownError, law
from bayesdp.kernel.models import moves
from bayesdp.kernel.models.components import Components
from bayesdp.kernel.models.graphs import Model, WeightTable, live_cells, read_model
from bayesdp.kernel.models.joints import Law, TooLargeError, parts
from bayesdp.kernel.models.moves import ROUNDED, equal_up_to_rounding, read_moves
from bayesdp.kernel.models.populations import Rows, group_size, matrix_of, members_of_factors
from bayesdp.statements.chains import Autoregressive, Chain
from bayesdp.statements.gaussian import (
    GaussianCorrelation,
    GaussianCovariance,
    GaussianPrecision,
    GaussianRegression,
    GaussianVectors,
)
from bayesdp.statements.graphs import Finite
from bayesdp.statements.networks import NetworkNodes, Tree
from bayesdp.statements.populations import Clusters, Population, Unknown
from bayesdp.statements.tables import cells, parents_first, shape
from bayesdp.statements.tables import rows as rows_below

MOST_MULTIPLIED = 12
"""Records that are multiplied out; with two values each there are as many cells as allowed."""

MOST_SETTINGS = 2**12
"""The most joint values that are looked at for one pair; beyond them independence is not known."""
MOST_LOOKED_AT = 10**6
"""Factors looked at, in all, for those that tie two records."""

Factor = tuple[tuple[int, ...], WeightTable]
Possible = list[frozenset[int]]


def mutual_independence(population: Population) -> bool | None:
    """Whether all records are mutually independent."""
    if group_size(population) == 1:
        return True
    if isinstance(population, Clusters | Unknown):
        return False  # any dependence is allowed
    if isinstance(population, Autoregressive):
        return bool(population.coefficient == 0)
    if isinstance(population, GaussianCorrelation):
        return bool(population.max_correlation == 0)
    if isinstance(population, GaussianRegression):
        return bool(population.max_regression_sum == 0)
    if isinstance(population, GaussianCovariance | GaussianPrecision):
        return _uncorrelated(matrix_of(population), 1)
    if isinstance(population, GaussianVectors):
        return _uncorrelated(population.covariance, len(population.columns))
    if isinstance(population, Finite):
        return moves.is_product(finite_law(population))
    if isinstance(population, Chain):
        return moves.independent(read_moves(population))
    if isinstance(population, Tree | NetworkNodes):
        return _network(population)
    return _graph(population) if population.model == "graph" else None


def finite_law(population: Finite) -> dict[tuple[int, ...], Fraction]:
    """The cells of a finite law, rescaled to sum to 1."""
    sizes = shape(population.probabilities)
    if prod(sizes) > moves.MOST_CELLS:
        raise UnknownError(f"a law of more than {moves.MOST_CELLS} cells", "hypotheses")
    weights = law(list(cells(population.probabilities)), "probabilities")
    return dict(zip(product(*map(range, sizes)), weights, strict=True))


def all_of(answers: Iterable[bool | None]) -> bool | None:
    """`False` if one answer is `False`, `True` if all are `True`, else `None`."""
    listed = list(answers)
    return False if any(answer is False for answer in listed) else all(listed) or None


def _uncorrelated(matrix: Rows, width: int) -> bool | None:
    """Gaussian records are independent where nothing off the diagonal blocks is."""
    rows = [[Fraction(entry) for entry in row] for row in matrix]
    answer: bool | None = True
    for i, row in enumerate(rows):
        for j in range(i - i % width):
            both = row[j] + rows[j][i]
            if both * both > (2 * ROUNDED) ** 2 * row[i] * rows[j][j]:
                return False
            if row[j] != 0 or rows[j][i] != 0:
                answer = None
    return answer


def _network(population: Tree | NetworkNodes) -> bool | None:
    """Parents before children: if those before are independent, all their values go together.

    Then a record is independent of them where its rows agree for all values that they can have.
    """
    records, families = members_of_factors(population)
    parents: list[list[int]] = [[] for _ in range(records)]
    for family in families:
        parents[family[-1]] = family[:-1]
    answer: bool | None = True
    values: dict[int, list[int]] = {}
    for place in parents_first(parents):
        node = population.nodes[place]
        above = parents[place]
        rows = rows_below(node.table, len(above))
        sizes = [population.nodes[parent].values for parent in above]
        reached = [
            law(list(row), "a law of the network")
            for setting, row in zip(product(*map(range, sizes)), rows, strict=True)
            if all(value in values[parent] for value, parent in zip(setting, above, strict=True))
        ]
        for row in reached:
            if not all(map(equal_up_to_rounding, row, reached[0])):
                return False
            if row != reached[0]:
                answer = None
        values[place] = [value for value, weight in enumerate(reached[0]) if weight > 0]
    return answer


# -- graphs -------------------------------------------------------------------------------------


def _graph(population: Population) -> bool | None:
    model = read_model(population)
    if not _positive(model):
        if _acyclic(model):  # each value of a factor is possible, and some never together
            return False
        return _multiplied(population, moves.is_product)
    return _positive_graph(model)


def _positive(model: Model) -> bool:
    """Whether no factor has a zero among possible values: then all combinations are possible."""
    checked: dict[int, bool] = {}
    for tie, table in model.factors:
        if checked.setdefault(id(table), min(table.weights) > 0):
            continue
        allowed = prod(len(model.possible[record]) for record in tie)
        if len(live_cells(tie, table, model.possible)) < allowed:
            return False
    return True


def _multiplied(population: Population, of_law: Callable[[Law], bool | None]) -> bool | None:
    if group_size(population) > MOST_MULTIPLIED:
        return None
    try:
        joints = parts(population)
    except TooLargeError:
        return None
    return all_of(of_law(joint) for _, _, joint in joints)


def _positive_graph(model: Model) -> bool | None:
    """Of a positive law: whether any two records are independent given any values of the others.

    They are if and only if all records are mutually independent. Only factors that tie both count.
    """
    factorises: dict[tuple[int, tuple[frozenset[int], ...]], bool] = {}
    loose = []
    for tie, table in model.factors:
        key = (id(table), tuple(model.possible[record] for record in tie))
        if key not in factorises:
            factorises[key] = _factorises(tie, table, model)
        if not factorises[key]:
            loose.append((tie, table))
    answer: bool | None = True
    looked, seen = 0, set()
    for tie, _ in loose:
        for pair in combinations(sorted(tie), 2):
            if pair in seen:
                continue
            seen.add(pair)
            looked += len(loose)
            if looked > MOST_LOOKED_AT + len(loose):
                return None
            both = [factor for factor in loose if pair[0] in factor[0] and pair[1] in factor[0]]
            alone = _pair(pair, both, model.possible)
            if alone is False:
                return False
            answer = answer and alone
    return answer


def _factorises(tie: tuple[int, ...], table: WeightTable, model: Model) -> bool:
    """Whether a factor ties nothing: it is a product of functions of single records."""
    if len(tie) == 1:
        return True
    weights = dict(live_cells(tie, table, model.possible))
    base = min(weights)
    for cell, weight in weights.items():
        alone = Fraction(1)
        for place, value in enumerate(cell):
            alone *= weights[(*base[:place], value, *base[place + 1 :])] / weights[base]
        if alone * weights[base] != weight:
            return False
    return True


def _pair(pair: tuple[int, int], factors: list[Factor], possible: Possible) -> bool | None:
    others = sorted({record for tie, _ in factors for record in tie} - set(pair))
    sides = [sorted(possible[record]) for record in (*pair, *others)]
    if prod(map(len, sides)) > MOST_SETTINGS:
        return None
    tables = [(tie, dict(table.cells())) for tie, table in factors]
    answer: bool | None = True
    for setting in product(*sides[2:]):
        known = dict(zip(others, setting, strict=True))
        weights = {}
        for ends in product(*sides[:2]):
            known |= dict(zip(pair, ends, strict=True))
            weights[ends] = prod(
                (weight_of[tuple(known[record] for record in tie)] for tie, weight_of in tables),
                start=Fraction(1),
            )
        first, second = sides[0][0], sides[1][0]
        for a, b in weights:
            straight = weights[a, b] * weights[first, second]
            crossed = weights[a, second] * weights[first, b]
            if not equal_up_to_rounding(straight, crossed):
                return False
            if straight != crossed:
                answer = None
    return answer


def default_among_factors(population: Population, default: int) -> bool | None:
    """Whether the default may stand in place of any record of a graph, a tree or a network.

    Without cycles among factors, every cell that single factors leave is possible as a whole.
    """
    model = read_model(population)
    if all(_keeps(tie, table, model.possible, default) for tie, table in model.factors):
        return True
    return (
        False if _acyclic(model) else _multiplied(population, lambda joint: keeps(joint, default))
    )


def keeps(joint: dict[tuple[int, ...], Fraction], default: int) -> bool:
    """Whether a possible cell stays possible with the default in any place."""
    possible = {cell for cell, weight in joint.items() if weight > 0}
    return all(
        (*cell[:i], default, *cell[i + 1 :]) in possible
        for cell in possible
        for i in range(len(cell))
    )


def _keeps(tie: tuple[int, ...], table: WeightTable, possible: Possible, default: int) -> bool:
    if min(table.weights) > 0:
        return True
    weights = dict(table.cells())
    return all(
        weights[(*cell[:i], default, *cell[i + 1 :])] > 0
        for cell, _ in live_cells(tie, table, possible)
        for i in range(len(cell))
    )


def _acyclic(model: Model) -> bool:
    tied = Components(range(model.records))
    return all([tied.join(tie) for tie, _ in model.factors])
