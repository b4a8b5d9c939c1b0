"""Order-k chains of two states, any adversary: the recursion over contexts (theory 3.5t).

Tuples of k records are numbers, the oldest record their highest bit. The witness: the contexts of
both sides; for each that begins with an unknown record the logarithms of a matrix that a step does
not raise; and `target`, above the level of every pair of contexts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

from flint import arb

from bayesdp.kernel.arithmetic import UnknownError, ball, exact, largest, require, watched
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.chains import (
    BallRow,
    Matrix,
    chain_of_higher_order,
    check_stationary,
    stationary,
)
from bayesdp.kernel.models.orders import blocks, exact_rows, tuple_kernel
from bayesdp.kernel.steps.fixed_points import logarithms, super_solution

SYMBOLS = "01*"
MOST_TUPLES = 16
"""The exact stationary law of many more can't be stopped when the time is up."""


def bound(conversion: Conversion) -> arb:
    """The target, once no pair of contexts is above it."""
    population, details = chain_of_higher_order(conversion), conversion.details
    check_stationary(population)
    rows = exact_rows(population)
    require(len(rows[0]) == 2, f"the chain has {len(rows[0])} states, not two")
    require(min(map(min, rows)) > 0, "a transition probability is 0")
    if len(rows) > MOST_TUPLES:
        raise UnknownError(f"the contexts of {len(rows)} tuples would take too long")
    law = stationary(tuple_kernel(rows))
    factor = ball(conversion.total).exp()
    sides = []
    for place, table in enumerate((rows, backwards(rows, law))):
        sides.append(Side(table, _of_side(details, "contexts", place), factor))
        sides[place].close(_of_side(details, "closed", place))
    target = ball(exact(details.get("target"), "target"))
    Target(sides, law, factor).check(target)
    return target


def _of_side(details: Mapping[str, Any], name: str, place: int) -> list[Any]:
    """What the witness says about a side."""
    sides = details.get(name, ())
    require(len(sides) == 2, f"{len(sides)} lists, not one for each side", name)
    given: list[Any] = sides[place]
    return given


def backwards(rows: Sequence[Sequence[Fraction]], law: Sequence[Fraction]) -> list[list[Fraction]]:
    """The same chain read from its end: rows for tuples whose oldest record comes last."""
    count = len(rows)
    return [
        [
            law[before] * rows[before][here & 1] / law[here]
            for before in (here >> 1, here >> 1 | count >> 1)
        ]
        for here in (_turned(tuple_, count) for tuple_ in range(count))
    ]


def _turned(tuple_: int, count: int) -> int:
    """The tuple of the same records in the other order."""
    return int(f"{tuple_ + count:b}"[:0:-1], 2)


def _shortest(ratios: Matrix) -> Matrix:
    """The ratios that follow from these: products along the best way. Points, rounded up."""
    count = range(len(ratios))
    for middle in count:
        onward = ratios[middle]
        for row in ratios:
            watched()
            first = row[middle]
            for v in count:
                row[v] = row[v].min(first * onward[v])
    return [[arb(1) if u == v else ratios[u][v].upper() for v in count] for u in count]


def _largest_ratio(
    top: Sequence[BallRow], bottom: Sequence[BallRow], cost: Matrix, u0: int, v0: int
) -> arb:
    """The largest ratio of two weighted sums of `phi` over all `phi` that the costs allow.

    The sums are over `phi(u0), phi(u0 + 1)` and `phi(v0), phi(v0 + 1)`; their weights are mixtures
    of the given ones.
    """
    watched()
    of_zero, of_one = cost[u0], cost[u0 + 1]
    v1 = v0 + 1
    least, most = 1 / cost[v0][v1], cost[v1][v0]
    best = arb(0)
    for x in (least, most, of_zero[v0] / of_zero[v1], of_one[v0] / of_one[v1]):
        x = x.max(least).min(most)
        at_zero, at_one = of_zero[v0].min(of_zero[v1] * x), of_one[v0].min(of_one[v1] * x)
        sums = [w[0] * at_zero + w[1] * at_one for w in top]
        means = [w[0] + w[1] * x for w in bottom]
        best = best.max(sums[0].max(sums[-1]) / means[0].min(means[-1]))
    return best.upper()


def _laws(odds: Sequence[arb]) -> list[BallRow]:
    return [[1 / (1 + value), value / (1 + value)] for value in odds]


class Side:
    """A side of the attacked record: its contexts, what they allow, and matrices that close it."""

    def __init__(self, rows: list[list[Fraction]], words: list[str], factor: arb) -> None:
        self.rows = [[ball(entry) for entry in row] for row in rows]
        self.count = len(rows)
        self.pairs = [(u, v) for u, v in product(range(self.count), repeat=2) if u != v]
        require(len(set(words)) == len(words), "a context is there twice", "contexts")
        self.words = words
        self.places = {word: place for place, word in enumerate(words)}
        self.beginnings: dict[str, list[int]] = {}
        for place, word in enumerate(words):
            for length in range(len(word) + 1):
                self.beginnings.setdefault(word[:length], []).append(place)
        self._check_complete()
        self.any_evidence = self._any_evidence(blocks(rows, self.count.bit_length() - 1))
        self.cone = cache(self._cone)
        self.unknown_first = [place for place, word in enumerate(words) if word[0] == "*"]
        self.factor = factor
        self.matrices: list[Matrix] = []

    def close(self, witness: list[list[Any]]) -> None:
        """Keep the matrices of the witness, which a step doesn't raise: logarithms, row by row."""
        numbers = [entry for matrix in witness for entry in matrix]
        count = len(self.unknown_first) * self.count**2
        logs = super_solution(logarithms(numbers, count, "closed"), self.step, "closed")
        self.matrices = self._known(logs)

    def _check_complete(self) -> None:
        """Every sequence of symbols begins with exactly one of the words."""
        words = set(self.words)
        for beginning in ("", *self.beginnings):
            watched()
            longer = [beginning + symbol in self.beginnings for symbol in SYMBOLS]
            complete = not any(longer) if beginning in words else all(longer)
            require(complete, "they don't cover all that can be known", "contexts")

    # -- what a context allows

    def _any_evidence(self, blocks: list[list[Fraction]]) -> Matrix:
        """Whatever is known beyond: a mean over the next k records, which decide all after them."""
        cone = [[arb(1)] * self.count for _ in blocks]
        for u, v in self.pairs:
            ratios = (p / q for p, q in zip(blocks[u], blocks[v], strict=True))
            cone[u][v] = ball(max(ratios))
        return _shortest(cone)

    def _cone(self, word: str) -> Matrix:
        """The largest ratios of the evidence for two tuples, among contexts that begin so."""
        if not word:
            return self.any_evidence
        beyond, count = self.cone(word[1:]), self.count
        cone = [[arb(1)] * count for _ in range(count)]
        for u, v in self.pairs:
            if word[0] == "*":
                ratio = _largest_ratio(
                    [self.rows[u]], [self.rows[v]], beyond, 2 * u % count, 2 * v % count
                )
            else:
                y = int(word[0])
                ratio = beyond[(2 * u + y) % count][(2 * v + y) % count]
                ratio = ratio * self.rows[u][y] / self.rows[v][y]
            cone[u][v] = ratio
        return _shortest(cone)

    # -- the recursion

    def _beginning_with(self, longer: str) -> list[int]:
        """The places of the words that agree with it as far as both are said."""
        for length in range(1, len(longer) + 1):
            if longer[:length] in self.places:
                return [self.places[longer[:length]]]
        return self.beginnings[longer]

    def _known(self, logs: Sequence[arb]) -> list[Matrix]:
        """The matrices of all words: a known record moves the window on and costs nothing."""
        count, size = self.count, self.count**2
        ones = [[arb(1)] * count for _ in range(count)]
        matrices = [ones for _ in self.words]
        for number, place in enumerate(self.unknown_first):
            flat = [entry.exp().upper() for entry in logs[number * size : (number + 1) * size]]
            matrices[place] = [
                [arb(1) if u == v else flat[u * count + v] for v in range(count)]
                for u in range(count)
            ]
        moves = [
            (beyond, here, y)
            for beyond, word in enumerate(self.words)
            for y in range(2)
            for here in self._beginning_with(str(y) + word)
        ]
        for _ in range(count.bit_length() - 2):
            following = [
                matrix if self.words[place][0] == "*" else [list(row) for row in matrix]
                for place, matrix in enumerate(matrices)
            ]
            for beyond, here, y in moves:
                watched()
                for u, v in self.pairs:
                    new = matrices[beyond][(2 * u + y) % count][(2 * v + y) % count]
                    following[here][u][v] = following[here][u][v].max(new)
            matrices = following
        return matrices

    def step(self, logs: list[arb]) -> list[arb]:
        """One more record that is not known, before every context."""
        count = self.count
        best: dict[int, list[arb]] = {}
        for place, matrix in enumerate(self._known(logs)):
            values = self._unknown(matrix, self.cone(self.words[place]))
            for here in self._beginning_with("*" + self.words[place]):
                old = best.get(here, values)
                best[here] = [a.max(b) for a, b in zip(old, values, strict=True)]
        return [entry for place in self.unknown_first for entry in self._filled(best[place], count)]

    def _filled(self, values: Sequence[arb], count: int) -> list[arb]:
        """Logarithms of a whole matrix, row by row, of the entries off its diagonal."""
        following = iter(values)
        return [
            arb(0) if u == v else next(following).log() for u, v in product(range(count), repeat=2)
        ]

    def _unknown(self, matrix: Matrix, cone: Matrix) -> list[arb]:
        """The largest ratio of means, over all evidence of the context, for each pair of tuples."""
        count, rows = self.count, self.rows
        cost = _shortest(
            [
                [entry * self.factor if (u ^ v) & 1 else entry for v, entry in enumerate(row)]
                for u, row in enumerate(matrix)
            ]
        )
        laws = []
        for u in range(count):
            zero, odds = 2 * u % count, rows[u][1] / rows[u][0]
            laws.append(_laws([odds / cone[zero][zero + 1], odds * cone[zero + 1][zero]]))
        return [
            self._oldest_record_differs(u, v, cost, cone)
            if (u - v) % (count // 2) == 0
            else _largest_ratio(laws[u], laws[v], cost, 2 * u % count, 2 * v % count).max(arb(1))
            for u, v in self.pairs
        ]

    def _oldest_record_differs(self, u: int, v: int, cost: Matrix, cone: Matrix) -> arb:
        """Tuples that differ in the oldest record only: one ratio of evidence in both laws.

        The ratio of means is `1 + (a - b)(x - 1) / (1 / rho + a + b x + a b x rho)`, with the odds
        `a`, `b` of both rows, `x` the ratio of `phi`, and `rho` that of the evidence.
        """
        zero = 2 * u % self.count
        a, b = (self.rows[t][1] / self.rows[t][0] for t in (u, v))
        ends = cost[zero + 1][zero], 1 / cost[zero][zero + 1]
        least, most = 1 / cone[zero][zero + 1], cone[zero + 1][zero]
        best = arb(1)
        for x in ends:
            product_ = a * b * x
            there = 1 / product_.sqrt()
            slowest = 2 * product_.sqrt()
            if there < least:
                slowest = 1 / least + product_ * least
            elif there > most:
                slowest = 1 / most + product_ * most
            best = best.max(1 + (a - b) * (x - 1) / (slowest + a + b * x))
        return best.upper()


class Target:
    """The attacked record and the k - 1 records after it, between both sides."""

    def __init__(self, sides: Sequence[Side], law: Sequence[Fraction], factor: arb) -> None:
        self.factor = factor
        self.law = [[ball(p / q) for q in law] for p in law]
        count = len(law)
        forward = list(range(count))
        turned = [_turned(tuple_, count) for tuple_ in forward]
        self.sides = [
            _worst_below(side, order) for side, order in zip(sides, (forward, turned), strict=True)
        ]

    def check(self, target: arb) -> None:
        """That no pair of contexts is above it: pairs of beginnings first, which are worse."""
        below = target.exp() / self.factor
        pairs = [("", "")]
        while pairs:
            watched()
            pair = pairs.pop()
            if self.ratio(*pair) <= below:
                continue
            longer = [
                [word + s for s in SYMBOLS] if word + "*" in side else [word]
                for word, side in zip(pair, self.sides, strict=True)
            ]
            require(longer != [[word] for word in pair], f"contexts {pair} are above it", "target")
            pairs += [(ahead, behind) for ahead in longer[0] for behind in longer[1]]

    def ratio(self, right: str, left: str) -> arb:
        """`e^-eps` times what the attacked record changes, for contexts that begin so."""
        (ahead, open_ahead), (behind, open_behind) = self.sides[0][right], self.sides[1][left]
        count = range(len(self.law))
        values = [[ahead[u][v] * behind[u][v] for v in count] for u in count]
        evidence = [
            [self.law[u][v] * open_ahead[u][v] * open_behind[u][v] for v in count] for u in count
        ]
        return self._given_first(values, _shortest(evidence))

    def _given_first(self, values: Matrix, evidence: Matrix) -> arb:
        """What the first record changes; the last one of the rest is known, or averages out."""
        if len(values) == 2:
            return values[0][1].max(values[1][0])
        cost = _shortest(
            [
                [entry * self.factor if (u ^ v) & 1 else entry for v, entry in enumerate(row)]
                for u, row in enumerate(values)
            ]
        )
        half = range(len(values) // 2)
        laws = [_laws([1 / evidence[2 * u][2 * u + 1], evidence[2 * u + 1][2 * u]]) for u in half]
        averaged, weights = ([[arb(1)] * len(half) for _ in half] for _ in range(2))
        for u, v in product(half, repeat=2):
            if u != v:
                ratio = _largest_ratio(laws[u], laws[v], cost, 2 * u, 2 * v)
                averaged[u][v] = ratio.max(arb(1))
                weights[u][v] = _largest_ratio(_BOTH, _BOTH, evidence, 2 * u, 2 * v)
        worst = self._given_first(averaged, _shortest(weights))
        for z in range(2):
            known = [[row[z::2] for row in matrix[z::2]] for matrix in (values, evidence)]
            worst = worst.max(self._given_first(*known))
        return worst


_BOTH = [[arb(1), arb(1)]]


def _worst_below(side: Side, order: Sequence[int]) -> dict[str, tuple[Matrix, Matrix]]:
    """For each beginning, the largest entries of its words' matrices and of their cones.

    Their tuples are renumbered: `order` has the side's number of each.
    """
    worst: dict[str, tuple[Matrix, Matrix]] = {}
    for beginning in sorted(side.beginnings, key=len, reverse=True):
        watched()
        if beginning in side.places:
            matrices = side.matrices[side.places[beginning]], side.cone(beginning)
            first, second = ([[m[u][v] for v in order] for u in order] for m in matrices)
        else:
            below = [worst[beginning + symbol] for symbol in SYMBOLS]
            first, second = (
                [
                    [largest([matrix[u][v] for matrix in matrices]) for v in range(len(order))]
                    for u in range(len(order))
                ]
                for matrices in zip(*below, strict=True)
            )
        worst[beginning] = first, second
    return worst
