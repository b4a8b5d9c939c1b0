"""Which values a chain's records can have, and whether they depend: combinatorics of its table.

Of chains between bounds, the widest law has every move that some law has; no support is larger.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice, product

from bayesdp.kernel.arithmetic import UnknownError, law
from bayesdp.kernel.models.chains import stationary
from bayesdp.kernel.models.orders import tuple_kernel
from bayesdp.statements.chains import STATIONARY, MarkovChain, MarkovIntervals
from bayesdp.statements.tables import cells
from bayesdp.statements.tables import rows as rows_below

ROUNDED = Fraction(1, 10**9)
"""Numbers no further apart than this, relative to the larger, may be one number, rounded."""

MOST_SOLVED = 64
"""Tuples whose stationary law is solved for exactly."""

MOST_CHANGED = 64
"""Laws between bounds in which the default is tried."""

MOST_CELLS = 2**12
"""Certificates that need a law with more cells to be enumerated are UNKNOWN."""
MovesRow = list[Fraction]
Passed = set[tuple[int, int, int]]
"""Pairs of tuples that have been compared, for so many records."""


@dataclass(frozen=True)
class Moves:
    """The moves of a chain, by the number `t` of the tuple of its last `order` records.

    `allowed[t]` are the values that follow it under some law, `surely[t]` those that follow it
    under every law (`None` where rounding hides which). `fixed[t]` is the law of the next value,
    `None` where the bounds leave several. `start` is the law of the first tuple, `None` for the
    stationary one.
    """

    states: int
    order: int
    length: int
    allowed: tuple[frozenset[int], ...]
    surely: tuple[frozenset[int] | None, ...]
    fixed: tuple[MovesRow | None, ...]
    start: MovesRow | None

    @property
    def one_law(self) -> bool:
        """Whether the rows are known."""
        return all(row is not None for row in self.fixed)

    @cached_property
    def first(self) -> frozenset[int]:
        """The tuples that the first `order` records can be."""
        if self.start is not None:
            return frozenset(t for t, weight in enumerate(self.start) if weight > 0)
        return self.recurrent()

    def onward(self, here: int, new: int) -> int:
        """The tuple after a record."""
        return (here * self.states + new) % len(self.allowed)

    def digits(self, here: int) -> tuple[int, ...]:
        """The values of a tuple, the oldest first."""
        values = []
        for _ in range(self.order):
            here, value = divmod(here, self.states)
            values.append(value)
        return tuple(reversed(values))

    def recurrent(self) -> frozenset[int]:
        """The tuples of all closed classes: those that everything they lead to leads back to."""
        count = len(self.allowed)
        following = [[self.onward(t, v) for v in self.allowed[t]] for t in range(count)]
        before: list[list[int]] = [[] for _ in range(count)]
        for here, nexts in enumerate(following):
            for other in nexts:
                before[other].append(here)
        classes = _classes(following, before)
        leaving = {
            classes[t] for t in range(count) for o in following[t] if classes[o] != classes[t]
        }
        return frozenset(t for t in range(count) if classes[t] not in leaving)

    def occurring(self) -> Iterator[tuple[int, int]]:
        """Tuples that records can follow, each with the least number of records before the next."""
        seen, layer = set(self.first), set(self.first)
        for time in range(self.order, self.length):
            for here in layer:
                yield here, time
            layer = {self.onward(t, v) for t in layer for v in self.allowed[t]} - seen
            if not layer:
                return
            seen |= layer


def read_moves(chain: MarkovChain | MarkovIntervals) -> Moves:
    """The moves of a chain; of one between bounds, those of the widest law."""
    start = None if chain.initial == STATIONARY else law(list(cells(chain.initial)), "initial")
    if isinstance(chain, MarkovChain):
        fixed = [law(row, "transition") for row in rows_below(chain.transition, chain.order)]
        allowed = [frozenset(v for v, w in enumerate(row) if w > 0) for row in fixed]
        known = tuple(allowed)
        shape = (len(fixed[0]), chain.order, chain.length)
        return Moves(*shape, known, known, tuple(fixed), start)
    tables = (chain.transition_lower, chain.transition_upper)
    ends = [
        ([Fraction(x) for x in low], [Fraction(x) for x in high])
        for low, high in zip(*(rows_below(t, chain.order) for t in tables), strict=True)
    ]
    shape = (len(ends[0][0]), chain.order, chain.length)
    between = [_between(low, high) for low, high in ends]
    most, least, fixed_rows = zip(*between, strict=True)
    return Moves(*shape, most, least, fixed_rows, start)


def _between(
    low: MovesRow, high: MovesRow
) -> tuple[frozenset[int], frozenset[int] | None, MovesRow | None]:
    """Three facts about the rows between two bounds.

    The values that some row allows; those that every row allows, `None` where rounding hides them;
    and the row itself, `None` where there are several.
    """
    spare, wanted = 1 - sum(low, Fraction(0)), sum(high, Fraction(0)) - 1
    most = frozenset(v for v, top in enumerate(high) if top > 0 and (low[v] > 0 or spare > 0))
    forced = {v: low[v] if low[v] > 0 else high[v] - wanted for v in most}
    hidden = any(0 < share <= ROUNDED and low[v] == 0 for v, share in forced.items())
    least = None if hidden else frozenset(v for v, share in forced.items() if share > 0)
    if low == high or spare <= 0:
        return most, frozenset(v for v in most if low[v] > 0), law([float(x) for x in low], "row")
    if wanted <= 0:
        return most, most, law([float(x) for x in high], "row")
    return most, least, None


def _classes(following: list[list[int]], before: list[list[int]]) -> list[int]:
    """The number of each node's strongly connected class (Kosaraju), without recursion."""
    done, order = [False] * len(following), []
    for root in range(len(following)):
        work = [] if done[root] else [(root, iter(following[root]))]
        done[root] = True
        while work:
            for other in work[-1][1]:
                if not done[other]:
                    done[other] = True
                    work.append((other, iter(following[other])))
                    break
            else:
                order.append(work.pop()[0])
    number = [-1] * len(following)
    for root in reversed(order):
        stack = [root] if number[root] < 0 else []
        for here in stack:  # grows while it is walked
            if number[here] < 0:
                number[here] = root
                stack += before[here]
    return number


# -- which databases are possible ---------------------------------------------------------------


def all_possible(moves: Moves) -> bool | None:
    """Whether every series of values is possible, under every law."""
    if moves.length > moves.order:
        known = [row for row in moves.surely if row is not None]
        if any(len(row) < moves.states for row in known):
            return False
        if moves.start is not None and len(moves.first) < len(moves.allowed):
            return False
        return True if len(known) == len(moves.surely) else None
    if _beginnings(moves, moves.first) < moves.states**moves.length:
        return False
    return True if moves.start is not None or moves.surely == moves.allowed else None


def _beginnings(moves: Moves, tuples: frozenset[int]) -> int:
    """How many values the first records of a short series have between them."""
    return len({here // moves.states ** (moves.order - moves.length) for here in tuples})


def default_possible(moves: Moves, default: int) -> bool | None:
    """Whether the default may stand in place of any record, whatever the others are."""
    several = moves.surely != moves.allowed
    if not several or moves.start is not None:
        certain = _replaceable(moves, default)
        if certain or not several:
            return certain
    tried = islice(_laws_between(moves), 1 + MOST_CHANGED)
    return None if all(_replaceable(between, default) for between in tried) else False


def _laws_between(moves: Moves) -> Iterator[Moves]:
    """The widest law, and those that have one move less, where the bounds allow it."""
    yield replace(moves, surely=moves.allowed)
    for here, row in enumerate(moves.surely):
        for value in sorted(moves.allowed[here] - row) if row is not None else ():
            less = moves.allowed[here] - {value}
            allowed = (*moves.allowed[:here], less, *moves.allowed[here + 1 :])
            yield replace(moves, allowed=allowed, surely=allowed)


def _replaceable(moves: Moves, default: int) -> bool:
    """Whether the default may stand in place of any record of any series that some law allows.

    The series that it then makes must be possible under every law.
    """
    full = all(row is not None and len(row) == moves.states for row in moves.surely)
    if moves.length > moves.order and full:
        return len(moves.first) == len(moves.allowed) or _first_replaceable(moves, default)
    if not _first_replaceable(moves, default):
        return False
    passed: Passed = set()
    for here, time in moves.occurring():
        after = moves.surely[here]
        if after is None or default not in after:
            return False
        instead = moves.onward(here, default)
        left = min(moves.order, moves.length - 1 - time)
        if any(
            not _follows(moves, moves.onward(here, new), instead, left, passed)
            for new in moves.allowed[here]
        ):
            return False
    return True


def _first_replaceable(moves: Moves, default: int) -> bool:
    """`_replaceable` for the first records, whose law is that of the start."""
    count = min(moves.order, moves.length)
    shift = moves.states ** (moves.order - count)
    beginnings = {here // shift for here in moves.first}
    passed: Passed = set()
    for here in moves.first:
        for place in range(count):
            weight = moves.states ** (moves.order - 1 - place)
            instead = here + (default - here // weight % moves.states) * weight
            if moves.length <= moves.order:
                if instead // shift not in beginnings:
                    return False
            elif instead not in moves.first:
                return False
            left = min(place + 1, moves.length - moves.order)
            if not _follows(moves, here, instead, left, passed):
                return False
    return True


def _follows(moves: Moves, here: int, instead: int, left: int, passed: Passed) -> bool:
    """Whether what can follow one tuple, for so many records, can follow the other too."""
    if left <= 0 or here == instead or (here, instead, left) in passed:
        return True
    after = moves.surely[instead]
    if after is None or not moves.allowed[here] <= after:
        return False
    holds = left == 1 or all(
        _follows(moves, moves.onward(here, new), moves.onward(instead, new), left - 1, passed)
        for new in moves.allowed[here]
    )
    if holds:
        passed.add((here, instead, left))
    return holds


# -- independence -------------------------------------------------------------------------------


def equal_up_to_rounding(first: Fraction, second: Fraction) -> bool:
    """Whether two weights may be equal, but for the rounding of what they are made of."""
    return abs(first - second) <= ROUNDED * max(first, second)


def is_product(joint: dict[tuple[int, ...], Fraction]) -> bool | None:
    """Whether a law is the product of its margins; `None` where it may be one, rounded."""
    margins: list[dict[int, Fraction]] = [{} for _ in next(iter(joint))]
    for cell, weight in joint.items():
        for axis, value in enumerate(cell):
            margins[axis][value] = margins[axis].get(value, Fraction(0)) + weight
    answer: bool | None = True
    for cell, weight in joint.items():
        expected = Fraction(1)
        for axis, value in enumerate(cell):
            expected *= margins[axis][value]
        if not equal_up_to_rounding(weight, expected):
            return False
        if weight != expected:
            answer = None
    return answer


def independent(moves: Moves) -> bool | None:
    """Whether the records of a chain, at least two, are independent under every law."""
    later = _rows_equal(moves) if moves.length > moves.order else True
    if later is False:
        return False
    if moves.start is None:
        return _stationary_independent(moves)
    if moves.order == 1:
        return later
    begin = _start_is_product(moves, moves.start)
    return False if begin is False else True if begin and later else None


def _rows_equal(moves: Moves) -> bool | None:
    """Whether at every time the next record's law is the same after all tuples that can be there.

    While it is, the smallest tuple decides the next one, so that times soon repeat.
    """
    here, maybe = moves.first, False
    seen: set[frozenset[int]] = set()
    for _ in range(moves.length - moves.order):
        if here in seen:
            break
        seen.add(here)
        alike = _equal_rows([moves.fixed[t] for t in sorted(here)])
        if alike is False:
            return False
        maybe = maybe or alike is None
        here = frozenset(moves.onward(t, v) for t in here for v in moves.allowed[t])
    return None if maybe else True


def _equal_rows(rows: list[MovesRow | None]) -> bool | None:
    if len(rows) == 1:
        return True
    first = rows[0]
    for row in rows:
        if row is None or first is None or not all(map(equal_up_to_rounding, row, first)):
            return False
    return True if all(row == first for row in rows) else None


def _stationary_independent(moves: Moves) -> bool | None:
    """A stationary chain whose rows agree wherever it can be has independent records."""
    if not moves.one_law:
        return None
    rows = [row for row in moves.fixed if row is not None]
    alike = _equal_rows([rows[t] for t in sorted(moves.first)])
    if alike is not False or moves.length > moves.order:
        return alike
    if len(rows) > MOST_SOLVED:
        raise UnknownError(f"a stationary law of more than {MOST_SOLVED} tuples", "hypotheses")
    return _start_is_product(moves, stationary(tuple_kernel(rows)))


def _start_is_product(moves: Moves, start: MovesRow) -> bool | None:
    if len(start) > MOST_CELLS:
        raise UnknownError(f"a law of more than {MOST_CELLS} cells", "hypotheses")
    count = min(moves.order, moves.length)
    joint = dict.fromkeys(product(range(moves.states), repeat=count), Fraction(0))
    for here, weight in enumerate(start):
        joint[moves.digits(here)[:count]] += weight
    return is_product(joint)
