"""Program files read as Python: releases, which note the true value and answer with another."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count as numbers
from typing import Any

from tests.programs.as_python_models import Model, statistics
from tests.programs.as_python_values import Rows, Vec, place_of, vector


@dataclass
class Log:
    """What the releases were given, in the order in which they ran."""

    given: list[Any] = field(default_factory=list)
    order: Any = field(default_factory=numbers)

    def answer(self, value: Any) -> Any:
        """A released value: whole where the true one is, and never the true one."""
        shift = 1 + next(self.order) % 3
        self.given.append(value)
        return value + shift if not isinstance(value, Vec) else Vec(item + shift for item in value)


def releases(log: Log) -> dict[str, Any]:
    """The releases, and what they choose among; what they are given is noted in `log`."""

    def exponential(*, score: Any, candidates: Any, **_: Any) -> Any:
        if not callable(score):
            log.given.append(("model", statistics(score.posterior)))
            next(log.order)
            return ("released",)
        log.given.append(Vec(score(candidate) for candidate in candidates))
        return candidates[next(log.order) % len(candidates)]

    def above_threshold(queries: Any, *, threshold: Any, **_: Any) -> Any:
        log.given.append(Vec((*queries, threshold)))
        return next(log.order) % (len(queries) + 1)

    def per_record(rows: Rows, *, score: Any, candidates: Any, epsilon: Any) -> Any:
        log.given.append(Vec(score(row, candidate) for row in rows for candidate in candidates))
        next(log.order)
        return ("noisy",)

    def answers(rows: Rows, *, epsilon: Any) -> Any:
        log.given.append(Vec(place_of(row)[1] for row in rows))
        next(log.order)
        return ("noisy",)

    def sampled(model: Model, *, grid: Any, **_: Any) -> Any:
        log.given.append(("model", statistics(model)))
        return grid[next(log.order) % len(grid)]

    return {
        "laplace": lambda value, **_: log.answer(vector(value)),
        "gaussian": lambda value, **_: log.answer(vector(value)),
        "exponential": exponential,
        "per_record_exponential": per_record,
        "above_threshold": above_threshold,
        "randomized_response": answers,
        "posterior_sample": sampled,
        "grid_of": lambda *_, **__: [("released",)],
        "linspace": lambda low, high, k: [
            low + (high - low) * Fraction(i, k - 1) for i in range(k)
        ],
    }
