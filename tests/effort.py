"""How much random searching a test does: a tenth in `make test`, all of it in `make prove`."""

from __future__ import annotations

import os


def runs(full: int) -> int:
    """The number of random cases to try, out of `full` for a complete search (at least one)."""
    share = float(os.environ.get("BAYESDP_PROVE_SHARE", "1.0"))
    if os.environ.get("BAYESDP_PROVE") != "1":
        share = 0.1
    return max(1, round(full * share))
