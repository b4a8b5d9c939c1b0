"""`[[derived]]` of a study: numbers that are computed from released ones, at no cost.

Nothing that is released depends on it: not the price, not the certificate, not the ledger's spends.
What can't be computed from the named queries is refused by `derived.check`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bayesdp.errors import InputError, explain_validation, require_shown
from bayesdp.release.spec.parts import QuerySpec

DerivedKind = Literal["ratio", "largest", "consistent", "cumulative", "quantiles", "sampling"]

MOST_EFFECT = 1e9
"""The largest design effect: it is at most the number of rows."""

_KEYS = {
    "ratio": ("numerator", "denominator"),
    "largest": ("query", "count"),
    "consistent": ("query", "total"),
    "cumulative": ("query", "total"),
    "quantiles": ("queries",),
    "sampling": ("query", "variance", "design_effect"),
}
"""The keys of each kind, beside `name`, `kind` and `confidence`."""


_ALL_KEYS = tuple(dict.fromkeys(key for keys in _KEYS.values() for key in keys))
_MAY_BE_LEFT_OUT = ("total", "variance", "design_effect")


class DerivedSpec(BaseModel):
    """`[[derived]]`: what is computed from the numbers of the queries that it names.

    A `ratio` is of `numerator` and `denominator`; `largest` are the `count` largest numbers of
    `query`; `consistent` are its counts, none below 0, that add up to the public `total`;
    `cumulative` are the running sums of its cells, from 0 to `total`, that never fall. `total` is
    the number of all records where it is left out. `quantiles` are those of `queries`, in order.
    `sampling` is an interval for the population that the rows of `query` are a sample of: a mean
    needs the `variance` of the same values, and `design_effect` is how much larger its variance is
    than that of independent rows. Intervals hold with `confidence`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=True)

    name: str = Field(min_length=1)
    kind: DerivedKind
    numerator: str | None = None
    denominator: str | None = None
    query: str | None = None
    queries: tuple[str, ...] | None = Field(default=None, strict=False, min_length=2)
    variance: str | None = None
    design_effect: float | None = Field(default=None, ge=1, le=MOST_EFFECT)
    count: int | None = Field(default=None, ge=1)
    total: int | None = Field(default=None, ge=0)
    confidence: float = Field(default=0.95, gt=0.5, lt=1)

    @property
    def sources(self) -> tuple[str, ...]:
        """The queries whose numbers it is computed from."""
        names = (self.numerator, self.denominator, self.query)
        named = (name for name in (*names, self.variance) if name is not None)
        return (*named, *(self.queries or ()))

    def words(self) -> str:
        """What is computed from which queries, as the rest of a sentence."""
        first, last = self.sources[0], self.sources[-1]
        return {
            "ratio": f"the ratio of '{first}' to '{last}'",
            "largest": f"the {self.count} largest of '{first}'",
            "consistent": f"the counts of '{first}' that add up and are not below 0",
            "quantiles": f"{', '.join(self.sources)}, in order: none is below the one before",
            "sampling": f"'{first}' with its sampling error, if rows were drawn at random",
            "cumulative": f"the running sums of '{first}', which never fall",
        }[self.kind]


class OwnDerivedSpec(DerivedSpec):
    """What a `[[query]]` asks for itself, under its own name: it stands before `[[derived]]`."""

    queries: tuple[str, ...] | None = Field(default=None, strict=False, min_length=1)


def parse_derived(raw: object, queries: Sequence[QuerySpec]) -> tuple[DerivedSpec, ...]:
    """The tables of `[[derived]]`. Raises `InputError` naming the key that is wrong."""
    if not isinstance(raw, list | tuple):
        raise InputError("derived", raw, expected="a list of tables: [[derived]]")
    read: list[DerivedSpec] = []
    taken = {query.name for query in queries}
    for position, entry in enumerate(raw):
        key = f"derived[{position}]"
        spec = entry if isinstance(entry, DerivedSpec) else _read(entry, key)
        require_shown(spec.name, f"{key}.name")
        if spec.name in taken:
            raise InputError(
                f"{key}.name",
                spec.name,
                expected="a name that no query and nothing else derived has",
                remedy="Give it a name of its own.",
            )
        taken.add(spec.name)
        _require_keys(spec, key)
        read.append(spec)
    return tuple(read)


def _read(raw: object, key: str) -> DerivedSpec:
    if not isinstance(raw, Mapping):
        raise InputError(key, raw, expected="a table")
    try:
        return DerivedSpec.model_validate(dict(raw))
    except ValidationError as error:
        raise explain_validation(error, DerivedSpec, raw, key) from None


def _require_keys(spec: DerivedSpec, key: str) -> None:
    """Exactly the keys of its kind, of which the total may be left out."""
    keys = _KEYS[spec.kind]
    for name in _ALL_KEYS:
        value: Any = getattr(spec, name)
        if value is not None and name not in keys:
            raise InputError(
                f"{key}.{name}",
                value,
                expected=f"nothing for the kind {spec.kind}, which has {' and '.join(keys)}",
                remedy=f"Leave {name} out.",
            )
        if value is None and name in keys and name not in _MAY_BE_LEFT_OUT:
            expected = {
                "count": "how many of them, at least 1",
                "queries": "the names of quantiles, the lowest first",
            }.get(name, "the name of a query")
            raise InputError(f"{key}.{name}", expected=expected, shown=False)
