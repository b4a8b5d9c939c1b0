"""What the HTML report says about one study, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from bayesdp.notions import ROUNDING_IN_WORDS, Adversary, Secrets
from bayesdp.numbers import UpperBound, as_upper_bound
from bayesdp.report.phrases import Section
from bayesdp.report.programs import ProgramRow


@dataclass(frozen=True, slots=True)
class BoundRow:
    """A theorem that applies: the level in nats that it proves for the study's cost."""

    theorem: str
    epsilon: UpperBound
    tight: str
    source: str


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A theorem that doesn't apply, and the failed hypothesis in words."""

    theorem: str
    reason: str


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A released number; its `error` is exceeded with probability at most 1 - `confidence`.

    Both numbers are in `unit`. A quantile has no error of its value (`None`): `value_text` and
    `error_text` are then shown, the error of its rank.
    """

    name: str
    group: str | None
    value: float
    error: float | None
    unit: str = ""
    confidence: float = 0.95
    value_text: str = ""
    error_text: str = ""


@dataclass(frozen=True, slots=True)
class DerivedRow:
    """A number that was computed from released ones, as texts; `group` may be empty."""

    name: str
    group: str
    value: str
    interval: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class StudySection:
    """Everything that the report says about one study.

    `dp_epsilon` is what this release cost under DP and `level` what that means for the declared
    population, both in nats, at `delta` where that is not 0. `dataset_dp_epsilon` and
    `dataset_level` are the same with all earlier releases of the data set (left out: there were
    none), `total` what that level may reach.
    `refused` and `notes` may be empty; `interval` says in words where secret values lie ("between
    120 and 220 cm"), `outside` what holds for people whose values lie elsewhere. `time` is when the
    release was made (ISO 8601), `n` its number of records. `record` says what one record is, `rows`
    what that means for a person who is several, where they are; `relations` are sentences with the
    numbers of the declared population. `questions` say what each query counts or adds up.
    `derived` was computed from the results.
    `explained` are sections of `explain`, for readers who are not experts; what experts want comes
    after them.
    """

    title: str
    population_words: str
    population_source: str
    bounds: Sequence[BoundRow]
    refused: Sequence[RefusedRow]
    results: Sequence[ResultRow]
    dp_epsilon: UpperBound
    level: UpperBound
    adversary: Adversary
    dataset: str
    total: float
    certificate_path: str = ""
    notes: Sequence[str] = ()
    secrets: Secrets | None = None
    interval: str | None = None
    rounding: str = ROUNDING_IN_WORDS
    dataset_level: UpperBound | None = None
    dataset_dp_epsilon: UpperBound | None = None
    delta: float = 0.0
    programs: Sequence[ProgramRow] = ()
    time: str = ""
    n: int | None = None
    record: str = ""
    rows: str = ""
    outside: str = ""
    relations: Sequence[str] = ()
    questions: Sequence[str] = ()
    explained: Sequence[Section] = ()
    derived: Sequence[DerivedRow] = ()

    @property
    def level_so_far(self) -> UpperBound:
        """The level of all releases of the data set together, this one included."""
        return self.level if self.dataset_level is None else self.dataset_level

    @property
    def dp_epsilon_so_far(self) -> UpperBound:
        """The DP cost of all releases of the data set together, this one included."""
        return self.dp_epsilon if self.dataset_dp_epsilon is None else self.dataset_dp_epsilon

    @property
    def is_first(self) -> bool:
        """Whether nothing else has been released from the data set."""
        return self.level_so_far == self.level

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The section from plain data (parsed JSON), rows included.

        Levels and costs are taken at their word as upper bounds. Raises `ValueError` for unknown
        keys.
        """
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(plain) - known)
        if unknown:
            raise ValueError(f"unknown keys in a report section: {', '.join(unknown)}")
        rows = {
            "bounds": BoundRow,
            "refused": RefusedRow,
            "results": ResultRow,
            "derived": DerivedRow,
        }
        plain = dict(plain)
        if "programs" in plain:
            plain["programs"] = [ProgramRow.from_dict(row) for row in plain["programs"]]
        renewed = {
            key: [
                row if isinstance(row, rows[key]) else rows[key](**_bounded(row)) for row in value
            ]
            for key, value in plain.items()
            if key in rows
        }
        plain = _bounded(plain)
        return cls(**{**plain, **renewed})


_LEVELS = ("epsilon", "level", "dp_epsilon", "dataset_level", "dataset_dp_epsilon")
"""The keys of a section and its rows that hold a level or a cost."""


def _bounded(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Plain data with its levels as upper bounds."""
    return {
        key: as_upper_bound(value) if key in _LEVELS and value is not None else value
        for key, value in plain.items()
    }
