"""Affine maps `G <= C G' + D` under (epsilon, delta): what correlation makes of them (3.10).

A record's own change is the map `(e^eps, delta)`. Maps chain to `(C1 C2, D1 + C1 D2)`, in any
order. Passing a reweighting of odds ratio `R` turns `(c, d)` into `(f(c; R), h d)`, `h` the largest
hockey-stick divergence of a reweighting at `C = f(c; R)`, or at any larger `C` with the `h` of that
`C`. Of the balls of a pair `(ln C, D)` only the upper ends are used again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import permutations

from flint import arb

from bayesdp.kernel.arithmetic import InvalidError, UnknownError, ball, contracted, require
from bayesdp.kernel.core import Conversion
from bayesdp.kernel.graphs import read_model
from bayesdp.kernel.messages import Messages
from bayesdp.kernel.populations import group_size

Pair = tuple[arb, arb]
"""`(ln C, D)`."""

MOST_ROUNDS = 5000
MOST_MESSAGES = 1500
_WORK = 200_000
_RAISED = arb(1) + arb(2) ** -47
_INFLATIONS = (0, 46, 44, 40, 36, 32, 28, 24, 20, 14, 10, 7)


def pairs(conversion: Conversion, dp_epsilon: Fraction, dp_delta: Fraction) -> list[Pair]:
    """`(epsilon, delta)` of every record, for mechanisms of this DP pair: each of them holds."""
    own = (ball(dp_epsilon), ball(dp_delta))
    rules: dict[str, Callable[[Conversion, Pair], list[Pair]]] = {
        "independent": _independent,
        "cluster-size": _cluster,
        "markov-contraction": _chain,
        "graph-contraction": _graph,
    }
    if conversion.rule not in rules:
        raise UnknownError("it has no form with a delta", conversion.rule)
    if conversion.adversary == "informed":
        return [own]
    return rules[conversion.rule](conversion, own)


def chained(maps: Sequence[Pair]) -> Pair:
    """The maps one after the other, in this order."""
    log_c, d = arb(0), arb(0)
    for one in maps:
        d += log_c.exp() * one[1]
        log_c += one[0]
    return log_c.upper(), d.upper()


def sorted_chain(maps: Sequence[Pair]) -> Pair:
    """The same in the order that is about best, `(C - 1) / D` smallest first; any order holds."""

    def rank(one: Pair) -> float:
        excess, d = float(one[0].expm1()), float(one[1])
        return excess / d if d > 0.0 else (float("inf") if excess > 0.0 else 0.0)

    return chained(sorted(maps, key=rank))


def group(size: int, own: Pair) -> Pair:
    """`size` own changes: `(m eps, delta (1 + e^eps + ... + e^((m-1) eps)))`."""
    if own[0] == 0:
        return own[0], size * own[1]
    return size * own[0], own[1] * (size * own[0]).expm1() / own[0].expm1()


def passed(one: Pair, ratio: Fraction | None) -> Pair:
    """What a reweighting of odds ratio `R` passes on of a change; `None` is an infinite `R`."""
    if ratio is None or (one[0] == 0 and one[1] == 0):
        return one
    if ratio == 1:
        return arb(0), arb(0)
    log_c = contracted(one[0], ball(ratio)).upper()
    return log_c, (one[1] * hockey_stick(log_c, ratio)).upper()


def hockey_stick(log_c: arb, ratio: Fraction) -> arb:
    """`(sqrt R - sqrt C)^2 / (R - 1)` for `C <= R`; 0 above."""
    gap = (ball(ratio).sqrt() - (log_c / 2).exp()).max(arb(0))
    return gap**2 / ball(ratio - 1)


def _independent(conversion: Conversion, own: Pair) -> list[Pair]:
    require(conversion.population.model == "independent", "the records may be dependent")
    return [own]


def _cluster(conversion: Conversion, own: Pair) -> list[Pair]:
    return [group(group_size(conversion.population), own)]


def _chain(conversion: Conversion, own: Pair) -> list[Pair]:
    """Both sides of a record, from the end inwards, until a pair reproduces itself from below."""
    from bayesdp.kernel.rules.markov_contraction import largest_ratio

    ratio, order = largest_ratio(conversion.population)
    if order > 1:
        own = group(order, own)
    records = -(-group_size(conversion.population) // order)
    side: Pair = (arb(0), arb(0))
    for number in range(records - 1):
        following = passed(_best_of_two(own, side), ratio)
        if following[0] <= side[0] and following[1] <= side[1]:
            break
        side = tuple(  # type: ignore[assignment]
            (new * _RAISED).upper().max(old) for new, old in zip(following, side, strict=True)
        )
        if number >= MOST_ROUNDS:
            raise UnknownError(f"delta has not settled after {MOST_ROUNDS} records")
        require(bool(side[1] < 1), "delta grows with the length, to 1 and more")
    orders = [chained(order) for order in permutations((own, side, side))]
    return [min(orders, key=lambda one: float(one[1]))]


def _best_of_two(one: Pair, other: Pair) -> Pair:
    first, second = chained((one, other)), chained((other, one))
    return first if first[1] <= second[1] else second


# -- graphs -----------------------------------------------------------------------------


def _graph(conversion: Conversion, own: Pair) -> list[Pair]:
    """Messages as affine maps; the largest component as a cluster holds too."""
    model = read_model(conversion.population)
    messages = Messages(model, Fraction(0))
    found = [group(max(messages.component, default=1), own)]
    if len(messages.record) > MOST_MESSAGES:
        raise UnknownError(f"more than {MOST_MESSAGES} messages with a delta")
    with suppress(InvalidError):  # they grow without an end: the cluster is what is left
        found.append(_Maps(messages, own).largest())
    return found


class _Maps:
    """The maps `(y, D)` of all messages, searched from below in doubles, proved in balls."""

    def __init__(self, messages: Messages, own: Pair) -> None:
        self.messages = messages
        self.own = own
        self.numbers = range(len(messages.record))

    def largest(self) -> Pair:
        """The largest level and the largest delta of a record."""
        log_c = self._proved(self._log_step, self._search(self._log_step))
        self.log_c = log_c
        self.hockey = [
            arb(1) if ratio is None else hockey_stick(y, ratio) if ratio != 1 else arb(0)
            for y, ratio in zip(log_c, self.messages.ratio, strict=True)
        ]
        deltas = self._proved(self._delta_step, self._search(self._delta_step))
        whole = [
            sorted_chain([self.own, *((log_c[m], deltas[m]) for m in into)])
            for into in self.messages.into
        ]
        level, delta = arb(0), arb(0)
        for one in whole:
            level, delta = level.max(one[0]), delta.max(one[1])
        return level, delta

    def _search(self, step: Callable[[list[arb]], list[arb]]) -> list[arb]:
        values = [arb(0) for _ in self.numbers]
        for _ in range(max(50, min(MOST_ROUNDS, _WORK // max(len(values), 1)))):
            following = [one.mid() for one in step(values)]
            require(all(one < 10**6 for one in following), "the messages grow without an end")
            settled = all(new <= old * _RAISED for new, old in zip(following, values, strict=True))
            values = following
            if settled:
                break
        return values

    def _proved(self, step: Callable[[list[arb]], list[arb]], guess: list[arb]) -> list[arb]:
        """The guess, raised until a step from it comes out no higher anywhere."""
        for inflation in _INFLATIONS:
            more = arb(0) if inflation == 0 else arb(2) ** -inflation
            raised = [(one * (1 + more)).upper() for one in guess]
            pairs_of = zip(step(raised), raised, strict=True)
            if all(bool(new <= old) for new, old in pairs_of):
                return raised
        raise InvalidError("no messages are proved")

    def _log_step(self, y: list[arb]) -> list[arb]:
        messages = self.messages
        totals = [self.own[0] + sum((y[m] for m in into), arb(0)) for into in messages.into]
        found = []
        for m in self.numbers:
            ratio = messages.ratio[m]
            s = sum((totals[messages.record[o]] - y[o] for o in messages.others[m]), arb(0))
            found.append(
                arb(0) if ratio == 1 else contracted(s, None if ratio is None else ball(ratio))
            )
        return found

    def _delta_step(self, deltas: list[arb]) -> list[arb]:
        messages = self.messages
        onward = []
        for o in self.numbers:
            into = messages.into[messages.record[o]]
            onward.append(
                sorted_chain([self.own, *((self.log_c[m], deltas[m]) for m in into if m != o)])
            )
        return [
            (self.hockey[m] * sorted_chain([onward[o] for o in messages.others[m]])[1]).min(arb(1))
            for m in self.numbers
        ]
