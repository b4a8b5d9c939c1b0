"""A study at several levels, side by side: what more privacy costs in error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bayesdp import notebook
from bayesdp.accounting.costs.rounded import up_words
from bayesdp.errors import BudgetExceededError, InputError, Refusal, finite_number
from bayesdp.release.certificates.derivation import provable_plan
from bayesdp.release.checking.check import Check
from bayesdp.release.price.plan import Plan
from bayesdp.release.price.pricing import raise_spend
from bayesdp.release.spec.program_files import ProgramRefusedError
from bayesdp.release.spec.study import StudySpec
from bayesdp.release.words import confidence_words, cost_words

LARGEST = 1e6
"""The largest level, as of a study's budget."""


@dataclass(frozen=True, slots=True)
class SweepRow:
    """The check at one level; `check` is `None` where the study has no price at it.

    `refusal` says why a release would be refused; it is empty where none would.
    """

    target: float
    check: Check | None
    refusal: str = ""

    def __str__(self) -> str:
        parts = []
        if self.check is not None:
            plan = self.check.plan
            parts = [
                f"level {up_words(plan.level)}, {cost_words(plan.dp_epsilon, plan.dp_rho)}",
                *(f"{q.asked.spec.name} +- {self.check.error(q)}" for q in plan.queries),
            ]
        if self.refusal:
            parts.append(f"refused: {self.refusal}")
        return f"{self.target:g}: {'; '.join(parts)}"


@dataclass(frozen=True, slots=True)
class Sweep(notebook.Listing[SweepRow]):
    """The rows of a sweep, in the order of the levels that were asked for.

    Errors are at the confidence of each query, which is 95 % unless it says another. Of a query
    whose groups have declared sizes it is the error of the smallest group, which is the largest.
    """

    rows: tuple[SweepRow, ...]

    def __str__(self) -> str:
        return "\n".join([*map(str, self.rows), *self.remarks])

    def refusals(self) -> dict[str, list[float]]:
        """Why levels are refused, each reason once, with the levels that it is said of."""
        refused: dict[str, list[float]] = {}
        for row in self.rows:
            if row.refusal:
                refused.setdefault(row.refusal, []).append(row.target)
        return refused

    @property
    def remarks(self) -> list[str]:
        """What to know about the errors: that of groups the worst is shown."""
        checks = [row.check for row in self.rows if row.check is not None]
        queries = checks[0].plan.queries if checks else ()
        names = [f"'{q.asked.spec.name}'" for q in queries if q.asked.group_rows is not None]
        return [f"Of the groups of {', '.join(names)} the largest error is shown."] if names else []

    def _repr_html_(self) -> str:
        """What a notebook shows: a row for each level, a column for the error of each query."""
        checks = [row.check for row in self.rows if row.check is not None]
        names = [
            f"{query.asked.spec.name} ({confidence_words(query.confidence)})"
            for query in (checks[0].plan.queries if checks else ())
        ]
        columns = ("level asked for", "level", "cost", *names, "refused")
        table = notebook.table("Levels, costs and errors", columns, self._cells(len(names)))
        return table + "".join(map(notebook.paragraph, self.remarks))

    def _cells(self, queries: int) -> Iterator[tuple[str, ...]]:
        for row in self.rows:
            cells = ("",) * (2 + queries)
            if row.check is not None:
                plan = row.check.plan
                errors = (f"+- {row.check.error(query)}" for query in plan.queries)
                cost = cost_words(plan.dp_epsilon, plan.dp_rho)
                cells = (up_words(plan.level), cost, *errors)
            yield (f"{row.target:g}", *cells, row.refusal)


def priced_alone(study: StudySpec, target: float) -> Plan:
    """The price of a study that spends this level, under a total that allows it.

    Raises as `provable_plan` does; its `BudgetExceededError` doesn't ask to raise `budget.spend`,
    since the sweep is about what it may be.
    """
    total = max(study.budget.epsilon, target)
    budget = study.budget.model_copy(update={"epsilon": total, "spend": target})
    try:
        return provable_plan(study.model_copy(update={"budget": budget}))
    except BudgetExceededError as refusal:
        raise BudgetExceededError(str(refusal).replace(raise_spend(budget), "")) from None


def sweep(check: Callable[[float], Check], targets: Sequence[float]) -> Sweep:
    """The check of a study at each level, for a table of costs and errors.

    Raises `InputError` for what is not a level, and where the study is wrong at every level.
    """
    if isinstance(targets, str) or not targets:
        raise InputError("targets", targets, expected="at least one level, as in [0.1, 0.3, 1, 3]")
    levels = [_level(f"targets[{i}]", target) for i, target in enumerate(targets)]
    rows: list[SweepRow] = []
    wrong: list[InputError] = []
    for level in levels:
        try:
            answer = check(level)
        except ProgramRefusedError:
            raise  # whatever the level is
        except Refusal as error:
            rows.append(SweepRow(level, None, str(error)))
        except InputError as error:
            wrong.append(error)
            rows.append(SweepRow(level, None, str(error)))
        else:
            rows.append(SweepRow(level, answer, answer.preview.refusal or ""))
    if len(wrong) == len(rows):
        raise wrong[0]
    return Sweep(tuple(rows))


def _level(key: str, value: object) -> float:
    expected = f"a level above 0, in nats, of at most {LARGEST:g}"
    level = finite_number(key, value, expected=expected)
    if level > LARGEST:
        raise InputError(key, value, expected=expected)
    return level
