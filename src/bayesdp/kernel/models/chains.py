"""Markov chains: reading their declaration, and the recursion over runs (theory 3.5) in balls.

The rules for chains share this. A rule supplies `ratio(key, p, q, cost)`: a ball that is at least
the largest ratio of the averages of a log-Lipschitz function under the laws `p` and `q`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, fmpq, fmpq_mat

from bayesdp.kernel.arithmetic import InvalidError, UnknownError, ball, law, require
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.steps.fixed_points import logarithms, raised
from bayesdp.statements.chains import STATIONARY, Chain, MarkovChain

BallRow = list[arb]
Matrix = list[list[arb]]
Logs = list[list[arb | None]]
"""`ln C` for each pair of values; `None` where the evidence excludes one of them."""
History = list[list[list[Logs]]]
"""The logs of every run of both sides, after each number of records."""
ProgramKey = tuple[str | int, ...]
"""What tells apart the programs of a recursion: side, run and pair of values."""
Ratio = Callable[[ProgramKey, BallRow, BallRow, Matrix], arb]

MOST_STEPS = 20_000
"""A chain is followed for so many steps at most; a longer one is proved by a closed tail, or not at
all."""
MOST_WORK = 500_000
"""A ratio of two laws on `S` states counts `S`: at most about 15 seconds on a quiet machine."""
TAIL_RAISED = 50
"""By so many bits less than itself the tail of the witness is raised: it has been rounded."""


class SeveralLawsError(InvalidError):
    """The chain has several stationary laws."""


def check_stationary(chain: Chain) -> None:
    """`InvalidError` unless the chain starts in its stationary law."""
    require(
        chain.initial == STATIONARY,
        "the theorem is about stationary chains, and this one starts otherwise",
    )


def transitions(population: MarkovChain) -> list[list[Fraction]]:
    """The rows of a chain of order 1, exact."""
    require(population.order == 1, "the chain is of higher order")
    return [law(row, "transition") for row in population.transition]


def chain_of(conversion: Conversion) -> MarkovChain:
    """The chain of one law that is declared, of any order."""
    return conversion.declared(MarkovChain, "the population is not a chain of one law")


def chain_of_higher_order(conversion: Conversion) -> MarkovChain:
    """The chain that is declared, of order 2 or higher."""
    reason = "the population is not a chain of higher order with one law"
    chain = conversion.declared(MarkovChain, reason)
    require(chain.order > 1, reason)
    return chain


def stationary(rows: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """The stationary law, exact; `InvalidError` where there are several."""
    size = len(rows)
    system = [[rows[j][i] - (1 if i == j else 0) for j in range(size)] for i in range(size)]
    system[-1] = [Fraction(1)] * size
    matrix = fmpq_mat(size, size, [fmpq(x.numerator, x.denominator) for r in system for x in r])
    right = fmpq_mat(size, 1, [0] * (size - 1) + [1])
    try:
        solved = matrix.solve(right)
    except ZeroDivisionError:
        raise SeveralLawsError("the chain has several stationary laws") from None
    entries = [solved[i, 0] for i in range(size)]
    return [Fraction(int(x.p), int(x.q)) for x in entries]


@dataclass
class _Run:
    """A side and an end: the evidence on the next record, exact about where it is zero."""

    kernel: Matrix
    support: list[list[bool]]
    evidence: BallRow
    alive: list[bool]
    moves: bool
    current: Matrix

    def rows(self) -> list[BallRow | None]:
        """The law of the next record given each value; `None` where the evidence excludes it."""
        rows: list[BallRow | None] = []
        for weights, open_ in zip(self.kernel, self.support, strict=True):
            if not any(a and b for a, b in zip(open_, self.alive, strict=True)):
                rows.append(None)
                continue
            row = [w * h for w, h in zip(weights, self.evidence, strict=True)]
            total = sum(row, arb(0))
            rows.append([entry / total for entry in row])
        return rows

    def advance(self) -> None:
        """The evidence on the record after."""
        if not self.moves:
            return
        following = [
            sum((w * h for w, h in zip(r, self.evidence, strict=True)), arb(0)) for r in self.kernel
        ]
        self.alive = [
            any(a and b for a, b in zip(open_, self.alive, strict=True)) for open_ in self.support
        ]
        # Not rescaled: dividing by a sum of the same balls would widen them at every step.
        self.evidence = following

    def spread(self, limit: BallRow) -> arb | None:
        """How far the evidence is from its limit, as a factor; `None` where it has zeros."""
        if not all(self.alive):
            return None
        ratios = [h / entry for h, entry in zip(self.evidence, limit, strict=True)]
        high, low = ratios[0], ratios[0]
        for ratio in ratios[1:]:
            high, low = high.max(ratio), low.min(ratio)
        return high / low


class Recursion:
    """The recursion for a chain; `level` is the largest `ln C_left + ln C_right` that fits."""

    def __init__(self, population: MarkovChain, *, uninformed: bool) -> None:
        self.exact = transitions(population)
        self.size = len(self.exact)
        self.length = population.length
        self.uninformed = uninformed
        self.left = MOST_WORK // self.size
        self.initial = population.initial
        self.limit: list[Fraction] = []
        if self.initial == STATIONARY:
            self.start = self.limit = stationary(self.exact)
        else:
            self.start = law(self.initial, "initial")
            with suppress(SeveralLawsError):  # of several stationary laws the evidence has no limit
                self.limit = stationary(self.exact)

    def _run(self, backwards: bool, evidence: Sequence[Fraction], moves: bool) -> _Run:
        size = range(self.size)
        kernel = [[self.exact[w][u] if backwards else self.exact[u][w] for w in size] for u in size]
        return _Run(
            kernel=[[ball(entry) for entry in row] for row in kernel],
            support=[[entry > 0 for entry in row] for row in kernel],
            evidence=[ball(entry) for entry in evidence],
            alive=[entry > 0 for entry in evidence],
            moves=moves,
            current=[[arb(1)] * self.size for _ in size],
        )

    def _sides(self) -> list[list[_Run]]:
        right = [self._run(False, [Fraction(1)] * self.size, False)]
        left = [self._run(True, self.start, self.initial != "stationary")]
        if not self.uninformed:
            for value in range(self.size):
                right.append(self._run(False, [row[value] for row in self.exact], True))
                left.append(self._run(True, self.exact[value], True))
        return [right, left]

    def level(self, dp_epsilon: Fraction, ratio: Ratio, details: Mapping[str, Any]) -> arb:
        """An upper bound; at least `steps` steps are followed before a tail is closed.

        `closed` holds, for each side, logarithms to close it with: the witness.
        """
        steps = details.get("steps", 0)
        witnessed = "closed" in details
        tails = [self._raised(guess) for guess in closing(details, self.size)] if witnessed else []
        factor = ball(dp_epsilon).exp()
        sides = self._sides()
        last = min(self.length - 1, MOST_STEPS)
        closes = witnessed and min(self.limit, default=0) > 0
        require(closes or last == self.length - 1, "the chain is long and its tail isn't closed")
        # What is certain to be followed, before any of it is.
        pairs = sum(map(len, sides)) * self.size * (self.size - 1)
        self._affords((min(steps, last) if closes else last) * pairs)
        history: History = [[[self._logs(run.current, None) for run in side] for side in sides]]
        attempt = steps + 1
        for step in range(1, last + 1):
            if closes and step >= attempt and 2 * step + 8 < self.length:
                attempt = step + 1 + (step - steps) // 8
                if all(
                    self._closes(i, s, t, factor, ratio)
                    for i, (s, t) in enumerate(zip(sides, tails, strict=True))
                ):
                    return self._long(history, [self._logs(tail, None) for tail in tails])
            entry = []
            for i, side in enumerate(sides):
                entry.append(
                    [self._step((step, i, j), r, factor, ratio) for j, r in enumerate(side)]
                )
            history.append(entry)
        require(last == self.length - 1, "the chain is long and its tail isn't closed")
        return self._exhaustive(history)

    def _raised(self, guess: list[arb]) -> Matrix:
        """The matrix of the witness, a hair above its logarithms."""
        size, points = range(self.size), raised(guess, TAIL_RAISED)
        return [
            [arb(1) if u == v else points[u * self.size + v].exp().upper() for v in size]
            for u in size
        ]

    def _affords(self, ratios: int) -> None:
        if ratios > self.left:
            raise UnknownError(
                f"more than {MOST_WORK // self.size} ratios would have to be computed"
            )

    def _step(self, key: ProgramKey, run: _Run, factor: arb, ratio: Ratio) -> Logs:
        rows = run.rows()
        run.current = self._apply(key, rows, run.current, factor, ratio)
        run.advance()
        return self._logs(run.current, rows)

    def _apply(
        self,
        key: ProgramKey,
        rows: Sequence[BallRow | None],
        inner: Matrix,
        factor: arb,
        ratio: Ratio,
    ) -> Matrix:
        size = range(self.size)
        self.left -= self.size * (self.size - 1)
        self._affords(0)
        cost = [[arb(1) if u == v else factor * inner[u][v] for v in size] for u in size]
        result = [[arb(1)] * self.size for _ in size]
        for u in size:
            for v in size:
                p, q = rows[u], rows[v]
                if u != v and p is not None and q is not None:
                    result[u][v] = _stripped(ratio((*key, u, v), p, q, cost).max(arb(1)))
        return result

    def _closes(
        self, number: int, side: list[_Run], tail: Matrix, factor: arb, ratio: Ratio
    ) -> bool:
        """Whether `C+ >= C_R` and `F(C+) <= C+` of a tail, `F` covering all later evidence."""
        limit = [arb(1)] * self.size if number == 0 else [ball(x) for x in self.limit]
        spread = arb(1)
        for run in side:
            here = run.spread(limit)
            if here is None or not here.is_finite():
                return False
            spread = spread.max(here)
        pairs = [(u, v) for u in range(self.size) for v in range(self.size) if u != v]
        if not all(bool(run.current[u][v] <= tail[u][v]) for run in side for u, v in pairs):
            return False
        base = self._run(number == 1, [Fraction(1)] * self.size, False)
        base.evidence, base.alive = limit, [True] * self.size
        following = self._apply(("tail", number), base.rows(), tail, factor, ratio)
        return all(bool(following[u][v] * spread**2 <= tail[u][v]) for u, v in pairs)

    def _logs(self, current: Matrix, rows: Sequence[BallRow | None] | None) -> Logs:
        """`ln C`, and `None` where the evidence excludes one of the two values."""
        size = range(self.size)
        return [
            [
                arb(0)
                if u == v
                else None
                if rows is not None and (rows[u] is None or rows[v] is None)
                else current[u][v].log()
                for v in size
            ]
            for u in size
        ]

    def _long(self, history: History, tails: list[Logs]) -> arb:
        size = range(self.size)
        best = [
            [
                [
                    _largest_known(
                        [tails[i][u][v], *(run[u][v] for entry in history for run in entry[i])]
                    )
                    for v in size
                ]
                for u in size
            ]
            for i in (0, 1)
        ]
        return _largest_known([best[0][u][v] + best[1][u][v] for u in size for v in size])

    def _exhaustive(self, history: History) -> arb:
        """Every target and every pair of ends that fits the length."""
        size = range(self.size)
        reachable = self._reachable()
        early = len(reachable) - 1
        ever = [v for v in size if reachable[-1][v]]
        known = [_running(history, i, range(self.size)) for i in (0, 1)]
        known_left = _running(history, 1, ever)
        worst = arb(0)
        for position in range(1, self.length + 1):
            here = reachable[min(position, len(reachable)) - 1]
            records = self.length - position
            for u in size:
                for v in size:
                    if u == v or not (here[u] and here[v]):
                        continue
                    right = [history[records][0][0][u][v]]
                    left = [history[position - 1][1][0][u][v]]
                    if not self.uninformed:
                        if records >= 1:
                            right.append(known[0][records - 1][u][v])
                        if position - 1 - early >= 1:
                            left.append(known_left[position - 2 - early][u][v])
                        for boundary in range(1, min(early, position - 1) + 1):
                            run = history[position - 1 - boundary][1]
                            left += [run[1 + b][u][v] for b in size if reachable[boundary - 1][b]]
                    worst = worst.max(_largest_known(right) + _largest_known(left))
        return worst

    def _reachable(self) -> list[list[bool]]:
        """The values of the first records; the last entry is every value of any later one."""
        here = [entry > 0 for entry in self.start]
        reachable = [here]
        for _ in range(min(self.length - 1, 4 * self.size)):
            here = [
                any(here[u] and self.exact[u][v] > 0 for u in range(self.size))
                for v in range(self.size)
            ]
            reachable.append(here)
        return [*reachable, [any(entry[v] for entry in reachable) for v in range(self.size)]]


def closing(details: Mapping[str, Any], size: int) -> list[list[arb]]:
    """The witness `closed`: logarithms for the right side and the left one, row by row."""
    sides = details.get("closed")
    require(
        isinstance(sides, list) and len(sides) == 2,
        "the witness is not one matrix for each side",
        "closed",
    )
    for side in sides or ():
        square = isinstance(side, list) and len(side) == size
        square = square and all(isinstance(row, list) and len(row) == size for row in side)
        require(square, f"not a matrix of {size} rows", "closed")
    return [
        logarithms([entry for row in side for entry in row], size**2, "closed")
        for side in sides or ()
    ]


def _running(history: History, side: int, values: Sequence[int]) -> list[Logs]:
    """For each length, the largest `ln C` over known boundaries with at most so many unknown."""
    size = range(len(history[0][side][0]))
    best: Logs = [[None for _ in size] for _ in size]
    largest = []
    for entry in history:
        runs = entry[side][1:]
        best = [
            [_largest_known([best[u][v], *(runs[b][u][v] for b in values if runs)]) for v in size]
            for u in size
        ]
        largest.append(best)
    return largest


def _largest_known(values: Sequence[arb | None]) -> arb:
    """The largest of the values that are there; 0 (no change) if none is."""
    best = arb(0)
    for value in values:
        if value is not None:
            best = best.max(value)
    return best


def _stripped(value: arb) -> arb:
    """A point that is at least the value: so that radii don't pile up over many steps."""
    return value.upper()
