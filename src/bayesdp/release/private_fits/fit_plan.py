"""The price of a population fitted to the private table of a study, before any data are read.

A fit is a release like any other: it reads private records, so its cost is debited from the data
set's budget before any noise is drawn, and read as the study reads it. In a study of the notion
`dp` it promises its DP cost and nothing about dependent records; in one of the notion `bdp` its
level under the population that the study declares. What it gives is in the ledger, so asking for it
again costs nothing. Why the bounds hold, and what a release that uses them promises, says
`fitting.noisy_counts`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesdp.accounting.canonical import canonical_json
from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.rounded import keeps, up_words
from bayesdp.accounting.costs.spend import Spend
from bayesdp.accounting.transaction import LedgerEntry
from bayesdp.calibration import calibrate
from bayesdp.errors import (
    BudgetExceededError,
    InputError,
    Refusal,
    UnsupportedError,
    did_you_mean,
)
from bayesdp.fitting import TransitionBounds
from bayesdp.fitting.chains import ORDERS, check_order_argument, most_records
from bayesdp.fitting.counting import MOST_CELLS
from bayesdp.fitting.noisy_counts import PublicWindows, ReleasedCounts, released_counts
from bayesdp.fitting.numbers_of import Numbers
from bayesdp.mechanisms import DiscreteLaplace
from bayesdp.notions import Calibration
from bayesdp.numbers import UpperBound
from bayesdp.populations import MarkovChain
from bayesdp.populations.markov import MOST_STATES
from bayesdp.release.certificates.derivation import proved_report
from bayesdp.release.price.plan import ledger_entry
from bayesdp.release.price.pricing import own_level
from bayesdp.release.spec.column_labels import label, labels
from bayesdp.release.spec.study import StudySpec, describe_column
from bayesdp.statements.columns import Value
from bayesdp.tables.queries.grid import check_noise
from bayesdp.tables.refusals import counted

TARGET = 1.0
"""The level, in nats, for which a plan says what noise the fitted population will need."""

LIKELY_STAY = 0.8
"""What a plan supposes of a chain about which nothing is said: how likely a state stays."""


@dataclass(frozen=True)
class FitPlan:
    """The price of a private fit, before any data are read.

    `column` has the `states` of the chain of this `order`, and `length` is the most records that a
    series of the population has. `released` says which integers are released with the `noise`, each
    of which moves by at most `error` with the noise's part of the `confidence`. `spend` is what the
    ledger is asked for, `level` what it means on its own in the notion of the `reading`, in nats.
    """

    study: StudySpec
    column: str
    states: tuple[Value, ...]
    order: int
    length: int
    confidence: float
    released: ReleasedCounts
    noise: DiscreteLaplace
    error: int
    reading: Reading
    spend: Spend
    level: UpperBound

    @property
    def dp_epsilon(self) -> float:
        """Its DP cost, in nats."""
        return self.spend.dp_epsilon

    def promise(self) -> str:
        """What the fit promises about the records that it reads, as a sentence."""
        cost = up_words(self.dp_epsilon)
        if self.reading.notion == "dp":
            return (
                f"The fit is {cost}-DP and promises no more: the study's notion is dp, so nothing "
                "is said of what dependent records tell about each other."
            )
        delta = f" at delta {self.reading.delta:g}" if self.reading.delta > 0.0 else ""
        return (
            f"The fit is {cost}-DP. Under the population that the study declares, and not the one "
            f"that is fitted, it alone reaches the BDP level {up_words(self.level)}{delta}."
        )

    def subject(self) -> dict[str, Any]:
        """What is drawn, as plain data: all that the noisy integers depend on but the table."""
        study = self.study
        columns = study.columns
        role_names = [
            name for name, column in columns.items() if column.role in ("series", "order")
        ]
        source = columns[self.column].source
        named = {self.column, *role_names, *([source] if source in columns else [])}
        made = study.data.model_dump(mode="json", include={"wide", "join"})
        return {
            "column": self.column,
            "order": self.order,
            "released": self.released.name,
            "scale": self.noise.scale,
            "dp_epsilon": self.dp_epsilon,
            "n": study.data.n,
            "columns": {name: describe_column(columns[name]) for name in sorted(named)},
            **{key: declared for key, declared in made.items() if declared},
        }

    def entry(self, study: str) -> LedgerEntry:
        """What the ledger records before anything is drawn. `study` is the name of the study."""
        request = {"queries": [self.spend.query], "fit": self.digest()}
        return ledger_entry(self.study, self.reading, (self.spend,), name=study, request=request)

    def digest(self) -> str:
        """A digest of `subject`: the same for fits that would draw the same."""
        return hashlib.sha256(canonical_json(self.subject()).encode()).hexdigest()

    def require_windows(self, windows: PublicWindows) -> None:
        """Raises `Refusal` where no bounds could result: known before anything is paid."""
        if windows.transitions < 1:
            raise Refusal(
                f"No {self.order + 1} records follow each other without a gap: there is nothing to "
                "fit. Look at the step of the order column. Nothing was released or spent."
            )
        least = self.released.least_transitions(self.error, windows.runs)
        if windows.transitions < least:
            raise Refusal(
                f"No bounds could result: noise at a DP cost of {up_words(self.dp_epsilon)} moves "
                f"a count by up to {self.error}. Of {windows.transitions} transitions in "
                f"{counted(windows.runs, 'run')} of neighbours some kind would then have the bound "
                f"0, however they are distributed; it takes {least} of them. "
                "Spend more on the fit, or fit fewer states or a lower order. Nothing was released "
                "or spent."
            )

    def expected(
        self, supposed: MarkovChain | None = None, *, target: float = TARGET
    ) -> ExpectedFit:
        """What will come out if the records are as `supposed`, without reading any.

        `supposed` is a chain with as many states and of the same order (the middle of its bounds,
        if it has some). Left out, it is the study's own population if that is such a chain, and
        else a chain that stays in its state with probability 0.8 and goes to all others alike.
        `target` is the level, in nats, whose noise is stated. Raises `InputError` for a study whose
        number of records comes from the data, and for a supposed chain of another shape.
        """
        n = self.study.data.n
        if not isinstance(n, int):
            raise InputError(
                "data.n",
                n,
                expected="the number of records, to say beforehand what a fit will give",
                remedy="State it in the study.",
            )
        chain, words = self._supposed(supposed)
        windows = PublicWindows(n - self.order, 1)
        law = _stationary(chain)
        counts = np.rint(law[..., None] * chain * windows.transitions).astype(np.int64)
        bounds = self.released.bounds(
            self.released.values(counts), self.noise, windows, self.confidence
        )
        population = fitted_population(self, bounds, "fitted to supposed records")
        calibration = calibrate(
            population,
            target,
            adversary=self.reading.adversary,
            seconds=self.study.budget.seconds,
        )
        return ExpectedFit(self.dp_epsilon, words, chain, bounds, calibration)

    def _supposed(self, supposed: MarkovChain | None) -> tuple[Numbers, str]:
        """The transitions that a plan supposes, and what to say of them."""
        declared = self.study.population
        size = (len(self.states), self.order)
        words = "as the given population says"
        if (
            supposed is None
            and isinstance(declared, MarkovChain)
            and (declared.states, declared.order) == size
        ):
            supposed, words = declared, "as the study's population says"
        if supposed is None:
            others = (1.0 - LIKELY_STAY) / (size[0] - 1)
            stays = np.eye(size[0]) * (LIKELY_STAY - others) + others
            shape = (size[0],) * (self.order + 1)
            return np.broadcast_to(stays, shape).copy(), (
                f"a chain that stays in its state with probability {LIKELY_STAY:g}, as nothing "
                "better is said"
            )
        if (supposed.states, supposed.order) != size:
            raise InputError(
                "supposed",
                f"{supposed.states} states and order {supposed.order}",
                expected=f"a chain of {size[0]} states and order {size[1]}, as will be fitted",
            )
        if supposed.transition is not None:
            return np.array(supposed.transition), words
        middle = (np.array(supposed.transition_lower) + np.array(supposed.transition_upper)) / 2.0
        return middle / middle.sum(axis=-1, keepdims=True), words


@dataclass(frozen=True, eq=False)
class ExpectedFit:
    """What a private fit will give if the records are as supposed: no promise, but a plan.

    `calibration` is that of the expected population at a target level: its `noise_multiplier` says
    how many times the noise of independent records a release needs.
    """

    fit_epsilon: float
    supposed: str
    transition: Numbers
    bounds: TransitionBounds
    calibration: Calibration

    @property
    def widths(self) -> Numbers:
        """The lengths of the intervals of all transitions."""
        return self.bounds.upper - self.bounds.lower

    @property
    def dp_epsilon_left(self) -> float:
        """The DP budget at the target level, less the cost of the fit, which counts in it too."""
        return max(self.calibration.dp_epsilon - self.fit_epsilon, 0.0)

    def sentences(self) -> list[str]:
        """What to expect, in words."""
        budget, target = self.calibration.dp_epsilon, self.calibration.target
        said = [
            f"If the records are {self.supposed}: the bounds on a transition are at most "
            f"{float(self.widths.max()):.2g} wide.",
            f"At level {target:g} that population allows a DP budget of {budget:.3g}: "
            f"{self.calibration.noise_multiplier:.3g} times the noise of independent records.",
        ]
        if self.dp_epsilon_left > 0.0:
            times = target / self.dp_epsilon_left
            said.append(
                f"The fit's own cost counts in it, as both read the same records: it leaves "
                f"{self.dp_epsilon_left:.3g} for releases, {times:.3g} times the noise."
            )
        else:
            said.append(
                "The fit's own cost counts in it, as both read the same records, and leaves "
                "nothing for releases at this level."
            )
        return said

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesdp fit --private --plan --json` prints it."""
        return {
            "supposed": {"words": self.supposed, "transition": self.transition.tolist()},
            "lower": self.bounds.lower.tolist(),
            "upper": self.bounds.upper.tolist(),
            "calibration": self.calibration.to_dict(),
            "dp_epsilon_left": self.dp_epsilon_left,
        }


def plan_fit(
    study: StudySpec,
    reading: Reading,
    *,
    dp_epsilon: float,
    column: str | None = None,
    order: int = 1,
    length: int | None = None,
    confidence: float = 0.95,
) -> FitPlan:
    """The price of a private fit under the `reading` of its study. Arguments as of `Study.fit`.

    Raises `InputError` and `UnsupportedError` for what can't be fitted, and `Refusal` where no
    bounds could result or the fit alone exceeds what the study may spend.
    """
    data = study.data
    name, states = _states(study, column, order)
    many_series = any(declared.role == "series" for declared in study.columns.values())
    released = released_counts(len(states), order, many_series=many_series)
    noise = DiscreteLaplace.for_cost(released.sensitivity, _positive(dp_epsilon))
    spend = Spend(
        dataset=data.dataset,
        unit=data.protected_unit,
        people=data.people,
        query=f"fit of a chain of order {order} to {name}",
        kind="any",
        dp_epsilon=noise.cost(released.sensitivity),
        reads=_reads(study, name),
    )
    plan = FitPlan(
        study=study,
        column=name,
        states=states,
        order=order,
        length=_length(study, length),
        confidence=confidence,
        released=released,
        noise=noise,
        error=released.error(noise, confidence),
        reading=reading,
        spend=spend,
        level=UpperBound(0.0),
    )
    if isinstance(data.n, int):
        check_noise(data.n, noise)
        plan.require_windows(PublicWindows(max(data.n - order, 0), 1))
    return replace(plan, level=_level(plan))


def _states(study: StudySpec, column: str | None, order: int) -> tuple[str, tuple[Value, ...]]:
    """The column that a chain of this order is fitted to, and its states."""
    if study.data.unit != "row":
        raise UnsupportedError(
            "data.unit",
            study.data.unit,
            expected='"row": a chain is about records of one row',
            remedy="Fit from public or past data, or declare clusters.",
        )
    check_order_argument(order, ORDERS)
    name = _column(study, column)
    states = tuple(study.columns[name].levels or ())
    if len(states) ** (order + 1) > MOST_CELLS:
        raise InputError(
            "order",
            order,
            expected=f"at most {MOST_CELLS} kinds of transitions",
            remedy="Fit a lower order, or put states together that are rare.",
        )
    _require_order_column(study)
    return name, states


def _level(plan: FitPlan) -> UpperBound:
    """What the fit alone means under the study's reading. `BudgetExceededError` if too much."""
    study, reading, spends = plan.study, plan.reading, [plan.spend]
    seconds = study.budget.seconds
    if reading.notion == "dp":
        level = own_level(reading, spends, seconds)
    else:
        level = proved_report(study, spends).best.epsilon
    target = study.budget.spend or study.budget.epsilon
    if not keeps(level, target, reading.delta):
        raise BudgetExceededError(
            f"The fit alone reaches the {reading.notion.upper()} level {up_words(level)}, above "
            f"the {target:.6g} that this study may spend. Spend less on the fit; nothing was "
            "released or spent."
        )
    return UpperBound(level)


def _reads(study: StudySpec, name: str) -> tuple[str, ...]:
    """What the fit reads, as the ledger names it: nothing but the states of the column.

    A study of the notion `dp` speaks about no column, so the cost is kept as that of the states
    themselves: a population that covers them can be read with it later.
    """
    if study.budget.notion == "dp":
        return (label(study.columns[name]),)
    return labels(study, {name}, "fit", {name: "column"})


def _positive(dp_epsilon: float) -> float:
    if isinstance(dp_epsilon, bool) or not isinstance(dp_epsilon, int | float):
        raise InputError("dp_epsilon", dp_epsilon, expected="a number above 0, such as 0.1")
    return float(dp_epsilon)


def _column(study: StudySpec, column: str | None) -> str:
    """The private column with states that is fitted: the covered one, if none is named."""
    if column is None:
        covers = study.population.covers if study.population is not None else ()
        if len(covers) != 1:
            raise InputError(
                "column",
                expected="the private column that has the states of the chain",
                remedy="Name it.",
                shown=False,
            )
        (column,) = covers
    declared = study.columns.get(column)
    if declared is None:
        raise InputError(
            "column",
            column,
            expected="a declared column of the study",
            remedy=did_you_mean(column, study.columns),
        )
    if declared.is_public:
        raise InputError(
            "column",
            column,
            expected="a private column",
            remedy="What is public can be fitted without --private, at no cost.",
        )
    if declared.levels is None or not 2 <= len(declared.levels) <= MOST_STATES:
        raise InputError(
            "column",
            column,
            expected=f"a column with 2 to {MOST_STATES} states",
            remedy="Declare one that is read from it, below [data.columns] as in: active = "
            '{ from = "steps", where = "steps > 0" }, or with cuts = [...].',
        )
    read_from = study.columns.get(declared.source or "", declared)
    if read_from.imputed is not None:
        raise InputError(
            "column",
            column,
            expected="a column without imputed values: the bounds are of a chain, and one with "
            "values put in for missing ones is not a chain",
            remedy="Fit from public or past data, where a missing record ends a run, or leave rows "
            "without a value out of the table if that may be known of them.",
        )
    return column


def _require_order_column(study: StudySpec) -> None:
    if any(column.role == "order" for column in study.columns.values()):
        return
    raise InputError(
        "data.columns",
        expected='a column of role "order" with its step: the order of a file may depend on '
        "private values",
        remedy="Write below [data.columns], with the name and the step of yours: day = "
        '{ role = "order", step = 1 }.',
        shown=False,
    )


def _length(study: StudySpec, length: int | None) -> int:
    population = study.population
    if length is None and population is not None and population.structure == "series":
        return population.group_size
    return most_records(length)


def fitted_population(plan: FitPlan, bounds: TransitionBounds, source: str) -> MarkovChain:
    """The population of a plan between these bounds. `source` says who vouches for it."""
    return MarkovChain(
        transition_lower=bounds.lower.tolist(),
        transition_upper=bounds.upper.tolist(),
        order=plan.order,
        length=plan.length,
        covers=(plan.column,),
        source=source,
    )


def _stationary(chain: Numbers) -> Numbers:
    """The stationary law of contexts, by repeated averaging: for a plan, not for a promise."""
    states, order = chain.shape[-1], chain.ndim - 1
    law: Numbers = np.full((states,) * order, 1.0 / states**order)
    for _ in range(2000):
        after = (law[..., None] * chain).sum(axis=0)
        law = (law + after) / 2.0
    return law
