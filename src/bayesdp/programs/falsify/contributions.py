"""What rows contribute to a program: tables that it can't tell apart are compared once.

A program reads a table through sums, counts, models, folds and transitions, and what it shows of a
single record it computes from this record. So two rows of which all of that is the same may stand
for each other in every table, and two tables may stand for each other whose rows add up to the
same totals (and whose other readings, which don't add up, are of equal rows). One pair of tables is
compared for all pairs that it stands for. What a row contributes is asked of the same evaluator
that computes the releases; where it can't be computed the row stands for itself alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import gcd, lcm

from bayesdp.programs.falsify.releases import Trial, lipschitz_value, row_scores, with_candidates
from bayesdp.programs.falsify.values import Evaluator, Fails, Opaque
from bayesdp.programs.falsify.witnesses import Database, rests
from bayesdp.programs.ir import Expr, nodes

READERS = ("sum", "count", "fold", "transitions", "observe")
MOST_STEPS = 1_000_000
"""How many totals may be added up before a selection of tables is taken instead."""
MOST_KINDS = 60
"""Of how many kinds of rows such a selection is made."""

Read = tuple[tuple[Fraction, ...], Hashable]
"""What a reading takes of a row: what is added to its totals (nothing: empty), and what else."""
RowTotals = tuple[int, ...]
Reached = dict[tuple[RowTotals, tuple[int, ...]], Database]


@dataclass(frozen=True)
class Contribution:
    """What a row contributes to the releases of a path."""

    added: RowTotals
    """To each total, in a unit of its own."""
    whole: Hashable
    """To readings that don't add up; None if none of them keeps the row."""
    own: Hashable
    """What is computed from the row alone, where it is the record that differs."""


@dataclass(frozen=True)
class Contributions:
    """What each row contributes to these releases, and to what is said to be public."""

    at: Evaluator
    trials: Sequence[Trial]
    public: Sequence[Expr]

    @cached_property
    def of_rows(self) -> list[Contribution]:
        """The contribution of each row."""
        readers = list(self._readers())
        places = range(len(self.at.rows))
        read = [[_guarded(reader, place) for reader in readers] for place in places]
        totals = _told_apart([[added for added, _ in row] for row in read])
        contributions = []
        for place, total, row in zip(places, totals, read, strict=True):
            whole = tuple(other for _, other in row)
            own = tuple(_guarded(partial(_own, trial), place) for trial in self.trials)
            contributions.append(Contribution(total, whole if set(whole) - {None} else None, own))
        return contributions

    @cached_property
    def kind_of(self) -> list[int]:
        """A number for each row: rows of the same number are not told apart."""
        seen: dict[Contribution, int] = {}
        return [seen.setdefault(row, len(seen)) for row in self.of_rows]

    @cached_property
    def others(self) -> list[int]:
        """A row for each kind of rows in tables of which another record differs."""
        seen: dict[tuple[RowTotals, Hashable], int] = {}
        for place, row in enumerate(self.of_rows):
            seen.setdefault((row.added, row.whole), place)
        return list(seen.values())

    def rests(
        self, size: int, *, ordered: bool, alike: bool, most: int
    ) -> tuple[list[Database], bool]:
        """The other records of a pair, `size` of them, and whether they stand for all.

        `ordered`: their order counts (folds). `alike`: they don't matter, and a single choice is
        enough. If there are more than `most`, a selection.
        """
        if not alike and not ordered:
            tables = self._of_each_total(size, most)
            if tables is not None:
                return tables, True
        kinds = self.others[:MOST_KINDS]
        chosen, complete = rests(len(kinds), size, ordered=ordered, alike=alike, most=most)
        tables = [tuple(kinds[kind] for kind in table) for table in chosen]
        return tables, complete and (alike or len(kinds) == len(self.others))

    def _of_each_total(self, size: int, most: int) -> list[Database] | None:
        """A table for all tables of the same totals, or None if there are more than `most`."""
        kinds = [(place, self.of_rows[place]) for place in self.others]
        names = {whole: i for i, whole in enumerate(dict.fromkeys(k.whole for _, k in kinds))}
        reached: Reached = {((0,) * len(kinds[0][1].added), ()): ()}
        steps = 0
        for _ in range(size):
            steps += len(reached) * len(kinds)
            if steps > MOST_STEPS:
                return None
            following: Reached = {}
            for (total, held), table in reached.items():
                for place, kind in kinds:
                    after = tuple(a + b for a, b in zip(total, kind.added, strict=True))
                    if kind.whole is None:
                        following.setdefault((after, held), (*table, place))
                    else:
                        more = tuple(sorted((*held, names[kind.whole])))
                        following.setdefault((after, more), (*table, place))
            if len(following) > most:  # one more record never makes two of them equal
                return None
            reached = following
        return [tuple(sorted(table)) for table in reached.values()]

    # -- readings of one row ---------------------------------------------------------------------

    def _readers(self) -> Iterator[Callable[[int], Read]]:
        """All readings of the table that releases and public expressions make."""
        for trial in self.trials:
            score = trial.release.args[0]
            if trial.release.op == "exponential" and score.op == "score":
                for at in with_candidates(trial):
                    yield from (partial(_read, at, expr, False) for expr in _outermost(score))
                continue
            row_by_row = trial.release.op == "posterior-sample"
            for arg in trial.release.args:
                yield from (partial(_read, self.at, expr, row_by_row) for expr in _outermost(arg))
        for expr in self.public:
            yield from (partial(_read, self.at, part, False) for part in _outermost(expr))


def _outermost(expr: Expr) -> Iterator[Expr]:
    """Where an expression reads the table: its outermost sums, folds and so on, and models."""
    if expr.op in READERS:
        yield expr
    if expr.op not in READERS or expr.op == "observe":
        for arg in expr.args:
            yield from _outermost(arg)


def _read(at: Evaluator, expr: Expr, row_by_row: bool, place: int) -> Read:
    """What a reading takes of a row; in a model, where asked for, row by row."""
    if expr.op in ("sum", "count"):
        return at.added(expr, place) or (), None
    data, row = expr.args[0], at.rows[place]
    if data.op != "data" or not at.keeps_row(data, row):  # a model of released data, or of none
        return (), None
    if expr.op == "fold":
        return (), _step(at, expr.args[1], place)
    value = at.of_row(data.args[1], row)
    if expr.op == "transitions":
        return (), (value, *(row[str(key.data[0])] for key in expr.args[1:]))
    adds_up = str(expr.args[1].data[0]) in ("bernoulli", "poisson", "normal")
    if row_by_row or not adds_up or not isinstance(value, bool | Fraction):
        return (), (value,)
    return (Fraction(1), Fraction(value)), None


def _step(at: Evaluator, expr: Expr, place: int) -> Hashable:
    """A fold's step with the row's values in it: rows with the same do the same to any number."""
    if all(node.op != "acc" for node in nodes(expr)):
        return at.of_row(expr, at.rows[place])
    return (expr.op, expr.data, *(_step(at, arg, place) for arg in expr.args))


def _own(trial: Trial, place: int) -> Read:
    """What a release takes of the record that differs by itself."""
    data, own = trial.release.args[0], lipschitz_value(trial, place)
    if trial.release.op in ("randomized-response", "per-record-exponential"):
        row = trial.at.rows[place]
        answers = trial.release.op == "randomized-response"
        shown = trial.at.of_row(data.args[1], row) if answers else tuple(row_scores(trial, place))
        return (), (own, trial.at.keeps_row(data, row), shown)
    return (), own


def _guarded(reader: Callable[[int], Read], place: int) -> Read:
    """What a reading takes of a row; a row that it can't read is unlike all others."""
    try:
        return reader(place)
    except (Fails, Opaque, ArithmeticError):
        return (), ("unlike all others", place)


def _told_apart(added: Sequence[Sequence[tuple[Fraction, ...]]]) -> list[RowTotals]:
    """What each row adds, in whole units, to totals in which rows differ, each of them once.

    Tables of as many rows are told apart by the same totals as before: another one is the same for
    all of them, or moves as one of these.
    """
    if not added:
        return []
    columns: dict[RowTotals, None] = {}
    for reading in zip(*added, strict=True):
        for entry in range(max(len(value) for value in reading)):
            column = [value[entry] if value else Fraction(0) for value in reading]
            low = min(column)
            unit = lcm(*(value.denominator for value in column))
            steps = [int((value - low) * unit) for value in column]
            columns.setdefault(tuple(step // max(gcd(*steps), 1) for step in steps))
    kept = [column for column in columns if any(column)]
    return [tuple(column[place] for column in kept) for place in range(len(added))]
