"""A cluster of records with any known finite law (theory 3.3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import model_validator

from bayesdp.errors import InputError, require_shown
from bayesdp.populations.base import Population, Rescaling
from bayesdp.populations.graph import table_shape

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_CELLS = 1_000_000
"""The largest law that is kept as plain data."""

MOST_RECORDS = 60

_PLACES = (
    "different records of a cluster stand for different records of the law, and private values "
    "have no say in which is which; the level is the same for every such assignment"
)


class Finite(Population):
    """Mutually independent clusters of records that have this joint law.

    `probabilities` is a nested array with one axis for each record of the cluster; axes may differ
    in size, and zeros are allowed. They sum to 1 up to rounding and are rescaled. `roles` names the
    axes (index case, contact). A cluster may have fewer records than the law has axes: an absent
    record is one that no query reads.
    """

    model: Literal["finite"] = "finite"
    probabilities: Any
    roles: tuple[str, ...] | None = None

    positional: ClassVar[tuple[str, ...]] = ("probabilities",)
    structure: ClassVar[str] = "cluster"

    @model_validator(mode="before")
    @classmethod
    def _a_law(cls, raw: Any) -> Any:
        if not isinstance(raw, Mapping) or "probabilities" not in raw:
            return raw
        rescaling = Rescaling()
        law = read_law(raw["probabilities"], "population.probabilities", rescaling)
        return {**raw, "probabilities": law, "source": rescaling.noted(raw.get("source", ""))}

    @model_validator(mode="after")
    def _named(self) -> Finite:
        if self.roles is None:
            return self
        for role in self.roles:
            require_shown(role, "population.roles")
        distinct = len(set(self.roles)) == len(self.roles) and all(self.roles)
        if not distinct or len(self.roles) != self.group_size:
            raise InputError(
                "population.roles",
                list(self.roles),
                expected=f"{self.group_size} different names, one for each axis",
            )
        return self

    @property
    def array(self) -> NDArray[np.float64]:
        """The law as an array with one axis for each record."""
        import numpy as np

        return np.asarray(self.probabilities, dtype=float)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of each record."""
        return table_shape(self.probabilities)

    @property
    def common_states(self) -> int | None:
        """How many values every record has; `None` where records differ."""
        return self.sizes[0] if len(set(self.sizes)) == 1 else None

    @property
    def group_size(self) -> int:
        """The records of one cluster."""
        return len(self.sizes)

    def describe(self) -> str:
        """One sentence in plain English."""
        sizes = " x ".join(map(str, self.sizes))
        roles = f" of {', '.join(self.roles)}" if self.roles else ""
        return (
            f"records form mutually independent clusters of at most {self.group_size} with the "
            f"declared joint law{roles} over {sizes} values"
        )

    def assumptions(self) -> tuple[str, ...]:
        """What a level under it rests on and nothing checks, in words."""
        assumptions = super().assumptions()
        return assumptions if self.roles is not None else (*assumptions, _PLACES)


def read_law(raw: Any, key: str, rescaling: Rescaling) -> Any:
    """A nested array of probabilities as nested tuples that sum to 1.

    Raises `InputError` about `key` for other cells, a sum further from 1 than rounding makes it,
    and rows of different lengths.
    """
    tolist = getattr(raw, "tolist", None)
    plain = tolist() if tolist is not None else raw
    cells: list[float] = []
    shape = _shape(plain, key)
    if not shape:
        raise InputError(key, plain, expected="a nested array with one axis for each record")
    if len(shape) > MOST_RECORDS or math.prod(shape) > MOST_CELLS:
        raise InputError(
            key,
            f"shape {shape}",
            expected=f"at most {MOST_CELLS} cells, {MOST_RECORDS} records",
            remedy="Merge values, or use a model of many records, such as 'network' or 'markov'.",
        )
    _collect(plain, shape, key, cells)
    return _nest(iter(rescaling.law(cells, key)), shape)


def _shape(part: Any, key: str) -> tuple[int, ...]:
    shape: list[int] = []
    while isinstance(part, list | tuple):
        if not part:
            raise InputError(key, part, expected="at least one value for each record")
        shape.append(len(part))
        if len(shape) > MOST_RECORDS:
            break
        part = part[0]
    return tuple(shape)


def _collect(part: Any, shape: tuple[int, ...], key: str, cells: list[float]) -> None:
    if not shape:
        number = isinstance(part, int | float) and not isinstance(part, bool)
        if not number or not 0.0 <= part <= 1.0:
            raise InputError(key, part, expected="a probability in [0, 1]")
        cells.append(float(part))
        return
    if not isinstance(part, list | tuple) or len(part) != shape[0]:
        raise InputError(
            key,
            part,
            expected=f"{shape[0]} entries, as in the first place: records have the same values "
            "whatever the others' are",
        )
    for position, inner in enumerate(part):
        _collect(inner, shape[1:], f"{key}[{position}]", cells)


def _nest(cells: Any, shape: tuple[int, ...]) -> Any:
    if not shape:
        return next(cells)
    return tuple(_nest(cells, shape[1:]) for _ in range(shape[0]))
