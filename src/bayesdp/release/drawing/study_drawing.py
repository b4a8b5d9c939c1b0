"""What a study draws once its costs are debited: noise for its numbers, and runs of its programs.

The exact values come here, and only numbers with noise leave.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bayesdp.accounting.ledger import Ledger
from bayesdp.accounting.transaction import PartialResult
from bayesdp.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialMechanism,
    PermuteAndFlip,
)
from bayesdp.numbers import UpperBound
from bayesdp.release.certificates.certify import certify
from bayesdp.release.derived.regressions import regression_sentences
from bayesdp.release.derived.results import derived_from
from bayesdp.release.drawing.repeats import remember
from bayesdp.release.price.plan import Plan, PlannedQuery
from bayesdp.release.programs.answers import ProgramAnswer
from bayesdp.release.programs.runs import ProgramRun, run_program
from bayesdp.release.queries.asked_query import cells_sentences
from bayesdp.release.results.collected import estimates
from bayesdp.release.results.found_groups import found_results, found_sentence
from bayesdp.release.results.release import Release
from bayesdp.release.results.result import QuantileResult, Result
from bayesdp.release.results.series import series_results
from bayesdp.release.words import cost_words
from bayesdp.statements.columns import CellKey
from bayesdp.tables.sums.scan import Total, Totals

if TYPE_CHECKING:
    from bayesdp.programs.run.tables.columns import Rows


@dataclass(frozen=True, repr=False)
class ExactValues:
    """The exact values that get noise: the sums, and the rows of each program. Private."""

    totals: Totals
    rows: list[Rows]


class StudyDrawing:
    """What a study draws after its debit: noise for its numbers, a run of each program."""

    def __init__(
        self,
        ledger: Ledger,
        plan: Plan,
        exact: ExactValues,
        identity: str,
        warnings: Sequence[str],
        clock: Callable[[], datetime] | None,
    ) -> None:
        self.reads_released_only = False
        self._ledger, self._plan, self._totals, self._clock = ledger, plan, exact.totals, clock
        self._identity, self._warnings = identity, warnings
        self._runs = [ProgramRun(*run) for run in zip(plan.programs, exact.rows, strict=True)]
        self._results: list[Result] = []
        self._time = ""

    @property
    def paid(self) -> str:
        """The cost in words."""
        return cost_words(self._plan.dp_epsilon, self._plan.dp_rho)

    def draw(self, release: str) -> tuple[Release, dict[str, Any]]:
        """The release with its certificate."""
        remember(self._identity, release)
        time = self._clock() if self._clock is not None else datetime.now(UTC)
        self._time = time.isoformat(timespec="seconds")
        for query in self._plan.queries:
            self._results += noisy(query, self._totals[query.asked.spec.name])
        for asked in self._plan.collected:
            self._results += estimates(asked, self._totals[asked.spec.name])
        answers = [run_program(run) for run in self._runs]
        self.reads_released_only = True
        certified = self._certified(release, answers)
        return certified, certified.to_dict()

    def so_far(self, release: str) -> PartialResult:
        """What had been drawn when the release failed."""
        runs = [run for run in self._runs if run.machine.released]
        results = _plain_results(
            self._results, [run.so_far("The release was cut short.") for run in runs]
        )
        names = list(dict.fromkeys(query["query"] for query in results))
        document = {"release": release, "time": self._time, "results": results}
        return PartialResult(names, document if results else None)

    def _certified(self, release: str, answers: Sequence[ProgramAnswer]) -> Release:
        plan = self._plan
        before = self._ledger.spends(plan.spends[0].dataset, before=release)
        certificate = certify(
            plan,
            _plain_results(self._results, answers),
            release=release,
            entry=self._ledger.debited(release),
            time=self._time,
            before=before,
        )
        claim = certificate.body["claim"]
        return Release(
            release,
            self._time,
            tuple(replace(result, certificate=certificate) for result in self._results),
            certificate,
            UpperBound(claim["epsilon"]),
            plan.dp_epsilon,
            plan.dp_rho,
            claim["delta"],
            tuple(replace(answer, certificate=certificate) for answer in answers),
            (*plan.remarks, *self._warnings),
            (
                *cells_sentences(query.asked for query in plan.queries),
                *filter(None, map(found_sentence, plan.queries)),
                *regression_sentences(self._results),
            ),
            derived_from(plan.study.derived, self._results, certificate.body["n"]),
            tuple(query.name for query in plan.queries if query.asked.from_data is not None),
        )


def _plain_results(
    results: Sequence[Result], answers: Sequence[ProgramAnswer]
) -> list[dict[str, Any]]:
    return [*(result.to_dict() for result in results), *(answer.to_dict() for answer in answers)]


def noisy(query: PlannedQuery, total: Total) -> list[Result]:
    """The results of one query: all its integers get noise in one draw of the mechanism."""
    spec = query.asked.spec
    if query.asked.from_data is not None:
        return [*found_results(query, total)]
    if query.asked.series is not None:
        return [*series_results(query, total)]
    if query.asked.choice is not None:
        return [chosen(query, key, counts) for key, counts in total.values.items()]
    places = [(key, i) for key, values in total.values.items() for i in range(len(values))]
    assert isinstance(query.noise, DiscreteLaplace | DiscreteGaussian)
    drawn = query.noise.release([total.values[key][i] for key, i in places])
    asked, results = query.asked, []
    for (key, i), integer in zip(places, drawn, strict=True):
        rows = total.sizes[key]
        cell = asked.cells[i] if asked.cells is not None else None
        results.append(
            Result(
                query=spec.name,
                kind=spec.kind,
                value=query.value(integer, rows),
                noise=query.noise,
                noise_unit=float(query.step / (rows if asked.averaged else 1)),
                dp_epsilon=query.dp_epsilon,
                dp_rho=query.dp_rho,
                group=key,
                cell=cell,
                unit=asked.unit,
                rows=rows if asked.averaged else None,
                confidence=spec.confidence,
                group_words=asked.group_words[key] if key is not None else (),
                cell_words=asked.cell_words[cell] if cell is not None else (),
                columns=spec.value_columns,
                rows_of=(spec.where, spec.by),
                design=asked.design,
            )
        )
    return results


def chosen(query: PlannedQuery, group: CellKey | None, counts: Sequence[int]) -> QuantileResult:
    """A quantile of one group, chosen by the ranks of its candidates. `counts` are private."""
    spec, asked, noise = query.asked.spec, query.asked, query.noise
    assert asked.choice is not None
    assert isinstance(noise, PermuteAndFlip | ExponentialMechanism)
    value = asked.choice.candidates[noise.choose(asked.choice.scores(counts))]
    return QuantileResult(
        query=spec.name,
        kind=spec.kind,
        value=value,
        noise=noise,
        noise_unit=float(query.step),
        dp_epsilon=query.dp_epsilon,
        dp_rho=query.dp_rho,
        group=group,
        unit=(asked.column.unit if asked.column is not None else None) or "",
        confidence=spec.confidence,
        group_words=asked.group_words[group] if group is not None else (),
        step=query.step,
        interval=", ".join(asked.cell_words.get(int(value), ())) if asked.cell_words else "",
    )
