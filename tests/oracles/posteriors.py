"""How far two posteriors are apart: the falsifier's closed forms, in doubles."""

from __future__ import annotations

from bayesdp.programs.falsify.posteriors import Posterior, apart, floats


def distance(a: Posterior, b: Posterior) -> float:
    """Hellinger distance, as a double."""
    return apart(floats(a), floats(b))
