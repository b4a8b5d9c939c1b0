"""A study: checked without data, released once.

The order of a release is fixed, because a wrong order breaks the guarantee: price the study, look
at the budget, hold the table against its declaration, compute exact integer sums; then the
`Transaction`, which debits durably, draws noise and writes the certificate, stores the result, and
only then shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from bayesdp.accounting.accounts.account import Preview
from bayesdp.accounting.costs.composition import level
from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.spend import Spend
from bayesdp.accounting.ledger import Ledger, refusal_of
from bayesdp.accounting.transaction import LedgerEntry, Transaction, refusals_noted
from bayesdp.errors import (
    BudgetExceededError,
    InputError,
    Refusal,
    as_shown,
)
from bayesdp.fitting.noisy_counts import PublicWindows
from bayesdp.populations import Population
from bayesdp.release.certificates.derivation import derive, fits_total, provable_plan, within_total
from bayesdp.release.checking.check import Check, plan_warnings
from bayesdp.release.checking.lookalikes import extract_words
from bayesdp.release.checking.proposals import Proposals, proposals
from bayesdp.release.checking.smaller_spend import smaller_spend
from bayesdp.release.checking.stress import Stress, stress
from bayesdp.release.checking.sweep import Sweep, priced_alone, sweep
from bayesdp.release.derived.check import check_derived
from bayesdp.release.drawing.repeats import digest, released_before, require_new, uncounted_words
from bayesdp.release.drawing.stored import Asked, StoredRelease
from bayesdp.release.drawing.study_drawing import ExactValues, StudyDrawing
from bayesdp.release.drawing.table import StudyTable
from bayesdp.release.price.plan import (
    Plan,
    declared_columns,
    ledger_entry,
    reading_of,
    structure_of,
)
from bayesdp.release.private_fits.fit_plan import FitPlan, plan_fit
from bayesdp.release.private_fits.private_fit import FitDrawing, PrivateFit, exact_counts, kept_fit
from bayesdp.release.programs.runs import program_rows
from bayesdp.release.queries.collected import plan_collected
from bayesdp.release.queries.from_spec import asked_query
from bayesdp.release.reading.study_files import parse_study, read_toml
from bayesdp.release.results.release import Release
from bayesdp.release.spec.derived import DerivedSpec
from bayesdp.release.spec.parts import NO_NOISE, BudgetSpec, QuerySpec
from bayesdp.release.spec.program_files import file_and_name, require_unchanged
from bayesdp.release.spec.study import FROM_DATA, StressSpec, StudySpec
from bayesdp.statements.base import exact_text
from bayesdp.tables.checks.findings import Finding, count_records
from bayesdp.tables.refusals import counted
from bayesdp.tables.source import check_source

T = TypeVar("T")


class Study:
    """A table, who depends on whom, a budget, and queries.

    `table` is a path or URL as in study files, or a pandas, Polars or Arrow table. `dataset` is the
    name under which the budget is kept, `n` the public number of records ("from data" publishes the
    table's own). `columns` as in `[data.columns]`; `population` a `Population` or its spec, left
    out for the notion `dp`; `budget` and `queries` as in the study file. `unit`, `rows_per_unit`
    or `max_rows`, and `balanced` say which rows form a record, if that isn't one row. `csv` says
    how CSV files are written, as `[data.csv]`. `wide` makes a wide table long as `[data.wide]`
    does, and `join` adds columns of public tables as `[[data.join]]` does, whose paths are relative
    to the current folder. `people` names whom the data set shares with others, which then have one
    budget with it. `ledger` is a path or URL, by default `ledger.db` in the current folder.
    `stress` are further populations for the method `stress`, as `[[stress]]` in the study file.
    `derived` is what is computed from released numbers at no cost, as `[[derived]]`.
    Raises `InputError` naming the key, as for files.

    >>> study = Study(
    ...     dataset="example", n=3, columns={"x": {"states": [0, 1]}},
    ...     population={"model": "independent", "covers": ["x"]},
    ...     budget={"epsilon": 1.0}, queries=[{"name": "ones", "kind": "count", "where": "x == 1"}],
    ... )
    >>> round(study.check().plan.dp_epsilon, 6)
    1.0
    """

    def __init__(
        self,
        table: object = None,
        *,
        dataset: str,
        n: int | str = FROM_DATA,
        columns: Mapping[str, Any],
        population: Population | Mapping[str, Any] | None = None,
        budget: BudgetSpec | Mapping[str, Any],
        queries: Sequence[QuerySpec | Mapping[str, Any]],
        unit: str = "row",
        rows_per_unit: int | None = None,
        max_rows: int | None = None,
        balanced: bool = False,
        csv: Mapping[str, str] | None = None,
        wide: Mapping[str, Any] | None = None,
        join: Mapping[str, Any] | Sequence[Mapping[str, Any]] = (),
        people: str | None = None,
        ledger: str | None = None,
        stress: Sequence[StressSpec | Mapping[str, Any]] = (),
        derived: Sequence[DerivedSpec | Mapping[str, Any]] = (),
    ) -> None:
        data: dict[str, Any] = {"dataset": dataset, "n": n, "unit": unit, "columns": columns}
        optional = {
            "rows_per_unit": rows_per_unit,
            "max_rows": max_rows,
            "balanced": balanced or None,
            "csv": csv,
            "wide": wide,
            "join": join or None,
            "people": people,
        }
        data |= {key: value for key, value in optional.items() if value is not None}
        plain_budget = budget.model_dump() if isinstance(budget, BudgetSpec) else dict(budget)
        raw = {
            "data": data,
            "population": population,
            "budget": plain_budget | ({"ledger": ledger} if ledger is not None else {}),
            "query": list(queries),
            "stress": list(stress),
            "derived": list(derived),
        }
        if population is None:
            del raw["population"]
        self._set(parse_study(raw), table, Path(), dataset, has_file=False)

    @classmethod
    def load(cls, path: str | Path) -> Study:
        """The study of a study file. The table and the ledger are found relative to it.

        Raises `InputError` naming the key that is wrong.
        """
        path = Path(path)
        study = cls.__new__(cls)
        spec = parse_study(read_toml(path), path.parent)
        if spec.data.source is None:
            raise InputError(
                "data.source",
                expected="the table: a file or URL",
                remedy='Write it below [data], such as source = "heights.csv".',
                shown=False,
            )
        study._set(spec, spec.data.source, path.parent, path.name, has_file=True)
        return study

    def _set(
        self, spec: StudySpec, table: object, folder: Path, name: str, *, has_file: bool
    ) -> None:
        self.spec = spec
        self.name = name
        self.folder = folder
        self._data = StudyTable(spec, table, folder, has_file)
        self._shown: tuple[StudySpec, Plan] | None = None
        self._priced: tuple[str, Plan] | None = None
        if issubclass(type(table), str | Path):  # a frame isn't touched before its release
            check_source(str(table), spec.data.csv)
        for position, query in enumerate(spec.queries):
            if query.kind not in NO_NOISE:
                asked_query(spec, position)
        plan_collected(spec, None)
        numbered = enumerate(spec.queries)
        check_derived(
            spec,
            [asked_query(spec, place) for place, query in numbered if query.kind != "program"],
        )

    def __repr__(self) -> str:
        data, budget = self.spec.data, self.spec.budget
        queries = counted(len(self.spec.queries), "query", "queries")
        return (
            f"Study({data.dataset!r}: n = {data.n}, {queries}, "
            f"{budget.notion.upper()} budget {exact_text(budget.epsilon)})"
        )

    @cached_property
    def _reading(self) -> Reading:
        """The reading that the study declares. Its population may be long."""
        return reading_of(self.spec)

    def _plan(self, n: int | None = None) -> Plan:
        """The price of the study; `n` where the number of records comes from the data."""
        return provable_plan(self.spec, n, reading=self._reading)

    def _plan_to_show(self) -> Plan:
        """The same for what only looks: the last one is kept, unless something had no time.

        A release is priced anew: what its certificate holds is in nobody else's hands.
        """
        if self._shown is None or self._shown[0] is not self.spec:
            plan = self._plan()
            if plan.too_slow is not None:  # it may go better the next time
                return plan
            self._shown = self.spec, plan
        return self._shown[1]

    @property
    def ledger_url(self) -> str:
        """Where the budget is kept: relative to the study, `ledger.db` beside it by default."""
        url = self.spec.budget.ledger or "ledger.db"
        path = url.removeprefix("sqlite:///")
        if "://" in path or (path != url and "?" in path):
            return url  # refused by the ledger, in its own words
        return str(self.folder / path)

    @property
    def ledger_files(self) -> tuple[Path, ...]:
        """The ledger's files, which nothing else may be written to."""
        return self.ledger().files

    def ledger(self) -> Ledger:
        """The ledger that keeps the data set's budget."""
        seconds = self.spec.budget.seconds
        return Ledger(self.ledger_url, level=partial(level, seconds=seconds))

    @property
    def new_ledger(self) -> str:
        """A line with the whole path of the ledger that a first release would make.

        Empty if the ledger exists. Analysts who mean to share a budget see here that they don't.
        """
        ledger = self.ledger()
        path = ledger.path
        if path is not None and not path.parent.is_dir():  # it can't be made
            return ""
        return "" if ledger.exists() else f"A new ledger: {as_shown(ledger.place)}"

    @property
    def uncounted(self) -> str:
        """A warning if certificates beside the study are of releases that its ledger doesn't have.

        What those releases spent is not counted. Empty if the ledger has all of them.
        """
        return uncounted_words(
            self.ledger(), self.spec.data.dataset, self.folder, self.spec.data.people
        )

    @property
    def extract(self) -> str:
        """A warning if the data set and another one look like extracts of the same people.

        The other one is in the same ledger, with a budget of its own: its columns are the same, and
        its name or its number of records nearly the same. No table is looked at. Empty if there is
        none.
        """
        return extract_words(self.ledger(), self.spec, self.name)

    def spends(self) -> list[Spend]:
        """What the data set has spent so far: nothing, before the first release makes a ledger.

        Where it shares people with others, that is what all of these have spent.
        """
        ledger = self.ledger()
        data = self.spec.data
        return ledger.spends(data.dataset, people=data.people) if ledger.exists() else []

    def register(self) -> Reading:
        """Add the study's reading (population, adversary, total) to its data set's budget.

        The first study of a data set does so by itself; one that reads the same budget in another
        way has to be added. Raises as `Ledger.register` does.
        """
        data, columns = self.spec.data, declared_columns(self.spec)
        self.ledger().register(
            data.dataset,
            data.protected_unit,
            self._reading,
            private=columns["private"],
            public=columns["public"],
            analyst=self.spec.budget.analyst,
            people=data.people,
        )
        return self._reading

    def check(self) -> Check:
        """Price the study: costs, noise, errors, and what it does to the budget. Reads no data.

        It says too whether the same study was released before, as the ledger has it.

        Raises `InputError` for a study that is wrong, and `Refusal` where it can't be priced within
        its budget or the kernel proves no level.
        """
        self._require_programs()
        plan, ledger = self._plan_to_show(), self.ledger()
        preview = self._preview(ledger, plan)
        return Check(plan, preview, released_before(plan, ledger, self.folder))

    def sweep(self, targets: Sequence[float]) -> Sweep:
        """Check the study at several levels, to choose one: costs and errors side by side.

        Each row is what `check` says if the study spends that level (`budget.spend`) in the place
        of its own; a level above the study's total (`budget.epsilon`) is priced too, as if that
        were the total. A level that can't be met, or that the budget of the data set doesn't allow,
        is a row that says why. Reads no data, and writes nothing.
        """
        self._require_programs()
        ledger = self.ledger()

        def check(target: float) -> Check:
            plan = priced_alone(self.spec, target)
            # What it does to the budget is asked of the reading that the study declares.
            declared = replace(plan, reading=self._reading)
            return Check(plan, self._entry(declared).preview(ledger))

        return sweep(check, targets)

    def stress(self) -> Stress:
        """The level that the study's noise has under other populations than the declared one.

        The noise is what `check` prices. Rows are the declared population, stronger dependence of
        the same kind, for a series the next order, arbitrary dependence, and the study's own
        `[[stress]]` populations. Reads no data, and writes nothing; what the data set has spent
        before is not counted. Raises as `check` does, and `InputError` for the notion `dp`, which
        is about no population.
        """
        self._require_programs()
        return stress(self._plan())

    def what_would_help(self) -> Proposals:
        """Changes that would make errors smaller, or a refused study possible, with their prices.

        Coarser periods, capped clusters, a narrower secrets interval, a public sample, a weaker
        class of adversaries, randomized response at collection: those that apply to the study's
        population and queries and help, each priced on its own. Reads no data, and writes nothing.
        Raises `InputError` for a study that is wrong.
        """
        self._require_programs()
        plan: Plan | None = None
        with suppress(BudgetExceededError):
            plan = self._plan()
        return proposals(self.spec, plan)

    def inspect(self) -> list[Finding]:
        """The differences between the table and the study's declaration.

        They are private: for the curator only. An empty list is a table as declared. Raises
        `InputError` for a study without a table, `TableError` for a table that can't be read at
        all.
        """
        plan = self._plan_to_show()
        return self._data.findings(plan)

    def hints(self) -> list[str]:
        """What the table suggests about a declaration that it agrees with.

        They are private: for the curator only, and nothing is refused because of them. Call it
        where `inspect` finds nothing. Raises `InputError` for a study without a table, `TableError`
        for a table that can't be read.
        """
        if not self._data.may_have_hints:
            return []
        return self._data.hints(self._plan_to_show())

    def release(
        self,
        *,
        again: bool = False,
        clock: Callable[[], datetime] | None = None,
        warn: Callable[[str], None] | None = None,
    ) -> Release:
        """Release once: debit, then noise. See the module for the order of things.

        `again` allows what running a notebook's cell again must not do: to release a study that is
        identical to one that this process has released with this ledger. `clock` tells the time
        that the certificate has; now, if it is left out. `warn` is called before anything is spent
        with each of the `warnings` of the check, which are among the `remarks` of the release too;
        an exception of it stops the release.

        Raises `Refusal` (`BudgetExceededError`, `TableMismatchError`, or for an identical study
        without `again`) with nothing spent, `InputError` and
        its kin for wrong input, and `FailedError` for what goes wrong after the debit: what was
        drawn until then is kept in the ledger.
        """
        if not again:
            require_new(digest(self.spec, self._reading), self.ledger())
        return self._release(None, clock, warn)

    def release_once(
        self,
        key: str,
        *,
        clock: Callable[[], datetime] | None = None,
        warn: Callable[[str], None] | None = None,
    ) -> Release | StoredRelease:
        """Release, unless the ledger has a result that was asked for with the same `key`.

        That result is then the answer: the same numbers, at no cost, whatever the table has become.
        So a call that was cut short may simply be made again. What was debited without a result is
        spent, and another call pays again. Two calls at the same time may both pay; then both
        answer with the result that was stored first.

        `key` is a text of the caller's, such as the month of a report; `clock` and `warn` as of
        `release`. Raises as `release` does, and `InputError` for a key that another study of the
        data set has used, or this one with another source.
        """
        source = self.spec.data.source
        declared = source if isinstance(source, str) else None
        asked = Asked(key, digest(self.spec, self._reading, derived=True), declared)
        return asked.once(
            self.ledger(), self.spec.data.dataset, lambda: self._release(asked, clock, warn)
        )

    def _release(
        self,
        asked: Asked | None,
        clock: Callable[[], datetime] | None,
        warn: Callable[[str], None] | None,
    ) -> Release:
        """Debit, draw, store and show; what it was `asked` with stands in the ledger too."""
        ledger, identity = self.ledger(), digest(self.spec, self._reading)
        who = self.spec.data.dataset, self.name
        analyst = self.spec.budget.analyst

        def price_and_sum() -> tuple[Plan, ExactValues]:
            with refusals_noted(ledger, *who, analyst) as asked:
                return self._exact(ledger, asked)

        plan, exact = self._data.naming_inspect(price_and_sum)
        # The kernel must prove the levels before anything is spent.
        derivation = derive(plan, self.spends())
        if not fits_total(plan, derivation):
            self._require_budget(ledger, plan)  # others may have spent in the meantime
            ledger.refused(*who, "budget", analyst=analyst, spends=plan.spends)
        within_total(plan, derivation)
        warnings = [*filter(None, [self.uncounted, self.extract]), *plan_warnings(plan)]
        if warn is not None:
            for warning in warnings:
                warn(warning)
        drawing = StudyDrawing(ledger, plan, exact, identity, warnings, clock)
        entry = self._entry(plan, asked)
        release = Transaction(ledger, entry, drawing).run()
        self._priced = release.id, plan
        return release

    def plan_fit(
        self,
        *,
        dp_epsilon: float,
        column: str | None = None,
        order: int = 1,
        length: int | None = None,
        confidence: float = 0.95,
    ) -> FitPlan:
        """What `fit` would cost and promise; its method `expected` says what it would give.

        Arguments as of `fit`. Reads no data, and writes nothing. Raises `InputError` and
        `UnsupportedError` for what can't be fitted, and `Refusal` where no bounds could result or
        the fit alone exceeds what the study may spend.
        """
        return plan_fit(
            self.spec,
            self._reading,
            dp_epsilon=dp_epsilon,
            column=column,
            order=order,
            length=length,
            confidence=confidence,
        )

    def fit(
        self,
        *,
        dp_epsilon: float,
        column: str | None = None,
        order: int = 1,
        length: int | None = None,
        confidence: float = 0.95,
        again: bool = False,
        clock: Callable[[], datetime] | None = None,
    ) -> PrivateFit:
        """Fit a Markov chain to the study's private table, at a cost of `dp_epsilon` (theory 3.13).

        The states are those of the private `column`, by default the one that the study's population
        covers; `order` is 1, 2 or 3. Series and the order of records are the study's columns of
        those roles, and a gap ends a run. `length` is the most records that a series of the fitted
        population has, by default as in the study's population. The bounds hold all transitions at
        once with this `confidence`, chance and noise together.

        It is a release: the cost is debited under the study's reading before noise is drawn, and
        the study's queries have no part in it. A study of the notion `dp` promises the DP cost and
        nothing about dependent records, one of the notion `bdp` the level under the population that
        it declares. The noisy counts are kept in the ledger, and the same fit is answered from
        there at no cost, also with another `confidence` or `length`; `again` pays for new noise.
        `clock` tells the time of the fit; now, if it is left out.

        Raises `InputError` and its kin for wrong input, `Refusal` (`BudgetExceededError`,
        `TableMismatchError`, or where no bounds could result) with nothing spent, and `FailedError`
        for what goes wrong after the debit.
        """
        plan = self.plan_fit(
            dp_epsilon=dp_epsilon, column=column, order=order, length=length, confidence=confidence
        )
        ledger, entry = self.ledger(), plan.entry(self.name)
        kept = None if again else kept_fit(plan, ledger)
        if kept is not None:
            return kept
        preview = entry.preview(ledger)
        if preview.refusal is not None:
            raise self._over_budget(ledger, preview, entry.spends)
        who = self.spec.data.dataset, self.name

        def count() -> tuple[list[int], PublicWindows]:
            with refusals_noted(ledger, *who, entry.analyst) as asked:
                asked += entry.spends
                with self._data.opened() as table:
                    return exact_counts(plan, table)

        exact = self._data.naming_inspect(count)
        return Transaction(ledger, entry, FitDrawing(plan, exact, clock)).run()

    def plan_of(self, release: Release) -> Plan:
        """The priced study behind a release of it. That of the last one is at hand."""
        if self._priced is not None and self._priced[0] == release.id:
            return self._priced[1]
        return self._plan(release.certificate.body["n"])

    def _entry(self, plan: Plan, asked: Asked | None = None) -> LedgerEntry:
        request: dict[str, Any] = {"queries": [query.name for query in self.spec.queries]}
        if asked is not None:
            request |= asked.request()
        entry = ledger_entry(self.spec, plan.reading, plan.spends, name=self.name, request=request)
        return entry if asked is None else replace(entry, unless=asked.require_unanswered)

    def _exact(self, ledger: Ledger, asked: list[Spend]) -> tuple[Plan, ExactValues]:
        """Before the debit: the price, a look at the budget, and what noise will be added to.

        `asked` takes the spends as soon as they are known.
        """
        data = self.spec.data
        self._require_programs()
        if data.n != FROM_DATA:  # refused without a look at the table
            plan = self._plan()
            self._require_proofs(plan)
            self._require_budget(ledger, plan)
            asked += plan.spends
        with self._data.opened() as table:
            if data.n == FROM_DATA:
                plan = self._plan(count_records(table, data.unit))
                self._require_proofs(plan)
                self._require_budget(ledger, plan)
                asked += plan.spends
            totals = self._data.totals(table, plan)
            records = structure_of(self.spec)
            rows = [
                program_rows(program, table, self.spec.columns, records)
                for program in plan.programs
            ]
        return plan, ExactValues(totals, rows)

    def _require_programs(self) -> None:
        """The program files hold what was read when the study was loaded."""
        for position, query in enumerate(self.spec.queries):
            if query.program is not None:
                file, _ = file_and_name(query.program)
                require_unchanged(self.spec.programs[file], position)

    def _require_proofs(self, plan: Plan) -> None:
        """Much more noise, only because a proof took too long, is not what was asked for."""
        if plan.too_slow is not None and plan.too_slow.is_refused:
            raise Refusal(plan.too_slow.words())

    def _require_budget(self, ledger: Ledger, plan: Plan) -> None:
        preview = self._preview(ledger, plan)
        if preview.refusal is not None:
            raise self._over_budget(ledger, preview, plan.spends)

    def _over_budget(self, ledger: Ledger, preview: Preview, spends: Sequence[Spend]) -> Refusal:
        """The refusal to raise, after the ledger has noted the attempt."""
        dataset, analyst = self.spec.data.dataset, self.spec.budget.analyst
        ledger.refused(dataset, self.name, preview.reason, analyst=analyst, spends=spends)
        return refusal_of(preview.reason, preview.refusal or "")

    def _preview(self, ledger: Ledger, plan: Plan) -> Preview:
        """What a release would do to the budget. A refusal says what to spend instead."""
        preview = self._entry(plan).preview(ledger)
        if preview.refusal is None or preview.fits == 0.0:
            return preview
        less = smaller_spend(
            plan,
            preview.fits,
            lambda cheaper: self._entry(cheaper).preview(ledger).refusal is None,
        )
        if less is None:
            return preview
        remedy = f"With budget.spend = {less!r} in the study it would fit."
        return replace(preview, refusal=f"{preview.refusal} {remedy}")
