"""Releases that are Lipschitz in a clipped column: what their low cost rests on.

Under a Gaussian population such a release costs its factor, for secrets inside its clipping
interval (theory 3.8). Several add up in this way only if they are Lipschitz in the same column,
clipped to the same interval: of another column the theorem says nothing, and outside of an
interval a secret moves the sum by more than it counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayesdp.errors import InputError, closest
from bayesdp.notions import KINDS
from bayesdp.populations import Autoregressive, Gaussian, Population
from bayesdp.statements.base import exact_text


@dataclass(frozen=True, slots=True)
class Lipschitz:
    """The column and the clipping interval of a Lipschitz release; `None` where not stated."""

    column: str | None
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class SecretsCondition:
    """What the levels of Lipschitz releases rest on.

    `together`: all such releases are of one column and one interval. `vectors`: the population's
    records have several columns, and no release counts as Lipschitz.
    """

    together: bool
    column: str | None = None
    interval: tuple[float, float] | None = None
    vectors: bool = False

    def words(self) -> str:
        """The condition as a sentence."""
        if self.vectors:
            return "Records are vectors here: releases of kind 'lipschitz' count as of kind 'any'."
        if not self.together:
            return (
                "The level of a 'lipschitz' release alone holds for secrets inside its clipping "
                "interval only. All together count as of kind 'any': their columns and intervals "
                'differ, or are not stated ("column" and "interval" of each).'
            )
        inside = ""
        if self.interval is not None:
            low, high = map(exact_text, self.interval)
            inside = f" [{low}, {high}]"
        of_column = "" if self.column is None else f" of '{self.column}'"
        return f"Levels hold for secrets inside the clipping interval{inside}{of_column} only."

    def to_dict(self) -> dict[str, Any]:
        """The condition as plain data for JSON."""
        interval = None if self.interval is None else list(self.interval)
        return {
            "secrets": None if self.vectors else "inside the clipping interval",
            "added_as_lipschitz": self.together,
            "column": self.column,
            "interval": interval,
            "in_words": self.words(),
        }


def parse_lipschitz(raw: Mapping[str, Any], place: str) -> Lipschitz | None:
    """The Lipschitz column and interval that a release states; `None` for the kind `any`.

    Raises `InputError` for an unknown kind, for what is not a column or an interval, and for either
    of these beside the kind `any`.
    """
    kind = raw.get("kind", "any")
    if kind not in KINDS:
        raise InputError(
            f"{place}.kind",
            kind,
            expected=f"one of {', '.join(KINDS)}",
            remedy=closest(str(kind), KINDS),
        )
    column, interval = raw.get("column"), raw.get("interval")
    if kind != "lipschitz":
        for name in ("column", "interval"):
            if name in raw:
                raise InputError(
                    f"{place}.{name}", raw[name], expected='nothing, unless "kind" is "lipschitz"'
                )
        return None
    if column is not None and not (isinstance(column, str) and column.strip()):
        raise InputError(f"{place}.column", column, expected="a column's name")
    if interval is None:
        return Lipschitz(column, None)
    ends = interval if isinstance(interval, list | tuple) and len(interval) == 2 else ()
    numbers = [
        float(end)
        for end in ends
        if isinstance(end, int | float) and not isinstance(end, bool) and abs(end) <= 1e300
    ]
    if len(numbers) != 2 or not numbers[0] < numbers[1] or not all(map(math.isfinite, numbers)):
        raise InputError(
            f"{place}.interval",
            interval,
            expected="[lower, upper], two finite numbers, lower first",
        )
    return Lipschitz(column, (numbers[0], numbers[1]))


def secrets_condition(
    population: Population, kinds: Sequence[Lipschitz | None]
) -> SecretsCondition | None:
    """What the levels of these releases rest on; `None` where the kind doesn't matter."""
    secrets = [kind for kind in kinds if kind is not None]
    if not secrets or not isinstance(population, Gaussian | Autoregressive):
        return None
    first = secrets[0]
    alike = first.column is not None and first.interval is not None and set(secrets) == {first}
    if has_vectors(population):
        return SecretsCondition(False, vectors=True)
    if alike or len(secrets) == 1:
        return SecretsCondition(True, first.column, first.interval)
    return SecretsCondition(False)


def has_vectors(population: Population) -> bool:
    """Whether records are vectors: then each column's own bounds count, not one interval."""
    return isinstance(population, Gaussian) and population.columns is not None
