"""Where a promise needs secret values to lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SecretPlace:
    """An interval of a column's secret values; without `ends`: where the mechanism clips to."""

    column: str = ""
    ends: tuple[float, float] | None = None
    unit: str = ""


def places_of_release(
    secrets: Mapping[str, Any],
    columns: Mapping[str, Mapping[str, Any]],
    population: Mapping[str, Any],
) -> tuple[SecretPlace, ...]:
    """Where secrets lie, as a release's claim says it.

    `secrets` are the claim's, `columns` the declared ones with their units, and `population` says
    which of them it covers.
    """
    if secrets["kind"] != "bounded":
        return ()
    covers = population.get("covers", [])
    intervals = secrets.get("intervals") or {covers[0]: secrets["interval"]}
    return tuple(
        SecretPlace(name, (float(low), float(high)), str(columns.get(name, {}).get("unit") or ""))
        for name, (low, high) in intervals.items()
    )


def places_of_conversion(population: Mapping[str, Any] | None) -> tuple[SecretPlace, ...]:
    """The secret intervals of a conversion: bounds of vectors, else where values are clipped."""
    spec = population or {}
    names = spec.get("columns") or ()
    if names and spec.get("bounds"):
        pairs = zip(names, spec["bounds"], strict=True)
        return tuple(SecretPlace(name, (float(low), float(high))) for name, (low, high) in pairs)
    return (SecretPlace(),)
