"""The groups that were found in the data and reach the threshold, with their noisy counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bayesdp.accounting.costs.rounded import up_words
from bayesdp.mechanisms import DiscreteLaplace
from bayesdp.release.price.planned_query import PlannedQuery
from bayesdp.release.results.result import Result
from bayesdp.release.words import confidence_words
from bayesdp.statements.queries import FOUND_GROUPS
from bayesdp.tables.sums.scan import Total


@dataclass(frozen=True, slots=True)
class FoundResult(Result):
    """The noisy count of a group that was found in the data, which is at least the `threshold`.

    The error is that of the noise of every group, shown or not: with a probability of at least the
    confidence a group is not shown, or its count is within the error. Of small groups only those
    are shown whose noise was large.
    """

    threshold: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in certificates and `--json`."""
        error = self.error(self.confidence)
        return {
            "query": self.query,
            "kind": self.kind,
            "group": self.group,
            "value": self.value,
            "error": {"confidence": self.confidence, "value": error},
            "threshold": self.threshold,
            "noise": {
                "distribution": "discrete-laplace",
                "scale": self.noise.scale,
                "step": self.noise_unit,
            },
            "dp_epsilon": self.dp_epsilon,
        }


def found_results(query: PlannedQuery, total: Total) -> Sequence[FoundResult]:
    """The groups whose noisy count reaches the threshold, in the order of their names.

    Every group of the `total`, which is private, gets noise of its own. What does not reach the
    threshold is forgotten here: neither its name nor its count goes anywhere else.
    """
    spec, noise, threshold = query.asked.spec, query.noise, query.threshold
    assert isinstance(noise, DiscreteLaplace)
    assert threshold is not None
    groups = sorted(map(str, total.values))
    drawn = noise.release([total.values[group][0] for group in groups]) if groups else []
    return [
        FoundResult(
            query=spec.name,
            kind=FOUND_GROUPS,
            value=float(count),
            noise=noise,
            noise_unit=1.0,
            dp_epsilon=query.dp_epsilon,
            group=group,
            confidence=spec.confidence,
            threshold=threshold,
            rows_of=(spec.where, spec.by),
        )
        for group, count in zip(groups, drawn, strict=True)
        if count >= threshold
    ]


def found_sentence(query: PlannedQuery) -> str:
    """Which groups a query shows, and what its error is; empty for queries of other kinds."""
    groups, threshold = query.asked.from_data, query.threshold
    if groups is None or threshold is None:
        return ""
    return (
        f"{query.name} shows the groups of '{groups.column}' whose noisy count is at least "
        f"{threshold}, and nothing of others; any that one record is alone in are shown with a "
        f"probability of at most {up_words(groups.delta)}. With at least "
        f"{confidence_words(query.confidence)} a group is not shown, or within its error."
    )
