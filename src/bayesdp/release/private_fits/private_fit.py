"""The private fit of a chain: exact counts, noise, and the population that comes of it.

`fit_plan` prices it. What is private here is what `exact_counts` returns; only the noisy integers
leave.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np

from bayesdp.accounting.costs.rounded import up_words
from bayesdp.accounting.ledger import Ledger
from bayesdp.accounting.log.contents import decoded
from bayesdp.accounting.transaction import PartialResult
from bayesdp.errors import InputError, TableMismatchError
from bayesdp.fitting import FitCheck, TransitionBounds
from bayesdp.fitting.counting import Chains, WindowCounts
from bayesdp.fitting.noisy_counts import PublicWindows
from bayesdp.fitting.numbers_of import Numbers, confidence_words
from bayesdp.fitting.states import States
from bayesdp.numbers import UpperBound
from bayesdp.populations import MarkovChain
from bayesdp.release.price.plan import structure_of
from bayesdp.release.private_fits.fit_plan import FitPlan, fitted_population
from bayesdp.release.words import cost_words
from bayesdp.statements.columns import Value
from bayesdp.tables.cells.reading import read
from bayesdp.tables.checks.findings import count_records
from bayesdp.tables.columns.column import Column
from bayesdp.tables.queries.grid import check_noise
from bayesdp.tables.refusals import mismatch
from bayesdp.tables.source import Table
from bayesdp.tables.sums.scan import run


@dataclass(frozen=True, eq=False)
class PrivateFit:
    """A chain that was fitted privately: the population, and what it was made from.

    `values` are the released integers, as `plan.released` names them, and `windows` the transitions
    and runs behind them, which are public. `transition` are the most likely transitions that they
    suggest (NaN where nothing does), `bounds` hold the true ones. `release` is its name in the
    ledger, `time` when it was made, and `is_new` whether that was now: else it was in the ledger,
    and nothing was spent.
    """

    plan: FitPlan
    population: MarkovChain
    values: tuple[int, ...]
    windows: PublicWindows
    transition: Numbers
    bounds: TransitionBounds
    release: str
    time: str
    is_new: bool
    diagnostics: tuple[FitCheck, ...]

    def __repr__(self) -> str:
        cost = cost_words(self.dp_epsilon, 0.0)
        return f"PrivateFit({self.release[:8]}: {self.population.describe()}, {cost})"

    @property
    def states(self) -> tuple[Value, ...]:
        """The values of the states 0, 1, ..."""
        return self.plan.states

    @property
    def order(self) -> int:
        """The order of the chain."""
        return self.plan.order

    @property
    def dp_epsilon(self) -> float:
        """What it cost, in nats of differential privacy."""
        return self.plan.dp_epsilon

    @property
    def level(self) -> UpperBound:
        """What that means on its own in the notion of the study, in nats."""
        return self.plan.level

    def estimated(self) -> dict[str, Any]:
        """The states, the most likely transitions and the released integers as plain data."""
        likely = self.transition.astype(object)
        likely[np.isnan(self.transition)] = None
        return {
            "states": list(self.states),
            "transition": likely.tolist(),
            "released": {
                "counts": self.plan.released.name,
                "values": list(self.values),
                "scale": self.plan.noise.scale,
                "error": self.plan.error,
                "transitions": self.windows.transitions,
                "runs": self.windows.runs,
            },
            "dp_epsilon": self.dp_epsilon,
            "level": self.level,
            "release": self.release,
            "time": self.time,
            "is_new": self.is_new,
        }


def exact_counts(plan: FitPlan, table: Table) -> tuple[list[int], PublicWindows]:
    """The exact integers, which are private, and the windows behind them, which are not.

    Raises `TableMismatchError`, always with the same words, for a table that is not as the study
    declares it; and `Refusal` where no bounds could result.
    """
    study, columns = plan.study, plan.study.columns
    n = study.data.n if isinstance(study.data.n, int) else count_records(table, study.data.unit)
    run(table, columns, (), replace(structure_of(study), n=n))
    check_noise(n, plan.noise)
    windows = count_windows(plan, table)
    tables = windows.tables
    public = PublicWindows(int(tables[plan.order].sum()), windows.runs)
    plan.require_windows(public)
    if windows.records != n:  # a state for each record, or the counts are of other records
        raise mismatch()
    return plan.released.values(tables[plan.order]), public


def count_windows(plan: FitPlan, table: Table) -> WindowCounts:
    """The windows of the table, as the study declares states, series and order."""
    columns = plan.study.columns
    named: Mapping[str, Column] = {c.role: c for c in columns.values() if c.role is not None}
    declared = columns[plan.column]
    state = read(table, columns, plan.column)
    chains = Chains(
        table,
        States(plan.column, state, plan.states, declared.is_derived),
        (named["series"].name,) if "series" in named else (),
        named["order"],
    )
    try:
        return chains.count(plan.order)
    except (InputError, TableMismatchError):
        # The table was held against its declaration: whatever is wrong still is not for everybody.
        problem = mismatch()
    raise problem


class FitDrawing:
    """What a private fit draws after its debit: noise for its integers."""

    def __init__(
        self,
        plan: FitPlan,
        exact: tuple[list[int], PublicWindows],
        clock: Callable[[], datetime] | None,
    ) -> None:
        self.reads_released_only = False
        self._plan, self._exact, self._clock = plan, exact, clock
        self._document: dict[str, Any] | None = None

    @property
    def paid(self) -> str:
        """The cost in words."""
        return cost_words(self._plan.dp_epsilon, 0.0)

    def draw(self, release: str) -> tuple[PrivateFit, dict[str, Any]]:
        """The fit, and what the ledger keeps of it."""
        time = self._clock() if self._clock is not None else datetime.now(UTC)
        values, windows = self._exact
        self._document = {
            "release": release,
            "time": time.isoformat(timespec="seconds"),
            "fit": self._plan.subject(),
            "values": self._plan.noise.release(values),
            "transitions": windows.transitions,
            "runs": windows.runs,
        }
        self.reads_released_only = True
        return fit_of(self._plan, self._document, is_new=True), self._document

    def so_far(self, release: str) -> PartialResult:
        """The noisy integers, if they had been drawn when the fit failed."""
        del release
        names = [] if self._document is None else [self._plan.spend.query]
        return PartialResult(names, self._document)


def fit_of(plan: FitPlan, document: Mapping[str, Any], *, is_new: bool) -> PrivateFit:
    """The fit whose released integers the `document` of the ledger holds."""
    values = tuple(int(value) for value in document["values"])
    windows = PublicWindows(document["transitions"], document["runs"])
    bounds = plan.released.bounds(values, plan.noise, windows, plan.confidence)
    release = str(document["release"])
    source = (
        f"fitted to {windows.transitions} transitions of the private records of the data set "
        f"'{plan.study.data.dataset}' with noise, at a DP cost of {up_words(plan.dp_epsilon)} "
        f"that its ledger counts (release {release[:8]}): the bounds hold all transitions at once "
        f"with confidence {confidence_words(plan.confidence)}, noise included, if series are "
        f"independent chains of order {plan.order} with the same transitions, and whether a record "
        "is there does not depend on its state"
    )
    return PrivateFit(
        plan=plan,
        population=fitted_population(plan, bounds, source),
        values=values,
        windows=windows,
        transition=plan.released.transition(values, windows),
        bounds=bounds,
        release=release,
        time=str(document["time"]),
        is_new=is_new,
        diagnostics=tuple(_remarks(plan, bounds)),
    )


def kept_fit(plan: FitPlan, ledger: Ledger) -> PrivateFit | None:
    """The last fit of the same in this ledger: it is paid for. `None` where there is none."""
    if not ledger.exists():
        return None
    for release in reversed(ledger.releases(plan.study.data.dataset)):
        if release["request"].get("fit") == plan.digest() and "result" in release:
            with ledger.decoding():
                return decoded(partial(fit_of, is_new=False), plan, release["result"])
    return None


def _remarks(plan: FitPlan, bounds: TransitionBounds) -> list[FitCheck]:
    """What can't be said from these counts."""
    remarks = []
    hidden = int((bounds.lower == 0.0).sum())
    if hidden:
        said = "transition" if hidden == 1 else "transitions"
        text = (
            f"{hidden} {said} of {bounds.lower.size} may be impossible or rare, for all that the "
            "noisy counts say: levels are then hardly below those of series of equal records. "
            "Spend more on the fit, or put states together that are rare."
        )
        remarks.append(FitCheck("hidden transitions", text, fits=False))
    text = (
        f"Whether the records are such a chain was not tested: order {plan.order + 1} against "
        f"order {plan.order}, time against time, series against series. To look would cost more."
    )
    return [*remarks, FitCheck("not tested", text)]
