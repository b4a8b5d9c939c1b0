"""What a program released, as inference sees it: noisy numbers, or an answer for each record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesdp.programs.run.numerics.hidden_counts import AddedNoise

if TYPE_CHECKING:
    from bayesdp.arrays import Floats, Ints


@dataclass(frozen=True)
class Noisy:
    """Numbers that were released by laplace or gaussian, and what is publicly known of them."""

    values: tuple[Fraction, ...]
    noise: AddedNoise
    size: int | None = None
    labels: tuple[str, ...] = ()
    known: tuple[Fraction | None, ...] = ()
    """Entries of a regression's rows that are constants."""
    runs: int = 0
    """Of counts of transitions: how many unbroken series these are of. Their number is `size`."""

    @property
    def floats(self) -> tuple[float, ...]:
        """The released numbers."""
        return tuple(float(value) for value in self.values)

    @property
    def moments(self) -> Floats:
        """Of a regression: the symmetric matrix whose upper triangle the released numbers are."""
        size = int((np.sqrt(8 * len(self.values) + 1) - 1) / 2)
        matrix = np.zeros((size, size))
        matrix[np.triu_indices(size)] = self.floats
        return matrix + np.triu(matrix, 1).T


@dataclass(frozen=True, eq=False)
class AnswerChannel:
    """The law of a record's answer given its value, which lies in a column from `low` to `high`.

    `law` gives a row for each of some values: the probabilities of the `answers`. A `whole` column
    has whole numbers.
    """

    answers: Floats
    low: float
    high: float
    whole: bool
    law: Callable[[Floats], Floats] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Answers:
    """A noisy answer for each record: codes of `labels`, or numbers.

    `kept` is the probability of the true answer, `other` that of each other answer.
    """

    values: Floats | Ints
    labels: tuple[str, ...] = ()
    kept: float = 1.0
    other: float = 0.0
    channel: AnswerChannel | None = None
    """The law of an answer, where it depends on one column alone."""

    def __post_init__(self) -> None:
        self.values.setflags(write=False)

    def __repr__(self) -> str:
        return f"<{len(self.values)} noisy answers>"

    @property
    def counts(self) -> Ints:
        """How often each label was answered."""
        codes = self.values.astype(np.int64)
        return np.bincount(codes, minlength=len(self.labels)).astype(np.int64)

    def to_dict(self) -> dict[str, Any]:
        """Every answer, as plain data for JSON."""
        named = {"labels": list(self.labels)} if self.labels else {}
        return {**named, "answers": self.values.tolist()}


Source = Noisy | Answers
