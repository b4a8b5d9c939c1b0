"""The factors of a graphical model, merged, and with possible values only (theory 3.7c)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import combinations, product

from bayesdp.kernel.arithmetic import watched
from bayesdp.kernel.models.graphs import Model, WeightTable, possible_values

Tie = tuple[int, ...]


def merged_factors(model: Model) -> Model:
    """The same law over what is possible, values numbered anew; factors in order of their members.

    Known records are left out, and a factor whose members another one has too is multiplied into
    the first such.
    """
    tables = _Tables()
    while True:
        tied: dict[Tie, WeightTable] = {}
        for tie, table in model.factors:
            members, own = tables.narrowed(table, tie, [model.possible[record] for record in tie])
            if members:
                tied[members] = tables.times(tied[members], own) if members in tied else own
        _into_larger(tied, tables)
        states, factors = [len(values) for values in model.possible], sorted(tied.items())
        model = Model(states, factors, possible_values(states, factors))
        if all(len(values) == size for values, size in zip(model.possible, states, strict=True)):
            return model


def _into_larger(tied: dict[Tie, WeightTable], tables: _Tables) -> None:
    """Multiply each factor of several members into the first that has these and others."""
    first: dict[Tie, Tie] = {}
    for tie in sorted(tied):
        for size in range(2, len(tie)):
            for smaller in combinations(tie, size):
                watched()
                if smaller in tied:
                    first.setdefault(smaller, tie)
    for smaller in sorted(first, key=len):
        tie, places = first[smaller], [first[smaller].index(record) for record in smaller]
        tied[tie] = tables.times(tied[tie], tied.pop(smaller), places)


class _Tables:
    """Equal tables are one object, so that what follows from them is found once.

    What was made of tables is remembered with them: so no other table gets their identity.
    """

    def __init__(self) -> None:
        self._same: dict[Hashable, WeightTable] = {}
        self._made: dict[Hashable, tuple[WeightTable, WeightTable]] = {}

    def _of(self, sizes: Sequence[int], weight: Callable[[Tie], Fraction]) -> WeightTable:
        watched()
        table = WeightTable(tuple(sizes), tuple(map(weight, product(*map(range, sizes)))))
        return self._same.setdefault((table.sizes, table.weights), table)

    def narrowed(
        self, table: WeightTable, tie: Tie, possible: list[frozenset[int]]
    ) -> tuple[Tie, WeightTable]:
        """A factor over its members of several possible values, which are put in order."""
        free = sorted(
            (record, place) for place, record in enumerate(tie) if len(possible[place]) > 1
        )
        places = [place for _, place in free]
        key = (id(table), *places, *possible)
        if key not in self._made:
            values = [sorted(allowed) for allowed in possible]

            def weight(chosen: Tie) -> Fraction:
                at = [options[0] for options in values]
                for place, value in zip(places, chosen, strict=True):
                    at[place] = values[place][value]
                return table.at(at)

            self._made[key] = table, self._of([len(values[place]) for place in places], weight)
        return tuple(record for record, _ in free), self._made[key][1]

    def times(
        self, table: WeightTable, other: WeightTable, places: Sequence[int] = ()
    ) -> WeightTable:
        """The product of two, the other's members being at these places; at all, if none are."""
        among = places or range(len(table.sizes))
        key = (id(table), id(other), *among)
        if key not in self._made:

            def weight(at: Tie) -> Fraction:
                return table.at(at) * other.at([at[place] for place in among])

            self._made[key] = table, self._of(table.sizes, weight)
        made: WeightTable = self._made[key][1]
        return made
