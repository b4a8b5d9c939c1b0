"""How far two posteriors are apart: the falsifier's closed forms, in doubles."""

from __future__ import annotations

from bayesdp.programs.falsify.posteriors import ConjugatePosterior, floats, hellinger


def distance(a: ConjugatePosterior, b: ConjugatePosterior) -> float:
    """Hellinger distance, as a double."""
    return hellinger(floats(a), floats(b))
