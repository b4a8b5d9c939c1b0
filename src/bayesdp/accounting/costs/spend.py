"""What a query spends, and what several spends cost together.

What a cost means for a population is a reading (`readings`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

from bayesdp.accounting.costs.blocks import Block, heaviest
from bayesdp.accounting.costs.field_checks import (
    check_choice,
    check_text,
    checked_fields,
    finite_field,
    interval_field,
    names_field,
)
from bayesdp.errors import InputError, LedgerError, UnsupportedError
from bayesdp.notions import (
    KINDS,
    Cost,
    Kind,
)
from bayesdp.numbers import ZERO, UpperBound, as_upper_bound, float_above, sum_above
from bayesdp.statements.spends import COLLECTED, is_one_row

_COSTS = ("dp_epsilon", "slack", "dp_delta", "rho")


@dataclass(frozen=True, slots=True)
class Spend:
    """The cost of one query on one data set: its numbers are upper bounds of what it costs.

    `dataset` is the name under which the budget is kept, `unit` the protected unit, `query` the
    query's name. The cost, with replace-one adjacency and rounded up, is either pure, `dp_epsilon`
    in nats (then `rho` is 0), or that of Gaussian noise, `rho` (then `dp_epsilon` is 0): its zCDP
    cost (Bun & Steinke 2016), which for discrete Gaussian noise of variance s2 on integers is
    D^2 / (2 s2), D their l2 sensitivity (Canonne, Kamath & Steinke, NeurIPS 2020, Theorem 4). A
    quantile that is chosen by the exponential mechanism has a zCDP cost too (theory 4). A pure cost
    of kind `any` may have a `dp_delta` beside it: the mechanism is then (dp_epsilon, dp_delta)-DP.
    `kind` says what more is known of the mechanism: `lipschitz` needs the `column` and the clipping
    `interval` (in the column's unit). `slack` is what the grid's extra steps for one dependent
    record (theory 6) would cost on their own, in the unit of the cost, and counts for `lipschitz`
    only: with r the relative grid slack, dp_epsilon * r of a pure cost and rho * r^2 of a Gaussian
    one. `reads` names the private columns that the query reads: a reading must speak about all.
    `block` says that only records with certain values of one public column are read; `None` is all
    of them, and the only choice where a record is several rows (theory 2.3 a). `people` names whom
    the data set shares with others, if it does: costs of all data sets of the same people add up
    (theory 2.10).

    A plain number is taken at its word. Raises `InputError` for a value out of range, `TypeError`
    for a lower bound, `UnsupportedError` for a `dp_delta` above 0 beside a zCDP cost, of kind
    `lipschitz` and of answers perturbed at collection: no theorem is about it.
    """

    dataset: str
    unit: str
    query: str
    kind: Kind
    dp_epsilon: UpperBound
    column: str | None = None
    interval: tuple[float, float] | None = None
    slack: UpperBound = ZERO
    mechanism: str = "discrete-laplace"
    dp_delta: UpperBound = ZERO
    reads: tuple[str, ...] = ()
    rho: UpperBound = ZERO
    block: Block | None = None
    people: str | None = None

    def __post_init__(self) -> None:
        for name in ("dataset", "unit", "query", "mechanism"):
            check_text(f"spend.{name}", getattr(self, name))
        if self.people is not None:
            check_text("spend.people", self.people)
        if self.column is not None:
            check_text("spend.column", self.column)
        object.__setattr__(self, "reads", names_field("spend.reads", self.reads))
        self._check_block()
        check_choice("spend.kind", self.kind, KINDS)
        for name in _COSTS:
            value = getattr(self, name)
            finite_field(f"spend.{name}", value)
            object.__setattr__(self, name, as_upper_bound(value))
        self._check_cost()
        if self.interval is not None:
            object.__setattr__(self, "interval", interval_field("spend.interval", self.interval))
        self._check_kind()

    def _check_block(self) -> None:
        """A block is one of a public column, and records are rows."""
        if self.block is not None and not isinstance(self.block, Block):
            object.__setattr__(self, "block", Block.from_dict(self.block))
        if self.block is not None and not is_one_row(self.unit):
            raise InputError(
                "spend.block",
                self.block.words(),
                expected="none where a record is several rows: they may lie in several blocks",
            )

    def _check_cost(self) -> None:
        """A spend is pure or Gaussian, and only a pure one of any mechanism has a delta."""
        if self.rho < 0:
            raise InputError("spend.rho", self.rho, expected="a zCDP cost above 0, or 0")
        if self.rho == 0.0 and self.dp_epsilon <= 0:
            raise InputError("spend.dp_epsilon", self.dp_epsilon, expected="a cost above 0")
        if self.rho > 0 and self.dp_epsilon != 0.0:
            raise InputError(
                "spend.dp_epsilon",
                self.dp_epsilon,
                expected="0 beside a zCDP cost: a spend is pure or Gaussian, not both",
                remedy="Write two spends.",
            )
        if self.slack < 0:
            raise InputError("spend.slack", self.slack, expected="a number >= 0")
        if not 0.0 <= self.dp_delta < 1.0:
            raise InputError("spend.dp_delta", self.dp_delta, expected="a probability below 1")
        if self.dp_delta > 0 and (
            self.rho > 0 or self.kind != "any" or self.mechanism == COLLECTED
        ):
            raise UnsupportedError(
                "spend.dp_delta",
                self.dp_delta,
                expected="0 beside a zCDP cost, the kind 'lipschitz' or answers perturbed at "
                "collection",
                remedy="Price Gaussian noise in zCDP, as rho, and other mechanisms with a delta as "
                "dp_epsilon and dp_delta of the kind 'any'.",
            )

    def _check_kind(self) -> None:
        """A column, its interval and slack belong to the kind `lipschitz`, which needs them."""
        if self.mechanism == COLLECTED and not self._is_collected:
            raise InputError(
                "spend.mechanism",
                self.mechanism,
                expected="the kind 'any', no block, and one column, which it reads alone",
            )
        if self.kind == "any" and (self.interval is not None or self.slack > 0):
            raise InputError(
                "spend.kind",
                self.kind,
                expected="neither an interval nor slack beside it: they belong to 'lipschitz'",
            )
        if self.kind == "lipschitz" and self.column is not None:
            if self.reads not in ((), (self.column,)):
                raise InputError(
                    "spend.reads",
                    list(self.reads),
                    expected=f"'{self.column}' alone, as the kind is 'lipschitz'",
                )
            object.__setattr__(self, "reads", (self.column,))
        if self.kind == "lipschitz" and (self.column is None or self.interval is None):
            raise InputError(
                "spend.kind",
                self.kind,
                expected="a column and its clipping interval beside it",
                remedy="Name both, or use the kind 'any'.",
            )

    @property
    def _is_collected(self) -> bool:
        """Whether it is about all answers of one column."""
        alone = self.column is not None and self.reads == (self.column,)
        return self.kind == "any" and alone and self.block is None

    def to_dict(self) -> dict[str, Any]:
        """The spend as plain data for JSON."""
        plain = {argument.name: getattr(self, argument.name) for argument in fields(self)}
        for name in _COSTS:
            plain[name] = float(plain[name])
        plain["interval"] = None if self.interval is None else list(self.interval)
        plain["reads"] = list(self.reads)
        plain["block"] = None if self.block is None else self.block.to_dict()
        if self.people is None:
            del plain["people"]
        return plain

    @property
    def is_zcdp(self) -> bool:
        """Whether its cost is in zCDP, which means nothing under a reading without delta."""
        return self.rho > 0.0

    @property
    def pure_slack(self) -> UpperBound:
        """The slack of a pure cost, else 0."""
        return ZERO if self.is_zcdp else self.slack

    @property
    def rho_slack(self) -> UpperBound:
        """The slack of a zCDP cost, else 0."""
        return self.slack if self.is_zcdp else ZERO

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Spend:
        """The inverse of `to_dict`; raises `InputError` for unknown or missing keys."""
        return cls(**checked_fields(cls, "spend", data))


def total_cost(spends: Sequence[Spend]) -> Cost:
    """What one record pays for the spends of one data set, summed exactly and rounded up once.

    Composition is at the DP level, where costs of adaptively chosen mechanisms add up (theory
    2.2), and of those on disjoint public blocks the largest counts (theory 2.3 a). Perturbed
    answers are paid for once, however often they are read (theory 2.9). Where blocks mix kinds, the
    whole counts as of kind `any`. Of data sets that share people the sums add up: a person
    may be in the dearest block of each (theory 2.10). Raises `LedgerError` where costs don't
    add up: spends of different data sets that name no people in common, or of one with different
    protected units.
    """
    _check_together(spends)
    spends = _once(spends)
    mixed = len({spend.kind for spend in spends}) > 1
    if mixed and any(spend.block is not None for spend in spends):
        # The records that pay most for one kind need not be those that pay most for the other.
        others, lipschitz = list(spends), list[Spend]()
    else:
        others = [spend for spend in spends if spend.kind == "any"]
        lipschitz = [spend for spend in spends if spend.kind == "lipschitz"]
    return Cost(
        any=_most_paid(others, "dp_epsilon"),
        lipschitz=_most_paid(lipschitz, "dp_epsilon"),
        slack=_most_paid(lipschitz, "pure_slack"),
        rho_any=_most_paid(others, "rho"),
        rho_lipschitz=_most_paid(lipschitz, "rho"),
        rho_slack=_most_paid(lipschitz, "rho_slack"),
        dp_delta=_most_paid(spends, "dp_delta"),
    )


def _check_together(spends: Sequence[Spend]) -> None:
    """Raises `LedgerError` unless all are of one data set, or of data sets of the same people."""
    names = sorted({spend.dataset for spend in spends})
    people = {spend.people for spend in spends}
    if len(people) > 1 or (len(names) > 1 and None in people):
        raise LedgerError(
            "spend.dataset",
            names,
            expected="one data set, or data sets of the same people: costs of others don't add up",
            remedy="Keep a budget for each.",
        )
    for name in names:
        units = sorted({spend.unit for spend in spends if spend.dataset == name})
        if len(units) > 1:
            raise LedgerError(
                "spend.unit",
                units,
                expected="one protected unit: costs of different ones don't add up",
                remedy="Keep a budget for each.",
            )


def _once(spends: Sequence[Spend]) -> list[Spend]:
    """The spends, of which those on the same perturbed answers count once.

    Answers of a column at another cost are other answers, and so are those of another data set.
    """
    kept, known = list[Spend](), set[tuple[str, str | None, float, float]]()
    for spend in spends:
        if spend.mechanism == COLLECTED:
            answers = (spend.dataset, spend.column, spend.dp_epsilon, spend.rho)
            if answers in known:
                continue
            known.add(answers)
        kept.append(spend)
    return kept


def as_zcdp(spend: Spend) -> Spend:
    """The spend with its cost counted as zCDP: an `eps`-DP mechanism is `eps^2 / 2`-zCDP.

    Source: Bun & Steinke 2016, Proposition 1.4; theory 2.5. Many small pure spends cost less so. A
    spend with a delta of its own stays as it is: the proposition is not about it (theory 2.6b).
    """
    if spend.is_zcdp or spend.dp_delta > 0.0:
        return spend
    rho, slack = (float_above(Fraction(cost) ** 2 / 2) for cost in (spend.dp_epsilon, spend.slack))
    # A square below the smallest number is not nothing.
    return replace(spend, dp_epsilon=ZERO, rho=rho, slack=slack)


def _most_paid(spends: Sequence[Spend], part: str) -> UpperBound:
    """The most that one record pays of this part, rounded up.

    Of several data sets their people pay the most of each.
    """
    amounts = [getattr(spend, part) for spend in spends]
    if all(spend.block is None for spend in spends):  # all of them count, and there may be many
        total = sum_above(*amounts)
    else:
        by_dataset: dict[str, list[Spend]] = {}
        for spend in spends:
            by_dataset.setdefault(spend.dataset, []).append(spend)
        total = _above(
            heaviest(own, lambda spend: Fraction(getattr(spend, part)))
            for own in by_dataset.values()
        )
    if math.isinf(total):
        expected = "a sum below the largest number a computer holds"
        raise LedgerError("spends", amounts, expected=expected)
    return total


def _above(exact: Iterable[Fraction]) -> UpperBound:
    try:
        return float_above(sum(exact, Fraction(0)))
    except OverflowError:
        return UpperBound(math.inf)
