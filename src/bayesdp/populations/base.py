"""What every population shares: the spec, its checks, its words.

A population is data: a frozen pydantic model that round-trips through TOML and JSON, so that it
can be published, diffed and attacked. It says who depends on whom; it computes nothing.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator

import bayesdp
from bayesdp.errors import InputError, explain_validation, require_shown
from bayesdp.notions import Adversary, Calibration, Kind, LeakageReport, Secrets

MOST_RECORDS = 2**53
"""The largest cluster or series: whole numbers above it are not exact in double precision."""

WITHIN_DOUBLES = "numbers that a double can hold: at most 1.8e308 in size"

PROBABILITY_TOLERANCE = 1e-9
"""How far any row of probabilities may sum from 1. Rows inside it are rescaled to sum to 1."""

LEAST_DECIMALS = 4
SINGLE_PRECISION = 1e-6
MOST_ROUNDING = 0.005
"""How far rows of rounded numbers may sum from 1: see `Rescaling`."""

NO_ALLOWANCE = "without an allowance for chance"
"""What the `source` of a population says that was fitted, and holds no more than the estimate."""

MOST_SHOWN = 50
_ROUNDED_ONCE = 4e-16


class Population(BaseModel):
    """The attacker's prior over the records, conditional on everything declared public.

    `covers` names the columns that it speaks about; `source` says who vouches for it. Both are
    repeated on certificates. The fields in `positional` may be given without their names. Every
    population raises `InputError` naming the key, the value and the remedy, and `TypeError` where
    a field is given twice, with its name and without.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False, allow_inf_nan=False)

    model: Any
    source: str = ""
    covers: tuple[str, ...] = ()

    positional: ClassVar[tuple[str, ...]] = ()
    """The fields that may be given without their names, in this order."""

    def __init__(self, /, *values: Any, **data: Any) -> None:
        try:
            super().__init__(**self._with_names(values, data))
        except ValidationError as error:
            raise explain_validation(error, type(self), data, "population") from None
        except OverflowError:
            raise InputError("population", expected=WITHIN_DOUBLES, shown=False) from None

    def __hash__(self) -> int:
        """Computed once: levels are remembered by population, and one may hold a million numbers.

        It stands beside the fields, as a cached property does, so that it is not compared.
        """
        computed: int | None = self.__dict__.get("_hash")
        if computed is None:
            fields = type(self).model_fields
            computed = hash((type(self), *(self.__dict__[name] for name in fields)))
            self.__dict__["_hash"] = computed
        return computed

    def __getstate__(self) -> dict[Any, Any]:
        """Without the hash: those of texts differ from process to process."""
        state = super().__getstate__()
        fields = {name: value for name, value in state["__dict__"].items() if name != "_hash"}
        return {**state, "__dict__": fields}

    def model_copy(self, **changes: Any) -> Self:
        """The population with these changes, which has a hash of its own."""
        copied = super().model_copy(**changes)
        copied.__dict__.pop("_hash", None)
        return copied

    @field_validator("*", mode="before")
    @classmethod
    def _numbers_are_numbers(cls, value: object, field: ValidationInfo) -> object:
        key = f"population.{field.field_name}"
        if isinstance(value, bool) and field.field_name != "complete":
            raise InputError(key, value, expected="a value other than true or false")
        annotation = cls.model_fields[field.field_name or ""].annotation
        if isinstance(value, str | bytes) and annotation in (int, float, int | None, float | None):
            raise InputError(key, value, expected="a number, without quotes around it")
        if isinstance(value, Integral) and not isinstance(value, int):
            return int(value)  # NumPy's
        return value

    @field_validator("covers")
    @classmethod
    def _each_once(cls, covers: tuple[str, ...]) -> tuple[str, ...]:
        for position, name in enumerate(covers):
            require_shown(name, f"population.covers[{position}]")
            if not name or name in covers[:position]:
                raise InputError(
                    f"population.covers[{position}]", name, expected="names of columns, each once"
                )
        return covers

    @field_validator("source")
    @classmethod
    def _one_line(cls, source: str) -> str:
        require_shown(source, "population.source")
        return source

    @classmethod
    def _with_names(cls, values: tuple[Any, ...], data: dict[str, Any]) -> dict[str, Any]:
        if len(values) > len(cls.positional):
            first = ", ".join(cls.positional) or "no field"
            named = [
                name
                for name, field in cls.model_fields.items()
                if name not in (*cls.positional, *data) and field.is_required()
            ]
            extra = values[len(cls.positional)]
            raise InputError(
                cls.__name__,
                extra,
                expected=f"only {first} without a name, and {len(values)} values were given",
                remedy=f"Name it: {named[0]}=..." if named else "Name the others.",
            )
        by_position = dict(zip(cls.positional, values, strict=False))
        for name in by_position.keys() & data.keys():
            raise TypeError(f"{cls.__name__} was given {name} twice")
        return by_position | data

    structure: ClassVar[str] = "none"
    """How rows are grouped: `none`, `cluster`, `series`, `panel`, or `all` (one big group)."""

    @property
    @abstractmethod
    def group_size(self) -> int:
        """The most records that may depend on each other: a cluster's size, a series' length."""

    @property
    def table_size(self) -> int:
        """The most records of a table that is one group (where `structure` is `all`)."""
        return self.group_size

    @abstractmethod
    def describe(self) -> str:
        """One sentence in plain English."""

    def assumptions(self) -> tuple[str, ...]:
        """What a level under this population rests on and nothing checks, in words."""
        vouched = self.source or "nobody is named as vouching for it"
        return (f"the records depend on each other as declared: {self.describe()}; {vouched}",)

    def spec(self) -> dict[str, Any]:
        """The population as plain data: what a study file or a certificate holds."""
        return self.model_dump(mode="json", exclude_defaults=True, exclude_none=True) | {
            "model": self.model
        }

    def leakage(
        self,
        dp_epsilon: float,
        *,
        adversary: Adversary = "any",
        kind: Kind = "any",
        secrets: Secrets = "bounded",
        seconds: float = 30.0,
    ) -> LeakageReport:
        """What `dp_epsilon`-DP means here: every applicable theorem, the refused ones, the best.

        A shortcut to `bayesdp.leakage`: the same arguments, and `InputError` as there.
        """
        options = {"adversary": adversary, "kind": kind, "secrets": secrets, "seconds": seconds}
        levels: LeakageReport = _public("leakage")(self, dp_epsilon, **options)
        return levels

    def calibrate(
        self,
        bdp_epsilon: float,
        *,
        adversary: Adversary = "any",
        kind: Kind = "any",
        secrets: Secrets = "bounded",
        seconds: float = 1.0,
    ) -> Calibration:
        """The largest DP budget whose level stays within `bdp_epsilon`.

        A shortcut to `bayesdp.calibrate`: the same arguments, and `InputError` as there.
        """
        options = {"adversary": adversary, "kind": kind, "secrets": secrets, "seconds": seconds}
        budget: Calibration = _public("calibrate")(self, bdp_epsilon, **options)
        return budget


def require_numbers(nested: Any, key: str) -> None:
    """Raises `InputError` for the first truth value or text in nested lists of numbers.

    `key` is where they stand. Libraries would read `true` as 1, and `"1_0"` as 10.
    """
    if isinstance(nested, np.ndarray):
        nested = nested.tolist()
    if isinstance(nested, bool | np.bool_ | str | bytes):
        raise InputError(key, nested, expected="a number, not a truth value and not a text")
    if isinstance(nested, list | tuple):
        for position, inner in enumerate(nested):
            if not isinstance(inner, int | float) or isinstance(inner, bool):
                require_numbers(inner, f"{key}[{position}]")


def _public(name: str) -> Any:
    """A function of the package's index: populations know its name, not the room it is in."""
    return getattr(bayesdp, name)


class Rescaling:
    """Reads the laws of a population, rescales them to sum to 1, and notes by how much at most.

    Published numbers are rounded. Laws sum to 1 within 1e-9, or, where they are written with four
    decimals or more, within what rounding can make of them: half a unit of the last decimal for
    each number, at least 1e-6 (single precision) and at most 0.005. The population is the rescaled
    one: certificates hold it, and nothing else is computed with.
    """

    def __init__(self) -> None:
        self.largest = 0.0

    def law(self, values: Sequence[float], key: str) -> tuple[float, ...]:
        """`values` as a probability law, rescaled to sum to 1.

        Raises `InputError` about `key` unless each is in [0, 1] and they sum to 1 as far as
        rounding lets them. The most decimals of a value count: zeros at the end are not seen.
        """
        for position, value in enumerate(values):
            if not (0.0 <= value <= 1.0):
                raise InputError(f"{key}[{position}]", value, expected="a probability in [0, 1]")
        total = math.fsum(values)
        off = abs(total - 1.0)
        if off <= _ROUNDED_ONCE:  # as laws that were rescaled are: they are not to change again
            return tuple(map(float, values))
        if off > PROBABILITY_TOLERANCE:
            if off > _rounding(len(values), max(map(_decimals, values))):
                raise InputError(
                    key,
                    list(values) if len(values) <= MOST_SHOWN else f"{len(values)} probabilities",
                    expected=f"probabilities that sum to 1 within {PROBABILITY_TOLERANCE:g}, or as "
                    f"far as rounding to {LEAST_DECIMALS} or more decimals lets them",
                    remedy=f"They sum to {total:.12g}.",
                )
            self.largest = max(self.largest, off)
        return tuple(value / total for value in values)

    def noted(self, source: Any) -> Any:
        """The population's `source`, which says whether numbers were rescaled, and by how much."""
        if self.largest == 0.0 or not isinstance(source, str):
            return source
        exact = Decimal(self.largest).quantize(Decimal("1e-12"))
        off = exact.quantize(Decimal("1e-7"), rounding=ROUND_CEILING).normalize()
        note = f"probabilities that summed to 1 within {off:f} were rescaled"
        return f"{source}; {note}" if source else note


def _rounding(count: int, decimals: int) -> float:
    """How far from 1 the sum of so many rounded probabilities may lie; 0 for few decimals."""
    if decimals < LEAST_DECIMALS:
        return 0.0
    return min(max(count * 0.5 * 10.0**-decimals, SINGLE_PRECISION), MOST_ROUNDING) * (1 + 1e-9)


def _decimals(value: float) -> int:
    """How many decimals the shortest text of a number has."""
    exponent = Decimal(repr(float(value))).normalize().as_tuple().exponent
    return max(0, -int(exponent))
