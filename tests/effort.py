"""How much random searching a test does: a twentieth in `make test`, all of it in `make prove`."""

from __future__ import annotations

import os

SHARE_OF_TESTS = 0.05


def runs(full: int, least: int = 1) -> int:
    """The number of random cases to try, out of `full` for a complete search.

    `least` is for tests that also ask whether every kind of case has occurred: fewer are too few.
    """
    share = float(os.environ.get("BAYESDP_PROVE_SHARE", "1.0"))
    if not in_full():
        share = SHARE_OF_TESTS
    return max(least, round(full * share))


def in_full() -> bool:
    """Whether it is `make prove`, or a share of it."""
    return os.environ.get("BAYESDP_PROVE") == "1"


def complete() -> bool:
    """Whether nothing is left out: in `make prove` without a share."""
    return in_full() and float(os.environ.get("BAYESDP_PROVE_SHARE", "1.0")) >= 1.0
