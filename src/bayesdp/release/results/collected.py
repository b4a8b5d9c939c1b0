"""What perturbed answers say: an estimate for each state, with an interval the kernel proves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from bayesdp.accounting.costs.rounded import up_words
from bayesdp.numbers import float_above
from bayesdp.release.price.noise import Noise
from bayesdp.release.queries.collected import NO_ANSWERS, CollectedAnswers, PlannedCollected
from bayesdp.release.results.result import Result
from bayesdp.statements.queries import RANDOMIZED_RESPONSE
from bayesdp.tables.sums.scan import Total


@dataclass(frozen=True, slots=True)
class CollectedResult(Result):
    """How many records hold the state `cell`, estimated from perturbed answers.

    `value` is unbiased, and may leave what is possible: `ResultList.projected` gives numbers that
    can be true. `answers` are those of all records. The release added nothing to them, so `noise`
    is `None`: the error is that of the perturbation at collection, for these records, whatever they
    hold. It is not an error of sampling: it says nothing of a larger group that they
    might stand for.
    """

    answers: CollectedAnswers = NO_ANSWERS

    @property
    def share(self) -> float:
        """The estimate as a share of all records."""
        return self.value / self.answers.records

    def interval(self, confidence: float = 0.95) -> tuple[int, int]:
        """Between which numbers the true number of records lies, with this probability at least.

        Of this state, and not of all states at once. Raises `InputError` unless `confidence` lies
        between 0 and 1. Source: theory 2.9.
        """
        return self.answers.interval(confidence)

    def error(self, confidence: float = 0.95) -> float:
        """How far the estimate is from the further end of the interval, in records, rounded up."""
        low, high = self.interval(confidence)
        exact = Fraction(self.value)
        return float_above(max(high - exact, exact - low, Fraction(0)))

    def error_text(self) -> str:
        """The error at the query's confidence, rounded up, and the interval."""
        low, high = self.interval(self.confidence)
        return f"+- {up_words(self.error(self.confidence))}, in [{low}, {high}]"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in certificates and `--json`."""
        low, high = self.interval(self.confidence)
        return {
            "query": self.query,
            "kind": self.kind,
            "cell": self.cell,
            "answers": self.answers.answers,
            "value": self.value,
            "share": self.share,
            "between": {"confidence": self.confidence, "low": low, "high": high},
            "dp_epsilon": self.dp_epsilon,
        }


def estimates(query: PlannedCollected, total: Total) -> Sequence[CollectedResult]:
    """The results of one query of perturbed answers: nothing is added to the counts of them."""
    (counts,) = total.values.values()
    records, size = sum(counts), len(query.states)
    given = [CollectedAnswers(count, records, size, query.dp_epsilon) for count in counts]
    return [
        CollectedResult(
            query=query.spec.name,
            kind=RANDOMIZED_RESPONSE,
            value=answers.estimate,
            noise=cast(Noise, None),
            noise_unit=0.0,
            dp_epsilon=query.dp_epsilon,
            cell=state,
            confidence=query.spec.confidence,
            answers=answers,
        )
        for state, answers in zip(query.states, given, strict=True)
    ]
