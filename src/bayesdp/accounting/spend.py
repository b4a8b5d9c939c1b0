"""What a query spends, and how a data set's spends are to be read.

A spend is a record, not a number: what it means for a population depends on the kind of the
mechanism, the column and its clipping interval (theory 2.2). A reading is one such meaning with
the total that it may reach.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from typing import Any

from bayesdp.accounting.blocks import Block, heaviest
from bayesdp.accounting.canonical import canonical_form, canonical_json
from bayesdp.accounting.field_checks import (
    check_choice,
    check_text,
    checked_fields,
    finite_field,
    interval_field,
    names_field,
)
from bayesdp.errors import InputError, LedgerError, UnsupportedError
from bayesdp.notions import (
    ADVERSARIES,
    KINDS,
    NOTIONS,
    SECRETS,
    Adversary,
    Cost,
    Kind,
    Notion,
    Secrets,
)
from bayesdp.numbers import UpperBound, float_above, float_below, sum_above
from bayesdp.statements.assumptions import secrets_place
from bayesdp.statements.base import exact_text
from bayesdp.statements.spends import COLLECTED, is_one_row


@dataclass(frozen=True, slots=True)
class Spend:
    """The cost of one query on one data set.

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

    Raises `InputError` for a value out of range, `UnsupportedError` for a `dp_delta` above 0 beside
    a zCDP cost, of kind `lipschitz` and of answers perturbed at collection: no theorem is about it.
    """

    dataset: str
    unit: str
    query: str
    kind: Kind
    dp_epsilon: float
    column: str | None = None
    interval: tuple[float, float] | None = None
    slack: float = 0.0
    mechanism: str = "discrete-laplace"
    dp_delta: float = 0.0
    reads: tuple[str, ...] = ()
    rho: float = 0.0
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
        for name in ("dp_epsilon", "slack", "dp_delta", "rho"):
            object.__setattr__(self, name, finite_field(f"spend.{name}", getattr(self, name)))
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
        if self.rho == 0 and self.dp_epsilon <= 0:
            raise InputError("spend.dp_epsilon", self.dp_epsilon, expected="a cost above 0")
        if self.rho > 0 and self.dp_epsilon != 0:
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
        plain = asdict(self)
        plain["interval"] = None if self.interval is None else list(self.interval)
        plain["reads"] = list(self.reads)
        plain["block"] = None if self.block is None else self.block.to_dict()
        if self.people is None:
            del plain["people"]
        return plain

    @property
    def is_gaussian(self) -> bool:
        """Whether its cost is zCDP: it then means nothing under a reading without delta."""
        return self.rho > 0.0

    @property
    def pure_slack(self) -> float:
        """The slack of a pure cost, else 0."""
        return 0.0 if self.is_gaussian else self.slack

    @property
    def rho_slack(self) -> float:
        """The slack of a zCDP cost, else 0."""
        return self.slack if self.is_gaussian else 0.0

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
    if spend.is_gaussian or spend.dp_delta > 0.0:
        return spend
    rho, slack = (float_above(Fraction(cost) ** 2 / 2) for cost in (spend.dp_epsilon, spend.slack))
    # A square below the smallest number is not nothing.
    return replace(spend, dp_epsilon=0.0, rho=rho, slack=slack)


SMALLEST_DELTA = 1e-30
"""Below it a delta is 0 for people, and too close to the end of doubles for searches."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One meaning of a data set's DP sum, and the total that it may not exceed.

    `total` is in nats of `notion`. For `bdp`, `population` is the population's canonical spec as
    plain data, `adversary` and `secrets` are as in the study, `covers` names the columns that the
    population speaks about, `independent` those that tell nothing about other records (theory 7).
    `interval` is where the secret values of the covered column lie, for a Gaussian population with
    one covered column: it belongs to the reading, so no later spend can narrow it (theory 2.2).
    `dataset` is set where the data set shares people: the columns are those of this one, and what
    is spent on the others is held against readings of theirs (`people`). It is no part of the key.
    For `dp` a population says nothing: `population` is None, and neither
    `adversary`, `secrets` nor columns make two readings different.

    With a `delta` above 0 the level is an epsilon at this delta, and Gaussian spends can be read;
    without one they can't: they have no pure level at any epsilon. `mechanism_delta` is the part of
    `delta` that is set aside, from the start, for spends with a `dp_delta`: theirs may add up to
    it, and Gaussian spends have the rest (theory 2.6b). Without it such spends can't be read.

    Raises `InputError` for a total that is not above 0 and for data that isn't plain JSON,
    `UnsupportedError` for a `mechanism_delta` under the notion `bdp`.
    """

    notion: Notion
    total: float
    population: dict[str, Any] | None = None
    adversary: Adversary = "any"
    secrets: Secrets = "bounded"
    covers: tuple[str, ...] = ()
    independent: tuple[str, ...] = ()
    interval: tuple[float, float] | None = None
    delta: float = 0.0
    mechanism_delta: float = 0.0
    dataset: str = field(default="", compare=False)
    population_text: str = field(default="", init=False, repr=False, compare=False)
    """The population's spec as canonical JSON, written once: it may be large."""

    def __post_init__(self) -> None:
        check_choice("reading.notion", self.notion, NOTIONS)
        check_choice("reading.adversary", self.adversary, ADVERSARIES)
        check_choice("reading.secrets", self.secrets, SECRETS)
        object.__setattr__(self, "total", finite_field("reading.total", self.total))
        if self.total <= 0:
            raise InputError("reading.total", self.total, expected="a total above 0")
        object.__setattr__(self, "delta", finite_field("reading.delta", self.delta))
        if not (self.delta == 0.0 or SMALLEST_DELTA <= self.delta < 1.0):
            raise InputError(
                "reading.delta",
                self.delta,
                expected=f"0, or a probability from {SMALLEST_DELTA:g} to below 1",
            )
        self._check_mechanism_delta()
        for name in ("covers", "independent"):
            object.__setattr__(self, name, names_field(f"reading.{name}", getattr(self, name)))
        if self.interval is not None:
            object.__setattr__(self, "interval", interval_field("reading.interval", self.interval))
        if (self.population is None) != (self.notion == "dp"):
            expected = "none for the notion 'dp'" if self.notion == "dp" else "a population's spec"
            raise InputError("reading.population", self.population, expected=expected)
        if self.population is not None:
            # A private copy: what is hashed and stored can't change in the caller's hands.
            text, copy = canonical_form(self.population)
            object.__setattr__(self, "population_text", text)
            object.__setattr__(self, "population", copy)

    def _check_mechanism_delta(self) -> None:
        """What is set aside is a part of delta, under DP alone."""
        value = finite_field("reading.mechanism_delta", self.mechanism_delta)
        object.__setattr__(self, "mechanism_delta", value)
        if value == 0.0:
            return
        if self.notion != "dp":
            raise UnsupportedError(
                "reading.mechanism_delta",
                value,
                expected="0 for Bayesian DP: no theorem says at which total costs with deltas, "
                "chosen after earlier answers, keep to one",
                remedy="Use the notion 'dp', or convert a stated pair: `bayesdp leakage --delta`.",
            )
        if not (0.0 < value <= self.delta and (self.rest == 0.0 or self.rest >= SMALLEST_DELTA)):
            raise InputError(
                "reading.mechanism_delta",
                value,
                expected=f"a part of the delta {exact_text(self.delta)}: all of it, or so much "
                f"that at least {SMALLEST_DELTA:g} is left",
            )

    @property
    def rest(self) -> float:
        """What of `delta` is not set aside for mechanisms with a delta, rounded down."""
        return float(float_below(Fraction(self.delta) - Fraction(self.mechanism_delta)))

    def __hash__(self) -> int:
        return hash(self.key())

    def key(self) -> str:
        """A stable name: the SHA-256, in hex, of the reading's canonical JSON."""
        return self._digest({**self._subject(), "total": self.total, **self._columns()})

    def subject_key(self) -> str:
        """The key without total and columns: readings that share it differ in nothing else."""
        return self._digest(self._subject())

    def words(self) -> str:
        """The reading in one line for people: notion, total, adversary and population."""
        most = f"at most {exact_text(self.total)}"
        if self.delta > 0:
            most += f" at delta {exact_text(self.delta)}"
        if self.mechanism_delta > 0:
            most += f" (of it {exact_text(self.mechanism_delta)} for mechanisms with a delta)"
        if self.population is None:
            return f"DP, {most}"
        columns = f", columns {', '.join(self.covers)}" if self.covers else ""
        if self.interval is not None:
            columns += f" {secrets_place(self.interval)}"
        return (
            f"Bayesian DP, {most}, for {_sketch(self.population)}, "
            f"adversary '{self.adversary}', secrets '{self.secrets}'{columns} "
            f"[{self.key()[:8]}]"
        )

    def to_dict(self) -> dict[str, Any]:
        """The reading as plain data for JSON."""
        population = json.loads(self.population_text) if self.population_text else None
        return self._plain(population)

    def text(self) -> str:
        """The same as canonical JSON."""
        return self._text(self._plain(None))

    def _plain(self, population: dict[str, Any] | None) -> dict[str, Any]:
        columns = {"covers": list(self.covers), "independent": list(self.independent)}
        interval = None if self.interval is None else list(self.interval)
        return {
            "notion": self.notion,
            "total": self.total,
            "population": population,
            "adversary": self.adversary,
            "secrets": self.secrets,
            **columns,
            "interval": interval,
            "delta": self.delta,
            **self._set_aside(),
        }

    def _set_aside(self) -> dict[str, float]:
        # Only where there is some: other readings keep their texts and keys.
        return {"mechanism_delta": self.mechanism_delta} if self.mechanism_delta > 0 else {}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Reading:
        """The inverse of `to_dict`; raises `InputError` for unknown or missing keys."""
        if "dataset" in data:
            raise InputError("reading.dataset", expected="nothing: the ledger knows it")
        return cls(**checked_fields(cls, "reading", data))

    def _subject(self) -> dict[str, Any]:
        # Only where there is one, so that readings without a delta keep the keys that they had.
        delta = ({"delta": self.delta} if self.delta > 0 else {}) | self._set_aside()
        if self.notion == "dp":
            return {"notion": "dp", **delta}
        return {
            "notion": self.notion,
            "adversary": self.adversary,
            "secrets": self.secrets,
            **delta,
        }

    def _digest(self, value: Mapping[str, Any]) -> str:
        """The SHA-256, in hex, of the canonical JSON with the population in it."""
        return hashlib.sha256(self._text(value).encode("ascii")).hexdigest()

    def _text(self, value: Mapping[str, Any]) -> str:
        """The canonical JSON with the population in it."""
        if not self.population_text:
            return canonical_json(value)
        text = canonical_json({**value, "population": None})
        # In a text within the text the quotes would be escaped: this is the key itself.
        before, after = text.split('"population":null')
        return f'{before}"population":{self.population_text}{after}'

    def _columns(self) -> dict[str, Any]:
        if self.notion == "dp":
            return {}
        columns = {"covers": list(self.covers), "independent": list(self.independent)}
        if self.interval is None:
            return columns
        return columns | {"interval": list(self.interval)}


LevelFunction = Callable[[Reading, Sequence[Spend]], UpperBound]
"""The level, in nats and rounded up, that spends of one data set reach under a reading.

It is asked about no spends at all, too, and must not fall when a spend is added or scaled up.
"""


def _most_paid(spends: Sequence[Spend], part: str) -> float:
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


def _above(exact: Iterable[Fraction]) -> float:
    try:
        return float_above(sum(exact, Fraction(0)))
    except OverflowError:
        return math.inf


def _sketch(population: Mapping[str, Any]) -> str:
    """The model and its short parameters; a transition matrix would hide the rest of a message."""
    short = [
        f"{key} = {value!r}"
        for key, value in population.items()
        if key not in ("model", "source", "covers") and isinstance(value, int | float | str)
    ]
    model = f"the population '{population.get('model', 'unnamed')}'"
    return f"{model} ({', '.join(short)})" if short else model
